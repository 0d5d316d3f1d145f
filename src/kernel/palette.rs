//! Matrix palettes.

use glam::{DAffine3, DMat3, DMat4};

use crate::math::{self, Rows};

/// One 3x4 matrix per palette slot: skinning transform times geomBindTransform, multiplied in f64
/// and rounded once. Points go from prim space to skeleton space by it.
///
/// It depends on nothing but the skeleton instance, the time and the geomBindTransform, so prims
/// that agree on these share one behind an `Arc`, and the GPU side uploads it once.
#[derive(Clone, Debug, PartialEq)]
pub struct Palette {
    points: Vec<Rows>,
    normals: Option<Vec<Rows>>,
}

impl Palette {
    /// - `skinning`: skinning transforms in skeleton space, one per joint of the skeleton.
    /// - `geom_bind`: geomBindTransform.
    /// - `with_normals`: also the matrices that carry normals (rule 23).
    #[must_use]
    pub fn pack(skinning: &[DMat4], geom_bind: DMat4, with_normals: bool) -> Self {
        // Affine throughout, as usd-core's TransformAffine: a fourth row counts for nothing.
        let bind = DAffine3::from_mat4(geom_bind);
        let point = |m: &DMat4| math::rows(DMat4::from(DAffine3::from_mat4(*m) * bind));
        let bind_normal = math::normal_matrix(geom_bind);
        let normal = |m: &DMat4| math::rows3(within_f32(math::normal_matrix(*m) * bind_normal));
        // The last slot, of joints that the skeleton lacks.
        let missing = std::iter::once(&DMat4::IDENTITY);
        Self {
            points: skinning.iter().chain(missing.clone()).map(point).collect(),
            normals: with_normals.then(|| skinning.iter().chain(missing).map(normal).collect()),
        }
    }

    /// Joints of the skeleton plus one.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.points.len()
    }

    /// Rows of each slot's point matrix.
    #[must_use]
    pub fn points(&self) -> &[Rows] {
        &self.points
    }

    /// Rows of each slot's normal matrix, the fourth column zero.
    #[must_use]
    pub fn normals(&self) -> Option<&[Rows]> {
        self.normals.as_deref()
    }
}

/// A joint scaled almost to nothing has an inverse that f32 cannot hold; scaled down to 1e15 it
/// still outweighs every ordinary joint by more than f32's digits, and infinity times a weight of
/// zero does not become NaN.
fn within_f32(m: DMat3) -> DMat3 {
    const LARGEST: f64 = 1e15;
    let largest = m.to_cols_array().iter().fold(0.0f64, |a, x| a.max(x.abs()));
    if largest > LARGEST {
        m * (LARGEST / largest)
    } else {
        m
    }
}
