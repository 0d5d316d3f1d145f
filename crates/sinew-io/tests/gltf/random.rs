//! glTF files from seeds: any tree of nodes, any joints of it in any skins, any curves on any of them.

use std::path::PathBuf;

use glam::{DMat4, DQuat, DVec3, EulerRot};
use serde_json::{Value, json};

use common::document::{Document, components, push_to};
use common::rng::Rng;

const NAMES: [&str; 8] = [
    "a",
    "b.001",
    "mixamorig:Hips",
    "",
    "a",
    "7",
    "Кость",
    "points",
];

/// Scales that half precision holds, so that it does not blur what else is wrong.
const SCALES: [f64; 4] = [0.5, 1.0, 1.5, 2.0];

/// Morph targets of a mesh that has some.
const TARGETS: usize = 2;

struct Random {
    rng: Rng,
    gltf: Document,
    /// The parent of each node, and parent_from_node.
    nodes: Vec<(Option<usize>, DMat4)>,
    /// Nodes in components, which may be animated.
    movable: Vec<usize>,
    /// Nodes whose mesh has morph targets.
    morphed: Vec<usize>,
}

/// Writes the file of a seed.
pub fn random(seed: u64, file: PathBuf) -> PathBuf {
    let mut random = Random {
        rng: Rng::new(seed),
        gltf: Document::empty(),
        nodes: Vec::new(),
        movable: Vec::new(),
        morphed: Vec::new(),
    };
    random.gltf.push("scenes", json!({ "nodes": [] }));
    for _ in 0..4 + random.rng.below(10) {
        random.node(json!({}));
    }
    let skins: Vec<(usize, usize)> = (0..1 + random.rng.below(3))
        .map(|_| random.skin())
        .collect();
    // Every skin may bend every mesh.
    let joints = skins.iter().map(|(_, joints)| *joints).min().unwrap_or(1);
    let meshes = 0..1 + random.rng.below(3);
    let meshes: Vec<(usize, bool)> = meshes.map(|_| random.mesh(joints)).collect();
    for _ in 0..2 + random.rng.below(4) {
        let (mesh, has_targets) = meshes[random.rng.below(meshes.len())];
        let mut node = json!({ "mesh": mesh });
        if random.rng.chance(0.7) {
            node["skin"] = json!(skins[random.rng.below(skins.len())].0);
        }
        if has_targets && random.rng.chance(0.5) {
            node["weights"] = json!(random.numbers(TARGETS, -0.5, 1.5));
        }
        let node = random.node(node);
        if has_targets {
            random.morphed.push(node);
        }
    }
    let scales = random.rng.chance(0.3);
    for clip in 0..random.rng.below(3) {
        random.clip(&format!("clip {clip}"), scales);
    }
    std::fs::write(&file, random.gltf.glb()).expect("a file");
    file
}

impl Random {
    fn numbers(&mut self, count: usize, least: f32, most: f32) -> Vec<f32> {
        (0..count).map(|_| self.rng.range(least, most)).collect()
    }

    fn vector(&mut self, size: f32) -> DVec3 {
        let mut number = || f64::from(self.rng.range(-size, size));
        DVec3::new(number(), number(), number())
    }

    fn rotation(&mut self) -> DQuat {
        let angles = self.vector(3.0);
        DQuat::from_euler(EulerRot::XYZ, angles.x, angles.y, angles.z)
    }

    fn scale(&mut self) -> DVec3 {
        let mut one = || SCALES[self.rng.below(4)];
        let even = one();
        let uneven = DVec3::new(one(), one(), one());
        match self.rng.below(10) {
            0..6 => DVec3::ONE,
            6 | 7 => DVec3::splat(even),
            8 => uneven,
            _ => uneven * DVec3::new(-1.0, 1.0, 1.0),
        }
    }

    /// A node below any earlier one, or a root.
    fn node(&mut self, mut node: Value) -> usize {
        let count = self.nodes.len();
        let parent = (count > 0 && self.rng.chance(0.8)).then(|| self.rng.below(count));
        let (translation, rotation, scale) = (self.vector(1.0), self.rotation(), self.scale());
        let mut local = DMat4::from_scale_rotation_translation(scale, rotation, translation);
        node["name"] = json!(NAMES[self.rng.below(NAMES.len())]);
        if self.rng.chance(0.15) {
            if self.rng.chance(0.3) {
                local.y_axis += 0.3 * local.x_axis;
            }
            node["matrix"] = json!(local.to_cols_array());
        } else {
            node["translation"] = json!(translation.to_array());
            node["rotation"] = json!(rotation.to_array());
            node["scale"] = json!(scale.to_array());
            self.movable.push(count);
        }
        self.nodes.push((parent, local));
        self.gltf.push("nodes", node);
        let holder = match parent {
            Some(parent) => &mut self.gltf.json["nodes"][parent]["children"],
            None => &mut self.gltf.json["scenes"][0]["nodes"],
        };
        push_to(holder, json!(count));
        count
    }

    /// An accessor of f32 values, with min and max.
    fn floats(&mut self, kind: &str, values: &[f32]) -> usize {
        let numbers: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
        let index = self.gltf.accessor("f32", kind, &numbers);
        let width = components(kind);
        let bound = |pick: fn(f32, f32) -> f32| -> Vec<f32> {
            let column = |c: usize| values.iter().skip(c).step_by(width).copied();
            (0..width).filter_map(|c| column(c).reduce(pick)).collect()
        };
        let accessor = &mut self.gltf.json["accessors"][index];
        accessor["min"] = json!(bound(f32::min));
        accessor["max"] = json!(bound(f32::max));
        index
    }

    /// An accessor of u16 values.
    fn shorts(&mut self, kind: &str, values: &[u16]) -> usize {
        let numbers: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
        self.gltf.accessor("u16", kind, &numbers)
    }

    fn world(&self, node: usize) -> DMat4 {
        let (parent, local) = self.nodes[node];
        parent.map_or(local, |parent| self.world(parent) * local)
    }

    /// A skin of some of the nodes in any order, and how many they are.
    fn skin(&mut self) -> (usize, usize) {
        let mut left: Vec<usize> = (0..self.nodes.len()).collect();
        let count = 1 + self.rng.below(left.len().min(7));
        let mut any = || left.swap_remove(self.rng.below(left.len()));
        let joints: Vec<usize> = (0..count).map(|_| any()).collect();
        let moved = match self.rng.below(3) {
            0 => DMat4::IDENTITY,
            _ => DMat4::from_rotation_translation(self.rotation(), self.vector(2.0)),
        };
        // Now and then bound as the joints never stand.
        let foreign = self.rng.chance(0.25);
        let mut bound = Vec::new();
        for joint in &joints {
            let own = match foreign {
                true => DMat4::from_rotation_translation(self.rotation(), self.vector(1.0)),
                false => DMat4::IDENTITY,
            };
            let bind = own * self.world(*joint).inverse() * moved;
            bound.extend(bind.to_cols_array().map(|v| v as f32));
        }
        let bound = self.floats("MAT4", &bound);
        let skin = json!({ "joints": joints, "inverseBindMatrices": bound });
        (self.gltf.push("skins", skin), count)
    }

    /// A mesh for so many joints, and whether it has morph targets.
    fn mesh(&mut self, joints: usize) -> (usize, bool) {
        let has_targets = self.rng.chance(0.5);
        let primitives = 0..1 + self.rng.below(2);
        let primitives = primitives.map(|_| self.primitive(joints, has_targets));
        let primitives: Vec<Value> = primitives.collect();
        let mut mesh = json!({ "name": "mesh", "primitives": primitives });
        if has_targets {
            mesh["extras"] = json!({ "targetNames": ["swell", "lift"] });
        }
        (self.gltf.push("meshes", mesh), has_targets)
    }

    /// Points anywhere, in a strip of triangles with indices, or in triangles without.
    fn primitive(&mut self, joints: usize, has_targets: bool) -> Value {
        let count = 3 * (2 + self.rng.below(10));
        let mut vectors = |size: f32| -> Vec<[f32; 3]> {
            let vectors = (0..count).map(|_| self.vector(size));
            vectors.map(|v| v.as_vec3().to_array()).collect()
        };
        let points = vectors(1.0);
        let targets = match has_targets {
            true => vec![vectors(0.4), vectors(0.4)],
            false => Vec::new(),
        };
        let normals = vectors(1.0).into_iter();
        let unit = |v: [f32; 3]| DVec3::from(v.map(f64::from)).normalize_or(DVec3::Y);
        let normals: Vec<[f32; 3]> = normals.map(|v| unit(v).as_vec3().to_array()).collect();
        let mut primitive = json!({ "attributes": {
            "POSITION": self.floats("VEC3", points.as_flattened()),
            "NORMAL": self.floats("VEC3", normals.as_flattened()),
        } });
        if self.rng.chance(0.6) {
            let last = count as u16 - 2;
            let triangles: Vec<u16> = (0..last).flat_map(|i| [i, i + 1, i + 2]).collect();
            primitive["indices"] = json!(self.shorts("SCALAR", &triangles));
        }
        let (mut bones, mut shares) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let first = self.rng.below(joints);
            // Up to four joints, each once; what is left over is joint 0 without a weight.
            let slots = joints.min(4);
            let joint = |slot: usize| {
                if slot < slots {
                    (first + slot) % joints
                } else {
                    0
                }
            };
            bones.extend([0, 1, 2, 3].map(|slot| joint(slot) as u16));
            let mut weights = [0.0f32; 4];
            for (slot, weight) in weights.iter_mut().enumerate().take(slots) {
                if slot == 0 || self.rng.chance(0.6) {
                    *weight = self.rng.range(0.1, 1.0);
                }
            }
            let sum: f32 = weights.iter().sum();
            shares.extend(weights.map(|w| w / sum));
        }
        primitive["attributes"]["JOINTS_0"] = json!(self.shorts("VEC4", &bones));
        primitive["attributes"]["WEIGHTS_0"] = json!(self.floats("VEC4", &shares));
        for offsets in &targets {
            let target = json!({ "POSITION": self.floats("VEC3", offsets.as_flattened()) });
            push_to(&mut primitive["targets"], target);
        }
        primitive
    }

    fn clip(&mut self, name: &str, scales: bool) {
        let mut clip = json!({ "name": name, "channels": [], "samplers": [] });
        // Frames of 30 a second, or seconds that no rate has.
        let framed = self.rng.chance(0.5);
        let mut used = Vec::new();
        for _ in 0..1 + self.rng.below(8) {
            let weights = !self.morphed.is_empty() && self.rng.chance(0.3);
            let nodes = if weights {
                &self.morphed
            } else {
                &self.movable
            };
            if nodes.is_empty() {
                continue;
            }
            let node = nodes[self.rng.below(nodes.len())];
            let (path, kind, width) = match self.rng.below(if scales { 5 } else { 4 }) {
                _ if weights => ("weights", "SCALAR", TARGETS),
                0 => ("translation", "VEC3", 3),
                4 => ("scale", "VEC3", 3),
                _ => ("rotation", "VEC4", 4),
            };
            if used.contains(&(node, path)) {
                continue;
            }
            used.push((node, path));
            let times = self.times(framed);
            let interpolation = ["LINEAR", "LINEAR", "STEP", "CUBICSPLINE"][self.rng.below(4)];
            let is_spline = interpolation == "CUBICSPLINE";
            let mut values: Vec<f32> = Vec::new();
            for _ in &times {
                if is_spline {
                    values.extend(self.numbers(width, -0.7, 0.7));
                }
                values.extend(match path {
                    "rotation" => self.rotation().as_quat().to_array().to_vec(),
                    "translation" => self.numbers(width, -1.0, 1.0),
                    "scale" => self.numbers(width, 0.4, 1.6),
                    _ => self.numbers(width, -0.5, 1.5),
                });
                if is_spline {
                    values.extend(self.numbers(width, -0.7, 0.7));
                }
            }
            let (input, output) = (self.floats("SCALAR", &times), self.floats(kind, &values));
            let curve = json!({
                "input": input, "output": output, "interpolation": interpolation,
            });
            let sampler = push_to(&mut clip["samplers"], curve);
            let target = json!({ "node": node, "path": path });
            let channel = json!({ "sampler": sampler, "target": target });
            push_to(&mut clip["channels"], channel);
        }
        self.gltf.push("animations", clip);
    }

    fn times(&mut self, framed: bool) -> Vec<f32> {
        let (mut time, mut frame) = (0.0, 0u16);
        let keys = 0..1 + self.rng.below(4);
        let next = |_| {
            frame += 1 + self.rng.below(20) as u16;
            time += self.rng.range(0.05, 0.7);
            if framed {
                f32::from(frame) / 30.0
            } else {
                time
            }
        };
        keys.map(next).collect()
    }
}
