//! Puts a body together: the limbs, the trunk between them, and what hangs from both.

use std::collections::BTreeMap;

use super::dictionary::{Role, Segment, Side};
use super::limbs::{self, Kind, Limb};
use super::tree::Tree;
use super::{Misplaced, fingers};
use crate::retarget::Bone;

const SIDES: [Side; 2] = [Side::Left, Side::Right];

/// The joint of each human bone, and the joints that have a bone's name in a place where it cannot
/// be.
pub(super) fn find(tree: &Tree) -> (BTreeMap<Bone, usize>, Misplaced) {
    let mut out = BTreeMap::new();
    let mut misplaced = Vec::new();
    let mut limbs = |kind: Kind| {
        SIDES.map(|side| {
            let mut limb = limbs::find(tree, kind, side);
            misplaced.extend(limbs::complete(tree, kind, side, &mut limb));
            let joints = kind.bones(side).into_iter().zip(limb.joints);
            out.extend(joints.filter_map(|(bone, joint)| Some((bone, joint?))));
            limb
        })
    };
    let (arms, legs) = (limbs(Kind::Arm), limbs(Kind::Leg));
    let trunk = Trunk::find(tree, &arms, &legs);
    let is_free = |joint: &usize| !out.values().any(|j| j == joint);
    let found: Vec<(Bone, usize)> = trunk
        .bones(tree)
        .into_iter()
        .filter(|(_, j)| is_free(j))
        .collect();
    out.extend(found);
    if let Some(head) = trunk.head {
        out.extend(of_head(tree, head));
    }
    for (side, arm) in SIDES.into_iter().zip(arms) {
        if let Some(hand) = arm.joints[3] {
            out.extend(fingers::find(tree, side, hand));
        } else if let Some((forearm, palm)) = palm(tree, side, &arm) {
            out.insert(Kind::Arm.bones(side)[3], palm);
            out.extend(fingers::find(tree, side, forearm));
        }
    }
    (out, misplaced)
}

/// The forearm of an arm without a hand, and the metacarpal below it that turns as a hand does: that of
/// the middle finger.
fn palm(tree: &Tree, side: Side, arm: &Limb) -> Option<(usize, usize)> {
    let forearm = arm.joints[2]?;
    let middle = tree.named(Role::Finger(Some(2)), 0.6);
    let is_palm = |j: &usize| {
        let clue = &tree.clues[*j];
        tree.parents[*j] == Some(forearm)
            && clue.side == Some(side)
            && clue.segment == Some(Segment::Metacarpal)
            && middle.iter().any(|m| tree.is_below(*m, *j))
    };
    let palm = tree.order.iter().copied().find(is_palm)?;
    Some((forearm, palm))
}

/// The eyes and the jaw.
fn of_head(tree: &Tree, head: usize) -> Vec<(Bone, usize)> {
    let below = |j: &usize| *j != head && tree.is_below(*j, head);
    let eye = |side: Side| {
        let mut eyes = tree.named(Role::Eye, 0.6).into_iter().filter(below);
        eyes.find(|j| tree.clues[*j].side == Some(side))
    };
    let jaw = tree.named(Role::Jaw, 0.6).into_iter().find(below);
    let found = [
        (Bone::LeftEye, eye(Side::Left)),
        (Bone::RightEye, eye(Side::Right)),
        (Bone::Jaw, jaw),
    ];
    found
        .into_iter()
        .filter_map(|(bone, joint)| Some((bone, joint?)))
        .collect()
}

/// The trunk, from the hips up.
#[derive(Debug, Default)]
struct Trunk {
    hips: Option<usize>,
    spine: Vec<usize>,
    neck: Option<usize>,
    head: Option<usize>,
}

impl Trunk {
    /// The hips are where the legs meet the way to the head and the arms, or a joint above that has
    /// their name. The spine runs from there to where the arms meet, the neck from there to the
    /// head.
    fn find(tree: &Tree, arms: &[Limb; 2], legs: &[Limb; 2]) -> Self {
        let firsts = |limbs: &[Limb; 2]| limbs.iter().filter_map(Limb::first).collect::<Vec<_>>();
        let (arms, legs) = (firsts(arms), firsts(legs));
        let mut head = head(tree, &arms);
        let top: Vec<usize> = arms.iter().copied().chain(head).collect();
        let crotch = match top.is_empty() || legs.is_empty() {
            true => None,
            false => tree.shared(&[&legs[..], &top].concat()),
        };
        let hips = hips(tree, crotch, &legs, &top);
        // What carries the legs does not bend with the spine.
        let start = match (crotch, hips) {
            (Some(crotch), Some(hips)) if tree.is_below(crotch, hips) => Some(crotch),
            (crotch, hips) => hips.or(crotch),
        };
        let chest = match arms.len() {
            2 => tree.shared(&arms),
            _ => None,
        };
        let chest = chest
            .or_else(|| tree.shared(&top).filter(|_| top.len() > 1))
            .or_else(|| {
                let mut chain = arms.iter().flat_map(|a| tree.chain(*a).skip(1));
                chain.find(|j| tree.weight(*j, Role::Spine) > 0.0)
            })
            .filter(|c| start.is_none_or(|s| tree.is_below(*c, s)));
        // The joints from the hips to the chest, and those from there to the head.
        let mut path = match (start, chest) {
            (Some(start), Some(chest)) if start != chest => {
                let mut path = tree.between(start, chest);
                path.push(chest);
                path
            }
            (None, Some(chest)) => {
                let mut path: Vec<usize> = tree.chain(chest).collect();
                path.retain(|j| tree.weight(*j, Role::Spine) > 0.0);
                path.reverse();
                path
            }
            _ => Vec::new(),
        };
        let from = chest.or(start);
        if head.is_none()
            && let Some(from) = from
        {
            head = unnamed_head(tree, from);
        }
        if let (Some(from), Some(head)) = (from, head) {
            path.extend(tree.between(from, head));
        }
        // Arms may hang from the neck.
        path.retain(|j| Some(*j) != head && (!tree.clues[*j].is_helper));
        let on_spine = |j: usize| chest.is_some_and(|c| tree.is_below(c, j));
        let neck = path
            .iter()
            .position(|j| tree.weight(*j, Role::Neck) > 0.0)
            .or_else(|| path.iter().position(|j| chest.is_some() && !on_spine(*j)));
        let mut spine = path[..neck.unwrap_or(path.len())].to_vec();
        let mut neck = neck.map(|n| path[n]);
        if path.is_empty() && chest.is_none() {
            // Without a hierarchy the names alone decide.
            spine = tree.named(Role::Spine, 0.9);
            neck = tree.named(Role::Neck, 0.9).first().copied();
        }
        Self {
            hips,
            spine,
            neck,
            head,
        }
    }

    /// The joint between the first and the last of the spine that is nearest to their middle.
    fn middle(&self, tree: &Tree) -> usize {
        let last = self.spine.len() - 1;
        let at = |i: usize| tree.at[self.spine[i]];
        let middle = (at(0) + at(last)) * 0.5;
        let from = |i: &usize| at(*i).distance(middle);
        let inner = (1..last).min_by(|a, b| from(a).total_cmp(&from(b)));
        inner.unwrap_or(last)
    }

    /// The bones of the joints. Names that say spine, chest and upper chest in this order are taken
    /// at their word. Else they count from below; of more than three joints the first, the middle
    /// and the last one are taken.
    fn bones(&self, tree: &Tree) -> Vec<(Bone, usize)> {
        const SPINE: [Bone; 3] = [Bone::Spine, Bone::Chest, Bone::UpperChest];
        let last = self.spine.len().saturating_sub(1);
        let said: Option<Vec<usize>> = self.spine.iter().map(|j| tree.clues[*j].trunk).collect();
        let said = said.filter(|s| s.windows(2).all(|w| w[0] < w[1]));
        let chosen: Vec<(Bone, usize)> = match (said, self.spine.len()) {
            (Some(said), _) => said
                .iter()
                .map(|i| SPINE[*i])
                .zip(self.spine.iter().copied())
                .collect(),
            (None, 0..=3) => SPINE.into_iter().zip(self.spine.iter().copied()).collect(),
            (None, _) => {
                let joints = [0, self.middle(tree), last].map(|i| self.spine[i]);
                SPINE.into_iter().zip(joints).collect()
            }
        };
        let others = [
            (Bone::Hips, self.hips),
            (Bone::Neck, self.neck),
            (Bone::Head, self.head),
        ];
        let others = others.into_iter().filter_map(|(b, j)| Some((b, j?)));
        let mut out: Vec<(Bone, usize)> = Vec::new();
        for (bone, joint) in others.chain(chosen) {
            if !out.iter().any(|(_, j)| *j == joint) {
                out.push((bone, joint));
            }
        }
        out
    }
}

/// The best joint named head; of equal ones the first that hangs from where the arms meet.
fn head(tree: &Tree, arms: &[usize]) -> Option<usize> {
    let chest = tree.shared(arms);
    let named = tree.named(Role::Head, 0.3);
    let score = |j: usize| {
        let hangs = chest.is_some_and(|c| tree.is_below(j, c));
        tree.weight(j, Role::Head) + if hangs { 0.5 } else { 0.0 }
    };
    named
        .into_iter()
        .reduce(|a, b| if score(b) > score(a) { b } else { a })
}

/// The last joint above the chest, in rigs that number the joints of the spine or of the neck.
fn unnamed_head(tree: &Tree, chest: usize) -> Option<usize> {
    let role = |j: usize, role: Role| tree.weight(j, role) > 0.0;
    let is_trunk = |j: usize| role(j, Role::Spine) || role(j, Role::Neck);
    let count = |j: usize| {
        tree.between(chest, j)
            .into_iter()
            .filter(|j| is_trunk(*j))
            .count()
    };
    let below = tree.order.iter().copied();
    let below = below.filter(|j| *j != chest && is_trunk(*j) && tree.is_below(*j, chest));
    let last = below.reduce(|a, b| if count(b) > count(a) { b } else { a })?;
    // A lone joint named neck is the neck.
    (count(last) > 0 || !role(last, Role::Neck)).then_some(last)
}

/// The hips: `crotch` is where the legs meet the rest of the body.
fn hips(tree: &Tree, crotch: Option<usize>, legs: &[usize], top: &[usize]) -> Option<usize> {
    let weight = |j: &usize| tree.weight(*j, Role::Hips);
    let named = tree.named(Role::Hips, 0.5);
    let Some(crotch) = crotch else {
        // Without legs or without a trunk the name alone decides.
        let carries = |j: &&usize| legs.iter().chain(top).any(|l| tree.is_below(*l, **j));
        let found = named.iter().find(carries).or(named.first());
        return found.copied();
    };
    let mut above = tree.chain(crotch);
    let least = |j: &usize| if *j == crotch { 0.3 } else { 0.5 };
    if let Some(hips) = above.find(|j| weight(j) >= least(j)) {
        return Some(hips);
    }
    // A joint far from the legs is a root that carries all parts of the body.
    let thighs: glam::DVec3 = legs.iter().map(|j| tree.at[*j]).sum();
    let thighs = thighs / legs.len() as f64;
    let reach = |joint: usize| tree.at[joint].distance(thighs);
    let tallest = top.iter().map(|j| reach(*j)).fold(0.0, f64::max);
    match named.first() {
        Some(named) if reach(crotch) > 0.5 * tallest && reach(*named) < reach(crotch) => {
            Some(*named)
        }
        _ => Some(crotch),
    }
}
