//! The few f64 transform helpers that glam does not have.
//!
//! Everything in sinew is column-vector (`p' = M * p`), as glam is; USD's row-vector matrices are
//! converted in `io` and nowhere else. A 3x4 "row" matrix below is the upper three rows of such a
//! column-vector matrix, which is the form that palettes and post matrices are packed in.

use glam::{DMat3, DMat4, DQuat, DVec3, DVec4, Mat3, Vec3, Vec4};

/// The upper three rows of an affine matrix in f32: `out[r] = dot(rows[r], (p, 1))`.
pub type Rows = [Vec4; 3];

/// Packs an affine f64 matrix into three f32 rows.
#[must_use]
pub fn rows(m: DMat4) -> Rows {
    let t = m.transpose();
    [t.x_axis.as_vec4(), t.y_axis.as_vec4(), t.z_axis.as_vec4()]
}

/// Packs a 3x3 into three f32 rows with a zero fourth column.
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

/// Inverse transpose of the upper 3x3, which carries normals. A singular matrix gives its cofactor
/// matrix, which points the same way as the inverse transpose wherever that exists, so a joint
/// scaled to zero flattens normals instead of making them NaN.
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

/// True where every element is a finite number.
#[must_use]
pub fn is_finite(m: &DMat4) -> bool {
    m.is_finite()
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
}
