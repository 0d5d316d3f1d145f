//! Characterises a rig: which pose it is measured on, where its body stands, and its landmarks.
//!
//! A joint's own axes mean nothing here. Directions are measured between joints in the world and
//! expressed in the frame of a joint, where they are constant because bones are rigid. So rigs
//! whose zero pose lies along their bones, and rigs in other spaces and units, are alike.

mod axes;
mod landmarks;
mod view;

use std::f64::consts::FRAC_PI_2;

use glam::{DMat4, DQuat, DVec2, DVec3};
use serde::Serialize;

use super::{Bone, RetargetPose, Rig};
pub(super) use axes::found_up;
pub(super) use landmarks::{Landmark, Landmarks};
use landmarks::{Over, landmarks};
use sinew::math;
use view::foot_joints;
pub(super) use view::{ARMS, Bones, FEET, LEGS, Pose, View, percentile};

/// A direction within 20 degrees of an axis means the axis.
const AXIS: f64 = 0.94;

/// A body that faces within this angle, in radians, of a quarter turn faces that way.
const QUARTER: f64 = 0.2;

/// The cosine of 45 degrees: a pose in which a bone points further from where it does in the clip, in
/// the frame of its joint, is of another body.
const CONTRADICTED: f64 = 0.7;

/// Legs that are bent alike against the trunk, by the cosines of their angles.
const SAME_BEND: f64 = 1e-3;

/// What a rig was measured on, for reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Measured {
    /// The pose that landmarks are measured on: `bind`, `rest` or `clip`.
    pub reference: &'static str,
    /// The up axis of the file, such as `+Y`.
    pub up: &'static str,
    /// By how much the up axis was found more likely than the next one; `None` if the format or the
    /// user says which it is.
    pub up_margin: Option<f64>,
    /// The height of the ground above the origin of the clip, in metres whatever the unit of the file
    /// is; for the target, the height of the lowest joint of the feet when it stands.
    pub ground: f64,
    /// The length of thigh and shin in metres, if it has whole legs.
    pub leg: Option<f64>,
    /// Bones of arms and legs that are measured on the clip and hardly bend there, or in all ways:
    /// how they are turned about their length is taken from where the body faces. None on a bind or
    /// rest pose.
    pub unsure: Vec<Bone>,
}

impl Measured {
    pub(super) fn new(rig: &Rig, body: &Body, unsure: Vec<Bone>) -> Self {
        let axes = ["+X", "-X", "+Y", "-Y", "+Z", "-Z"];
        let up = rig.placement().up;
        let parts = [up.x, -up.x, up.y, -up.y, up.z, -up.z];
        let nearest = axes.iter().zip(parts).max_by(|a, b| a.1.total_cmp(&b.1));
        Self {
            reference: match body.reference {
                RetargetPose::Rest => "rest",
                RetargetPose::Clip => "clip",
                RetargetPose::Auto | RetargetPose::Bind => "bind",
            },
            up: nearest.map_or("+Y", |(axis, _)| axis),
            up_margin: rig.up_margin(),
            ground: 0.0,
            leg: body.leg,
            unsure,
        }
    }
}

/// Where a body stands, in the common space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    /// The height of the lowest joint of the feet.
    pub foot: Option<f64>,
    /// Whether the feet are near the origin's height.
    pub is_on_origin: bool,
    pub hips: Option<DVec3>,
    /// Whether the body stands there.
    pub stands: bool,
    /// Whether it stands in the space of a clip. Otherwise it stands in the file's transforms without
    /// the placement of the skeleton.
    pub in_clip: bool,
}

/// A rig with its body.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub bones: Bones,
    /// Bind, rest or clip.
    pub reference: RetargetPose,
    /// The reference pose, upright and facing +Z in metres; the zero pose for a clip.
    pub pose: Pose,
    /// The angle about the vertical, in radians, by which the body is turned from +Z in the common
    /// space; 0 if that is not known.
    pub heading: f64,
    pub spot: Spot,
    pub leg: Option<f64>,
    /// Feet, toes and all joints below them.
    pub feet: Vec<usize>,
    /// The poses of the clip in the common space.
    pub samples: Vec<Pose>,
    /// Whether thighs, or upper arms, and a trunk are known.
    pub is_body: bool,
    /// Whether neither the bind pose nor the rest pose stands with the bones of the clip.
    pub is_never_standing: bool,
}

impl Body {
    /// Characterises a rig. `common_from_world` brings its world to metres with Y up.
    pub fn new(rig: &Rig, common_from_world: DMat4, bones: Bones, asked: RetargetPose) -> Self {
        // Each pose as the skeleton is placed, and as if it was not.
        let spaces = [
            common_from_world * rig.placement().world_from_skel,
            common_from_world,
        ];
        let [bind, rest] = [rig.bind_skel(), rig.rest_skel()]
            .map(|skel| spaces.map(|space| Pose::new(rig, &moved(space, skel))));
        let samples = rig.samples();
        let samples = samples.map(|world| Pose::new(rig, &moved(common_from_world, &world)));
        let samples: Vec<Pose> = samples.collect();
        let view = |pose| View {
            bones: &bones,
            pose,
        };
        let shows_body = |pose| view(pose).trunk().is_some() && view(pose).across().is_some();
        let is_body = shows_body(&bind[0]) || shows_body(&rest[0]);
        let is_rigid = is_rigid(rig);
        // A joint between two bones may turn by itself all the time: then the clip has another body.
        let rigid: Vec<_> = samples.iter().map(|pose| view(pose).rigid()).collect();
        let is_of_clip = |pose| {
            let own = view(pose).rigid().into_iter().enumerate();
            let sums = own.map(|(i, way)| (way, rigid.iter().filter_map(|all| all[i]).sum()));
            let mut ways = sums.filter_map(|(way, sum): (_, DVec3)| Some((way?, sum)));
            ways.all(|(way, sum)| way.dot(sum) >= CONTRADICTED * sum.length())
        };
        let stands = |pose| view(pose).stands() && is_of_clip(pose);
        let rest_stands = stands(&rest[0]);
        let bind_stands = stands(&bind[0]) && is_rigid;
        // In a space of its own a bind pose does not know where up is. The same pose at rest does.
        let bends = |pose| {
            let view = view(pose);
            let bend =
                |[upper, lower, _]: [Bone; 3]| Some(view.way(upper, lower)?.dot(view.trunk()?));
            DVec2::from(LEGS.map(|leg| bend(leg).unwrap_or(0.0)))
        };
        let is_lost = with_up(&bones, &bind, own_axes(rig, rig.bind()))
            .1
            .is_none();
        let is_same = rest_stands && bends(&bind[0]).distance(bends(&rest[0])) < SAME_BEND;
        let is_bind = bind_stands && !(is_lost && is_same);
        let reference = match asked {
            RetargetPose::Auto if !is_body || is_bind => RetargetPose::Bind,
            RetargetPose::Auto if rest_stands => RetargetPose::Rest,
            RetargetPose::Auto | RetargetPose::Clip if is_body => RetargetPose::Clip,
            RetargetPose::Auto | RetargetPose::Clip => RetargetPose::Bind,
            asked => asked,
        };
        let chosen = match reference {
            RetargetPose::Rest => &rest,
            _ => &bind,
        };
        let feet = foot_joints(rig, &bones);
        let legs: Vec<f64> = samples.iter().filter_map(|pose| view(pose).leg()).collect();
        let leg = match legs.is_empty() {
            // The rest pose is in the unit of the clip.
            true => [&rest[0], &bind[0]].into_iter().find_map(|p| view(p).leg()),
            false => Some(percentile(&legs, 0.5)),
        };
        // Where it stands: in the reference pose if that is in the space of the clip, as the rest pose
        // is, or else in the other pose, or as the transforms are without the placement. A bind pose
        // is in it that is as large as the rest pose and, on average, not further off than a leg.
        let offs = bind[0].at.iter().zip(&rest[0].at);
        let off: f64 = offs.map(|(bind, rest)| bind.distance(*rest)).sum();
        let legs = [&bind, &rest].map(|pose| view(&pose[0]).leg());
        let is_near = legs[0].zip(legs[1]).is_none_or(|(bind, rest)| {
            (0.8..1.25).contains(&(bind / rest)) && off < rest * rig.len() as f64
        });
        let is_known = is_near && (is_rigid || reference != RetargetPose::Rest);
        let spots = match (is_known, reference) {
            (false, _) => vec![&rest],
            (true, RetargetPose::Rest) => vec![&rest, &bind],
            (true, _) => vec![&bind, &rest],
        };
        let places = [(0, true), (1, false)];
        let spots = places
            .iter()
            .flat_map(|(i, in_clip)| spots.iter().map(|p| (&p[*i], *in_clip)));
        let is_upright = |pose| view(pose).trunk().is_some_and(|t| t.y > 0.9);
        let mut spots = spots.filter(|_| reference != RetargetPose::Clip);
        let standing = spots.find(|(pose, _)| view(pose).stands() && is_upright(pose));
        let (stood, in_clip) = standing.unwrap_or((&rest[0], false));
        let foot = stood.lowest(&feet);
        let near = |y: f64| leg.is_some_and(|leg| (-0.15 * leg..0.8 * leg).contains(&y));
        let spot = Spot {
            foot,
            is_on_origin: foot.is_some_and(near),
            hips: bones.get(&Bone::Hips).map(|j| stood.at[*j]),
            stands: standing.is_some(),
            in_clip,
        };
        let file = match reference {
            RetargetPose::Rest => rig.rest_skel(),
            _ => rig.bind(),
        };
        let (own, up) = with_up(&bones, chosen, own_axes(rig, file));
        let turn = upright(&view(&own), up).filter(|_| is_body);
        let pose = turn.map_or_else(|| own.clone(), |turn| own.turned(turn));
        Self {
            reference,
            pose,
            heading: standing.map_or(0.0, |(pose, _)| heading(&view(pose))),
            spot,
            leg,
            feet,
            samples,
            is_body,
            is_never_standing: !(rest_stands || bind_stands),
            bones,
        }
    }

    /// The landmarks, and the limbs whose bend no pose shows. `as_in_clip` is set if those of the
    /// other side are from a clip.
    pub fn landmarks(&self, rig: &Rig, as_in_clip: bool) -> (Landmarks, Vec<Bone>) {
        let zero = std::slice::from_ref(&self.pose);
        let poses = match self.samples.is_empty() {
            true => zero,
            false => &self.samples,
        };
        let over = match self.reference {
            RetargetPose::Clip => Over::Clip(poses, &self.pose),
            _ => Over::Reference(&self.pose, as_in_clip),
        };
        let (mut found, unsure) = landmarks(rig, &self.bones, over);
        if !self.is_body {
            // Limbs still point as the other side's do; their rolls stay.
            found.retain(|bone, _| bone.is_limb());
            found.values_mut().for_each(Landmark::forget_roll);
        }
        (found, unsure)
    }

    /// The 5th percentile over the clip of the height of the lowest foot joint, and all heights.
    pub fn heights(&self) -> Option<(f64, Vec<f64>)> {
        let lowest = self.samples.iter().map(|pose| pose.lowest(&self.feet));
        let lowest: Vec<f64> = lowest.collect::<Option<_>>()?;
        (!lowest.is_empty()).then(|| (percentile(&lowest, 0.05), lowest))
    }
}

/// Transforms in another space.
fn moved(space: DMat4, transforms: &[DMat4]) -> Vec<DMat4> {
    transforms.iter().map(|m| space * *m).collect()
}

/// A pose as its transforms are in the file, in metres.
fn own_axes(rig: &Rig, transforms: &[DMat4]) -> Pose {
    let metres = DMat4::from_scale(DVec3::splat(rig.placement().meters_per_unit));
    Pose::new(rig, &moved(metres, transforms))
}

/// Of a pose in several spaces the one whose up is known, and its up: Y if the body is along it, or
/// else an axis of the file that it is along. The first one if there is none.
fn with_up(bones: &Bones, poses: &[Pose; 2], file: Pose) -> (Pose, Option<DVec3>) {
    let axis = |pose: &Pose| axis_of(&View { bones, pose });
    if let Some(pose) = poses.iter().find(|pose| axis(pose) == Some(DVec3::Y)) {
        return (pose.clone(), Some(DVec3::Y));
    }
    match axis(&file) {
        Some(axis) => (file, Some(axis)),
        None => (poses[0].clone(), None),
    }
}

/// The angle about the vertical by which an upright body is turned from +Z.
fn heading(view: &View<'_>) -> f64 {
    let front = view.front().unwrap_or(DVec3::Z);
    near_quarter(front.x.atan2(front.z))
}

/// The axis that a trunk is nearly along: trunks lean.
fn axis_of(view: &View<'_>) -> Option<DVec3> {
    let trunk = view.trunk()?;
    let axes = [DVec3::Y, DVec3::X, DVec3::Z];
    let both = axes.into_iter().flat_map(|axis| [axis, -axis]);
    both.into_iter().find(|axis| axis.dot(trunk) > AXIS)
}

/// The rotation that sets a body upright, facing +Z. Its up direction is an axis, or else that of the
/// trunk.
fn upright(view: &View<'_>, axis: Option<DVec3>) -> Option<DQuat> {
    let up = DQuat::from_rotation_arc(axis.or_else(|| view.trunk())?, DVec3::Y);
    let front = up * view.front()?;
    let angle = match axis {
        Some(_) => near_quarter(front.x.atan2(front.z)),
        None => front.x.atan2(front.z),
    };
    Some((DQuat::from_rotation_y(-angle) * up).normalize())
}

/// An angle, or the quarter turn that it is near.
fn near_quarter(angle: f64) -> f64 {
    let quarter = (angle / FRAC_PI_2).round() * FRAC_PI_2;
    match (angle - quarter).abs() < QUARTER {
        true => quarter,
        false => angle,
    }
}

/// Whether bind and rest pose have the same bones: where a joint is, seen from the one above, is as
/// rigid as the bone. Bind transforms of another rig, or of none, differ.
fn is_rigid(rig: &Rig) -> bool {
    let (mut same, mut count) = (0, 0);
    for (j, parent) in rig.parents().iter().enumerate() {
        let Some(inverse) = parent.and_then(|p| math::try_inverse(rig.bind()[p])) else {
            continue;
        };
        let bind = (inverse * rig.bind()[j]).w_axis.truncate();
        let ways = bind
            .try_normalize()
            .zip(rig.rest()[j].translation.try_normalize());
        if let Some((bind, rest)) = ways {
            count += 1;
            same += usize::from(bind.dot(rest) > 0.94);
        }
    }
    count > 0 && same * 2 >= count
}
