//! Skins (glTF 2.0, 3.7.3).

use glam::DMat4;

use super::document::Document;
use super::element::{Component, Shape};
use super::json::Json;
use super::nodes::affine;
use sinew::error::Invalid;
use sinew_animate::asset::Skin;

pub(super) fn read(document: &Document) -> Result<Vec<Skin>, Invalid> {
    let list = document.list_for::<Skin>("skins")?;
    list.iter().map(|skin| read_skin(document, skin)).collect()
}

fn read_skin(document: &Document, json: &Json<'_>) -> Result<Skin, Invalid> {
    let joints_json = json.need("joints")?;
    let mut seen = std::collections::HashSet::new();
    let mut joints = Vec::new();
    for joint in joints_json.elements()? {
        let node = document.node_index(&joint)?;
        if !seen.insert(node) {
            return Err(joint.error("each joint once", format!("node {node} twice")));
        }
        joints.push(node);
    }
    if joints.is_empty() {
        return Err(joints_json.error("at least one joint", "none"));
    }
    if let Some(skeleton) = json.get("skeleton")? {
        document.node_index(&skeleton)?;
    }
    let inverse_bind = match json.get("inverseBindMatrices")? {
        Some(reference) => matrices(document, &reference, joints.len())?,
        None => vec![DMat4::IDENTITY; joints.len()],
    };
    Ok(Skin {
        name: json.text("name")?,
        joints,
        inverse_bind,
    })
}

/// One matrix per joint; more than that are passed over.
fn matrices(
    document: &Document,
    reference: &Json<'_>,
    joints: usize,
) -> Result<Vec<DMat4>, Invalid> {
    let accessor = document.accessor(reference)?.expect(
        Shape::MAT4,
        &[(Component::F32, false)],
        "FLOAT MAT4",
    )?;
    if accessor.count < joints {
        let expected = format!("a matrix for each of {joints} joints");
        let found = format!("{} in {}", accessor.count, accessor.at);
        return Err(reference.error(expected, found));
    }
    let mut matrices = accessor.read(|columns| DMat4::from_cols_array(&columns))?;
    matrices.truncate(joints);
    for (i, matrix) in matrices.iter_mut().enumerate() {
        *matrix = affine(*matrix).ok_or_else(|| {
            let found = format!("{:?} in matrix {i}", matrix.row(3).to_array());
            reference.error("matrices with 0 0 0 1 as their last row", found)
        })?;
    }
    Ok(matrices)
}
