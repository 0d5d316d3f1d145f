//! A glTF scene with what files have beside characters: cameras, lights, sockets, instances, extras,
//! a second scene, and materials of several layers.

use serde_json::json;

use super::tiny_gltf::{TinyGltf, accessor};

/// Indices of nodes in [`scenery`], above those of [`TinyGltf::character`].
pub mod node {
    pub const SOCKET: usize = 4;
    pub const HEAD_CAMERA: usize = 5;
    pub const SUN: usize = 6;
    pub const BULB: usize = 7;
    pub const SPOT: usize = 8;
    pub const PLAN: usize = 9;
    pub const FOREST: usize = 10;
    pub const HIDDEN: usize = 11;
    pub const ELSEWHERE: usize = 12;
    pub const EMPTY: usize = 13;
    pub const SHOE: usize = 14;
}

/// Where a node stands in the clip `Move`: A turns by a quarter about Z in half a second, while B
/// below it rises from 2 to 3.
pub const SOCKET_OFFSET: [f64; 3] = [0.5, 0.0, 0.0];

/// The character of [`TinyGltf::character`], and everything else that a scene has.
pub fn scenery() -> TinyGltf {
    let mut t = TinyGltf::character();
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let turns = t.float_accessor("VEC4", &[0., 0., 0., 1., 0., 0., half, half]);
    t.set(
        "/animations/0/samplers/1",
        json!({ "input": accessor::TIMES, "output": turns }),
    );
    let light_ways = t.float_accessor("VEC3", &[0., 4., 0., 2., 4., 0.]);
    t.set(
        "/animations/0/samplers/2",
        json!({ "input": accessor::TIMES, "output": light_ways }),
    );
    t.set(
        "/animations/0/channels/2",
        json!({ "sampler": 2, "target": { "node": node::BULB, "path": "translation" } }),
    );
    t.set("/animations/0/extras", json!({ "loop": true }));
    t.set("/skins/0/extras", json!({ "rig": "v2" }));
    t.set("/meshes/0/extras/lod", json!(0));

    t.json["asset"] = json!({
        "version": "2.0",
        "generator": "sinew's tests",
        "copyright": "2026 the authors",
        "extras": { "tool": 7 }
    });
    t.json["extras"] = json!({ "project": "demo" });
    t.json["extensionsUsed"] = json!([
        "EXT_mesh_gpu_instancing",
        "KHR_lights_punctual",
        "KHR_materials_clearcoat",
        "KHR_materials_emissive_strength",
        "KHR_materials_ior",
        "KHR_materials_specular",
        "KHR_materials_transmission",
        "KHR_materials_variants",
        "KHR_node_visibility",
        "KHR_xmp_json_ld"
    ]);
    t.json["extensionsRequired"] = json!(["EXT_mesh_gpu_instancing", "KHR_lights_punctual"]);
    t.json["extensions"] = json!({
        "KHR_lights_punctual": { "lights": [
            { "type": "directional", "name": "Sun light", "color": [1, 0.5, 0.25],
              "intensity": 1000, "extras": { "season": "summer" } },
            { "type": "point", "intensity": 80, "range": 10 },
            { "type": "spot", "spot": { "innerConeAngle": 0.2, "outerConeAngle": 0.4 } }
        ]},
        "KHR_materials_variants": { "variants": [{ "name": "Default" }, { "name": "Blue one" }] },
        "KHR_xmp_json_ld": { "packets": [{ "dc:title": "Demo" }] }
    });
    t.json["cameras"] = json!([
        { "name": "Main cam", "type": "perspective", "extras": { "shot": 3 },
          "perspective": { "yfov": 0.8, "aspectRatio": 1.5, "znear": 0.1, "zfar": 100 } },
        { "type": "orthographic",
          "orthographic": { "xmag": 2, "ymag": 1, "znear": 0, "zfar": 50 } }
    ]);
    let ways = t.float_accessor("VEC3", &[0., 0., 0., 3., 0., 0.]);
    let turns = t.float_accessor("VEC4", &[0., 0., 0., 1., 0., half, 0., half]);
    let sizes = t.float_accessor("VEC3", &[1., 1., 1., 1., 2., 1.]);
    let light = |light: usize| json!({ "KHR_lights_punctual": { "light": light } });
    t.set("/nodes/1/extras", json!({ "bone": true }));
    t.set("/nodes/2/extras", json!({ "body": 1 }));
    t.set("/nodes/3/children", json!([node::SOCKET]));
    for more in [
        json!({ "name": "Weapon Socket", "translation": SOCKET_OFFSET,
                "children": [node::HEAD_CAMERA], "extras": { "socket": "weapon" } }),
        json!({ "name": "HeadCam", "camera": 0 }),
        json!({ "name": "SunNode", "rotation": [-half, 0, 0, half], "extensions": light(0) }),
        json!({ "name": "Bulb", "translation": [0, 4, 0], "extensions": light(1) }),
        json!({ "name": "Spot", "extensions": light(2) }),
        json!({ "name": "Plan", "camera": 1, "translation": [0, 9, 0] }),
        json!({ "name": "Forest", "mesh": 1, "extensions": { "EXT_mesh_gpu_instancing": {
            "attributes": { "TRANSLATION": ways, "ROTATION": turns, "SCALE": sizes } } } }),
        json!({ "name": "Hidden", "mesh": 1,
                "extensions": { "KHR_node_visibility": { "visible": false } } }),
        json!({ "name": "Elsewhere", "mesh": 1, "translation": [0, 0, 9] }),
        json!({ "name": "Empty one", "translation": [1, 2, 3], "extras": {
            "whole": 1, "large": 9_999_999_999_i64, "part": 0.5, "yes": true, "text": "t",
            "nothing": null, "list": [1, 2], "mixed": [1, "x"], "in": { "deep": { "er": [0.5] } }
        } }),
        json!({ "name": "Shoe", "mesh": 2 }),
    ] {
        t.push("nodes", more);
    }
    t.json["scenes"] = json!([
        { "name": "Main", "nodes": [0, 6, 7, 8, 9, 10, 11, 13, 14], "extras": { "mood": "calm" } },
        { "name": "Second scene", "nodes": [node::ELSEWHERE] }
    ]);
    let primitive = |material: usize| {
        json!({
            "attributes": { "POSITION": accessor::POSITION, "TEXCOORD_0": accessor::TEXCOORD },
            "material": material
        })
    };
    t.push(
        "meshes",
        json!({ "name": "Tree", "primitives": [primitive(1), primitive(2)] }),
    );
    let mut shoe = primitive(1);
    shoe["extensions"] = json!({ "KHR_materials_variants": {
        "mappings": [{ "material": 2, "variants": [1] }] } });
    t.push("meshes", json!({ "name": "Shoe", "primitives": [shoe] }));
    t.push(
        "materials",
        json!({
            "name": "Car paint!",
            "emissiveFactor": [1, 0.5, 0],
            "extras": { "shader": "paint" },
            "pbrMetallicRoughness": { "metallicFactor": 0.5, "roughnessFactor": 0.25 },
            "extensions": {
                "KHR_materials_emissive_strength": { "emissiveStrength": 4 },
                "KHR_materials_clearcoat": {
                    "clearcoatFactor": 0.75,
                    "clearcoatTexture": { "index": 0 },
                    "clearcoatRoughnessFactor": 0.125
                },
                "KHR_materials_ior": { "ior": 1.25 }
            }
        }),
    );
    t.push(
        "materials",
        json!({
            "name": "Glass",
            "pbrMetallicRoughness": { "metallicFactor": 0, "roughnessFactor": 0 },
            "extensions": {
                "KHR_materials_transmission": { "transmissionFactor": 0.75 },
                "KHR_materials_specular": { "specularFactor": 0.5, "specularColorFactor": [1, 0.5, 2] }
            }
        }),
    );
    t
}
