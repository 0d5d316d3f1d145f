//! The few f64 transform helpers that glam does not have.
//!
//! Everything in sinew is column-vector (`p' = M * p`), as glam is; USD's row-vector matrices are
//! converted in `io` and nowhere else. A 3x4 "row" matrix below is the upper three rows of such a
//! column-vector matrix, which is the form that palettes and post matrices are packed in.

use glam::{DMat3, DMat4, DQuat, DVec3, DVec4, Mat3, Vec3, Vec4};

/// The upper three rows of an affine matrix in f32: `out[r] = dot(rows[r], (p, 1))`.
pub type Rows = [Vec4; 3];

/// Packs an affine f64 matrix into three f32 rows.
#[inline]
#[must_use]
pub fn rows(m: DMat4) -> Rows {
    let t = m.transpose();
    [t.x_axis.as_vec4(), t.y_axis.as_vec4(), t.z_axis.as_vec4()]
}

/// Packs a 3x3 into three f32 rows with a zero fourth column.
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

/// Applies packed rows to a point.
#[must_use]
pub fn transform_point(m: &Rows, p: Vec3) -> Vec3 {
    let p = p.extend(1.0);
    Vec3::new(m[0].dot(p), m[1].dot(p), m[2].dot(p))
}

/// Applies the 3x3 part of packed rows to a direction.
#[must_use]
pub fn transform_vector(m: &Rows, v: Vec3) -> Vec3 {
    Mat3::from_cols(m[0].truncate(), m[1].truncate(), m[2].truncate()).transpose() * v
}

/// Whether packed rows turn counter-clockwise into clockwise.
#[must_use]
pub fn mirrors(m: &Rows) -> bool {
    let [x, y, z] = m.map(|row| row.truncate().as_dvec3());
    x.dot(y.cross(z)) < 0.0
}

/// Inverse transpose of the upper 3x3, which carries normals. A singular matrix gives its cofactor
/// matrix, which points the same way as the inverse transpose wherever that exists, so a joint
/// scaled to zero flattens normals instead of making them NaN.
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

/// `scale`, then `rotate`, then `translate` (UsdSkelMakeTransform; rule 12). The quaternion is used
/// as authored: a non-unit one goes through the same formula that GfMatrix4d::SetRotate uses.
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

/// Translation, rotation and scale: `T * R * S`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trs {
    /// In the units of the space that it leads to.
    pub translation: DVec3,
    /// Unit length.
    pub rotation: DQuat,
    /// Along the axes before the rotation.
    pub scale: DVec3,
}

impl Default for Trs {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Trs {
    /// No motion.
    pub const IDENTITY: Self = Self {
        translation: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
        scale: DVec3::ONE,
    };

    #[must_use]
    pub fn matrix(&self) -> DMat4 {
        DMat4::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// The components of an affine matrix, by [`nearest_rotation`]: all three scales of one that mirrors are
    /// negative, and shear is left out. One that is flattened to a plane is turned as the plane is, one flattened to
    /// less not at all.
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

/// The shortest column replaced by one that stands on the other two.
fn unflattened(m: DMat3) -> DMat3 {
    let length = |i: usize| m.col(i).length_squared();
    let flat = (1..3).fold(0, |a, b| if length(b) < length(a) { b } else { a });
    let (a, b) = (m.col((flat + 1) % 3), m.col((flat + 2) % 3));
    let mut out = m;
    *out.col_mut(flat) = a.cross(b).normalize_or_zero() * a.length();
    out
}

/// Columns whose cosines are below this count as orthogonal.
const ORTHOGONAL: f64 = 1e-13;

/// The rotation nearest to a matrix (the orthogonal factor of its polar decomposition), its scales and shear
/// taken off. A matrix that mirrors is negated first, so mirroring is a scale of -1 along every axis, as in
/// UsdSkelDecomposeTransform. `None` where the matrix is singular or not finite.
#[must_use]
pub fn nearest_rotation(m: DMat3) -> Option<DQuat> {
    let largest = m
        .to_cols_array()
        .into_iter()
        .map(f64::abs)
        .fold(0.0, f64::max);
    if largest == 0.0 || !m.is_finite() {
        return None;
    }
    let mut x = m * (1.0 / largest);
    let mut determinant = x.determinant();
    if determinant < 0.0 {
        (x, determinant) = (x * -1.0, -determinant);
    }
    // A column this much shorter than the rest is flat but for rounding.
    if determinant < 1e-15 {
        return None;
    }
    let [a, b, c] = [x.x_axis, x.y_axis, x.z_axis].map(DVec3::normalize);
    let skew = a.dot(b).abs().max(b.dot(c).abs()).max(c.dot(a).abs());
    if skew <= ORTHOGONAL {
        return Some(DQuat::from_mat3(&DMat3::from_cols(a, b, c)).normalize());
    }
    // Higham's iteration, scaled by the determinant; it settles quadratically.
    for _ in 0..50 {
        let inverse = x.inverse().transpose();
        let scale = x.determinant().abs().cbrt().recip();
        let next = (x * scale + inverse * (1.0 / scale)) * 0.5;
        if !next.is_finite() {
            return None;
        }
        let settled = next.abs_diff_eq(x, 1e-15);
        x = next;
        if settled {
            break;
        }
    }
    Some(DQuat::from_mat3(&x).normalize())
}

/// True where every element is a finite number.
#[must_use]
pub fn is_finite(m: &DMat4) -> bool {
    m.is_finite()
}

/// True where every element of every matrix is a finite number.
#[must_use]
pub fn all_finite(matrices: &[DMat4]) -> bool {
    // Zero times what is not finite is not a number, and stays so in any sum. Four sums, for they do not wait for one another.
    let sum = matrices.iter().fold(DVec4::ZERO, |sum, m| {
        let zeros = |v: DVec4| v * 0.0;
        sum + ((zeros(m.x_axis) + zeros(m.y_axis)) + (zeros(m.z_axis) + zeros(m.w_axis)))
    });
    sum == DVec4::ZERO
}

/// What a product of f32 matrices leaves of zeros.
const PROJECTS: f64 = 1e-5;

/// False for a finite matrix that projects.
#[must_use]
pub fn is_affine(m: &DMat4) -> bool {
    !is_finite(m) || m.row(3).abs_diff_eq(DVec4::W, PROJECTS)
}

/// Inverse of an affine or projective matrix, or `None` where it is singular or not finite.
#[must_use]
pub fn try_inverse(m: DMat4) -> Option<DMat4> {
    let det = m.determinant();
    if det == 0.0 || !det.is_finite() {
        return None;
    }
    let inverse = m.inverse();
    inverse.is_finite().then_some(inverse)
}

/// Eigenvectors, by column, and eigenvalues of a symmetric matrix, by cyclic Jacobi rotations. Each turns by
/// 45 degrees at most, so that axes keep their order where the matrix is nearly diagonal: GfMatrix4d's
/// order, which is that of the scales.
#[must_use]
pub fn principal_axes(mut m: DMat3) -> (DMat3, DVec3) {
    let mut axes = DMat3::IDENTITY;
    for _ in 0..50 {
        let off_diagonal = [m.y_axis.x, m.z_axis.x, m.z_axis.y];
        if off_diagonal == [0.0; 3] {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = m.col(q)[p];
            let (a, b) = (m.col(p)[p], m.col(q)[q]);
            // Too small to change either neighbour.
            if a.abs() + off.abs() == a.abs() && b.abs() + off.abs() == b.abs() {
                m.col_mut(q)[p] = 0.0;
                m.col_mut(p)[q] = 0.0;
                continue;
            }
            let theta = (b - a) / (2.0 * off);
            let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
            let cosine = tangent.hypot(1.0).recip();
            let sine = tangent * cosine;
            let mut turn = DMat3::IDENTITY;
            turn.col_mut(p)[p] = cosine;
            turn.col_mut(q)[q] = cosine;
            turn.col_mut(q)[p] = sine;
            turn.col_mut(p)[q] = -sine;
            m = turn.transpose() * m * turn;
            axes *= turn;
        }
    }
    (axes, DVec3::new(m.x_axis.x, m.y_axis.y, m.z_axis.z))
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
        let p = Vec3::new(0.1, -0.2, 0.3);
        let want = m.transform_point3(p.as_dvec3()).as_vec3();
        assert!(transform_point(&rows(m), p).abs_diff_eq(want, 1e-5));
        let want = m.transform_vector3(p.as_dvec3()).as_vec3();
        assert!(transform_vector(&rows(m), p).abs_diff_eq(want, 1e-5));
    }

    #[test]
    fn rotations_come_out_of_scaled_sheared_and_mirrored_matrices() {
        let q = DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -1.2, 2.1);
        let same = |m: DMat3, q: DQuat| nearest_rotation(m).unwrap().dot(q).abs() > 1.0 - 1e-14;
        let r = DMat3::from_quat(q);
        assert!(same(r, q) && same(r * 1e-9, q) && same(r * -2.0, q));
        assert!(same(
            r * DMat3::from_diagonal(DVec3::new(3.0, 0.01, 2.0)),
            q
        ));
        // A symmetric stretch keeps the rotation, shear and all.
        let stretch = DMat3::from_cols_array(&[2.0, 0.3, 0.1, 0.3, 1.0, -0.2, 0.1, -0.2, 0.7]);
        assert!(same(r * stretch, q));
        // One mirrored axis is all three, after half a turn about that axis.
        let mirrored = r * DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
        assert!(same(
            mirrored,
            q * DQuat::from_rotation_x(std::f64::consts::PI)
        ));
        for m in [
            DMat3::ZERO,
            DMat3::from_diagonal(DVec3::new(1.0, 0.0, 1.0)),
            r * f64::NAN,
        ] {
            assert_eq!(nearest_rotation(m), None);
        }
        let m = DMat4::from_scale_rotation_translation(DVec3::new(-1.0, 2.0, 3.0), q, DVec3::X);
        let apart = Trs::from_matrix(&m);
        assert_eq!(apart.scale.signum(), DVec3::NEG_ONE);
        assert!(apart.matrix().abs_diff_eq(m, 1e-14));
        let flat = DMat4::from_scale_rotation_translation(DVec3::new(2.0, 0.0, 1.0), q, DVec3::X);
        assert!(Trs::from_matrix(&flat).matrix().abs_diff_eq(flat, 1e-14));
        assert_eq!(Trs::from_matrix(&DMat4::ZERO).scale, DVec3::ZERO);
    }
}
