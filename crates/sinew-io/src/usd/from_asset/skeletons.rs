//! Which nodes become joints, and of which Skeleton.
//!
//! A Skeleton's joints are all nodes from the lowest node above them that is none itself down to each joint. Skins whose
//! joints lie in one such tree share a Skeleton where their bind matrices agree up to a constant, which becomes the
//! geomBindTransform of the second skin's meshes.

use std::collections::{HashMap, HashSet};

use glam::DMat4;

use super::binds::{UsedJoints, variants};
use super::joints::{Hierarchy, Joint, JointTree, TokenBytes};
use crate::error::Result;
use sinew::error::Warning;
use sinew_animate::asset::{Asset, AssetFormat, Node};

/// A Skeleton to be written.
#[derive(Debug)]
pub(super) struct SkeletonPlan {
    /// The node that it hangs below; the default prim where `None`.
    pub above: Option<usize>,
    pub joints: Vec<Joint>,
    pub joint_of_node: HashMap<usize, usize>,
    /// Skins that it serves, with their meshes' geomBindTransform.
    pub skins: Vec<(usize, DMat4)>,
}

/// Nodes that have to be joints of the same tree.
#[derive(Clone, Debug, Default)]
struct Group {
    members: HashSet<usize>,
    skins: Vec<usize>,
}

/// Plans every Skeleton of an asset.
///
/// # Errors
/// A singular inverse bind matrix of a joint that points are weighted to.
pub(super) fn plan(
    asset: &Asset,
    hierarchy: &Hierarchy,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<SkeletonPlan>> {
    let with_joints = |i: &usize| {
        let joints = &asset.skins[*i].joints;
        joints.iter().any(|n| hierarchy.is_live[*n])
    };
    let skins: Vec<usize> = (0..asset.skins.len()).filter(with_joints).collect();
    let mut groups: Vec<Group> = skins
        .iter()
        .map(|i| Group {
            members: asset.skins[*i].joints.iter().copied().collect(),
            skins: vec![*i],
        })
        .collect();
    join_rest_of_bodies(asset, hierarchy, &mut groups);
    if groups.is_empty() {
        groups = bare_trees(asset, hierarchy);
    }
    // Bones are joints whether or not anything is skinned to them: what hangs on them is carried.
    let humanoids = asset.humanoids.iter().map(|h| Group {
        members: h.bones.values().copied().collect(),
        skins: Vec::new(),
    });
    let is_live = |g: &Group| g.members.iter().any(|n| hierarchy.is_live[*n]);
    groups.extend(humanoids.filter(is_live));
    let mut trees = merged(asset, hierarchy, groups);
    adopt_moved(asset, hierarchy, &mut trees);
    let used = UsedJoints::new(asset, hierarchy);
    let mut plans = Vec::new();
    let mut bytes = TokenBytes::default();
    for tree in &trees {
        let variants = variants(asset, (tree.above, &tree.skins), &used, warnings)?;
        for (i, variant) in variants.into_iter().enumerate() {
            let nodes = match i {
                0 => tree.nodes.clone(),
                // Only what its own skins ask for.
                _ => closure(asset, tree.above, variant.binds.keys().copied()),
            };
            let joints = JointTree {
                asset,
                hierarchy,
                above: tree.above,
            };
            let joints = joints.build(&nodes, &variant.binds, &mut bytes)?;
            let index = |(i, joint): (usize, &Joint)| Some((joint.node?, i));
            plans.push(SkeletonPlan {
                above: tree.above,
                joint_of_node: joints.iter().enumerate().filter_map(index).collect(),
                joints,
                skins: variant.skins,
            });
        }
    }
    Ok(plans)
}

/// Without skins: trees without meshes that a clip or a humanoid map makes a skeleton of, or that are all there is.
/// Cameras and lights are on no skeleton, so that the trees beside them count for themselves.
fn bare_trees(asset: &Asset, hierarchy: &Hierarchy) -> Vec<Group> {
    let bones: HashSet<usize> = asset
        .humanoids
        .iter()
        .flat_map(|h| h.bones.values().copied())
        .collect();
    let is_bone = |n: &usize| hierarchy.moved.contains(n) || bones.contains(n);
    let any_mesh = asset.nodes.iter().any(|n| n.mesh.is_some());
    let mut groups = Vec::new();
    let is_root = |i: &usize| asset.nodes[*i].parent.is_none() && hierarchy.is_live[*i];
    let mut roots: Vec<usize> = (0..asset.nodes.len()).filter(is_root).rev().collect();
    while let Some(root) = roots.pop() {
        let mut tree = vec![root];
        let mut next = 0;
        while next < tree.len() {
            tree.extend(&hierarchy.children[tree[next]]);
            next += 1;
        }
        if tree.iter().any(|n| asset.nodes[*n].mesh.is_some()) {
            continue;
        }
        let is_seen_from = |n: &usize| {
            let node = &asset.nodes[*n];
            node.camera.is_some() || node.light.is_some()
        };
        if tree.iter().any(is_seen_from) {
            roots.extend(hierarchy.children[root].iter().rev());
            continue;
        }
        let has_bones = tree.iter().any(is_bone);
        let all_there_is = !any_mesh && tree.len() > 1;
        if !(has_bones || all_there_is) {
            continue;
        }
        // Lone nodes at the top that nothing moves, such as an armature, stay above the skeleton: their transforms
        // keep their precision there. Every ROOT of a BVH is a joint.
        let mut top = root;
        let may_skip = has_bones && asset.format != AssetFormat::Bvh;
        while may_skip && !is_bone(&top) && hierarchy.children[top].len() == 1 {
            top = hierarchy.children[top][0];
        }
        let above: HashSet<usize> = asset.chain(top).skip(1).collect();
        groups.push(Group {
            members: tree.into_iter().filter(|n| !above.contains(n)).collect(),
            skins: Vec::new(),
        });
    }
    groups
}

/// A skin may cover a part of a body only, such as the head of a figure whose hips and legs have no mesh. The node above
/// its joints belongs to the same skeleton where a clip moves it and also moves nodes without meshes beside the joints.
fn join_rest_of_bodies(asset: &Asset, hierarchy: &Hierarchy, groups: &mut [Group]) {
    let mut moves: Vec<bool> = vec![false; asset.nodes.len()];
    let is_seen = |n: &Node| n.mesh.is_some() || n.camera.is_some() || n.light.is_some();
    let mut shows: Vec<bool> = asset.nodes.iter().map(is_seen).collect();
    let mut joined = HashSet::new();
    for node in hierarchy.order.iter().rev() {
        moves[*node] |= hierarchy.moved.contains(node);
        if let Some(parent) = asset.nodes[*node].parent {
            moves[parent] |= moves[*node];
            shows[parent] |= shows[*node];
        }
    }
    for group in groups {
        let mut at = lowest_above(asset, &hierarchy.depth, &group.members);
        let trees = closure(asset, None, group.members.iter().copied());
        while let Some(above) = at {
            let is_limb = |n: &usize| moves[*n] && !shows[*n] && !trees.contains(n);
            let is_body = hierarchy.moved.contains(&above);
            // What another skin's group has taken joins the two later.
            let is_top = !(is_body && hierarchy.children[above].iter().any(is_limb));
            if is_top || !joined.insert(above) {
                break;
            }
            group.members.insert(above);
            at = asset.nodes[above].parent;
        }
    }
}

/// A tree of joints.
struct Tree {
    above: Option<usize>,
    /// Joints and the nodes between.
    nodes: HashSet<usize>,
    skins: Vec<usize>,
}

/// The lowest node above all members that is none of them.
fn lowest_above(asset: &Asset, depth: &[usize], members: &HashSet<usize>) -> Option<usize> {
    let parent = |n: usize| asset.nodes[n].parent;
    let mut common: Option<usize> = None;
    for (i, member) in members.iter().enumerate() {
        let (mut a, mut b) = (if i == 0 { *member } else { common? }, *member);
        while depth[a] > depth[b] {
            a = parent(a)?;
        }
        while depth[b] > depth[a] {
            b = parent(b)?;
        }
        while a != b {
            (a, b) = (parent(a)?, parent(b)?);
        }
        common = Some(a);
    }
    let mut at = common?;
    while members.contains(&at) {
        at = parent(at)?;
    }
    Some(at)
}

/// The nodes from each member up to, and without, the node above.
fn closure(
    asset: &Asset,
    above: Option<usize>,
    members: impl Iterator<Item = usize>,
) -> HashSet<usize> {
    let mut nodes = HashSet::new();
    for member in members {
        for node in asset.chain(member).take_while(|n| Some(*n) != above) {
            if !nodes.insert(node) {
                break;
            }
        }
    }
    nodes
}

/// Groups whose trees meet become one, until none meet.
fn merged(asset: &Asset, hierarchy: &Hierarchy, mut groups: Vec<Group>) -> Vec<Tree> {
    loop {
        let mut owner: Vec<Option<usize>> = vec![None; asset.nodes.len()];
        let mut joins = Joins::new(groups.len());
        let mut met = false;
        let mut trees = Vec::with_capacity(groups.len());
        for (g, group) in groups.iter().enumerate() {
            let above = lowest_above(asset, &hierarchy.depth, &group.members);
            let nodes = closure(asset, above, group.members.iter().copied());
            for node in &nodes {
                match owner[*node] {
                    Some(other) => met |= joins.unite(g, other),
                    None => owner[*node] = Some(g),
                }
            }
            trees.push(Tree {
                above,
                nodes,
                skins: group.skins.clone(),
            });
        }
        // A tree may hang below a joint of another.
        for (g, tree) in trees.iter().enumerate() {
            let Some(above) = tree.above else { continue };
            for other in asset.chain(above).filter_map(|n| owner[n]) {
                met |= joins.unite(g, other);
            }
        }
        if !met {
            return trees;
        }
        let mut united: Vec<Group> = vec![Group::default(); groups.len()];
        for (g, group) in groups.into_iter().enumerate() {
            let into = &mut united[joins.find(g)];
            into.members.extend(group.members);
            into.skins.extend(group.skins);
        }
        united.retain(|g| !g.members.is_empty());
        groups = united;
    }
}

/// Which group each one joins; of two the smaller index wins.
struct Joins(Vec<usize>);

impl Joins {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn find(&mut self, mut group: usize) -> usize {
        while self.0[group] != group {
            self.0[group] = self.0[self.0[group]];
            group = self.0[group];
        }
        group
    }

    /// False where they are one already.
    fn unite(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
        a != b
    }
}

/// Nodes below joints that a clip moves become joints too, so that what hangs on them follows.
fn adopt_moved(asset: &Asset, hierarchy: &Hierarchy, trees: &mut [Tree]) {
    let mut below: Vec<Option<usize>> = vec![None; asset.nodes.len()];
    for (t, tree) in trees.iter().enumerate() {
        for node in &tree.nodes {
            below[*node] = Some(t);
        }
    }
    for node in &hierarchy.order {
        let inherited = asset.nodes[*node].parent.and_then(|p| below[p]);
        let Some(t) = below[*node].or(inherited) else {
            continue;
        };
        below[*node] = Some(t);
        if hierarchy.moved.contains(node) {
            for between in asset.chain(*node) {
                if !trees[t].nodes.insert(between) {
                    break;
                }
            }
        }
    }
}
