//! Finds the fingers below a hand.

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

/// The largest number of joints of a hand that are numbered, and of a finger.
const MOST: usize = 64;
const LONGEST: usize = 8;

/// The joints of all finger bones below a hand.
pub(super) fn find(tree: &Tree, side: Side, hand: usize) -> Vec<(Bone, usize)> {
    let mut is_below = vec![false; tree.parents.len()];
    let mut joints: Vec<usize> = Vec::new();
    for &joint in &tree.order {
        let below = tree.parents[joint].is_some_and(|p| p == hand || is_below[p]);
        is_below[joint] = below;
        let clue = &tree.clues[joint];
        if below && !clue.is_helper && clue.finger().is_some() {
            joints.push(joint);
        }
    }
    let mut chains: [Vec<usize>; 5] = Default::default();
    let mut counted: Vec<usize> = Vec::new();
    for &joint in &joints {
        match tree.clues[joint].finger().flatten() {
            Some(finger) => add(tree, &mut chains[finger], joint),
            None if counted.len() < MOST => counted.push(joint),
            None => {}
        }
    }
    // Names such as Finger0 count the fingers, but not names of a joint that carries fingers.
    let carries = |joint: usize| {
        let chains = chains.iter().flatten();
        chains.clone().any(|j| tree.is_below(*j, joint))
    };
    counted.retain(|j| !carries(*j));
    let roots = counted.iter().copied();
    let roots: Vec<(usize, usize)> = roots
        .filter(|j| !tree.chain(*j).skip(1).any(|a| counted.contains(&a)))
        .filter_map(|j| Some((number(tree, j)?, j)))
        .collect();
    let first = usize::from(!roots.iter().any(|(n, _)| *n == 0));
    for (number, root) in roots {
        let Some(finger) = number.checked_sub(first).filter(|f| *f < 5) else {
            continue;
        };
        if chains[finger].is_empty() {
            for &joint in counted.iter().filter(|j| tree.is_below(**j, root)) {
                add(tree, &mut chains[finger], joint);
            }
        }
    }
    let bones = bones(side);
    let mut out = Vec::new();
    for (finger, chain) in chains.iter().enumerate() {
        for (segment, joint) in segments(tree, hand, chain, finger == 0) {
            out.push((bones[finger][segment], joint));
        }
    }
    out
}

/// Adds a joint that hangs from the last one.
fn add(tree: &Tree, chain: &mut Vec<usize>, joint: usize) {
    let hangs = chain.last().is_none_or(|last| tree.is_below(joint, *last));
    if hangs && chain.len() < LONGEST {
        chain.push(joint);
    }
}

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
