//! Small VRM files of our own, and what is looked up in them.

use std::path::Path;

use glam::DQuat;
use serde_json::{Value, json};
use sinew_animate::asset::{Asset, Expression};
use sinew_animate::retarget::Bone;

use common::gltf_maker::GltfMaker;
use common::mannequin::{Axes, Build, Mannequin};

pub fn read_as(gltf: &GltfMaker, name: &str) -> sinew_io::Result<Asset> {
    sinew_io::gltf::read_bytes(&gltf.glb(), Path::new(name))
}

pub fn codes(asset: &Asset) -> Vec<&'static str> {
    asset.warnings.iter().map(|w| w.code).collect()
}

pub fn warnings(asset: &Asset) -> Vec<(&'static str, &str)> {
    let warnings = asset.warnings.iter();
    warnings.map(|w| (w.code, w.path.as_str())).collect()
}

pub fn expression<'a>(asset: &'a Asset, name: &str) -> &'a Expression {
    let found = asset.expressions.iter().find(|e| e.name == name);
    found.unwrap_or_else(|| panic!("no {name}"))
}

pub fn character() -> Mannequin {
    Build {
        axes: Axes::World,
        ..Build::default()
    }
    .make()
}

/// The node that shows the body.
pub fn body_node(made: &Mannequin) -> usize {
    let nodes = made.gltf.json["nodes"].as_array().expect("nodes");
    nodes
        .iter()
        .position(|n| !n["mesh"].is_null())
        .expect("a body")
}

pub fn vrm1() -> Mannequin {
    let mut made = character();
    let body = body_node(&made);
    let value = json!({
        "specVersion": "1.0",
        "meta": { "name": "made", "authors": ["sinew"], "licenseUrl": "https://vrm.dev/licenses/1.0/" },
        "humanoid": { "humanBones": made.vrm_bones() },
        "expressions": {
            "preset": {
                "happy": { "morphTargetBinds": [
                    { "node": body, "index": 0, "weight": 1.0 },
                    { "node": body, "index": 1, "weight": 0.25 },
                ]},
                "blink": { "isBinary": true, "morphTargetBinds": [{ "node": body, "index": 1, "weight": 1 }] },
                "neutral": {},
            },
            "custom": { "puff": { "morphTargetBinds": [{ "node": body, "index": 0, "weight": 0.5 }] } },
        },
    });
    made.gltf.extension("VRMC_vrm", value);
    made
}

pub fn vrm0() -> Mannequin {
    let mut made = character();
    let bones: Vec<Value> = made
        .nodes
        .iter()
        .map(|(bone, node)| {
            // VRM 0.x has no metacarpal: the thumb is named like the other fingers.
            let name = match bone.name().rsplit_once("Thumb") {
                Some((side, "Metacarpal")) => format!("{side}ThumbProximal"),
                Some((side, "Proximal")) => format!("{side}ThumbIntermediate"),
                _ => bone.name().to_owned(),
            };
            json!({ "bone": name, "node": node, "useDefaultValues": true })
        })
        .collect();
    let bind = |index: usize, weight: f64| json!({ "mesh": 0, "index": index, "weight": weight });
    let group = |name: &str, preset: &str, binds: &[Value]| json!({ "name": name, "presetName": preset, "isBinary": false, "binds": binds, "materialValues": [] });
    let value = json!({
        "exporterVersion": "sinew's tests",
        "specVersion": "0.0",
        "humanoid": { "humanBones": bones, "armStretch": 0.05 },
        "blendShapeMaster": { "blendShapeGroups": [
            group("Neutral", "neutral", &[]),
            group("A", "a", &[bind(0, 100.0)]),
            group("Joy", "joy", &[bind(0, 100.0), bind(1, 25.0)]),
            group("Sorrow", "sorrow", &[bind(1, 100.0)]),
            group("Fun", "fun", &[]),
            group("Blink_L", "blink_l", &[bind(1, 50.0)]),
            group("LookUp", "lookup", &[]),
            group("Puff", "unknown", &[bind(0, 50.0)]),
        ]},
        "firstPerson": { "firstPersonBone": 0, "meshAnnotations": [], "lookAtTypeName": "Bone" },
        "secondaryAnimation": { "boneGroups": [{ "bones": [1] }], "colliderGroups": [] },
        "materialProperties": [{ "name": "skin", "shader": "VRM/MToon" }],
    });
    made.gltf.extension("VRM", value);
    made
}

/// A clip for any VRM character: nodes without a skin.
pub fn vrma() -> Mannequin {
    let mut gltf = GltfMaker::new();
    let mut nodes = std::collections::BTreeMap::new();
    let root = gltf.node(None, json!({ "name": "root" }));
    let eyes = [Bone::LeftEye, Bone::RightEye];
    for bone in Bone::ALL.iter().filter(|b| !eyes.contains(b)) {
        let parent = bone.parent().map_or(root, |p| nodes[&p]);
        let node = gltf.node(
            Some(parent),
            json!({ "name": bone.name(), "translation": [0, 0.1, 0] }),
        );
        nodes.insert(*bone, node);
    }
    let happy = gltf.node(None, json!({ "name": "happy" }));
    let puff = gltf.node(None, json!({ "name": "puff" }));
    let gaze = gltf.node(None, json!({ "name": "gaze" }));
    let clip = gltf.animation("wave");
    let mut channel = |node: usize, path: &str, kind: &str, interpolation: &str, values: &[f32]| {
        let curve = gltf.curve(interpolation, &[0.0, 1.0], kind, values);
        gltf.channel(clip, curve, json!({ "node": node, "path": path }))
    };
    let turn: Vec<f32> = [DQuat::IDENTITY, DQuat::from_rotation_z(0.5)]
        .iter()
        .flat_map(|q| q.to_array().map(|v| v as f32))
        .collect();
    channel(
        nodes[&Bone::LeftUpperArm],
        "rotation",
        "VEC4",
        "LINEAR",
        &turn,
    );
    channel(
        nodes[&Bone::Hips],
        "translation",
        "VEC3",
        "LINEAR",
        &[0., 1., 0., 0., 1.5, 0.],
    );
    channel(
        happy,
        "translation",
        "VEC3",
        "STEP",
        &[0.25, 7., 7., 0.75, 7., 7.],
    );
    let spline = [
        0.0, 0., 0., 0.1, 0., 0., 0.2, 0., 0., 0.3, 0., 0., 0.4, 0., 0., 0.5, 0., 0.,
    ];
    channel(puff, "translation", "VEC3", "CUBICSPLINE", &spline);
    channel(gaze, "rotation", "VEC4", "LINEAR", &turn);
    let mut made = Mannequin {
        gltf,
        root,
        nodes,
        skins: Vec::new(),
    };
    let value = json!({
        "specVersion": "1.0",
        "humanoid": { "humanBones": made.vrm_bones() },
        "expressions": { "preset": { "happy": { "node": happy } }, "custom": { "puff": { "node": puff } } },
        "lookAt": { "node": gaze, "offsetFromHeadBone": [0, 0.06, 0] },
    });
    made.gltf.extension("VRMC_vrm_animation", value);
    made
}
