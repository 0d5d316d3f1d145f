//! Compares matches with the anatomy of a body.
//!
//! Directions are relative to the body itself: up is from the hips to the head, forward is where the
//! feet point. So a rig may lie, face any way or be mirrored as a whole.

use std::collections::BTreeMap;

use glam::{DMat4, DVec3};

use crate::retarget::{Bone, Rig};

/// A match that contradicts the anatomy of a human body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The bones, and the index of the joint of each.
    pub joints: Vec<(Bone, usize)>,
    /// What is wrong, as the end of a sentence that begins with the joints.
    pub reason: String,
}

/// Bones whose left and right joint are never on the other side in a reference pose.
const SIDED: [(Bone, Bone); 4] = [
    (Bone::LeftUpperArm, Bone::RightUpperArm),
    (Bone::LeftLowerArm, Bone::RightLowerArm),
    (Bone::LeftUpperLeg, Bone::RightUpperLeg),
    (Bone::LeftLowerLeg, Bone::RightLowerLeg),
];

/// Limbs: upper, middle and last bone.
const LIMBS: [[Bone; 3]; 4] = [
    [Bone::LeftUpperArm, Bone::LeftLowerArm, Bone::LeftHand],
    [Bone::RightUpperArm, Bone::RightLowerArm, Bone::RightHand],
    [Bone::LeftUpperLeg, Bone::LeftLowerLeg, Bone::LeftFoot],
    [Bone::RightUpperLeg, Bone::RightLowerLeg, Bone::RightFoot],
];

/// All contradictions. What depends on positions counts only in the bind pose, or else the rest pose,
/// and only if that stands: a zero pose along the bones is folded anyhow.
pub(in super::super) fn conflicts(rig: &Rig, joints: &BTreeMap<Bone, usize>) -> Vec<Conflict> {
    let mut out = hierarchy(rig, joints);
    let standing = poses(rig, joints).into_iter().find(Pose::stands);
    out.extend(standing.iter().flat_map(Pose::conflicts));
    out
}

/// What a body lacks of a human one; `None` if it is one. Bones of legs that are not sure count as
/// found.
pub(in super::super) fn not_human(
    rig: &Rig,
    joints: &BTreeMap<Bone, usize>,
    unsure: &[Bone],
) -> Option<String> {
    let has = |bone: &Bone| joints.contains_key(bone);
    let mut lacks: Vec<&str> = Vec::new();
    let [left_arm, right_arm, legs @ ..] = LIMBS;
    let legs = legs.into_iter().flatten();
    let missing = legs.filter(|b| !has(b) && !unsure.contains(b));
    lacks.extend(missing.map(Bone::name));
    if !has(&Bone::Hips) {
        lacks.push("hips");
    }
    if !has(&Bone::Head) && !has(&Bone::Neck) {
        lacks.push("head or neck");
    }
    if ![left_arm, right_arm]
        .iter()
        .any(|arm| arm[..2].iter().all(has))
    {
        lacks.push("a whole arm");
    }
    if !lacks.is_empty() {
        return Some(format!("a body without {}", lacks.join(", ")));
    }
    let [bind, rest] = poses(rig, joints);
    LIMBS[2..].iter().find_map(|[upper, lower, foot]| {
        // A pose may be of no bones at all.
        let ratio = |pose: &Pose| {
            let [hip, knee, ankle] = [pose.at(*upper)?, pose.at(*lower)?, pose.at(*foot)?];
            let (thigh, shin) = (hip.distance(knee), knee.distance(ankle));
            (thigh > 0.0 && shin > 0.0).then(|| thigh / shin)
        };
        let ratio = ratio(&bind).or_else(|| ratio(&rest))?;
        (!(0.55..1.8).contains(&ratio)).then(|| {
            let [a, b, c] = [upper, lower, foot].map(|b| &rig.names()[joints[b]]);
            format!("legs of {a}, {b} and {c}, with a thigh that is {ratio:.2} times as long as the shin")
        })
    })
}

/// Puts the thighs where they begin: a helper in the body's middle may have the name of one.
pub(in super::super) fn place_thighs(rig: &Rig, joints: &mut BTreeMap<Bone, usize>) {
    let at = |joint: usize| rig.bind_skel()[joint].w_axis.truncate();
    let [left, right] = [LIMBS[2], LIMBS[3]].map(|leg| leg.map(|b| joints.get(&b).copied()));
    let ([Some(a), Some(knee_a), _], [Some(b), Some(knee_b), _]) = (left, right) else {
        return;
    };
    let across = at(knee_a) - at(knee_b);
    let middle = (at(knee_a) + at(knee_b)) / 2.0;
    let Some(side) = across.try_normalize() else {
        return;
    };
    let off = |joint: usize| (at(joint) - middle).dot(side).abs() > 0.15 * across.length();
    for (bone, thigh, knee) in [(LIMBS[2][0], a, knee_a), (LIMBS[3][0], b, knee_b)] {
        if off(thigh) || !rig.chain(knee).any(|j| j == thigh) {
            continue;
        }
        let between = rig.chain(knee).skip(1).take_while(|j| *j != thigh);
        let is_free = |j: &usize| !joints.values().any(|taken| taken == j);
        let placed = between.filter(|j| off(*j) && is_free(j)).last();
        if let Some(joint) = placed {
            joints.insert(bone, joint);
        }
    }
}

/// Whether arms and legs point the same way, across the trunk, in both poses.
pub(in super::super) fn is_on_all_fours(rig: &Rig, joints: &BTreeMap<Bone, usize>) -> bool {
    poses(rig, joints).iter().all(Pose::is_on_all_fours)
}

fn hierarchy(rig: &Rig, joints: &BTreeMap<Bone, usize>) -> Vec<Conflict> {
    let is_below = |a: usize, b: usize| rig.chain(a).skip(1).any(|j| j == b);
    let mut out = Vec::new();
    let found = |bone: &Bone| Some((*bone, *joints.get(bone)?));
    for limb in LIMBS {
        let [Some(upper), Some(middle), Some(last)] = limb.map(|b| found(&b)) else {
            continue;
        };
        let hangs = is_below(last.1, upper.1);
        if hangs && !(is_below(last.1, middle.1) && is_below(middle.1, upper.1)) {
            out.push(Conflict {
                joints: vec![middle, upper, last],
                reason: "the first is not between the other two in the hierarchy".to_owned(),
            });
        }
    }
    if let (Some(hips), Some(head)) = (found(&Bone::Hips), found(&Bone::Head))
        && is_below(hips.1, head.1)
    {
        out.push(Conflict {
            joints: vec![hips, head],
            reason: "the hips hang from the head".to_owned(),
        });
    }
    out
}

/// The joints of the bones in a pose.
struct Pose<'a> {
    joints: &'a BTreeMap<Bone, usize>,
    skel: &'a [DMat4],
    /// Whether the skeleton or its hips are mirrored, so that left may be right.
    is_mirrored: bool,
    rig: &'a Rig,
}

fn poses<'a>(rig: &'a Rig, joints: &'a BTreeMap<Bone, usize>) -> [Pose<'a>; 2] {
    [rig.bind_skel(), rig.rest_skel()].map(|skel| {
        let hips = joints
            .get(&Bone::Hips)
            .map_or(1.0, |j| skel[*j].determinant());
        let placed = rig.placement().world_from_skel.determinant();
        Pose {
            joints,
            skel,
            is_mirrored: !(hips > 0.0 && placed > 0.0),
            rig,
        }
    })
}

impl Pose<'_> {
    fn at(&self, bone: Bone) -> Option<DVec3> {
        let joint = self.joints.get(&bone)?;
        Some(self.skel[*joint].w_axis.truncate())
    }

    /// The direction from the first bone to the second one.
    fn way(&self, from: Bone, to: Bone) -> Option<DVec3> {
        (self.at(to)? - self.at(from)?).try_normalize()
    }

    /// The mean of the directions that are known.
    fn mean(&self, ways: &[(Bone, Bone)]) -> Option<DVec3> {
        let ways = ways.iter().filter_map(|(a, b)| self.way(*a, *b));
        ways.sum::<DVec3>().try_normalize()
    }

    fn up(&self) -> Option<DVec3> {
        let tops = [Bone::Head, Bone::Neck, Bone::UpperChest, Bone::Chest];
        tops.iter().find_map(|top| self.way(Bone::Hips, *top))
    }

    fn legs(&self) -> Option<DVec3> {
        self.mean(&[
            (Bone::LeftUpperLeg, Bone::LeftFoot),
            (Bone::RightUpperLeg, Bone::RightFoot),
        ])
    }

    /// Where both feet point, at a right angle to up; `None` if they or the face disagree.
    fn forward(&self, up: DVec3) -> Option<DVec3> {
        let foot = |foot: Bone, toes: Bone| {
            let way = match self.way(foot, toes) {
                Some(way) => way,
                None => self.beyond(foot)?,
            };
            let flat = way.reject_from_normalized(up);
            // A foot that points down says nothing.
            (flat.length() > 0.4).then(|| flat.normalize())
        };
        let left = foot(Bone::LeftFoot, Bone::LeftToes)?;
        let right = foot(Bone::RightFoot, Bone::RightToes)?;
        let forward = (left + right).try_normalize()?;
        let faces = [Bone::LeftEye, Bone::RightEye, Bone::Jaw];
        let faces = faces.iter().filter_map(|b| self.way(Bone::Head, *b));
        let agrees = faces.sum::<DVec3>().dot(forward) >= 0.0;
        (left.dot(right) > 0.0 && agrees).then_some(forward)
    }

    /// The direction from a foot to its only child, for rigs without toes.
    fn beyond(&self, bone: Bone) -> Option<DVec3> {
        let foot = *self.joints.get(&bone)?;
        let parents = self.rig.parents().iter().enumerate();
        let mut children = parents.filter(|(_, p)| **p == Some(foot)).map(|(j, _)| j);
        let (child, None) = (children.next()?, children.next()) else {
            return None;
        };
        if self.rig.names()[child].to_lowercase().contains("heel") {
            return None;
        }
        (self.skel[child].w_axis.truncate() - self.at(bone)?).try_normalize()
    }

    /// Whether the legs are along the trunk, away from the head. Without legs or a trunk nothing
    /// says that it does not.
    fn stands(&self) -> bool {
        let along = self.legs().zip(self.up());
        along.is_none_or(|(legs, up)| legs.dot(up) < -0.8)
    }

    fn conflicts(&self) -> Vec<Conflict> {
        let mut out = Vec::new();
        let Some(up) = self.up() else { return out };
        // The direction from the right to the left joint of each pair, across the body.
        let sides: Vec<(Bone, Bone, DVec3)> = SIDED
            .iter()
            .filter_map(|(left, right)| {
                let across = self.way(*right, *left)?.reject_from_normalized(up);
                (across.length() > 0.5).then(|| (*left, *right, across.normalize()))
            })
            .collect();
        let left = match self.is_mirrored {
            true => None,
            false => self.forward(up).map(|forward| up.cross(forward)),
        };
        // Without feet the legs, or the first pair, say where left is: then only a difference
        // between arms and legs shows.
        let left = left.or_else(|| sides.last().map(|(_, _, across)| *across));
        let Some(left) = left else { return out };
        for (a, b, across) in sides {
            if across.dot(left) < -0.5 {
                out.push(Conflict {
                    joints: vec![(a, self.joints[&a]), (b, self.joints[&b])],
                    reason: "the left one is on the right of the body".to_owned(),
                });
            }
        }
        out
    }

    fn is_on_all_fours(&self) -> bool {
        let arms = self.mean(&[
            (Bone::LeftUpperArm, Bone::LeftHand),
            (Bone::RightUpperArm, Bone::RightHand),
        ]);
        match (self.up(), self.legs(), arms) {
            (Some(trunk), Some(legs), Some(arms)) => {
                arms.dot(legs) > 0.7 && trunk.dot(legs).abs() < 0.5 && trunk.dot(arms).abs() < 0.5
            }
            _ => false,
        }
    }
}

/// The joint that mirrors that of the other side, for each bone of [`LIMBS`] that is found on one
/// side only. It is at most an eighth of the trunk's length away from the mirrored position.
pub(in super::super) fn mirrored(
    rig: &Rig,
    joints: &BTreeMap<Bone, usize>,
) -> BTreeMap<Bone, usize> {
    let [pose, _] = poses(rig, joints);
    let mut out = BTreeMap::new();
    let (Some(middle), Some(up)) = (pose.at(Bone::Hips), pose.up()) else {
        return out;
    };
    let pairs = SIDED
        .iter()
        .filter_map(|(left, right)| pose.way(*right, *left));
    let across = pairs
        .sum::<DVec3>()
        .reject_from_normalized(up)
        .try_normalize();
    let across = across.or_else(|| Some(up.cross(pose.forward(up)?)));
    // With one side alone, the joints of that side say where it is.
    let lone = || {
        let known = LIMBS.iter().flatten().filter_map(|b| pose.at(*b));
        let way = known.map(|at| at - middle).sum::<DVec3>();
        way.reject_from_normalized(up).try_normalize()
    };
    let Some(across) = across.or_else(lone) else {
        return out;
    };
    let tops = [Bone::Head, Bone::Neck, Bone::UpperChest, Bone::Chest];
    let top = tops.iter().find_map(|b| pose.at(*b)).unwrap_or(middle);
    let reach = middle.distance(top) / 8.0;
    for bone in LIMBS.iter().flatten() {
        let Some(at) = bone.mirrored().and_then(|b| pose.at(b)) else {
            continue;
        };
        if joints.contains_key(bone) {
            continue;
        }
        let wanted = at - across * (2.0 * (at - middle).dot(across));
        let distance = |j: &usize| pose.skel[*j].w_axis.truncate().distance(wanted);
        let free = (0..rig.len()).filter(|j| !joints.values().any(|k| k == j));
        let nearest = free.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        if let Some(joint) = nearest.filter(|j| distance(j) <= reach) {
            out.insert(*bone, joint);
        }
    }
    out
}
