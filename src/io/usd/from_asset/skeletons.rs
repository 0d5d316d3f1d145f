//! Which nodes become joints, and of which Skeleton.
//!
//! A Skeleton's joints are all nodes from the lowest node above them that is none itself down to each joint. Skins whose
//! joints lie in one such tree share a Skeleton where their bind matrices agree up to a constant, which becomes the
//! geomBindTransform of the second skin's meshes.

use std::collections::{HashMap, HashSet};

use glam::DMat4;

use super::hierarchy::Hierarchy;
use super::joints::{Joint, JointTree};
use crate::asset::Asset;
use crate::error::{Invalid, Result, Warning};
use crate::math::{is_affine, try_inverse};

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
    let with_joints = |i: &usize| !asset.skins[*i].joints.is_empty();
    let skins: Vec<usize> = (0..asset.skins.len()).filter(with_joints).collect();
    let mut groups: Vec<Group> = skins
        .iter()
        .map(|i| Group {
            members: asset.skins[*i].joints.iter().copied().collect(),
            skins: vec![*i],
        })
        .collect();
    if groups.is_empty() {
        groups = bare_trees(asset, hierarchy);
    } else {
        let humanoids = asset.humanoids.iter().map(|h| Group {
            members: h.bones.values().copied().collect(),
            skins: Vec::new(),
        });
        groups.extend(humanoids.filter(|g| !g.members.is_empty()));
    }
    let mut trees = merged(asset, hierarchy, groups);
    adopt_moved(asset, hierarchy, &mut trees);
    let used = UsedJoints::new(asset, hierarchy);
    let mut plans = Vec::new();
    for tree in &trees {
        let variants = variants(asset, tree, &used, warnings)?;
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
            let joints = joints.build(&nodes, &variant.binds)?;
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
fn bare_trees(asset: &Asset, hierarchy: &Hierarchy) -> Vec<Group> {
    let bones: HashSet<usize> = asset
        .humanoids
        .iter()
        .flat_map(|h| h.bones.values().copied())
        .collect();
    let is_bone = |n: &usize| hierarchy.moved.contains(n) || bones.contains(n);
    let any_mesh = asset.nodes.iter().any(|n| n.mesh.is_some());
    let mut groups = Vec::new();
    let roots = (0..asset.nodes.len()).filter(|i| asset.nodes[*i].parent.is_none());
    for root in roots {
        let mut tree = vec![root];
        let mut next = 0;
        while next < tree.len() {
            tree.extend(&hierarchy.children[tree[next]]);
            next += 1;
        }
        let has_bones = tree.iter().any(is_bone);
        let all_there_is = !any_mesh && tree.len() > 1;
        if tree.iter().any(|n| asset.nodes[*n].mesh.is_some()) || !(has_bones || all_there_is) {
            continue;
        }
        // Lone nodes at the top that nothing moves, such as an armature, stay above the skeleton: their transforms
        // keep their precision there.
        let mut top = root;
        while has_bones && !is_bone(&top) && hierarchy.children[top].len() == 1 {
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
        // Which group each one joins; smaller indices win.
        let mut joins: Vec<usize> = (0..groups.len()).collect();
        let find = |joins: &[usize], mut g: usize| {
            while joins[g] != g {
                g = joins[g];
            }
            g
        };
        let unite = |joins: &mut Vec<usize>, a: usize, b: usize| {
            let (a, b) = (find(joins, a), find(joins, b));
            let (low, high) = (a.min(b), a.max(b));
            joins[high] = low;
            low != high
        };
        let mut met = false;
        let mut trees = Vec::with_capacity(groups.len());
        for (g, group) in groups.iter().enumerate() {
            let above = lowest_above(asset, &hierarchy.depth, &group.members);
            let nodes = closure(asset, above, group.members.iter().copied());
            for node in &nodes {
                match owner[*node] {
                    Some(other) => met |= unite(&mut joins, g, other),
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
                met |= unite(&mut joins, g, other);
            }
        }
        if !met {
            return trees;
        }
        let mut united: Vec<Group> = vec![Group::default(); groups.len()];
        for (g, group) in groups.into_iter().enumerate() {
            let into = &mut united[find(&joins, g)];
            into.members.extend(group.members);
            into.skins.extend(group.skins);
        }
        united.retain(|g| !g.members.is_empty());
        groups = united;
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

/// For each skin that a shown mesh uses, which of its joints points are weighted to.
struct UsedJoints(HashMap<usize, Vec<bool>>);

impl UsedJoints {
    fn new(asset: &Asset, hierarchy: &Hierarchy) -> Self {
        let mut used: HashMap<usize, Vec<bool>> = HashMap::new();
        let mut seen = HashSet::new();
        for (i, node) in asset.nodes.iter().enumerate() {
            let (Some(mesh), Some(skin), true) = (node.mesh, node.skin, hierarchy.is_live[i])
            else {
                continue;
            };
            if !seen.insert((mesh, skin)) {
                continue;
            }
            let joints = asset.skins[skin].joints.len();
            let of_skin = used.entry(skin).or_insert_with(|| vec![false; joints]);
            for primitive in &asset.meshes[mesh].primitives {
                for (joint, weight) in primitive.joints.iter().zip(&primitive.weights) {
                    if let Some(used) = of_skin.get_mut(*joint as usize) {
                        *used |= *weight != 0.0;
                    }
                }
            }
        }
        Self(used)
    }
}

/// Skins of one tree that agree on their bind matrices.
#[derive(Default)]
struct Variant {
    /// skeleton_from_joint at bind time, by node.
    binds: HashMap<usize, DMat4>,
    skins: Vec<(usize, DMat4)>,
    /// skeleton_from_mesh at rest, where all joints of the first skin agree on it.
    settled: Option<DMat4>,
}

fn variants(
    asset: &Asset,
    tree: &Tree,
    used: &UsedJoints,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Variant>> {
    let (mut shown, unshown): (Vec<usize>, Vec<usize>) =
        tree.skins.iter().partition(|s| used.0.contains_key(s));
    if shown.is_empty() {
        shown = unshown;
    }
    let mut variants: Vec<Variant> = Vec::new();
    for skin in shown {
        let binds = skin_binds(asset, skin, used.0.get(&skin), warnings)?;
        let settled = settled(asset, tree.above, &binds);
        let fitting = variants
            .iter_mut()
            .find_map(|v| Some((v.fit(&binds, settled)?, v)));
        match fitting {
            Some((geom_bind, variant)) => {
                for (node, bind) in binds {
                    variant.binds.entry(node).or_insert(geom_bind * bind);
                }
                variant.skins.push((skin, geom_bind));
            }
            None => variants.push(Variant {
                binds: binds.into_iter().collect(),
                skins: vec![(skin, DMat4::IDENTITY)],
                settled,
            }),
        }
    }
    if variants.is_empty() {
        variants.push(Variant::default());
    }
    Ok(variants)
}

/// mesh_from_joint at bind time for a skin's joints. One that nothing uses may be singular; it is left out then.
fn skin_binds(
    asset: &Asset,
    skin: usize,
    used: Option<&Vec<bool>>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<(usize, DMat4)>> {
    let at = format!("skins[{skin}]");
    let pairs = asset.skins[skin]
        .joints
        .iter()
        .zip(&asset.skins[skin].inverse_bind);
    let mut binds = Vec::new();
    for (i, (node, inverse)) in pairs.enumerate() {
        let name = &asset.nodes[*node].name;
        match try_inverse(*inverse).filter(|_| is_affine(inverse)) {
            Some(bind) => binds.push((*node, bind)),
            None if used.is_some_and(|u| u[i]) => {
                let expected = format!("an affine matrix with an inverse for joint {i} ({name})");
                let error = Invalid::new(at, "inverseBindMatrices", expected, "one without");
                return Err(error.coded("singular-bind").in_file(&asset.file).into());
            }
            None => warnings.push(
                Warning::new(
                    "singular-bind",
                    &at,
                    format!("the matrix of joint {i} ({name}), which no point is weighted to, has no inverse: its rest pose takes its place"),
                )
                .on("inverseBindMatrices"),
            ),
        }
    }
    Ok(binds)
}

/// skeleton_from_mesh at rest, where every joint of a skin gives the same.
fn settled(asset: &Asset, above: Option<usize>, binds: &[(usize, DMat4)]) -> Option<DMat4> {
    let mut all = binds.iter().map(|(node, bind)| {
        let chain = asset.chain(*node).take_while(|n| Some(*n) != above);
        let rest = chain.fold(DMat4::IDENTITY, |m, n| asset.nodes[n].local.matrix() * m);
        Some(rest * try_inverse(*bind)?)
    });
    let first = all.next()??;
    let size = extent_of(binds.iter().map(|(_, b)| b));
    let same = all.all(|m| m.is_some_and(|m| agree(&first, &m, size)));
    (same && try_inverse(first).is_some()).then_some(first)
}

/// Relative difference of matrices that count as the same: several roundings of single precision.
const SAME_BIND: f64 = 2e-5;

/// How far out the joints stand.
fn extent_of<'a>(binds: impl Iterator<Item = &'a DMat4>) -> f64 {
    binds
        .map(|b| b.w_axis.truncate().length())
        .fold(1e-6, f64::max)
}

fn agree(a: &DMat4, b: &DMat4, size: f64) -> bool {
    let axis = (0..3).map(|i| a.col(i).length()).fold(0.0, f64::max);
    let axes = (0..3).all(|i| (a.col(i) - b.col(i)).length() <= SAME_BIND * axis);
    axes && (a.w_axis - b.w_axis).length()
        <= SAME_BIND * (axis * size + a.w_axis.truncate().length())
}

impl Variant {
    /// geomBindTransform of a skin's meshes, where one constant brings its bind matrices to these.
    fn fit(&self, binds: &[(usize, DMat4)], settled: Option<DMat4>) -> Option<DMat4> {
        let mut all = binds.iter().filter_map(|(node, bind)| {
            let known = self.binds.get(node)?;
            Some(try_inverse(*bind).map(|inverse| *known * inverse))
        });
        let size = extent_of(self.binds.values().chain(binds.iter().map(|(_, b)| b)));
        let constant = match all.next() {
            Some(first) => first?,
            // Nothing shared: at rest, the meshes are where they should be.
            None => match (self.settled.and_then(try_inverse), settled) {
                (Some(mesh_from_skeleton), Some(other)) => mesh_from_skeleton * other,
                _ => DMat4::IDENTITY,
            },
        };
        let same = all.all(|m| m.is_some_and(|m| agree(&constant, &m, size)));
        let is_identity = agree(&DMat4::IDENTITY, &constant, size);
        same.then_some(if is_identity {
            DMat4::IDENTITY
        } else {
            constant
        })
    }
}
