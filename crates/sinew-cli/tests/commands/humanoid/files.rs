//! The command, and glTF files that it writes.

use glam::{DMat4, DQuat, DVec3};
use serde_json::{Value, json};
use sinew_animate::asset::{Asset, LocalTransform};
use sinew_animate::humanoid::{ApplyOptions, apply};
use sinew_animate::retarget::Bone;
use sinew_io::gltf;

use common::command::{Bench, misused, refused, stderr, stdout};
use common::figure::{rotation, times};
use common::gltf_maker::GltfMaker;
use common::humanoid::{describe, json_of, keeps, put, run, same_clip};
use common::mannequin::{Axes, Build, Mannequin};
use common::rng::Rng;
use common::tolerance;

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

fn same_model(a: &Asset, b: &Asset) {
    assert_eq!(a.nodes, b.nodes);
    assert_eq!(a.meshes, b.meshes);
    assert_eq!(a.skins, b.skins);
    assert_eq!(a.humanoids, b.humanoids);
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
        let source = gltf::read(&clip).unwrap();
        let applied = apply(&asset, &source, &source.clips[0], &ApplyOptions::default()).unwrap();
        for out in [
            "out.glb",
            "out.gltf",
            "elsewhere/out.glb",
            "elsewhere/out.gltf",
        ] {
            let out = bench.path(out);
            let output = put(&model, &clip, &out, &[]);
            assert!(output.status.success(), "{}", stderr(&output));
            assert!(
                stdout(&output).contains("clip \"wave\": 3 bones"),
                "{}",
                stdout(&output)
            );
            let found = gltf::read(&out).unwrap();
            same_model(&found, &asset);
            same_clip(&found.clips[0], &applied.clip);
            keeps(&json_of(&model), &json_of(&out));
        }
    }
    // In another folder the file is whole; beside the model it goes on using the model's buffer.
    let uri = |file: &str, i: usize| json_of(&bench.path(file))["buffers"][i]["uri"].clone();
    assert!(
        uri("elsewhere/out.gltf", 0)
            .as_str()
            .unwrap()
            .starts_with("data:")
    );
    assert_eq!(uri("out.gltf", 0), "model.bin");
    assert!(uri("out.glb", 0).is_null());
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
    let curve = mannequin
        .gltf
        .curve("STEP", &[0.0, 1.0], "VEC3", &[0.0, 1.0, 0.0, 0.0, 1.1, 0.0]);
    let hips = mannequin.nodes[&Bone::Hips];
    mannequin
        .gltf
        .channel(nod, curve, json!({ "node": hips, "path": "translation" }));
    let model = mannequin.gltf.write(bench.folder.path(), "model.glb");
    let clip = bone_clip(&[Bone::Head]).write(bench.folder.path(), "clip.glb");
    let out = bench.path("out.glb");
    let output = put(&model, &clip, &out, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let found = gltf::read(&out).unwrap();
    let names: Vec<&str> = found.clips.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["nod", "wave"]);
    assert!(matches!(found.nodes[head].local, LocalTransform::Trs(_)));
    assert!(
        found.nodes[head]
            .local
            .matrix()
            .abs_diff_eq(local, tolerance::FEW_ROUNDINGS)
    );
    assert!(json_of(&out)["nodes"][head]["matrix"].is_null());
}

#[test]
fn missing_bones_are_named_on_stderr() {
    let bench = Bench::new();
    let bones: Vec<Bone> = Bone::ALL
        .iter()
        .filter(|b| **b != Bone::Chest)
        .copied()
        .collect();
    let build = Build {
        bones,
        ..Build::default()
    };
    let model = build
        .make()
        .with_humanoid()
        .gltf
        .write(bench.folder.path(), "model.glb");
    let clip = bone_clip(&[Bone::Spine, Bone::Chest]).write(bench.folder.path(), "clip.gltf");
    let out = bench.path("out.glb");
    let output = put(&model, &clip, &out, &[]);
    assert!(
        output.status.success() && stderr(&output).contains("chest: the model lacks this bone"),
        "{}",
        stderr(&output)
    );
    let collapsed = put(&model, &clip, &out, &["--mode", "collapse"]);
    assert!(
        stderr(&collapsed).contains("its rotation is multiplied into upperChest"),
        "{}",
        stderr(&collapsed)
    );
    assert!(
        stdout(&collapsed).contains("1 bone missing in the model, 1 of them folded"),
        "{}",
        stdout(&collapsed)
    );
}

#[test]
fn wrong_requests_write_nothing() {
    let bench = Bench::new();
    let model = Mannequin::new()
        .with_humanoid()
        .gltf
        .write(bench.folder.path(), "model.glb");
    let plain = Mannequin::new()
        .gltf
        .write(bench.folder.path(), "plain.glb");
    let clip = bone_clip(&[Bone::Head]).write(bench.folder.path(), "clip.glb");
    let out = bench.path("out.glb");
    refused(
        &put(&model, &clip, &out, &["--clip", "run"]),
        &out,
        &["no clip is named 'run'", "wave"],
    );
    refused(
        &put(&model, &clip, &out, &["--skeleton", "1"]),
        &out,
        &["number 1"],
    );
    refused(
        &put(&plain, &clip, &out, &[]),
        &out,
        &["no humanoid skeleton", "sinew describe"],
    );
    refused(
        &put(&model, &plain, &out, &[]),
        &out,
        &["no clips in this file"],
    );
    refused(
        &put(&model, &bench.path("none.glb"), &out, &[]),
        &out,
        &["none.glb"],
    );
    let obj = bench.path("out.obj");
    misused(&put(&model, &clip, &obj, &[]), &obj, &["out.obj"]);
    // Other formats are sent where they are taken.
    let bvh = bench.write("walk.bvh", "HIERARCHY");
    let usd = bench.write("hero.usda", "#usda 1.0");
    let elsewhere = ["takes .gltf", "sinew retarget"];
    refused(&put(&model, &bvh, &out, &[]), &out, &elsewhere);
    refused(&put(&usd, &clip, &out, &[]), &out, &elsewhere);
    refused(&describe(&usd, &[]), &out, &elsewhere);
    for input in [&model, &clip] {
        let before = std::fs::read(input).unwrap();
        let output = put(&model, &clip, input, &[]);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            stderr(&output).contains("it is one of the input files"),
            "{}",
            stderr(&output)
        );
        assert_eq!(std::fs::read(input).unwrap(), before);
    }
    let map = bench.write("map.json", r#"{"hips": "hips", "tail": "head"}"#);
    let more = ["--map", map.to_str().unwrap(), "-o", out.to_str().unwrap()];
    refused(&describe(&plain, &more), &out, &["map.json", "tail"]);
    bench.write("map.json", r#"{"hips": "Bip01"}"#);
    refused(
        &describe(&plain, &more),
        &out,
        &["map.json", "hips", "Bip01"],
    );
    // Head and hips swapped: the extension's own rule refuses it.
    bench.write("map.json", r#"{"hips": "head", "head": "hips"}"#);
    refused(&describe(&plain, &more), &out, &["humanoidBones"]);
    let described = ["-o", out.to_str().unwrap()];
    refused(
        &describe(&model, &described),
        &out,
        &["already has EXT_skeleton_humanoid"],
    );
    assert_eq!(run(&[&model], &[]).status.code(), Some(2));
}

/// By names, by a map and from VRM: the file reads back with that skeleton, and clips apply.
#[test]
fn a_described_model_takes_clips() {
    let bench = Bench::new();
    let mut mannequin = Mannequin::new();
    let names = [
        (Bone::Hips, "mixamorig:Hips"),
        (Bone::Spine, "mixamorig:Spine"),
    ];
    let plain = mannequin.gltf.write(bench.folder.path(), "plain.gltf");
    let out = bench.path("described.glb");
    let described = describe(&plain, &["-o", out.to_str().unwrap()]);
    assert!(described.status.success(), "{}", stderr(&described));
    let asset = gltf::read(&out).unwrap();
    assert_eq!(asset.humanoids[0].bones, mannequin.nodes);
    // All bones hang from the hips, so the hips are their lowest common ancestor.
    assert_eq!(asset.humanoids[0].root, Some(mannequin.nodes[&Bone::Hips]));
    keeps(&json_of(&plain), &json_of(&out));
    let clip = bone_clip(&[Bone::Head]).write(bench.folder.path(), "clip.glb");
    let done = put(&out, &clip, &bench.path("moved.glb"), &[]);
    assert!(done.status.success(), "{}", stderr(&done));
    // Without OUT it is printed.
    let printed = describe(&plain, &[]);
    let json: Value = serde_json::from_str(&stdout(&printed)).unwrap();
    assert_eq!(
        json["humanoidSkeletons"][0]["humanoidBones"],
        mannequin.bone_map()
    );
    // By a map, name or index.
    for (bone, name) in names {
        mannequin.gltf.json["nodes"][mannequin.nodes[&bone]]["name"] = json!(name);
    }
    let other = mannequin.gltf.write(bench.folder.path(), "other.glb");
    let head = mannequin.nodes[&Bone::Head];
    let text =
        format!(r#"{{"hips": "mixamorig:Hips", "spine": "mixamorig:Spine", "head": {head}}}"#);
    let map = bench.write("map.json", text);
    let more = ["--map", map.to_str().unwrap(), "-o", out.to_str().unwrap()];
    let described = describe(&other, &more);
    assert!(described.status.success(), "{}", stderr(&described));
    let found = gltf::read(&out).unwrap();
    let bones: Vec<Bone> = found.humanoids[0].bones.keys().copied().collect();
    assert_eq!(bones, [Bone::Hips, Bone::Spine, Bone::Head]);
    assert!(
        stdout(&described).contains("3 bones, by the map"),
        "{}",
        stdout(&described)
    );
}

/// A VRM 0.x file and its VRM 1.0 twin from the same mannequin, and a .vrma of its own: through the readers.
#[test]
fn vrm_files_of_both_versions_move_alike() {
    let bench = Bench::new();
    let build = |turn: f64| Build {
        axes: Axes::World,
        root: DMat4::from_rotation_y(turn),
        ..Build::default()
    };
    let mut one = build(0.0).make();
    let bones = one.vrm_bones();
    one.gltf.extension(
        "VRMC_vrm",
        json!({ "specVersion": "1.0", "humanoid": { "humanBones": bones } }),
    );
    let one = one.gltf.write(bench.folder.path(), "one.vrm");
    let mut source = Mannequin::new();
    let bones = source.vrm_bones();
    source.gltf.extension(
        "VRMC_vrm_animation",
        json!({ "specVersion": "1.0", "humanoid": { "humanBones": bones } }),
    );
    let walk = source.gltf.animation("walk");
    let rng = &mut Rng::new(12);
    for bone in [
        Bone::Hips,
        Bone::Chest,
        Bone::LeftUpperArm,
        Bone::RightLowerLeg,
    ] {
        let keys: Vec<f32> = (0..2)
            .flat_map(|_| rotation(rng).to_array().map(|v| v as f32))
            .collect();
        let curve = source.gltf.curve("LINEAR", &[0.0, 2.0], "VEC4", &keys);
        source.gltf.channel(
            walk,
            curve,
            json!({ "node": source.nodes[&bone], "path": "rotation" }),
        );
    }
    let curve = source.gltf.curve(
        "LINEAR",
        &[0.0, 2.0],
        "VEC3",
        &[0.0, 0.95, 0.0, 0.3, 1.05, 1.0],
    );
    source.gltf.channel(
        walk,
        curve,
        json!({ "node": source.nodes[&Bone::Hips], "path": "translation" }),
    );
    let clip = source.gltf.write(bench.folder.path(), "walk.vrma");
    let mut zero = build(std::f64::consts::PI).make();
    let list: Vec<Value> = zero
        .nodes
        .iter()
        .filter(|(b, _)| !b.name().contains("Thumb"))
        .map(|(b, n)| json!({ "bone": b.name(), "node": n }))
        .collect();
    zero.gltf.extension(
        "VRM",
        json!({ "specVersion": "0.0", "humanoid": { "humanBones": list } }),
    );
    let zero = zero.gltf.write(bench.folder.path(), "zero.vrm");
    let moved = [&one, &zero].map(|model| {
        let out = model.with_extension("moved.glb");
        let output = put(model, &clip, &out, &[]);
        assert!(output.status.success(), "{}", stderr(&output));
        gltf::read(&out).unwrap()
    });
    let place = |asset: &Asset, bone: Bone, time: f64| {
        let figure = common::figure::Figure {
            asset: asset.clone(),
        };
        figure
            .world(&asset.clips[0], figure.at(bone), time)
            .w_axis
            .truncate()
    };
    let half_turn = DQuat::from_rotation_y(std::f64::consts::PI);
    for bone in [Bone::Hips, Bone::Head, Bone::LeftHand, Bone::RightFoot] {
        for time in times() {
            let [a, b] = [&moved[0], &moved[1]].map(|asset| place(asset, bone, time));
            assert!(
                b.abs_diff_eq(half_turn * a, tolerance::TURNED_FIGURE),
                "{bone} at {time}: {a} {b}"
            );
        }
    }
}

/// The best guess at an unknown rig is a map as it stands.
#[test]
fn the_guess_for_unknown_names_is_a_map() {
    let bench = Bench::new();
    let mut mannequin = Mannequin::new();
    for node in mannequin.nodes.values() {
        mannequin.gltf.json["nodes"][*node]["name"] = json!("");
    }
    let model = mannequin.gltf.write(bench.folder.path(), "nameless.glb");
    let out = bench.path("out.glb");
    let more = ["-o", out.to_str().unwrap()];
    let output = describe(&model, &more);
    refused(&output, &out, &["no human body", "--map"]);
    let text = stderr(&output);
    let guess = &text[text.find('{').unwrap()..=text.rfind('}').unwrap()];
    let map = bench.write("map.json", guess);
    let output = describe(
        &model,
        &[&more[..], &["--map", map.to_str().unwrap()]].concat(),
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let found = &gltf::read(&out).unwrap().humanoids[0].bones;
    assert!(found.len() >= 15);
    assert_eq!(
        found[&Bone::LeftUpperLeg],
        mannequin.nodes[&Bone::LeftUpperLeg]
    );
}
