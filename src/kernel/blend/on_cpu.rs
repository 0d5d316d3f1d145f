//! Blending on the CPU: a block of points at a time, shape by shape. The same sums in the same order as the
//! kernel's, which walks a list point by point.

use glam::Vec3;

use super::PackedBlend;
use super::index::ByBlock;
use super::sums::Sums;
use crate::kernel::skin::normalized;

/// What one frame's weights choose: the sub-shapes that have one.
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
    /// Blends the points of a chunk that begins at point `first`, a multiple of [`super::BLOCK`], and is no longer than one. `rest`
    /// and `points` have one element per point.
    pub(in crate::kernel) fn blend_chunk(
        &self,
        active: &Active,
        first: usize,
        rest: &[Vec3],
        points: &mut [Vec3],
    ) {
        self.add(&self.offsets, active, first, rest, points);
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
        for run in active.runs.of(block) {
            let places = &self.index.places()[run.range()];
            let from = places.partition_point(|p| *p < place);
            let mine = places[from..].iter().take_while(|p| **p == place);
            for (_, offset) in mine.zip(&self.offsets[run.range()][from..]) {
                sum += run.of * *offset;
            }
        }
        sum
    }
}
