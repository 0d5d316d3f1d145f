//! Blending on the CPU, one block of points at a time and shape by shape. The kernel goes point by
//! point instead. Both add up the entries of a point in the same order.

use glam::{Vec3, Vec4, Vec4Swizzles};

use super::PackedBlend;
use super::index::{BLOCK, BlendIndex, ByBlock, Chosen};
use crate::kernel::linear_blend::normalized;

/// The sub-shapes that have a weight in one frame, with their weights.
pub(in crate::kernel) struct Active {
    runs: ByBlock<f32>,
    any: bool,
}

impl Active {
    pub fn new(blend: &PackedBlend, channels: &[f32]) -> Self {
        let mut weights = vec![0.0; blend.positions().len()];
        crate::kernel::sub_shape_weights(blend, channels, &mut weights);
        let numbered = (0..).zip(weights.iter().copied());
        let active = numbered.filter(|(_, weight)| *weight != 0.0);
        Self {
            any: active.clone().next().is_some(),
            runs: blend.index.choose(active),
        }
    }

    pub fn is_empty(&self) -> bool {
        !self.any
    }
}

impl PackedBlend {
    /// Blends the points of a chunk that begins at point `first`, a multiple of [`super::BLOCK`].
    /// The chunk is at most one block long. `rest` and `points` have one element per point.
    pub(in crate::kernel) fn blend_chunk(
        &self,
        active: &Active,
        first: usize,
        rest: &[Vec3],
        points: &mut [Vec3],
    ) {
        self.add(&self.offsets, active, first, rest, points);
    }

    /// As [`PackedBlend::blend_chunk`], for normals. If any shape has normal offsets, every normal
    /// is normalised, also one without an offset.
    pub(in crate::kernel) fn blend_chunk_normals(
        &self,
        active: &Active,
        first: usize,
        rest: &[Vec3],
        normals: &mut [Vec3],
    ) {
        let Some(offsets) = &self.normal_offsets else {
            return normals.copy_from_slice(rest);
        };
        self.add(offsets, active, first, rest, normals);
        for n in normals {
            *n = normalized(*n);
        }
    }

    fn add(
        &self,
        offsets: &[Vec3],
        active: &Active,
        first: usize,
        rest: &[Vec3],
        out: &mut [Vec3],
    ) {
        let size = self.index.block_points();
        let blocks = rest.chunks(size).zip(out.chunks_mut(size));
        for (block, (rest, out)) in (first / size..).zip(blocks) {
            match active.runs.of(block) {
                [] => out.copy_from_slice(rest),
                runs => Sums {
                    index: &self.index,
                    offsets: bytemuck::cast_slice(offsets),
                    runs,
                }
                .of_block(rest, out),
            }
        }
    }

    /// Blends one point.
    pub(in crate::kernel) fn blend_point(&self, active: &Active, point: usize, rest: Vec3) -> Vec3 {
        let size = self.index.block_points();
        let (block, place) = (point / size, (point % size) as u16);
        let mut sum = rest;
        for Chosen { of, run } in active.runs.of(block) {
            let places = &self.index.places[run.range()];
            let from = places.partition_point(|p| *p < place);
            let mine = places[from..].iter().take_while(|p| **p == place);
            for (_, offset) in mine.zip(&self.offsets[run.range()][from..]) {
                sum += of * *offset;
            }
        }
        sum
    }
}

/// The offsets that are added to the points, or to the normals, of a block.
#[derive(Clone, Copy)]
struct Sums<'a> {
    index: &'a BlendIndex,
    /// Three floats per entry.
    offsets: &'a [f32],
    /// The runs of the block, with their weights.
    runs: &'a [Chosen<f32>],
}

impl Sums<'_> {
    /// Adds the offsets to `rest`. All variants multiply, then add, in the same order, so the bits
    /// are the same on every machine.
    fn of_block(self, rest: &[Vec3], out: &mut [Vec3]) {
        #[cfg(target_arch = "x86_64")]
        if crate::kernel::cpu::Avx2Fma::detect().is_some() {
            // SAFETY: the machine has AVX2.
            unsafe { self.of_block_wide(rest, out) };
            return;
        }
        self.of_block_here(rest, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn of_block_wide(self, rest: &[Vec3], out: &mut [Vec3]) {
        self.of_block_here(rest, out);
    }

    #[inline(always)]
    fn of_block_here(self, rest: &[Vec3], out: &mut [Vec3]) {
        let runs = self.runs.iter().map(|chosen| chosen.run);
        let all: u32 = runs.clone().map(|run| run.count).sum();
        let in_stretches = runs.filter(|run| run.has_stretches());
        if in_stretches.map(|run| run.count).sum::<u32>() > all / 2 {
            out.copy_from_slice(rest);
            self.add_stretches(bytemuck::cast_slice_mut(out));
        } else {
            self.add_entries(rest, out);
        }
    }

    /// Adds stretch by stretch: as many floats at once as the machine has lanes.
    #[inline(always)]
    fn add_stretches(self, sums: &mut [f32]) {
        for Chosen { of, run } in self.runs {
            let mut from = &self.offsets[run.range().start * 3..];
            let mut add = |place: u16, count: u16| {
                let (place, count) = (usize::from(place) * 3, usize::from(count) * 3);
                let (offsets, others) = from.split_at(count);
                for (sum, offset) in sums[place..place + count].iter_mut().zip(offsets) {
                    *sum += of * offset;
                }
                from = others;
            };
            if run.has_stretches() {
                for stretch in self.index.stretches_of(run) {
                    add(stretch.place, stretch.count);
                }
            } else {
                for place in &self.index.places[run.range()] {
                    add(*place, 1);
                }
            }
        }
    }

    /// Adds entry by entry, four floats per sum: one load and one store. The fourth is discarded.
    #[inline(always)]
    fn add_entries(self, rest: &[Vec3], out: &mut [Vec3]) {
        let mut sums = [Vec4::ZERO; BLOCK];
        let mut from: &[f32] = bytemuck::cast_slice(rest);
        for sum in &mut sums[..rest.len()] {
            *sum = first_three(from);
            from = &from[3..];
        }
        for Chosen { of, run } in self.runs {
            let range = run.range();
            let offsets = &self.offsets[range.start * 3..range.end * 3];
            let mut add = |place: u16, offset: Vec4| {
                sums[usize::from(place)] += *of * offset;
            };
            // Four entries are three loads of four values and one that overlaps.
            let (places, last_places) = self.index.places[range].as_chunks::<4>();
            let (offsets, last_offsets) = offsets.as_chunks::<12>();
            for (places, offsets) in places.iter().zip(offsets) {
                let at = |first: usize| first_three(&offsets[first..]);
                add(places[0], at(0));
                add(places[1], at(3));
                add(places[2], at(6));
                add(places[3], at(8).yzww());
            }
            for (place, offset) in last_places.iter().zip(last_offsets.as_chunks::<3>().0) {
                add(*place, Vec3::from_array(*offset).extend(0.0));
            }
        }
        for (out, sum) in out.iter_mut().zip(&sums) {
            *out = sum.truncate();
        }
    }
}

/// The first three values, and the fourth if there is one.
#[inline(always)]
fn first_three(values: &[f32]) -> Vec4 {
    match values.first_chunk() {
        Some(four) => Vec4::from_array(*four),
        None => Vec3::from_slice(values).extend(0.0),
    }
}
