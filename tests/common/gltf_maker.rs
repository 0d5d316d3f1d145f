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

use glam::DMat4;
use serde_json::{Value, json};

/// A glTF document under construction.
pub use super::document::Document as GltfMaker;
use super::document::{components, push_to};

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
        let mut made = Self::empty();
        made.json["asset"]["generator"] = json!("sinew's tests");
        made.json["scene"] = json!(0);
        made.json["scenes"] = json!([{ "nodes": [] }]);
        made
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

    /// f32 values, with min and max.
    fn floats(&mut self, kind: &str, values: &[f32]) -> usize {
        let numbers: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
        let index = self.accessor("f32", kind, &numbers);
        let width = components(kind);
        let bound = |pick: fn(f32, f32) -> f32| -> Vec<f32> {
            let column = |c: usize| values.iter().skip(c).step_by(width).copied();
            (0..width).filter_map(|c| column(c).reduce(pick)).collect()
        };
        let accessor = &mut self.json["accessors"][index];
        accessor["min"] = json!(bound(f32::min));
        accessor["max"] = json!(bound(f32::max));
        index
    }

    /// u16 values.
    fn shorts(&mut self, kind: &str, values: &[u16]) -> usize {
        let numbers: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
        self.accessor("u16", kind, &numbers)
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

    /// Writes the document: `.gltf` with a `.bin` beside it, every other ending as one binary file.
    pub fn write(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        if path.extension().is_some_and(|e| e == "gltf") {
            let bin = path.with_extension("bin");
            let uri = bin.file_name().and_then(|n| n.to_str());
            let mut json = self.json.clone();
            json["buffers"][0]["uri"] = json!(uri);
            std::fs::write(&path, json.to_string()).expect("a file");
            std::fs::write(&bin, &self.bin).expect("a file");
        } else {
            std::fs::write(&path, self.glb()).expect("a file");
        }
        path
    }
}
