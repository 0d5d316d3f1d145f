//! Blending on the CPU: a block of points at a time, shape by shape. The same sums in the same order as the
//! kernel's, which walks a list point by point.

use std::ops::Range;

use glam::{Vec3, Vec4};

use super::PackedBlend;
use super::index::BLOCK;
use crate::kernel::skin::normalized;

/// Runs that are asked of memory before they are added.
const AHEAD: usize = 8;

/// Asks for what is read soon.
#[inline(always)]
fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks(64 / size_of::<T>()) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has SSE, and a prefetch never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}

/// The sub-shapes of one frame that have a weight, ascending.
pub(in crate::kernel) struct Active(Vec<(u32, f32)>);

impl Active {
    pub fn new(blend: &PackedBlend, channels: &[f32]) -> Self {
        let mut weights = vec![0.0; blend.positions().len()];
        crate::kernel::sub_shape_weights(blend, channels, &mut weights);
        let numbered = (0..).zip(weights);
        Self(numbered.filter(|(_, weight)| *weight != 0.0).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PackedBlend {
    /// Blends the points of a chunk that begins at point `first`, a multiple of [`BLOCK`], and is no longer than one; and
    /// its normals where given. `rest` and the slices have one element per point.
    pub(in crate::kernel) fn blend_chunk(
        &self,
        active: &Active,
        first: usize,
        rest: &[Vec3],
        points: &mut [Vec3],
    ) {
        self.add(&self.offsets, active, first, rest, points, |sum| sum);
    }

    /// As [`PackedBlend::blend_chunk`], for normals: every one is normalised, touched or not, once a bound shape has normal
    /// offsets.
    pub(in crate::kernel) fn blend_chunk_normals(
        &self,
        active: &Active,
        first: usize,
        rest: &[Vec3],
        normals: &mut [Vec3],
    ) {
        match &self.normal_offsets {
            Some(offsets) => self.add(offsets, active, first, rest, normals, normalized),
            None => normals.copy_from_slice(rest),
        }
    }

    fn add(
        &self,
        offsets: &[Vec3],
        active: &Active,
        first: usize,
        rest: &[Vec3],
        out: &mut [Vec3],
        finish: impl Fn(Vec3) -> Vec3,
    ) {
        let size = self.index.block_points();
        let floats: &[f32] = bytemuck::cast_slice(offsets);
        let blocks = rest.chunks(size).zip(out.chunks_mut(size));
        for (block, (rest, out)) in (first / size..).zip(blocks) {
            // Four floats to a sum: one load and one store.
            let mut sums = [Vec4::ZERO; BLOCK];
            for (sum, rest) in sums.iter_mut().zip(rest) {
                *sum = rest.extend(0.0);
            }
            let places = self.index.places();
            let mut add = |(weight, run): (f32, Range<usize>)| {
                let mut from = &floats[run.start * 3..];
                for place in &places[run] {
                    // One load; what comes in as the fourth float goes nowhere.
                    let offset = match from.first_chunk() {
                        Some(four) => Vec4::from_array(*four),
                        None => Vec3::from_slice(from).extend(0.0),
                    };
                    sums[usize::from(*place) % BLOCK] += weight * offset;
                    from = &from[3..];
                }
            };
            // Runs are short and far apart, so they are asked for some time before they are read.
            let mut ahead: [(f32, Range<usize>); AHEAD] = std::array::from_fn(|_| (0.0, 0..0));
            let mut count = 0;
            self.index.for_each_run(
                block,
                &active.0,
                |a| a.0,
                |(_, weight), run| {
                    prefetch(&places[run.clone()]);
                    prefetch(&offsets[run.clone()]);
                    add(std::mem::replace(&mut ahead[count % AHEAD], (*weight, run)));
                    count += 1;
                },
            );
            for i in count..count + AHEAD {
                add(std::mem::replace(&mut ahead[i % AHEAD], (0.0, 0..0)));
            }
            for (out, sum) in out.iter_mut().zip(&sums) {
                *out = finish(sum.truncate());
            }
        }
    }

    /// Blends one point.
    pub(in crate::kernel) fn blend_point(&self, active: &Active, point: usize, rest: Vec3) -> Vec3 {
        let size = self.index.block_points();
        let (block, place) = (point / size, (point % size) as u16);
        let mut sum = rest;
        self.index.for_each_run(
            block,
            &active.0,
            |a| a.0,
            |(_, weight), run| {
                let places = &self.index.places()[run.clone()];
                let from = places.partition_point(|p| *p < place);
                let mine = places[from..].iter().take_while(|p| **p == place);
                for (_, offset) in mine.zip(&self.offsets[run][from..]) {
                    sum += *weight * *offset;
                }
            },
        );
        sum
    }
}
