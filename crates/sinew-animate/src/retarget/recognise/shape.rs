//! Guesses human bones by the hierarchy and the positions of joints.

use std::collections::BTreeMap;

use glam::{DMat3, DQuat, DVec3};
use sinew::math;

use crate::retarget::{Bone, Rig};

/// The largest number of leaf joints. Skeletons with more are not simple bodies, and all pairs of
/// leaves are compared.
const MOST_ENDS: usize = 256;

/// Guesses the main bones. The hands are the two leaf joints that are farthest apart to the sides,
/// the feet the two lowest ones that branch off the trunk separately, and the head is the highest
/// of the others.
pub(in super::super) fn by_shape(rig: &Rig) -> BTreeMap<Bone, usize> {
    find(rig).unwrap_or_default()
}

/// The positions of the joints in the bind pose, with Y up, in the units of the stage.
fn upright(rig: &Rig) -> Vec<DVec3> {
    let placement = rig.placement();
    let up = placement.up.normalize_or(DVec3::Y);
    let turn = DQuat::from_rotation_arc(up, DVec3::Y);
    // A skeleton that is turned but not mirrored: a singular placement says nothing.
    let world = DMat3::from_mat4(placement.world_from_skel);
    let world = DMat3::from_quat(math::nearest_rotation(world).unwrap_or_default());
    let at = rig.bind_skel().iter();
    at.map(|m| turn * (world * m.w_axis.truncate())).collect()
}

fn find(rig: &Rig) -> Option<BTreeMap<Bone, usize>> {
    let at = upright(rig);
    let mut is_end = vec![true; rig.len()];
    for parent in rig.parents().iter().flatten() {
        is_end[*parent] = false;
    }
    let ends: Vec<usize> = (0..rig.len()).filter(|j| is_end[*j]).collect();
    if ends.len() < 4 || ends.len() > MOST_ENDS {
        return None;
    }
    let flat = |v: DVec3| DVec3::new(v.x, 0.0, v.z);
    let apart = |(a, b): &(usize, usize)| flat(at[*a] - at[*b]).length();
    let pairs = ends.iter().enumerate();
    let pairs = pairs.flat_map(|(i, a)| ends[i + 1..].iter().map(|b| (*a, *b)));
    let hands = pairs.max_by(|a, b| apart(a).total_cmp(&apart(b)))?;
    let chest = shared(rig, hands.0, hands.1)?;
    let side = flat(at[hands.0] - at[hands.1]).try_normalize()?;

    let mut low: Vec<usize> = ends
        .iter()
        .copied()
        .filter(|e| *e != hands.0 && *e != hands.1)
        .collect();
    low.sort_by(|a, b| at[*a].y.total_cmp(&at[*b].y));
    let first = *low.first()?;
    let middle = (at[hands.0] + at[hands.1]) * 0.5;
    let is_on = |j: usize| (at[j] - middle).dot(side) > 0.0;
    let second = low.iter().copied().find(|e| is_on(*e) != is_on(first))?;
    let hips = shared(rig, first, second)?;
    let head = low
        .iter()
        .rev()
        .copied()
        .find(|e| rig.chain(*e).any(|j| j == chest));

    // Feet point forward, and left is to the left of that.
    let toes =
        [first, second].map(|f| rig.parents()[f].map_or(DVec3::ZERO, |p| flat(at[f] - at[p])));
    let forward = (toes[0] + toes[1]).try_normalize().unwrap_or(DVec3::Z);
    let left = DVec3::Y.cross(forward);
    let is_left = |a: usize, b: usize| (at[a] - at[b]).dot(left) > 0.0;

    let mut out = BTreeMap::from([(Bone::Hips, hips)]);
    let trunk = path(rig, hips, chest);
    out.extend([Bone::Spine, Bone::Chest].into_iter().zip(trunk));
    out.extend(head.map(|head| (Bone::Head, head)));
    for (one, other) in [hands, (hands.1, hands.0)] {
        let arm = path(rig, chest, one);
        let bones = match is_left(one, other) {
            true => [
                Bone::LeftShoulder,
                Bone::LeftUpperArm,
                Bone::LeftLowerArm,
                Bone::LeftHand,
            ],
            false => [
                Bone::RightShoulder,
                Bone::RightUpperArm,
                Bone::RightLowerArm,
                Bone::RightHand,
            ],
        };
        // Short arms have no shoulder.
        let from = usize::from(arm.len() < bones.len());
        out.extend(bones[from..].iter().copied().zip(arm));
    }
    for (one, other) in [(first, second), (second, first)] {
        let bones = match is_left(one, other) {
            true => [
                Bone::LeftUpperLeg,
                Bone::LeftLowerLeg,
                Bone::LeftFoot,
                Bone::LeftToes,
            ],
            false => [
                Bone::RightUpperLeg,
                Bone::RightLowerLeg,
                Bone::RightFoot,
                Bone::RightToes,
            ],
        };
        out.extend(bones.into_iter().zip(path(rig, hips, one)));
    }
    // A joint cannot be two bones.
    let mut joints: Vec<usize> = out.values().copied().collect();
    joints.sort_unstable();
    joints.dedup();
    (joints.len() == out.len()).then_some(out)
}

/// The lowest joint above both.
fn shared(rig: &Rig, a: usize, b: usize) -> Option<usize> {
    let above: std::collections::HashSet<usize> = rig.chain(a).collect();
    rig.chain(b).find(|j| above.contains(j))
}

/// The joints below `from` on the path to `to`, including `to`; empty if `to` is not below `from`.
fn path(rig: &Rig, from: usize, to: usize) -> Vec<usize> {
    let mut out: Vec<usize> = rig.chain(to).take_while(|j| *j != from).collect();
    if !rig.chain(to).any(|j| j == from) {
        return Vec::new();
    }
    out.reverse();
    out
}
