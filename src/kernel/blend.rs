//! Blend shapes turned round: per point, the shapes that move it.

use glam::Vec3;

use crate::error::Invalid;
use crate::skel::Skin;

/// Blend shapes as one list of entries per point (compressed sparse rows), so that a kernel gathers
/// and needs no atomics. One point's entries are in shape order, then by ascending sub-shape
/// weight, which fixes the order of the sum. Entries that move neither point nor normal are left out.
///
/// Sub-shape numbers stand apart from the offsets, so that passing over an inactive shape reads
/// 4 bytes and not 16.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackedBlend {
    pub(super) slots: Vec<[u32; 2]>,
    pub(super) positions: Vec<f32>,
    pub(super) rows: Vec<u32>,
    pub(super) sub_shapes: Vec<u32>,
    pub(super) offsets: Vec<Vec3>,
    pub(super) normal_offsets: Option<Vec<Vec3>>,
    /// Entries by sub-shape: first of `places` of each, and one more for the end.
    by_sub_shape: Vec<u32>,
    /// (point, entry), ascending by point within a sub-shape.
    places: Vec<[u32; 2]>,
}

impl PackedBlend {
    /// `None` for a skin without any shape.
    pub(super) fn pack(prim: &str, skin: &Skin) -> Result<Option<Self>, Invalid> {
        if skin.shapes().iter().all(Option::is_none) {
            return Ok(None);
        }
        const TARGETS: &str = "skel:blendShapeTargets";
        let shapes = || skin.shapes().iter().flatten();
        let sub_count: u64 = shapes().map(|s| s.sub_shapes().len() as u64).sum();
        super::packed_skin::fits_u32(prim, TARGETS, "sub-shapes", sub_count)?;
        let at_most: u64 = shapes()
            .flat_map(|s| s.sub_shapes())
            .map(|s| {
                s.offsets
                    .len()
                    .max(s.normal_offsets.as_ref().map_or(0, Vec::len)) as u64
            })
            .sum();
        // Three floats per entry, and the kernel counts floats.
        super::packed_skin::fits_u32(prim, TARGETS, "blend shape offsets", at_most * 3)?;

        let mut blend = Self {
            rows: vec![0; skin.points().len() + 1],
            ..Self::default()
        };
        for shape in skin.shapes() {
            let first = blend.positions.len() as u32;
            let subs = shape.as_ref().map_or(&[][..], |s| s.sub_shapes());
            blend.slots.push([first, subs.len() as u32]);
            blend.positions.extend(subs.iter().map(|s| s.weight));
        }

        // Count, sum up, fill: a counting sort by point that keeps the order of shapes.
        for_each_entry(skin, |point, _, _, _| blend.rows[point + 1] += 1);
        for i in 1..blend.rows.len() {
            blend.rows[i] += blend.rows[i - 1];
        }
        let entries = *blend.rows.last().expect("one row more than points") as usize;
        let with_normals = skin.blends_normals();
        blend.sub_shapes = vec![0; entries];
        blend.offsets = vec![Vec3::ZERO; entries];
        blend.normal_offsets = with_normals.then(|| vec![Vec3::ZERO; entries]);
        let mut next = blend.rows.clone();
        for_each_entry(skin, |point, sub_shape, offset, normal_offset| {
            let at = next[point] as usize;
            next[point] += 1;
            blend.sub_shapes[at] = sub_shape;
            blend.offsets[at] = offset;
            if let Some(normals) = &mut blend.normal_offsets {
                normals[at] = normal_offset;
            }
        });
        blend.index_by_sub_shape();
        Ok(Some(blend))
    }

    /// Where each sub-shape's entries are, so that the CPU can pass over inactive shapes whole.
    fn index_by_sub_shape(&mut self) {
        self.by_sub_shape = vec![0; self.positions.len() + 1];
        for sub_shape in &self.sub_shapes {
            self.by_sub_shape[*sub_shape as usize + 1] += 1;
        }
        for i in 1..self.by_sub_shape.len() {
            self.by_sub_shape[i] += self.by_sub_shape[i - 1];
        }
        self.places = vec![[0; 2]; self.sub_shapes.len()];
        let mut next = self.by_sub_shape.clone();
        for (point, row) in self.rows.windows(2).enumerate() {
            for entry in row[0]..row[1] {
                let at = &mut next[self.sub_shapes[entry as usize] as usize];
                self.places[*at as usize] = [point as u32, entry];
                *at += 1;
            }
        }
    }

    /// Leaves normals alone from here on.
    pub(super) fn drop_normals(&mut self) {
        self.normal_offsets = None;
    }

    /// (point, entry) of a sub-shape's entries, ascending by point.
    pub(super) fn places(&self, sub_shape: usize) -> &[[u32; 2]] {
        &self.places
            [self.by_sub_shape[sub_shape] as usize..self.by_sub_shape[sub_shape + 1] as usize]
    }

    /// Per blend shape slot: first sub-shape and how many; an empty slot has none (rule 17).
    #[must_use]
    pub fn slots(&self) -> &[[u32; 2]] {
        &self.slots
    }

    /// Per sub-shape: the channel weight at which it holds by itself, ascending within a slot.
    #[must_use]
    pub fn positions(&self) -> &[f32] {
        &self.positions
    }

    /// First entry of each point, and one more for the end.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Sub-shape of each entry.
    #[must_use]
    pub fn sub_shapes(&self) -> &[u32] {
        &self.sub_shapes
    }

    /// Point offset of each entry, in prim space.
    #[must_use]
    pub fn offsets(&self) -> &[Vec3] {
        &self.offsets
    }

    /// Normal offset of each entry, where any sub-shape has normal offsets.
    #[must_use]
    pub fn normal_offsets(&self) -> Option<&[Vec3]> {
        self.normal_offsets.as_deref()
    }
}

/// Calls `f(point, sub-shape, offset, normal offset)` for every entry worth keeping, shape by shape.
fn for_each_entry(skin: &Skin, mut f: impl FnMut(usize, u32, Vec3, Vec3)) {
    let wants_normals = skin.blends_normals();
    let mut number = 0u32;
    for shape in skin.shapes().iter().flatten() {
        for sub in shape.sub_shapes() {
            let normals = sub.normal_offsets.as_deref().filter(|_| wants_normals);
            // A sub-shape may have offsets for points, for normals, or for both.
            let entries = sub.offsets.len().max(normals.map_or(0, <[Vec3]>::len));
            for entry in 0..entries {
                let offset = sub.offsets.get(entry).copied().unwrap_or(Vec3::ZERO);
                let normal = normals.map_or(Vec3::ZERO, |n| n[entry]);
                if offset != Vec3::ZERO || normal != Vec3::ZERO {
                    f(shape.point_of(entry), number, offset, normal);
                }
            }
            number += 1;
        }
    }
}
