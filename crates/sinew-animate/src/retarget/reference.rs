//! The reference poses that rotations are measured from, and the common space of the two rigs.
//!
//! The common space is in metres, with Y up. The heading of a character in its stage is removed,
//! because it has nothing to do with that of the other character.

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
        // The heading is the rest of the rotation after the skeleton was set upright.
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

    /// The position of a joint in the reference pose, in the common space.
    pub fn position(&self, joint: usize) -> DVec3 {
        (self.placed * self.skel[joint]).w_axis.truncate()
    }

    /// The rotation of a joint in the reference pose, in the common space.
    pub fn turn_of(&self, joint: usize) -> DQuat {
        let m = DMat3::from_mat4(self.placed * self.skel[joint]);
        math::nearest_rotation(m).unwrap_or_default()
    }
}

/// The shortest rotation from an up direction to Y; exactly the identity if it already is Y.
fn turn_to_y(up: DVec3) -> DQuat {
    match up.abs_diff_eq(DVec3::Y, 1e-12) {
        true => DQuat::IDENTITY,
        false => DQuat::from_rotation_arc(up.normalize_or(DVec3::Y), DVec3::Y),
    }
}

fn quarter_turns(quarters: i32) -> DQuat {
    DQuat::from_rotation_y(f64::from(quarters) * std::f64::consts::FRAC_PI_2)
}

/// The number of quarter turns about the vertical axis after which the source faces the same way as
/// the target. It is the rotation for which the paired joints, seen from above, fit each other
/// best. It is 0 if they are ambiguous, as in a straight chain.
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

/// The rotation of the target's reference at each pair that makes its limbs point in the same
/// direction as the source's. It is the shortest rotation, so the roll of a bone stays. A limb
/// points to the nearest paired joint below it, a hand to its middle finger or its first one. If
/// human bones are not known, every joint with one paired joint below it counts as a limb. Other
/// joints below a limb, such as the last joint of a finger, rotate with it. Feet are not rotated.
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
            // Only joints that are below this one on both sides.
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
