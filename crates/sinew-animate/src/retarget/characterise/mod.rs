//! Characterises a rig: which pose it is measured on, where its body stands, and its landmarks.
//!
//! A joint's own axes mean nothing here. Directions are measured between joints in the world and
//! expressed in the frame of a joint, where they are constant because bones are rigid. So rigs
//! whose zero pose lies along their bones, and rigs in other spaces and units, are alike.

mod axes;
mod landmarks;
mod view;

use std::f64::consts::FRAC_PI_2;

use glam::{DMat4, DQuat, DVec3};
use serde::Serialize;

use super::{Bone, RetargetPose, Rig};
pub(super) use axes::found_axes;
pub use axes::likely_unit;
pub(super) use landmarks::{Landmark, Landmarks};
use landmarks::{Over, landmarks};
use sinew::math;
pub(super) use view::{Bones, Pose, percentile};
use view::{View, foot_joints};

/// A direction within 20 degrees of an axis means the axis.
const AXIS: f64 = 0.94;

/// A body that faces within this angle, in radians, of a quarter turn faces that way.
const QUARTER: f64 = 0.2;

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
    /// The height of the ground in metres; for the target, where its feet stand.
    pub ground: f64,
    /// The length of thigh and shin in metres, if it has whole legs.
    pub leg: Option<f64>,
    /// Limbs about whose bend neither a pose nor the clip says much.
    pub unsure: Vec<Bone>,
}

impl Measured {
    pub(super) fn new(rig: &Rig, body: &Body) -> Self {
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
            up_margin: None,
            ground: 0.0,
            leg: body.leg,
            unsure: Vec::new(),
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
    /// Whether neither the bind pose nor the rest pose stands.
    pub is_never_standing: bool,
}

/// A pose of a rig in two spaces: as the skeleton is placed, and as if it was not.
struct Versions {
    placed: Pose,
    plain: Pose,
}

impl Body {
    /// Characterises a rig. `common_from_world` brings its world to metres with Y up.
    pub fn new(rig: &Rig, common_from_world: DMat4, bones: Bones, asked: RetargetPose) -> Self {
        let placed = common_from_world * rig.placement().world_from_skel;
        let versions = |skel: &[DMat4]| {
            let of = |m: DMat4| Pose::new(rig, &skel.iter().map(|j| m * *j).collect::<Vec<_>>());
            Versions {
                placed: of(placed),
                plain: of(common_from_world),
            }
        };
        let (bind, rest) = (versions(rig.bind_skel()), versions(rig.rest_skel()));
        let samples: Vec<Pose> = rig
            .samples()
            .map(|world| {
                let common: Vec<DMat4> = world.iter().map(|m| common_from_world * *m).collect();
                Pose::new(rig, &common)
            })
            .collect();
        fn view<'a>(bones: &'a Bones, pose: &'a Pose) -> View<'a> {
            View { bones, pose }
        }
        let shows_body = |v: &Versions| {
            let view = view(&bones, &v.placed);
            view.trunk().is_some() && view.across().is_some()
        };
        let is_body = shows_body(&bind) || shows_body(&rest);
        let is_rigid = is_rigid(rig);
        let stands = |v: &Versions| view(&bones, &v.placed).stands();
        let reference = match asked {
            RetargetPose::Auto if !is_body || stands(&bind) && is_rigid => RetargetPose::Bind,
            RetargetPose::Auto if stands(&rest) => RetargetPose::Rest,
            RetargetPose::Auto | RetargetPose::Clip if is_body => RetargetPose::Clip,
            RetargetPose::Auto | RetargetPose::Clip => RetargetPose::Bind,
            asked => asked,
        };
        let is_never_standing = !(stands(&rest) || stands(&bind) && is_rigid);
        let chosen = match reference {
            RetargetPose::Rest => &rest,
            _ => &bind,
        };
        let is_upright = |pose: &Pose| view(&bones, pose).trunk().is_some_and(|t| t.y > 0.9);
        let is_clip = reference == RetargetPose::Clip;
        // Where it stands: in the reference pose if that is in the space of the clip, or else in the
        // other pose, or as the transforms are without the placement.
        let other = match reference {
            RetargetPose::Rest => &bind,
            _ => &rest,
        };
        let mut spots = vec![(&chosen.placed, true), (&other.placed, true)];
        spots.extend([(&chosen.plain, false), (&other.plain, false)]);
        if !is_rigid && reference == RetargetPose::Rest {
            spots.retain(|(pose, _)| {
                [&rest.placed, &rest.plain]
                    .iter()
                    .any(|r| std::ptr::eq(*r, *pose))
            });
        }
        let feet = foot_joints(rig, &bones);
        let leg = match samples.is_empty() {
            true => view(&bones, &chosen.placed).leg(),
            false => {
                let legs = samples.iter().filter_map(|pose| view(&bones, pose).leg());
                let legs: Vec<f64> = legs.collect();
                (!legs.is_empty()).then(|| percentile(&legs, 0.5))
            }
        };
        let standing = spots
            .into_iter()
            .find(|(pose, _)| !is_clip && view(&bones, pose).stands() && is_upright(pose));
        let (stood, in_clip) = match standing {
            Some((pose, in_clip)) => (pose, in_clip),
            None => (&rest.placed, false),
        };
        let foot = stood.lowest(&feet);
        let near = |y: f64| leg.is_some_and(|leg| (-0.15 * leg..0.8 * leg).contains(&y));
        let spot = Spot {
            foot,
            is_on_origin: foot.is_some_and(near),
            hips: bones.get(&Bone::Hips).map(|j| stood.at[*j]),
            stands: standing.is_some(),
            in_clip,
        };
        let heading = match standing {
            Some((pose, _)) => heading(&view(&bones, pose)),
            None => 0.0,
        };
        // Up is an axis of the space that the transforms are in, or else along the trunk.
        let is_sure = reference == RetargetPose::Rest || rig.bind_space_is_sure();
        let spaces = [&chosen.placed, &chosen.plain];
        let along = |is_up: bool| {
            let axis =
                |p| axis_of(&view(&bones, p)).filter(|a| is_sure && (!is_up || *a == DVec3::Y));
            spaces.into_iter().find_map(|p| Some((p, axis(p)?)))
        };
        let near = along(true).or_else(|| along(false));
        let (own, up) = near.map_or((&chosen.placed, None), |(p, axis)| (p, Some(axis)));
        let pose = match upright(&view(&bones, own), up).filter(|_| is_body) {
            Some(turn) => own.turned(turn),
            None => own.clone(),
        };
        Self {
            reference,
            pose,
            heading,
            spot,
            leg,
            feet,
            samples,
            is_body,
            is_never_standing,
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
