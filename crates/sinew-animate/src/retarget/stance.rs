//! The stances of a rig: the poses that its rotations may be measured from, with the spaces that
//! its bind transforms may be in.
//!
//! UsdSkel asks for bind transforms in world space. Many files have them in skeleton space or in
//! the space of a mesh, and some have rest transforms in world space too. A rig without evidence
//! for one of these has several stances, and [`super::choice`] chooses among them.

use glam::{DMat3, DMat4, DQuat, DVec3};

use super::Rig;
use sinew::math;

/// Two rotations are the same if the cosine of half the angle between them is larger. The angle is
/// 1e-4 rad.
const SAME_TURN: f64 = 1.0 - 1.25e-9;

/// A transform that tilts the up axis by less than this, in radians, does not lay a character down.
const NO_TILT: f64 = 0.1;

/// Bone lengths are the same in bind and rest pose if they differ by less than this share.
const SAME_LENGTH: f64 = 1e-2;

/// The pose of a stance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pose {
    Bind,
    Rest,
}

/// The space that the transforms of a stance are taken to be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Skeleton,
    World,
    /// Skeleton space after a rotation that joints share exactly between bind and rest pose.
    Turned,
    /// Skeleton space after the rotation that fits the other rig's stance best.
    Fitted,
}

/// A pose that the rotations of a rig may be measured from.
#[derive(Clone, Debug)]
pub(super) struct Stance {
    pub pose: Pose,
    pub space: Space,
    /// The rotation to skeleton space that was applied to the file's transforms.
    pub turn: DQuat,
    /// The linear parts of skel_from_joint.
    pub linear: Vec<DMat3>,
    /// Positions of the joints in skeleton space, if the space they are in is known and the bones
    /// are as long as at rest.
    pub positions: Option<Vec<DVec3>>,
    /// Set if the rest transforms are in another space too: the transform to skeleton space.
    pub skel_from_rest: Option<DMat4>,
    /// Mean angle between the joints of the stance and of the rest pose, in degrees.
    pub off_rest: f64,
    /// Share of the joints whose rotations are those of the rest pose.
    pub agreeing: f64,
}

/// Joints of a rig that the choice of a stance looks at.
pub(super) struct Joints<'a> {
    /// Joints that have a partner on the other side.
    pub paired: &'a [usize],
    pub hips: Option<usize>,
}

/// All stances of a rig in these poses. The bind pose in skeleton space, then in other spaces, then
/// the rest pose. Stances that equal an earlier one are left out.
pub(super) fn stances(rig: &Rig, joints: &Joints<'_>, poses: &[Pose]) -> Vec<Stance> {
    let rest: Vec<DMat3> = linear(rig.rest_skel());
    let world = rig.placement().world_from_skel;
    let world_turn = turn(&DMat3::from_mat4(world));
    let up = rig.placement().up;
    let is_tilted = world_turn.is_some_and(|w| (w * up).angle_between(up) > NO_TILT);
    let mut out: Vec<Stance> = Vec::new();
    let mut add = |stance: Stance| {
        let same = |other: &Stance| {
            let mut pairs = joints.paired.iter();
            other.skel_from_rest.is_some() == stance.skel_from_rest.is_some()
                && pairs.all(
                    |j| match (turn(&other.linear[*j]), turn(&stance.linear[*j])) {
                        (Some(a), Some(b)) => a.dot(b).abs() > SAME_TURN,
                        (a, b) => a.is_none() && b.is_none(),
                    },
                )
        };
        if !out.iter().any(same) {
            out.push(stance);
        }
    };
    let stance = |pose, space, turn: DQuat, from: &[DMat3], skel_from_rest: Option<DMat4>| {
        let turned = DMat3::from_quat(turn);
        let linear: Vec<DMat3> = from.iter().map(|m| turned * *m).collect();
        let moved = skel_from_rest.map_or(DMat3::IDENTITY, DMat3::from_mat4);
        let (off_rest, agreeing) = compare(&linear, |j| moved * rest[j], joints.paired);
        Stance {
            pose,
            space,
            positions: None,
            turn,
            linear,
            skel_from_rest,
            off_rest,
            agreeing,
        }
    };
    if poses.contains(&Pose::Bind) {
        let bind = linear(rig.bind());
        let is_sized = has_lengths_of_rest(rig, joints.paired, 1.0);
        let mut plain = stance(Pose::Bind, Space::Skeleton, DQuat::IDENTITY, &bind, None);
        plain.positions = is_sized.then(|| positions(rig.bind()));
        let plain_off = plain.off_rest;
        add(plain);
        if let (Some(turned), Some(skel_from_world)) = (world_turn, math::try_inverse(world)) {
            let turned = turned.inverse();
            let mut own = stance(Pose::Bind, Space::World, turned, &bind, None);
            // If the rest pose is nearer to the bind pose as it is, it is in world space too.
            if own.off_rest > plain_off && is_tilted {
                let moved = skel_from_rest_in_world(rig, joints.hips, skel_from_world);
                own = stance(Pose::Bind, Space::World, turned, &bind, Some(moved));
            } else {
                let size = DMat3::from_mat4(world).determinant().abs().cbrt();
                own.positions = has_lengths_of_rest(rig, joints.paired, size).then(|| {
                    let mut at = positions(rig.bind());
                    at.iter_mut()
                        .for_each(|p| *p = skel_from_world.transform_point3(*p));
                    at
                });
            }
            add(own);
        }
        for shared in shared_turns(&rest, &bind, rig, joints) {
            add(stance(Pose::Bind, Space::Turned, shared, &bind, None));
        }
    }
    if poses.contains(&Pose::Rest) {
        let none = DQuat::IDENTITY;
        add(stance(Pose::Rest, Space::Skeleton, none, &rest, None));
        if poses.contains(&Pose::Bind)
            && is_tilted
            && let Some(skel_from_world) = math::try_inverse(world)
        {
            let moved = skel_from_rest_in_world(rig, joints.hips, skel_from_world);
            let turned = turn(&DMat3::from_mat4(moved)).unwrap_or_default();
            add(stance(Pose::Rest, Space::World, turned, &rest, Some(moved)));
        }
    }
    out
}

/// The bind transforms in the space that brings them nearest to the rest pose.
pub(super) fn bind_near_rest(rig: &Rig) -> Vec<DMat4> {
    let all: Vec<usize> = (0..rig.len()).collect();
    let joints = Joints {
        paired: &all,
        hips: None,
    };
    let stances = stances(rig, &joints, &[Pose::Bind]);
    let nearest = stances
        .iter()
        .min_by(|a, b| a.off_rest.total_cmp(&b.off_rest));
    match nearest.filter(|s| s.turn != DQuat::IDENTITY) {
        Some(stance) => {
            let turn = DMat4::from_quat(stance.turn);
            rig.bind().iter().map(|m| turn * *m).collect()
        }
        None => rig.bind().to_vec(),
    }
}

impl Stance {
    /// This stance, rotated in skeleton space.
    pub fn fitted(&self, rig: &Rig, joints: &Joints<'_>, turn: DQuat) -> Self {
        let rest = linear(rig.rest_skel());
        let turned = DMat3::from_quat(turn);
        let linear: Vec<DMat3> = self.linear.iter().map(|m| turned * *m).collect();
        let (off_rest, agreeing) = compare(&linear, |j| rest[j], joints.paired);
        Self {
            pose: self.pose,
            space: Space::Fitted,
            turn: turn * self.turn,
            linear,
            positions: None,
            skel_from_rest: None,
            off_rest,
            agreeing,
        }
    }
}

fn linear(transforms: &[DMat4]) -> Vec<DMat3> {
    transforms.iter().map(|m| DMat3::from_mat4(*m)).collect()
}

fn positions(transforms: &[DMat4]) -> Vec<DVec3> {
    transforms.iter().map(|m| m.w_axis.truncate()).collect()
}

fn turn(m: &DMat3) -> Option<DQuat> {
    math::nearest_rotation(*m)
}

/// Mean angle between two poses in degrees, and the share of joints that agree.
fn compare(pose: &[DMat3], rest: impl Fn(usize) -> DMat3, joints: &[usize]) -> (f64, f64) {
    let (mut sum, mut agreeing, mut count) = (0.0, 0, 0);
    for j in joints {
        if let (Some(a), Some(b)) = (turn(&pose[*j]), turn(&rest(*j))) {
            sum += a.angle_between(b).to_degrees();
            agreeing += usize::from(a.dot(b).abs() > SAME_TURN);
            count += 1;
        }
    }
    let count = f64::from(count.max(1));
    (sum / count, agreeing as f64 / count)
}

/// Whether most bones of the bind pose are as long as at rest, if bind lengths are `size` times as
/// long.
fn has_lengths_of_rest(rig: &Rig, joints: &[usize], size: f64) -> bool {
    let (mut same, mut count) = (0, 0);
    for j in joints {
        let Some(parent) = rig.parents()[*j] else {
            continue;
        };
        let length = |pose: &[DMat4]| (pose[*j].w_axis - pose[parent].w_axis).length();
        let (bind, rest) = (length(rig.bind()), length(rig.rest_skel()) * size);
        count += 1;
        same += usize::from((bind - rest).abs() <= SAME_LENGTH * rest);
    }
    same * 2 > count
}

/// The rotations between bind and rest pose that are evidence for another space: the one that most
/// paired joints share, that of the topmost joint and that of the hips.
fn shared_turns(rest: &[DMat3], bind: &[DMat3], rig: &Rig, joints: &Joints<'_>) -> Vec<DQuat> {
    let between = |j: usize| Some(turn(&rest[j])? * turn(&bind[j])?.inverse());
    let mut turns: Vec<(DQuat, usize)> = Vec::new();
    for j in joints.paired {
        let Some(turn) = between(*j) else { continue };
        match turns
            .iter()
            .position(|(t, _)| t.dot(turn).abs() > SAME_TURN)
        {
            Some(known) => turns[known].1 += 1,
            None => turns.push((turn, 1)),
        }
    }
    let most = turns.iter().max_by_key(|(_, votes)| *votes);
    let most = most.filter(|(_, votes)| *votes > 1).map(|(t, _)| *t);
    let hips = joints.hips.or(joints.paired.first().copied());
    let top = hips.and_then(|h| rig.chain(h).last());
    let mut out: Vec<DQuat> = Vec::new();
    for turn in [most, top.and_then(between), hips.and_then(between)]
        .into_iter()
        .flatten()
    {
        if !out.iter().any(|t| t.dot(turn).abs() > SAME_TURN) {
            out.push(turn);
        }
    }
    out
}

/// The transform to skeleton space of rest transforms that are in world space. The placement of the
/// skeleton has either moved the character since, or is undone by the animation. Its example pose
/// tells which; without one the placement counts.
fn skel_from_rest_in_world(rig: &Rig, hips: Option<usize>, skel_from_world: DMat4) -> DMat4 {
    let world = rig.placement().world_from_skel;
    let turn = turn(&DMat3::from_mat4(world)).unwrap_or_default();
    let upright = DMat4::from_quat(turn.inverse());
    let (Some(example), Some(hips)) = (rig.example(), hips) else {
        return upright;
    };
    let up = rig.placement().up;
    let at = |m: DMat4| (m.w_axis.truncate()).reject_from_normalized(up);
    let posed = at(world * example[hips]);
    let rest = rig.rest_skel()[hips];
    let (moved, undone) = (at(world * upright * rest), at(rest));
    match posed.distance(undone) < posed.distance(moved) {
        true => skel_from_world,
        false => upright,
    }
}
