//! Dual quaternion skinning of one point or normal in f64, as in `_SkinPointsDQS` and
//! `_SkinNormalsDQS` of usdSkel/utils.cpp (rules 25 to 27). The f64 reference and rigid prims use
//! it. It shares no code with the kernels' `math::polar_decomposition` on purpose: tests compare
//! the two.

use glam::{DMat3, DMat4, DQuat, DVec3};

/// The epsilon of `GfMatrix4d::Factor`: a smaller determinant is singular, and smaller eigenvalues
/// are clamped.
const SINGULAR: f64 = 1e-10;

/// Vectors shorter than this have no direction (GF_MIN_VECTOR_LENGTH).
const MIN_LENGTH: f64 = 1e-10;

const ZERO: DQuat = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);

/// A joint's matrix as a rigid motion and a residual: `matrix = motion * residual`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    /// Rotation; zero for a singular joint, not of unit length for a mirrored normal matrix.
    pub real: DQuat,
    /// Half the translation times the rotation.
    pub dual: DQuat,
    /// Residual scale and shear.
    pub residual: DMat3,
}

impl Parts {
    /// Splits a skinning transform, for points.
    pub fn of_points(matrix: DMat4) -> Self {
        let linear = DMat3::from_mat4(matrix);
        if linear.determinant().abs() < SINGULAR {
            return Self {
                real: ZERO,
                dual: ZERO,
                residual: DMat3::IDENTITY,
            };
        }
        let rotation = orthonormalized(rotation_of(linear));
        let real = quaternion(rotation);
        let t = matrix.w_axis * 0.5;
        Self {
            real,
            dual: product(DQuat::from_xyzw(t.x, t.y, t.z, 0.0), real),
            residual: rotation.inverse() * linear,
        }
    }

    /// Splits the inverse transpose of a skinning transform, for normals. If the transform is
    /// singular, its inverse is a huge multiple of the identity, as in usd-core.
    pub fn of_normals(matrix: DMat4) -> Self {
        let linear = DMat3::from_mat4(matrix);
        let carrier = if linear.determinant() == 0.0 {
            DMat3::IDENTITY * f64::from(f32::MAX)
        } else {
            linear.inverse().transpose()
        };
        // For a mirrored joint this is no rotation, and its quaternion does not have unit length;
        // usd-core does the same.
        let basis = orthonormalized(carrier);
        Self {
            real: quaternion(basis),
            dual: ZERO,
            residual: basis.inverse() * carrier,
        }
    }

    /// Whether the residual is more than rounding: in f32, some element differs from the identity
    /// by more than 1e-6.
    pub fn has_scale(&self) -> bool {
        let identity = DMat3::IDENTITY.to_cols_array();
        let mut pairs = self.residual.to_cols_array().into_iter().zip(identity);
        pairs.any(|(r, i)| (f64::from(r as f32) - i).abs() >= 1e-6)
    }
}

/// The blended motion of a point's joints, as a unit dual quaternion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blend {
    real: DQuat,
    dual: DQuat,
}

impl Blend {
    /// Sums weighted parts. Each quaternion is first negated if it lies in the other hemisphere
    /// than the pivot.
    pub fn new(weighted: &[(Parts, f64)]) -> Self {
        let pivot = pivot(weighted);
        let (mut real, mut dual) = (ZERO, ZERO);
        for (parts, weight) in weighted {
            let turned = if parts.real.dot(pivot) < 0.0 {
                -weight
            } else {
                *weight
            };
            real += parts.real * turned;
            dual += parts.dual * turned;
        }
        let length = real.length();
        if length < MIN_LENGTH {
            // A sum of zero moves nothing.
            return Self {
                real: DQuat::IDENTITY,
                dual: ZERO,
            };
        }
        Self {
            real: real * length.recip(),
            dual: dual * length.recip(),
        }
    }

    pub fn rotate(&self, v: DVec3) -> DVec3 {
        let p = DQuat::from_xyzw(v.x, v.y, v.z, 0.0);
        product(product(self.real, p), self.real.conjugate()).xyz()
    }

    pub fn transform(&self, p: DVec3) -> DVec3 {
        self.rotate(p) + product(self.dual, self.real.conjugate()).xyz() * 2.0
    }
}

/// The rotation of the largest weight, the first of equal ones. It is the pivot that chooses the
/// hemisphere.
pub(super) fn pivot(weighted: &[(Parts, f64)]) -> DQuat {
    let mut found: Option<&(Parts, f64)> = None;
    for candidate in weighted {
        if found.is_none_or(|(_, largest)| *largest < candidate.1) {
            found = Some(candidate);
        }
    }
    found.map_or(ZERO, |(parts, _)| parts.real)
}

/// Product of quaternions of any length.
fn product(a: DQuat, b: DQuat) -> DQuat {
    let (u, v) = (a.xyz(), b.xyz());
    let i = v * a.w + u * b.w + u.cross(v);
    DQuat::from_xyzw(i.x, i.y, i.z, a.w * b.w - u.dot(v))
}

/// The rotation of `matrix` without scale and shear: its orthogonal polar factor, or that of the
/// negated matrix if it mirrors (`GfMatrix4d::Factor` negates all three scales).
fn rotation_of(matrix: DMat3) -> DMat3 {
    let sign = matrix.determinant().signum();
    let (vectors, values) = crate::math::principal_axes(matrix.transpose() * matrix);
    let inverse_stretch = values.to_array().map(|v| {
        let stretch = if v < SINGULAR { SINGULAR } else { v.sqrt() };
        sign / stretch
    });
    matrix
        * vectors
        * DMat3::from_diagonal(DVec3::from_array(inverse_stretch))
        * vectors.transpose()
}

/// `GfOrthogonalizeBasis` of the columns. It changes all three alike, until none changes by 1e-6.
fn orthonormalized(m: DMat3) -> DMat3 {
    const TOLERANCE: f64 = 1e-6;
    let unit = |v: DVec3| v / v.length().max(MIN_LENGTH);
    let mut axes = [unit(m.x_axis), unit(m.y_axis), unit(m.z_axis)];
    let together = |a: DVec3, b: DVec3| (a - b).length_squared() <= TOLERANCE * TOLERANCE;
    let [x, y, z] = axes;
    if together(x, y) || together(x, z) || together(y, z) {
        return DMat3::from_cols(x, y, z);
    }
    for _ in 0..20 {
        let mut next = axes;
        for i in 0..3 {
            let mut rejected = axes[i];
            for k in (0..3).filter(|k| *k != i) {
                rejected -= axes[k] * axes[k].dot(rejected);
            }
            next[i] = unit((axes[i] + rejected) * 0.5);
        }
        let moved: f64 = (0..3).map(|i| (next[i] - axes[i]).length_squared()).sum();
        if moved < TOLERANCE * TOLERANCE {
            break;
        }
        axes = next;
    }
    DMat3::from_cols(axes[0], axes[1], axes[2])
}

/// `GfMatrix3d::ExtractRotationQuaternion`. Its sign matters if the pivot is singular, and its
/// formula matters if the matrix is no rotation.
fn quaternion(m: DMat3) -> DQuat {
    // usd-core's rows are glam's columns.
    let at = |i: usize, j: usize| m.col(i % 3)[j % 3];
    let (x, y, z) = (at(0, 0), at(1, 1), at(2, 2));
    let i = match (x > y, x > z, y > z) {
        (true, true, _) => 0,
        (false, _, true) => 1,
        _ => 2,
    };
    let skew = |k: usize| at(k + 1, k + 2) - at(k + 2, k + 1);
    if x + y + z > at(i, i) {
        let r = 0.5 * (x + y + z + 1.0).sqrt();
        let [a, b, c] = [skew(0), skew(1), skew(2)].map(|s| s / (4.0 * r));
        return DQuat::from_xyzw(a, b, c, r.clamp(-1.0, 1.0));
    }
    let largest = 0.5 * (at(i, i) - at(i + 1, i + 1) - at(i + 2, i + 2) + 1.0).sqrt();
    let mut v = DVec3::ZERO;
    v[i] = largest;
    for j in [i + 1, i + 2] {
        v[j % 3] = (at(i, j) + at(j, i)) / (4.0 * largest);
    }
    let r = skew(i) / (4.0 * largest);
    DQuat::from_xyzw(v.x, v.y, v.z, r.clamp(-1.0, 1.0))
}

/// Applies the residual scale and shear of joints to a point or normal by linear blending (after
/// geomBindTransform), if any joint of the prim's order has some (rule 25). [`Blend`] transforms
/// the result.
pub(super) fn scaled(weighted: &[(Parts, f64)], has_scale: bool, v: DVec3) -> DVec3 {
    match has_scale {
        true => weighted.iter().map(|(j, w)| j.residual * v * *w).sum(),
        false => v,
    }
}
