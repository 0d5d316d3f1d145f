//! Splits the matrix of a joint into a rigid motion and a residual scale and shear in f32, for dual
//! quaternion skinning of rigs that the GPU poses (rules 25 to 27). It mirrors
//! `shaders/common/rigid_motion.wgsl`, and follows `math::polar_decomposition`, which does the same
//! in f64.
//!
//! The rotation comes from another iteration than in f64. Two results differ by more than rounding:
//! a joint with a stretch below 1e-5, which usd-core clamps, and a joint whose determinant is
//! within rounding of 1e-10, below which it has no rotation.

use glam::{Vec3, Vec4};

use super::registry::{
    LARGEST_NORMAL_ELEMENT, POLAR_STEPS, SHORTEST, SINGULAR_JOINT, SMALLEST_DETERMINANT,
    SMALLEST_TURN,
};
use crate::math::Rows;

/// The rows of a 3x3 matrix.
pub(super) type Basis = [Vec3; 3];

const IDENTITY: Basis = [Vec3::X, Vec3::Y, Vec3::Z];

/// The split of a joint's matrix for points.
pub(super) struct JointMotion {
    /// The rotation (x, y, z, w); zero for a singular joint.
    pub real: Vec4,
    /// Half the translation times the rotation.
    pub dual: Vec4,
    pub residual: Basis,
}

/// The split of a joint's matrix for normals.
pub(super) struct NormalTurn {
    pub turn: Vec4,
    pub residual: Basis,
}

fn scaled(m: Basis, s: f32) -> Basis {
    m.map(|row| row * s)
}

pub(super) fn largest_element(m: &Basis) -> f32 {
    let [x, y, z] = m.map(Vec3::abs);
    x.max(y).max(z).max_element()
}

/// The matrix of cofactors, row by row: the inverse transpose times the determinant.
fn cofactors([x, y, z]: Basis) -> Basis {
    [y.cross(z), z.cross(x), x.cross(y)]
}

/// `transpose(a) * b`.
fn transposed_product(a: Basis, b: Basis) -> Basis {
    [0, 1, 2].map(|i| a[0][i] * b[0] + a[1][i] * b[1] + a[2][i] * b[2])
}

/// The quaternion of a rotation, with the sign that usd-core gives it.
fn quaternion_of([x, y, z]: Basis) -> Vec4 {
    let skew = Vec3::new(z.y - y.z, x.z - z.x, y.x - x.y);
    let sums = Vec3::new(y.z + z.y, x.z + z.x, x.y + y.x);
    let d = Vec3::new(x.x, y.y, z.z);
    let trace = d.x + d.y + d.z;
    let largest = match (d.x > d.y, d.x > d.z, d.y > d.z) {
        (true, true, _) => 0,
        (false, _, true) => 1,
        _ => 2,
    };
    if trace > d[largest] {
        let four_w = 2.0 * (trace + 1.0).sqrt();
        return (skew / four_w).extend((four_w * 0.25).clamp(-1.0, 1.0));
    }
    let four_i = 2.0 * (2.0 * d[largest] - trace + 1.0).max(SHORTEST).sqrt();
    let part = four_i * 0.25;
    let sums = sums / four_i;
    let imaginary = match largest {
        0 => Vec3::new(part, sums.z, sums.y),
        1 => Vec3::new(sums.z, part, sums.x),
        _ => Vec3::new(sums.y, sums.x, part),
    };
    imaginary.extend((skew[largest] / four_i).clamp(-1.0, 1.0))
}

/// The rotation of a matrix that is not singular: its orthogonal polar factor, negated if the
/// matrix mirrors.
fn rotation_of(m: Basis, mirrors: bool) -> Basis {
    let sign = if mirrors { -1.0 } else { 1.0 };
    let mut x = scaled(m, sign / largest_element(&m));
    for _ in 0..POLAR_STEPS {
        let inverse = cofactors(x);
        let determinant = x[0].dot(inverse[0]);
        let mut scale = 1.0;
        if (determinant - 1.0).abs() > 0.01 {
            scale = 1.0 / determinant.max(SMALLEST_DETERMINANT).powf(1.0 / 3.0);
        }
        let a = scale * 0.5;
        let b = 0.5 / (scale * determinant.max(SMALLEST_DETERMINANT));
        let next = [0, 1, 2].map(|i| a * x[i] + b * inverse[i]);
        let change = largest_element(&[0, 1, 2].map(|i| next[i] - x[i]));
        x = next;
        if change < 1e-6 {
            break;
        }
    }
    x
}

/// Splits a joint's matrix for points. A singular joint has no motion and the identity as its
/// residual.
pub(super) fn split_joint(linear: Basis, translation: Vec3) -> JointMotion {
    let determinant = linear[0].dot(linear[1].cross(linear[2]));
    // False for NaN, too.
    let is_regular = determinant.abs() >= SINGULAR_JOINT;
    if !is_regular {
        return JointMotion {
            real: Vec4::ZERO,
            dual: Vec4::ZERO,
            residual: IDENTITY,
        };
    }
    let rotation = rotation_of(linear, determinant < 0.0);
    let real = quaternion_of(rotation).normalize();
    let (t, r) = (translation * 0.5, real.truncate());
    JointMotion {
        real,
        dual: (t * real.w + t.cross(r)).extend(-t.dot(r)),
        residual: transposed_product(rotation, linear),
    }
}

/// Splits the inverse transpose of a joint's matrix, which transforms normals. A singular joint does
/// not turn normals, and its residual outweighs those of other joints.
pub(super) fn split_normals(linear: Basis) -> NormalTurn {
    let largest = largest_element(&linear);
    let cofactor = cofactors(scaled(linear, 1.0 / largest.max(SMALLEST_DETERMINANT)));
    let determinant = linear[0].dot(cofactor[0]) / largest.max(SMALLEST_DETERMINANT);
    let is_regular = determinant.abs() > SMALLEST_DETERMINANT;
    if !is_regular {
        return NormalTurn {
            turn: Vec4::W,
            residual: scaled(IDENTITY, LARGEST_NORMAL_ELEMENT),
        };
    }
    let carrier = scaled(cofactor, 1.0 / determinant / largest);
    let unit = |v: Vec3| v / v.length().max(SHORTEST);
    let column = |m: &Basis, i: usize| Vec3::new(m[0][i], m[1][i], m[2][i]);
    let [mut x, mut y, mut z] = [0, 1, 2].map(|i| unit(column(&carrier, i)));
    let apart = |a: Vec3, b: Vec3| (a - b).length_squared() > SMALLEST_TURN;
    if apart(x, y) && apart(x, z) && apart(y, z) {
        let without = |v: Vec3, a: Vec3, b: Vec3| {
            let u = v - a * a.dot(v);
            u - b * b.dot(u)
        };
        for _ in 0..20 {
            let nx = unit((x + without(x, y, z)) * 0.5);
            let ny = unit((y + without(y, x, z)) * 0.5);
            let nz = unit((z + without(z, x, y)) * 0.5);
            let change =
                (nx - x).length_squared() + (ny - y).length_squared() + (nz - z).length_squared();
            if change < SMALLEST_TURN {
                break;
            }
            (x, y, z) = (nx, ny, nz);
        }
    }
    let rows = [0, 1, 2].map(|i| Vec3::new(x[i], y[i], z[i]));
    // The inverse of the basis is the transpose of its inverse transpose.
    let inverse = cofactors(rows);
    let inverse = scaled(inverse, 1.0 / rows[0].dot(inverse[0]));
    NormalTurn {
        turn: quaternion_of(rows),
        residual: transposed_product(inverse, carrier),
    }
}

/// The 3x3 part of packed rows.
pub(super) fn linear_of(m: &Rows) -> Basis {
    m.map(Vec4::truncate)
}

/// Packed rows of a 3x3 matrix.
pub(super) fn rows_of(m: Basis) -> Rows {
    m.map(|row| row.extend(0.0))
}

/// Scales a matrix for normals down so that no element is larger than [`LARGEST_NORMAL_ELEMENT`].
pub(super) fn within_range(m: Rows) -> Rows {
    let largest = largest_element(&linear_of(&m));
    if largest <= LARGEST_NORMAL_ELEMENT {
        return m;
    }
    m.map(|row| row * (LARGEST_NORMAL_ELEMENT / largest))
}
