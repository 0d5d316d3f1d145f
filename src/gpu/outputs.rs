//! Where results go: pages of the crowd's own output buffers, and sets of buffers that one dispatch binds.

use super::GpuError;
use super::arena::Arena;
use super::error::guarded;
use super::frame::{WITH_NORMALS, WITH_PREVIOUS, WITH_TANGENTS};
use super::pipelines::Variant;
use super::skinner::Skinner;
use super::slices::{GpuSkin, Slice};
use super::target::{Attribute, KINDS, NORMALS, POINTS, PREVIOUS, TANGENTS, WIDTHS};

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
pub(super) type Wanted<'a> = [Option<&'a Attribute>; KINDS];

impl OutBytes {
    /// What a slice's results take of the crowd's own buffers.
    fn of(slice: &Slice, wanted: &Wanted<'_>) -> Self {
        Self(std::array::from_fn(|kind| match wanted[kind] {
            Some(Attribute::Own) if has(slice, kind) => u64::from(slice.item.count) * WIDTHS[kind],
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

    fn take(&mut self, set: OutSet) -> usize {
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

    fn give_back(&mut self, number: usize) {
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
    fn of_page(page: usize) -> Self {
        Self {
            buffers: std::array::from_fn(|kind| OutBuffer::Own(page, kind)),
            slots: [0, 1, 2, 3],
        }
    }
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

    let all_own = wanted.iter().flatten().all(|w| **w == Attribute::Own);
    let (set, windows) = match all_own {
        true => (OutSet::of_page(page), [0; KINDS]),
        false => mixed(page, unit, wanted, &callers),
    };
    let mut first_point = None;
    for slice in unit {
        let kinds = std::array::from_fn(|kind| {
            let attribute = wanted[kind].filter(|_| has(slice, kind))?;
            // Pages and bindings hold less than 4 GiB, so a count of floats fits u32.
            Some(match attribute {
                Attribute::Own => {
                    let first = firsts[kind];
                    firsts[kind] += u64::from(slice.item.count) * WIDTHS[kind];
                    Place {
                        first: (first / 4) as u32,
                        stride: (WIDTHS[kind] / 4) as u32,
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

fn beyond(prim: &str, what: &str, asked: u64, limit: u64) -> GpuError {
    GpuError::Limit {
        what: format!("{prim}: bytes of {what}, in one binding"),
        asked,
        limit,
    }
}

/// The caller's buffers that some slices go to, each with the byte that its binding begins at.
fn callers_buffers<'a>(
    unit: &[Slice],
    prim: &str,
    wanted: &Wanted<'a>,
    limit: u64,
) -> Result<Vec<(&'a wgpu::Buffer, u64)>, GpuError> {
    // First and last byte of each buffer.
    let mut spans: Vec<(&wgpu::Buffer, u64, u64)> = Vec::new();
    for (kind, attribute) in wanted.iter().enumerate() {
        let Some(Attribute::In {
            buffer,
            offset,
            stride,
        }) = attribute
        else {
            continue;
        };
        for slice in unit.iter().filter(|slice| has(slice, kind)) {
            let first = offset + slice.first as u64 * stride;
            let last = first + u64::from(slice.item.count - 1) * stride + WIDTHS[kind];
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
fn mixed(
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
        let attribute = wanted[kind].filter(|_| unit.iter().any(|slice| has(slice, kind)));
        let buffer = match attribute {
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
