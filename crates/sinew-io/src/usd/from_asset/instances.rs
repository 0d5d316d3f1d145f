//! Instances of a node's mesh (EXT_mesh_gpu_instancing) as a PointInstancer.

use glam::{DVec3, Vec3};
use sinew_layer::Value;
use sinew_layer::value::Quat;

use half::f16;

use super::layer::{LayerBuilder, PrimId};
use crate::error::Result;
use crate::usd::read::values::vectors;
use crate::vertices::bounds;
use sinew_animate::asset::{Asset, Trs};

/// Authors a PointInstancer below the Xform of a node. Gives the prim that its mesh belongs below.
pub(super) fn author_instancer(
    layer: &mut LayerBuilder,
    parent: PrimId,
    asset: &Asset,
    node: usize,
) -> Result<PrimId> {
    let instances = &asset.nodes[node].instances;
    let mesh = asset.nodes[node].mesh.map(|m| &asset.meshes[m]);
    let instancer = layer.define(parent, &["Instances"], "PointInstancer")?;
    let scope = layer.define(instancer, &["Prototypes"], "Scope")?;
    let name = mesh.map_or("", |m| &m.name);
    let prototype = layer.define(scope, &[name, "Prototype"], "Xform")?;
    let target = layer.path(prototype).clone();
    layer.relationship(instancer, "prototypes", vec![target])?;
    let each = |of: &dyn Fn(&Trs) -> DVec3| -> Value {
        let values: Vec<Vec3> = instances.iter().map(|t| of(t).as_vec3()).collect();
        vectors(&values)
    };
    let indices = Value::IntArray(vec![0; instances.len()].into());
    let turns = || instances.iter().map(|t| t.rotation.to_array());
    let half = turns().map(|q| Quat(q.map(f16::from_f64))).collect();
    let single = turns().map(|q| Quat(q.map(|x| x as f32))).collect();
    for (name, type_name, value) in [
        ("protoIndices", "int[]", indices),
        ("positions", "point3f[]", each(&|t| t.translation)),
        ("orientations", "quath[]", Value::QuathArray(half)),
        // Where a reader knows them, these count.
        ("orientationsf", "quatf[]", Value::QuatfArray(single)),
        ("scales", "float3[]", each(&|t| t.scale)),
    ] {
        layer.set(instancer, name, type_name, value)?;
    }
    if let Some(extent) = extent(asset, node) {
        layer.set(instancer, "extent", "float3[]", vectors(&extent))?;
    }
    Ok(prototype)
}

/// The box around all instances.
fn extent(asset: &Asset, node: usize) -> Option<[Vec3; 2]> {
    let node = &asset.nodes[node];
    let primitives = asset.meshes[node.mesh?].primitives.iter();
    let own = bounds(primitives.flat_map(|p| &p.points).copied())?;
    let corner = |i: usize| Vec3::new(own[i & 1].x, own[i >> 1 & 1].y, own[i >> 2].z).as_dvec3();
    let placed = node.instances.iter().map(Trs::matrix);
    let placed = placed.flat_map(|m| (0..8).map(move |i| m.transform_point3(corner(i)).as_vec3()));
    bounds(placed)
}
