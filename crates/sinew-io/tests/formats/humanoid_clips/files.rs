//! glTF files with a clip or a skeleton more.

use std::path::{Path, PathBuf};

use common::command::Bench;
use common::figure::{Figure, rotation, times};
use common::gltf_maker::GltfMaker;
use common::humanoid::{json_of, keeps, same_clip};
use common::mannequin::{Axes, Build, Mannequin};
use common::rng::Rng;
use common::tolerance;
use glam::{DMat4, DQuat, DVec3};
use serde_json::{Value, json};
use sinew_animate::asset::{Asset, LocalTransform};
use sinew_animate::humanoid::{
    Applied, ApplyOptions, apply, bones_by_name, bones_from_json, describe, expressions_to_weights,
};
use sinew_animate::retarget::Bone;
use sinew_io::gltf::{self, GltfEdit, described_as};

/// A clip file without a model: the extension's channels alone.
pub fn bone_clip(bones: &[Bone]) -> GltfMaker {
    let mut gltf = GltfMaker::new();
    let rng = &mut Rng::new(8);
    let animation = gltf.animation("wave");
    for bone in bones {
        let keys: Vec<DQuat> = (0..3).map(|_| rotation(rng)).collect();
        gltf.bone_channel(animation, bone.name(), &[0.0, 0.5, 1.25], &keys);
    }
    gltf
}

/// Writes the model's file with the first clip of the other one, as `sinew humanoid` does.
fn put(model: &Path, clip: &Path, out: &Path) -> Applied {
    let [asset, source] = [model, clip].map(|file| gltf::read(file).unwrap());
    let applied = apply(&asset, &source, &source.clips[0], &ApplyOptions::default()).unwrap();
    let mut edit = GltfEdit::open(model).unwrap();
    let plain = expressions_to_weights(&asset, &applied.clip);
    edit.add_clip(&asset, &plain).unwrap();
    edit.save(out).unwrap();
    applied
}

#[test]
fn every_form_of_gltf_reads_back_as_it_was_with_the_clip_more() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("elsewhere")).unwrap();
    let mannequin = Mannequin::new().with_humanoid();
    let clip = bone_clip(&[Bone::Hips, Bone::LeftUpperArm, Bone::Head]);
    let clip = clip.write(bench.folder.path(), "wave.glb");
    for model in ["model.glb", "model.gltf"] {
        let model = mannequin.gltf.write(bench.folder.path(), model);
        let asset = gltf::read(&model).unwrap();
        for out in [
            "out.glb",
            "out.gltf",
            "elsewhere/out.glb",
            "elsewhere/out.gltf",
        ] {
            let out = bench.path(out);
            let applied = put(&model, &clip, &out);
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

/// Nodes with matrices get components, a mesh's own clip stays, and weights come along.
#[test]
fn matrices_become_components_and_old_clips_stay() {
    let bench = Bench::new();
    let mut mannequin = Mannequin::new().with_humanoid();
    let head = mannequin.nodes[&Bone::Head];
    let old = mannequin.gltf.json["nodes"][head].clone();
    let read = |key: &str| -> Vec<f64> { serde_json::from_value(old[key].clone()).unwrap() };
    let local = DMat4::from_rotation_translation(
        DQuat::from_slice(&read("rotation")),
        DVec3::from_slice(&read("translation")),
    );
    mannequin.gltf.json["nodes"][head] =
        json!({ "name": "head", "matrix": local.to_cols_array(), "children": old["children"] });
    let nod = mannequin.gltf.animation("nod");
    let places = [0.0, 1.0, 0.0, 0.0, 1.1, 0.0];
    let curve = mannequin.gltf.curve("STEP", &[0.0, 1.0], "VEC3", &places);
    let target = json!({ "node": mannequin.nodes[&Bone::Hips], "path": "translation" });
    mannequin.gltf.channel(nod, curve, target);
    let model = mannequin.gltf.write(bench.folder.path(), "model.glb");
    let clip = bone_clip(&[Bone::Head]).write(bench.folder.path(), "clip.glb");
    let out = bench.path("out.glb");
    put(&model, &clip, &out);
    let found = gltf::read(&out).unwrap();
    let names: Vec<&str> = found.clips.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["nod", "wave"]);
    let LocalTransform::Trs(trs) = &found.nodes[head].local else {
        panic!("{:?}", found.nodes[head].local)
    };
    let is_near = trs.matrix().abs_diff_eq(local, tolerance::FEW_ROUNDINGS);
    assert!(is_near, "{trs:?}");
    assert!(json_of(&out)["nodes"][head]["matrix"].is_null());
}

/// A mannequin's file whose nodes have other names.
fn renamed(bench: &Bench, name: &str, names: &[(Bone, &str)]) -> (Mannequin, PathBuf) {
    let mut mannequin = Mannequin::new();
    for (bone, name) in names {
        let node = mannequin.nodes[bone];
        mannequin.gltf.json["nodes"][node]["name"] = json!(name);
    }
    let path = mannequin.gltf.write(bench.folder.path(), name);
    (mannequin, path)
}

/// By names and by a map: the file reads back with that skeleton, and clips apply.
#[test]
fn a_described_model_takes_clips() {
    let bench = Bench::new();
    let (mannequin, plain) = renamed(&bench, "plain.gltf", &[]);
    let model = gltf::read(&plain).unwrap();
    let (bones, _) = bones_by_name(&model).unwrap();
    let (skeleton, left_out) = describe(&model, &bones).unwrap();
    assert!(left_out.is_empty(), "{left_out:?}");
    let extension = described_as(&skeleton);
    let printed = &extension["humanoidSkeletons"][0]["humanoidBones"];
    assert_eq!(*printed, mannequin.bone_map());
    let out = bench.path("described.glb");
    let mut edit = GltfEdit::open(&plain).unwrap();
    edit.describe(&skeleton).unwrap();
    edit.save(&out).unwrap();
    let asset = gltf::read(&out).unwrap();
    assert_eq!(asset.humanoids[0].bones, mannequin.nodes);
    // All bones hang from the hips, so the hips are their lowest common ancestor.
    assert_eq!(asset.humanoids[0].root, Some(mannequin.nodes[&Bone::Hips]));
    keeps(&json_of(&plain), &json_of(&out));
    let clip = bone_clip(&[Bone::Head]).write(bench.folder.path(), "clip.glb");
    put(&out, &clip, &bench.path("moved.glb"));
    // It has a skeleton already.
    let twice = GltfEdit::open(&out).unwrap().describe(&skeleton);
    let twice = twice.unwrap_err().to_string();
    let words = "already has EXT_skeleton_humanoid";
    assert!(twice.contains(words), "{twice}");

    // By a map, name or index.
    let names = [
        (Bone::Hips, "mixamorig:Hips"),
        (Bone::Spine, "mixamorig:Spine"),
    ];
    let (mannequin, other) = renamed(&bench, "other.glb", &names);
    let model = gltf::read(&other).unwrap();
    let head = mannequin.nodes[&Bone::Head];
    let map =
        format!(r#"{{"hips": "mixamorig:Hips", "spine": "mixamorig:Spine", "head": {head}}}"#);
    let bones = bones_from_json(&map, "map.json", &model).unwrap();
    let expected = [Bone::Hips, Bone::Spine, Bone::Head].map(|b| (b, mannequin.nodes[&b]));
    assert_eq!(bones, expected.into());
}

#[test]
fn wrong_maps_are_refused() {
    let bench = Bench::new();
    let (_, plain) = renamed(&bench, "plain.glb", &[]);
    let model = gltf::read(&plain).unwrap();
    for (map, words) in [
        (r#"{"hips": "hips", "tail": "head"}"#, ["map.json", "tail"]),
        (r#"{"hips": "Bip01"}"#, ["hips", "Bip01"]),
    ] {
        let error = bones_from_json(map, "map.json", &model).unwrap_err();
        let error = error.to_string();
        assert!(words.iter().all(|w| error.contains(w)), "{map}: {error}");
    }
    // Head and hips swapped: the extension's own rule refuses it.
    let swapped = r#"{"hips": "head", "head": "hips"}"#;
    let bones = bones_from_json(swapped, "map.json", &model).unwrap();
    let (skeleton, _) = describe(&model, &bones).unwrap();
    let error = GltfEdit::open(&plain).unwrap().describe(&skeleton);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("humanoidBones"), "{error}");
}

/// The best guess at an unknown rig is a map as it stands.
#[test]
fn the_guess_for_unknown_names_is_a_map() {
    let bench = Bench::new();
    let names: Vec<(Bone, &str)> = Bone::ALL.iter().map(|b| (*b, "")).collect();
    let (mannequin, model) = renamed(&bench, "nameless.glb", &names);
    let model = gltf::read(&model).unwrap();
    let text = bones_by_name(&model).unwrap_err().to_string();
    assert!(text.contains("no human body"), "{text}");
    let guess = &text[text.find('{').unwrap()..=text.rfind('}').unwrap()];
    let found = bones_from_json(guess, "map.json", &model).unwrap();
    assert!(found.len() >= 15);
    let leg = Bone::LeftUpperLeg;
    assert_eq!(found[&leg], mannequin.nodes[&leg]);
    describe(&model, &found).unwrap();
}

/// A VRM file of a mannequin that is turned about +Y.
fn vrm(bench: &Bench, name: &str, turn: f64, extension: impl Fn(&Mannequin) -> Value) -> PathBuf {
    let build = Build {
        axes: Axes::World,
        root: DMat4::from_rotation_y(turn),
        ..Build::default()
    };
    let mut made = build.make();
    let value = extension(&made);
    let version = value["specVersion"].clone();
    let extension = if version == "1.0" { "VRMC_vrm" } else { "VRM" };
    made.gltf.extension(extension, value);
    made.gltf.write(bench.folder.path(), name)
}

/// A VRM 0.x file and its VRM 1.0 twin from the same mannequin, and a .vrma of its own: through the readers.
#[test]
fn vrm_files_of_both_versions_move_alike() {
    let bench = Bench::new();
    let one = vrm(
        &bench,
        "one.vrm",
        0.0,
        |made| json!({ "specVersion": "1.0", "humanoid": { "humanBones": made.vrm_bones() } }),
    );
    let zero = vrm(&bench, "zero.vrm", std::f64::consts::PI, |made| {
        let bones = made.nodes.iter();
        let bones = bones.filter(|(b, _)| !b.name().contains("Thumb"));
        let list = bones.map(|(b, n)| json!({ "bone": b.name(), "node": n }));
        let list: Vec<Value> = list.collect();
        json!({ "specVersion": "0.0", "humanoid": { "humanBones": list } })
    });
    let mut source = Mannequin::new();
    let bones = json!({ "humanBones": source.vrm_bones() });
    source.gltf.extension(
        "VRMC_vrm_animation",
        json!({ "specVersion": "1.0", "humanoid": bones }),
    );
    let walk = source.gltf.animation("walk");
    let rng = &mut Rng::new(12);
    let mut channel = |bone: Bone, path: &str, kind: &str, values: &[f32]| {
        let curve = source.gltf.curve("LINEAR", &[0.0, 2.0], kind, values);
        let target = json!({ "node": source.nodes[&bone], "path": path });
        source.gltf.channel(walk, curve, target);
    };
    for bone in [
        Bone::Hips,
        Bone::Chest,
        Bone::LeftUpperArm,
        Bone::RightLowerLeg,
    ] {
        let keys = [rotation(rng), rotation(rng)];
        let keys = keys.map(|q| q.as_quat().to_array());
        channel(bone, "rotation", "VEC4", keys.as_flattened());
    }
    let places = [0.0, 0.95, 0.0, 0.3, 1.05, 1.0];
    channel(Bone::Hips, "translation", "VEC3", &places);
    let clip = source.gltf.write(bench.folder.path(), "walk.vrma");
    let moved = [&one, &zero].map(|model| {
        let out = model.with_extension("moved.glb");
        put(model, &clip, &out);
        gltf::read(&out).unwrap()
    });
    let place = |asset: &Asset, bone: Bone, time: f64| {
        let figure = Figure {
            asset: asset.clone(),
        };
        let world = figure.world(&asset.clips[0], figure.at(bone), time);
        world.w_axis.truncate()
    };
    let half_turn = DQuat::from_rotation_y(std::f64::consts::PI);
    for bone in [Bone::Hips, Bone::Head, Bone::LeftHand, Bone::RightFoot] {
        for time in times() {
            let [a, b] = [&moved[0], &moved[1]].map(|asset| place(asset, bone, time));
            let is_near = b.abs_diff_eq(half_turn * a, tolerance::TURNED_FIGURE);
            assert!(is_near, "{bone} at {time}: {a} {b}");
        }
    }
}
