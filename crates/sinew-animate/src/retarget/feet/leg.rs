//! A leg, and how it reaches for another place of the ankle.

use glam::{DMat3, DMat4, DQuat, DVec3};

use super::tracks::Point;
use crate::retarget::{Bone, Rig};
use sinew::math::{self, Trs};

/// A leg that bends less than this, as the sine of the angle, says little about its knee's axis.
const STRAIGHT: f64 = 0.1;
/// The share of a thigh's length by which an ankle may be off.
const NEAR: f64 = 1e-9;
/// Solving is repeated, because a nearly straight leg has no exact axis of its knee.
const ROUNDS: usize = 3;

/// The joints of a leg, by index.
#[derive(Clone, Copy, Debug)]
pub struct Leg {
    pub upper: usize,
    pub lower: usize,
    pub foot: usize,
    pub toes: Option<usize>,
}

impl Leg {
    /// The left and the right leg; `joint` gives the joint of a bone. A leg whose joints are not
    /// one below the other is left out.
    pub fn of(rig: &Rig, joint: impl Fn(Bone) -> Option<usize>) -> [Option<Self>; 2] {
        use Bone::{LeftFoot, LeftLowerLeg, LeftToes, LeftUpperLeg};
        use Bone::{RightFoot, RightLowerLeg, RightToes, RightUpperLeg};
        let below = |joint: usize, other: usize| rig.chain(joint).skip(1).any(|j| j == other);
        [
            [LeftUpperLeg, LeftLowerLeg, LeftFoot, LeftToes],
            [RightUpperLeg, RightLowerLeg, RightFoot, RightToes],
        ]
        .map(|[upper, lower, foot, toes]| {
            let leg = Self {
                upper: joint(upper)?,
                lower: joint(lower)?,
                foot: joint(foot)?,
                toes: joint(toes),
            };
            let is_chain = below(leg.lower, leg.upper) && below(leg.foot, leg.lower);
            let toes = leg.toes.filter(|toes| below(*toes, leg.foot));
            is_chain.then_some(Self { toes, ..leg })
        })
    }

    /// The points that stand on the ground: without toes only the heel.
    pub fn points(&self) -> impl Iterator<Item = Point> + use<> {
        let count = 1 + usize::from(self.toes.is_some());
        Point::ALL.into_iter().take(count)
    }

    /// The positions of hip, knee and ankle.
    pub fn places(&self, world: &[DMat4]) -> [DVec3; 3] {
        [self.upper, self.lower, self.foot].map(|j| at(&world[j]))
    }

    /// The lengths of thigh and shin.
    pub fn lengths(&self, world: &[DMat4]) -> [f64; 2] {
        let [hip, knee, ankle] = self.places(world);
        [hip.distance(knee), knee.distance(ankle)]
    }

    /// The axis that the knee bends about, times the sine of its bend.
    pub fn bend(&self, world: &[DMat4]) -> DVec3 {
        let [hip, knee, ankle] = self.places(world);
        let direction = |a: DVec3, b: DVec3| (b - a).normalize_or_zero();
        direction(hip, knee).cross(direction(knee, ankle))
    }

    /// Bends the knee and turns the thigh so that the ankle is at `ankle`, as far as the leg
    /// reaches. The foot keeps its rotation in the world. `hinge` is the axis of the knee in the
    /// space of the thigh, for a leg that is straight.
    pub fn reach(&self, rig: &Rig, pose: &mut Pose, ankle: DVec3, hinge: DVec3) {
        if at(&pose.world[self.foot]).distance(ankle) < NEAR * self.lengths(&pose.world)[0] {
            return;
        }
        let kept = turn(&pose.world[self.foot]);
        for _ in 0..ROUNDS {
            self.bend_to(rig, pose, ankle, hinge);
            let [hip, _, now] = self.places(&pose.world);
            let directions = [now - hip, ankle - hip].map(DVec3::try_normalize);
            if let [Some(from), Some(to)] = directions {
                pose.turn(rig, self.upper, DQuat::from_rotation_arc(from, to));
            }
        }
        let now = turn(&pose.world[self.foot]);
        pose.turn(rig, self.foot, kept * now.inverse());
    }

    /// Bends the knee so that the ankle is as far from the hip as `ankle` is.
    fn bend_to(&self, rig: &Rig, pose: &mut Pose, ankle: DVec3, hinge: DVec3) {
        let [hip, knee, now] = self.places(&pose.world);
        let [thigh, shin] = self.lengths(&pose.world);
        let (Some(down), true) = ((knee - hip).try_normalize(), shin > 0.0) else {
            return;
        };
        // The angle between thigh and shin from the law of cosines; 0 for a straight leg.
        let bent = |distance: f64| {
            let cos = (distance * distance - thigh * thigh - shin * shin) / (2.0 * thigh * shin);
            cos.clamp(-1.0, 1.0).acos()
        };
        let more = bent(hip.distance(ankle)) - bent(hip.distance(now));
        let own = self.bend(&pose.world);
        let hinge = turn(&pose.world[self.upper]) * hinge;
        let hinge = (hinge - down * hinge.dot(down)).normalize_or_zero();
        let axis = own + hinge * (STRAIGHT - own.length()).max(0.0);
        if let Some(axis) = axis.try_normalize() {
            pose.turn(rig, self.lower, DQuat::from_axis_angle(axis, more));
        }
    }
}

/// A pose of a rig.
#[derive(Clone)]
pub struct Pose {
    pub local: Vec<Trs>,
    /// metres_from_joint.
    pub world: Vec<DMat4>,
    metres_from_skel: DMat4,
}

impl Pose {
    pub fn new(rig: &Rig, local: Vec<Trs>, metres_from_skel: DMat4) -> Self {
        let mut pose = Self {
            world: vec![DMat4::IDENTITY; local.len()],
            local,
            metres_from_skel,
        };
        pose.update(rig, 0);
        pose
    }

    /// A pose to look at: local transforms may be sheared.
    pub fn from_matrices(rig: &Rig, local: &[DMat4], metres_from_skel: DMat4) -> Self {
        let mut pose = Self {
            world: Vec::with_capacity(local.len()),
            local: local.iter().map(Trs::from_matrix).collect(),
            metres_from_skel,
        };
        for (j, local) in local.iter().enumerate() {
            let world = pose.above(rig, j) * *local;
            pose.world.push(world);
        }
        pose
    }

    /// Places joints anew from `first` on. Parents come before children.
    fn update(&mut self, rig: &Rig, first: usize) {
        for j in first..self.local.len() {
            self.world[j] = self.above(rig, j) * self.local[j].matrix();
        }
    }

    fn above(&self, rig: &Rig, joint: usize) -> DMat4 {
        rig.parents()[joint].map_or(self.metres_from_skel, |p| self.world[p])
    }

    /// Turns a joint, and what is below it, about its place by a rotation of the world.
    fn turn(&mut self, rig: &Rig, joint: usize, by: DQuat) {
        let above = turn(&self.above(rig, joint));
        let local = &mut self.local[joint].rotation;
        *local = (above.inverse() * by * above * *local).normalize();
        self.update(rig, joint);
    }

    /// Moves a joint, and what is below it, in the world.
    pub fn shift(&mut self, rig: &Rig, joint: usize, by: DVec3) {
        if let Some(inverse) = math::try_inverse(self.above(rig, joint)) {
            self.local[joint].translation += inverse.transform_vector3(by);
            self.update(rig, joint);
        }
    }
}

pub fn at(m: &DMat4) -> DVec3 {
    m.w_axis.truncate()
}

pub fn turn(m: &DMat4) -> DQuat {
    math::nearest_rotation(DMat3::from_mat4(*m)).unwrap_or_default()
}
