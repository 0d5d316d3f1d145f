//! Pages of data that does not change with time: skins, tables of rigs and lists of blend entries.

use std::ops::Range;

use crate::gpu::device::error::GpuError;
use crate::gpu::device::skinner::Skinner;
use crate::gpu::memory::arena::Arena;

/// Buffers of static data. One binding holds a whole buffer.
#[derive(Debug, Default)]
pub struct SkinPages {
    pages: Vec<Arena>,
}

/// The byte ranges that one skin or rig holds, each with the index of its page.
#[derive(Clone, Debug, Default)]
pub struct OwnedRanges(Vec<(usize, Range<u64>)>);

impl OwnedRanges {
    /// Adds a range that was allocated for the same owner.
    pub fn hold(&mut self, page: usize, bytes: Range<u64>) {
        self.0.push((page, bytes));
    }

    /// Adds the ranges of another.
    pub fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

impl SkinPages {
    /// Runs `f`, which appends data, and returns the ranges that it allocated. If `f` fails, they
    /// are freed.
    pub fn owning<T>(
        &mut self,
        f: impl FnOnce(&mut Self) -> Result<T, GpuError>,
    ) -> Result<(T, OwnedRanges), GpuError> {
        let made = f(self);
        let mut ranges = OwnedRanges::default();
        for (number, page) in self.pages.iter_mut().enumerate() {
            let appended = page.take_appended().into_iter();
            ranges.0.extend(appended.map(|range| (number, range)));
        }
        match made {
            Ok(made) => Ok((made, ranges)),
            Err(error) => {
                self.give_back(ranges);
                Err(error)
            }
        }
    }

    /// Copies data into the first page with room for it, and returns the page and the first word.
    pub fn append(&mut self, skinner: &Skinner, parts: &[&[u8]]) -> Result<(usize, u32), GpuError> {
        let bytes = parts.iter().map(|p| p.len() as u64).sum();
        let page = match self.pages.iter_mut().position(|page| page.has_room(bytes)) {
            Some(page) => page,
            None => {
                let (storage, limit) = (wgpu::BufferUsages::STORAGE, skinner.limits.binding_bytes);
                self.pages
                    .push(Arena::new(skinner, "skin.skins", storage, limit)?);
                self.pages.len() - 1
            }
        };
        // A page is less than 4 GiB, so u32 can count its words.
        Ok((page, (self.pages[page].append(skinner, parts)? / 4) as u32))
    }

    /// Allocates bytes of a page if it has room, and returns the first.
    pub fn take(&mut self, skinner: &Skinner, page: usize, bytes: u64) -> Option<u64> {
        let page = &mut self.pages[page];
        match page.has_room(bytes) {
            true => page.take(skinner, bytes).ok(),
            false => None,
        }
    }

    /// Frees everything that an owner holds.
    pub fn give_back(&mut self, ranges: OwnedRanges) {
        for (page, range) in ranges.0 {
            self.pages[page].give_back(range.start, range.end - range.start);
        }
    }

    pub fn buffer(&self, page: usize) -> &wgpu::Buffer {
        &self.pages[page].growable.buffer
    }

    /// Binds a page.
    pub fn whole(&self, page: usize) -> wgpu::BindingResource<'_> {
        self.pages[page].growable.whole()
    }

    /// How often any page was replaced by a larger one.
    pub fn replaced(&self) -> u64 {
        self.pages.iter().map(|page| page.growable.replaced).sum()
    }

    pub fn buffer_bytes(&self) -> u64 {
        self.pages.iter().map(|page| page.growable.size()).sum()
    }
}
