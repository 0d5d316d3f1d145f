//! Where each shown mesh goes: skinned, carried by a joint, or below its own node; and the transforms of nodes that are no
//! joints.

use std::collections::HashMap;

use glam::{DMat4, DQuat, DVec3};
use sinew_layer::value::Quat;
use sinew_layer::{Token, Value};

use super::clips::CodedClip;
use super::joints::{Hierarchy, Joint, components};
use super::layer::{LayerBuilder, PrimId};
use super::sampling::{Samples, rotations, sample_times, vectors};
use super::skeletons::SkeletonPlan;
use crate::error::Result;
use crate::usd::read::values::matrix4d;
use sinew_animate::asset::{Asset, Curve, Node};

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

/// The meshes that are bound to each Skeleton.
pub(super) fn by_skeleton(uses: &[MeshUse], skeletons: usize) -> Vec<Vec<&MeshUse>> {
    let mut all = vec![Vec::new(); skeletons];
    for at in uses {
        if let Some(skeleton) = at.skeleton {
            all[skeleton].push(at);
        }
    }
    all
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
            Some((skeleton, joint, geom_bind)) => {
                let place = |geom_bind| Place::Carried { joint, geom_bind };
                for instance in &source.instances {
                    let geom_bind = geom_bind * instance.matrix();
                    add(without.clone(), Some(skeleton), place(geom_bind));
                }
                if source.instances.is_empty() {
                    add(without, Some(skeleton), place(geom_bind));
                }
            }
            None => add(without, None, Place::Free),
        }
    }
    for at in &mut uses {
        // Instances share one shape.
        let is_instanced = !asset.nodes[at.node].instances.is_empty();
        let has_targets = !asset.meshes[at.mesh].target_names.is_empty();
        if at.skeleton.is_none() && has_targets && !is_instanced {
            if plans.is_empty() {
                plans.push(still());
            }
            at.skeleton = Some(0);
        }
    }
    uses
}

/// The Skeleton and joint at or above a node, and the geomBindTransform of a mesh of the node.
fn carried(
    asset: &Asset,
    plans: &[SkeletonPlan],
    homes: &Homes,
    node: usize,
) -> Option<(usize, usize, DMat4)> {
    let mut joint_from_node = DMat4::IDENTITY;
    for at in asset.chain(node) {
        if let Some((skeleton, joint)) = homes.joints.get(&at).copied() {
            let geom_bind = plans[skeleton].joints[joint].bind * joint_from_node;
            return Some((skeleton, joint, geom_bind));
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

/// Radians that an animated rotation may be off between samples.
pub(super) const ANGLE: f64 = 1e-4;

/// Of the scene's size, how far a translation may be off between samples.
pub(super) const WAY: f64 = 1e-4;

/// Authors a node's transform as the prim's xformOps, with the bound clip's curves.
pub(super) fn author_transform(
    layer: &mut LayerBuilder,
    prim: PrimId,
    (index, node): (usize, &Node),
    clip: Option<&CodedClip>,
    size: f64,
) -> Result<()> {
    let t = clip.and_then(|c| c.translations.get(&index));
    let r = clip.and_then(|c| c.rotations.get(&index));
    let s = clip.and_then(|c| c.scales.get(&index));
    let keys = clip.map_or(&[][..], |c| &c.keys);
    let is_moved = t.is_some() || r.is_some() || s.is_some();
    let trs = match components(&node.local) {
        Some(trs) => trs,
        None if is_moved => node.local.trs(),
        None => {
            let matrix = Samples::Constant(matrix4d(node.local.matrix()));
            return author_ops(layer, prim, vec![("xformOp:transform", matrix)]);
        }
    };
    let times = |curve: Option<&Curve>, tolerance: f64| {
        let times = curve.map(|c| sample_times(&[(c, tolerance)], 1, keys).0);
        times.unwrap_or_default()
    };
    let vector = |rest: DVec3, curve: Option<&Curve>, tolerance: f64| {
        let samples = vectors(&[rest], &only(curve), &times(curve, tolerance));
        samples.map(|v| vec3d(v[0]))
    };
    let mut ops = Vec::new();
    if t.is_some() || trs.translation != DVec3::ZERO {
        ops.push(("xformOp:translate", vector(trs.translation, t, WAY * size)));
    }
    if r.is_some() || trs.rotation != DQuat::IDENTITY {
        let samples = rotations(&[trs.rotation], &only(r), &times(r, ANGLE));
        ops.push(("xformOp:orient", samples.map(|v| quatd(v[0]))));
    }
    if s.is_some() || trs.scale != DVec3::ONE {
        ops.push(("xformOp:scale", vector(trs.scale, s, WAY)));
    }
    author_ops(layer, prim, ops)
}

/// The curve of the only part, if there is one.
fn only(curve: Option<&Curve>) -> Vec<(usize, &Curve, f64)> {
    curve.map(|c| (0, c, 1.0)).into_iter().collect()
}

/// Authors xformOps, and their order.
pub(super) fn author_ops(
    layer: &mut LayerBuilder,
    prim: PrimId,
    ops: Vec<(&str, Samples<Value>)>,
) -> Result<()> {
    if ops.is_empty() {
        return Ok(());
    }
    let order = ops.iter().map(|(name, _)| Token::from(*name)).collect();
    for (name, samples) in ops {
        let type_name = match name {
            "xformOp:transform" => "matrix4d",
            "xformOp:orient" => "quatd",
            _ => "double3",
        };
        layer.sampled(prim, name, type_name, samples)?;
    }
    layer.uniform(prim, "xformOpOrder", "token[]", Value::TokenArray(order))?;
    Ok(())
}

pub(super) fn vec3d(v: DVec3) -> Value {
    Value::Vec3d(v.to_array())
}

pub(super) fn quatd(q: DQuat) -> Value {
    Value::Quatd(Box::new(Quat(q.to_array())))
}
