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
    /// Set if the rotation of the placement does not apply to the rest and bind transforms: the
    /// transform of rest transforms to skeleton space.
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
    /// How much each of them counts: see [`weights`].
    pub weights: &'a [f64],
    pub hips: Option<usize>,
}

/// How much joints count when two poses are compared: half as much as the nearest one above them,
/// because they turn with all joints above them.
pub(super) fn weights(rig: &Rig, joints: &[usize]) -> Vec<f64> {
    let mut depth = vec![0; rig.len()];
    for j in joints {
        depth[*j] = 1;
    }
    for (j, parent) in rig.parents().iter().enumerate() {
        depth[j] += parent.map_or(0, |p| depth[p]);
    }
    joints.iter().map(|j| f64::powi(0.5, depth[*j])).collect()
}

/// All stances of a rig in these poses: the bind pose in skeleton space, then in other spaces, then
/// the rest pose. Stances that equal an earlier one are left out.
///
/// A placement that tilts the rig may belong to the animation alone, or may have laid the character
/// down. So with `may_be_laid` each stance follows a second time without the tilt.
pub(super) fn stances(
    rig: &Rig,
    joints: &Joints<'_>,
    poses: &[Pose],
    may_be_laid: bool,
) -> Vec<Stance> {
    let rest = linear(rig.rest_skel());
    let bind = linear(rig.bind());
    let world = rig.placement().world_from_skel;
    let world_turn = turn(&DMat3::from_mat4(world));
    let stance = |pose, space, turn: DQuat| {
        let turned = DMat3::from_quat(turn);
        let from = if pose == Pose::Bind { &bind } else { &rest };
        let linear: Vec<DMat3> = from.iter().map(|m| turned * *m).collect();
        let (off_rest, agreeing) = compare(&linear, &rest, joints);
        Stance {
            pose,
            space,
            positions: None,
            turn,
            linear,
            skel_from_rest: None,
            off_rest,
            agreeing,
        }
    };
    let mut all = Vec::new();
    if poses.contains(&Pose::Bind) {
        let mut own = stance(Pose::Bind, Space::Skeleton, DQuat::IDENTITY);
        let is_sized = has_lengths_of_rest(rig, joints.paired, 1.0);
        own.positions = is_sized.then(|| positions(rig.bind()));
        all.push(own);
        if let (Some(turned), Some(skel_from_world)) = (world_turn, math::try_inverse(world)) {
            let mut own = stance(Pose::Bind, Space::World, turned.inverse());
            let size = DMat3::from_mat4(world).determinant().abs().cbrt();
            own.positions = has_lengths_of_rest(rig, joints.paired, size).then(|| {
                let at = positions(rig.bind()).into_iter();
                at.map(|p| skel_from_world.transform_point3(p)).collect()
            });
            all.push(own);
        }
        for shared in shared_turns(&rest, &bind, rig, joints) {
            all.push(stance(Pose::Bind, Space::Turned, shared));
        }
    }
    if poses.contains(&Pose::Rest) {
        all.push(stance(Pose::Rest, Space::Skeleton, DQuat::IDENTITY));
    }
    let up = rig.placement().up;
    let tilt = world_turn.filter(|w| may_be_laid && (*w * up).angle_between(up) > NO_TILT);
    if let Some(turn) = tilt {
        let moved = skel_from_rest(rig, joints.hips, turn.inverse());
        let laid: Vec<Stance> = all.iter().map(|s| s.without(turn, moved)).collect();
        all.extend(laid);
    }
    let mut out: Vec<Stance> = Vec::with_capacity(all.len());
    for stance in all {
        let equal = |other: &&mut Stance| other.equals(&stance, joints.paired);
        match out.iter_mut().find(equal) {
            Some(known) if known.positions.is_none() => known.positions = stance.positions,
            Some(_) => {}
            None => out.push(stance),
        }
    }
    out
}

/// The bind transforms in the space that brings them nearest to the rest pose.
pub(super) fn bind_near_rest(rig: &Rig) -> Vec<DMat4> {
    let all: Vec<usize> = (0..rig.len()).collect();
    let joints = Joints {
        paired: &all,
        weights: &vec![1.0; all.len()],
        hips: None,
    };
    let stances = stances(rig, &joints, &[Pose::Bind], false);
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
    /// This stance without the rotation of the placement.
    fn without(&self, placed: DQuat, skel_from_rest: DMat4) -> Self {
        let turn = DMat3::from_quat(placed.inverse());
        Self {
            turn: placed.inverse() * self.turn,
            linear: self.linear.iter().map(|m| turn * *m).collect(),
            positions: None,
            skel_from_rest: Some(skel_from_rest),
            ..*self
        }
    }

    fn equals(&self, other: &Self, joints: &[usize]) -> bool {
        let mut joints = joints.iter();
        self.skel_from_rest.is_some() == other.skel_from_rest.is_some()
            && joints.all(
                |j| match (turn(&self.linear[*j]), turn(&other.linear[*j])) {
                    (Some(a), Some(b)) => a.dot(b).abs() > SAME_TURN,
                    (a, b) => a.is_none() && b.is_none(),
                },
            )
    }

    /// This stance, rotated in skeleton space.
    pub fn fitted(&self, rig: &Rig, joints: &Joints<'_>, turn: DQuat) -> Self {
        let rest = linear(rig.rest_skel());
        let turned = DMat3::from_quat(turn);
        let linear: Vec<DMat3> = self.linear.iter().map(|m| turned * *m).collect();
        // The rest transforms without the tilt, if it does not apply.
        let placed = DMat3::from_mat4(rig.placement().world_from_skel);
        let upright = self
            .skel_from_rest
            .and_then(|_| math::nearest_rotation(placed));
        let upright = DMat3::from_quat(upright.unwrap_or_default().inverse());
        let rest: Vec<DMat3> = rest.iter().map(|m| upright * *m).collect();
        let (off_rest, agreeing) = compare(&linear, &rest, joints);
        Self {
            pose: self.pose,
            space: Space::Fitted,
            turn: turn * self.turn,
            linear,
            positions: None,
            skel_from_rest: self.skel_from_rest,
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
fn compare(pose: &[DMat3], rest: &[DMat3], joints: &Joints<'_>) -> (f64, f64) {
    let (mut sum, mut weights) = (0.0, 0.0);
    let (mut agreeing, mut count) = (0, 0);
    for (j, weight) in joints.paired.iter().zip(joints.weights) {
        if let (Some(a), Some(b)) = (turn(&pose[*j]), turn(&rest[*j])) {
            sum += weight * a.angle_between(b).to_degrees();
            weights += weight;
            agreeing += u32::from(a.dot(b).abs() > SAME_TURN);
            count += 1;
        }
    }
    match count {
        0 => (0.0, 0.0),
        _ => (sum / weights, f64::from(agreeing) / f64::from(count)),
    }
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
            // With so many candidates no rotation is shared by many.
            None if turns.len() < 64 => turns.push((turn, 1)),
            None => {}
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

/// The transform to skeleton space of rest transforms to which the rotation of the placement does
/// not apply; `upright` is its inverse. Either the placement laid the character down where it
/// stands, or the rest transforms are in world space and the animation undoes the placement. The
/// example pose tells which; without one it is the first.
fn skel_from_rest(rig: &Rig, hips: Option<usize>, upright: DQuat) -> DMat4 {
    let world = rig.placement().world_from_skel;
    let upright = DMat4::from_quat(upright);
    let inverse = math::try_inverse(world);
    let (Some(example), Some(hips), Some(inverse)) = (rig.example(), hips, inverse) else {
        return upright;
    };
    let up = rig.placement().up;
    let at = |m: DMat4| m.w_axis.truncate().reject_from_normalized(up);
    let posed = at(world * example[hips]);
    let rest = rig.rest_skel()[hips];
    match posed.distance(at(rest)) < posed.distance(at(world * upright * rest)) {
        true => inverse,
        false => upright,
    }
}
