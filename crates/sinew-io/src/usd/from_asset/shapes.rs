//! Morph targets and expressions as BlendShapes.

use glam::Vec3;
use openusd::{sdf, tf};

use super::channels::{Channels, ExpressionBinds, Slider};
use super::layer::{LayerBuilder, PrimId};
use super::names::Names;
use super::placement::MeshUse;
use crate::usd::read::values::vectors;
use sinew::error::Result;
use sinew_animate::asset::{Asset, Primitive};

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
    let mut tokens: Vec<tf::Token> = Vec::new();
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
    let value = sdf::Value::TokenVec(tokens);
    layer.uniform(mesh_prim, "skel:blendShapes", "token[]", value)?;
    layer.relationship(mesh_prim, "skel:blendShapeTargets", targets)?;
    Ok(true)
}

fn has_point_normals(primitive: &Primitive) -> bool {
    !primitive.normals.is_empty() && !primitive.corner_data
}

/// Adds `weight` times offsets of some points, or of all, to those of all.
fn scatter(into: &mut [Vec3], indices: Option<&[u32]>, offsets: &[Vec3], weight: f32) {
    match indices {
        Some(indices) => {
            for (i, offset) in indices.iter().zip(offsets) {
                into[*i as usize] += *offset * weight;
            }
        }
        None => {
            for (into, offset) in into.iter_mut().zip(offsets) {
                *into += *offset * weight;
            }
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
        layer.uniform(prim, "pointIndices", "int[]", sdf::Value::IntVec(indices))?;
    }
    let mut names = Names::default();
    // That name would be some in-between's normal offsets.
    names.unique(&["normalOffsets"]);
    for between in &shape.inbetweens {
        let property = format!("inbetweens:{}", names.unique(&[&between.name, "inbetween"]));
        let weight = sdf::Value::Float(between.weight);
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
