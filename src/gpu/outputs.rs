//! Where results go: pages of the crowd's own output buffers, and places in them or in the caller's.

use super::GpuError;
use super::arena::Arena;
use super::error::guarded;
use super::out_sets::{OutSet, OutSets, callers_buffers, mixed};
use super::skinner::Skinner;
use super::slices::{GpuSkin, Slice};
use super::target::{Attribute, KINDS, NORMALS, POINTS, TANGENTS, Wish};

/// One buffer per kind of result.
#[derive(Debug)]
pub(super) struct OutPage {
    pub kinds: [Arena; KINDS],
    /// By kind what frames wrote to, where growing replaced it since the last one, and its bytes.
    left: [Option<(wgpu::Buffer, u64)>; KINDS],
    /// Some frame was encoded.
    encoded: bool,
}

/// Bytes of each kind of result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OutBytes(pub [u64; KINDS]);

/// Whose buffer each kind of result goes to; `None` for what is left out.
pub(super) type Wanted<'a> = [Option<Wish<'a>>; KINDS];

impl OutBytes {
    /// What a slice's results take of the crowd's own buffers.
    fn of(slice: &Slice, wanted: &Wanted<'_>) -> Self {
        Self(std::array::from_fn(|kind| match wanted[kind] {
            Some(wish) if *wish.attribute == Attribute::Own && has(slice, kind) => {
                u64::from(slice.item.count) * wish.width
            }
            _ => 0,
        }))
    }

    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|kind| self.0[kind] + other.0[kind]))
    }
}

pub(super) fn has(slice: &Slice, kind: usize) -> bool {
    match kind {
        NORMALS => slice.has_normals(),
        TANGENTS => slice.has_tangents(),
        _ => slice.has_points(),
    }
}

impl GpuSkin {
    /// Bytes that an instance's results take of the crowd's own buffers.
    pub fn out_bytes(&self, wanted: &Wanted<'_>) -> OutBytes {
        let all = self.slices.iter().map(|s| OutBytes::of(s, wanted));
        all.fold(OutBytes::default(), OutBytes::add)
    }

    /// Runs of slices whose results lie side by side: all, where normals are made from the positions of
    /// neighbours.
    fn units(&self) -> std::slice::Chunks<'_, Slice> {
        let together = self.slices.iter().any(Slice::makes_normals);
        self.slices
            .chunks(if together { self.slices.len() } else { 1 })
    }
}

impl OutPage {
    pub fn new(skinner: &Skinner) -> Result<Self, GpuError> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::VERTEX;
        let limit = skinner.limits.binding_bytes;
        let arena = |label| Arena::new(skinner, label, usage, limit);
        Ok(Self {
            kinds: [
                arena("skin.points")?,
                arena("skin.normals")?,
                arena("skin.tangents")?,
                arena("skin.previous")?,
            ],
            left: Default::default(),
            encoded: false,
        })
    }

    fn has_room(&mut self, bytes: OutBytes) -> bool {
        let mut kinds = self.kinds.iter_mut().zip(bytes.0);
        kinds.all(|(arena, bytes)| arena.has_room(bytes))
    }

    /// Makes its buffers hold so much more, as far as the limit lets them.
    pub fn reserve(&mut self, skinner: &Skinner, bytes: [u64; KINDS]) -> Result<(), GpuError> {
        let mut kinds = bytes.into_iter().enumerate();
        kinds.try_for_each(|(kind, bytes)| self.noting(kind, |arena| arena.reserve(skinner, bytes)))
    }

    pub fn clear(&mut self) {
        self.kinds.iter_mut().for_each(Arena::clear);
        self.left = Default::default();
    }

    /// Times that growing replaced a buffer.
    pub fn replaced(&self) -> u64 {
        self.kinds.iter().map(Arena::replaced).sum()
    }

    pub fn buffer_bytes(&self) -> u64 {
        self.kinds.iter().map(|arena| arena.buffer().size()).sum()
    }

    /// Does something that may replace a buffer.
    fn noting<T>(&mut self, kind: usize, f: impl FnOnce(&mut Arena) -> T) -> T {
        let arena = &mut self.kinds[kind];
        let (buffer, high, replaced) = (arena.buffer().clone(), arena.high(), arena.replaced());
        let out = f(arena);
        if self.encoded && high > 0 && arena.replaced() > replaced {
            self.left[kind].get_or_insert((buffer, high));
        }
        out
    }

    /// Copies what frames left in buffers that growing replaced since. Growing has copied that of submitted
    /// frames; in the encoder those that come before this one count too.
    pub fn bring(
        &self,
        skinner: &Skinner,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        let left = self.left.iter().zip(&self.kinds);
        for ((from, bytes), arena) in left.filter_map(|(l, a)| Some((l.as_ref()?, a))) {
            guarded(&skinner.device, || {
                encoder.copy_buffer_to_buffer(from, 0, arena.buffer(), 0, *bytes);
            })?;
        }
        Ok(())
    }

    /// A frame is encoded.
    pub fn set_encoded(&mut self) {
        self.encoded = true;
        self.left = Default::default();
    }

    fn take(&mut self, skinner: &Skinner, bytes: OutBytes) -> Result<[u64; KINDS], GpuError> {
        let mut firsts = [0; KINDS];
        for kind in 0..KINDS {
            match self.noting(kind, |arena| arena.take(skinner, bytes.0[kind])) {
                Ok(first) => firsts[kind] = first,
                Err(error) => {
                    for (done, first) in firsts.iter().enumerate().take(kind) {
                        self.kinds[done].give_back(*first, bytes.0[done]);
                    }
                    return Err(error);
                }
            }
        }
        Ok(firsts)
    }
}

/// One kind of result of one slice: floats of the buffer that its set binds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub first: u32,
    pub stride: u32,
}

/// Where a slice's results go.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutPlace {
    /// Number of the crowd's own page.
    pub page: usize,
    /// Number of its [`OutSet`].
    pub set: usize,
    pub kinds: [Option<Place>; KINDS],
    /// Float of the instance's first position, where its normals are made.
    pub first_point: u32,
}

/// Finds room for the results of one instance: all of it, or none where there is an error.
pub(super) fn place(
    skinner: &Skinner,
    pages: &mut Vec<OutPage>,
    sets: &mut OutSets,
    skin: &GpuSkin,
    prim: &str,
    wanted: &Wanted<'_>,
) -> Result<Vec<OutPlace>, GpuError> {
    let mut out = Vec::with_capacity(skin.slices.len());
    for unit in skin.units() {
        if let Err(error) = place_unit(skinner, pages, sets, unit, prim, wanted, &mut out) {
            give_back(pages, sets, skin, wanted, &out);
            return Err(error);
        }
    }
    Ok(out)
}

fn place_unit(
    skinner: &Skinner,
    pages: &mut Vec<OutPage>,
    sets: &mut OutSets,
    unit: &[Slice],
    prim: &str,
    wanted: &Wanted<'_>,
    out: &mut Vec<OutPlace>,
) -> Result<(), GpuError> {
    let bytes = unit.iter().map(|slice| OutBytes::of(slice, wanted));
    let bytes = bytes.fold(OutBytes::default(), OutBytes::add);
    let limit = skinner.limits.binding_bytes;
    // Slices fit by themselves; made normals want them side by side.
    let largest = bytes.0.iter().max().copied().unwrap_or(0);
    if largest > limit {
        return Err(beyond(
            prim,
            "results of a skin whose normals are made",
            largest,
            limit,
        ));
    }
    let callers = callers_buffers(unit, prim, wanted, limit)?;
    let page = match pages.iter_mut().position(|page| page.has_room(bytes)) {
        Some(page) => page,
        None => {
            pages.push(OutPage::new(skinner)?);
            pages.len() - 1
        }
    };
    let mut firsts = pages[page].take(skinner, bytes)?;

    let all_own = wanted
        .iter()
        .flatten()
        .all(|w| *w.attribute == Attribute::Own);
    let (set, windows) = match all_own {
        true => (OutSet::of_page(page), [0; KINDS]),
        false => mixed(page, unit, wanted, &callers),
    };
    let mut first_point = None;
    for slice in unit {
        let kinds = std::array::from_fn(|kind| {
            let wish = wanted[kind].filter(|_| has(slice, kind))?;
            // Pages and bindings hold less than 4 GiB, so a count of floats fits u32.
            Some(match wish.attribute {
                Attribute::Own => {
                    let first = firsts[kind];
                    firsts[kind] += u64::from(slice.item.count) * wish.width;
                    Place {
                        first: (first / 4) as u32,
                        stride: (wish.width / 4) as u32,
                    }
                }
                Attribute::In { offset, stride, .. } => Place {
                    first: ((offset + slice.first as u64 * stride - windows[kind]) / 4) as u32,
                    stride: (stride / 4) as u32,
                },
            })
        });
        let own_first = kinds[POINTS].map_or(0, |place| place.first);
        out.push(OutPlace {
            page,
            set: sets.take(set.clone()),
            kinds,
            first_point: *first_point.get_or_insert(own_first),
        });
    }
    Ok(())
}

pub(super) fn beyond(prim: &str, what: &str, asked: u64, limit: u64) -> GpuError {
    GpuError::Limit {
        what: format!("{prim}: bytes of {what}, in one binding"),
        asked,
        limit,
    }
}

/// Makes the room of an instance's results free again.
pub(super) fn give_back(
    pages: &mut [OutPage],
    sets: &mut OutSets,
    skin: &GpuSkin,
    wanted: &Wanted<'_>,
    places: &[OutPlace],
) {
    let mut places = places.iter();
    for unit in skin.units() {
        let bytes = unit.iter().map(|slice| OutBytes::of(slice, wanted));
        let bytes = bytes.fold(OutBytes::default(), OutBytes::add);
        for (number, place) in places.by_ref().take(unit.len()).enumerate() {
            sets.give_back(place.set);
            if number > 0 {
                continue;
            }
            let page = &mut pages[place.page];
            for (kind, of_kind) in place
                .kinds
                .iter()
                .enumerate()
                .filter(|(k, _)| bytes.0[*k] > 0)
            {
                let first = of_kind.map_or(0, |p| u64::from(p.first) * 4);
                page.kinds[kind].give_back(first, bytes.0[kind]);
            }
        }
    }
}
