//! A small glTF 2.0 evaluator in f64, to judge sinew by: it shares no code with it.
//!
//! Good files only. Node transforms, animations, morph targets, and skins as the specification has them: a skinned
//! point is the sum over its influences of weight * world_from_joint * inverseBindMatrix * point, whatever
//! the mesh's node does (3.7.3.3).

pub mod accessor;
pub mod clip;
pub mod file;
pub mod mesh;

use std::path::Path;

use glam::{DMat3, DMat4, DQuat, DVec3};
use serde_json::Value;

use clip::{Clip, Property};
use file::{File, index, list, numbers};
use mesh::Mesh;

pub struct Document {
    pub nodes: Vec<Node>,
    pub meshes: Vec<Mesh>,
    pub skins: Vec<Skin>,
    pub clips: Vec<Clip>,
    /// Nodes of the scene to show.
    pub shown: Vec<usize>,
}

#[derive(Clone)]
pub struct Node {
    pub name: String,
    parent: Option<usize>,
    matrix: Option<DMat4>,
    translation: DVec3,
    /// x, y, z, w
    rotation: DQuat,
    scale: DVec3,
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
#[derive(Debug)]
pub struct Surface {
    pub node: usize,
    pub primitive: usize,
    pub points: Vec<DVec3>,
    /// Unit length; empty where the file has none.
    pub normals: Vec<DVec3>,
}

impl Document {
    pub fn open(path: &Path) -> Self {
        let file = File::open(path);
        let json = &file.json;
        let mut nodes: Vec<Node> = list(&json["nodes"]).iter().map(Node::read).collect();
        for (parent, node) in list(&json["nodes"]).iter().enumerate() {
            for child in list(&node["children"]).iter().filter_map(index) {
                nodes[child].parent = Some(parent);
            }
        }
        let meshes = list(&json["meshes"]).iter();
        let clips = list(&json["animations"]).iter();
        Self {
            meshes: meshes.map(|m| Mesh::read(&file, m)).collect(),
            skins: list(&json["skins"])
                .iter()
                .map(|s| Skin::read(&file, s))
                .collect(),
            clips: clips.map(|a| Clip::read(&file, a)).collect(),
            shown: shown(json),
            nodes,
        }
    }

    /// Every primitive of every mesh node that is shown, at a time of some clips played together; at rest without any.
    pub fn surfaces(&self, clips: &[&Clip], time: f64) -> Vec<Surface> {
        let nodes = self.posed(clips, time);
        let world: Vec<DMat4> = (0..nodes.len()).map(|n| world(&nodes, n)).collect();
        let mut out = Vec::new();
        for &node in &self.shown {
            let Some(mesh) = nodes[node].mesh else {
                continue;
            };
            let mesh = &self.meshes[mesh];
            let weights = nodes[node].weights.as_ref().unwrap_or(&mesh.weights);
            for (number, primitive) in mesh.primitives.iter().enumerate() {
                let (mut points, mut normals) = primitive.morphed(weights);
                let skin = nodes[node].skin.map(|s| self.skins[s].motions(&world));
                let rigid = [Motion::new(world[node])];
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
        let nodes = self.posed(clips, time);
        (0..nodes.len()).map(|n| world(&nodes, n)).collect()
    }

    fn posed(&self, clips: &[&Clip], time: f64) -> Vec<Node> {
        let mut nodes = self.nodes.clone();
        for channel in clips.iter().flat_map(|c| &c.channels) {
            let values = channel.at(time);
            let node = &mut nodes[channel.node];
            match channel.property {
                Property::Translation => node.translation = DVec3::from_slice(&values),
                Property::Rotation => node.rotation = DQuat::from_slice(&values),
                Property::Scale => node.scale = DVec3::from_slice(&values),
                Property::Weights => node.weights = Some(values),
            }
        }
        nodes
    }
}

impl Node {
    fn read(node: &Value) -> Self {
        let vector =
            |name: &str, missing| numbers(&node[name]).map_or(missing, |v| DVec3::from_slice(&v));
        let rotation =
            numbers(&node["rotation"]).map_or(DQuat::IDENTITY, |v| DQuat::from_slice(&v));
        Self {
            name: node["name"].as_str().unwrap_or("").to_owned(),
            parent: None,
            matrix: numbers(&node["matrix"]).map(|v| DMat4::from_cols_slice(&v)),
            translation: vector("translation", DVec3::ZERO),
            rotation: rotation.normalize(),
            scale: vector("scale", DVec3::ONE),
            mesh: index(&node["mesh"]),
            skin: index(&node["skin"]),
            weights: numbers(&node["weights"]),
        }
    }

    /// parent_from_node.
    fn local(&self) -> DMat4 {
        self.matrix.unwrap_or_else(|| {
            DMat4::from_translation(self.translation)
                * DMat4::from_quat(self.rotation)
                * DMat4::from_scale(self.scale)
        })
    }
}

impl Skin {
    fn read(file: &File, skin: &Value) -> Self {
        let joints: Vec<usize> = list(&skin["joints"]).iter().filter_map(index).collect();
        let inverse_bind = match index(&skin["inverseBindMatrices"]) {
            Some(accessor) => {
                let numbers = accessor::read(file, accessor);
                numbers
                    .chunks_exact(16)
                    .map(DMat4::from_cols_slice)
                    .collect()
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

fn world(nodes: &[Node], node: usize) -> DMat4 {
    let local = nodes[node].local();
    match nodes[node].parent {
        Some(parent) => world(nodes, parent) * local,
        None => local,
    }
}

/// Nodes below the scene's roots, depth first, without those that KHR_node_visibility hides; all nodes where the file has no
/// scene.
fn shown(json: &Value) -> Vec<usize> {
    let scene = &json["scenes"][index(&json["scene"]).unwrap_or(0)];
    if scene.is_null() {
        return (0..list(&json["nodes"]).len()).collect();
    }
    let mut out = Vec::new();
    let mut stack: Vec<usize> = list(&scene["nodes"])
        .iter()
        .rev()
        .filter_map(index)
        .collect();
    while let Some(node) = stack.pop() {
        if json["nodes"][node]["extensions"]["KHR_node_visibility"]["visible"] == false {
            continue;
        }
        out.push(node);
        let children = list(&json["nodes"][node]["children"]).iter();
        stack.extend(children.rev().filter_map(index));
    }
    out
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
