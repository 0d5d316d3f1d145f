//! glTF files of our own that hold more than characters: materials with textures and extensions, cameras, lights, empty nodes, several
//! scenes, and extras everywhere.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use glam::DVec3;
use image::{ImageFormat, Rgba, RgbaImage};
use serde_json::{Value, json};

use crate::gltf_eval::bodies;
use common::gltf_maker::{GltfMaker, Shape};

/// Files by name.
const ALL: &[(&str, fn() -> GltfMaker)] = &[
    ("materials.glb", materials),
    ("cameras_lights.glb", cameras_and_lights),
    ("extras.glb", extras),
    ("scenes.glb", scenes),
    ("eight_influences.glb", eight_influences),
    ("body_and_cape.glb", body_and_cape),
];

/// Writes them all, once: their names and where they are.
pub fn written() -> &'static [(&'static str, PathBuf)] {
    static WRITTEN: OnceLock<Vec<(&'static str, PathBuf)>> = OnceLock::new();
    WRITTEN.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gltf_out_made");
        std::fs::create_dir_all(&folder).expect("a folder");
        let write =
            |(name, make): &(&'static str, fn() -> GltfMaker)| (*name, make().write(&folder, name));
        ALL.iter().map(write).collect()
    })
}

/// A picture of 4 by 4 pixels in a colour, one corner of it in another.
fn picture(gltf: &mut GltfMaker, name: &str, format: ImageFormat, color: [u8; 4]) -> usize {
    let mut image = RgbaImage::from_pixel(4, 4, Rgba(color));
    image.put_pixel(0, 0, Rgba([250, 120, 10, 255]));
    let mut bytes = Cursor::new(Vec::new());
    let media_type = match format {
        ImageFormat::Jpeg => {
            let image = image::DynamicImage::from(image).into_rgb8();
            image.write_to(&mut bytes, format).expect("a JPEG");
            "image/jpeg"
        }
        _ => {
            image.write_to(&mut bytes, format).expect("a PNG");
            "image/png"
        }
    };
    let view = gltf.buffer_view(bytes.get_ref());
    gltf.push(
        "images",
        json!({ "name": name, "bufferView": view, "mimeType": media_type }),
    )
}

/// A texture of a picture, with how it repeats.
fn texture(gltf: &mut GltfMaker, image: usize, wrap: [u32; 2]) -> usize {
    let sampler = gltf.push("samplers", json!({ "wrapS": wrap[0], "wrapT": wrap[1] }));
    gltf.push("textures", json!({ "source": image, "sampler": sampler }))
}

const REPEAT: u32 = 10497;
const CLAMP: u32 = 33071;
const MIRROR: u32 = 33648;

/// A tube with two sets of texture coordinates and vertex colours for each material.
fn materials() -> GltfMaker {
    let mut gltf = GltfMaker::new();
    let red = picture(&mut gltf, "red", ImageFormat::Png, [200, 20, 10, 255]);
    let blue = picture(&mut gltf, "blue", ImageFormat::Png, [20, 30, 220, 100]);
    let rough = picture(&mut gltf, "rough", ImageFormat::Png, [0, 90, 200, 255]);
    let bumps = picture(&mut gltf, "bumps", ImageFormat::Png, [128, 128, 255, 255]);
    let photo = picture(&mut gltf, "photo", ImageFormat::Jpeg, [90, 140, 60, 255]);
    let red = texture(&mut gltf, red, [REPEAT, CLAMP]);
    let blue = texture(&mut gltf, blue, [MIRROR, REPEAT]);
    let rough = texture(&mut gltf, rough, [CLAMP, CLAMP]);
    let bumps = texture(&mut gltf, bumps, [REPEAT, REPEAT]);
    let photo = texture(&mut gltf, photo, [REPEAT, REPEAT]);
    let all = [
        json!({ "name": "plain", "pbrMetallicRoughness": {
            "baseColorFactor": [0.8, 0.4, 0.2, 1.0], "metallicFactor": 0.25, "roughnessFactor": 0.6 } }),
        json!({ "name": "textured", "doubleSided": true,
            "pbrMetallicRoughness": {
                "baseColorTexture": { "index": red }, "metallicRoughnessTexture": { "index": rough } },
            "normalTexture": { "index": bumps }, "occlusionTexture": { "index": rough },
            "emissiveTexture": { "index": photo }, "emissiveFactor": [1.0, 1.0, 1.0] }),
        json!({ "name": "scaled", "pbrMetallicRoughness": {
                "baseColorTexture": { "index": red }, "baseColorFactor": [0.5, 0.6, 0.7, 1.0],
                "metallicRoughnessTexture": { "index": rough },
                "metallicFactor": 0.5, "roughnessFactor": 0.75 },
            "normalTexture": { "index": bumps, "scale": 0.5 },
            "occlusionTexture": { "index": rough, "strength": 0.5 },
            "emissiveTexture": { "index": photo }, "emissiveFactor": [0.5, 0.25, 0.125] }),
        json!({ "name": "glass", "alphaMode": "BLEND",
            "pbrMetallicRoughness": { "baseColorFactor": [0.2, 0.9, 0.4, 0.35] } }),
        json!({ "name": "leaf", "alphaMode": "MASK", "alphaCutoff": 0.3,
            "pbrMetallicRoughness": { "baseColorTexture": { "index": blue } } }),
        json!({ "name": "second set", "pbrMetallicRoughness": {
            "baseColorTexture": { "index": red, "texCoord": 1 } } }),
        json!({ "name": "moved", "pbrMetallicRoughness": {
            "baseColorTexture": { "index": red, "extensions": { "KHR_texture_transform": {
                "offset": [0.25, 0.5], "rotation": 0.5, "scale": [2.0, 3.0] } } } } }),
        json!({ "name": "lamp", "emissiveFactor": [1.0, 0.5, 0.25],
            "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 4.0 } } }),
        json!({ "name": "car paint", "extensions": {
            "KHR_materials_clearcoat": { "clearcoatFactor": 0.8, "clearcoatRoughnessFactor": 0.2 },
            "KHR_materials_ior": { "ior": 1.33 } } }),
        json!({ "name": "window", "extensions": {
            "KHR_materials_transmission": { "transmissionFactor": 0.75 } } }),
    ];
    for extension in [
        "KHR_texture_transform",
        "KHR_materials_emissive_strength",
        "KHR_materials_clearcoat",
        "KHR_materials_ior",
        "KHR_materials_transmission",
    ] {
        gltf.use_extension(extension);
    }
    for (number, material) in all.into_iter().enumerate() {
        let name = material["name"].clone();
        let material = gltf.push("materials", material);
        let mesh = gltf.mesh(name.as_str().expect("a name"), &[bodies::plain_tube(2)]);
        let count = bodies::plain_tube(2).points.len();
        let uvs = |share: f32| -> Vec<f32> {
            (0..count)
                .flat_map(|i| [(i % 7) as f32 * share, 1.0 - (i / 7) as f32 * 0.17])
                .collect()
        };
        let sets = [
            gltf.floats("VEC2", &uvs(0.125)),
            gltf.floats("VEC2", &uvs(0.3)),
        ];
        let colors: Vec<f32> = (0..count)
            .flat_map(|i| [(i % 3) as f32 / 2.0, (i % 5) as f32 / 4.0, 0.5])
            .collect();
        let colors = gltf.floats("VEC3", &colors);
        let primitive = &mut gltf.json["meshes"][mesh]["primitives"][0];
        primitive["material"] = json!(material);
        primitive["attributes"]["TEXCOORD_0"] = json!(sets[0]);
        primitive["attributes"]["TEXCOORD_1"] = json!(sets[1]);
        primitive["attributes"]["COLOR_0"] = json!(colors);
        let place = json!({ "name": name, "mesh": mesh, "translation": [2 * number, 0, 0] });
        gltf.node(None, place);
    }
    gltf
}

/// Two cameras and all kinds of lights below nodes that are turned and move, and an empty node.
fn cameras_and_lights() -> GltfMaker {
    let mut gltf = GltfMaker::new();
    bodies::character(&mut gltf);
    let wide = gltf.push(
        "cameras",
        json!({ "name": "wide", "type": "perspective", "perspective": {
            "yfov": 0.8, "aspectRatio": 1.5, "znear": 0.05, "zfar": 500.0 } }),
    );
    let flat = gltf.push(
        "cameras",
        json!({ "name": "flat", "type": "orthographic", "orthographic": {
            "xmag": 3.0, "ymag": 2.0, "znear": 0.1, "zfar": 50.0 } }),
    );
    let lights = json!([
        { "name": "sun", "type": "directional", "color": [1.0, 0.9, 0.8], "intensity": 3.0 },
        { "name": "bulb", "type": "point", "color": [0.5, 0.6, 1.0], "intensity": 40.0 },
        { "name": "spot", "type": "spot", "intensity": 100.0, "range": 20.0,
          "spot": { "innerConeAngle": 0.2, "outerConeAngle": 0.5 } },
    ]);
    gltf.extension("KHR_lights_punctual", json!({ "lights": lights }));
    let dolly = gltf.node(
        None,
        json!({ "name": "dolly", "translation": [1, 2, 3], "rotation": bodies::turn(DVec3::Y, 40.0) }),
    );
    gltf.node(
        Some(dolly),
        json!({ "name": "shot", "camera": wide, "rotation": bodies::turn(DVec3::X, -20.0) }),
    );
    gltf.node(
        None,
        json!({ "name": "plan", "camera": flat, "translation": [0, 9, 0] }),
    );
    for (number, name) in ["sunlight", "bulb light", "spot light"].iter().enumerate() {
        gltf.node(
            Some(dolly),
            json!({
                "name": name, "translation": [number, 1, 0],
                "rotation": bodies::turn(DVec3::new(1.0, 0.0, 1.0), 30.0 * number as f64),
                "extensions": { "KHR_lights_punctual": { "light": number } },
            }),
        );
    }
    let empty = gltf.node(
        Some(dolly),
        json!({ "name": "empty", "translation": [0, 0, 4] }),
    );
    gltf.node(
        Some(empty),
        json!({ "name": "below it", "scale": [2, 2, 2] }),
    );
    let clip = gltf.animation("nod");
    bodies::turning(&mut gltf, clip, 1, &[0.0, 25.0, -20.0]);
    let ride = gltf.curve(
        "LINEAR",
        &[0.0, 0.5, 1.0],
        "VEC3",
        &[1.0, 2.0, 3.0, 1.0, 2.5, 2.0, 0.0, 2.0, 1.0],
    );
    gltf.channel(clip, ride, bodies::target(dolly, "translation"));
    gltf
}

/// Extras of every kind of object.
fn extras() -> GltfMaker {
    let mut gltf = cameras_and_lights();
    let red = gltf.push("materials", json!({ "name": "red" }));
    gltf.json["meshes"][0]["primitives"][0]["material"] = json!(red);
    let extras = |of: &str| {
        json!({
            "of": of, "number": 7, "share": 0.25, "yes": true, "list": [1, 2.5, "three", null],
            "object": { "deep er": { "keys with spaces": "and ünïcode" } },
        })
    };
    let mark = |value: &mut Value, of: &str| value["extras"] = extras(of);
    mark(&mut gltf.json, "file");
    mark(&mut gltf.json["asset"], "asset");
    for list in [
        "scenes",
        "nodes",
        "meshes",
        "skins",
        "animations",
        "cameras",
        "materials",
    ] {
        mark(&mut gltf.json[list][0], list);
    }
    mark(&mut gltf.json["nodes"][3], "the node of the mesh");
    mark(
        &mut gltf.json["meshes"][0]["primitives"][0],
        "the primitive",
    );
    mark(
        &mut gltf.json["extensions"]["KHR_lights_punctual"]["lights"][0],
        "the light",
    );
    gltf
}

/// Two scenes, of which the second is shown and has a node of the first.
fn scenes() -> GltfMaker {
    let mut gltf = GltfMaker::new();
    bodies::character(&mut gltf);
    let mesh = gltf.mesh("box", &[bodies::crate_box()]);
    gltf.node(
        None,
        json!({ "name": "only in the first", "mesh": mesh, "translation": [3, 0, 0] }),
    );
    gltf.json["scenes"][0]["name"] = json!("first");
    gltf.push("scenes", json!({ "name": "second", "nodes": [0, 3] }));
    gltf.json["scene"] = json!(1);
    gltf
}

/// A tube whose points follow eight joints each, and one joint more than fits a byte of weights well.
fn eight_influences() -> GltfMaker {
    let mut gltf = GltfMaker::new();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let joints = bodies::chain(&mut gltf, None, &names);
    let skin = gltf.skin_at_rest(&joints);
    let base = bodies::plain_tube(8);
    let all: Vec<[f32; 8]> = base.points.iter().map(|p| shares(p[1])).collect();
    let half = |from: usize| -> Vec<[f32; 4]> {
        all.iter()
            .map(|w| [w[from], w[from + 1], w[from + 2], w[from + 3]])
            .collect()
    };
    let shape = Shape {
        joints: vec![[0, 1, 2, 3]; base.points.len()],
        weights: half(0),
        ..base
    };
    let mesh = gltf.mesh("body", &[shape]);
    let joints_1: Vec<[u16; 4]> = vec![[4, 5, 6, 7]; all.len()];
    let joints_1 = gltf.shorts("VEC4", joints_1.as_flattened());
    let weights_1 = gltf.floats("VEC4", half(4).as_flattened());
    let attributes = &mut gltf.json["meshes"][mesh]["primitives"][0]["attributes"];
    attributes["JOINTS_1"] = json!(joints_1);
    attributes["WEIGHTS_1"] = json!(weights_1);
    gltf.node(None, json!({ "name": "body", "mesh": mesh, "skin": skin }));
    let clip = gltf.animation("curl");
    for joint in &joints {
        bodies::turning(&mut gltf, clip, *joint, &[0.0, 14.0, -9.0, 3.0]);
    }
    gltf
}

/// Weights of a height: all eight, more for nearer joints.
fn shares(height: f32) -> [f32; 8] {
    let near = |joint: usize| 1.0 / (0.3 + (height - joint as f32).abs());
    let all = std::array::from_fn::<f32, 8, _>(near);
    let sum: f32 = all.iter().sum();
    all.map(|w| w / sum)
}

/// Two skinned meshes with morph targets and two clips, one of which also changes the weights of the targets.
fn body_and_cape() -> GltfMaker {
    let mut gltf = GltfMaker::new();
    let joints = bodies::chain(&mut gltf, None, &["hips", "spine", "head"]);
    let skin = gltf.skin_at_rest(&joints);
    let body = gltf.mesh("body", &[bodies::with_targets(bodies::tube(3))]);
    let mut cape = bodies::tube(3);
    cape.points.iter_mut().for_each(|p| p[2] -= 0.6);
    let cape = gltf.mesh("cape", &[cape]);
    let body = gltf.node(None, json!({ "name": "body", "mesh": body, "skin": skin }));
    gltf.node(None, json!({ "name": "cape", "mesh": cape, "skin": skin }));
    for (name, turn) in [("walk", 30.0), ("wave", -45.0)] {
        let clip = gltf.animation(name);
        bodies::turning(&mut gltf, clip, joints[1], &[0.0, turn, 0.0]);
        bodies::turning(&mut gltf, clip, joints[2], &[turn, 0.0, -turn]);
    }
    let smile = gltf.curve(
        "LINEAR",
        &[0.0, 0.75, 1.5],
        "SCALAR",
        &[0.0, 1.0, 0.5, 0.25, 1.0, 0.0],
    );
    gltf.channel(1, smile, bodies::target(body, "weights"));
    gltf
}
