//! Nodes that are no joints: Xforms, in double precision.

use glam::{DQuat, DVec3};
use openusd::{gf, sdf, tf};

use super::clips::CodedClip;
use super::hierarchy::components;
use super::layer::{LayerBuilder, PrimId};
use super::sampling::{rotations, sample_times, vectors};
use crate::usd::read::values::matrix4d;
use sinew::error::Result;
use sinew_animate::asset::Node;

/// Radians that an animated rotation may be off between samples.
const ANGLE: f64 = 1e-4;

/// Of the scene's size, how far a translation may be off between samples.
const WAY: f64 = 1e-4;

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
    let mut order: Vec<tf::Token> = Vec::new();
    let trs = match components(&node.local) {
        Some(trs) => trs,
        None if is_moved => node.local.trs(),
        None => {
            order.push("xformOp:transform".into());
            let value = sdf::Value::Matrix4d(matrix4d(node.local.matrix()));
            layer
                .attribute(prim, "xformOp:transform", "matrix4d")?
                .value(value);
            return author_order(layer, prim, order);
        }
    };
    if t.is_some() || trs.translation != DVec3::ZERO {
        let times = t.map(|c| sample_times(&[(c, WAY * size)], 1, keys).0);
        let curves: Vec<_> = t.map(|c| (0, c, 1.0)).into_iter().collect();
        let samples = vectors(&[trs.translation], &curves, &times.unwrap_or_default());
        layer.sampled(
            prim,
            "xformOp:translate",
            "double3",
            samples.map(|v| vec3d(v[0])),
        )?;
        order.push("xformOp:translate".into());
    }
    if r.is_some() || trs.rotation != DQuat::IDENTITY {
        let times = r.map(|c| sample_times(&[(c, ANGLE)], 1, keys).0);
        let curves: Vec<_> = r.map(|c| (0, c, 1.0)).into_iter().collect();
        let samples = rotations(&[trs.rotation], &curves, &times.unwrap_or_default());
        layer.sampled(
            prim,
            "xformOp:orient",
            "quatd",
            samples.map(|v| quatd(v[0])),
        )?;
        order.push("xformOp:orient".into());
    }
    if s.is_some() || trs.scale != DVec3::ONE {
        let times = s.map(|c| sample_times(&[(c, WAY)], 1, keys).0);
        let curves: Vec<_> = s.map(|c| (0, c, 1.0)).into_iter().collect();
        let samples = vectors(&[trs.scale], &curves, &times.unwrap_or_default());
        layer.sampled(
            prim,
            "xformOp:scale",
            "double3",
            samples.map(|v| vec3d(v[0])),
        )?;
        order.push("xformOp:scale".into());
    }
    author_order(layer, prim, order)
}

fn author_order(layer: &mut LayerBuilder, prim: PrimId, order: Vec<tf::Token>) -> Result<()> {
    if !order.is_empty() {
        layer.uniform(prim, "xformOpOrder", "token[]", sdf::Value::TokenVec(order))?;
    }
    Ok(())
}

fn vec3d(v: DVec3) -> sdf::Value {
    sdf::Value::Vec3d(gf::vec3d(v.x, v.y, v.z))
}

fn quatd(q: DQuat) -> sdf::Value {
    let (x, y, z, w) = (q.x, q.y, q.z, q.w);
    sdf::Value::Quatd(gf::Quatd { w, x, y, z })
}
