//! A small glTF 2.0 evaluator in f64, to judge sinew by: it shares no code with it.
//!
//! The crate `gltf` reads the file and its accessors. Good files only. Node transforms, animations, morph targets, and skins
//! are as the specification has them: a skinned point is the sum over its influences of weight * world_from_joint *
//! inverseBindMatrix * point, whatever the mesh's node does (3.7.3.3).

pub mod clip;
pub mod mesh;

use std::path::Path;

use glam::{DMat3, DMat4, DQuat, DVec3};
use gltf::animation::Property;
use gltf::buffer::Data;
use serde::Deserialize;
use serde_json::Value;

use clip::Clip;
use mesh::Mesh;

pub struct Document {
    /// The whole file. Its animations have plain targets only: see [`clip::plain_targets`].
    pub json: Value,
    pub nodes: Vec<Node>,
    pub meshes: Vec<Mesh>,
    pub skins: Vec<Skin>,
    pub clips: Vec<Clip>,
    /// Nodes of the scene to show.
    pub shown: Vec<usize>,
}

/// A node with the numbers of the file: the crate keeps them as f32.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Node {
    pub name: String,
    #[serde(skip)]
    pub parent: Option<usize>,
    children: Vec<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    /// x, y, z, w
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
    pub mesh: Option<usize>,
    pub skin: Option<usize>,
    weights: Option<Vec<f64>>,
}

pub struct Skin {
    pub joints: Vec<usize>,
    /// joint_from_mesh
    pub inverse_bind: Vec<DMat4>,
}

/// One primitive of one node in the world.
pub struct Surface {
    pub node: usize,
    pub primitive: usize,
    pub points: Vec<DVec3>,
    /// Unit length; empty where the file has none.
    pub normals: Vec<DVec3>,
}

impl Document {
    /// Panics on a file that is not good glTF: sinew's own reader is tested with those elsewhere.
    pub fn open(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (text, blob) = match gltf::Glb::from_slice(&bytes) {
            Ok(glb) => (glb.json, glb.bin.map(|b| b.into_owned())),
            Err(_) => (bytes.as_slice().into(), None),
        };
        let mut json: Value = serde_json::from_slice(&text).expect("JSON");
        clip::plain_targets(&mut json);
        let root = serde_json::from_value(json.clone()).expect("glTF");
        let gltf = gltf::Document::from_json_without_validation(root);
        let buffers = gltf::import_buffers(&gltf, path.parent(), blob).expect("buffers");
        let nodes = nodes(&json);
        Self {
            meshes: gltf.meshes().map(|m| Mesh::read(&m, &buffers)).collect(),
            skins: gltf.skins().map(|s| Skin::read(&s, &buffers)).collect(),
            clips: gltf
                .animations()
                .map(|a| Clip::read(&a, &buffers))
                .collect(),
            shown: shown(&json, &nodes),
            nodes,
            json,
        }
    }

    /// The items of a list of the file; none where it has no such list.
    pub fn list(&self, name: &str) -> &[Value] {
        list(&self.json[name])
    }

    /// Every primitive of every mesh node that is shown, at a time of some clips played together; at rest without any.
    pub fn surfaces(&self, clips: &[&Clip], time: f64) -> Vec<Surface> {
        let nodes = self.posed(clips, time);
        let world = worlds(&nodes);
        let mut out = Vec::new();
        for &node in &self.shown {
            let Some(mesh) = nodes[node].mesh.map(|m| &self.meshes[m]) else {
                continue;
            };
            let weights = nodes[node].weights.as_ref().unwrap_or(&mesh.weights);
            let skin = nodes[node].skin.map(|s| self.skins[s].motions(&world));
            let rigid = [Motion::new(world[node])];
            for (number, primitive) in mesh.primitives.iter().enumerate() {
                let (mut points, mut normals) = primitive.morphed(weights);
                for (i, point) in points.iter_mut().enumerate() {
                    let normal = normals.get_mut(i);
                    match &skin {
                        Some(joints) => skinned(joints, &primitive.influences[i], point, normal),
                        None => skinned(&rigid, &[(0, 1.0)], point, normal),
                    }
                }
                out.push(Surface {
                    node,
                    primitive: number,
                    points,
                    normals,
                });
            }
        }
        out
    }

    /// world_from_node of every node.
    pub fn world(&self, clips: &[&Clip], time: f64) -> Vec<DMat4> {
        worlds(&self.posed(clips, time))
    }

    fn posed(&self, clips: &[&Clip], time: f64) -> Vec<Node> {
        let mut nodes = self.nodes.clone();
        for channel in clips.iter().flat_map(|c| &c.channels) {
            let values = channel.at(time);
            let node = &mut nodes[channel.node];
            match channel.property {
                Property::Translation => node.translation = values.try_into().ok(),
                Property::Rotation => node.rotation = values.try_into().ok(),
                Property::Scale => node.scale = values.try_into().ok(),
                Property::MorphTargetWeights => node.weights = Some(values),
            }
        }
        nodes
    }
}

/// An array that may be left out.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// An index that may be left out.
pub fn index(value: &Value) -> Option<usize> {
    Some(value.as_u64()? as usize)
}

fn nodes(json: &Value) -> Vec<Node> {
    let read = |node: &Value| Node::deserialize(node).expect("a node");
    let mut nodes: Vec<Node> = list(&json["nodes"]).iter().map(read).collect();
    for parent in 0..nodes.len() {
        for child in nodes[parent].children.clone() {
            nodes[child].parent = Some(parent);
        }
    }
    nodes
}

/// Nodes below the scene's roots, depth first, without those that KHR_node_visibility hides; all nodes where the file has no
/// scene.
fn shown(json: &Value, nodes: &[Node]) -> Vec<usize> {
    let scene = &json["scenes"][index(&json["scene"]).unwrap_or(0)];
    if scene.is_null() {
        return (0..nodes.len()).collect();
    }
    let mut out = Vec::new();
    let roots = list(&scene["nodes"]).iter().rev();
    let mut stack: Vec<usize> = roots.filter_map(index).collect();
    while let Some(node) = stack.pop() {
        if json["nodes"][node]["extensions"]["KHR_node_visibility"]["visible"] == false {
            continue;
        }
        out.push(node);
        stack.extend(nodes[node].children.iter().rev());
    }
    out
}

impl Node {
    /// parent_from_node.
    fn local(&self) -> DMat4 {
        if let Some(matrix) = &self.matrix {
            return DMat4::from_cols_array(matrix);
        }
        let rotation = self.rotation.map_or(DQuat::IDENTITY, DQuat::from_array);
        DMat4::from_translation(self.translation.unwrap_or_default().into())
            * DMat4::from_quat(rotation.normalize())
            * DMat4::from_scale(self.scale.unwrap_or([1.0; 3]).into())
    }
}

impl Skin {
    fn read(skin: &gltf::Skin<'_>, buffers: &[Data]) -> Self {
        let joints: Vec<usize> = skin.joints().map(|j| j.index()).collect();
        let inverse_bind = match skin.inverse_bind_matrices() {
            Some(accessor) => {
                let numbers = mesh::numbers(&accessor, buffers);
                let matrices = numbers.chunks_exact(16);
                matrices.map(DMat4::from_cols_slice).collect()
            }
            None => vec![DMat4::IDENTITY; joints.len()],
        };
        Self {
            joints,
            inverse_bind,
        }
    }

    /// world_from_mesh of each joint.
    fn motions(&self, world: &[DMat4]) -> Vec<Motion> {
        let both = self.joints.iter().zip(&self.inverse_bind);
        both.map(|(joint, inverse_bind)| Motion::new(world[*joint] * *inverse_bind))
            .collect()
    }
}

/// What moves points, and their normals with them.
struct Motion {
    points: DMat4,
    normals: DMat3,
}

impl Motion {
    fn new(points: DMat4) -> Self {
        let normals = DMat3::from_mat4(points).inverse().transpose();
        Self { points, normals }
    }
}

fn worlds(nodes: &[Node]) -> Vec<DMat4> {
    let mut found = vec![None; nodes.len()];
    let worlds = (0..nodes.len()).map(|node| world(nodes, node, &mut found));
    worlds.collect()
}

/// Of a node, by those that are found already.
fn world(nodes: &[Node], node: usize, found: &mut [Option<DMat4>]) -> DMat4 {
    if let Some(world) = found[node] {
        return world;
    }
    let local = nodes[node].local();
    let made = match nodes[node].parent {
        Some(parent) => world(nodes, parent, found) * local,
        None => local,
    };
    found[node] = Some(made);
    made
}

/// Moves a point, and its normal by the same mean of inverse transposes: glTF leaves open how normals
/// are skinned, and this is how UsdSkel does it.
fn skinned(
    motions: &[Motion],
    influences: &[(usize, f64)],
    point: &mut DVec3,
    normal: Option<&mut DVec3>,
) {
    // Joints without weight count for nothing, even where their matrix is singular.
    let used = || influences.iter().filter(|(_, weight)| *weight != 0.0);
    let rest = *point;
    let sum: f64 = used().map(|(_, w)| w).sum();
    let moved: DVec3 = used()
        .map(|(j, w)| motions[*j].points.transform_point3(rest) * *w)
        .sum();
    // Files have to have sums of 1. A renderer takes others out again by the homogeneous division.
    *point = moved / sum;
    if let Some(normal) = normal {
        let rest = *normal;
        let turned: DVec3 = used().map(|(j, w)| motions[*j].normals * rest * *w).sum();
        *normal = turned.normalize_or_zero();
    }
}
