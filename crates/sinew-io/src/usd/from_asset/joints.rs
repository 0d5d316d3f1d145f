//! A Skeleton's joints: order, tokens, bind and rest transforms.

use std::collections::{HashMap, HashSet};

use glam::{DMat4, DVec3};

use super::hierarchy::Hierarchy;
use super::names::Names;
use sinew::error::{Invalid, Result};
use sinew::math::try_inverse;
use sinew_animate::asset::{Asset, Trs};

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
