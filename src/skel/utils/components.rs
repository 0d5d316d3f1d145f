//! Converts between transforms and translations, rotations and scales, as SkelAnimations have them.

use glam::{DMat3, DMat4, DQuat, DVec3, Quat, Vec3};
use half::f16;

use super::UtilError;
use super::error::same_length;
use crate::math;
use crate::sampled::Half3;

/// The epsilon of GfMatrix4d::Factor. A matrix is singular if its determinant is nearer to zero.
/// Squared scales are at least this.
const SINGULAR: f64 = 1e-10;

/// The components of a transform, in the precision of a SkelAnimation's arrays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Components {
    /// Translation in the parent's space and units.
    pub translate: Vec3,
    /// Rotation. A decomposition returns it with unit length.
    pub rotate: Quat,
    /// Scales along the joint's own axes.
    pub scale: Half3,
}

/// The transform that scales, then rotates, then translates (UsdSkelMakeTransform, rule 12). The
/// rotation is used as it is and not normalised. The function computes in f64, but Pixar converts
/// the quaternion to a matrix in f32.
#[must_use]
pub fn make_transform(components: &Components) -> DMat4 {
    let q = components.rotate;
    math::make_transform(
        components.translate.as_dvec3(),
        DQuat::from_xyzw(q.x.into(), q.y.into(), q.z.into(), q.w.into()),
        DVec3::from_array(components.scale.map(f64::from)),
    )
}

/// [`make_transform`] for whole arrays (UsdSkelMakeTransforms).
///
/// # Errors
/// Arrays of different length.
pub fn make_transforms(
    translations: &[Vec3],
    rotations: &[Quat],
    scales: &[Half3],
) -> Result<Vec<DMat4>, UtilError> {
    let n = translations.len();
    same_length("rotations, as many as translations", n, rotations.len())?;
    same_length("scales, as many as translations", n, scales.len())?;
    let all = translations.iter().zip(rotations).zip(scales);
    Ok(all
        .map(|((translate, rotate), scale)| {
            make_transform(&Components {
                translate: *translate,
                rotate: *rotate,
                scale: *scale,
            })
        })
        .collect())
}

/// The components of a transform (UsdSkelDecomposeTransform).
///
/// If the transform mirrors, all three scales are negative and the rotation fits them, whichever
/// axes were flipped (rule 26). Shear is lost: the scales are then the stretches along the
/// principal axes. A scale beyond the range of half precision becomes infinite. `None` if the
/// determinant of the upper 3x3 matrix is within 1e-10 of zero, or if an element is not finite.
#[must_use]
pub fn decompose_transform(transform: DMat4) -> Option<Components> {
    let m = DMat3::from_mat4(transform);
    let determinant = m.determinant();
    if determinant.abs() < SINGULAR || !transform.is_finite() || !determinant.is_finite() {
        return None;
    }
    let sign = determinant.signum();
    // The polar decomposition: m = rotation * stretch, where stretch = sqrt(transpose(m) * m).
    let (axes, squares) = math::principal_axes(m.transpose() * m);
    let squares = squares.map(|s| s.max(f64::MIN_POSITIVE));
    let inverse_stretch =
        axes * DMat3::from_diagonal(squares.map(|s| sign / s.sqrt())) * axes.transpose();
    let rotate = rotation_quaternion(m * inverse_stretch);
    let scale = squares.map(|s| {
        sign * match s < SINGULAR {
            true => SINGULAR,
            false => s.sqrt(),
        }
    });
    rotate.is_finite().then(|| Components {
        translate: transform.w_axis.truncate().as_vec3(),
        rotate: rotate.as_quat(),
        // Converted through f32, as in GfVec3h.
        scale: scale.to_array().map(|s| f16::from_f32(s as f32)),
    })
}

/// Components of many transforms, as the arrays of a SkelAnimation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComponentArrays {
    /// One per transform.
    pub translations: Vec<Vec3>,
    /// One per transform.
    pub rotations: Vec<Quat>,
    /// One per transform.
    pub scales: Vec<Half3>,
}

/// [`decompose_transform`] for whole arrays (UsdSkelDecomposeTransforms).
///
/// # Errors
/// The first transform that is singular or not finite.
pub fn decompose_transforms(transforms: &[DMat4]) -> Result<ComponentArrays, UtilError> {
    let mut out = ComponentArrays::default();
    for (at, transform) in transforms.iter().enumerate() {
        let what = "transform";
        let parts = decompose_transform(*transform).ok_or(UtilError::Singular { what, at })?;
        out.translations.push(parts.translate);
        out.rotations.push(parts.rotate);
        out.scales.push(parts.scale);
    }
    Ok(out)
}

/// The quaternion of a rotation, with the sign of GfMatrix4d::ExtractRotationQuat: w is positive if
/// the trace is larger than the largest diagonal element; otherwise the component of that element
/// is positive.
fn rotation_quaternion(m: DMat3) -> DQuat {
    let q = DQuat::from_mat3(&m).normalize();
    let diagonal = [m.x_axis.x, m.y_axis.y, m.z_axis.z];
    let largest = (1..3).fold(0, |i, j| match diagonal[j] >= diagonal[i] {
        true => j,
        false => i,
    });
    let leading = match diagonal.iter().sum::<f64>() > diagonal[largest] {
        true => q.w,
        false => q.to_array()[largest],
    };
    if leading < 0.0 { -q } else { q }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_comes_apart_again() {
        let made = Components {
            translate: Vec3::new(1.0, -2.0, 3.0),
            rotate: Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 2.5),
            scale: [2.0, 0.5, 4.0].map(f16::from_f32),
        };
        let apart = decompose_transform(make_transform(&made)).unwrap();
        assert_eq!((apart.translate, apart.scale), (made.translate, made.scale));
        assert!(apart.rotate.abs_diff_eq(made.rotate, 1e-6));
    }

    #[test]
    fn what_has_no_components_says_so() {
        for m in [
            DMat4::ZERO,
            DMat4::from_scale(DVec3::new(1.0, 0.0, 1.0)),
            DMat4::from_scale(DVec3::splat(f64::NAN)),
            DMat4::from_scale(DVec3::splat(f64::INFINITY)),
            DMat4::from_scale(DVec3::splat(1e200)),
        ] {
            assert_eq!(decompose_transform(m), None, "{m}");
        }
        let singular = Err(UtilError::Singular {
            what: "transform",
            at: 1,
        });
        assert_eq!(
            decompose_transforms(&[DMat4::IDENTITY, DMat4::ZERO]),
            singular
        );
    }
}
