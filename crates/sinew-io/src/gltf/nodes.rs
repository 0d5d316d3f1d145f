//! Nodes, their transforms and children, and the skins (glTF 2.0, 3.7.3) that name them.

use glam::{DMat4, DQuat, DVec3, DVec4};

use super::accessor::{Component, Shape};
use super::document::Document;
use super::instances;
use super::json::Json;
use sinew::error::Invalid;
use sinew_animate::asset::{AssetSkin, LocalTransform, Node, Trs};

/// All nodes. Weights are checked against the meshes later.
pub(super) fn read(document: &Document) -> Result<Vec<Node>, Invalid> {
    let list = document.list_for::<Node>("nodes")?;
    let mut nodes = Vec::with_capacity(list.len());
    for json in &list {
        let mesh = match json.get("mesh")? {
            Some(mesh) => Some(document.follow(&mesh, "meshes", "a mesh")?.0),
            None => None,
        };
        let skin = match json.get("skin")? {
            Some(skin) => Some(document.follow(&skin, "skins", "a skin")?.0),
            None => None,
        };
        let weights = match json.get("weights")? {
            Some(weights) => Some(numbers_f32(&weights)?),
            None => None,
        };
        let camera = match json.get("camera")? {
            Some(camera) => Some(document.follow(&camera, "cameras", "a camera")?.0),
            None => None,
        };
        let hidden = match json.extension("KHR_node_visibility")? {
            Some(extension) => !extension.boolean_or("visible", true)?,
            None => false,
        };
        let instances = match json.extension("EXT_mesh_gpu_instancing")? {
            Some(extension) if mesh.is_some() => instances::read(document, &extension)?,
            _ => Vec::new(),
        };
        nodes.push(Node {
            name: json.text("name")?,
            parent: None,
            local: local(document, json)?,
            mesh,
            // Without a mesh there is nothing to skin.
            skin: skin.filter(|_| mesh.is_some()),
            instances,
            weights: weights.filter(|_| mesh.is_some()),
            camera,
            light: light(document, json)?,
            hidden,
            extras: json.extras()?,
        });
    }
    for (i, json) in list.iter().enumerate() {
        for child in json.list("children")? {
            let index = document.node_index(&child)?;
            if let Some(other) = nodes[index].parent.replace(i) {
                let found = format!("node {index}, which is also a child of nodes[{other}]");
                return Err(child.error("a node with one parent", found));
            }
        }
    }
    no_circles(&nodes)?;
    Ok(nodes)
}

/// The punctual light that a node shows.
fn light(document: &Document, json: &Json<'_>) -> Result<Option<usize>, Invalid> {
    let Some(extension) = json.extension("KHR_lights_punctual")? else {
        return Ok(None);
    };
    let lights = match document.json().extension("KHR_lights_punctual")? {
        Some(lights) => lights.count("lights")?,
        None => 0,
    };
    let light = extension.need("light")?.index("a light", lights)?;
    Ok(Some(light))
}

/// Every node has one parent at most, so that one that no root leads to runs in a circle.
fn no_circles(nodes: &[Node]) -> Result<(), Invalid> {
    // 0 not looked at, 1 on the way up just now, 2 known to end at a root.
    let mut state = vec![0u8; nodes.len()];
    for start in 0..nodes.len() {
        let mut way = Vec::new();
        let mut at = Some(start);
        while let Some(node) = at {
            match state[node] {
                0 => {
                    state[node] = 1;
                    way.push(node);
                    at = nodes[node].parent;
                }
                1 => {
                    let found = format!("node {node} below itself");
                    let at = format!("nodes[{node}].children");
                    return Err(Invalid::new(at, "", "no node below itself", found));
                }
                _ => break,
            }
        }
        for node in way {
            state[node] = 2;
        }
    }
    Ok(())
}

fn local(document: &Document, json: &Json<'_>) -> Result<LocalTransform, Invalid> {
    if let Some(matrix) = json.get("matrix")? {
        for key in ["translation", "rotation", "scale"] {
            if let Some(also) = json.get(key)? {
                return Err(also.error(
                    "a matrix, or translation, rotation and scale, but not both",
                    "both",
                ));
            }
        }
        let columns = floats(&matrix, matrix.numbers::<16>()?)?;
        let matrix = affine(DMat4::from_cols_array(&columns))
            .ok_or_else(|| matrix.error("a matrix with 0 0 0 1 as its last row", "another"))?;
        return Ok(LocalTransform::Matrix(matrix));
    }
    let components = |key: &str, default: [f64; 3]| match json.get(key)? {
        Some(vector) => floats(&vector, vector.numbers()?).map(DVec3::from),
        None => Ok(DVec3::from(default)),
    };
    let rotation = match json.get("rotation")? {
        Some(json) => rotation(document, &json)?,
        None => DQuat::IDENTITY,
    };
    Ok(LocalTransform::Trs(Trs {
        translation: components("translation", [0.0; 3])?,
        rotation,
        scale: components("scale", [1.0; 3])?,
    }))
}

/// A unit quaternion. Short ones are made unit, with a warning where they are far off.
fn rotation(document: &Document, json: &Json<'_>) -> Result<DQuat, Invalid> {
    let rotation = DQuat::from_array(floats(json, json.numbers()?)?);
    let length = rotation.length();
    if length < 1e-9 {
        return Err(json.error("a rotation of length 1", "one of length 0"));
    }
    if (length - 1.0).abs() > 1e-3 {
        let message =
            format!("expected a rotation of length 1, found length {length}: it is normalised");
        document.warn("gltf-rotation-length", json.at(), message);
    }
    Ok(rotation / length)
}

/// Numbers that a float holds, so that products of some stay finite.
fn floats<const N: usize>(json: &Json<'_>, numbers: [f64; N]) -> Result<[f64; N], Invalid> {
    match numbers.iter().find(|n| n.abs() > f64::from(f32::MAX)) {
        Some(large) => Err(json.error("numbers within the range of f32", large.to_string())),
        None => Ok(numbers),
    }
}

/// A list of numbers of any length, as floats.
pub(super) fn numbers_f32(json: &Json<'_>) -> Result<Vec<f32>, Invalid> {
    let mut out = Vec::new();
    for element in json.elements()? {
        let [number] = floats(&element, [element.number()?])?;
        out.push(number as f32);
    }
    Ok(out)
}

/// The matrix with its last row made exactly 0 0 0 1; `None` where that row is something else.
pub(super) fn affine(mut matrix: DMat4) -> Option<DMat4> {
    let last = matrix.row(3);
    if !(last - DVec4::W).abs().cmple(DVec4::splat(1e-3)).all() {
        return None;
    }
    matrix.x_axis.w = 0.0;
    matrix.y_axis.w = 0.0;
    matrix.z_axis.w = 0.0;
    matrix.w_axis.w = 1.0;
    Some(matrix)
}

pub(super) fn read_skins(document: &Document) -> Result<Vec<AssetSkin>, Invalid> {
    let list = document.list_for::<AssetSkin>("skins")?;
    list.iter().map(|skin| read_skin(document, skin)).collect()
}

fn read_skin(document: &Document, json: &Json<'_>) -> Result<AssetSkin, Invalid> {
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
    Ok(AssetSkin {
        name: json.text("name")?,
        joints,
        inverse_bind,
        extras: json.extras()?,
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
