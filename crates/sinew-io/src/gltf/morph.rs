//! Morph targets (glTF 2.0, 3.7.2.2).

use glam::Vec3;

use super::accessor::Accessor;
use super::document::Document;
use super::element::{Component, Shape};
use super::json::Json;
use super::primitives::{QUANTIZED_POSITION, QUANTIZED_UNIT, attribute};
use sinew::error::Invalid;
use sinew_animate::asset::MorphTarget;

/// One target of a primitive with that many points.
pub(super) fn read(
    document: &Document,
    target: &Json<'_>,
    points: usize,
) -> Result<MorphTarget, Invalid> {
    let get = |name: &str, quantized: &[(Component, bool)]| {
        let Some(accessor) =
            attribute(document, target, name, &[Shape::vector(3)], &[], quantized)?
        else {
            return Ok(None);
        };
        accessor.expect_count(points, "one per point").map(Some)
    };
    let position = get("POSITION", QUANTIZED_POSITION)?;
    let normal = get("NORMAL", QUANTIZED_UNIT)?;
    let tangent = get("TANGENT", QUANTIZED_UNIT)?;
    for (name, _) in target.members()? {
        if !["POSITION", "NORMAL", "TANGENT"].contains(&name) && !name.starts_with('_') {
            let message = format!("morphs {name}, which is left out");
            document.warn("gltf-morph-attribute", target.at(), message);
        }
    }
    let Some(point_indices) = touched([&position, &normal, &tangent]) else {
        return Ok(MorphTarget {
            offsets: dense(&position)?,
            normal_offsets: dense(&normal)?,
            tangent_offsets: dense(&tangent)?,
            ..MorphTarget::default()
        });
    };
    Ok(MorphTarget {
        offsets: gather(&position, &point_indices)?,
        normal_offsets: gather(&normal, &point_indices)?,
        tangent_offsets: gather(&tangent, &point_indices)?,
        point_indices: Some(point_indices),
        ..MorphTarget::default()
    })
}

fn vector([x, y, z]: [f64; 3]) -> Vec3 {
    Vec3::new(x as f32, y as f32, z as f32)
}

/// Points that any of the accessors moves, rising, where all of them are sparse.
fn touched(accessors: [&Option<Accessor<'_>>; 3]) -> Option<Vec<u32>> {
    let mut points = Vec::new();
    for accessor in accessors.into_iter().flatten() {
        points.extend(accessor.sparse_indices()?);
    }
    points.sort_unstable();
    points.dedup();
    Some(points)
}

fn dense(accessor: &Option<Accessor<'_>>) -> Result<Vec<Vec3>, Invalid> {
    accessor.as_ref().map_or(Ok(Vec::new()), |a| a.read(vector))
}

/// Offsets of those points, zero where the accessor is silent.
fn gather(accessor: &Option<Accessor<'_>>, points: &[u32]) -> Result<Vec<Vec3>, Invalid> {
    let Some(accessor) = accessor else {
        return Ok(Vec::new());
    };
    let values = accessor.read_sparse(vector)?;
    let indices = accessor.sparse_indices().unwrap_or_default();
    let mut out = vec![Vec3::ZERO; points.len()];
    for (index, value) in indices.iter().zip(values) {
        if let Ok(at) = points.binary_search(index) {
            out[at] = value;
        }
    }
    Ok(out)
}
