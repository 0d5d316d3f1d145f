//! A growable buffer whose ranges can be allocated and freed.

use std::collections::BTreeMap;
use std::ops::Range;

use range_alloc::RangeAllocator;

use super::growable_buffer::GrowableBuffer;
use crate::gpu::device::error::{GpuError, guarded};
use crate::gpu::device::skinner::Skinner;

/// A buffer that grows up to a limit, and an allocator for its bytes. Growing keeps the contents.
#[derive(Debug)]
pub struct Arena {
    pub growable: GrowableBuffer,
    ranges: RangeAllocator<u64>,
    /// First bytes of ranges that came back, by their length: in a crowd, most have the size of
    /// another. They join their neighbours before the buffer grows.
    free: BTreeMap<u64, Vec<u64>>,
    /// End of the last byte that was ever allocated.
    pub high: u64,
    /// Ranges appended since [`Arena::take_appended`].
    appended: Vec<Range<u64>>,
}

impl Arena {
    pub fn new(
        skinner: &Skinner,
        label: &'static str,
        usage: wgpu::BufferUsages,
        limit: u64,
    ) -> Result<Self, GpuError> {
        Ok(Self {
            growable: GrowableBuffer::new(skinner, label, usage, limit)?,
            ranges: RangeAllocator::new(0..limit),
            free: BTreeMap::new(),
            high: 0,
            appended: Vec::new(),
        })
    }

    /// Whether a range of `bytes` bytes is free.
    pub fn has_room(&mut self, bytes: u64) -> bool {
        if bytes == 0 {
            return true;
        }
        let found = self.find(bytes);
        if let Some(range) = &found {
            self.give_back(range.start, bytes);
        }
        found.is_some()
    }

    /// A range of `bytes` bytes that is free, within the buffer if there is one.
    fn find(&mut self, bytes: u64) -> Option<Range<u64>> {
        if let Some(first) = self.free.get_mut(&bytes).and_then(Vec::pop) {
            return Some(first..first + bytes);
        }
        let found = self.ranges.allocate_range(bytes).ok();
        if self.free.is_empty()
            || found
                .as_ref()
                .is_some_and(|r| r.end <= self.growable.size())
        {
            return found;
        }
        if let Some(range) = found {
            self.ranges.free_range(range);
        }
        for (bytes, firsts) in std::mem::take(&mut self.free) {
            for first in firsts {
                self.ranges.free_range(first..first + bytes);
            }
        }
        self.ranges.allocate_range(bytes).ok()
    }

    /// Allocates a range and returns its first byte.
    pub fn take(&mut self, skinner: &Skinner, bytes: u64) -> Result<u64, GpuError> {
        if bytes == 0 {
            return Ok(0);
        }
        let Some(range) = self.find(bytes) else {
            return Err(self.growable.beyond_limit(self.high.saturating_add(bytes)));
        };
        if let Err(error) = self.growable.reserve(skinner, range.end, Some(self.high)) {
            self.give_back(range.start, bytes);
            return Err(error);
        }
        self.high = self.high.max(range.end);
        Ok(range.start)
    }

    /// Frees a range that [`Arena::take`] allocated.
    pub fn give_back(&mut self, first: u64, bytes: u64) {
        if bytes > 0 {
            self.free.entry(bytes).or_default().push(first);
        }
    }

    /// Frees all ranges. The buffer keeps its size.
    pub fn clear(&mut self) {
        self.ranges.reset();
        self.free.clear();
        self.high = 0;
    }

    /// Grows the buffer to hold `bytes` more than were ever allocated, up to its limit.
    pub fn reserve(&mut self, skinner: &Skinner, bytes: u64) -> Result<(), GpuError> {
        let wanted = self.high.saturating_add(bytes).min(self.growable.limit);
        self.growable.reserve(skinner, wanted, Some(self.high))
    }

    /// Allocates a range, writes data to it and returns its first byte.
    pub fn append(&mut self, skinner: &Skinner, parts: &[&[u8]]) -> Result<u64, GpuError> {
        let bytes: u64 = parts.iter().map(|p| p.len() as u64).sum();
        let first = self.take(skinner, bytes)?;
        if bytes > 0 {
            self.appended.push(first..first + bytes);
        }
        guarded(&skinner.device, || {
            let mut at = first;
            for part in parts.iter().filter(|p| !p.is_empty()) {
                skinner.queue.write_buffer(&self.growable.buffer, at, part);
                at += part.len() as u64;
            }
        })?;
        Ok(first)
    }

    /// Returns the ranges that were appended since the last call.
    pub fn take_appended(&mut self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.appended)
    }
}
