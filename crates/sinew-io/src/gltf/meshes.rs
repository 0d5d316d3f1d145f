//! Meshes: their primitives, and the names and weights of their morph targets.

use serde_json::Value;

use super::document::Document;
use super::json::Json;
use super::{nodes, primitives};
use sinew::error::Invalid;
use sinew_animate::asset::{AssetSkin, Mesh, Node};

/// The joints that a mesh's influences may name.
#[derive(Clone, Copy, Debug)]
pub(super) struct SkinLimit {
    pub joints: usize,
    pub skin: usize,
}

/// All meshes; nodes and skins say how many joints their influences may name.
pub(super) fn read(
    document: &Document,
    nodes: &[Node],
    skins: &[AssetSkin],
) -> Result<Vec<Mesh>, Invalid> {
    let list = document.list_for::<Mesh>("meshes")?;
    let limits = smallest_skins(nodes, skins, list.len());
    let meshes = list.iter().zip(limits);
    meshes
        .map(|(mesh, limit)| read_mesh(document, mesh, limit))
        .collect()
}

fn read_mesh(
    document: &Document,
    json: &Json<'_>,
    limit: Option<SkinLimit>,
) -> Result<Mesh, Invalid> {
    let list_json = json.need("primitives")?;
    let list: Vec<Json<'_>> = list_json.elements()?.collect();
    let Some(first) = list.first() else {
        return Err(list_json.error("at least one primitive", "none"));
    };
    let targets = first.count("targets")?;
    let mut read = Vec::new();
    for primitive in &list {
        let found = primitive.count("targets")?;
        if found != targets {
            let at = primitive.at_key("targets");
            let expected = format!("{targets} morph targets, like the first primitive");
            return Err(Invalid::new(at, "", expected, found.to_string()));
        }
        read.extend(primitives::read(document, primitive, limit)?);
    }
    let weights = match json.get("weights")? {
        Some(weights) => {
            let numbers = nodes::numbers_f32(&weights)?;
            check_weights(&weights, numbers.len(), targets)?;
            numbers
        }
        None => vec![0.0; targets],
    };
    Ok(Mesh {
        name: json.text("name")?,
        primitives: read,
        target_names: target_names(json, first, targets),
        weights,
        extras: extras(json)?,
    })
}

fn check_weights(weights: &Json<'_>, found: usize, targets: usize) -> Result<(), Invalid> {
    if found == targets {
        return Ok(());
    }
    let expected = format!("{targets} weights, one per morph target");
    Err(weights.error(expected, found.to_string()))
}

/// The names that exporters agree on, of the mesh or of its first primitive. They are no part of
/// the standard, so anything odd about them is passed over.
fn target_names(mesh: &Json<'_>, primitive: &Json<'_>, targets: usize) -> Vec<String> {
    let names = [mesh, primitive].into_iter().find_map(|json| {
        let names = json.value().get("extras")?.get("targetNames")?;
        names.as_array()
    });
    let name = |i: usize| names?.get(i)?.as_str();
    (0..targets)
        .map(|i| name(i).unwrap_or_default().to_owned())
        .collect()
}

/// Extras without the names of morph targets, which the mesh has itself.
fn extras(mesh: &Json<'_>) -> Result<Option<Value>, Invalid> {
    let mut extras = mesh.extras()?;
    if let Some(Value::Object(members)) = &mut extras
        && members.remove("targetNames").is_some()
        && members.is_empty()
    {
        return Ok(None);
    }
    Ok(extras)
}

/// For each mesh the smallest skin that moves it: its joints and its index.
fn smallest_skins(nodes: &[Node], skins: &[AssetSkin], meshes: usize) -> Vec<Option<SkinLimit>> {
    let mut limits: Vec<Option<SkinLimit>> = vec![None; meshes];
    for node in nodes {
        let (Some(mesh), Some(skin)) = (node.mesh, node.skin) else {
            continue;
        };
        let joints = skins[skin].joints.len();
        let limit = &mut limits[mesh];
        if limit.is_none_or(|l| joints < l.joints) {
            *limit = Some(SkinLimit { joints, skin });
        }
    }
    limits
}

/// Nodes that give weights of their own give one per morph target of their mesh.
pub(super) fn check_node_weights(
    document: &Document,
    nodes: &[Node],
    meshes: &[Mesh],
) -> Result<(), Invalid> {
    for (node, json) in nodes.iter().zip(document.json().list("nodes")?) {
        if let (Some(mesh), Some(weights)) = (node.mesh, &node.weights) {
            let json = json.need("weights")?;
            check_weights(&json, weights.len(), meshes[mesh].target_names.len())?;
        }
    }
    Ok(())
}
