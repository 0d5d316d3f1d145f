//! Blend shapes as the kernels read them: offsets, sorted so that all offsets of a point are found
//! together.

mod index;
mod on_cpu;
mod weights;

use std::borrow::Cow;
use std::sync::Arc;

use glam::Vec3;

use crate::error::Invalid;
use crate::skel::Skin;

pub(super) use index::BLOCK;
pub use index::BlendIndex;
pub(super) use on_cpu::Active;
pub use weights::{WEIGHTS, WeightsItem, sub_shape_weights};

/// The blend shapes of a prim as a list of *entries*. An entry is the offset that one sub-shape
/// adds to one point. Entries are sorted by shape, then by the weight of the sub-shape, then by
/// point. Entries that move neither a point nor a normal are left out.
///
/// The CPU reads only the entries of active sub-shapes, for a block of 2,048 points at a time
/// (fewer if there are thousands of shapes). The GPU reads a list of entries per point: of all
/// sub-shapes, or of those that an instance uses. Both add up the entries of a point in the same
/// order, so the result has the same bits in every run and for every list.
///
/// An entry takes 14 bytes here (26 with normals) and 16 bytes on the GPU (28). Runs of
/// neighbouring points take a quarter byte more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackedBlend {
    sub_shape_ranges: Vec<[u32; 2]>,
    positions: Vec<f32>,
    index: Arc<BlendIndex>,
    offsets: Vec<Vec3>,
    pub(super) normal_offsets: Option<Vec<Vec3>>,
}

/// The offset of one entry, for a point and for its normal.
#[derive(Clone, Copy)]
struct Offset {
    point: Vec3,
    normal: Vec3,
}

impl PackedBlend {
    /// Packs the blend shapes of a skin; `None` if it has none.
    pub(super) fn pack(prim: &str, skin: &Skin) -> Result<Option<Self>, Invalid> {
        if skin.shapes().iter().all(Option::is_none) {
            return Ok(None);
        }
        const TARGETS: &str = "skel:blendShapeTargets";
        let shapes = || skin.shapes().iter().flatten();
        let sub_count: u64 = shapes().map(|s| s.sub_shapes().len() as u64).sum();
        Invalid::unless_u32_counts(prim, TARGETS, "sub-shapes", sub_count)?;
        let at_most: u64 = shapes()
            .flat_map(|s| s.sub_shapes())
            .map(|s| {
                s.offsets
                    .len()
                    .max(s.normal_offsets.as_ref().map_or(0, Vec::len)) as u64
            })
            .sum();
        // The kernel counts floats, three per entry. Its lists have a word per entry and per point.
        let words = at_most * 3 + skin.points().len() as u64;
        Invalid::unless_u32_counts(prim, TARGETS, "blend shape offsets", words)?;

        let mut blend = Self::default();
        for shape in skin.shapes() {
            let first = blend.positions.len() as u32;
            let subs = shape.as_ref().map_or(&[][..], |s| s.sub_shapes());
            blend.sub_shape_ranges.push([first, subs.len() as u32]);
            blend.positions.extend(subs.iter().map(|s| s.weight));
        }

        let mut rows = vec![0; skin.points().len()];
        for_each_entry(skin, |point, _, _| rows[point] += 1);
        let mut sorter = index::Sorter::new(blend.positions.len(), &rows);
        let entries = rows.iter().map(|n| *n as usize).sum();
        blend.offsets.reserve_exact(entries);
        let with_normals = skin.blends_normals();
        blend.normal_offsets = with_normals.then(|| Vec::with_capacity(entries));
        for_each_entry(skin, |point, sub_shape, offset| {
            sorter.put(point, sub_shape);
            blend.offsets.push(offset.point);
            if let Some(normals) = &mut blend.normal_offsets {
                normals.push(offset.normal);
            }
        });
        blend.index = Arc::new(sorter.finish());
        Ok(Some(blend))
    }

    /// The entries of only these points, renumbered in this order.
    pub(super) fn of_points(&self, points: &[u32]) -> Cow<'_, Self> {
        let is_all = points.len() == self.index.point_count();
        if is_all && (0..).zip(points).all(|(i, p)| i == *p) {
            return Cow::Borrowed(self);
        }
        let (index, order) = self.index.of_points(points);
        let pick = |values: &[Vec3]| order.iter().map(|e| values[*e as usize]).collect();
        Cow::Owned(Self {
            sub_shape_ranges: self.sub_shape_ranges.clone(),
            positions: self.positions.clone(),
            index: Arc::new(index),
            offsets: pick(&self.offsets),
            normal_offsets: self.normal_offsets.as_deref().map(pick),
        })
    }

    /// The point and the sub-shape of each entry.
    #[must_use]
    pub fn index(&self) -> &Arc<BlendIndex> {
        &self.index
    }

    /// Per blend shape its first sub-shape and its number of sub-shapes. A missing blend shape has
    /// none (rule 17).
    #[must_use]
    pub fn sub_shape_ranges(&self) -> &[[u32; 2]] {
        &self.sub_shape_ranges
    }

    /// The weights of the sub-shapes: the channel weight at which a sub-shape alone is the result.
    /// They ascend within a blend shape.
    #[must_use]
    pub fn positions(&self) -> &[f32] {
        &self.positions
    }

    /// The number of entries of each sub-shape.
    #[must_use]
    pub fn entry_counts(&self) -> &[u32] {
        &self.index.counts
    }

    /// Point offset of each entry, in prim space.
    #[must_use]
    pub fn offsets(&self) -> &[Vec3] {
        &self.offsets
    }

    /// Normal offset of each entry; `None` if no sub-shape has normal offsets.
    #[must_use]
    pub fn normal_offsets(&self) -> Option<&[Vec3]> {
        self.normal_offsets.as_deref()
    }
}

/// Calls `f(point, sub-shape, offset)` for every entry that moves something, in the order of
/// entries. If a sub-shape names a point more than once, those entries keep the order of the file.
fn for_each_entry(skin: &Skin, mut f: impl FnMut(usize, u32, Offset)) {
    let wants_normals = skin.blends_normals();
    let mut number = 0u32;
    let mut sorted = Vec::new();
    for shape in skin.shapes().iter().flatten() {
        let indices = shape.point_indices().filter(|i| !i.is_sorted());
        sorted.clear();
        if let Some(indices) = indices {
            sorted.extend(0..indices.len() as u32);
            sorted.sort_by_key(|entry| indices[*entry as usize]);
        }
        for sub in shape.sub_shapes() {
            let normals = sub.normal_offsets.as_deref().filter(|_| wants_normals);
            // A sub-shape may have offsets for points, for normals, or for both.
            let entries = sub.offsets.len().max(normals.map_or(0, <[Vec3]>::len));
            let mut put = |entry: usize| {
                let offset = Offset {
                    point: sub.offsets.get(entry).copied().unwrap_or(Vec3::ZERO),
                    normal: normals.map_or(Vec3::ZERO, |n| n[entry]),
                };
                if offset.point != Vec3::ZERO || offset.normal != Vec3::ZERO {
                    f(shape.point_of(entry), number, offset);
                }
            };
            match indices {
                // There are as many offsets as indices, or none.
                Some(_) if entries > 0 => sorted.iter().for_each(|entry| put(*entry as usize)),
                _ => (0..entries).for_each(put),
            }
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests;
