//! Checks whether the bind pose of a skeleton is the reference pose of the extension: a T-pose that
//! faces +Z, in which +Y of every bone points to its child and +X is the axis that a muscle bends
//! the bone about.

mod limbs;

use glam::{DMat4, DQuat, DVec3};

use sinew_animate::asset::{Asset, HumanoidSkeleton};
use sinew_animate::humanoid::BindPoses;
use sinew_animate::retarget::Bone;

use super::{Findings, HumanoidFinding};

/// How far off a direction may be, in degrees.
const TOLERANCE: f64 = 10.0;

/// How far the top of an upright head may lie before or behind it, in degrees.
const NOD: f64 = 20.0;

/// The spine, from the bottom up.
const SPINE: [Bone; 6] = [
    Bone::Hips,
    Bone::Spine,
    Bone::Chest,
    Bone::UpperChest,
    Bone::Neck,
    Bone::Head,
];

/// Left bones whose line to the right ones runs across the body, the steadiest first.
const ACROSS: [Bone; 7] = [
    Bone::LeftUpperLeg,
    Bone::LeftUpperArm,
    Bone::LeftShoulder,
    Bone::LeftLowerLeg,
    Bone::LeftLowerArm,
    Bone::LeftFoot,
    Bone::LeftHand,
];

/// The left arm, from the shoulder to the root of the middle finger.
const ARM: [Bone; 5] = [
    Bone::LeftShoulder,
    Bone::LeftUpperArm,
    Bone::LeftLowerArm,
    Bone::LeftHand,
    Bone::LeftMiddleProximal,
];

/// The left leg.
const LEG: [Bone; 4] = [
    Bone::LeftUpperLeg,
    Bone::LeftLowerLeg,
    Bone::LeftFoot,
    Bone::LeftToes,
];

/// The same bones of the right side.
fn mirrored<const N: usize>(left: [Bone; N]) -> [Bone; N] {
    left.map(|bone| bone.mirrored().unwrap_or(bone))
}

/// Findings about bones whose bind pose differs by more than ten degrees from the reference pose.
///
/// Directions are in the space of the scene. The bind space of each skin is transformed to it by
/// the transform that most of its joints agree on. Bones without a finite bind matrix are not
/// checked.
#[must_use]
pub fn reference_pose(asset: &Asset, skeleton: &HumanoidSkeleton) -> Vec<HumanoidFinding> {
    let binds = BindPoses::new(asset);
    let bones = skeleton.bones.iter();
    let pose = Pose {
        at: &skeleton.location,
        bones: bones
            .filter_map(|(bone, node)| Some((*bone, binds.world(*node)?)))
            .collect(),
    };
    let mut findings = Findings::default();
    pose.up(&mut findings);
    pose.facing(&mut findings);
    pose.arms(&mut findings);
    limbs::limbs(&pose, pose.upright(), &mut findings);
    pose.y_to_child(&mut findings);
    pose.axes(&mut findings);
    findings.0
}

/// world_from_bone at bind time.
struct Pose<'a> {
    at: &'a str,
    bones: std::collections::BTreeMap<Bone, DMat4>,
}

impl Pose<'_> {
    fn position(&self, bone: Bone) -> Option<DVec3> {
        self.bones.get(&bone).map(|m| m.w_axis.truncate())
    }

    /// From one bone to another; `None` where either is absent or both are in one place.
    fn direction(&self, from: Bone, to: Bone) -> Option<DVec3> {
        (self.position(to)? - self.position(from)?).try_normalize()
    }

    fn at_bone(&self, bone: Bone) -> String {
        format!("{}.humanoidBones.{bone}", self.at)
    }

    /// The lowest and the highest bone of the spine.
    fn spine(&self) -> Option<(Bone, Bone)> {
        let present = || SPINE.into_iter().filter(|b| self.bones.contains_key(b));
        Some((present().next()?, present().next_back()?))
    }

    /// The direction of the spine, if it is not upright.
    fn lean(&self) -> Option<DVec3> {
        let (bottom, top) = self.spine()?;
        let direction = self.direction(bottom, top)?;
        off_by(degrees(direction, DVec3::Y)).map(|_| direction)
    }

    /// Whether the legs lean as the spine does, so that the character leans as a whole.
    fn leans_as_a_whole(&self, lean: DVec3) -> bool {
        let straight = DQuat::from_rotation_arc(lean, DVec3::Y);
        let mut legs = [LEG, mirrored(LEG)]
            .into_iter()
            .filter_map(|leg| Some(-self.segments(&leg[..3]).first()?.1))
            .peekable();
        let is_straightened = |leg| degrees(straight * leg, DVec3::Y) < degrees(leg, DVec3::Y);
        legs.peek().is_none() || legs.any(is_straightened)
    }

    fn up(&self, findings: &mut Findings) {
        if let (Some((bottom, top)), Some(lean)) = (self.spine(), self.lean()) {
            let at = match self.leans_as_a_whole(lean) {
                true => self.at.to_owned(),
                false => self.at_bone(bottom),
            };
            let expected = format!("{top} straight above {bottom}, towards +Y");
            let found = format!("{:.1} degrees off", degrees(lean, DVec3::Y));
            findings.warning("REF_UP", at, expected, found);
        }
        let turn = self.upright().0;
        let spine = self.segments(&SPINE);
        if let Some(top) = self.tip(&spine, Bone::Head).map(|tip| turn * tip) {
            let nod = (degrees(top, DVec3::Y) - NOD).max(0.0);
            if let Some(found) = off_by(nod) {
                let at = self.at_bone(Bone::Head);
                findings.warning(
                    "REF_UP",
                    at,
                    "a head whose top points up, towards +Y",
                    found,
                );
            }
        }
    }

    /// The direction of the last bone of a chain, by its own +Y, if the bone before it has its +Y to
    /// its child as the extension asks for.
    fn tip(&self, segments: &[(Bone, DVec3)], last: Bone) -> Option<DVec3> {
        let y = |bone: Bone| self.bones.get(&bone)?.y_axis.truncate().try_normalize();
        let (before, direction) = segments.last()?;
        let is_kept = off_by(degrees(y(*before)?, *direction)).is_none();
        y(last).filter(|_| is_kept)
    }

    /// Where the character faces, without its lean.
    fn front(&self) -> Option<DVec3> {
        let across = |left: &Bone| self.direction(left.mirrored()?, *left);
        let left = ACROSS.iter().find_map(across)?;
        left.cross(DVec3::Y).try_normalize()
    }

    /// Turns about the vertical only: what leans is no matter of facing.
    fn facing(&self, findings: &mut Findings) {
        let front = self.front();
        if let Some(found) = front.and_then(|d| off_by(degrees(d, DVec3::Z))) {
            findings.warning("REF_FACING", self.at, "a character that faces +Z", found);
        }
    }

    /// The turns that set the upper body and the legs upright and facing +Z, as far as
    /// [`Pose::up`] and [`Pose::facing`] report that they are not.
    fn upright(&self) -> (DQuat, DQuat) {
        let front = self.front();
        let front = front.filter(|d| off_by(degrees(*d, DVec3::Z)).is_some());
        let front = front.unwrap_or(DVec3::Z);
        let yaw = DQuat::from_rotation_y(-front.x.atan2(front.z));
        let Some(lean) = self.lean() else {
            return (yaw, yaw);
        };
        let straight = yaw * DQuat::from_rotation_arc(lean, DVec3::Y);
        let legs = self.leans_as_a_whole(lean);
        (straight, if legs { straight } else { yaw })
    }

    fn arms(&self, findings: &mut Findings) {
        let sides = [(ARM, DVec3::X, "+X"), (mirrored(ARM), DVec3::NEG_X, "-X")];
        for (chain, along, name) in sides {
            for (bone, direction) in self.segments(&chain[1..4]) {
                if let Some(found) = off_by(degrees(direction, along)) {
                    let expected = format!("an arm stretched along {name}");
                    let at = self.at_bone(bone);
                    findings.warning("REF_TPOSE_ARM", at, expected, found);
                }
            }
        }
    }

    /// Bones of a chain, and where the next one present lies.
    fn segments(&self, chain: &[Bone]) -> Vec<(Bone, DVec3)> {
        let present: Vec<Bone> = chain
            .iter()
            .copied()
            .filter(|b| self.bones.contains_key(b))
            .collect();
        present
            .windows(2)
            .filter_map(|pair| Some((pair[0], self.direction(pair[0], pair[1])?)))
            .collect()
    }

    fn y_to_child(&self, findings: &mut Findings) {
        let (arms, legs) = ([ARM, mirrored(ARM)], [LEG, mirrored(LEG)]);
        let limbs = arms
            .iter()
            .map(|a| &a[..])
            .chain(legs.iter().map(|l| &l[..]));
        let fingers = fingers();
        let chains = [&SPINE[..]].into_iter().chain(limbs);
        let chains = chains.chain(fingers.iter().map(Vec::as_slice));
        for (bone, direction) in chains.flat_map(|chain| self.segments(chain)) {
            let y = self.bones[&bone].y_axis.truncate().try_normalize();
            let Some(found) = y.and_then(|y| off_by(degrees(y, direction))) else {
                continue;
            };
            findings.warning(
                "REF_Y_TO_CHILD",
                self.at_bone(bone),
                "+Y from the bone to its child",
                found,
            );
        }
    }

    /// How far a bone is turned about its own +Y, where its muscles bend it one way only.
    fn axes(&self, findings: &mut Findings) {
        let (body, legs) = self.upright();
        for (bone, m) in &self.bones {
            let is_leg = LEG.contains(bone) || mirrored(LEG).contains(bone);
            let turn = if is_leg { legs } else { body };
            let Some((bend, name)) = bend_direction(*bone) else {
                continue;
            };
            let axes = [m.x_axis, m.y_axis];
            let axes = axes.map(|a| (turn * a.truncate()).try_normalize());
            let [Some(x), Some(y)] = axes else { continue };
            // Turning about +X takes +Y to +Z, so this +X takes the bone's tip where it bends to.
            let Some(wanted) = y.cross(bend).try_normalize() else {
                continue;
            };
            if let Some(found) = off_by(degrees(x, wanted)) {
                findings.warning(
                    "REF_AXES",
                    self.at_bone(*bone),
                    format!("a turn about +X that bends {bone} towards {name}"),
                    found,
                );
            }
        }
    }
}

/// Fingers and thumbs from their roots.
fn fingers() -> Vec<Vec<Bone>> {
    let is_root = |b: &&Bone| matches!(b.parent(), Some(Bone::LeftHand | Bone::RightHand));
    let below = |b: &Bone| Bone::ALL.iter().find(|c| c.parent() == Some(*b)).copied();
    Bone::ALL
        .iter()
        .filter(is_root)
        .map(|root| std::iter::successors(Some(*root), below).collect())
        .collect()
}

/// Where a contracting muscle takes a bone's tip, for the bones that have one answer: shoulders,
/// upper arms, thumbs, feet, eyes and the jaw have none.
fn bend_direction(bone: Bone) -> Option<(DVec3, &'static str)> {
    const FORWARD: (DVec3, &str) = (DVec3::Z, "+Z");
    const BACK: (DVec3, &str) = (DVec3::NEG_Z, "-Z");
    const DOWN: (DVec3, &str) = (DVec3::NEG_Y, "-Y");
    match bone {
        _ if SPINE.contains(&bone) => Some(FORWARD),
        Bone::LeftLowerArm | Bone::RightLowerArm => Some(FORWARD),
        Bone::LeftUpperLeg | Bone::RightUpperLeg => Some(FORWARD),
        Bone::LeftLowerLeg | Bone::RightLowerLeg => Some(BACK),
        Bone::LeftHand | Bone::RightHand => Some(DOWN),
        _ if is_finger(bone) => Some(DOWN),
        _ => None,
    }
}

fn is_finger(bone: Bone) -> bool {
    let hand = |b: Bone| matches!(b, Bone::LeftHand | Bone::RightHand);
    bone.ancestors().any(hand) && !bone.name().contains("Thumb")
}

fn degrees(a: DVec3, b: DVec3) -> f64 {
    a.cross(b).length().atan2(a.dot(b)).to_degrees()
}

/// The message, where an angle is too large.
fn off_by(degrees: f64) -> Option<String> {
    (degrees > TOLERANCE).then(|| format!("{degrees:.1} degrees off"))
}
