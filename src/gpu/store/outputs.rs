//! Where results lie: pages of the crowd's own output buffers, and the places in them or in the
//! caller's buffers.

use super::instances::Instance;
use super::output_bindings::{
    OutBuffer, OutPlace, OutSet, OutSets, Place, beyond, callers_buffers,
};
use super::skins::{ResidentSkin, Slice};
use super::target::{Attribute, BUFFERS, KINDS, OutputTarget, POINTS, RequestedKinds, own_buffer};
use crate::gpu::device::error::GpuError;
use crate::gpu::device::limits::blas_input;
use crate::gpu::device::skinner::Skinner;
use crate::gpu::memory::arena::Arena;

/// A run of an instance's results on the GPU, in a buffer that a renderer can bind as a vertex
/// buffer or as storage. An element is three floats; four for a tangent; for a normal also one word
/// (see [`crate::gpu::NormalFormat`]).
#[derive(Clone, Copy, Debug)]
pub struct OutputSlice<'a> {
    /// The buffer. A buffer of the crowd's own is replaced only when instances are added;
    /// [`crate::gpu::Crowd::outputs_generation`] then grows.
    pub buffer: &'a wgpu::Buffer,
    /// Byte of the first element; a multiple of 4.
    pub offset: u64,
    /// Bytes from one element to the next. In the crowd's own buffers this is 12, 16 for tangents,
    /// and 4 for octahedral normals.
    pub stride: u64,
    /// Index of the run's first point, render vertex or faceVarying normal.
    pub first: usize,
    /// Number of elements.
    pub count: usize,
}

/// A buffer of positions, and one of all other results: the normals of a unit, its tangents, then
/// its previous positions. Depth passes and ray tracing read positions alone.
#[derive(Debug)]
struct OutPage {
    buffers: [Arena; BUFFERS],
    /// By number, the buffer that frames wrote to, if it was replaced since the last frame, and its
    /// size in bytes.
    left: [Option<(wgpu::Buffer, u64)>; BUFFERS],
    /// Whether any frame was encoded.
    encoded: bool,
}

/// Bytes of each of the crowd's own buffers.
pub type OutBytes = [u64; BUFFERS];

/// Bytes that the results of slices take of each buffer.
fn bytes_of(slices: &[Slice], wanted: &RequestedKinds<'_>) -> OutBytes {
    let mut out = [0; BUFFERS];
    for (kind, bytes) in own_bytes(slices, wanted).into_iter().enumerate() {
        out[own_buffer(kind)] += bytes;
    }
    out
}

/// By kind, the bytes that the results of slices take of the crowd's own buffers.
fn own_bytes(slices: &[Slice], wanted: &RequestedKinds<'_>) -> [u64; KINDS] {
    std::array::from_fn(|kind| match wanted[kind] {
        Some(requested) if *requested.attribute == Attribute::Own => {
            let having = slices.iter().filter(|slice| slice.has(kind));
            let counts = having.map(|slice| u64::from(slice.offsets.count));
            counts.sum::<u64>() * requested.width
        }
        _ => 0,
    })
}

impl OutPage {
    fn new(skinner: &Skinner) -> Result<Self, GpuError> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::VERTEX;
        let limit = skinner.limits.binding_bytes;
        let arena = |label, usage| Arena::new(skinner, label, usage, limit);
        Ok(Self {
            buffers: [
                arena("skin.positions", usage | blas_input(&skinner.device))?,
                arena("skin.others", usage)?,
            ],
            left: Default::default(),
            encoded: false,
        })
    }

    fn has_room(&mut self, bytes: OutBytes) -> bool {
        let mut buffers = self.buffers.iter_mut().zip(bytes);
        buffers.all(|(arena, bytes)| arena.has_room(bytes))
    }

    /// Makes room for `bytes` more in each buffer, within its limit.
    pub fn reserve(&mut self, skinner: &Skinner, bytes: OutBytes) -> Result<(), GpuError> {
        let mut all = bytes.into_iter().enumerate();
        all.try_for_each(|(number, bytes)| {
            self.noting(number, |arena| arena.reserve(skinner, bytes))
        })
    }

    pub fn clear(&mut self) {
        self.buffers.iter_mut().for_each(Arena::clear);
        self.left = Default::default();
    }

    /// How often any buffer was replaced by a larger one.
    pub fn replaced(&self) -> u64 {
        self.buffers
            .iter()
            .map(|arena| arena.growable.replaced)
            .sum()
    }

    pub fn buffer_bytes(&self) -> u64 {
        self.buffers.iter().map(|arena| arena.growable.size()).sum()
    }

    /// Runs `f`, and remembers the old buffer if `f` replaces it.
    fn noting<T>(&mut self, number: usize, f: impl FnOnce(&mut Arena) -> T) -> T {
        let arena = &mut self.buffers[number];
        let (buffer, high, replaced) = (
            arena.growable.buffer.clone(),
            arena.high,
            arena.growable.replaced,
        );
        let out = f(arena);
        if self.encoded && high > 0 && arena.growable.replaced > replaced {
            self.left[number].get_or_insert((buffer, high));
        }
        out
    }

    /// Records copies from replaced buffers to the new ones. Growing has copied the results of
    /// submitted frames, but not those of frames that come earlier in the same encoder.
    fn carry_over(&self, encoder: &mut wgpu::CommandEncoder) {
        let left = self.left.iter().zip(&self.buffers);
        for ((from, bytes), arena) in left.filter_map(|(l, a)| Some((l.as_ref()?, a))) {
            encoder.copy_buffer_to_buffer(from, 0, &arena.growable.buffer, 0, *bytes);
        }
    }

    /// Records that a frame was encoded.
    pub fn set_encoded(&mut self) {
        self.encoded = true;
        self.left = Default::default();
    }

    fn take(&mut self, skinner: &Skinner, bytes: OutBytes) -> Result<OutBytes, GpuError> {
        let [positions, others] = bytes;
        let first = self.noting(0, |arena| arena.take(skinner, positions))?;
        match self.noting(1, |arena| arena.take(skinner, others)) {
            Ok(other) => Ok([first, other]),
            Err(error) => {
                self.buffers[0].give_back(first, positions);
                Err(error)
            }
        }
    }
}

/// The results of a crowd's instances, in its own buffers or in the caller's.
#[derive(Debug, Default)]
pub struct OutputStore {
    pages: Vec<OutPage>,
    sets: OutSets,
    /// Bytes that instances take of the crowd's own buffers.
    bytes: u64,
    /// Replacements of the buffers of pages that were dropped, for [`OutputStore::generation`].
    retired: u64,
}

impl OutputStore {
    /// Checks that `count` more instances of a skin are within the limit, and returns the bytes of
    /// one.
    pub fn check_room(
        &self,
        skinner: &Skinner,
        skin: &ResidentSkin,
        count: u64,
        target: &OutputTarget,
    ) -> Result<OutBytes, GpuError> {
        let each = bytes_of(&skin.slices, &target.kinds(&skin.packed));
        let bytes = each.iter().sum::<u64>().checked_mul(count);
        let bytes = bytes.and_then(|bytes| bytes.checked_add(self.bytes));
        let limit = skinner.limits.output_bytes;
        match bytes {
            Some(bytes) if bytes <= limit => Ok(each),
            bytes => {
                let what = format!("{}: bytes of the crowd's outputs", skin.packed.prim());
                Err(GpuError::limit(what, bytes.unwrap_or(u64::MAX), limit))
            }
        }
    }

    /// Makes room for `count` more instances of `bytes` each, so that buffers grow only once.
    pub fn reserve(
        &mut self,
        skinner: &Skinner,
        each: OutBytes,
        count: u64,
    ) -> Result<(), GpuError> {
        let all = each.map(|bytes| count.saturating_mul(bytes));
        if self.pages.is_empty() && count > 0 {
            self.pages.push(OutPage::new(skinner)?);
        }
        if let Some(page) = self.pages.last_mut() {
            page.reserve(skinner, all)?;
        }
        Ok(())
    }

    /// Finds room for the results of one instance. After an error, no room is taken.
    pub fn place(
        &mut self,
        skinner: &Skinner,
        skin: &ResidentSkin,
        target: &OutputTarget,
    ) -> Result<Vec<OutPlace>, GpuError> {
        let wanted = target.kinds(&skin.packed);
        let (pages, sets) = (&mut self.pages, &mut self.sets);
        let mut out = Vec::with_capacity(skin.slices.len());
        for unit in skin.units() {
            let prim = skin.packed.prim();
            if let Err(error) = place_unit(skinner, pages, sets, unit, prim, &wanted, &mut out) {
                give_back(pages, sets, skin, &wanted, &out);
                return Err(error);
            }
        }
        self.bytes += bytes_of(&skin.slices, &wanted).iter().sum::<u64>();
        Ok(out)
    }

    /// Frees the room of an instance's results.
    pub fn free(&mut self, skin: &ResidentSkin, target: &OutputTarget, out: &[OutPlace]) {
        let wanted = target.kinds(&skin.packed);
        self.bytes -= bytes_of(&skin.slices, &wanted).iter().sum::<u64>();
        give_back(&mut self.pages, &mut self.sets, skin, &wanted, out);
    }

    /// Frees all room. Keeps the first page, which is the fullest, and drops the others.
    pub fn clear(&mut self) {
        self.bytes = 0;
        self.retired = self.generation() + 1;
        self.pages.iter_mut().for_each(OutPage::clear);
        self.sets.clear();
        self.pages.truncate(1);
        self.retired -= self.pages.iter().map(OutPage::replaced).sum::<u64>();
    }

    /// A number that grows whenever a buffer was replaced.
    pub fn generation(&self) -> u64 {
        self.retired + self.pages.iter().map(OutPage::replaced).sum::<u64>()
    }

    pub fn buffer_bytes(&self) -> u64 {
        self.pages.iter().map(OutPage::buffer_bytes).sum()
    }

    /// The output bindings of a set.
    pub fn bindings(&self, set: usize) -> &[u8; KINDS] {
        &self.sets.get(set).bindings
    }

    /// Changes whenever the number of a set stands for other buffers than before.
    pub fn set_version(&self, set: usize) -> u64 {
        self.sets.version(set)
    }

    /// Binds one of a set's buffers.
    pub fn binding<'a>(
        &'a self,
        skinner: &'a Skinner,
        set: usize,
        binding: usize,
    ) -> wgpu::BindingResource<'a> {
        match &self.sets.get(set).buffers[binding] {
            OutBuffer::Own(page, number) => self.pages[*page].buffers[*number].growable.whole(),
            OutBuffer::Of(buffer, first) => skinner.limits.window(buffer, *first),
        }
    }

    /// Records copies of earlier frames' results from replaced buffers to the new ones.
    pub fn carry_over(&self, encoder: &mut wgpu::CommandEncoder) {
        self.pages.iter().for_each(|page| page.carry_over(encoder));
    }

    /// Records that a frame was encoded.
    pub fn set_encoded(&mut self) {
        self.pages.iter_mut().for_each(OutPage::set_encoded);
    }

    /// Where an instance's results of one kind lie.
    pub fn slices(
        &self,
        instance: &Instance,
        skin: &ResidentSkin,
        kind: usize,
    ) -> Vec<OutputSlice<'_>> {
        let places = instance.out.iter().zip(&skin.slices);
        let found = places.filter_map(|(out, slice)| {
            let place = out.kinds[kind].filter(|_| slice.has(kind))?;
            let set = self.sets.get(out.set);
            let (buffer, window) = match &set.buffers[usize::from(set.bindings[kind])] {
                OutBuffer::Own(page, number) => {
                    (&self.pages[*page].buffers[*number].growable.buffer, 0)
                }
                OutBuffer::Of(buffer, window) => (buffer, *window),
            };
            Some(OutputSlice {
                buffer,
                offset: window + u64::from(place.first) * 4,
                stride: u64::from(place.stride) * 4,
                first: slice.first,
                count: slice.offsets.count as usize,
            })
        });
        found.collect()
    }
}

fn place_unit(
    skinner: &Skinner,
    pages: &mut Vec<OutPage>,
    sets: &mut OutSets,
    unit: &[Slice],
    prim: &str,
    wanted: &RequestedKinds<'_>,
    out: &mut Vec<OutPlace>,
) -> Result<(), GpuError> {
    let bytes = bytes_of(unit, wanted);
    let limit = skinner.limits.binding_bytes;
    // Each slice fits alone, but computed normals need all slices side by side.
    let largest = bytes.iter().max().copied().unwrap_or(0);
    if largest > limit {
        let what = "results of a skin whose normals are computed";
        return Err(beyond(prim, what, largest, limit));
    }
    let callers = callers_buffers(unit, prim, wanted, limit)?;
    let page = match pages.iter_mut().position(|page| page.has_room(bytes)) {
        Some(page) => page,
        None => {
            pages.push(OutPage::new(skinner)?);
            pages.len() - 1
        }
    };
    let own = pages[page].take(skinner, bytes)?;
    let mut next = own;
    let mut firsts = [0; KINDS];
    for (kind, bytes) in own_bytes(unit, wanted).into_iter().enumerate() {
        firsts[kind] = next[own_buffer(kind)];
        next[own_buffer(kind)] += bytes;
    }

    let (set, windows) = OutSet::of(page, unit, wanted, &callers);
    let mut first_point = None;
    for slice in unit {
        let kinds = std::array::from_fn(|kind| {
            let requested = wanted[kind].filter(|_| slice.has(kind))?;
            // Pages and bindings hold less than 4 GiB, so a count of floats fits u32.
            Some(match requested.attribute {
                Attribute::Own => {
                    let first = firsts[kind];
                    firsts[kind] += u64::from(slice.offsets.count) * requested.width;
                    Place {
                        first: (first / 4) as u32,
                        stride: (requested.width / 4) as u32,
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
            own,
            set: sets.take(set.clone()),
            kinds,
            first_point: *first_point.get_or_insert(own_first),
        });
    }
    Ok(())
}

/// Frees the room of an instance's results.
fn give_back(
    pages: &mut [OutPage],
    sets: &mut OutSets,
    skin: &ResidentSkin,
    wanted: &RequestedKinds<'_>,
    places: &[OutPlace],
) {
    let mut places = places.iter();
    for unit in skin.units() {
        let bytes = bytes_of(unit, wanted);
        for (number, place) in places.by_ref().take(unit.len()).enumerate() {
            sets.give_back(place.set);
            if number == 0 {
                let buffers = pages[place.page].buffers.iter_mut();
                for ((arena, first), bytes) in buffers.zip(place.own).zip(bytes) {
                    arena.give_back(first, bytes);
                }
            }
        }
    }
}
