//! Opens or closes the arms of the target.

use glam::{DQuat, DVec3};

use super::bone_map::JointPair;
use super::root::pair_above;
use super::transfer::Transfer;
use super::{Bone, Rig};
use crate::error::{Error, Result};

/// An arm that is opened or closed.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    /// The upper arm and the pairs below it.
    pub pairs: Vec<usize>,
    /// Index of the nearest pair above the arm that is not a shoulder.
    pub chest: Option<usize>,
    /// The forward direction in the frame of the target's chest.
    pub axis: DVec3,
    pub radians: f64,
}

/// Finds the upper arms and all pairs below them.
pub(super) fn arms(
    target: &Rig,
    pairs: &[JointPair],
    transfer: &Transfer,
    degrees: f64,
) -> Result<Vec<Arm>> {
    if degrees == 0.0 {
        return Ok(Vec::new());
    }
    if !degrees.is_finite() {
        return Err(Error::ArmSpace(format!(
            "arm space: expected a finite angle in degrees, found {degrees}"
        )));
    }
    let find = |bone| pairs.iter().position(|p| p.bone == Some(bone));
    let (Some(left), Some(right)) = (find(Bone::LeftUpperArm), find(Bone::RightUpperArm)) else {
        return Err(Error::ArmSpace(
            "arm space: both upper arms have to be paired as human bones, but they are not".into(),
        ));
    };
    let to = &transfer.target;
    // The reference pose faces +Z.
    let facing = DQuat::from_rotation_y(to.heading) * DVec3::Z;
    let mut arms = Vec::new();
    for (upper, sign) in [(left, 1.0), (right, -1.0)] {
        let chain = std::iter::successors(Some(upper), |p| pair_above(target, pairs, &pairs[*p]));
        let is_shoulder = |p: &usize| {
            matches!(
                pairs[*p].bone,
                Some(Bone::LeftShoulder | Bone::RightShoulder)
            )
        };
        let chest = chain.skip(1).find(|p| !is_shoulder(p));
        let axis = chest.map_or(facing, |p| {
            to.pose.turn[pairs[p].target].inverse() * DVec3::Z
        });
        let hangs = |p: &usize| {
            let mut chain = target.chain(pairs[*p].target);
            chain.any(|j| j == pairs[upper].target)
        };
        arms.push(Arm {
            pairs: (0..pairs.len()).filter(hangs).collect(),
            chest,
            axis,
            radians: sign * degrees.to_radians(),
        });
    }
    Ok(arms)
}
