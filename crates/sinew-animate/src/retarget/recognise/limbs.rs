//! Finds arms and legs: chains of joints whose names fit the parts of a limb in their order.

use super::tree::Tree;
use super::words::{Role, Side};
use crate::retarget::Bone;

/// An arm or a leg: the joint of each of its four parts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Limb {
    pub joints: [Option<usize>; 4],
}

impl Limb {
    pub fn first(&self) -> Option<usize> {
        self.joints.iter().flatten().next().copied()
    }
}

/// Arms or legs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Arm,
    Leg,
}

impl Kind {
    pub fn role(self, part: usize) -> Role {
        match self {
            Self::Arm => Role::Arm(part),
            Self::Leg => Role::Leg(part),
        }
    }

    /// The bones of a limb.
    pub fn bones(self, side: Side) -> [Bone; 4] {
        use Bone::*;
        match (self, side) {
            (Self::Arm, Side::Left) => [LeftShoulder, LeftUpperArm, LeftLowerArm, LeftHand],
            (Self::Arm, Side::Right) => [RightShoulder, RightUpperArm, RightLowerArm, RightHand],
            (Self::Leg, Side::Left) => [LeftUpperLeg, LeftLowerLeg, LeftFoot, LeftToes],
            (Self::Leg, Side::Right) => [RightUpperLeg, RightLowerLeg, RightFoot, RightToes],
        }
    }

    /// What it costs if a limb lacks a part. Shoulders and toes are often missing.
    fn lack(self, part: usize) -> f64 {
        match (self, part) {
            (Self::Arm, 0) => 0.05,
            _ => 0.35,
        }
    }
}

/// A name that says its role with at least this weight decides where other limbs end.
const SURE: f64 = 0.6;

/// The best chain up to a joint whose last part is the given one.
#[derive(Clone, Copy)]
struct Step {
    score: f64,
    joint: usize,
    /// The part before.
    before: Option<(usize, usize)>,
}

/// What hangs above a joint.
#[derive(Clone, Copy)]
struct Above {
    /// The best chain that ends with each part.
    best: [Option<Step>; 4],
    /// Whether a limb can begin below.
    may_begin: bool,
}

/// The limb of a side. Its joints hang from each other in the order of the parts; others may lie
/// between, but none of another part of the body. If names may mean several parts, those are taken
/// that make the chain complete; of equal ones the first joint from the trunk.
pub(super) fn find(tree: &Tree, kind: Kind, side: Side) -> Limb {
    let start = Above {
        best: [None; 4],
        may_begin: true,
    };
    let mut state = vec![start; tree.parents.len()];
    let mut steps = vec![[None::<Step>; 4]; tree.parents.len()];
    let mut last: Option<Step> = None;
    let mut last_part = 0;
    for &joint in &tree.order {
        let mut above = tree.parents[joint].map_or(start, |p| state[p]);
        let clue = &tree.clues[joint];
        let sure = clue.best().filter(|(_, w)| *w >= SURE);
        let is_own = clue.side == Some(side);
        match sure.map(|(role, _)| role) {
            Some(Role::Hips | Role::Spine) => above.best = [None; 4],
            Some(Role::Neck) => {
                above.best = [None; 4];
                above.may_begin &= kind == Kind::Arm;
            }
            Some(Role::Arm(_)) if kind == Kind::Arm && is_own => {}
            Some(Role::Leg(_)) if kind == Kind::Leg && is_own => {}
            Some(_) => {
                above = Above {
                    may_begin: false,
                    ..start
                }
            }
            None => {}
        }
        let begins = above.may_begin && is_own;
        let before = above.best;
        for part in 0..4 {
            let weight = tree.weight(joint, kind.role(part));
            if weight <= 0.0 || !is_own {
                continue;
            }
            let lacks = |from: usize| (from..part).map(|p| kind.lack(p)).sum::<f64>();
            let from_none = begins.then(|| (weight - lacks(0), None));
            let chains = (0..part).filter_map(|p| {
                let step = before[p]?;
                Some((step.score + weight - lacks(p + 1), Some((step.joint, p))))
            });
            let best = from_none
                .into_iter()
                .chain(chains)
                .reduce(|a, b| if b.0 > a.0 { b } else { a });
            let Some((score, before)) = best else {
                continue;
            };
            let step = Step {
                score,
                joint,
                before,
            };
            steps[joint][part] = Some(step);
            if above.best[part].is_none_or(|b| score > b.score) {
                above.best[part] = Some(step);
            }
            if last.is_none_or(|l| score > l.score) {
                (last, last_part) = (Some(step), part);
            }
        }
        state[joint] = above;
    }
    let mut limb = Limb::default();
    let mut at = last.map(|l| (l.joint, last_part));
    while let Some((joint, part)) = at {
        limb.joints[part] = Some(joint);
        at = steps[joint][part].and_then(|s| s.before);
    }
    limb
}

/// Joints whose names say a missing part of the limb without doubt, in places where that part
/// cannot be. Joints with nothing of the body above them are in no wrong place: they are taken, as
/// in rigs without a hierarchy.
pub(super) fn complete(tree: &Tree, kind: Kind, side: Side, limb: &mut Limb) -> Vec<(Bone, usize)> {
    let mut misplaced = Vec::new();
    for part in 0..4 {
        if limb.joints[part].is_some() {
            continue;
        }
        let says = |j: &&usize| {
            let is_best = tree.clues[**j]
                .best()
                .is_some_and(|(r, _)| r == kind.role(part));
            tree.clues[**j].side == Some(side)
                && is_best
                && tree.weight(**j, kind.role(part)) >= 0.9
                && !limb.joints.contains(&Some(**j))
        };
        let Some(&joint) = tree.order.iter().find(says) else {
            continue;
        };
        let is_free = tree
            .chain(joint)
            .skip(1)
            .all(|j| tree.clues[j].best().is_none());
        match is_free {
            true => limb.joints[part] = Some(joint),
            false => misplaced.push((kind.bones(side)[part], joint)),
        }
    }
    misplaced
}
