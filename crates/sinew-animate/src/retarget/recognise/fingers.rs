//! Finds the fingers below a hand.

use std::collections::{HashMap, HashSet};

use super::tree::Tree;
use super::words::{Segment, Side};
use crate::retarget::Bone;

/// The bones of the fingers of a hand, from the thumb on, from the hand outward.
fn bones(side: Side) -> [[Bone; 3]; 5] {
    use Bone::*;
    match side {
        Side::Left => [
            [LeftThumbMetacarpal, LeftThumbProximal, LeftThumbDistal],
            [LeftIndexProximal, LeftIndexIntermediate, LeftIndexDistal],
            [LeftMiddleProximal, LeftMiddleIntermediate, LeftMiddleDistal],
            [LeftRingProximal, LeftRingIntermediate, LeftRingDistal],
            [LeftLittleProximal, LeftLittleIntermediate, LeftLittleDistal],
        ],
        Side::Right => [
            [RightThumbMetacarpal, RightThumbProximal, RightThumbDistal],
            [RightIndexProximal, RightIndexIntermediate, RightIndexDistal],
            [
                RightMiddleProximal,
                RightMiddleIntermediate,
                RightMiddleDistal,
            ],
            [RightRingProximal, RightRingIntermediate, RightRingDistal],
            [
                RightLittleProximal,
                RightLittleIntermediate,
                RightLittleDistal,
            ],
        ],
    }
}

/// The largest number of joints of a hand whose names number the fingers.
const MOST: usize = 64;

/// The joints of all finger bones below a hand. The first joint of a finger says which one it is;
/// what hangs from it belongs to it, whatever it is called.
pub(super) fn find(tree: &Tree, side: Side, hand: usize) -> Vec<(Bone, usize)> {
    let hand = Hand::new(tree, hand);
    let mut chains: [Vec<usize>; 5] = Default::default();
    let says = |j: usize| tree.clues[j].finger().flatten();
    let named = hand.roots(|j| says(j).is_some());
    for joint in named {
        if let Some(chain) = says(joint).map(|finger| &mut chains[finger])
            && chain.is_empty()
        {
            *chain = hand.chain(joint);
        }
    }
    // Names such as Finger0 count the fingers, but not names of a joint that carries fingers.
    let carries = |joint: usize| {
        let mut firsts = chains.iter().filter_map(|c| c.first());
        firsts.any(|j| tree.is_below(*j, joint))
    };
    let mut counted = hand.roots(|j| tree.clues[j].finger() == Some(None));
    counted.truncate(MOST);
    counted.retain(|j| !carries(*j));
    let counted: Vec<(usize, usize)> = counted
        .into_iter()
        .filter_map(|j| Some((number(tree, j)?, j)))
        .collect();
    let first = usize::from(!counted.iter().any(|(n, _)| *n == 0));
    for (number, joint) in counted {
        let finger = number.checked_sub(first).and_then(|f| chains.get_mut(f));
        if let Some(chain) = finger.filter(|c| c.is_empty()) {
            *chain = hand.chain(joint);
        }
    }
    let bones = bones(side);
    let mut out = Vec::new();
    for (finger, chain) in chains.iter().enumerate() {
        for (segment, joint) in segments(tree, hand.joint, chain, finger == 0) {
            out.push((bones[finger][segment], joint));
        }
    }
    out
}

/// The joints below a hand.
struct Hand<'a> {
    tree: &'a Tree,
    joint: usize,
    /// Parents before children.
    below: Vec<usize>,
    /// For each joint below: its children, and the number of joints of its longest chain.
    children: HashMap<usize, Vec<usize>>,
    depth: HashMap<usize, usize>,
}

impl<'a> Hand<'a> {
    fn new(tree: &'a Tree, joint: usize) -> Self {
        let mut children: HashMap<usize, Vec<usize>> = HashMap::from([(joint, Vec::new())]);
        let mut below = Vec::new();
        for &j in &tree.order {
            if let Some(siblings) = tree.parents[j].and_then(|p| children.get_mut(&p)) {
                siblings.push(j);
                below.push(j);
                children.insert(j, Vec::new());
            }
        }
        let mut depth: HashMap<usize, usize> = HashMap::new();
        for j in below.iter().rev() {
            let longest = children[j].iter().map(|c| depth[c]).max();
            depth.insert(*j, longest.unwrap_or(0) + 1);
        }
        Self {
            tree,
            joint,
            below,
            children,
            depth,
        }
    }

    /// The joints that fit and that hang from no other one that fits.
    fn roots(&self, fits: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut covered: HashSet<usize> = HashSet::new();
        let mut out = Vec::new();
        for &j in &self.below {
            let is_covered = self.tree.parents[j].is_some_and(|p| covered.contains(&p));
            let is_root = !is_covered && !self.tree.clues[j].is_helper && fits(j);
            if is_root {
                out.push(j);
            }
            if is_covered || is_root {
                covered.insert(j);
            }
        }
        out
    }

    /// The joints of a finger from its first one on. Where it branches, it goes on with a joint
    /// that has a finger's name, or else with the longest branch. Helpers are left out, but a tip
    /// that carries an end is the last joint.
    fn chain(&self, root: usize) -> Vec<usize> {
        let mut out = Vec::new();
        let mut next = Some(root);
        while let Some(joint) = next {
            let clue = &self.tree.clues[joint];
            let children = &self.children[&joint];
            if !clue.is_helper || (clue.is_tip && !children.is_empty()) {
                out.push(joint);
            }
            if out.len() == LONGEST {
                break;
            }
            let rank = |j: &usize| {
                let clue = &self.tree.clues[*j];
                (!clue.is_helper && clue.finger().is_some(), self.depth[j])
            };
            // The first of equal ones.
            next = children.iter().rev().max_by_key(|j| rank(j)).copied();
        }
        out
    }
}

/// The largest number of joints of a finger that are looked at.
const LONGEST: usize = 8;

fn number(tree: &Tree, joint: usize) -> Option<usize> {
    tree.clues[joint].numbers.first()?.parse().ok()
}

/// The segment of each joint of a finger. The thumb begins at the metacarpal, the other fingers at
/// the proximal bone.
fn segments(tree: &Tree, hand: usize, chain: &[usize], is_thumb: bool) -> Vec<(usize, usize)> {
    let said = |j: &usize| tree.clues[*j].segment;
    let mut chain = chain.to_vec();
    if !is_thumb {
        chain.retain(|j| said(j) != Some(Segment::Metacarpal));
    }
    // Names that say the segment. Unity calls a thumb's joints proximal, intermediate and distal.
    let is_shifted = chain.iter().any(|j| said(j) == Some(Segment::Intermediate));
    let by_name = |j: &usize| {
        Some(match (said(j)?, is_thumb && !is_shifted) {
            (Segment::Metacarpal, true) => 0,
            (Segment::Proximal, true) => 1,
            (Segment::Metacarpal, false) => return None,
            (Segment::Proximal, false) => 0,
            (Segment::Intermediate, _) => 1,
            (Segment::Distal, _) => 2,
        })
    };
    let by_number = |j: &usize| {
        let last = tree.clues[*j].numbers.last()?;
        let is_from_zero = tree.clues[*j].from_zero || chain_has_zero(tree, &chain);
        let number: usize = last.parse().ok()?;
        number
            .checked_sub(usize::from(!is_from_zero))
            .filter(|s| *s < 3)
    };
    let ways: [&dyn Fn(&usize) -> Option<usize>; 2] = [&by_name, &by_number];
    for (way, most) in ways.into_iter().zip([4, 3]) {
        let found: Option<Vec<usize>> = chain.iter().map(way).collect();
        if let Some(found) = found
            && found.windows(2).all(|w| w[0] < w[1])
            && chain.len() < most
        {
            return found.into_iter().zip(chain.iter().copied()).collect();
        }
    }
    let skip = usize::from(!is_thumb && chain.len() > 3 && begins_in_palm(tree, hand, &chain));
    let first = usize::from(is_thumb && chain.len() == 2);
    chain
        .into_iter()
        .skip(skip)
        .take(3)
        .enumerate()
        .map(|(i, j)| (i + first, j))
        .collect()
}

fn chain_has_zero(tree: &Tree, chain: &[usize]) -> bool {
    let last = |j: &usize| tree.clues[*j].numbers.last();
    chain
        .iter()
        .filter_map(last)
        .any(|n| n.parse() == Ok(0_usize))
}

/// Whether the first of more than three joints is the metacarpal: its number is 0, or without
/// numbers its bone is the longest one. Else the last joint is the end of the finger.
fn begins_in_palm(tree: &Tree, hand: usize, chain: &[usize]) -> bool {
    if chain.iter().all(|j| !tree.clues[*j].numbers.is_empty()) {
        return chain_has_zero(tree, chain);
    }
    let length = |a: usize, b: usize| tree.at[a].distance(tree.at[b]);
    let bones = chain.windows(2).map(|w| length(w[0], w[1]));
    let longest = bones.fold(0.0, f64::max);
    let first = length(chain[0], chain[1]);
    first >= longest && length(hand, chain[0]) < first
}
