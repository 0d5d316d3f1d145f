//! Polar decompositions: split a matrix into a rotation and a stretch. Also the eigenvectors that
//! they need. All in f64.
//!
//! - [`nearest_rotation`]: the rotation of any matrix, for retargeting, lenses and [`super::Trs`].
//! - [`split_joint`], [`split_normal_matrix`]: joints for dual quaternion skinning, once per joint
//!   and pose (rules 25 to 27). `_ConvertToDualQuaternions` and `_ConvertToQuaternions` of
//!   usdSkel/utils.cpp decide the degenerate cases.
//!
//! The f64 reference splits joints with its own code (`skel::dual_quaternion`) on purpose: tests
//! compare it with this code, so the two must share nothing.

use glam::{DMat3, DMat4, DQuat, DVec3, DVec4, Vec3Swizzles, Vec4Swizzles};

/// Columns are orthogonal if the cosines of their angles are below this.
const ORTHOGONAL: f64 = 1e-13;

/// The rotation nearest to a matrix: the orthogonal factor of its polar decomposition, without
/// scale and shear.
///
/// A matrix that mirrors is negated first. Mirroring then is a scale of -1 along every axis, as in
/// `UsdSkelDecomposeTransform`. `None` if the matrix is singular or not finite.
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
    // If one column is this much shorter than the others, the matrix is flat except for rounding.
    if determinant < 1e-15 {
        return None;
    }
    let [a, b, c] = [x.x_axis, x.y_axis, x.z_axis].map(DVec3::normalize);
    let skew = a.dot(b).abs().max(b.dot(c).abs()).max(c.dot(a).abs());
    if skew <= ORTHOGONAL {
        return Some(DQuat::from_mat3(&DMat3::from_cols(a, b, c)).normalize());
    }
    // Higham's iteration, scaled by the determinant; it converges quadratically.
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

/// The matrix with its shortest column replaced by one that is orthogonal to the other two.
pub(super) fn unflattened(m: DMat3) -> DMat3 {
    let length = |i: usize| m.col(i).length_squared();
    let flat = (1..3).fold(0, |a, b| if length(b) < length(a) { b } else { a });
    let (a, b) = (m.col((flat + 1) % 3), m.col((flat + 2) % 3));
    let mut out = m;
    *out.col_mut(flat) = a.cross(b).normalize_or_zero() * a.length();
    out
}

/// The eigenvectors (as columns) and eigenvalues of a symmetric matrix, by cyclic Jacobi rotations.
///
/// Each rotation turns by 45 degrees at most, so a matrix that is nearly diagonal keeps the order
/// of its axes. `GfMatrix4d::Factor` gives the same order, so scales have the order of the axes.
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
            // The element is too small to change either of its diagonal elements.
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

/// A joint whose determinant is below this is singular. Squared stretches below this are clamped
/// (`GfMatrix4d::Factor`).
const FACTOR_EPSILON: f64 = 1e-10;

/// `GfOrthogonalizeBasis` stops at this change, and treats axes as collinear below it
/// (GF_MIN_ORTHO_TOLERANCE).
const ORTHO_TOLERANCE: f64 = 1e-6;

/// A residual that is closer to the identity than this has no scale.
const SCALE_TOLERANCE: f64 = 1e-6;

/// A rigid motion as a dual quaternion, each half as (x, y, z, w).
#[derive(Clone, Copy, Debug)]
pub(crate) struct RigidMotion {
    /// The rotation. It is zero for a singular joint, and not of unit length for a mirrored normal
    /// matrix, which has no rotation.
    pub real: DVec4,
    /// Half the translation times the rotation.
    pub dual: DVec4,
}

/// Splits a joint's matrix for points: `matrix = motion * residual`, where the residual is scale
/// and shear. A singular joint has no motion and the identity as its residual.
pub(crate) fn split_joint(joint: DMat4) -> (RigidMotion, DMat3) {
    let linear = DMat3::from_mat4(joint);
    if linear.determinant().abs() < FACTOR_EPSILON {
        let none = RigidMotion {
            real: DVec4::ZERO,
            dual: DVec4::ZERO,
        };
        return (none, DMat3::IDENTITY);
    }
    let rotation = orthonormalized(rotation_of(linear));
    let real = quaternion(rotation);
    let (half, r) = (joint.w_axis.xyz() * 0.5, real.xyz());
    let dual = (half * real.w + half.cross(r)).extend(-half.dot(r));
    (RigidMotion { real, dual }, rotation.inverse() * linear)
}

/// Splits the inverse transpose of a joint's matrix, which transforms normals, into a rotation and
/// a residual.
///
/// usd-core takes FLT_MAX times the identity as the inverse of a singular matrix. So such a joint
/// does not rotate normals, and its residual outweighs those of all other joints.
pub(crate) fn split_normal_matrix(joint: DMat4) -> (DVec4, DMat3) {
    let linear = DMat3::from_mat4(joint);
    if linear.determinant() == 0.0 {
        let real = DVec4::W;
        return (real, DMat3::from_diagonal(DVec3::splat(f32::MAX.into())));
    }
    let carrier = linear.inverse().transpose();
    let basis = orthonormalized(carrier);
    (quaternion(basis), basis.inverse() * carrier)
}

/// Whether a residual counts as scale or shear. usd-core rounds it to f32 before it compares it
/// with the identity.
pub(crate) fn is_scale(residual: DMat3) -> bool {
    let off = residual.as_mat3().as_dmat3() - DMat3::IDENTITY;
    off.to_cols_array()
        .iter()
        .any(|e| e.abs() >= SCALE_TOLERANCE)
}

/// The rotation of a matrix: its orthogonal polar factor, negated if the matrix mirrors. If a
/// stretch is so small that usd-core clamps it, the result is not quite a rotation.
fn rotation_of(m: DMat3) -> DMat3 {
    let (stretches_squared, axes) = symmetric_eigen(m.transpose() * m);
    let sign = m.determinant().signum();
    let inverse = stretches_squared.map(|square| {
        let stretch = if square < FACTOR_EPSILON {
            FACTOR_EPSILON
        } else {
            square.sqrt()
        };
        sign / stretch
    });
    let axes = DMat3::from_cols(axes[0], axes[1], axes[2]);
    m * (axes * DMat3::from_diagonal(DVec3::from(inverse)) * axes.transpose())
}

/// The eigenvalues of a symmetric matrix, and the eigenvector of each, by cyclic Jacobi rotations.
///
/// It is not [`principal_axes`], which the f64 reference uses: a fault in one of the two makes them
/// disagree.
fn symmetric_eigen(m: DMat3) -> ([f64; 3], [DVec3; 3]) {
    let mut a = m.to_cols_array_2d();
    let mut axes = [DVec3::X, DVec3::Y, DVec3::Z];
    for _sweep in 0..12 {
        let beside = a[0][1].abs() + a[0][2].abs() + a[1][2].abs();
        if beside <= f64::MIN_POSITIVE {
            break;
        }
        for (p, q, other) in [(0, 1, 2), (0, 2, 1), (1, 2, 0)] {
            if a[p][q] == 0.0 {
                continue;
            }
            // The smaller root of t^2 + 2 theta t - 1 makes the element at (p, q) zero.
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = 1.0f64.copysign(theta) / (theta.abs() + theta.hypot(1.0));
            let cos = t.hypot(1.0).recip();
            let sin = t * cos;
            a[p][p] -= t * a[p][q];
            a[q][q] += t * a[p][q];
            a[p][q] = 0.0;
            a[q][p] = 0.0;
            let (of_p, of_q) = (a[other][p], a[other][q]);
            a[other][p] = cos * of_p - sin * of_q;
            a[other][q] = sin * of_p + cos * of_q;
            a[p][other] = a[other][p];
            a[q][other] = a[other][q];
            (axes[p], axes[q]) = (axes[p] * cos - axes[q] * sin, axes[p] * sin + axes[q] * cos);
        }
    }
    ([a[0][0], a[1][1], a[2][2]], axes)
}

/// Orthogonal unit axes near those of the matrix (`GfOrthogonalizeBasis`). All axes are treated
/// alike. Collinear axes stay as they are.
fn orthonormalized(m: DMat3) -> DMat3 {
    // GfVec3d::Normalize divides a shorter vector by this length, so it stays short.
    let unit = |v: DVec3| v / v.length().max(1e-10);
    let apart = |a: DVec3, b: DVec3| a.distance_squared(b) > ORTHO_TOLERANCE * ORTHO_TOLERANCE;
    let (mut x, mut y, mut z) = (unit(m.x_axis), unit(m.y_axis), unit(m.z_axis));
    if apart(x, y) && apart(x, z) && apart(y, z) {
        let without = |v: DVec3, a: DVec3, b: DVec3| {
            let v = v - a * a.dot(v);
            v - b * b.dot(v)
        };
        for _ in 0..20 {
            let nx = unit((x + without(x, y, z)) * 0.5);
            let ny = unit((y + without(y, x, z)) * 0.5);
            let nz = unit((z + without(z, x, y)) * 0.5);
            let change = nx.distance_squared(x) + ny.distance_squared(y) + nz.distance_squared(z);
            if change < ORTHO_TOLERANCE * ORTHO_TOLERANCE {
                break;
            }
            (x, y, z) = (nx, ny, nz);
        }
    }
    DMat3::from_cols(x, y, z)
}

/// The quaternion of a rotation, as `GfMatrix3d::ExtractRotationQuaternion` computes it. The sign
/// matters if the pivot joint of a blend is singular. The result for a matrix that mirrors matters
/// for normals of mirrored joints.
fn quaternion(m: DMat3) -> DVec4 {
    let (x, y, z) = (m.x_axis, m.y_axis, m.z_axis);
    let skew = DVec3::new(y.z - z.y, z.x - x.z, x.y - y.x);
    let diagonal = DVec3::new(x.x, y.y, z.z);
    let largest = if diagonal.x > diagonal.y {
        if diagonal.x > diagonal.z { 0 } else { 2 }
    } else if diagonal.y > diagonal.z {
        1
    } else {
        2
    };
    let trace = diagonal.element_sum();
    if trace > diagonal[largest] {
        let four_w = 2.0 * (trace + 1.0).sqrt();
        return (skew / four_w).extend((four_w * 0.25).clamp(-1.0, 1.0));
    }
    // Twice the diagonal element minus the trace is that element minus the other two.
    let four_i = 2.0 * (2.0 * diagonal[largest] - trace + 1.0).sqrt();
    let sums = DVec3::new(y.z + z.y, z.x + x.z, x.y + y.x) / four_i;
    let mut imaginary = match largest {
        0 => sums.xzy(),
        1 => sums.zyx(),
        _ => sums.yxz(),
    };
    imaginary[largest] = four_i * 0.25;
    imaginary.extend((skew[largest] / four_i).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Trs;

    /// Rotations of all quadrants, including rotations about one axis.
    fn rotations() -> Vec<DQuat> {
        let mut out = vec![DQuat::IDENTITY];
        for axis in [
            DVec3::X,
            DVec3::Y,
            DVec3::Z,
            DVec3::new(0.6, -0.64, 0.48),
            DVec3::new(-0.36, 0.48, 0.8),
        ] {
            let angles = (-7..=7).map(|i| f64::from(i) * 0.43);
            out.extend(angles.map(|a| DQuat::from_axis_angle(axis, a)));
        }
        out
    }

    #[test]
    fn motion_times_residual_is_the_matrix() {
        let shears = [
            DMat3::IDENTITY,
            DMat3::from_diagonal(DVec3::new(2.0, 0.5, 1.5)),
            DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0)),
            DMat3::from_cols_array(&[1.0, 0.3, 0.0, -0.4, 1.2, 0.1, 0.2, 0.0, 0.01]),
        ];
        for rotation in rotations() {
            for shear in shears {
                let translation = DVec3::new(3.0, -2.0, 1.0);
                let linear = DMat3::from_quat(rotation) * shear;
                let joint = DMat4::from_translation(translation) * DMat4::from_mat3(linear);
                let (motion, residual) = split_joint(joint);
                let q = DQuat::from_vec4(motion.real);
                let found = DMat3::from_quat(q) * residual;
                assert!(found.abs_diff_eq(linear, 1e-9), "{found} is not {linear}");
                assert!((motion.real.length() - 1.0).abs() < 1e-9);
                let t = DQuat::from_vec4(motion.dual) * q.conjugate() * 2.0;
                assert!(t.xyz().abs_diff_eq(translation, 1e-9), "{t}");
                assert!(is_scale(residual) == (shear != DMat3::IDENTITY));
                // The residual is a stretch: its axes keep their directions.
                assert!(residual.abs_diff_eq(residual.transpose(), 1e-9));
            }
        }
    }

    #[test]
    fn singular_joints_have_no_motion() {
        let (motion, residual) = split_joint(DMat4::from_scale(DVec3::splat(4e-4)));
        assert_eq!(motion.real, DVec4::ZERO);
        assert!(!is_scale(residual));
        let (motion, _) = split_joint(DMat4::from_scale(DVec3::splat(6e-4)));
        assert_eq!(motion.real, DVec4::W);
        let (real, residual) = split_normal_matrix(DMat4::from_scale(DVec3::new(0.0, 1.0, 1.0)));
        assert!(real == DVec4::W && is_scale(residual));
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
        // A symmetric stretch, even with shear, does not change the rotation.
        let stretch = DMat3::from_cols_array(&[2.0, 0.3, 0.1, 0.3, 1.0, -0.2, 0.1, -0.2, 0.7]);
        assert!(same(r * stretch, q));
        // Mirroring along one axis equals mirroring along all three after half a turn about that
        // axis.
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
