//! Compares matches with the anatomy of a body.
//!
//! Directions are relative to the body itself: up is from the hips to the head, forward is where the
//! feet point. So a rig may lie, face any way or be mirrored as a whole.

use std::collections::BTreeMap;

use glam::DVec3;

use crate::retarget::characterise::{ARMS, FEET, LEGS, Pose, View};
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

/// All contradictions. What depends on positions counts only in the bind pose, or else the rest pose,
/// and only if that stands: a zero pose along the bones is folded anyhow.
pub(in super::super) fn conflicts(rig: &Rig, joints: &BTreeMap<Bone, usize>) -> Vec<Conflict> {
    let mut out = hierarchy(rig, joints);
    let poses = poses(rig);
    let views = poses.iter().zip([rig.bind_skel(), rig.rest_skel()]);
    let mut bodies = views.map(|(pose, skel)| {
        let view = View {
            bones: joints,
            pose,
        };
        let hips = joints.get(&Bone::Hips);
        let hips = hips.map_or(1.0, |j| skel[*j].determinant());
        let placed = rig.placement().world_from_skel.determinant();
        (view, !(hips > 0.0 && placed > 0.0))
    });
    // Legs are along the trunk, away from the head. Without legs or a trunk nothing says that they
    // are not.
    let standing = bodies.find(|(view, _)| {
        let along = view.limbs(LEGS).zip(view.trunk());
        along.is_none_or(|(legs, up)| legs.dot(up) < -0.8)
    });
    if let Some((view, is_mirrored)) = standing {
        out.extend(swapped(rig, &view, is_mirrored));
    }
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
    let missing = LEGS.iter().flatten();
    let missing = missing.filter(|b| !has(b) && !unsure.contains(b));
    lacks.extend(missing.map(|b| b.name()));
    if !has(&Bone::Hips) {
        lacks.push("hips");
    }
    if !has(&Bone::Head) && !has(&Bone::Neck) {
        lacks.push("head or neck");
    }
    if !ARMS.iter().any(|arm| arm[..2].iter().all(has)) {
        lacks.push("a whole arm");
    }
    if !lacks.is_empty() {
        return Some(format!("a body without {}", lacks.join(", ")));
    }
    let poses = poses(rig);
    LEGS.iter().find_map(|[upper, lower, foot]| {
        // A pose may be of no bones at all.
        let ratio = |pose: &Pose| {
            let pose = View {
                bones: joints,
                pose,
            };
            let [hip, knee, ankle] = [pose.at(*upper)?, pose.at(*lower)?, pose.at(*foot)?];
            let (thigh, shin) = (hip.distance(knee), knee.distance(ankle));
            (thigh > 0.0 && shin > 0.0).then(|| thigh / shin)
        };
        let ratio = poses.iter().find_map(ratio)?;
        (!(0.55..1.8).contains(&ratio)).then(|| {
            let [a, b, c] = [upper, lower, foot].map(|b| &rig.names()[joints[b]]);
            format!("legs of {a}, {b} and {c}, with a thigh that is {ratio:.2} times as long as the shin")
        })
    })
}

/// Puts the thighs where they begin: a helper in the body's middle may have the name of one.
pub(in super::super) fn place_thighs(rig: &Rig, joints: &mut BTreeMap<Bone, usize>) {
    let at = |joint: usize| rig.bind_skel()[joint].w_axis.truncate();
    let [left, right] = LEGS.map(|leg| leg.map(|b| joints.get(&b).copied()));
    let ([Some(a), Some(knee_a), _], [Some(b), Some(knee_b), _]) = (left, right) else {
        return;
    };
    let across = at(knee_a) - at(knee_b);
    let middle = (at(knee_a) + at(knee_b)) / 2.0;
    let Some(side) = across.try_normalize() else {
        return;
    };
    let off = |joint: usize| (at(joint) - middle).dot(side).abs() > 0.15 * across.length();
    for (bone, thigh, knee) in [(LEGS[0][0], a, knee_a), (LEGS[1][0], b, knee_b)] {
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
    poses(rig).iter().all(|pose| {
        let view = View {
            bones: joints,
            pose,
        };
        match (view.trunk(), view.limbs(LEGS), view.limbs(ARMS)) {
            (Some(trunk), Some(legs), Some(arms)) => {
                arms.dot(legs) > 0.7 && trunk.dot(legs).abs() < 0.5 && trunk.dot(arms).abs() < 0.5
            }
            _ => false,
        }
    })
}

fn hierarchy(rig: &Rig, joints: &BTreeMap<Bone, usize>) -> Vec<Conflict> {
    let is_below = |a: usize, b: usize| rig.chain(a).skip(1).any(|j| j == b);
    let mut out = Vec::new();
    let found = |bone: &Bone| Some((*bone, *joints.get(bone)?));
    for limb in ARMS.into_iter().chain(LEGS) {
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

/// The bind and the rest pose, in skeleton space.
fn poses(rig: &Rig) -> [Pose; 2] {
    [rig.bind_skel(), rig.rest_skel()].map(|skel| Pose::new(rig, skel))
}

/// Where both feet point, at a right angle to up; `None` if they or the face disagree.
fn forward(rig: &Rig, view: &View<'_>, up: DVec3) -> Option<DVec3> {
    let foot = |[foot, toes]: [Bone; 2]| {
        let way = view.way(foot, toes).or_else(|| beyond(rig, view, foot))?;
        let flat = way.reject_from_normalized(up);
        // A foot that points down says nothing.
        (flat.length() > 0.4).then(|| flat.normalize())
    };
    let (left, right) = (foot(FEET[0])?, foot(FEET[1])?);
    let forward = (left + right).try_normalize()?;
    let faces = [Bone::LeftEye, Bone::RightEye, Bone::Jaw];
    let faces = faces.iter().filter_map(|b| view.way(Bone::Head, *b));
    let agrees = faces.sum::<DVec3>().dot(forward) >= 0.0;
    (left.dot(right) > 0.0 && agrees).then_some(forward)
}

/// The direction from a foot to its only child, for rigs without toes.
fn beyond(rig: &Rig, view: &View<'_>, bone: Bone) -> Option<DVec3> {
    let foot = *view.bones.get(&bone)?;
    let parents = rig.parents().iter().enumerate();
    let mut children = parents.filter(|(_, p)| **p == Some(foot)).map(|(j, _)| j);
    let (child, None) = (children.next()?, children.next()) else {
        return None;
    };
    if rig.names()[child].to_lowercase().contains("heel") {
        return None;
    }
    (view.pose.at[child] - view.at(bone)?).try_normalize()
}

/// Left joints on the right of the body. If the skeleton or its hips are mirrored, left may be right.
fn swapped(rig: &Rig, view: &View<'_>, is_mirrored: bool) -> Vec<Conflict> {
    let mut out = Vec::new();
    let Some(up) = view.trunk() else { return out };
    // The direction from the right to the left joint of each pair, across the body.
    let sides: Vec<(Bone, Bone, DVec3)> = SIDED
        .iter()
        .filter_map(|(left, right)| {
            let across = view.way(*right, *left)?.reject_from_normalized(up);
            (across.length() > 0.5).then(|| (*left, *right, across.normalize()))
        })
        .collect();
    let left = match is_mirrored {
        true => None,
        false => forward(rig, view, up).map(|forward| up.cross(forward)),
    };
    // Without feet the legs, or the first pair, say where left is: then only a difference
    // between arms and legs shows.
    let left = left.or_else(|| sides.last().map(|(_, _, across)| *across));
    let Some(left) = left else { return out };
    for (a, b, across) in sides {
        if across.dot(left) < -0.5 {
            out.push(Conflict {
                joints: vec![(a, view.bones[&a]), (b, view.bones[&b])],
                reason: "the left one is on the right of the body".to_owned(),
            });
        }
    }
    out
}

/// The joint that mirrors that of the other side, for each bone of a limb that is found on one
/// side only. It is at most an eighth of the trunk's length away from the mirrored position.
pub(in super::super) fn mirrored(
    rig: &Rig,
    joints: &BTreeMap<Bone, usize>,
) -> BTreeMap<Bone, usize> {
    let [pose, _] = poses(rig);
    let view = View {
        bones: joints,
        pose: &pose,
    };
    let mut out = BTreeMap::new();
    let (Some(middle), Some(top), Some(up)) = (view.at(Bone::Hips), view.top(), view.trunk())
    else {
        return out;
    };
    let limbs = || ARMS.iter().chain(&LEGS).flatten();
    let pairs = SIDED
        .iter()
        .filter_map(|(left, right)| view.way(*right, *left));
    let across = pairs
        .sum::<DVec3>()
        .reject_from_normalized(up)
        .try_normalize();
    let across = across.or_else(|| Some(up.cross(forward(rig, &view, up)?)));
    // With one side alone, the joints of that side say where it is.
    let lone = || {
        let known = limbs().filter_map(|b| view.at(*b));
        let way = known.map(|at| at - middle).sum::<DVec3>();
        way.reject_from_normalized(up).try_normalize()
    };
    let Some(across) = across.or_else(lone) else {
        return out;
    };
    let reach = middle.distance(top) / 8.0;
    for bone in limbs() {
        let Some(at) = bone.mirrored().and_then(|b| view.at(b)) else {
            continue;
        };
        if joints.contains_key(bone) {
            continue;
        }
        let wanted = at - across * (2.0 * (at - middle).dot(across));
        let distance = |j: &usize| pose.at[*j].distance(wanted);
        let free = (0..rig.len()).filter(|j| !joints.values().any(|k| k == j));
        let nearest = free.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        if let Some(joint) = nearest.filter(|j| distance(j) <= reach) {
            out.insert(*bone, joint);
        }
    }
    out
}
