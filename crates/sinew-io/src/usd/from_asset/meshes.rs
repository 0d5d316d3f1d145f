//! Primitives as Mesh prims.

use glam::{DMat4, Vec3};
use openusd::{gf, sdf};

use super::channels::{Channels, ExpressionBinds};
use super::layer::{LayerBuilder, PrimId};
use super::placement::{MeshUse, Place};
use super::shapes::author_shapes;
use super::skeletons::SkeletonPlan;
use crate::usd::read::values::matrix4d;
use sinew::error::{Invalid, Result};
use sinew_animate::asset::{Asset, Primitive};

/// What a Mesh prim is bound to.
pub(super) struct Bound<'a> {
    pub plan: &'a SkeletonPlan,
    pub path: &'a sdf::Path,
    pub channels: &'a Channels,
    pub expressions: &'a ExpressionBinds,
}

/// Authors a Mesh prim below `parent`.
///
/// # Errors
/// More points or corners than USD's indices count.
pub(super) fn author_mesh(
    layer: &mut LayerBuilder,
    parent: PrimId,
    asset: &Asset,
    (at, index): (&MeshUse, usize),
    bound: Option<&Bound<'_>>,
    material: Option<&sdf::Path>,
) -> Result<()> {
    let (node, mesh) = (&asset.nodes[at.node], &asset.meshes[at.mesh]);
    let primitive = &mesh.primitives[index];
    let most = primitive.points.len().max(primitive.faces.indices.len());
    if i32::try_from(most).is_err() {
        let here = format!("meshes[{}].primitives[{index}]", at.mesh);
        let error = Invalid::new(
            here,
            "",
            format!("at most {} elements", i32::MAX),
            most.to_string(),
        );
        return Err(error.in_file(&asset.file).into());
    }
    // Below an Xform that has the node's name already, the mesh's own comes first.
    let names = match at.place {
        Place::Free => [mesh.name.as_str(), node.name.as_str()],
        _ => [node.name.as_str(), mesh.name.as_str()],
    };
    let prim = layer.define(parent, &[names[0], names[1], "Mesh"], "Mesh")?;
    author_faces(layer, prim, primitive)?;
    author_primvars(layer, prim, primitive)?;
    let material_is_double_sided = primitive
        .material
        .is_some_and(|m| asset.materials[m].double_sided);
    let double_sided = primitive.double_sided || material_is_double_sided;
    layer.uniform(prim, "doubleSided", "bool", sdf::Value::Bool(double_sided))?;
    let orientation = sdf::Value::token("rightHanded");
    layer.uniform(prim, "orientation", "token", orientation)?;
    let none = sdf::Value::token("none");
    layer.uniform(prim, "subdivisionScheme", "token", none)?;
    if let Some(material) = material {
        layer.apply(prim, "MaterialBindingAPI");
        layer.relationship(prim, "material:binding", vec![material.clone()])?;
    }
    if let Some(bound) = bound {
        match at.place {
            Place::Skinned { skin, geom_bind } => {
                author_influences(layer, prim, asset, (primitive, skin), bound.plan)?;
                author_geom_bind(layer, prim, geom_bind)?;
            }
            Place::Carried { joint, geom_bind } => {
                author_constant_influence(layer, prim, joint)?;
                author_geom_bind(layer, prim, geom_bind)?;
            }
            Place::Free => {}
        }
        let channels = (bound.channels, bound.expressions);
        let is_shaped = author_shapes(layer, prim, asset, (at, primitive), channels)?;
        // Targets of another primitive are no reason to be bound.
        if is_shaped || !matches!(at.place, Place::Free) {
            layer.apply(prim, "SkelBindingAPI");
            layer.relationship(prim, "skel:skeleton", vec![bound.path.clone()])?;
        }
    }
    Ok(())
}

fn vec3f(v: &[Vec3]) -> sdf::Value {
    sdf::Value::Vec3fVec(bytemuck::cast_slice::<Vec3, gf::Vec3f>(v).to_vec())
}

/// Indices of a mesh, which are below what i32 counts.
fn ints(v: &[u32]) -> sdf::Value {
    sdf::Value::IntVec(v.iter().map(|i| *i as i32).collect())
}

fn author_faces(layer: &mut LayerBuilder, prim: PrimId, primitive: &Primitive) -> Result<()> {
    let points = &primitive.points;
    layer
        .attribute(prim, "points", "point3f[]")?
        .value(vec3f(points));
    let faces = &primitive.faces;
    let counts = match &faces.counts {
        Some(counts) => ints(counts),
        None => sdf::Value::IntVec(vec![3; faces.indices.len() / 3]),
    };
    layer
        .attribute(prim, "faceVertexCounts", "int[]")?
        .value(counts);
    layer
        .attribute(prim, "faceVertexIndices", "int[]")?
        .value(ints(&faces.indices));
    let low = points.iter().copied().reduce(Vec3::min);
    let high = points.iter().copied().reduce(Vec3::max);
    if let (Some(low), Some(high)) = (low, high) {
        layer
            .attribute(prim, "extent", "float3[]")?
            .value(vec3f(&[low, high]));
    }
    Ok(())
}

fn author_primvars(layer: &mut LayerBuilder, prim: PrimId, primitive: &Primitive) -> Result<()> {
    let interpolation = match primitive.corner_data {
        true => "faceVarying",
        false => "vertex",
    };
    if !primitive.normals.is_empty() {
        layer
            .attribute(prim, "normals", "normal3f[]")?
            .value(vec3f(&primitive.normals))
            .interpolation(interpolation);
    }
    for (set, uvs) in primitive.uvs.iter().enumerate() {
        if uvs.is_empty() {
            continue;
        }
        // USD's origin is at the lower left.
        let uvs = uvs.iter().map(|uv| gf::vec2f(uv.x, 1.0 - uv.y)).collect();
        layer
            .attribute(prim, &format!("primvars:{}", uv_name(set)), "texCoord2f[]")?
            .value(sdf::Value::Vec2fVec(uvs))
            .interpolation(interpolation);
    }
    if !primitive.colors.is_empty() {
        let colors: Vec<Vec3> = primitive.colors.iter().map(|c| c.truncate()).collect();
        layer
            .attribute(prim, "primvars:displayColor", "color3f[]")?
            .value(vec3f(&colors))
            .interpolation(interpolation);
        if primitive.colors.iter().any(|c| c.w != 1.0) {
            let alphas = primitive.colors.iter().map(|c| c.w).collect();
            layer
                .attribute(prim, "primvars:displayOpacity", "float[]")?
                .value(sdf::Value::FloatVec(alphas))
                .interpolation(interpolation);
        }
    }
    if !primitive.tangents.is_empty() {
        let tangents = primitive.tangents.iter();
        let tangents = tangents.map(|t| gf::vec4f(t.x, t.y, t.z, t.w)).collect();
        layer
            .attribute(prim, "primvars:tangents", "float4[]")?
            .value(sdf::Value::Vec4fVec(tangents))
            .interpolation("vertex");
    }
    Ok(())
}

/// Name of the primvar that holds a uv set.
pub(super) fn uv_name(set: usize) -> String {
    match set {
        0 => "st".to_owned(),
        n => format!("st{n}"),
    }
}

/// Every influence as the file has it, with the Skeleton's joint indices.
fn author_influences(
    layer: &mut LayerBuilder,
    prim: PrimId,
    asset: &Asset,
    (primitive, skin): (&Primitive, usize),
    plan: &SkeletonPlan,
) -> Result<()> {
    // Looked up one by one: thousands of small meshes may share a skin of thousands of joints.
    let joints = &asset.skins[skin].joints;
    let joint_of_skin = |joint: u32| plan.joint_of_node.get(joints.get(joint as usize)?);
    // Joints without a weight may be any number in the file, but not in USD.
    let pairs = primitive.joints.iter().zip(&primitive.weights);
    let indices = pairs.map(|(joint, weight)| match joint_of_skin(*joint) {
        Some(joint) if *weight != 0.0 => *joint as i32,
        _ => 0,
    });
    let indices = sdf::Value::IntVec(indices.collect());
    let weights = sdf::Value::FloatVec(primitive.weights.clone());
    let size = primitive.influences as i32;
    author_influence_arrays(layer, prim, (indices, weights), size, "vertex")
}

fn author_constant_influence(layer: &mut LayerBuilder, prim: PrimId, joint: usize) -> Result<()> {
    let indices = sdf::Value::IntVec(vec![joint as i32]);
    let weights = sdf::Value::FloatVec(vec![1.0]);
    author_influence_arrays(layer, prim, (indices, weights), 1, "constant")
}

fn author_influence_arrays(
    layer: &mut LayerBuilder,
    prim: PrimId,
    (indices, weights): (sdf::Value, sdf::Value),
    element_size: i32,
    interpolation: &str,
) -> Result<()> {
    for (name, type_name, value) in [
        ("primvars:skel:jointIndices", "int[]", indices),
        ("primvars:skel:jointWeights", "float[]", weights),
    ] {
        layer
            .attribute(prim, name, type_name)?
            .value(value)
            .metadata("elementSize", sdf::Value::Int(element_size))
            .interpolation(interpolation);
    }
    Ok(())
}

fn author_geom_bind(layer: &mut LayerBuilder, prim: PrimId, geom_bind: DMat4) -> Result<()> {
    let value = sdf::Value::Matrix4d(matrix4d(geom_bind));
    layer
        .attribute(prim, "primvars:skel:geomBindTransform", "matrix4d")?
        .value(value);
    Ok(())
}
