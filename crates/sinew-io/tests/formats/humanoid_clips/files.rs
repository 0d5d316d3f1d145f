//! glTF files with a clip or a skeleton more.

use std::path::{Path, PathBuf};

use common::command::Bench;
use common::document::Document;
use common::humanoid::{json_of, keeps, same_clip};
use common::{fixture, tolerance};
use glam::{DMat4, DQuat, DVec3};
use serde_json::json;
use sinew_animate::asset::LocalTransform;
use sinew_animate::humanoid::{
    Applied, ApplyOptions, apply, bones_by_name, bones_from_json, describe, expressions_to_weights,
};
use sinew_animate::retarget::Bone;
use sinew_io::gltf::{self, GltfEdit, described_as};

/// A clip of bones for any model.
fn clip() -> PathBuf {
    fixture("humanoid_clips/twins_clip.gltf")
}

/// Writes the model's file with the clip, as `sinew humanoid` does.
fn put(model: &Path, out: &Path) -> Applied {
    let [asset, source] = [model, &clip()].map(|file| gltf::read(file).unwrap());
    let applied = apply(&asset, &source, &source.clips[0], &ApplyOptions::default()).unwrap();
    let mut edit = GltfEdit::open(model).unwrap();
    let plain = expressions_to_weights(&asset, &applied.clip);
    edit.add_clip(&asset, &plain).unwrap();
    edit.save(out).unwrap();
    applied
}

/// Writes a document: `.gltf` with a `.bin` beside it, or one binary file.
fn write(bench: &Bench, name: &str, document: &Document) -> PathBuf {
    let Some(stem) = name.strip_suffix(".gltf") else {
        return bench.write(name, document.glb());
    };
    let mut document = document.clone();
    let bin = format!("{stem}.bin");
    bench.write(&bin, &document.bin);
    document.set("/buffers/0/uri", json!(bin));
    bench.write(name, document.json.to_string())
}

/// The fixture without its clip, and without its skeleton.
fn without_clip() -> (Document, Document) {
    let mut model = Document::fixture("humanoid.gltf");
    model.remove("/animations");
    let mut plain = model.clone();
    plain.remove("/extensions").remove("/extensionsUsed");
    (model, plain)
}

#[test]
fn every_form_of_gltf_reads_back_as_it_was_with_the_clip_more() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("elsewhere")).unwrap();
    let (document, _) = without_clip();
    for model in ["model.glb", "model.gltf"] {
        let model = write(&bench, model, &document);
        let asset = gltf::read(&model).unwrap();
        for out in [
            "out.glb",
            "out.gltf",
            "elsewhere/out.glb",
            "elsewhere/out.gltf",
        ] {
            let out = bench.path(out);
            let applied = put(&model, &out);
            let found = gltf::read(&out).unwrap();
            assert_eq!(found.nodes, asset.nodes);
            assert_eq!(found.meshes, asset.meshes);
            assert_eq!(found.skins, asset.skins);
            assert_eq!(found.humanoids, asset.humanoids);
            same_clip(&found.clips[0], &applied.clip);
            keeps(&json_of(&model), &json_of(&out));
        }
    }
    // In another folder the file is whole; beside the model it goes on using the model's buffer.
    let uri = |file: &str| json_of(&bench.path(file))["buffers"][0]["uri"].clone();
    let whole = uri("elsewhere/out.gltf");
    assert!(whole.as_str().unwrap().starts_with("data:"));
    assert_eq!(uri("out.gltf"), "model.bin");
    assert!(uri("out.glb").is_null());
}

/// Nodes with matrices get components, and the model's own clip stays.
#[test]
fn matrices_become_components_and_old_clips_stay() {
    let bench = Bench::new();
    let mut document = Document::fixture("humanoid.gltf");
    let head = document.named("head");
    let local = DMat4::from_rotation_translation(DQuat::IDENTITY, DVec3::new(0.0, 0.1, 0.0));
    let children = document.json["nodes"][head]["children"].clone();
    let node = json!({ "name": "head", "matrix": local.to_cols_array(), "children": children });
    document.set(&format!("/nodes/{head}"), node);
    let model = write(&bench, "model.glb", &document);
    let out = bench.path("out.glb");
    put(&model, &out);
    let found = gltf::read(&out).unwrap();
    let names: Vec<&str> = found.clips.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["nod", "clip"]);
    let LocalTransform::Trs(trs) = &found.nodes[head].local else {
        panic!("{:?}", found.nodes[head].local)
    };
    let is_near = trs.matrix().abs_diff_eq(local, tolerance::FEW_ROUNDINGS);
    assert!(is_near, "{trs:?}");
    assert!(json_of(&out)["nodes"][head]["matrix"].is_null());
}

/// By names and by a map: the file reads back with that skeleton, and clips apply.
#[test]
fn a_described_model_takes_clips() {
    let bench = Bench::new();
    let (document, mut plain) = without_clip();
    let file = write(&bench, "plain.gltf", &plain);
    let model = gltf::read(&file).unwrap();
    let (bones, _) = bones_by_name(&model).unwrap();
    let (skeleton, left_out) = describe(&model, &bones).unwrap();
    assert!(left_out.is_empty(), "{left_out:?}");
    let extension = described_as(&skeleton);
    let own = &document.json["extensions"]["EXT_skeleton_humanoid"];
    let bones_of = |v: &serde_json::Value| v["humanoidSkeletons"][0]["humanoidBones"].clone();
    assert_eq!(bones_of(&extension), bones_of(own));
    let out = bench.path("described.glb");
    let mut edit = GltfEdit::open(&file).unwrap();
    edit.describe(&skeleton).unwrap();
    edit.save(&out).unwrap();
    let found = gltf::read(&out).unwrap();
    assert_eq!(found.humanoids[0].bones, bones);
    assert_eq!(found.humanoids[0].root, Some(document.named("hips")));
    keeps(&json_of(&file), &json_of(&out));
    put(&out, &bench.path("moved.glb"));
    // It has a skeleton already.
    let twice = GltfEdit::open(&out).unwrap().describe(&skeleton);
    let twice = twice.unwrap_err().to_string();
    let words = "already has EXT_skeleton_humanoid";
    assert!(twice.contains(words), "{twice}");

    // By a map, name or index.
    let [hips, spine, head] = ["hips", "spine", "head"].map(|b| plain.named(b));
    plain.set(&format!("/nodes/{hips}/name"), json!("mixamorig:Hips"));
    plain.set(&format!("/nodes/{spine}/name"), json!("mixamorig:Spine"));
    let model = gltf::read(&write(&bench, "other.glb", &plain)).unwrap();
    let map =
        format!(r#"{{"hips": "mixamorig:Hips", "spine": "mixamorig:Spine", "head": {head}}}"#);
    let bones = bones_from_json(&map, "map.json", &model).unwrap();
    let expected = [(Bone::Hips, hips), (Bone::Spine, spine), (Bone::Head, head)];
    assert_eq!(bones, expected.into());
}

/// Head and hips swapped: the extension's own rule refuses it.
#[test]
fn a_wrong_map_is_refused() {
    let bench = Bench::new();
    let file = write(&bench, "plain.glb", &without_clip().1);
    let model = gltf::read(&file).unwrap();
    let swapped = r#"{"hips": "head", "head": "hips"}"#;
    let bones = bones_from_json(swapped, "map.json", &model).unwrap();
    let (skeleton, _) = describe(&model, &bones).unwrap();
    let error = GltfEdit::open(&file).unwrap().describe(&skeleton);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("humanoidBones"), "{error}");
}

/// The best guess at an unknown rig is a map as it stands.
#[test]
fn the_guess_for_unknown_names_is_a_map() {
    let (_, mut plain) = without_clip();
    for node in plain.json["nodes"].as_array_mut().unwrap() {
        node["name"] = json!("");
    }
    let model = gltf::read_bytes(&plain.glb(), Path::new("nameless.glb")).unwrap();
    let text = bones_by_name(&model).unwrap_err().to_string();
    assert!(text.contains("no human body"), "{text}");
    let guess = &text[text.find('{').unwrap()..=text.rfind('}').unwrap()];
    let found = bones_from_json(guess, "map.json", &model).unwrap();
    assert!(found.len() >= 15);
    let leg = Document::fixture("humanoid.gltf").named("leftUpperLeg");
    assert_eq!(found[&Bone::LeftUpperLeg], leg);
    describe(&model, &found).unwrap();
}
