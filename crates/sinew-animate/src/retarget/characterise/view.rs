//! The human bones of a rig in poses: where they are, and what directions the body has.
//!
//! Nothing here looks at a joint's own axes: every direction is measured between joints.

use std::collections::BTreeMap;

use glam::{DMat3, DMat4, DQuat, DVec3};

use crate::retarget::{Bone, Rig};
use sinew::math;

/// The joint of each known bone.
pub(in super::super) type Bones = BTreeMap<Bone, usize>;

/// Left and right: upper, middle and last bone of each limb.
pub(in super::super) const LEGS: [[Bone; 3]; 2] = [
    [Bone::LeftUpperLeg, Bone::LeftLowerLeg, Bone::LeftFoot],
    [Bone::RightUpperLeg, Bone::RightLowerLeg, Bone::RightFoot],
];
pub(in super::super) const ARMS: [[Bone; 3]; 2] = [
    [Bone::LeftUpperArm, Bone::LeftLowerArm, Bone::LeftHand],
    [Bone::RightUpperArm, Bone::RightLowerArm, Bone::RightHand],
];
/// The feet with their toes.
pub(in super::super) const FEET: [[Bone; 2]; 2] = [
    [Bone::LeftFoot, Bone::LeftToes],
    [Bone::RightFoot, Bone::RightToes],
];

/// The joints of a rig in a pose.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Pose {
    pub at: Vec<DVec3>,
    pub turn: Vec<DQuat>,
}

impl Pose {
    /// `world` are the transforms of the joints in any space.
    pub fn new(rig: &Rig, world: &[DMat4]) -> Self {
        let mut turn: Vec<DQuat> = Vec::with_capacity(world.len());
        for (m, parent) in world.iter().zip(rig.parents()) {
            // A joint that is scaled to nothing turns with the one above.
            let own = math::nearest_rotation(DMat3::from_mat4(*m));
            turn.push(own.unwrap_or_else(|| parent.map_or(DQuat::IDENTITY, |p| turn[p])));
        }
        Self {
            at: world.iter().map(|m| m.w_axis.truncate()).collect(),
            turn,
        }
    }

    /// The pose in a turned space.
    pub fn turned(&self, by: DQuat) -> Self {
        Self {
            at: self.at.iter().map(|p| by * *p).collect(),
            turn: self.turn.iter().map(|t| (by * *t).normalize()).collect(),
        }
    }

    /// The pose, moved.
    pub fn moved(mut self, by: DVec3) -> Self {
        self.at.iter_mut().for_each(|p| *p += by);
        self
    }

    /// Transforms without scale.
    pub fn matrices(&self) -> Vec<DMat4> {
        let each = self.turn.iter().zip(&self.at);
        each.map(|(turn, at)| DMat4::from_rotation_translation(*turn, *at))
            .collect()
    }

    /// The lowest of some joints.
    pub fn lowest(&self, joints: &[usize]) -> Option<f64> {
        let heights = joints.iter().map(|j| self.at[*j].y);
        heights.min_by(f64::total_cmp)
    }
}

/// The bones in one pose.
#[derive(Clone, Copy)]
pub(in super::super) struct View<'a> {
    pub bones: &'a Bones,
    pub pose: &'a Pose,
}

impl View<'_> {
    pub fn at(&self, bone: Bone) -> Option<DVec3> {
        Some(self.pose.at[*self.bones.get(&bone)?])
    }

    /// The height of the lower one of a foot and its toes.
    pub fn lower(&self, foot: Bone, toes: Bone) -> Option<f64> {
        let foot = self.at(foot)?.y;
        Some(self.at(toes).map_or(foot, |toes| foot.min(toes.y)))
    }

    /// The direction from one bone to another.
    pub fn way(&self, from: Bone, to: Bone) -> Option<DVec3> {
        let way = self.at(to)? - self.at(from)?;
        (way.length() > 1e-9).then(|| way.normalize())
    }

    /// From the right to the left thigh.
    pub fn hips_across(&self) -> Option<DVec3> {
        self.way(Bone::RightUpperLeg, Bone::LeftUpperLeg)
    }

    /// From the right to the left thigh, or else upper arm.
    pub fn across(&self) -> Option<DVec3> {
        let arms = || self.way(Bone::RightUpperArm, Bone::LeftUpperArm);
        self.hips_across().or_else(arms)
    }

    /// From the right to the left upper arm, or else thigh.
    pub fn shoulders_across(&self) -> Option<DVec3> {
        let arms = self.way(Bone::RightUpperArm, Bone::LeftUpperArm);
        arms.or_else(|| self.hips_across())
    }

    /// Between the thighs.
    pub fn middle(&self) -> Option<DVec3> {
        let thighs = self
            .at(Bone::LeftUpperLeg)
            .zip(self.at(Bone::RightUpperLeg));
        let between = thighs.map(|(left, right)| (left + right) / 2.0);
        between.or_else(|| self.at(Bone::Hips))
    }

    /// The top of the trunk: the neck, or what is there below it.
    pub fn top(&self) -> Option<DVec3> {
        use Bone::{Chest, Head, Neck, Spine, UpperChest};
        let tops = [Neck, UpperChest, Chest, Head, Spine];
        tops.into_iter().find_map(|b| self.at(b))
    }

    /// From between the thighs to the top of the trunk.
    pub fn trunk(&self) -> Option<DVec3> {
        let way = self.top()? - self.middle()?;
        (way.length() > 1e-9).then(|| way.normalize())
    }

    /// Where two limbs point, on average.
    pub fn limbs(&self, limbs: [[Bone; 3]; 2]) -> Option<DVec3> {
        let ways = limbs
            .into_iter()
            .filter_map(|[upper, _, last]| self.way(upper, last));
        ways.sum::<DVec3>().try_normalize()
    }

    /// Where the body faces: left crossed with up.
    pub fn front(&self) -> Option<DVec3> {
        self.across()?.cross(self.trunk()?).try_normalize()
    }

    /// The length of thigh and shin, on average; `None` without a whole leg.
    pub fn leg(&self) -> Option<f64> {
        let length = |[upper, lower, foot]: [Bone; 3]| {
            let [hip, knee, ankle] = [self.at(upper)?, self.at(lower)?, self.at(foot)?];
            Some(hip.distance(knee) + knee.distance(ankle))
        };
        let legs: Vec<f64> = LEGS.into_iter().filter_map(length).collect();
        let sum: f64 = legs.iter().sum();
        (sum > 0.0).then(|| sum / legs.len() as f64)
    }

    /// Directions in the frames of joints, the same in all poses because bones are rigid: across the
    /// hips, and along arms and legs.
    pub fn rigid(&self) -> Vec<Option<DVec3>> {
        let limbs = LEGS.iter().chain(&ARMS);
        let along = limbs.flat_map(|[upper, middle, last]| [(*upper, *middle), (*middle, *last)]);
        let along = along.map(|(bone, next)| (bone, self.way(bone, next)));
        let all = std::iter::once((Bone::Hips, self.hips_across())).chain(along);
        let own = |(bone, way): (Bone, Option<DVec3>)| {
            Some(self.pose.turn[*self.bones.get(&bone)?].inverse() * way?)
        };
        all.map(own).collect()
    }

    /// Whether the body stands as a human does: legs down along the trunk, knees and elbows nearly
    /// straight, shoulders over the hips, no arm up or across. It may lie as a whole.
    pub fn stands(&self) -> bool {
        /// The cosine of 37 degrees.
        const ALONG: f64 = 0.8;
        let (Some(trunk), Some(across)) = (self.trunk(), self.across()) else {
            return false;
        };
        let has_legs = LEGS.into_iter().all(|[upper, lower, foot]| {
            let Some(thigh) = self.way(upper, lower) else {
                return true;
            };
            let is_straight = self
                .way(lower, foot)
                .is_none_or(|shin| thigh.dot(shin) >= ALONG);
            -thigh.dot(trunk) >= ALONG && is_straight
        });
        let mut sides = ARMS.into_iter().zip([1.0, -1.0]);
        let has_arms = sides.all(|([upper, lower, hand], side)| {
            let Some(arm) = self.way(upper, lower) else {
                return true;
            };
            let whole = self.way(upper, hand).unwrap_or(arm);
            let is_straight = self.way(lower, hand).is_none_or(|own| own.dot(arm) >= 0.7);
            whole.dot(trunk) <= 0.5 && whole.dot(across) * side >= -0.3 && is_straight
        });
        let over = self.shoulders_across();
        let is_over = over.is_none_or(|shoulders| shoulders.dot(across) >= 0.7);
        has_legs && has_arms && is_over && across.dot(trunk).abs() <= 0.35
    }
}

/// Feet, toes and all joints below them.
pub(super) fn foot_joints(rig: &Rig, bones: &Bones) -> Vec<usize> {
    let feet = FEET.iter().flatten().filter_map(|b| bones.get(b));
    let feet: Vec<usize> = feet.copied().collect();
    let is_below = |j: &usize| rig.chain(*j).any(|above| feet.contains(&above));
    (0..rig.len()).filter(is_below).collect()
}

/// The value below which a share of all values lies.
pub(in super::super) fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = share * (sorted.len().max(1) - 1) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    match sorted.get(low).zip(sorted.get(high)) {
        Some((a, b)) => a + (b - a) * (at - at.floor()),
        None => 0.0,
    }
}
