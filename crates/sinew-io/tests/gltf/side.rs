//! One of two files that are compared, by names: what survives has other numbers.

use std::collections::{BTreeMap, BTreeSet};

use glam::{DMat4, DVec3};
use gltf::Semantic;
use serde_json::Value;

use crate::eval::clip::Clip;
use crate::eval::mesh::numbers;
use crate::eval::{Document, index, list};
use common::compare::size;

pub struct Side(pub Document);

/// Values of each vertex of a primitive.
#[derive(Default)]
pub struct Vertices {
    pub attributes: BTreeMap<String, Vec<Vec<f64>>>,
    /// By the names of the joints.
    pub weights: Vec<BTreeMap<String, f64>>,
    /// Names of the morph targets; empty where they have none.
    pub targets: Vec<String>,
}

/// Attributes that are compared, in the order of their sets.
const ATTRIBUTES: [(&str, Semantic); 7] = [
    ("NORMAL", Semantic::Normals),
    ("TEXCOORD_0", Semantic::TexCoords(0)),
    ("TEXCOORD_1", Semantic::TexCoords(1)),
    ("TEXCOORD_2", Semantic::TexCoords(2)),
    ("TEXCOORD_3", Semantic::TexCoords(3)),
    ("COLOR_0", Semantic::Colors(0)),
    ("COLOR_1", Semantic::Colors(1)),
];

impl Side {
    pub fn name(&self, node: usize) -> String {
        self.0.nodes[node].name.clone()
    }

    pub fn is_skinned(&self, node: usize) -> bool {
        self.0.nodes[node].skin.is_some()
    }

    /// The node of a name that no other has.
    pub fn only(&self, name: &str) -> Option<usize> {
        let is_it = |n: &usize| self.0.nodes[*n].name == name && !name.is_empty();
        let mut named = (0..self.0.nodes.len()).filter(is_it);
        named.next().filter(|_| named.next().is_none())
    }

    /// The clip that is a clip of the other file: of the same name, or of the same number without one.
    pub fn clip_of(&self, number: usize, clip: &Clip) -> Option<&Clip> {
        match clip.name.is_empty() {
            true => self.0.clips.get(number),
            false => self.0.clips.iter().find(|c| c.name == clip.name),
        }
    }

    /// Names of all nodes above each name, the nearest first.
    pub fn parents(&self) -> BTreeMap<String, Vec<String>> {
        let nodes = self.0.shown.iter();
        let named = nodes.map(|n| (self.name(*n), self.above(*n).map(|p| self.name(p))));
        named.map(|(name, above)| (name, above.collect())).collect()
    }

    fn above(&self, node: usize) -> impl Iterator<Item = usize> {
        let parent = |node: &usize| self.0.nodes[*node].parent;
        std::iter::successors(parent(&node), parent)
    }

    pub fn is_joint(&self, node: usize) -> bool {
        self.0.skins.iter().any(|s| s.joints.contains(&node))
    }

    fn joints(&self) -> impl Iterator<Item = usize> {
        (0..self.0.nodes.len()).filter(|n| self.is_joint(*n))
    }

    /// For each skin, the names of its joints.
    pub fn joint_names(&self) -> Vec<BTreeSet<String>> {
        let names = |joints: &[usize]| joints.iter().map(|j| self.name(*j)).collect();
        self.0.skins.iter().map(|s| names(&s.joints)).collect()
    }

    /// Joints above each joint that has a name, the nearest first.
    pub fn joints_above(&self) -> BTreeMap<String, Vec<String>> {
        let named = self.joints().filter(|j| !self.name(*j).is_empty());
        let above = |joint| self.above(joint).filter(|n| self.is_joint(*n));
        named
            .map(|j| (self.name(j), above(j).map(|n| self.name(n)).collect()))
            .collect()
    }

    pub fn rest(&self, node: usize) -> DMat4 {
        self.0.world(&[], 0.0)[node]
    }

    /// Size of everything at rest, at least that of its nodes.
    pub fn extent(&self) -> f64 {
        let world = self.0.world(&[], 0.0);
        let mut points: Vec<DVec3> = world.iter().map(|m| m.w_axis.truncate()).collect();
        let surfaces = self.0.surfaces(&[], 0.0);
        points.extend(surfaces.into_iter().flat_map(|s| s.points));
        size(&points).max(1e-6)
    }

    pub fn used_materials(&self) -> BTreeSet<usize> {
        let shown = self.0.shown.iter();
        let meshes = shown.filter_map(|n| self.0.nodes[*n].mesh);
        let primitives = meshes.flat_map(|m| list(&self.0.list("meshes")[m]["primitives"]));
        primitives.filter_map(|p| index(&p["material"])).collect()
    }

    /// Cameras, each with its node.
    pub fn cameras(&self) -> Vec<(usize, Value)> {
        self.at_nodes(self.0.list("cameras"), |node| &node["camera"])
    }

    /// Lights of KHR_lights_punctual, each with its node.
    pub fn lights(&self) -> Vec<(usize, Value)> {
        let lights = &self.0.json["extensions"]["KHR_lights_punctual"]["lights"];
        fn light(node: &Value) -> &Value {
            &node["extensions"]["KHR_lights_punctual"]["light"]
        }
        self.at_nodes(list(lights), light)
    }

    fn at_nodes(&self, all: &[Value], of: fn(&Value) -> &Value) -> Vec<(usize, Value)> {
        let nodes = self.0.list("nodes");
        let item = |node: &usize| Some((*node, all.get(index(of(&nodes[*node]))?)?.clone()));
        self.0.shown.iter().filter_map(item).collect()
    }

    /// The name of a joint, or its number where it has none.
    pub fn joint_name(&self, joint: usize) -> String {
        match self.name(joint).as_str() {
            "" => format!("@{joint}"),
            name => name.to_owned(),
        }
    }

    /// The name of the joint of this file that is a joint of the other one: of the same name, or at the same place without a name.
    pub fn joint_of(&self, other: &Self, joint: usize) -> String {
        let name = other.name(joint);
        if self.joints().any(|j| self.name(j) == name) {
            return name;
        }
        let place = other.rest(joint);
        // Of several at one place, the one of the nearest number.
        let off = |j: usize| distance(self.rest(j), place, 1.0) + 1e-9 * j.abs_diff(joint) as f64;
        let unnamed = self.joints().filter(|j| self.name(*j).is_empty());
        let nearest = unnamed.min_by(|a, b| off(*a).total_cmp(&off(*b)));
        nearest.map_or(name, |j| self.joint_name(j))
    }

    /// Values of the primitive of a node, and `name` of each joint.
    pub fn vertices(
        &self,
        (node, part): (usize, usize),
        name: impl Fn(usize) -> String,
    ) -> Vertices {
        let node = &self.0.nodes[node];
        let Some(mesh) = node.mesh else {
            return Vertices::default();
        };
        let read = self.0.gltf.meshes().nth(mesh).expect("the mesh");
        let primitive = read.primitives().nth(part).expect("the primitive");
        let names = list(&self.0.list("meshes")[mesh]["extras"]["targetNames"]);
        let names = names
            .iter()
            .map(|n| n.as_str().unwrap_or_default().to_owned());
        let mut out = Vertices {
            targets: names.collect(),
            ..Vertices::default()
        };
        out.targets
            .resize(primitive.morph_targets().len(), String::new());
        for (name, semantic) in ATTRIBUTES {
            let Some(accessor) = primitive.get(&semantic) else {
                continue;
            };
            let values = numbers(&accessor, &self.0.buffers);
            let rows = values.chunks(accessor.dimensions().multiplicity());
            let rows = rows.map(|row| match semantic {
                // Stored in few bits, they have no unit length.
                Semantic::Normals => DVec3::from_slice(row).normalize_or_zero().to_array().into(),
                _ => row.to_vec(),
            });
            out.attributes.insert(name.to_owned(), rows.collect());
        }
        // Without a skin influences mean nothing.
        let Some(skin) = node.skin.map(|s| &self.0.skins[s]) else {
            return out;
        };
        let names: Vec<String> = skin.joints.iter().map(|j| name(*j)).collect();
        for influences in &self.0.meshes[mesh].primitives[part].influences {
            let mut weights = BTreeMap::new();
            let used = influences.iter().filter(|(_, w)| *w != 0.0);
            let sum: f64 = used.clone().map(|(_, w)| w).sum();
            for (joint, weight) in used {
                *weights.entry(names[*joint].clone()).or_insert(0.0) += weight / sum;
            }
            out.weights.push(weights);
        }
        out
    }
}

/// How far a transform takes points of the unit cube, beside a size, from where another one does.
pub fn distance(a: DMat4, b: DMat4, size: f64) -> f64 {
    let column = |m: DMat4, i: usize| m.col(i).truncate();
    let off = |i: usize| (column(a, i) - column(b, i)).length();
    let turned = (0..3).map(off).fold(0.0, f64::max);
    let largest = (0..3).map(|i| column(a, i).length());
    let largest = largest.fold(f64::MIN_POSITIVE, f64::max);
    (turned / largest).max(off(3) / size)
}
