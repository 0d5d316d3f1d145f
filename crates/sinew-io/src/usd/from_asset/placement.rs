//! Where each shown mesh goes: skinned, carried by a joint, or below its own node.

use std::collections::HashMap;

use glam::DMat4;

use super::hierarchy::Hierarchy;
use super::joints::Joint;
use super::skeletons::SkeletonPlan;
use sinew_animate::asset::Asset;

/// A node's mesh, or those of its primitives that are placed alike.
#[derive(Clone, Debug)]
pub(super) struct MeshUse {
    pub node: usize,
    pub mesh: usize,
    /// Indices into the mesh's primitives.
    pub primitives: Vec<usize>,
    pub place: Place,
    /// The Skeleton that it is bound to, for joints or for blend shape channels.
    pub skeleton: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// Skinned; the node's transform does not count.
    Skinned { skin: usize, geom_bind: DMat4 },
    /// Without a skin, below a joint, which it follows as a whole.
    Carried { joint: usize, geom_bind: DMat4 },
    /// Below its own node.
    Free,
}

/// Where nodes and skins have gone.
pub(super) struct Homes {
    /// Skeleton and joint by node; the first one's where several share the node.
    pub joints: HashMap<usize, (usize, usize)>,
    /// Skeleton and geomBindTransform by skin.
    skins: HashMap<usize, (usize, DMat4)>,
}

impl Homes {
    pub fn new(plans: &[SkeletonPlan]) -> Self {
        let mut joints = HashMap::new();
        let mut skins = HashMap::new();
        for (i, plan) in plans.iter().enumerate() {
            for (node, joint) in &plan.joint_of_node {
                joints.entry(*node).or_insert((i, *joint));
            }
            skins.extend(
                plan.skins
                    .iter()
                    .map(|(skin, geom_bind)| (*skin, (i, *geom_bind))),
            );
        }
        Self { joints, skins }
    }
}

/// Places every shown mesh. Morph targets need a Skeleton for their channels: where there is none, one is added.
pub(super) fn place(
    asset: &Asset,
    hierarchy: &Hierarchy,
    plans: &mut Vec<SkeletonPlan>,
) -> Vec<MeshUse> {
    let homes = Homes::new(plans);
    let mut uses = Vec::new();
    for node in hierarchy
        .order
        .iter()
        .copied()
        .filter(|n| hierarchy.is_live[*n])
    {
        let source = &asset.nodes[node];
        let Some(mesh) = source.mesh else { continue };
        let skinned = source.skin.and_then(|skin| {
            let (skeleton, geom_bind) = *homes.skins.get(&skin)?;
            Some((skeleton, Place::Skinned { skin, geom_bind }))
        });
        let primitives = &asset.meshes[mesh].primitives;
        // A primitive without influences is moved by its node, whatever skin the node has.
        let by_skin = |i: &usize| skinned.is_some() && primitives[*i].influences > 0;
        let (with, without): (Vec<usize>, Vec<usize>) = (0..primitives.len()).partition(by_skin);
        let mut add = |primitives: Vec<usize>, skeleton: Option<usize>, place: Place| {
            if !primitives.is_empty() {
                uses.push(MeshUse {
                    node,
                    mesh,
                    primitives,
                    place,
                    skeleton,
                });
            }
        };
        if let Some((skeleton, place)) = skinned {
            add(with, Some(skeleton), place);
        }
        match carried(asset, plans, &homes, node) {
            Some((skeleton, place)) => add(without, Some(skeleton), place),
            None => add(without, None, Place::Free),
        }
    }
    for at in &mut uses {
        if at.skeleton.is_none() && !asset.meshes[at.mesh].target_names.is_empty() {
            if plans.is_empty() {
                plans.push(still());
            }
            at.skeleton = Some(0);
        }
    }
    uses
}

/// The joint at or above a node.
fn carried(
    asset: &Asset,
    plans: &[SkeletonPlan],
    homes: &Homes,
    node: usize,
) -> Option<(usize, Place)> {
    let mut joint_from_node = DMat4::IDENTITY;
    for at in asset.chain(node) {
        if let Some((skeleton, joint)) = homes.joints.get(&at).copied() {
            let geom_bind = plans[skeleton].joints[joint].bind * joint_from_node;
            return Some((skeleton, Place::Carried { joint, geom_bind }));
        }
        joint_from_node = asset.nodes[at].local.matrix() * joint_from_node;
    }
    None
}

/// A Skeleton that is there for blend shape channels alone. It has one joint, which nothing is bound to: skeletons
/// without any are overlooked by some readers.
fn still() -> SkeletonPlan {
    let joint = Joint {
        node: None,
        parent: None,
        token: "root".to_owned(),
        name: "root".to_owned(),
        bind: DMat4::IDENTITY,
        rest: DMat4::IDENTITY,
        frame: 1.0,
    };
    SkeletonPlan {
        above: None,
        joints: vec![joint],
        joint_of_node: Default::default(),
        skins: Vec::new(),
    }
}
