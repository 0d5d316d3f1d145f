//! Primitives as Mesh prims, and morph targets and expressions as BlendShapes.

use glam::{DMat4, Vec3};
use sinew_layer::{Path, Token, Value};

use super::channels::{Channels, ExpressionBinds, Slider};
use super::layer::{LayerBuilder, PrimId};
use super::names::Names;
use super::placement::{MeshUse, Place};
use super::skeletons::SkeletonPlan;
use crate::error::{Error, Result};
use crate::usd::read::values::{matrix4d, vectors};
use crate::vertices::{bounds, offsets_by_point};
use sinew::error::Invalid;
use sinew::skel::utils::sort_influences;
use sinew_animate::asset::{Asset, Primitive};

/// What a Mesh prim is bound to.
pub(super) struct Bound<'a> {
    pub plan: &'a SkeletonPlan,
    pub path: &'a Path,
    pub channels: &'a Channels,
    pub expressions: &'a ExpressionBinds,
}

/// Authors a Mesh prim below `parent`. `turned` says that its faces turn the other way than in the
/// asset.
///
/// # Errors
/// More points or corners than USD's indices count.
pub(super) fn author_mesh(
    layer: &mut LayerBuilder,
    parent: PrimId,
    asset: &Asset,
    (at, index): (&MeshUse, usize),
    bound: Option<&Bound<'_>>,
    turned: bool,
) -> Result<PrimId> {
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
    let named = names.into_iter().find(|name| !name.is_empty());
    layer.display_name(prim, named.unwrap_or_default());
    author_faces(layer, prim, primitive)?;
    author_primvars(layer, prim, primitive)?;
    let material_is_double_sided = primitive
        .material
        .is_some_and(|m| asset.materials[m].double_sided);
    let double_sided = primitive.double_sided || material_is_double_sided;
    layer.uniform(prim, "doubleSided", "bool", Value::Bool(double_sided))?;
    let orientation = Value::token(if turned { "leftHanded" } else { "rightHanded" });
    layer.uniform(prim, "orientation", "token", orientation)?;
    let none = Value::token("none");
    layer.uniform(prim, "subdivisionScheme", "token", none)?;
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
    Ok(prim)
}

/// Hides a prim and all below it.
pub(super) fn author_invisible(layer: &mut LayerBuilder, prim: PrimId) -> Result<()> {
    layer.set(prim, "visibility", "token", Value::token("invisible"))
}

/// Indices of a mesh, which are below what i32 counts.
fn ints(v: &[u32]) -> Value {
    Value::IntArray(v.iter().map(|i| *i as i32).collect())
}

fn author_faces(layer: &mut LayerBuilder, prim: PrimId, primitive: &Primitive) -> Result<()> {
    let points = &primitive.points;
    layer.set(prim, "points", "point3f[]", vectors(points))?;
    let faces = &primitive.faces;
    let counts = match &faces.counts {
        Some(counts) => ints(counts),
        None => Value::IntArray(vec![3; faces.indices.len() / 3].into()),
    };
    layer.set(prim, "faceVertexCounts", "int[]", counts)?;
    layer.set(prim, "faceVertexIndices", "int[]", ints(&faces.indices))?;
    if let Some(extent) = bounds(points.iter().copied()) {
        layer.set(prim, "extent", "float3[]", vectors(&extent))?;
    }
    Ok(())
}

fn author_primvars(layer: &mut LayerBuilder, prim: PrimId, primitive: &Primitive) -> Result<()> {
    let interpolation = match primitive.corner_data {
        true => "faceVarying",
        false => "vertex",
    };
    let mut author = |name: &str, type_name: &str, value: Value, interpolation: &str| {
        let attribute = layer.attribute(prim, name, type_name)?;
        attribute.value(value).interpolation(interpolation);
        Ok::<(), Error>(())
    };
    if !primitive.normals.is_empty() {
        let normals = vectors(&primitive.normals);
        author("normals", "normal3f[]", normals, interpolation)?;
    }
    let sets = primitive.uvs.iter().enumerate();
    for (set, uvs) in sets.filter(|(_, uvs)| !uvs.is_empty()) {
        // USD's origin is at the lower left.
        let uvs = uvs.iter().map(|uv| [uv.x, 1.0 - uv.y]).collect();
        let name = format!("primvars:{}", uv_name(set));
        author(&name, "texCoord2f[]", Value::Vec2fArray(uvs), interpolation)?;
    }
    let colors = &primitive.colors;
    if !colors.is_empty() {
        let rgb: Vec<Vec3> = colors.iter().map(|c| c.truncate()).collect();
        let name = "primvars:displayColor";
        author(name, "color3f[]", vectors(&rgb), interpolation)?;
    }
    if colors.iter().any(|c| c.w != 1.0) {
        let alphas = Value::FloatArray(colors.iter().map(|c| c.w).collect());
        author("primvars:displayOpacity", "float[]", alphas, interpolation)?;
    }
    if !primitive.tangents.is_empty() {
        let tangents = primitive.tangents.iter().map(|t| t.to_array());
        let tangents = Value::Vec4fArray(tangents.collect());
        author("primvars:tangents", "float4[]", tangents, "vertex")?;
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

/// Every influence with the Skeleton's joint indices, the largest of each point first.
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
    let mut indices: Vec<i32> = indices.collect();
    let mut weights = primitive.weights.clone();
    sort_influences(&mut indices, &mut weights, primitive.influences)
        .expect("as many joints as weights");
    let indices = Value::IntArray(indices.into());
    let weights = Value::FloatArray(weights.into());
    let size = primitive.influences as i32;
    author_influence_arrays(layer, prim, (indices, weights), size, "vertex")
}

fn author_constant_influence(layer: &mut LayerBuilder, prim: PrimId, joint: usize) -> Result<()> {
    let indices = Value::IntArray(vec![joint as i32].into());
    let weights = Value::FloatArray(vec![1.0].into());
    author_influence_arrays(layer, prim, (indices, weights), 1, "constant")
}

fn author_influence_arrays(
    layer: &mut LayerBuilder,
    prim: PrimId,
    (indices, weights): (Value, Value),
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
            .metadata("elementSize", Value::Int(element_size))
            .interpolation(interpolation);
    }
    Ok(())
}

fn author_geom_bind(layer: &mut LayerBuilder, prim: PrimId, geom_bind: DMat4) -> Result<()> {
    let value = matrix4d(geom_bind);
    layer.set(prim, "primvars:skel:geomBindTransform", "matrix4d", value)
}

/// Offsets of every point.
struct Dense {
    offsets: Vec<Vec3>,
    /// None where the shape leaves normals alone.
    normals: Option<Vec<Vec3>>,
    inbetweens: Vec<DenseInbetween>,
}

struct DenseInbetween {
    name: String,
    weight: f32,
    offsets: Vec<Vec3>,
    normals: Option<Vec<Vec3>>,
}

/// Authors the BlendShapes of a mesh prim below it, with the tokens and targets that bind them; false where
/// there are none.
pub(super) fn author_shapes(
    layer: &mut LayerBuilder,
    mesh_prim: PrimId,
    asset: &Asset,
    (at, primitive): (&MeshUse, &Primitive),
    (channels, expressions): (&Channels, &ExpressionBinds),
) -> Result<bool> {
    let mesh = &asset.meshes[at.mesh];
    let mut tokens: Vec<Token> = Vec::new();
    let mut targets = Vec::new();
    let alone = mesh.primitives.len() == 1;
    let mut add =
        |layer: &mut LayerBuilder, slider: Slider, shape: &Dense, keep: bool| -> Result<()> {
            let Some(token) = channels.token(slider) else {
                return Ok(());
            };
            let touched = shape.touched();
            if touched.is_empty() && !keep {
                return Ok(());
            }
            let prim = layer.define(mesh_prim, &[token], "BlendShape")?;
            author_shape(layer, prim, shape, &touched)?;
            tokens.push(token.into());
            targets.push(layer.path(prim).clone());
            Ok(())
        };
    for target in 0..primitive.targets.len() {
        let slider = Slider::Target {
            node: at.node,
            target,
        };
        // Targets of a mesh of several materials mostly move one of them.
        add(layer, slider, &target_shape(primitive, target), alone)?;
    }
    for part in expressions.of_mesh(at.mesh) {
        let shape = sum_of_targets(primitive, &part.binds);
        add(layer, Slider::Expression(part.expression), &shape, false)?;
    }
    if tokens.is_empty() {
        return Ok(false);
    }
    let value = Value::TokenArray(tokens.into());
    layer.uniform(mesh_prim, "skel:blendShapes", "token[]", value)?;
    layer.relationship(mesh_prim, "skel:blendShapeTargets", targets)?;
    Ok(true)
}

fn has_point_normals(primitive: &Primitive) -> bool {
    !primitive.normals.is_empty() && !primitive.corner_data
}

/// Adds `weight` times offsets of some points, or of all, to those of all.
fn scatter(into: &mut [Vec3], indices: Option<&[u32]>, offsets: &[Vec3], weight: f32) {
    for (point, offset) in offsets_by_point(indices, offsets) {
        if let Some(into) = into.get_mut(point) {
            *into += offset * weight;
        }
    }
}

/// A single morph target, with its in-betweens.
fn target_shape(primitive: &Primitive, target: usize) -> Dense {
    let mut out = sum_of_targets(primitive, &[(target, 1.0)]);
    let target = &primitive.targets[target];
    let indices = target.point_indices.as_deref();
    let dense = |offsets: &[Vec3]| {
        let mut all = vec![Vec3::ZERO; primitive.points.len()];
        scatter(&mut all, indices, offsets, 1.0);
        all
    };
    let normals = has_point_normals(primitive);
    let inbetweens = target.inbetweens.iter().map(|b| DenseInbetween {
        name: b.name.clone(),
        weight: b.weight,
        offsets: dense(&b.offsets),
        normals: b.normal_offsets.as_deref().filter(|_| normals).map(dense),
    });
    out.inbetweens = inbetweens.collect();
    out
}

/// Without in-betweens shapes are linear in their weights, so the sum at fixed weights is a shape.
fn sum_of_targets(primitive: &Primitive, binds: &[(usize, f32)]) -> Dense {
    let mut offsets = vec![Vec3::ZERO; primitive.points.len()];
    let mut normals: Option<Vec<Vec3>> = None;
    for (target, weight) in binds {
        let target = &primitive.targets[*target];
        let indices = target.point_indices.as_deref();
        scatter(&mut offsets, indices, &target.offsets, *weight);
        if has_point_normals(primitive) && !target.normal_offsets.is_empty() {
            let normals = normals.get_or_insert_with(|| vec![Vec3::ZERO; primitive.points.len()]);
            scatter(normals, indices, &target.normal_offsets, *weight);
        }
    }
    Dense {
        offsets,
        normals,
        inbetweens: Vec::new(),
    }
}

impl Dense {
    /// Points that anything moves.
    fn touched(&self) -> Vec<usize> {
        let between = self
            .inbetweens
            .iter()
            .flat_map(|b| [Some(&b.offsets), b.normals.as_ref()]);
        let arrays: Vec<&Vec<Vec3>> = [Some(&self.offsets), self.normals.as_ref()]
            .into_iter()
            .chain(between)
            .flatten()
            .collect();
        let moves = |i: &usize| arrays.iter().any(|a| a[*i] != Vec3::ZERO);
        (0..self.offsets.len()).filter(moves).collect()
    }
}

fn author_shape(
    layer: &mut LayerBuilder,
    prim: PrimId,
    shape: &Dense,
    touched: &[usize],
) -> Result<()> {
    // An index costs as much as a coordinate, and each array that it saves three.
    let between = shape
        .inbetweens
        .iter()
        .map(|b| 1 + usize::from(b.normals.is_some()));
    let arrays = 1 + usize::from(shape.normals.is_some()) + between.sum::<usize>();
    let is_sparse = touched.len() * (3 * arrays + 1) < shape.offsets.len() * 3 * arrays;
    let pick = |all: &[Vec3]| match is_sparse {
        true => vectors(&touched.iter().map(|i| all[*i]).collect::<Vec<_>>()),
        false => vectors(all),
    };
    layer.uniform(prim, "offsets", "vector3f[]", pick(&shape.offsets))?;
    if let Some(normals) = &shape.normals {
        layer.uniform(prim, "normalOffsets", "vector3f[]", pick(normals))?;
    }
    if is_sparse {
        // Point indices are int[] in a mesh, so there are no more than fit.
        let indices = touched.iter().map(|i| *i as i32).collect();
        layer.uniform(prim, "pointIndices", "int[]", Value::IntArray(indices))?;
    }
    let mut names = Names::default();
    // That name would be some in-between's normal offsets.
    names.unique(&["normalOffsets"]);
    for between in &shape.inbetweens {
        let property = format!("inbetweens:{}", names.unique(&[&between.name, "inbetween"]));
        let weight = Value::Float(between.weight);
        layer
            .uniform(prim, &property, "point3f[]", pick(&between.offsets))?
            .metadata("weight", weight);
        if let Some(normals) = &between.normals {
            let property = format!("{property}:normalOffsets");
            layer.uniform(prim, &property, "vector3f[]", pick(normals))?;
        }
    }
    Ok(())
}
