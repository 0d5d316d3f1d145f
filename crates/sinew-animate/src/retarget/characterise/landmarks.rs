//! Landmarks: directions of the body that are fixed in a joint, because bones are rigid.
//!
//! They are measured on a pose that stands, or over the poses of a clip if none does. A turn that
//! brings the landmarks of one joint onto those of another one carries motion between them,
//! whatever the joints' own axes are.

use std::collections::BTreeMap;

use glam::{DMat3, DQuat, DVec3};

use super::view::{ARMS, Bones, FEET, LEGS, Pose, View, percentile};
use crate::retarget::{Bone, Rig};

/// Two directions in the frame of a joint, of unit length.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Landmark {
    pub first: DVec3,
    /// `None` if nothing tells how the joint is turned about the first.
    second: Option<DVec3>,
}

impl Landmark {
    /// Leaves the first direction alone.
    pub fn forget_roll(&mut self) {
        self.second = None;
    }

    /// The rotation from the landmark to the joint; `None` if the two are nearly in line.
    pub fn frame(&self) -> Option<DQuat> {
        let across = self.second?.reject_from_normalized(self.first);
        let across = Some(across).filter(|v| v.length() > 0.05)?.normalize();
        let frame = DMat3::from_cols(self.first, across, self.first.cross(across));
        Some(DQuat::from_mat3(&frame).normalize())
    }
}

pub(in super::super) type Landmarks = BTreeMap<Bone, Landmark>;

/// What landmarks are measured on.
#[derive(Clone, Copy)]
pub(super) enum Over<'a> {
    /// A pose that stands upright and faces +Z. With `true` what it lacks in a clip is measured as
    /// in a clip: another body's landmarks are from one.
    Reference(&'a Pose, bool),
    /// The poses of a clip with Y up, and the zero pose of its rig.
    Clip(&'a [Pose], &'a Pose),
}

/// Measures landmarks; the second value lists the limbs whose bend no pose shows.
pub(super) fn landmarks(rig: &Rig, bones: &Bones, over: Over<'_>) -> (Landmarks, Vec<Bone>) {
    let poses = match over {
        Over::Reference(pose, _) => std::slice::from_ref(pose),
        Over::Clip(poses, _) => poses,
    };
    let mut measured = Measured {
        rig,
        bones,
        over,
        views: poses.iter().map(|pose| View { bones, pose }).collect(),
        out: Landmarks::new(),
        unsure: Vec::new(),
    };
    for bone in bones.keys() {
        if let Some(landmark) = measured.of(*bone) {
            measured.out.insert(*bone, landmark);
        }
    }
    (measured.out, measured.unsure)
}

struct Measured<'a> {
    rig: &'a Rig,
    bones: &'a Bones,
    over: Over<'a>,
    views: Vec<View<'a>>,
    out: Landmarks,
    unsure: Vec<Bone>,
}

impl Measured<'_> {
    /// Whether the pose stands, so that up is Y for all of the body.
    fn is_reference(&self) -> bool {
        matches!(self.over, Over::Reference(..))
    }

    /// Whether to measure as over a clip.
    fn is_as_in_clip(&self) -> bool {
        matches!(self.over, Over::Reference(_, true) | Over::Clip(..))
    }

    /// The sum of a direction in the frame of a bone's joint, over all poses.
    fn sum(&self, bone: Bone, of: impl Fn(&View<'_>) -> Option<DVec3>) -> DVec3 {
        let joint = self.bones[&bone];
        let each = self
            .views
            .iter()
            .filter_map(|v| Some(v.pose.turn[joint].inverse() * of(v)?));
        each.sum()
    }

    fn mean(&self, bone: Bone, of: impl Fn(&View<'_>) -> Option<DVec3>) -> Option<DVec3> {
        let sum = self.sum(bone, of);
        (sum.length() > 1e-9).then(|| sum.normalize())
    }

    /// The first of `to` that is away from `from`.
    fn next(&self, from: Bone, to: &[Bone]) -> Option<Bone> {
        to.iter().copied().find(|b| {
            let lengths = self
                .views
                .iter()
                .filter_map(|v| Some(v.at(*b)?.distance(v.at(from)?)));
            let lengths: Vec<f64> = lengths.collect();
            percentile(&lengths, 0.5) > 1e-6
        })
    }

    /// The direction from a bone to the next one, in the frame of its joint.
    fn along(&self, bone: Bone, to: &[Bone]) -> Option<DVec3> {
        let next = self.next(bone, to)?;
        self.mean(bone, |v| v.way(bone, next))
    }

    /// A direction in the frame of one bone's joint, in that of another one, as the two joints are
    /// in the zero pose.
    fn in_zero_pose(&self, from: Bone, to: Bone, direction: DVec3) -> Option<DVec3> {
        let Over::Clip(_, zero) = self.over else {
            return None;
        };
        let [from, to] = [from, to].map(|b| zero.turn[self.bones[&b]]);
        Some(to.inverse() * from * direction)
    }

    fn of(&mut self, bone: Bone) -> Option<Landmark> {
        use Bone::*;
        let up = |_: &View<'_>| Some(DVec3::Y);
        let (first, second) = match bone {
            Hips => {
                let across = self.mean(bone, |v| v.across())?;
                let trunk = match self.is_as_in_clip() {
                    true => self.mean(bone, |v| v.trunk())?,
                    false => self.mean(bone, up)?,
                };
                (
                    across,
                    Some(self.trunk_of_zero_pose(trunk).unwrap_or(trunk)),
                )
            }
            Spine | Chest | UpperChest | Neck => {
                let first = match self.is_reference() {
                    true => self.mean(bone, up),
                    false => self
                        .along(bone, trunk_above(bone))
                        .or_else(|| self.mean(bone, |v| v.trunk())),
                };
                let across = match bone {
                    Spine => self.mean(bone, |v| v.across()),
                    _ => self.mean(bone, |v| v.shoulders_across()),
                };
                (first?, across)
            }
            Head => {
                let across = self.mean(bone, |v| v.shoulders_across());
                (self.crown()?, across)
            }
            LeftShoulder | RightShoulder => {
                let arm = match bone {
                    LeftShoulder => LeftUpperArm,
                    _ => RightUpperArm,
                };
                let along = match self.is_as_in_clip() {
                    true => self.along(bone, &[arm]),
                    false => None,
                };
                let trunk = match self.is_as_in_clip() {
                    true => self.mean(bone, |v| v.trunk()),
                    false => self.mean(bone, up),
                };
                let across = || self.mean(bone, |v| v.shoulders_across());
                (along.or_else(across)?, trunk)
            }
            LeftUpperLeg | LeftLowerLeg => self.limb(bone, LEGS[0], -1.0)?,
            RightUpperLeg | RightLowerLeg => self.limb(bone, LEGS[1], -1.0)?,
            LeftUpperArm | LeftLowerArm => self.limb(bone, ARMS[0], 1.0)?,
            RightUpperArm | RightLowerArm => self.limb(bone, ARMS[1], 1.0)?,
            LeftFoot | LeftToes => self.foot(bone, FEET[0])?,
            RightFoot | RightToes => self.foot(bone, FEET[1])?,
            LeftHand => self.hand(
                bone,
                LeftLowerArm,
                [
                    LeftMiddleProximal,
                    LeftIndexProximal,
                    LeftRingProximal,
                    LeftLittleProximal,
                ],
            )?,
            RightHand => self.hand(
                bone,
                RightLowerArm,
                [
                    RightMiddleProximal,
                    RightIndexProximal,
                    RightRingProximal,
                    RightLittleProximal,
                ],
            )?,
            bone if bone.is_finger() => {
                let mut below = self.bones.keys().copied();
                let next = below.find(|b| b.parent() == Some(bone))?;
                (self.along(bone, &[next])?, None)
            }
            _ => return None,
        };
        Some(Landmark { first, second })
    }

    /// The direction of the trunk in the frame of the hips, as the spine is in the zero pose, if the
    /// clip does not contradict it: so all clips of a rig agree.
    fn trunk_of_zero_pose(&self, trunk: DVec3) -> Option<DVec3> {
        let Over::Clip(_, zero) = self.over else {
            return None;
        };
        let zero_view = View {
            bones: self.bones,
            pose: zero,
        };
        let spine = zero_view.at(Bone::Spine)?;
        let tops = [Bone::UpperChest, Bone::Chest, Bone::Neck];
        let ways = tops.iter().filter_map(|b| Some(zero_view.at(*b)? - spine));
        let way = ways
            .filter(|w| w.length() > 1e-3)
            .find_map(DVec3::try_normalize)?;
        let own = zero.turn[self.bones[&Bone::Hips]].inverse() * way;
        Some(agreed(own, trunk, 30.0))
    }

    /// Up in the frame of the head.
    fn crown(&self) -> Option<DVec3> {
        let bone = Bone::Head;
        if self.is_reference() {
            return self.mean(bone, |_| Some(DVec3::Y));
        }
        let by_trunk = || self.mean(bone, |v| v.trunk());
        let has_neck = self.bones.contains_key(&Bone::Neck);
        let Some(neck) = self.out.get(&Bone::Neck).filter(|_| has_neck) else {
            return by_trunk();
        };
        // Gravity counts where the trunk is upright.
        let upright = |v: &View<'_>| Some(DVec3::Y * (v.trunk()?.y - 0.7).max(0.0));
        let clip = self.mean(bone, upright).or_else(by_trunk)?;
        let zero = self.in_zero_pose(Bone::Neck, bone, neck.first);
        Some(zero.map_or(clip, |zero| agreed(zero, clip, 30.0)))
    }

    /// A bone of an arm or a leg: along it, and the hinge of its elbow or knee. `side` is the sign
    /// of the hinge for a limb that bends forward.
    fn limb(&mut self, bone: Bone, limb: [Bone; 3], side: f64) -> Option<(DVec3, Option<DVec3>)> {
        let [upper, lower, last] = limb;
        let next = if bone == upper { lower } else { last };
        self.next(bone, &[next])?;
        let along = self.along(bone, &[next])?;
        let is_leg = side < 0.0;
        let front = |v: &View<'_>| match is_leg {
            true => v.front(),
            false => v.shoulders_across()?.cross(v.trunk()?).try_normalize(),
        };
        let by_front = |v: &View<'_>| Some(v.way(bone, next)?.cross(front(v)?) * side);
        let mut hinge = match self.is_reference() {
            true => self.mean(bone, |v| Some(v.way(bone, next)?.cross(DVec3::Z) * side)),
            false => self.bend(bone, limb),
        };
        if hinge.is_none() {
            if !self.is_reference() {
                self.unsure.push(bone);
            }
            hinge = self.mean(bone, by_front);
        }
        if bone == lower
            && let Some(of_upper) = self.out.get(&upper).and_then(|l| l.second)
            && let Some(zero) = self.in_zero_pose(upper, bone, of_upper)
        {
            hinge = Some(hinge.map_or(zero, |own| agreed(zero, own, 50.0)));
        }
        Some((along, hinge))
    }

    /// The axis about which a limb bends, in the frame of one of its joints; `None` if it hardly
    /// bends, or in all ways.
    fn bend(&self, bone: Bone, [upper, lower, last]: [Bone; 3]) -> Option<DVec3> {
        let axis = |v: &View<'_>| Some(v.way(upper, lower)?.cross(v.way(lower, last)?));
        let sines = self.views.iter().filter_map(|v| Some(axis(v)?.length()));
        let total: f64 = sines.sum();
        let sum = self.sum(bone, axis);
        let bends = total / self.views.len() as f64 > 0.1 && sum.length() > 0.6 * total;
        bends.then(|| sum.normalize())
    }

    /// Up and forward of a foot or its toes. Over a clip, up is gravity's while the foot stands, or
    /// the shin's if it never does, as in clips that only lie.
    fn foot(&self, bone: Bone, [foot, toes]: [Bone; 2]) -> Option<(DVec3, Option<DVec3>)> {
        let shin = |v: &View<'_>| v.way(foot, foot.parent()?);
        let low = self.low(foot, toes);
        let is_upright = |v: &View<'_>| shin(v).is_none_or(|shin| shin.y > 0.5);
        let is_low =
            |v: &View<'_>| low.is_none_or(|low| v.lower(foot, toes).is_some_and(|y| y < low));
        let stood = |v: &View<'_>| self.is_reference() || is_upright(v) && is_low(v);
        let ever = self.views.iter().any(stood);
        let stands = |v: &View<'_>| !ever || stood(v);
        let up = |v: &View<'_>| match ever {
            true => Some(DVec3::Y),
            false => shin(v),
        };
        // Without toes the foot points to what hangs from it.
        let joint = *self.bones.get(&foot)?;
        let parents = self.rig.parents().iter().enumerate();
        let below = parents.filter(|(_, p)| **p == Some(joint)).map(|(j, _)| j);
        let end = below.into_iter().find(|j| {
            let lengths = self
                .views
                .iter()
                .map(|v| v.pose.at[*j].distance(v.pose.at[joint]));
            percentile(&lengths.collect::<Vec<_>>(), 0.5) > 1e-6
        });
        let forward = |v: &View<'_>| match v.way(foot, toes) {
            Some(way) => Some(way),
            None => match end {
                Some(end) => (v.pose.at[end] - v.pose.at[joint]).try_normalize(),
                None => v.front(),
            },
        };
        let up = self.mean(bone, |v| up(v).filter(|_| stands(v)))?;
        Some((up, self.mean(bone, |v| forward(v).filter(|_| stands(v)))))
    }

    /// The height below which a foot stands, if the clip has such frames.
    fn low(&self, foot: Bone, toes: Bone) -> Option<f64> {
        if self.is_reference() {
            return None;
        }
        let all = |v: &View<'_>| {
            let joints = FEET.iter().flatten().filter_map(|b| Some(v.at(*b)?.y));
            joints.fold(f64::INFINITY, f64::min)
        };
        let ground: Vec<f64> = self.views.iter().map(all).collect();
        let leg: Vec<f64> = self.views.iter().filter_map(View::leg).collect();
        let most = percentile(&ground, 0.05) + 0.12 * percentile(&leg, 0.5);
        let own = |v: &View<'_>| v.lower(foot, toes);
        let count = self
            .views
            .iter()
            .filter_map(own)
            .filter(|y| *y < most)
            .count();
        (count > 2).then_some(most)
    }

    /// A hand: to the middle knuckle, and from the little knuckle to the index; without fingers
    /// along the forearm.
    fn hand(
        &self,
        bone: Bone,
        forearm: Bone,
        knuckles: [Bone; 4],
    ) -> Option<(DVec3, Option<DVec3>)> {
        let Some(middle) = self.next(bone, &knuckles) else {
            return Some((self.mean(bone, |v| v.way(forearm, bone))?, None));
        };
        let [_, index, _, little] = knuckles;
        let across = self.mean(bone, |v| v.way(little, index));
        Some((self.mean(bone, |v| v.way(bone, middle))?, across))
    }
}

/// The bones of the trunk above one of them.
fn trunk_above(bone: Bone) -> &'static [Bone] {
    use Bone::{Chest, Head, Neck, Spine, UpperChest};
    match bone {
        Spine => &[Chest, UpperChest, Neck, Head],
        Chest => &[UpperChest, Neck, Head],
        UpperChest => &[Neck, Head],
        _ => &[Head],
    }
}

/// What the zero pose says, if the clip is within an angle in degrees; or else what the clip says.
fn agreed(zero: DVec3, clip: DVec3, degrees: f64) -> DVec3 {
    match zero.dot(clip) > degrees.to_radians().cos() {
        true => zero.normalize_or(clip),
        false => clip,
    }
}
