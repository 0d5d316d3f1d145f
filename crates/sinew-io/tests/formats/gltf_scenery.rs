//! What glTF files have beside characters is read: cameras, lights, scenes, extras, materials of
//! several layers, instances. What is left out is in the table of broken files.

use std::path::Path;

use common::document::Document;
use common::scenery::{node, scenery};
use glam::{DQuat, DVec3, Vec3};
use serde_json::{Value, json};
use sinew_animate::asset::{Asset, CameraProjection, LightKind, Trs};
use sinew_io::gltf;

fn read(file: &Document) -> Asset {
    gltf::read_bytes(&file.glb(), Path::new("scenery.glb")).unwrap()
}

#[test]
fn all_of_it_is_read() {
    let asset = read(&scenery());
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    assert_eq!(
        asset.cameras[0].projection,
        CameraProjection::Perspective {
            y_fov: 0.8,
            aspect_ratio: Some(1.5),
            z_near: 0.1,
            z_far: Some(100.0),
        }
    );
    assert_eq!(asset.cameras[0].name, "Main cam");
    assert_eq!(asset.cameras[0].extras, Some(json!({ "shot": 3 })));
    assert_eq!(
        asset.cameras[1].projection,
        CameraProjection::Orthographic {
            x_mag: 2.0,
            y_mag: 1.0,
            z_near: 0.0,
            z_far: 50.0,
        }
    );
    let [sun, bulb, spot] = &asset.lights[..] else {
        panic!("{:?}", asset.lights)
    };
    assert_eq!(
        (sun.kind, sun.intensity, sun.color, &*sun.name),
        (
            LightKind::Directional,
            1000.0,
            Vec3::new(1.0, 0.5, 0.25),
            "Sun light"
        )
    );
    assert_eq!(sun.extras, Some(json!({ "season": "summer" })));
    assert_eq!(
        (bulb.kind, bulb.intensity, bulb.range),
        (LightKind::Point, 80.0, Some(10.0))
    );
    let cone = LightKind::Spot {
        inner_cone_angle: 0.2,
        outer_cone_angle: 0.4,
    };
    assert_eq!(
        (spot.kind, spot.intensity, spot.color),
        (cone, 1.0, Vec3::ONE)
    );

    let nodes = &asset.nodes;
    assert_eq!(nodes[node::HEAD_CAMERA].camera, Some(0));
    assert_eq!(nodes[node::SPOT].light, Some(2));
    assert!(nodes[node::HIDDEN].hidden && !nodes[node::EMPTY].hidden);
    assert_eq!(
        nodes[node::SOCKET].extras,
        Some(json!({ "socket": "weapon" }))
    );
    let quarter = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
    let [first, second] = &nodes[node::FOREST].instances[..] else {
        panic!("{:?}", nodes[node::FOREST].instances)
    };
    assert_eq!(*first, Trs::IDENTITY);
    assert_eq!(second.translation, DVec3::new(3.0, 0.0, 0.0));
    assert_eq!(second.scale, DVec3::new(1.0, 2.0, 1.0));
    assert!(second.rotation.abs_diff_eq(quarter, 1e-7));

    let scenes: Vec<(&str, &[usize])> =
        asset.scenes.iter().map(|s| (&*s.name, &*s.roots)).collect();
    let main: &[usize] = &[0, 6, 7, 8, 9, 10, 11, 13, node::SHOE];
    let second: &[usize] = &[node::ELSEWHERE];
    assert_eq!(scenes, [("Main", main), ("Second scene", second)]);
    assert_eq!((asset.default_scene, &*asset.roots), (Some(0), main));
    assert_eq!(asset.scenes[0].extras, Some(json!({ "mood": "calm" })));

    assert_eq!(asset.info.copyright, "2026 the authors");
    assert_eq!(asset.info.generator, "sinew's tests");
    assert_eq!(asset.info.extras, Some(json!({ "tool": 7 })));
    assert_eq!(
        asset.info.metadata["KHR_xmp_json_ld.packets"],
        json!([{ "dc:title": "Demo" }])
    );
    assert_eq!(asset.extras, Some(json!({ "project": "demo" })));
    assert_eq!(asset.skins[0].extras, Some(json!({ "rig": "v2" })));
    assert_eq!(asset.clips[0].extras, Some(json!({ "loop": true })));
    // Names of morph targets are no extras.
    assert_eq!(asset.meshes[0].extras, Some(json!({ "lod": 0 })));
    assert_eq!(asset.meshes[0].target_names, ["Up", "Side"]);

    assert_eq!(asset.material_variants, ["Default", "Blue one"]);
    assert_eq!(asset.meshes[2].primitives[0].variant_materials, [(1, 2)]);

    let [_, paint, glass] = &asset.materials[..] else {
        panic!("{:?}", asset.materials)
    };
    assert_eq!(paint.emissive, Vec3::new(4.0, 2.0, 0.0));
    assert_eq!(
        (paint.clearcoat, paint.clearcoat_roughness, paint.ior),
        (0.75, 0.125, 1.25)
    );
    assert!(paint.clearcoat_texture.is_some() && paint.clearcoat_roughness_texture.is_none());
    assert_eq!(
        (glass.transmission, glass.specular, glass.ior),
        (0.75, 0.5, 1.5)
    );
    assert_eq!(glass.specular_color, Vec3::new(1.0, 0.5, 2.0));
}

#[test]
fn the_scene_that_is_named_is_shown() {
    let mut file = scenery();
    file.json["scene"] = json!(1);
    let asset = read(&file);
    assert_eq!(
        (asset.default_scene, &*asset.roots),
        (Some(1), &[node::ELSEWHERE][..])
    );
}

/// Changes the scenery; gives what is warned of then.
fn changed(change: impl FnOnce(&mut Value)) -> Asset {
    let mut file = scenery();
    change(&mut file.json);
    read(&file)
}

#[test]
fn factors_are_brought_inside() {
    let asset = changed(|json| {
        let clearcoat = &mut json["materials"][1]["extensions"]["KHR_materials_clearcoat"];
        clearcoat["clearcoatFactor"] = json!(1.5);
    });
    assert_eq!(asset.materials[1].clearcoat, 1.0);
}

#[test]
fn specular_and_glossiness() {
    let asset = changed(|json| {
        json["materials"][1] = json!({ "extensions": { "KHR_materials_pbrSpecularGlossiness": {
            "diffuseFactor": [0.1, 0.2, 0.3, 1], "glossinessFactor": 0.75,
            "specularFactor": [0.04, 0.08, 0.02] } } });
        let used = json["extensionsUsed"].as_array_mut().unwrap();
        used.push(json!("KHR_materials_pbrSpecularGlossiness"));
    });
    let material = &asset.materials[1];
    assert_eq!((material.metallic, material.roughness), (0.0, 0.25));
    let tint = Vec3::new(1.0, 2.0, 0.5);
    assert!(
        material.specular_color.abs_diff_eq(tint, 1e-6),
        "{}",
        material.specular_color
    );
}
