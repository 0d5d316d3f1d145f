//! Joint matrices taken apart for dual quaternion skinning: `matrix = motion * residual`, where the
//! motion is rigid and the residual is scale and shear (rules 25 to 27). In f64, once per joint and
//! pose; `_ConvertToDualQuaternions` and `_ConvertToQuaternions` of usdSkel/utils.cpp decide the
//! degenerate cases.

use glam::{DMat3, DMat4, DVec3, DVec4, Vec3Swizzles, Vec4Swizzles};

/// Determinants below it make a joint singular; stretches squared below it are clamped
/// (`GfMatrix4d::Factor`).
const FACTOR_EPSILON: f64 = 1e-10;

/// Where `GfOrthogonalizeBasis` stops, and where it takes axes for collinear
/// (GF_MIN_ORTHO_TOLERANCE).
const ORTHO_TOLERANCE: f64 = 1e-6;

/// Residuals closer to identity do not count as scale.
const SCALE_TOLERANCE: f64 = 1e-6;

/// A dual quaternion, as (x, y, z, w) each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    /// Rotation. Zero for a singular joint; not of unit length for a mirrored normal matrix, which
    /// has no rotation.
    pub real: DVec4,
    /// Half the translation times the rotation.
    pub dual: DVec4,
}

/// A joint's motion for points, and the residual that comes before it.
pub(super) fn of_points(joint: DMat4) -> (Motion, DMat3) {
    let linear = DMat3::from_mat4(joint);
    if linear.determinant().abs() < FACTOR_EPSILON {
        let none = Motion {
            real: DVec4::ZERO,
            dual: DVec4::ZERO,
        };
        return (none, DMat3::IDENTITY);
    }
    let rotation = orthonormalized(rotation_of(linear));
    let real = quaternion(rotation);
    let (half, r) = (joint.w_axis.xyz() * 0.5, real.xyz());
    let dual = (half * real.w + half.cross(r)).extend(-half.dot(r));
    (Motion { real, dual }, rotation.inverse() * linear)
}

/// The same of a joint's inverse transpose, for normals: the rotation alone, without translation.
/// usd-core's inverse of a singular matrix is FLT_MAX times identity, so such a joint does not turn
/// normals and outweighs all others.
pub(super) fn of_normals(joint: DMat4) -> (DVec4, DMat3) {
    let linear = DMat3::from_mat4(joint);
    if linear.determinant() == 0.0 {
        let real = DVec4::W;
        return (real, DMat3::from_diagonal(DVec3::splat(f32::MAX.into())));
    }
    let carrier = linear.inverse().transpose();
    let basis = orthonormalized(carrier);
    (quaternion(basis), basis.inverse() * carrier)
}

/// Whether a residual counts as scale or shear; usd-core compares it in f32.
pub(super) fn is_scale(residual: DMat3) -> bool {
    let off = residual.as_mat3().as_dmat3() - DMat3::IDENTITY;
    off.to_cols_array()
        .iter()
        .any(|e| e.abs() >= SCALE_TOLERANCE)
}

/// The polar factor of a matrix, negated where the matrix mirrors: a rotation, but for stretches so
/// small that they are clamped.
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

/// Eigenvalues of a symmetric matrix, and the eigenvector of each: cyclic Jacobi.
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
            // The smaller root of t^2 + 2 theta t - 1 turns the element at (p, q) to zero.
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

/// `GfOrthogonalizeBasis`: unit axes that give way to each other alike. Collinear axes stay.
fn orthonormalized(m: DMat3) -> DMat3 {
    // GfVec3d::Normalize leaves what is shorter than this short.
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

/// `GfMatrix3d::ExtractRotationQuaternion`. Which of the two signs it gives matters where the pivot
/// of a blend is singular; what it gives for a matrix that mirrors, where normals do.
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
    // Twice the diagonal element less the trace: that element less the two others.
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
    use glam::DQuat;

    use super::*;

    /// Rotations of all quadrants, also about one axis alone.
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
                let (motion, residual) = of_points(joint);
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
        let (motion, residual) = of_points(DMat4::from_scale(DVec3::splat(4e-4)));
        assert_eq!(motion.real, DVec4::ZERO);
        assert!(!is_scale(residual));
        let (motion, _) = of_points(DMat4::from_scale(DVec3::splat(6e-4)));
        assert_eq!(motion.real, DVec4::W);
        let (real, residual) = of_normals(DMat4::from_scale(DVec3::new(0.0, 1.0, 1.0)));
        assert!(real == DVec4::W && is_scale(residual));
    }
}
