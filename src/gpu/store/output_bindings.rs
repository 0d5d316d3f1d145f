//! Sets of output buffers that one dispatch binds: the crowd's own, the caller's, or both.

use super::skins::Slice;
use super::target::{Attribute, KINDS, RequestedKinds, in_buffers};
use crate::gpu::device::error::GpuError;

/// Where one kind of result of one slice lies, in words of the buffer that its set binds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    pub first: u32,
    pub stride: u32,
}

/// Where a slice's results go.
#[derive(Clone, Copy, Debug)]
pub struct OutPlace {
    /// Index of the crowd's own page.
    pub page: usize,
    /// Index of its [`OutSet`].
    pub set: usize,
    pub kinds: [Option<Place>; KINDS],
    /// First float of the instance's positions, if its normals are computed.
    pub first_point: u32,
}

/// A buffer of a set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OutBuffer {
    /// A buffer that nothing is written to.
    Unused,
    /// The crowd's own buffer of this page and kind.
    Own(usize, usize),
    /// A caller's buffer, bound from this byte on.
    Of(wgpu::Buffer, u64),
}

/// The output buffers that one dispatch binds, and the output binding of each kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OutSet {
    pub buffers: [OutBuffer; KINDS],
    /// The output binding of each kind; 0 for a kind that is left out.
    pub bindings: [u8; KINDS],
}

/// The output bindings if all kinds go to the crowd's own buffers.
const OWN_BINDINGS: [u8; KINDS] = [0, 1, 2, 3];

/// The sets in use, each with the number of slices that use it.
#[derive(Debug, Default)]
pub struct OutSets {
    sets: Vec<(OutSet, usize)>,
}

impl OutSets {
    pub fn get(&self, number: usize) -> &OutSet {
        &self.sets[number].0
    }

    pub fn take(&mut self, set: OutSet) -> usize {
        // The newest first: slices that are added one after the other often share a set.
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
            // Drops the caller's buffers once no slice uses them.
            *set = OutSet::of_page(0);
        }
    }

    pub fn clear(&mut self) {
        self.sets.clear();
    }
}

impl OutSet {
    /// The set of the crowd's own buffers of a page.
    pub fn of_page(page: usize) -> Self {
        Self {
            buffers: std::array::from_fn(|kind| OutBuffer::Own(page, kind)),
            bindings: OWN_BINDINGS,
        }
    }
}

/// The caller's buffers that some slices write to, each with the byte at which its binding begins.
pub fn callers_buffers<'a>(
    unit: &[Slice],
    prim: &str,
    wanted: &RequestedKinds<'a>,
    limit: u64,
) -> Result<Vec<(&'a wgpu::Buffer, u64)>, GpuError> {
    // First and last byte of each buffer.
    let mut spans: Vec<(&wgpu::Buffer, u64, u64)> = Vec::new();
    for to in in_buffers(wanted) {
        for slice in unit.iter().filter(|slice| slice.has(to.kind)) {
            let first = to.offset + slice.first as u64 * to.stride;
            let last = first + u64::from(slice.offsets.count - 1) * to.stride + to.width;
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
        // Bindings as large as the limit, beginning at every half of it, so that neighbours can
        // share one.
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

/// The set that binds some of the caller's buffers, and the byte at which the binding of each kind
/// begins.
pub fn mixed(
    page: usize,
    unit: &[Slice],
    wanted: &RequestedKinds<'_>,
    callers: &[(&wgpu::Buffer, u64)],
) -> (OutSet, [u64; KINDS]) {
    let has = std::array::from_fn(|kind| unit.iter().any(|slice| slice.has(kind)));
    let has_points = unit.iter().any(Slice::has_points);
    let bindings = bindings_of(has_points, &has, wanted);
    let mut buffers = [const { OutBuffer::Unused }; KINDS];
    let mut windows = [0; KINDS];
    for kind in 0..KINDS {
        let buffer = match wanted[kind].filter(|_| has[kind]).map(|w| w.attribute) {
            None => continue,
            Some(Attribute::Own) => OutBuffer::Own(page, kind),
            Some(Attribute::In { buffer, .. }) => {
                let found = callers.iter().find(|(other, _)| *other == buffer);
                windows[kind] = found.map_or(0, |(_, window)| *window);
                OutBuffer::Of(buffer.clone(), windows[kind])
            }
        };
        buffers[usize::from(bindings[kind])] = buffer;
    }
    (OutSet { buffers, bindings }, windows)
}

/// The output binding of each kind. Kinds that share a buffer share a binding, because WebGPU binds
/// no writable bytes twice. The first binding is for positions; faceVarying normals do not use it.
/// `has` says which kinds the results have.
pub fn bindings_of(
    has_points: bool,
    has: &[bool; KINDS],
    wanted: &RequestedKinds<'_>,
) -> [u8; KINDS] {
    let all_own = wanted
        .iter()
        .flatten()
        .all(|w| *w.attribute == Attribute::Own);
    if all_own {
        return OWN_BINDINGS;
    }
    let mut buffers: Vec<Option<(usize, Option<&wgpu::Buffer>)>> = Vec::new();
    if !has_points {
        buffers.push(None);
    }
    let mut bindings = [0; KINDS];
    for kind in 0..KINDS {
        let buffer = match wanted[kind].filter(|_| has[kind]).map(|w| w.attribute) {
            None => continue,
            Some(Attribute::Own) => (kind, None),
            Some(Attribute::In { buffer, .. }) => (KINDS, Some(buffer)),
        };
        let found = buffers.iter().position(|other| *other == Some(buffer));
        bindings[kind] = found.unwrap_or(buffers.len()) as u8;
        if found.is_none() {
            buffers.push(Some(buffer));
        }
    }
    bindings
}

/// The error for results that do not fit one binding.
pub fn beyond(prim: &str, what: &str, asked: u64, limit: u64) -> GpuError {
    GpuError::Limit {
        what: format!("{prim}: bytes of {what}, in one binding"),
        asked,
        limit,
    }
}
