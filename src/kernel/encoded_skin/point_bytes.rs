//! How many bytes skinning moves.

use glam::{Vec3, Vec4};

use super::slices::{Results, Sizes};
use crate::kernel::PackedSkin;

/// Number of bytes that the kernels move per point of a skin, on average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointBytes {
    /// Bytes of static data that are read: rest points, rest normals, influences and indices. Poses
    /// of one skin share a reading, up to [`crate::kernel::POSES_PER_ITEM`] of them.
    pub read: f64,
    /// Bytes of results that are written: 12 per position, 12 per normal and 16 per tangent.
    pub written: f64,
}

impl PackedSkin {
    /// Number of bytes that skinning moves per point, on average over the skin. Face corners and
    /// render vertices count for their points. It leaves out palettes (96 bytes per joint and
    /// instance) and blend entries, which depend on the active shapes.
    ///
    /// An instance writes 12 bytes less if its target leaves normals out, and 8 bytes less if it
    /// asks for octahedral ones.
    #[must_use]
    pub fn bytes_per_point(&self) -> PointBytes {
        let points = self.point_count();
        if points == 0 {
            return PointBytes::default();
        }
        let results = match &self.vertices {
            Some(vertices) => Results::Vertices(vertices.points()),
            None => Results::Points,
        };
        let sizes = Sizes::new(self, results);
        let neighbors = self
            .smooth_normals
            .as_ref()
            .map_or(0, |n| n.neighbors().len() * 2);
        let mut words = sizes.once() - sizes.blend_row
            + (sizes.per_point() - sizes.blend_row) * points as u64
            + sizes.per_result() * self.output_count() as u64
            + neighbors as u64;
        if let (None, Some(corners)) = (&self.vertices, &self.normal_points) {
            let sizes = Sizes::new(self, Results::Corners(corners));
            words += sizes.per_result() * corners.len() as u64;
        }
        let tangents = self.tangents().map_or(0, <[_]>::len) * size_of::<Vec4>();
        let vectors = (self.output_count() + self.output_normal_count()) * size_of::<Vec3>();
        PointBytes {
            read: words as f64 * 4.0 / points as f64,
            written: (vectors + tangents) as f64 / points as f64,
        }
    }
}
