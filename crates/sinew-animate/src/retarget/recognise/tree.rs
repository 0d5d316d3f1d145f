//! The joints that can be human bones, with their names' clues.

use std::collections::HashMap;

use glam::DVec3;

use super::words::{Clue, Role, clues};
use crate::retarget::Rig;

/// The hierarchy of a rig. In a generated rig of Blender (Rigify) it holds the deforming joints
/// alone, as if they hung from each other and not from the joints that drive them.
pub(super) struct Tree {
    pub parents: Vec<Option<usize>>,
    /// Parents before children.
    pub order: Vec<usize>,
    pub clues: Vec<Clue>,
    /// Positions in the bind pose, in skeleton space.
    pub at: Vec<DVec3>,
    /// Whether a joint can be a bone at all.
    is_open: Vec<bool>,
}

/// If at least this many joints have the mark of deforming joints, only these are bones.
const ENOUGH_DEFORM: usize = 6;

impl Tree {
    pub fn new(rig: &Rig) -> Self {
        let mut clues = clues(rig.names());
        let deform: Vec<bool> = clues.iter().map(|c| c.deforms).collect();
        let is_generated = deform.iter().filter(|d| **d).count() >= ENOUGH_DEFORM;
        let mut parents = rig.parents().to_vec();
        let mut is_open = vec![true; rig.len()];
        if is_generated {
            parents = deforming(rig, &clues, &deform);
            for (clue, deforms) in clues.iter_mut().zip(&deform) {
                clue.is_helper |= !deforms;
            }
            is_open = deform;
        }
        let order = match parents_first(&parents) {
            Some(order) => order,
            None => {
                parents = rig.parents().to_vec();
                (0..rig.len()).collect()
            }
        };
        let at = rig.bind_skel().iter().map(|m| m.w_axis.truncate());
        Self {
            parents,
            order,
            clues,
            at: at.collect(),
            is_open,
        }
    }

    /// A joint and those above it, nearest first.
    pub fn chain(&self, joint: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(joint), |j| self.parents[*j])
    }

    /// Whether `joint` is `above` or below it.
    pub fn is_below(&self, joint: usize, above: usize) -> bool {
        self.chain(joint).any(|j| j == above)
    }

    /// The joints that hang from `from` on the way to `to`, both left out; empty if `to` is not
    /// below `from`.
    pub fn between(&self, from: usize, to: usize) -> Vec<usize> {
        let mut path: Vec<usize> = self.chain(to).skip(1).take_while(|j| *j != from).collect();
        path.reverse();
        match to != from && self.is_below(to, from) {
            true => path,
            false => Vec::new(),
        }
    }

    /// The lowest joint at or above all of `joints`.
    pub fn shared(&self, joints: &[usize]) -> Option<usize> {
        let (first, others) = joints.split_first()?;
        let mut common: Vec<usize> = self.chain(*first).collect();
        for joint in others {
            let above: std::collections::HashSet<usize> = self.chain(*joint).collect();
            common.retain(|j| above.contains(j));
        }
        common.first().copied()
    }

    pub fn weight(&self, joint: usize, role: Role) -> f64 {
        match self.is_open[joint] {
            true => self.clues[joint].weight(role),
            false => 0.0,
        }
    }

    /// The joints whose names may mean `role`, best first, then those nearest to the root.
    pub fn named(&self, role: Role, least: f64) -> Vec<usize> {
        let mut out: Vec<usize> = self.order.clone();
        out.retain(|j| self.weight(*j, role) >= least);
        out.sort_by(|a, b| self.weight(*b, role).total_cmp(&self.weight(*a, role)));
        out
    }
}

/// The parents of the deforming joints: the nearest one above, or the twin of the nearest joint
/// above that has one. `ORG-spine` is the twin of `DEF-spine`.
fn deforming(rig: &Rig, clues: &[Clue], deform: &[bool]) -> Vec<Option<usize>> {
    let keyed = (0..rig.len()).filter(|j| deform[*j]);
    let twins: HashMap<&str, usize> = keyed.map(|j| (clues[j].key.as_str(), j)).collect();
    let parent = |joint: usize| {
        rig.chain(joint)
            .skip(1)
            .find_map(|above| match deform[above] {
                true => Some(above),
                false => {
                    let twin = *twins.get(clues[above].key.as_str())?;
                    (twin != joint).then_some(twin)
                }
            })
    };
    let parents = (0..rig.len()).map(|j| match deform[j] {
        true => parent(j),
        false => rig.parents()[j],
    });
    parents.collect()
}

/// The joints, parents first; `None` if the parents run in a circle.
fn parents_first(parents: &[Option<usize>]) -> Option<Vec<usize>> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    let mut order: Vec<usize> = Vec::with_capacity(parents.len());
    for (joint, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => children[*parent].push(joint),
            None => order.push(joint),
        }
    }
    let mut next = 0;
    while let Some(joint) = order.get(next) {
        order.extend(&children[*joint]);
        next += 1;
    }
    (order.len() == parents.len()).then_some(order)
}
