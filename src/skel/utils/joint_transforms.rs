//! Converts joint-local transforms to skeleton space and back.

use glam::DMat4;

use super::UtilError;
use super::error::same_length;
use crate::math;
use crate::skel::Topology;

/// Converts joint-local transforms to skeleton space: multiplies the transform of each parent with
/// that of its child (UsdSkelConcatJointTransforms). The transforms of root joints are multiplied
/// with `root`. If `root` is `out_from_skel`, results are in that space instead of skeleton space.
///
/// # Errors
/// Another number of transforms than joints.
///
/// # Panics
/// If a parent comes after its child; [`Topology::validate`] checks that.
pub fn concat_joint_transforms(
    topology: &Topology,
    local: &[DMat4],
    root: Option<DMat4>,
) -> Result<Vec<DMat4>, UtilError> {
    same_length(
        "joint-local transforms, one per joint",
        topology.len(),
        local.len(),
    )?;
    let mut out: Vec<DMat4> = Vec::with_capacity(local.len());
    for (parent, local) in topology.parents().zip(local) {
        out.push(match parent {
            // Parents come first, so the parent's transform is computed already.
            Some(parent) => out[parent] * *local,
            None => root.map_or(*local, |root| root * *local),
        });
    }
    Ok(out)
}

/// Converts transforms in skeleton space to joint-local ones: multiplies the inverse of each parent
/// with its child (UsdSkelComputeJointLocalTransforms). The transforms of root joints are
/// multiplied with `root_inverse`, which reverses the `root` of [`concat_joint_transforms`].
///
/// # Errors
/// Another number of transforms than joints; a parent whose transform has no inverse (Pixar
/// continues with a huge one).
///
/// # Panics
/// If the topology refers to a parent that does not exist.
pub fn compute_joint_local_transforms(
    topology: &Topology,
    transforms: &[DMat4],
    root_inverse: Option<DMat4>,
) -> Result<Vec<DMat4>, UtilError> {
    same_length(
        "joint transforms, one per joint",
        topology.len(),
        transforms.len(),
    )?;
    let mut inverses: Vec<Option<DMat4>> = vec![None; transforms.len()];
    let mut out = Vec::with_capacity(transforms.len());
    for (parent, transform) in topology.parents().zip(transforms) {
        let inverse = match parent {
            Some(parent) if inverses[parent].is_some() => inverses[parent],
            Some(parent) => {
                let what = "joint transform";
                let inverse = math::try_inverse(transforms[parent])
                    .ok_or(UtilError::Singular { what, at: parent })?;
                inverses[parent] = Some(inverse);
                inverses[parent]
            }
            None => root_inverse,
        };
        out.push(inverse.map_or(*transform, |inverse| inverse * *transform));
    }
    Ok(out)
}
