//! The puppet, a jointed figure with a clip of its own, and two clips that are made to move others.

mod glb;
mod rig;
mod surface;
mod walk;

use glam::{Quat, Vec3};
use serde_json::{Value, json};

use crate::curves::smoothstep;
use glb::Buffer;
use rig::Joint;
use surface::Surface;
pub use walk::bvh;

const HEAD: &str = "head";

fn primitive(buffer: &mut Buffer, surface: &Surface, material: usize, blink: usize) -> Value {
    json!({
        "attributes": {
            "POSITION": buffer.floats(&surface.points),
            "NORMAL": buffer.floats(&surface.normals),
            "JOINTS_0": buffer.joints(&surface.joints),
            "WEIGHTS_0": buffer.floats(&surface.weights),
        },
        "indices": buffer.indices(&surface.triangles),
        "material": material,
        "targets": [{"POSITION": blink}],
    })
}

/// Offsets of the points of the eyes that shut them: the points move to the middle.
fn shut(surface: &Surface, height: f32) -> Vec<[f32; 3]> {
    let offset = |p: &[f32; 3]| [0.0, 0.88 * (height - p[1]), -0.004];
    surface.points.iter().map(offset).collect()
}

fn node(all: &[Joint], index: usize) -> Value {
    let joint = &all[index];
    let (origin, parent) = match joint.parent {
        Some(p) => (all[p].head, all[p].rotation),
        None => (Vec3::ZERO, Quat::IDENTITY),
    };
    let children: Vec<usize> = (0..all.len())
        .filter(|c| all[*c].parent == Some(index))
        .collect();
    let mut node = json!({
        "name": joint.bone,
        "translation": (parent.inverse() * (joint.head - origin)).to_array(),
        "rotation": (parent.inverse() * joint.rotation).to_array(),
    });
    if !children.is_empty() {
        node["children"] = json!(children);
    }
    node
}

/// The clip "Wave": two seconds of waving with the right hand, and a blink.
fn wave(buffer: &mut Buffer, all: &[Joint], mesh_node: usize) -> Value {
    let times: Vec<[f32; 1]> = (0..=48).map(|f| [f as f32 / 24.0]).collect();
    let input = buffer.floats(&times);
    let mut samplers = Vec::new();
    let mut channels = Vec::new();
    let mut channel = |output: usize, node: usize, path: &str| {
        samplers.push(json!({"input": input, "output": output, "interpolation": "LINEAR"}));
        channels
            .push(json!({"sampler": samplers.len() - 1, "target": {"node": node, "path": path}}));
    };
    // World rotations of limbs. Each applies on top of its parent's.
    let swing = |t: f32| {
        let ease = smoothstep(0.0, 1.0, (t * 2.0).min((2.0 - t) * 2.0));
        let shake = (t * std::f32::consts::TAU * 1.5).sin() * 0.35 * ease;
        [
            ("rightUpperArm", Quat::from_rotation_z(-0.35 * ease)),
            ("rightLowerArm", Quat::from_rotation_z(-1.35 * ease + shake)),
            ("leftUpperArm", Quat::from_rotation_z(-1.15)),
            ("head", Quat::from_rotation_z(0.12 * ease)),
        ]
    };
    for part in 0..4 {
        let bone = swing(0.0)[part].0;
        let index = all.iter().position(|j| j.bone == bone).expect("a joint");
        let parent = all[index]
            .parent
            .map_or(Quat::IDENTITY, |p| all[p].rotation);
        let local = |t: &[f32; 1]| {
            (parent.inverse() * swing(t[0])[part].1 * all[index].rotation).to_array()
        };
        let keys: Vec<[f32; 4]> = times.iter().map(local).collect();
        let output = buffer.floats(&keys);
        channel(output, index, "rotation");
    }
    let blink = |t: &[f32; 1]| [(1.0 - (t[0] - 1.0).abs() * 8.0).max(0.0)];
    let keys: Vec<[f32; 1]> = times.iter().map(blink).collect();
    let output = buffer.floats(&keys);
    channel(output, mesh_node, "weights");
    json!({"name": "Wave", "samplers": samplers, "channels": channels})
}

/// The puppet (`puppet.glb`).
pub fn puppet() -> Vec<u8> {
    let all = rig::joints();
    let head = all.iter().position(|j| j.bone == HEAD).expect("a head");
    let mut body = Surface::default();
    for index in 0..all.len() {
        body.limb(&all, index);
    }
    let mut eyes = Surface::default();
    let height = 1.665;
    for side in [1.0, -1.0] {
        eyes.ball(
            head,
            Vec3::new(0.04 * side, height, 0.1),
            Vec3::new(0.018, 0.024, 0.014),
        );
    }
    let mut buffer = Buffer::default();
    // The body does not blink, but all primitives of a mesh must have the same targets.
    let still = buffer.zero_vectors(body.points.len());
    let shut = buffer.floats(&shut(&eyes, height));
    let primitives = [
        primitive(&mut buffer, &body, 0, still),
        primitive(&mut buffer, &eyes, 1, shut),
    ];
    let inverse_bind: Vec<[f32; 16]> = all
        .iter()
        .map(|j| j.world().inverse().to_cols_array())
        .collect();
    let mut nodes: Vec<Value> = (0..all.len()).map(|i| node(&all, i)).collect();
    let mesh_node = nodes.len();
    nodes.push(json!({"name": "Puppet", "mesh": 0, "skin": 0}));
    let bones: serde_json::Map<String, Value> = all
        .iter()
        .enumerate()
        .map(|(i, j)| (j.bone.to_owned(), json!(i)))
        .collect();
    let animation = wave(&mut buffer, &all, mesh_node);
    let skin = json!({
        "joints": (0..all.len()).collect::<Vec<_>>(),
        "inverseBindMatrices": buffer.floats(&inverse_bind),
    });
    buffer.file(json!({
        "extensionsUsed": ["EXT_skeleton_humanoid"],
        "extensions": {"EXT_skeleton_humanoid": {
            "humanoidSkeletons": [{"rootNode": 0, "humanoidBones": bones}],
        }},
        "scene": 0,
        "scenes": [{"nodes": [0, mesh_node]}],
        "nodes": nodes,
        "meshes": [{
            "name": "Puppet", "primitives": primitives, "weights": [0.0],
            "extras": {"targetNames": ["Blink"]},
        }],
        "skins": [skin],
        "animations": [animation],
        "materials": [
            {"name": "Wood", "pbrMetallicRoughness":
                {"baseColorFactor": [0.72, 0.43, 0.2, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.55}},
            {"name": "Ink", "pbrMetallicRoughness":
                {"baseColorFactor": [0.02, 0.02, 0.03, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.2}},
        ],
    }))
}

/// Bones that bow, and the largest angle of each about its contracting axis.
const BENDS: &[(&str, f32)] = &[
    ("spine", 0.45),
    ("chest", 0.4),
    ("neck", 0.25),
    ("head", 0.2),
];

/// A bow on human bones by name, relative to their bind pose, without a model (`bow.glb`).
pub fn bow() -> Vec<u8> {
    let mut buffer = Buffer::default();
    // Down, hold, up: cubic splines with zero tangents at each key.
    let input = buffer.floats(&[[0.0], [0.8], [1.2], [2.0]]);
    let mut samplers = Vec::new();
    let mut channels = Vec::new();
    for (bone, angle) in BENDS {
        let level = [0.0; 4];
        let keys: Vec<[f32; 4]> = [0.0, *angle, *angle, 0.0]
            .into_iter()
            .flat_map(|a| [level, Quat::from_rotation_x(a).to_array(), level])
            .collect();
        let output = buffer.floats(&keys);
        channels.push(json!({
            "sampler": samplers.len(),
            "target": {
                "path": "rotation",
                "extensions": {"EXT_skeleton_humanoid": {"humanoidBoneName": bone}},
            },
        }));
        samplers.push(json!({"input": input, "output": output, "interpolation": "CUBICSPLINE"}));
    }
    buffer.file(json!({
        "extensionsUsed": ["EXT_skeleton_humanoid"],
        "animations": [{"name": "Bow", "samplers": samplers, "channels": channels}],
    }))
}
