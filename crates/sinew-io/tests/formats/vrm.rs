//! VRM 1.0, VRM 0.x and VRM Animation: what is read of good files, and that broken ones do no harm.

use std::path::Path;

use common::document::Document;
use common::rng::Rng;
use common::{fixture, rows, tolerance};
use glam::DVec3;
use serde_json::json;
use sinew_animate::asset::{
    Asset, AssetFormat, CurveInterpolation, Keys, MorphBind, Track, TrackTarget,
};
use sinew_animate::retarget::Bone;
use sinew_io::gltf;

fn read(file: &Document, name: &str) -> Asset {
    gltf::read_bytes(&file.glb(), Path::new(name)).unwrap()
}

/// Broken files, doubtful ones, and what is warned of in good ones.
#[test]
fn the_table() {
    let table = fixture("vrm.txt");
    rows::check(&table, |row| gltf::read_bytes(&row.bytes, &row.name));
}

/// Every bone of the fixtures is the node of its name.
fn every_bone_is_its_node(asset: &Asset) {
    let [humanoid] = &asset.humanoids[..] else {
        panic!("{:?}", asset.humanoids)
    };
    for bone in Bone::ALL {
        let node = asset.nodes.iter().position(|n| n.name == bone.name());
        assert_eq!(humanoid.bones.get(bone), node.as_ref(), "{bone}");
    }
}

/// An expression: its name, whether it is binary, and targets of the body with their weights.
type Expression<'a> = (&'a str, bool, Vec<(usize, f32)>);

fn expressions(asset: &Asset) -> Vec<Expression<'_>> {
    let all = asset.expressions.iter().map(|e| {
        let bind = |b: &MorphBind| {
            assert_eq!(b.mesh, 0);
            (b.target, b.weight)
        };
        (&*e.name, e.is_binary, e.binds.iter().map(bind).collect())
    });
    all.collect()
}

#[test]
fn vrm_1() {
    let mut file = Document::fixture("vrm1.gltf");
    let asset = read(&file, "made.vrm");
    assert_eq!(asset.format, AssetFormat::Vrm1);
    every_bone_is_its_node(&asset);
    let at = "extensions.VRMC_vrm.humanoid.humanBones";
    assert_eq!(asset.humanoids[0].location, at);
    let expected = [
        ("blink", true, vec![(1, 1.0)]),
        ("happy", false, vec![(0, 1.0), (1, 0.25)]),
        ("neutral", false, vec![]),
        ("puff", false, vec![(0, 0.5)]),
    ];
    assert_eq!(expressions(&asset), expected);
    // A preset goes before a custom expression of its name.
    let custom = "/extensions/VRMC_vrm/expressions/custom";
    file.set(&format!("{custom}/happy"), json!({}));
    assert_eq!(expressions(&read(&file, "made.vrm")), expected);
    // A file of both versions is the newer one's, of neither plain glTF.
    file.set("/extensions/VRM", json!("whatever"));
    assert_eq!(read(&file, "made.vrm").format, AssetFormat::Vrm1);
    file.remove("/extensions");
    assert_eq!(read(&file, "made.vrm").format, AssetFormat::Gltf);
}

#[test]
fn vrm_0() {
    let asset = read(&Document::fixture("vrm0.gltf"), "made.vrm");
    assert_eq!(asset.format, AssetFormat::Vrm0);
    // The thumbs come out under VRM 1.0's names.
    every_bone_is_its_node(&asset);
    let expected = [
        ("neutral", false, vec![]),
        ("aa", false, vec![(0, 1.0)]),
        ("happy", false, vec![(0, 1.0), (1, 0.25)]),
        ("sad", false, vec![(1, 1.0)]),
        ("relaxed", false, vec![]),
        ("blinkLeft", false, vec![(1, 0.5)]),
        ("lookUp", false, vec![]),
        ("Puff", false, vec![(0, 0.5)]),
    ];
    assert_eq!(expressions(&asset), expected);
}

#[test]
fn vrm_animation() {
    let asset = read(&Document::fixture("vrma.gltf"), "made.vrma");
    assert_eq!(asset.format, AssetFormat::Vrma);
    // There are no eyes.
    every_bone_is_its_node(&asset);
    // The gaze is left out.
    let [arm, hips, happy, puff] = &asset.clips[0].tracks[..] else {
        panic!("{:?}", asset.clips[0].tracks);
    };
    let bones = &asset.humanoids[0].bones;
    assert_eq!(arm.target, TrackTarget::Node(bones[&Bone::LeftUpperArm]));
    assert_eq!(hips.target, TrackTarget::Node(bones[&Bone::Hips]));
    assert!(matches!(&hips.curve.keys, Keys::Translation(v) if v[1] == DVec3::new(0.0, 1.5, 0.0)));
    let weights = |track: &Track| match &track.curve.keys {
        Keys::Weights { count: 1, values } => {
            let hundredths = values.iter().map(|v| (v * 100.0).round());
            hundredths.collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(happy.target, TrackTarget::Expression("happy".into()));
    assert_eq!(happy.curve.interpolation, CurveInterpolation::Step);
    assert_eq!(weights(happy), [25.0, 75.0]);
    assert_eq!(puff.target, TrackTarget::Expression("puff".into()));
    let with_tangents = [0.0, 10.0, 20.0, 30.0, 40.0, 50.0];
    assert_eq!(weights(puff), with_tangents);
    let end = puff.curve.weight(0, 1.0).unwrap();
    assert!((end - 0.4).abs() < tolerance::FEW_ROUNDINGS);
}

/// An eye that is named as a bone is none, the spine does not move, and the gaze's node is a plain one without `lookAt`.
#[test]
fn vrm_animation_leaves_out_what_it_may_not_move() {
    let mut file = Document::fixture("vrma.gltf");
    let eye = file.push("nodes", json!({ "name": "leftEye" }));
    file.set("/nodes/6/children/-", json!(eye));
    let animation = "/extensions/VRMC_vrm_animation";
    let bone = format!("{animation}/humanoid/humanBones/leftEye");
    file.set(&bone, json!({ "node": eye }));
    file.remove(&format!("{animation}/lookAt"));
    // A translation of the spine.
    let times = file.accessor("f32", "SCALAR", &[0.0]);
    let places = file.accessor("f32", "VEC3", &[0.0, 0.2, 0.0]);
    let sampler = json!({ "input": times, "output": places });
    file.set("/animations/0/samplers/-", sampler);
    let target = json!({ "node": 2, "path": "translation" });
    let channel = json!({ "sampler": 5, "target": target });
    file.set("/animations/0/channels/-", channel);
    let asset = read(&file, "made.vrma");
    assert!(!asset.humanoids[0].bones.contains_key(&Bone::LeftEye));
    assert_eq!(asset.clips[0].tracks.len(), 5);
}

#[test]
fn scrambled_files_are_told_not_followed() {
    let mut rng = Rng::new(20_261_121);
    let (mut refused, mut read) = (0, 0);
    for (fixture, name) in [
        ("vrm1.gltf", "made.vrm"),
        ("vrm0.gltf", "made.vrm"),
        ("vrma.gltf", "made.vrma"),
        ("humanoid.gltf", "made.glb"),
    ] {
        let good = Document::fixture(fixture);
        // What these extensions say, and what they point to.
        let mut all = good.pointers();
        let binary = ["/accessors", "/bufferViews"];
        all.retain(|p| !p.is_empty() && !binary.iter().any(|b| p.starts_with(b)));
        for _ in 0..400 {
            let mut file = good.clone();
            for _ in 0..=rng.below(2) {
                let value = match rng.below(8) {
                    0 => json!(null),
                    1 => json!(-1),
                    2 => json!(rng.below(60)),
                    3 => json!(1e300),
                    4 => json!("leftHand"),
                    5 => json!([]),
                    6 => json!({}),
                    _ => json!([{ "node": rng.below(60) }]),
                };
                let pointer = &all[rng.below(all.len())];
                if let Some(place) = file.json.pointer_mut(pointer) {
                    *place = value;
                }
            }
            match gltf::read_bytes(&file.glb(), Path::new(name)) {
                Ok(_) => read += 1,
                Err(sinew_io::Error::Invalid(invalid)) => {
                    assert!(!invalid.prim.is_empty(), "{invalid}");
                    assert!(invalid.file.is_some(), "{invalid}");
                    refused += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
    let enough = refused > 400 && read > 100;
    assert!(enough, "{refused} refused, {read} read");
}
