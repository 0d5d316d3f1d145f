//! Helpers for f64 transforms that glam does not have.
//!
//! sinew uses column vectors (`p' = M * p`) everywhere, as glam does. Readers convert USD's
//! matrices, which are for row vectors. *Packed rows* are the upper three rows of an affine matrix
//! in f32; palettes consist of them.

pub(crate) mod polar_decomposition;

use glam::{DMat3, DMat4, DQuat, DVec3, DVec4, Vec4};

use polar_decomposition::unflattened;
pub use polar_decomposition::{nearest_rotation, principal_axes};

/// The upper three rows of an affine matrix in f32: `out[r] = dot(rows[r], (p, 1))`.
pub type Rows = [Vec4; 3];

/// The packed rows of an affine matrix.
#[inline]
#[must_use]
pub fn rows(m: DMat4) -> Rows {
    let t = m.transpose();
    [t.x_axis.as_vec4(), t.y_axis.as_vec4(), t.z_axis.as_vec4()]
}

/// The packed rows of a 3x3 matrix. The fourth column is zero.
#[inline]
#[must_use]
pub fn rows3(m: DMat3) -> Rows {
    let t = m.transpose();
    [
        t.x_axis.as_vec3().extend(0.0),
        t.y_axis.as_vec3().extend(0.0),
        t.z_axis.as_vec3().extend(0.0),
    ]
}

/// The product `a * b` of two affine matrices in packed rows.
#[must_use]
pub fn multiplied(a: &Rows, b: &Rows) -> Rows {
    a.map(|row| {
        let linear = b[0] * row.x + b[1] * row.y + b[2] * row.z;
        linear + Vec4::W * row.w
    })
}

/// Whether the matrix of these packed rows mirrors (has a negative determinant).
#[must_use]
pub fn mirrors(m: &Rows) -> bool {
    let [x, y, z] = m.map(|row| row.truncate().as_dvec3());
    x.dot(y.cross(z)) < 0.0
}

/// The inverse transpose of the upper 3x3 matrix, which transforms normals.
///
/// For a singular matrix it is the matrix of cofactors. Cofactors have the direction of the inverse
/// transpose wherever that exists, so a joint that is scaled to zero flattens normals instead of
/// making them NaN.
#[inline]
#[must_use]
pub fn normal_matrix(m: DMat4) -> DMat3 {
    let a = DMat3::from_mat4(m);
    let cofactor = DMat3::from_cols(
        a.y_axis.cross(a.z_axis),
        a.z_axis.cross(a.x_axis),
        a.x_axis.cross(a.y_axis),
    );
    let det = a.determinant();
    if det.abs() > f64::MIN_POSITIVE && det.is_finite() {
        cofactor * (1.0 / det)
    } else {
        cofactor
    }
}

/// The transform that scales, then rotates, then translates (UsdSkelMakeTransform; rule 12). A
/// quaternion that does not have unit length is used as it is, in the formula of
/// GfMatrix4d::SetRotate.
#[must_use]
pub fn make_transform(translate: DVec3, rotate: DQuat, scale: DVec3) -> DMat4 {
    let (x, y, z, w) = (rotate.x, rotate.y, rotate.z, rotate.w);
    let x_axis = DVec3::new(
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y + z * w),
        2.0 * (x * z - y * w),
    );
    let y_axis = DVec3::new(
        2.0 * (x * y - z * w),
        1.0 - 2.0 * (z * z + x * x),
        2.0 * (y * z + x * w),
    );
    let z_axis = DVec3::new(
        2.0 * (z * x + y * w),
        2.0 * (y * z - x * w),
        1.0 - 2.0 * (y * y + x * x),
    );
    DMat4::from_cols(
        (x_axis * scale.x).extend(0.0),
        (y_axis * scale.y).extend(0.0),
        (z_axis * scale.z).extend(0.0),
        translate.extend(1.0),
    )
}

/// A transform as translation, rotation and scale: `T * R * S`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trs {
    /// In the units of the target space.
    pub translation: DVec3,
    /// Of unit length.
    pub rotation: DQuat,
    /// Along the axes before the rotation. Negative scales mirror.
    pub scale: DVec3,
}

impl Default for Trs {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Trs {
    /// The identity transform.
    pub const IDENTITY: Self = Self {
        translation: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
        scale: DVec3::ONE,
    };

    /// The same transform as a matrix.
    #[must_use]
    pub fn matrix(&self) -> DMat4 {
        DMat4::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// Decomposes an affine matrix, with the rotation of [`nearest_rotation`]. Shear is lost. If
    /// the matrix mirrors, all three scales are negative. If it flattens space to a plane, the
    /// rotation is that of the plane. If it flattens further, the rotation is the identity.
    #[must_use]
    pub fn from_matrix(m: &DMat4) -> Self {
        let basis = DMat3::from_mat4(*m);
        let rotation = nearest_rotation(basis).or_else(|| nearest_rotation(unflattened(basis)));
        let rotation = rotation.unwrap_or_default();
        let stretch = DMat3::from_quat(rotation).transpose() * basis;
        Self {
            translation: m.w_axis.truncate(),
            rotation,
            scale: DVec3::new(stretch.x_axis.x, stretch.y_axis.y, stretch.z_axis.z),
        }
    }
}

/// Whether every element is a finite number.
#[must_use]
pub fn is_finite(m: &DMat4) -> bool {
    m.is_finite()
}

/// Whether every element of every matrix is a finite number.
#[must_use]
pub fn all_finite(matrices: &[DMat4]) -> bool {
    // Zero times infinity or NaN is NaN, and a sum with NaN stays NaN. There are four sums because
    // they do not wait for one another.
    let sum = matrices.iter().fold(DVec4::ZERO, |sum, m| {
        let zeros = |v: DVec4| v * 0.0;
        sum + ((zeros(m.x_axis) + zeros(m.y_axis)) + (zeros(m.z_axis) + zeros(m.w_axis)))
    });
    sum == DVec4::ZERO
}

/// How far rounding in products of f32 matrices may move an element that should be zero.
const PROJECTS: f64 = 1e-5;

/// Whether a matrix is affine. False for a finite matrix with a projective last row; true for one
/// that is not finite.
#[must_use]
pub fn is_affine(m: &DMat4) -> bool {
    !is_finite(m) || m.row(3).abs_diff_eq(DVec4::W, PROJECTS)
}

/// The inverse of a matrix, or `None` if it is singular or not finite.
#[must_use]
pub fn try_inverse(m: DMat4) -> Option<DMat4> {
    let det = m.determinant();
    if det == 0.0 || !det.is_finite() {
        return None;
    }
    let inverse = m.inverse();
    inverse.is_finite().then_some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn make_transform_matches_glam_for_unit_quaternions() {
        let q = DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -1.2, 2.1);
        let (t, s) = (DVec3::new(1.0, 2.0, 3.0), DVec3::new(2.0, 0.5, -1.0));
        let ours = make_transform(t, q, s);
        let glams = DMat4::from_scale_rotation_translation(s, q, t);
        assert!(ours.abs_diff_eq(glams, 1e-12), "{ours} {glams}");
    }

    #[test]
    fn normal_matrix_of_singular_is_finite() {
        let m = DMat4::from_scale(DVec3::new(0.0, 1.0, 1.0));
        assert!(normal_matrix(m).is_finite());
        let m = DMat4::from_scale(DVec3::new(2.0, 4.0, 5.0));
        assert!(
            normal_matrix(m).abs_diff_eq(DMat3::from_diagonal(DVec3::new(0.5, 0.25, 0.2)), 1e-15)
        );
    }

    #[test]
    fn rows_apply_like_the_matrix() {
        let m = DMat4::from_scale_rotation_translation(
            DVec3::new(1.0, 2.0, 3.0),
            DQuat::from_rotation_x(0.7),
            DVec3::new(4.0, 5.0, 6.0),
        );
        let p = glam::Vec3::new(0.1, -0.2, 0.3);
        let applied = |v: Vec4| glam::Vec3::from(rows(m).map(|row| row.dot(v)));
        let want = m.transform_point3(p.as_dvec3()).as_vec3();
        assert!(applied(p.extend(1.0)).abs_diff_eq(want, 1e-5));
        let want = m.transform_vector3(p.as_dvec3()).as_vec3();
        assert!(applied(p.extend(0.0)).abs_diff_eq(want, 1e-5));
        let twice = multiplied(&rows(m), &rows(m)).map(|row| row.dot(p.extend(1.0)));
        let want = (m * m).transform_point3(p.as_dvec3()).as_vec3();
        assert!(glam::Vec3::from(twice).abs_diff_eq(want, 1e-4));
    }
}
