//! The poses that turns are measured from, and the space in which the two rigs meet.
//!
//! That space has metres, Y up, and its heading is the characters' own: where a character stands in its stage, and
//! which way it is turned there, says nothing about the other one.

use glam::{DMat3, DMat4, DQuat, DVec3};

use super::bone_map::JointPair;
use super::{RetargetPose, Rig};
use sinew::math;

/// A rig in the common space.
pub(super) struct Reference {
    pub common_from_world: DMat4,
    /// skel_from_joint of the reference pose.
    skel: Vec<DMat4>,
    /// common_from_skel.
    pub placed: DMat4,
}

impl Reference {
    pub fn new(rig: &Rig, pose: RetargetPose) -> Self {
        let placement = rig.placement();
        let upright = turn_to_y(placement.up);
        let world = math::nearest_rotation(DMat3::from_mat4(placement.world_from_skel));
        let placed_turn = upright * world.unwrap_or_default();
        // What is left of the turn when the skeleton is only set upright is its heading.
        let skel_up = placed_turn.inverse() * DVec3::Y;
        let heading = placed_turn * turn_to_y(skel_up).inverse();
        let common_from_world = DMat4::from_scale(DVec3::splat(placement.meters_per_unit))
            * DMat4::from_quat((heading.inverse() * upright).normalize());
        let skel = match pose {
            RetargetPose::Rest => rig.rest_skel(),
            RetargetPose::Bind | RetargetPose::Align => rig.bind_skel(),
        };
        Self {
            common_from_world,
            skel: skel.to_vec(),
            placed: common_from_world * placement.world_from_skel,
        }
    }

    /// Turns the rig about the vertical axis.
    pub fn turn(&mut self, quarters: i32) {
        let turn = DMat4::from_quat(quarter_turns(quarters));
        self.common_from_world = turn * self.common_from_world;
        self.placed = turn * self.placed;
    }

    /// Where a joint is in the reference pose.
    pub fn position(&self, joint: usize) -> DVec3 {
        (self.placed * self.skel[joint]).w_axis.truncate()
    }

    /// How a joint is turned in the reference pose.
    pub fn turn_of(&self, joint: usize) -> DQuat {
        let m = DMat3::from_mat4(self.placed * self.skel[joint]);
        math::nearest_rotation(m).unwrap_or_default()
    }
}

/// Turns an up direction to Y the short way, exactly where it is there already.
fn turn_to_y(up: DVec3) -> DQuat {
    match up.abs_diff_eq(DVec3::Y, 1e-12) {
        true => DQuat::IDENTITY,
        false => DQuat::from_rotation_arc(up.normalize_or(DVec3::Y), DVec3::Y),
    }
}

fn quarter_turns(quarters: i32) -> DQuat {
    DQuat::from_rotation_y(f64::from(quarters) * std::f64::consts::FRAC_PI_2)
}

/// Quarter turns about the vertical axis that bring the source to face as the target does: the turn under which the
/// paired joints, seen from above, lie over each other best. 0 where they do not tell (a straight chain).
pub(super) fn facing(source: &Reference, target: &Reference, pairs: &[JointPair]) -> i32 {
    let count = pairs.len().max(1) as f64;
    let centre = |at: &dyn Fn(&JointPair) -> DVec3| pairs.iter().map(at).sum::<DVec3>() / count;
    let of_source = |p: &JointPair| source.position(p.source);
    let of_target = |p: &JointPair| target.position(p.target);
    let (from, to) = (centre(&of_source), centre(&of_target));
    let (mut dot, mut cross, mut sizes) = (0.0, 0.0, [0.0; 2]);
    let mut heights = [0.0; 2];
    for pair in pairs {
        let (a, b) = (of_source(pair) - from, of_target(pair) - to);
        dot += a.x * b.x + a.z * b.z;
        cross += a.z * b.x - a.x * b.z;
        for (i, v) in [a, b].into_iter().enumerate() {
            sizes[i] += v.x * v.x + v.z * v.z;
            heights[i] += v.y * v.y;
        }
    }
    let flat = |i: usize| sizes[i] <= 1e-4 * heights[i];
    let agreement = f64::hypot(dot, cross) / f64::sqrt(sizes[0] * sizes[1]);
    if flat(0) || flat(1) || agreement.is_nan() || agreement < 0.5 {
        return 0;
    }
    let quarters = cross.atan2(dot) / std::f64::consts::FRAC_PI_2;
    (quarters.round() as i32).rem_euclid(4)
}

/// How far the target's reference is turned at each pair so that its limbs point as the source's do: the short way,
/// so that the roll of a bone stays. A limb points to the nearest paired joint below it; the hand to the middle
/// finger, or the first finger that it has. Where bones are not known, every joint with one paired joint below it
/// counts as a limb. What is no limb but lies below one, as the last joint of a finger, keeps its place on it, and
/// feet keep theirs on the ground.
pub(super) fn alignment(
    (source, source_rig): (&Reference, &Rig),
    (target, target_rig): (&Reference, &Rig),
    pairs: &[JointPair],
) -> Vec<DQuat> {
    let above: Vec<Option<usize>> = pairs
        .iter()
        .map(|p| pair_above(target_rig, pairs, p))
        .collect();
    let mut turns: Vec<DQuat> = Vec::with_capacity(pairs.len());
    for (i, pair) in pairs.iter().enumerate() {
        let below: Vec<&JointPair> = (0..pairs.len())
            .filter(|j| above[*j] == Some(i))
            .map(|j| &pairs[j])
            // Both sides agree on what hangs from what.
            .filter(|p| source_rig.chain(p.source).any(|j| j == pair.source))
            .collect();
        let is_limb = pair.bone.map_or(below.len() == 1, super::Bone::is_limb);
        let is_middle = |p: &&&JointPair| {
            use super::Bone::{LeftMiddleProximal, RightMiddleProximal};
            matches!(p.bone, Some(LeftMiddleProximal | RightMiddleProximal))
        };
        let tip = below.iter().find(is_middle).or(below.first());
        let direction = tip.filter(|_| is_limb).and_then(|tip| {
            let from =
                (target.position(tip.target) - target.position(pair.target)).try_normalize()?;
            let to =
                (source.position(tip.source) - source.position(pair.source)).try_normalize()?;
            Some(DQuat::from_rotation_arc(from, to))
        });
        let inherits = pair.bone.is_none_or(super::Bone::is_limb);
        turns.push(match (direction, above[i]) {
            (Some(turn), _) => turn,
            (None, Some(above)) if inherits => turns[above],
            _ => DQuat::IDENTITY,
        });
    }
    turns
}

/// The nearest paired joint above a pair's target; pairs are in the order of the target's joints.
pub(super) fn pair_above(rig: &Rig, pairs: &[JointPair], pair: &JointPair) -> Option<usize> {
    rig.chain(pair.target)
        .skip(1)
        .find_map(|joint| pairs.binary_search_by_key(&joint, |p| p.target).ok())
}
