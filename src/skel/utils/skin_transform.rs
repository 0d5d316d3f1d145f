//! Rigid deformation: one transform from constant influences (UsdSkelSkinTransform, rule 28).

use glam::{DMat4, DVec3, DVec4};

use super::UtilError;
use super::error::same_length;
use crate::skel::SkinningMethod;
use crate::skel::dual_quaternion::{Blend, Parts, scaled};

/// usd-core's epsilon: if a single influence has a weight this close to 1, its joint's transform is
/// used as it is.
const WHOLE: f64 = 1e-6;

/// The transform from prim space to skeleton space of a rigid prim, which constant influences move
/// as a whole (UsdSkelSkinTransform).
///
/// - `method`: the skinning method.
/// - `geom_bind`: geomBindTransform.
/// - `skinning`: skinning transforms in the joint order of the prim: its skel:joints if it has them
///   (with the identity for a joint that the skeleton lacks, rule 11), else the order of the
///   skeleton.
/// - `joints`, `weights`: the constant influences.
///
/// A single influence of weight 1 (within 1e-6) gives `joint * geom_bind` exactly. Otherwise four
/// points are skinned: the origin and the tips of the three axes of `geom_bind`. Weights need not
/// sum to 1. The result is the frame of the skinned points. Pixar rounds these points to f32; this
/// function uses f64.
///
/// # Errors
/// Influences that differ in number; a joint out of range, even at weight 0 (rule 22).
pub fn skin_transform(
    method: SkinningMethod,
    geom_bind: DMat4,
    skinning: &[DMat4],
    joints: &[u32],
    weights: &[f32],
) -> Result<DMat4, UtilError> {
    same_length("weights, as many as joints", joints.len(), weights.len())?;
    if let Some((at, joint)) = joints
        .iter()
        .enumerate()
        .find(|(_, j)| **j as usize >= skinning.len())
    {
        return Err(UtilError::Joint {
            joint: *joint,
            at,
            joint_count: skinning.len(),
        });
    }
    if let ([joint], [weight]) = (joints, weights)
        && (f64::from(*weight) - 1.0).abs() < WHOLE
    {
        return Ok(skinning[*joint as usize] * geom_bind);
    }
    let frame = frame_points(geom_bind);
    Ok(frame_of(match method {
        SkinningMethod::ClassicLinear => linear(frame, skinning, joints, weights),
        SkinningMethod::DualQuaternion => by_quaternions(frame, skinning, joints, weights),
    }))
}

fn linear(frame: [DVec3; 4], skinning: &[DMat4], joints: &[u32], weights: &[f32]) -> [DVec3; 4] {
    let influences = || joints.iter().zip(weights).filter(|(_, w)| **w != 0.0);
    frame.map(|p| {
        influences()
            .map(|(j, w)| skinning[*j as usize].transform_point3(p) * f64::from(*w))
            .sum()
    })
}

/// Rules 25 and 26. All four points have the same joints, so one blend transforms them all.
fn by_quaternions(
    frame: [DVec3; 4],
    skinning: &[DMat4],
    joints: &[u32],
    weights: &[f32],
) -> [DVec3; 4] {
    let parts: Vec<Parts> = skinning.iter().map(|m| Parts::of_points(*m)).collect();
    let has_scale = parts.iter().any(Parts::has_scale);
    let weighted: Vec<(Parts, f64)> = joints
        .iter()
        .zip(weights)
        .map(|(j, w)| (parts[*j as usize], f64::from(*w)))
        .collect();
    let blend = Blend::new(&weighted);
    frame.map(|p| blend.transform(scaled(&weighted, has_scale, p)))
}

/// The tips of the three axes, and the origin.
fn frame_points(m: DMat4) -> [DVec3; 4] {
    let origin = m.w_axis.truncate();
    let tip = |axis: DVec4| origin + axis.truncate();
    [tip(m.x_axis), tip(m.y_axis), tip(m.z_axis), origin]
}

/// The transform that has these [`frame_points`].
fn frame_of([x, y, z, origin]: [DVec3; 4]) -> DMat4 {
    DMat4::from_cols(
        (x - origin).extend(0.0),
        (y - origin).extend(0.0),
        (z - origin).extend(0.0),
        origin.extend(1.0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINEAR: SkinningMethod = SkinningMethod::ClassicLinear;

    #[test]
    fn rule_28_a_lone_whole_influence_is_exact() {
        let g = DMat4::from_translation(DVec3::new(1e9, 1.0, 0.1));
        let j = DMat4::from_rotation_x(0.3);
        assert_eq!(
            skin_transform(LINEAR, g, &[DMat4::ZERO, j], &[1], &[1.0]),
            Ok(j * g)
        );
    }

    #[test]
    fn rule_28_weights_are_not_normalised() {
        let half =
            skin_transform(LINEAR, DMat4::IDENTITY, &[DMat4::IDENTITY], &[0], &[0.5]).unwrap();
        assert_eq!(half, DMat4::from_scale(DVec3::splat(0.5)));
    }

    #[test]
    fn rule_22_a_joint_out_of_range_counts_at_weight_zero_too() {
        let err = skin_transform(
            LINEAR,
            DMat4::IDENTITY,
            &[DMat4::IDENTITY],
            &[0, 1],
            &[1.0, 0.0],
        );
        assert!(matches!(
            err,
            Err(UtilError::Joint {
                joint: 1,
                at: 1,
                joint_count: 1
            })
        ));
    }
}
