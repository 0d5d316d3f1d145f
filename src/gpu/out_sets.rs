//! Sets of output buffers that one dispatch binds: the crowd's own, the caller's, or some of both.

use super::GpuError;
use super::outputs::{OutPage, Wanted, beyond, has};
use super::pipelines::Variant;
use super::skinner::Skinner;
use super::slices::Slice;
use super::target::{Attribute, KINDS, NORMALS, PREVIOUS, TANGENTS, in_buffers};
use crate::kernel::registry::skin_bits::{WITH_NORMALS, WITH_PREVIOUS, WITH_TANGENTS};

/// A buffer of a set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum OutBuffer {
    /// Nothing is written.
    Unused,
    /// The crowd's own, of this page and kind.
    Own(usize, usize),
    /// The caller's, bound from this byte on.
    Of(wgpu::Buffer, u64),
}

/// The buffers that one dispatch writes to, and which of them each kind goes to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OutSet {
    pub buffers: [OutBuffer; KINDS],
    /// By kind; 0 for what is left out.
    pub slots: [u8; KINDS],
}

/// Sets in use, with their numbers of slices.
#[derive(Debug, Default)]
pub(super) struct OutSets {
    sets: Vec<(OutSet, usize)>,
}

impl OutSets {
    pub fn get(&self, number: usize) -> &OutSet {
        &self.sets[number].0
    }

    pub fn take(&mut self, set: OutSet) -> usize {
        // The newest first: neighbours mostly share theirs.
        let found = self.sets.iter().rposition(|(other, _)| *other == set);
        let free = || self.sets.iter().position(|(_, users)| *users == 0);
        let number = found.or_else(free).unwrap_or(self.sets.len());
        if number == self.sets.len() {
            self.sets.push((set, 1));
        } else if self.sets[number].1 == 0 {
            self.sets[number] = (set, 1);
        } else {
            self.sets[number].1 += 1;
        }
        number
    }

    pub fn give_back(&mut self, number: usize) {
        let (set, users) = &mut self.sets[number];
        *users -= 1;
        if *users == 0 {
            // A caller's buffers are not held longer than used.
            *set = OutSet::of_page(0);
        }
    }

    pub fn clear(&mut self) {
        self.sets.clear();
    }
}

impl OutSet {
    /// What is bound for one slot.
    pub fn binding<'a>(
        &'a self,
        skinner: &'a Skinner,
        pages: &'a [OutPage],
        slot: usize,
    ) -> wgpu::BindingResource<'a> {
        match &self.buffers[slot] {
            OutBuffer::Unused => skinner.unused[slot].as_entire_binding(),
            OutBuffer::Own(page, kind) => pages[*page].kinds[*kind].whole(),
            OutBuffer::Of(buffer, first) => skinner.limits.window(buffer, *first),
        }
    }

    /// The skin kernel's constants. Slots of what it leaves out make no variant of their own.
    pub fn skin_variant(&self, bits: usize) -> Variant {
        let slot = |kind: usize, bit: usize| if bits & bit > 0 { self.slots[kind] } else { 0 };
        Variant {
            bits,
            slots: [
                slot(NORMALS, WITH_NORMALS),
                slot(TANGENTS, WITH_TANGENTS),
                slot(PREVIOUS, WITH_PREVIOUS),
            ],
        }
    }

    /// All kinds in the crowd's own buffers.
    pub fn of_page(page: usize) -> Self {
        Self {
            buffers: std::array::from_fn(|kind| OutBuffer::Own(page, kind)),
            slots: [0, 1, 2, 3],
        }
    }
}

/// The caller's buffers that some slices go to, each with the byte that its binding begins at.
pub(super) fn callers_buffers<'a>(
    unit: &[Slice],
    prim: &str,
    wanted: &Wanted<'a>,
    limit: u64,
) -> Result<Vec<(&'a wgpu::Buffer, u64)>, GpuError> {
    // First and last byte of each buffer.
    let mut spans: Vec<(&wgpu::Buffer, u64, u64)> = Vec::new();
    for to in in_buffers(wanted) {
        for slice in unit.iter().filter(|slice| has(slice, to.kind)) {
            let first = to.offset + slice.first as u64 * to.stride;
            let last = first + u64::from(slice.item.count - 1) * to.stride + to.width;
            let buffer = to.buffer;
            match spans.iter_mut().find(|(other, ..)| *other == buffer) {
                Some((_, from, to)) => (*from, *to) = (first.min(*from), last.max(*to)),
                None => spans.push((buffer, first, last)),
            }
        }
    }
    let windows = spans.into_iter().map(|(buffer, from, to)| {
        if buffer.size() <= limit {
            return Ok((buffer, 0));
        }
        // Windows of a limit's size at every half, so that most neighbours share one.
        let step = (limit / 2).next_multiple_of(256).max(256);
        let at_step = from / step * step;
        let window = if to - at_step <= limit {
            at_step
        } else {
            from / 256 * 256
        };
        match to - window <= limit {
            true => Ok((buffer, window)),
            false => Err(beyond(
                prim,
                "results in the caller's buffer",
                to - window,
                limit,
            )),
        }
    });
    windows.collect()
}

/// A set with some of the caller's buffers, and the byte that each kind's binding begins at.
pub(super) fn mixed(
    page: usize,
    unit: &[Slice],
    wanted: &Wanted<'_>,
    callers: &[(&wgpu::Buffer, u64)],
) -> (OutSet, [u64; KINDS]) {
    let mut buffers: Vec<OutBuffer> = Vec::new();
    let (mut slots, mut windows) = ([0; KINDS], [0; KINDS]);
    // faceVarying normals leave the first slot, which is that of positions, alone.
    if !unit.iter().any(Slice::has_points) {
        buffers.push(OutBuffer::Unused);
    }
    for kind in 0..KINDS {
        let wish = wanted[kind].filter(|_| unit.iter().any(|slice| has(slice, kind)));
        let buffer = match wish.map(|w| w.attribute) {
            None => continue,
            Some(Attribute::Own) => OutBuffer::Own(page, kind),
            Some(Attribute::In { buffer, .. }) => {
                let found = callers.iter().find(|(other, _)| *other == buffer);
                windows[kind] = found.map_or(0, |(_, window)| *window);
                OutBuffer::Of(buffer.clone(), windows[kind])
            }
        };
        let slot = buffers.iter().position(|other| *other == buffer);
        slots[kind] = slot.unwrap_or(buffers.len()) as u8;
        if slot.is_none() {
            buffers.push(buffer);
        }
    }
    buffers.resize(KINDS, OutBuffer::Unused);
    let buffers = std::array::from_fn(|slot| buffers[slot].clone());
    (OutSet { buffers, slots }, windows)
}
