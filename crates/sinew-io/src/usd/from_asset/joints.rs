//! A Skeleton's joints: order, tokens, bind and rest transforms, from the asset's nodes.

use std::collections::{HashMap, HashSet};

use glam::{DMat4, DVec3};

use super::names::Names;
use crate::error::Result;
use sinew::error::Invalid;
use sinew::math::try_inverse;
use sinew_animate::asset::{Asset, LocalTransform, Trs};

/// Bytes of all Skeletons' tokens; long chains repeat their names in every one.
const MAX_TOKEN_BYTES: usize = 1 << 26;

/// A joint to be written.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    /// The node that it comes from.
    pub node: Option<usize>,
    /// Its parent's place in the list, before its own.
    pub parent: Option<usize>,
    /// Path of identifiers.
    pub token: String,
    /// The name as it was.
    pub name: String,
    /// skeleton_from_joint at bind time.
    pub bind: DMat4,
    /// parent_from_joint at rest.
    pub rest: DMat4,
    /// How much larger than the node's the joint's frame is; see [`super::rescale`].
    pub frame: f64,
}

/// Where the joints stand.
pub(super) struct JointTree<'a> {
    pub asset: &'a Asset,
    pub hierarchy: &'a Hierarchy,
    pub above: Option<usize>,
}

/// Bytes of the tokens so far.
#[derive(Default)]
pub(super) struct TokenBytes(usize);

impl JointTree<'_> {
    /// Joints of the nodes, parents first. Those without a known bind transform take their parent's times
    /// their rest; those above all known ones theirs from below; where none is known, the rest pose is bound.
    ///
    /// # Errors
    /// A hierarchy whose tokens are out of all proportion.
    pub fn build(
        &self,
        nodes: &HashSet<usize>,
        known: &HashMap<usize, DMat4>,
        bytes: &mut TokenBytes,
    ) -> Result<Vec<Joint>> {
        let mut order: Vec<usize> = nodes.iter().copied().collect();
        order.sort_unstable_by_key(|n| self.hierarchy.place[*n]);
        let mut joints: Vec<Joint> = Vec::with_capacity(nodes.len());
        let mut index = HashMap::with_capacity(nodes.len());
        // One for each joint's children, and the roots' at the end.
        let mut names: Vec<Names> = (0..=nodes.len()).map(|_| Names::default()).collect();
        for node in order {
            let source = &self.asset.nodes[node];
            let parent = source.parent.filter(|p| Some(*p) != self.above);
            let parent = parent.and_then(|p| index.get(&p).copied());
            let unnamed = format!("node{node}");
            let name = names[parent.unwrap_or(nodes.len())].unique(&[&source.name, &unnamed]);
            let token = match parent {
                Some(p) => format!("{}/{name}", joints[p].token),
                None => name,
            };
            bytes.0 += token.len();
            if bytes.0 > MAX_TOKEN_BYTES {
                let expected = format!("joint paths of {MAX_TOKEN_BYTES} bytes at most");
                let error = Invalid::new(format!("nodes[{node}]"), "", expected, "more");
                return Err(error.in_file(&self.asset.file).into());
            }
            index.insert(node, joints.len());
            joints.push(Joint {
                node: Some(node),
                parent,
                token,
                name: match source.name.is_empty() {
                    true => unnamed,
                    // Crate files end each token with a zero byte.
                    false => source.name.replace('\0', "\u{fffd}"),
                },
                bind: DMat4::IDENTITY,
                rest: source.local.matrix(),
                frame: 1.0,
            });
        }
        self.bind(&mut joints, known);
        Ok(joints)
    }

    fn bind(&self, joints: &mut [Joint], known: &HashMap<usize, DMat4>) {
        let mut binds: Vec<Option<DMat4>> = joints
            .iter()
            .map(|j| j.node.and_then(|n| known.get(&n).copied()))
            .collect();
        // From the first child that has one, upward.
        let mut from_below: Vec<Option<DMat4>> = vec![None; joints.len()];
        for i in (0..joints.len()).rev() {
            let own = binds[i].or(from_below[i]);
            let above = own.zip(try_inverse(joints[i].rest)).map(|(b, r)| b * r);
            if let (Some(parent), Some(above)) = (joints[i].parent, above) {
                from_below[parent] = Some(above);
            }
        }
        for i in 0..joints.len() {
            let parent = joints[i].parent;
            let above = parent.map_or(DMat4::IDENTITY, |p| joints[p].bind);
            let has_above = parent.is_some_and(|p| binds[p].is_some());
            let bind = match binds[i] {
                Some(known) => known,
                None if has_above => above * joints[i].rest,
                None => from_below[i].unwrap_or(above * joints[i].rest),
            };
            joints[i].bind = match try_inverse(bind) {
                Some(_) => bind,
                None => above * self.unscaled(joints[i].node),
            };
            if has_above || from_below[i].is_some() {
                binds[i] = Some(joints[i].bind);
            }
        }
    }

    /// The node's rest transform without its scale, for a joint that is scaled to nothing at rest.
    fn unscaled(&self, node: Option<usize>) -> DMat4 {
        let trs = node.map_or(Trs::IDENTITY, |n| self.asset.nodes[n].local.trs());
        let scale = DVec3::ONE;
        Trs { scale, ..trs }.matrix()
    }
}

/// Levels of nodes below each other. Paths grow with it, and usda is read to a depth of 1000 brackets.
const MAX_DEPTH: usize = 400;

/// What the whole conversion asks of the nodes.
pub(super) struct Hierarchy {
    pub children: Vec<Vec<usize>>,
    /// Depth first, siblings in the file's order.
    pub order: Vec<usize>,
    /// Of each node in that order.
    pub place: Vec<usize>,
    /// Nodes above each.
    pub depth: Vec<usize>,
    /// Shown: at or below a root of the scene.
    pub is_live: Vec<bool>,
    /// Nodes that some clip moves.
    pub moved: HashSet<usize>,
}

impl Hierarchy {
    /// What the scene with these roots shows; everything where no scene has any.
    ///
    /// # Errors
    /// More levels than [`MAX_DEPTH`].
    pub fn new(asset: &Asset, roots: &[usize], moved: HashSet<usize>) -> Result<Self> {
        let children = asset.children();
        let mut order = Vec::with_capacity(asset.nodes.len());
        let mut place = vec![0; asset.nodes.len()];
        let mut depths = vec![0; asset.nodes.len()];
        let mut is_live = vec![false; asset.nodes.len()];
        let roots: HashSet<usize> = roots.iter().copied().collect();
        let shows_all = roots.is_empty() && asset.scenes.iter().all(|s| s.roots.is_empty());
        let all = |i: &usize| asset.nodes[*i].parent.is_none();
        let mut open: Vec<(usize, usize, bool)> = (0..asset.nodes.len())
            .filter(all)
            .map(|i| (i, 0, shows_all || roots.contains(&i)))
            .rev()
            .collect();
        while let Some((node, depth, live)) = open.pop() {
            if depth >= MAX_DEPTH {
                let expected = format!("at most {MAX_DEPTH} levels of nodes");
                let error = Invalid::new(format!("nodes[{node}]"), "", expected, "more");
                return Err(error.in_file(&asset.file).into());
            }
            place[node] = order.len();
            order.push(node);
            is_live[node] = live;
            depths[node] = depth;
            let below = children[node].iter().rev();
            open.extend(below.map(|c| (*c, depth + 1, live)));
        }
        Ok(Self {
            children,
            order,
            place,
            depth: depths,
            is_live,
            moved,
        })
    }
}

/// Relative difference at which a matrix counts as made of components.
const SHEAR: f64 = 1e-6;

/// The components of a transform; `None` where shear keeps it from having any.
pub(super) fn components(local: &LocalTransform) -> Option<Trs> {
    let m = match local {
        LocalTransform::Trs(trs) => return Some(*trs),
        LocalTransform::Matrix(m) => m,
    };
    let trs = local.trs();
    let found = trs.matrix();
    let size = (0..3).map(|i| m.col(i).length()).fold(0.0, f64::max);
    let same = (0..3).all(|i| (found.col(i) - m.col(i)).length() <= SHEAR * size);
    let is_affine = m.row(3) == DMat4::IDENTITY.row(3);
    (same && is_affine).then_some(trs)
}
