//! Builds glTF documents: the JSON is open to every change, and everything binary lands in one buffer.
//!
//! ```ignore
//! let mut gltf = GltfMaker::new();
//! let hips = gltf.node(None, json!({ "name": "hips", "translation": [0, 1, 0] }));
//! let skin = gltf.skin_at_rest(&[hips]);
//! let walk = gltf.animation("walk");
//! let rotation = gltf.curve("LINEAR", &[0.0, 1.0], "VEC4", &[0., 0., 0., 1., 0., 1., 0., 0.]);
//! gltf.channel(walk, rotation, json!({ "node": hips, "path": "rotation" }));
//! let path = gltf.write(folder.path(), "walk.glb");
//! ```

use std::path::{Path, PathBuf};

use glam::{DMat4, DQuat, DVec3};
use serde_json::{Value, json};

/// componentType of f32.
const FLOAT: u32 = 5126;
const UNSIGNED_SHORT: u32 = 5123;

/// A glTF document under construction.
#[derive(Clone)]
pub struct GltfMaker {
    pub json: Value,
    pub bin: Vec<u8>,
}

/// A primitive to be; empty parts are left out.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    pub points: Vec<[f32; 3]>,
    pub normals: Vec<[f32; 3]>,
    pub triangles: Vec<u16>,
    /// JOINTS_0.
    pub joints: Vec<[u16; 4]>,
    /// WEIGHTS_0.
    pub weights: Vec<[f32; 4]>,
    /// Name and POSITION offsets.
    pub targets: Vec<(String, Vec<[f32; 3]>)>,
}

impl Default for GltfMaker {
    fn default() -> Self {
        Self::new()
    }
}

impl GltfMaker {
    /// One empty scene.
    pub fn new() -> Self {
        Self {
            json: json!({
                "asset": { "version": "2.0", "generator": "sinew's tests" },
                "scene": 0,
                "scenes": [{ "nodes": [] }],
            }),
            bin: Vec::new(),
        }
    }

    /// Appends to a list of the document, which is made where it is not there; gives the index.
    pub fn push(&mut self, list: &str, item: Value) -> usize {
        push_to(&mut self.json[list], item)
    }

    /// A node below another one, or a root of the scene.
    pub fn node(&mut self, parent: Option<usize>, node: Value) -> usize {
        let index = self.push("nodes", node);
        match parent {
            Some(parent) => push_to(&mut self.json["nodes"][parent]["children"], json!(index)),
            None => push_to(&mut self.json["scenes"][0]["nodes"], json!(index)),
        };
        index
    }

    /// world_from_node, of nodes in components.
    pub fn rest_world(&self, node: usize) -> DMat4 {
        let nodes = self.json["nodes"].as_array().expect("nodes");
        let holds = |n: &Value| {
            let children = n["children"].as_array();
            children.is_some_and(|c| c.contains(&json!(node)))
        };
        let part = |name: &str, or: &[f64]| -> Vec<f64> {
            match nodes[node][name].as_array() {
                Some(list) => list.iter().map(|v| v.as_f64().expect("a number")).collect(),
                None => or.to_vec(),
            }
        };
        let local = DMat4::from_scale_rotation_translation(
            DVec3::from_slice(&part("scale", &[1.0; 3])),
            DQuat::from_slice(&part("rotation", &[0.0, 0.0, 0.0, 1.0])),
            DVec3::from_slice(&part("translation", &[0.0; 3])),
        );
        match nodes.iter().position(holds) {
            Some(parent) => self.rest_world(parent) * local,
            None => local,
        }
    }

    /// A buffer view of these bytes, aligned to 4.
    fn buffer_view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let view = json!({ "buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len() });
        self.bin.extend(bytes);
        self.push("bufferViews", view)
    }

    /// An accessor of its own buffer view.
    fn accessor(&mut self, component: u32, kind: &str, count: usize, bytes: &[u8]) -> usize {
        let view = self.buffer_view(bytes);
        self.push(
            "accessors",
            json!({ "bufferView": view, "componentType": component, "type": kind, "count": count }),
        )
    }

    /// f32 values, with min and max.
    fn floats(&mut self, kind: &str, values: &[f32]) -> usize {
        let width = components(kind);
        let index = self.accessor(
            FLOAT,
            kind,
            values.len() / width,
            bytemuck::cast_slice(values),
        );
        let bound = |pick: fn(f32, f32) -> f32| -> Vec<f32> {
            (0..width)
                .filter_map(|c| {
                    let column = values.iter().skip(c).step_by(width).copied();
                    column.reduce(pick)
                })
                .collect()
        };
        let accessor = &mut self.json["accessors"][index];
        accessor["min"] = json!(bound(f32::min));
        accessor["max"] = json!(bound(f32::max));
        index
    }

    /// u16 values.
    fn shorts(&mut self, kind: &str, values: &[u16]) -> usize {
        let count = values.len() / components(kind);
        self.accessor(UNSIGNED_SHORT, kind, count, bytemuck::cast_slice(values))
    }

    /// A skin with these inverse bind matrices.
    pub fn skin(&mut self, joints: &[usize], inverse_bind: &[DMat4]) -> usize {
        let values: Vec<f32> = inverse_bind
            .iter()
            .flat_map(|m| m.to_cols_array().map(|v| v as f32))
            .collect();
        let accessor = self.floats("MAT4", &values);
        self.push(
            "skins",
            json!({ "joints": joints, "inverseBindMatrices": accessor }),
        )
    }

    /// A skin that is bound as its joints stand, in the scene's space.
    pub fn skin_at_rest(&mut self, joints: &[usize]) -> usize {
        let inverse_bind: Vec<DMat4> = joints
            .iter()
            .map(|j| self.rest_world(*j).inverse())
            .collect();
        self.skin(joints, &inverse_bind)
    }

    /// A mesh of these primitives.
    pub fn mesh(&mut self, name: &str, shapes: &[Shape]) -> usize {
        let primitives: Vec<Value> = shapes.iter().map(|s| self.primitive(s)).collect();
        let mut mesh = json!({ "name": name, "primitives": primitives });
        if let Some(first) = shapes.first().filter(|s| !s.targets.is_empty()) {
            let names: Vec<&String> = first.targets.iter().map(|(name, _)| name).collect();
            mesh["extras"] = json!({ "targetNames": names });
        }
        self.push("meshes", mesh)
    }

    fn primitive(&mut self, shape: &Shape) -> Value {
        let mut primitive = json!({
            "attributes": { "POSITION": self.floats("VEC3", shape.points.as_flattened()) },
        });
        let attributes = [("NORMAL", "VEC3", shape.normals.as_flattened())];
        let weights = ("WEIGHTS_0", "VEC4", shape.weights.as_flattened());
        for (name, kind, values) in attributes.into_iter().chain([weights]) {
            if !values.is_empty() {
                primitive["attributes"][name] = json!(self.floats(kind, values));
            }
        }
        if !shape.joints.is_empty() {
            let joints = self.shorts("VEC4", shape.joints.as_flattened());
            primitive["attributes"]["JOINTS_0"] = json!(joints);
        }
        if !shape.triangles.is_empty() {
            primitive["indices"] = json!(self.shorts("SCALAR", &shape.triangles));
        }
        for (_, offsets) in &shape.targets {
            let target = json!({ "POSITION": self.floats("VEC3", offsets.as_flattened()) });
            push_to(&mut primitive["targets"], target);
        }
        primitive
    }

    /// An animation without channels yet.
    pub fn animation(&mut self, name: &str) -> usize {
        self.push(
            "animations",
            json!({ "name": name, "channels": [], "samplers": [] }),
        )
    }

    /// Input and output accessors for a sampler, as JSON.
    pub fn curve(
        &mut self,
        interpolation: &str,
        times: &[f32],
        kind: &str,
        values: &[f32],
    ) -> Value {
        json!({
            "input": self.floats("SCALAR", times),
            "output": self.floats(kind, values),
            "interpolation": interpolation,
        })
    }

    /// A channel with a sampler of its own; gives the channel's index, which is also the sampler's where
    /// all channels are made this way.
    pub fn channel(&mut self, animation: usize, curve: Value, target: Value) -> usize {
        let animation = &mut self.json["animations"][animation];
        let sampler = push_to(&mut animation["samplers"], curve);
        push_to(
            &mut animation["channels"],
            json!({ "sampler": sampler, "target": target }),
        )
    }

    /// A rotation channel of a human bone (EXT_skeleton_humanoid).
    pub fn bone_channel(
        &mut self,
        animation: usize,
        bone: &str,
        times: &[f32],
        rotations: &[DQuat],
    ) -> usize {
        let values: Vec<f32> = rotations
            .iter()
            .flat_map(|q| q.to_array().map(|v| v as f32))
            .collect();
        let curve = self.curve("LINEAR", times, "VEC4", &values);
        self.use_extension("EXT_skeleton_humanoid");
        self.channel(animation, curve, bone_target(bone, "rotation"))
    }

    /// Lists an extension in extensionsUsed, once.
    pub fn use_extension(&mut self, name: &str) {
        let used = &mut self.json["extensionsUsed"];
        if !used.as_array().is_some_and(|u| u.contains(&json!(name))) {
            push_to(used, json!(name));
        }
    }

    /// An extension of the whole document, listed as used.
    pub fn extension(&mut self, name: &str, value: Value) {
        self.use_extension(name);
        self.json["extensions"][name] = value;
    }

    fn with_buffer(&self, uri: Option<&str>) -> Value {
        let mut json = self.json.clone();
        if !self.bin.is_empty() && json["buffers"].is_null() {
            json["buffers"] = json!([{ "byteLength": self.bin.len() }]);
            if let Some(uri) = uri {
                json["buffers"][0]["uri"] = json!(uri);
            }
        }
        json
    }

    /// The document as one binary file.
    pub fn glb(&self) -> Vec<u8> {
        let text = self.with_buffer(None).to_string();
        super::document::glb(text.as_bytes(), &self.bin)
    }

    /// Writes the document: `.gltf` with a `.bin` beside it, every other ending as one binary file.
    pub fn write(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        if path.extension().is_some_and(|e| e == "gltf") {
            let bin = path.with_extension("bin");
            let uri = bin.file_name().and_then(|n| n.to_str());
            std::fs::write(&path, self.with_buffer(uri).to_string()).expect("a file");
            std::fs::write(&bin, &self.bin).expect("a file");
        } else {
            std::fs::write(&path, self.glb()).expect("a file");
        }
        path
    }
}

/// A channel's target by human bone, without a node.
pub fn bone_target(bone: &str, path: &str) -> Value {
    json!({
        "path": path,
        "extensions": { "EXT_skeleton_humanoid": { "humanoidBoneName": bone } },
    })
}

/// A node in components, as JSON.
pub fn trs_node(name: &str, translation: DVec3, rotation: DQuat, scale: DVec3) -> Value {
    json!({
        "name": name,
        "translation": translation.to_array(),
        "rotation": rotation.to_array(),
        "scale": scale.to_array(),
    })
}

fn components(kind: &str) -> usize {
    match kind {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        "MAT4" => 16,
        _ => panic!("accessor type {kind}"),
    }
}

fn push_to(list: &mut Value, item: Value) -> usize {
    if list.is_null() {
        *list = json!([]);
    }
    let list = list.as_array_mut().expect("a list");
    list.push(item);
    list.len() - 1
}
