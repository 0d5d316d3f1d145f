//! glTF files from seeds: any tree of nodes, any joints of it in any skins, any curves on any of them.

use glam::{DMat4, DQuat, DVec3, EulerRot};
use serde_json::{Value, json};

use crate::gltf_eval::bodies::{crate_box, plain_tube, tube, with_targets};
use common::gltf_maker::{GltfMaker, Shape};
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

pub struct Random {
    rng: Rng,
    gltf: GltfMaker,
    /// parent_from_node of each.
    local: Vec<DMat4>,
    parent: Vec<Option<usize>>,
    /// Nodes in components, which may be animated.
    movable: Vec<usize>,
    /// Targets of the mesh of each node that has some.
    morphs: Vec<(usize, usize)>,
}

/// The file of a seed.
pub fn random(seed: u64) -> GltfMaker {
    let mut random = Random {
        rng: Rng::new(seed),
        gltf: GltfMaker::new(),
        local: Vec::new(),
        parent: Vec::new(),
        movable: Vec::new(),
        morphs: Vec::new(),
    };
    let nodes = 4 + random.rng.below(10);
    for _ in 0..nodes {
        random.node(json!({}));
    }
    let skins: Vec<(usize, usize)> = (0..1 + random.rng.below(3))
        .map(|_| random.skin(nodes))
        .collect();
    let meshes: Vec<(usize, usize)> = (0..1 + random.rng.below(3))
        .map(|_| random.mesh(&skins))
        .collect();
    for _ in 0..2 + random.rng.below(4) {
        let (mesh, targets) = meshes[random.rng.below(meshes.len())];
        let mut extra = json!({ "mesh": mesh });
        if random.rng.chance(0.7) {
            extra["skin"] = json!(skins[random.rng.below(skins.len())].0);
        }
        if targets > 0 && random.rng.chance(0.5) {
            let weights: Vec<f32> = (0..targets).map(|_| random.rng.range(-0.5, 1.5)).collect();
            extra["weights"] = json!(weights);
        }
        let node = random.node(extra);
        if targets > 0 {
            random.morphs.push((node, targets));
        }
    }
    let scales = random.rng.chance(0.3);
    for clip in 0..random.rng.below(3) {
        random.clip(&format!("clip {clip}"), scales);
    }
    random.gltf
}

impl Random {
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
        let count = self.local.len();
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
        self.local.push(local);
        self.parent.push(parent);
        self.gltf.node(parent, node)
    }

    fn world(&self, node: usize) -> DMat4 {
        let above = self.parent[node].map_or(DMat4::IDENTITY, |p| self.world(p));
        above * self.local[node]
    }

    /// A skin of some of the first nodes in any order, and how many they are.
    fn skin(&mut self, nodes: usize) -> (usize, usize) {
        let mut left: Vec<usize> = (0..nodes).collect();
        let count = 1 + self.rng.below(nodes.min(7));
        let joints: Vec<usize> = (0..count)
            .map(|_| left.swap_remove(self.rng.below(left.len())))
            .collect();
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
            bound.push(own * self.world(*joint).inverse() * moved);
        }
        (self.gltf.skin(&joints, &bound), count)
    }

    /// A mesh that every skin may bend, and the number of its morph targets.
    fn mesh(&mut self, skins: &[(usize, usize)]) -> (usize, usize) {
        let joints = skins.iter().map(|(_, joints)| *joints).min().unwrap_or(1);
        let has_targets = self.rng.chance(0.5);
        let shapes: Vec<Shape> = (0..1 + self.rng.below(2))
            .map(|_| {
                let bare = match self.rng.below(3) {
                    0 => crate_box(),
                    1 => plain_tube(2),
                    _ => tube(1),
                };
                let mut shape = if has_targets {
                    with_targets(bare)
                } else {
                    bare
                };
                let count = shape.points.len();
                shape.joints = (0..count).map(|_| self.influences(joints)).collect();
                shape.weights = shape.joints.iter().map(|_| [0.0; 4]).collect();
                for i in 0..count {
                    self.weigh(&mut shape, i);
                }
                shape
            })
            .collect();
        (
            self.gltf.mesh("mesh", &shapes),
            if has_targets { 2 } else { 0 },
        )
    }

    /// Up to four joints, each once; what is left over is joint 0.
    fn influences(&mut self, joints: usize) -> [u16; 4] {
        let first = self.rng.below(joints);
        let each = |slot: usize| {
            if slot < joints {
                ((first + slot) % joints) as u16
            } else {
                0
            }
        };
        [0, 1, 2, 3].map(each)
    }

    fn weigh(&mut self, shape: &mut Shape, point: usize) {
        let joints = shape.joints[point];
        let mut weights = [0.0f32; 4];
        for slot in 0..4 {
            let is_new = !joints[..slot].contains(&joints[slot]);
            if is_new && (slot == 0 || self.rng.chance(0.6)) {
                weights[slot] = self.rng.range(0.1, 1.0);
            }
        }
        let sum: f32 = weights.iter().sum();
        shape.weights[point] = weights.map(|w| w / sum);
    }

    fn clip(&mut self, name: &str, scales: bool) {
        let clip = self.gltf.animation(name);
        // Frames of 30 a second, or seconds that no rate has.
        let framed = self.rng.chance(0.5);
        let mut used = Vec::new();
        for _ in 0..1 + self.rng.below(8) {
            let weights = !self.morphs.is_empty() && self.rng.chance(0.3);
            let (node, path, kind, width) = if weights {
                let (node, targets) = self.morphs[self.rng.below(self.morphs.len())];
                (node, "weights", "SCALAR", targets)
            } else {
                let Some(node) = self.movable.get(self.rng.below(self.movable.len().max(1))) else {
                    continue;
                };
                let (path, kind, width) = match self.rng.below(if scales { 5 } else { 4 }) {
                    0 => ("translation", "VEC3", 3),
                    4 => ("scale", "VEC3", 3),
                    _ => ("rotation", "VEC4", 4),
                };
                (*node, path, kind, width)
            };
            if used.contains(&(node, path)) {
                continue;
            }
            used.push((node, path));
            let times = self.times(framed);
            let interpolation = ["LINEAR", "LINEAR", "STEP", "CUBICSPLINE"][self.rng.below(4)];
            let mut values: Vec<f32> = Vec::new();
            for _ in &times {
                let key: Vec<f32> = match path {
                    "translation" => self.vector(1.0).as_vec3().to_array().into(),
                    "rotation" => self.rotation().as_quat().to_array().into(),
                    "scale" => (0..3).map(|_| self.rng.range(0.4, 1.6)).collect(),
                    _ => (0..width).map(|_| self.rng.range(-0.5, 1.5)).collect(),
                };
                let tangent = |rng: &mut Rng| {
                    (0..width)
                        .map(|_| rng.range(-0.7, 0.7))
                        .collect::<Vec<f32>>()
                };
                if interpolation == "CUBICSPLINE" {
                    values.extend(tangent(&mut self.rng));
                    values.extend(key);
                    values.extend(tangent(&mut self.rng));
                } else {
                    values.extend(key);
                }
            }
            let curve = self.gltf.curve(interpolation, &times, kind, &values);
            self.gltf
                .channel(clip, curve, json!({ "node": node, "path": path }));
        }
    }

    fn times(&mut self, framed: bool) -> Vec<f32> {
        let mut time = 0.0;
        let mut frame = 0u16;
        (0..1 + self.rng.below(4))
            .map(|_| {
                frame += 1 + self.rng.below(20) as u16;
                time += self.rng.range(0.05, 0.7);
                if framed {
                    f32::from(frame) / 30.0
                } else {
                    time
                }
            })
            .collect()
    }
}
