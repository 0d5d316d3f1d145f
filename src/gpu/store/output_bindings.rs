//! Sets of output buffers that one dispatch binds: the crowd's own, the caller's, or both.

use std::collections::HashMap;

use super::skins::Slice;
use super::target::{Attribute, BUFFERS, KINDS, POINTS, RequestedKinds, in_buffers, own_buffer};
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
    /// First byte of the room that its unit has in each of the page's buffers.
    pub own: [u64; BUFFERS],
    /// Index of its [`OutSet`].
    pub set: usize,
    pub kinds: [Option<Place>; KINDS],
    /// First float of the instance's positions, if its normals are computed.
    pub first_point: u32,
}

/// A buffer of a set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OutBuffer {
    /// The crowd's own buffer of this page and number.
    Own(usize, usize),
    /// A caller's buffer, bound from this byte on.
    Of(wgpu::Buffer, u64),
}

/// The output buffers that one dispatch binds, and the output binding of each kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OutSet {
    pub buffers: [OutBuffer; BUFFERS],
    pub bindings: [u8; KINDS],
}

/// The sets in use, by number.
#[derive(Debug, Default)]
pub struct OutSets {
    sets: Vec<NumberedSet>,
    numbers: HashMap<OutSet, usize>,
    /// Numbers that no slice uses.
    free: Vec<usize>,
}

#[derive(Debug)]
struct NumberedSet {
    set: OutSet,
    /// Number of slices that use it.
    users: usize,
    /// How often the number was given to another set. Bind groups are of one version.
    version: u64,
}

impl NumberedSet {
    fn replace(&mut self, set: OutSet) {
        if self.set != set {
            self.set = set;
            self.version += 1;
        }
    }
}

impl OutSets {
    pub fn get(&self, number: usize) -> &OutSet {
        &self.sets[number].set
    }

    /// Changes whenever the number stands for other buffers than before.
    pub fn version(&self, number: usize) -> u64 {
        self.sets.get(number).map_or(0, |numbered| numbered.version)
    }

    pub fn take(&mut self, set: OutSet) -> usize {
        if let Some(number) = self.numbers.get(&set) {
            self.sets[*number].users += 1;
            return *number;
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.sets.push(NumberedSet {
                set: set.clone(),
                users: 0,
                version: 0,
            });
            self.sets.len() - 1
        });
        let numbered = &mut self.sets[number];
        numbered.users = 1;
        numbered.replace(set.clone());
        self.numbers.insert(set, number);
        number
    }

    pub fn give_back(&mut self, number: usize) {
        let numbered = &mut self.sets[number];
        numbered.users -= 1;
        if numbered.users == 0 {
            self.numbers.remove(&numbered.set);
            // Drops the caller's buffers once no slice uses them.
            numbered.replace(OutSet::of_page(0));
            self.free.push(number);
        }
    }

    /// Forgets all sets, as no plan outlives it.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

impl OutSet {
    /// The set of the crowd's own buffers of a page.
    pub fn of_page(page: usize) -> Self {
        Self {
            buffers: std::array::from_fn(|number| OutBuffer::Own(page, number)),
            bindings: std::array::from_fn(|kind| own_buffer(kind) as u8),
        }
    }

    /// The set of a page's buffers, but for those of the caller that some slices write to, and the
    /// byte at which the binding of each kind begins.
    pub fn of(
        page: usize,
        unit: &[Slice],
        wanted: &RequestedKinds<'_>,
        callers: &[(&wgpu::Buffer, u64)],
    ) -> (Self, [u64; KINDS]) {
        let bindings = bindings_of(wanted);
        let mut set = Self {
            bindings,
            ..Self::of_page(page)
        };
        let mut windows = [0; KINDS];
        for to in in_buffers(wanted) {
            if unit.iter().any(|slice| slice.has(to.kind)) {
                let found = callers.iter().find(|(other, _)| *other == to.buffer);
                windows[to.kind] = found.map_or(0, |(_, window)| *window);
                set.buffers[usize::from(bindings[to.kind])] =
                    OutBuffer::Of(to.buffer.clone(), windows[to.kind]);
            }
        }
        (set, windows)
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

/// The output binding of each kind: 0 for positions and for kinds in the same buffer of the caller,
/// because WebGPU binds no writable bytes twice; 1 for the others.
pub fn bindings_of(wanted: &RequestedKinds<'_>) -> [u8; KINDS] {
    let buffer = |kind: usize| match wanted[kind]?.attribute {
        Attribute::Own => None,
        Attribute::In { buffer, .. } => Some(buffer),
    };
    let positions = buffer(POINTS);
    std::array::from_fn(|kind| {
        let is_shared = positions.is_some() && buffer(kind) == positions;
        u8::from(kind != POINTS && !is_shared)
    })
}

/// The error for results that do not fit one binding.
pub fn beyond(prim: &str, what: &str, asked: u64, limit: u64) -> GpuError {
    GpuError::limit(
        format!("{prim}: bytes of {what}, in one binding"),
        asked,
        limit,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_used_again_has_another_version() {
        let mut sets = OutSets::default();
        let [a, b, c] = [1, 2, 3].map(OutSet::of_page);
        assert_eq!((sets.take(a.clone()), sets.take(a.clone())), (0, 0));
        assert_eq!((sets.take(b.clone()), sets.version(1)), (1, 0));
        sets.give_back(0);
        assert_eq!((sets.get(0), sets.version(0)), (&a, 0), "it has a user");
        sets.give_back(0);
        let gone = sets.version(0);
        assert!(gone > 0 && *sets.get(0) != a, "what nobody uses is dropped");
        assert_eq!((sets.take(c.clone()), sets.get(0)), (0, &c));
        assert!(sets.version(0) > gone);
        assert_eq!((sets.take(a), sets.take(b)), (2, 1));
        assert_eq!(sets.version(1), 0);
    }
}
