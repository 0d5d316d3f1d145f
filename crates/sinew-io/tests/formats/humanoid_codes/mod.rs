//! EXT_skeleton_humanoid: every code at its place, on files of our own, and none on good ones.

mod pose;

use std::path::Path;

use common::document::Document;
use common::gltf_maker::GltfMaker;
use common::mannequin::{Axes, Build, Mannequin};
use common::{fixture, rows};
use glam::{DMat4, DQuat, DVec3};
use serde_json::{Value, json};
use sinew_animate::asset::{Asset, Keys, TrackTarget};
use sinew_animate::retarget::Bone;
use sinew_io::gltf::extensions::{FindingSeverity, humanoid};

const SKELETON: &str = "extensions.EXT_skeleton_humanoid.humanoidSkeletons[0]";

fn read(bytes: &[u8]) -> sinew_io::Result<Asset> {
    sinew_io::gltf::read_bytes(bytes, Path::new("made.glb"))
}

/// Codes and locations of an asset's warnings.
fn warnings(asset: &Asset) -> Vec<(&'static str, &str)> {
    let warnings = asset.warnings.iter();
    warnings.map(|w| (w.code, w.path.as_str())).collect()
}

/// Codes and locations of the validator's findings.
fn findings(json: &Value) -> Vec<(&'static str, String)> {
    let found = humanoid::validate(json).into_iter();
    found.map(|f| (f.code, f.location)).collect()
}

/// The severity that `sinew check` gives a code.
fn severity(code: &str) -> sinew_check::Severity {
    sinew_check::code(code).expect(code).severity
}

/// The validator and the reader find the same errors, and `sinew check` knows their codes.
#[test]
fn the_table() {
    rows::check(&fixture("humanoid.txt"), |row| {
        let findings = humanoid::validate(&row.json);
        let errors: Vec<_> = findings
            .iter()
            .filter(|f| f.severity == FindingSeverity::Error)
            .map(|f| (f.code, f.location.as_str()))
            .collect();
        let error = row.error.iter().map(|e| (&*e.code, &*e.place));
        assert_eq!(errors, error.collect::<Vec<_>>(), "{}", row.at);
        for (code, _) in errors {
            assert_eq!(severity(code), sinew_check::Severity::Error, "{code}");
        }
        for warning in &row.warnings {
            let found = severity(&warning.code);
            assert_eq!(found, sinew_check::Severity::Warning, "{}", warning.code);
        }
        read(&row.bytes)
    });
}

#[test]
fn a_good_file() {
    let mut file = Document::fixture("humanoid.gltf");
    let asset = read(&file.glb()).unwrap();
    let [humanoid] = &asset.humanoids[..] else {
        panic!("{:?}", asset.humanoids)
    };
    assert_eq!((&*humanoid.location, humanoid.root), (SKELETON, Some(0)));
    for bone in Bone::ALL {
        let node = asset.nodes.iter().position(|n| n.name == bone.name());
        assert_eq!(humanoid.bones.get(bone), node.as_ref(), "{bone}");
    }
    let targets: Vec<_> = asset.clips[0].tracks.iter().map(|t| &t.target).collect();
    let bones = [Bone::Neck, Bone::LeftUpperArm].map(TrackTarget::Bone);
    assert_eq!(targets, bones.each_ref());

    // A channel's bone goes before its node.
    file.set("/animations/0/channels/1/target/node", json!(0));
    let asset = read(&file.glb()).unwrap();
    assert_eq!(asset.clips[0].tracks[1].target, bones[1]);

    // Channels that do not turn are kept.
    let times = file.accessor("f32", "SCALAR", &[0.0]);
    let values = file.accessor("f32", "VEC3", &[1.0, 2.0, 3.0]);
    let sampler = json!({ "input": times, "output": values });
    let channel = |sampler: usize, bone: &str, path: &str| {
        let bone = json!({ "EXT_skeleton_humanoid": { "humanoidBoneName": bone } });
        json!({ "sampler": sampler, "target": { "path": path, "extensions": bone } })
    };
    let channels = [
        channel(0, "hips", "translation"),
        channel(1, "head", "scale"),
    ];
    let clip = json!({ "samplers": [sampler, sampler], "channels": channels });
    file.push("animations", clip);
    let asset = read(&file.glb()).unwrap();
    let kept = asset.clips[1].tracks.iter();
    let kept: Vec<_> = kept.map(|t| (&t.target, &t.curve.keys)).collect();
    let value = vec![DVec3::new(1.0, 2.0, 3.0)];
    let (hips, head) = (TrackTarget::Bone(Bone::Hips), TrackTarget::Bone(Bone::Head));
    let (moved, scaled) = (Keys::Translation(value.clone()), Keys::Scale(value));
    assert_eq!(kept, [(&hips, &moved), (&head, &scaled)]);

    // The schema's layout: one skeleton in place of a list. The schema forgets the chest.
    let skeleton = file.json["extensions"]["EXT_skeleton_humanoid"]["humanoidSkeletons"][0].take();
    file.set("/extensions/EXT_skeleton_humanoid", skeleton);
    let found = read(&file.glb()).unwrap().humanoids.remove(0);
    assert_eq!(found.location, "extensions.EXT_skeleton_humanoid");
    assert_eq!(found.bones, asset.humanoids[0].bones);
    assert!(found.bones.contains_key(&Bone::Chest));
}

/// Everything that the text allows.
#[test]
fn good_characters_give_no_finding() {
    let sparse = [
        Bone::Hips,
        Bone::Chest,
        Bone::Neck,
        Bone::LeftLowerArm,
        Bone::LeftHand,
    ];
    let arm = vec![Bone::LeftUpperArm, Bone::LeftLowerArm, Bone::LeftHand];
    let turned = DMat4::from_rotation_y(1.0) * DMat4::from_scale(DVec3::splat(3.0));
    let hundredth = DMat4::from_scale_rotation_translation(
        DVec3::splat(0.01),
        DQuat::IDENTITY,
        DVec3::new(3.0, 0.0, -2.0),
    );
    let with = |change: &dyn Fn(&mut Build)| {
        let mut build = Build::default();
        change(&mut build);
        build.make().with_humanoid()
    };
    for (name, made) in [
        ("missing bones", with(&|b| b.bones = sparse.to_vec())),
        ("one bone", with(&|b| b.bones = vec![Bone::Jaw])),
        ("spacer nodes", with(&|b| b.spacers = Some(false))),
        ("spacer joints", with(&|b| b.spacers = Some(true))),
        ("two skins", with(&|b| b.second_skin = arm.clone())),
        (
            "a bind space of its own",
            with(&|b| {
                b.second_skin = arm.clone();
                b.bind_from_scene = [turned, DMat4::IDENTITY];
            }),
        ),
        (
            "a scaled root",
            with(&|b| (b.root, b.size) = (hundredth, 100.0)),
        ),
    ] {
        assert_eq!(findings(&made.gltf.json), [], "{name}");
        let asset = read(&made.gltf.glb()).expect(name);
        assert_eq!(warnings(&asset), [], "{name}");
        assert_eq!(asset.humanoids[0].bones, made.nodes, "{name}");
    }

    // Clips may come without any skeleton, and files without the extension are no matter of it.
    let mut clips = GltfMaker::new();
    clips.node(None, json!({ "name": "nothing" }));
    assert_eq!(findings(&clips.json), []);
    let clip = clips.animation("nod");
    let turn = [DQuat::IDENTITY, DQuat::from_rotation_x(0.5)];
    clips.bone_channel(clip, "neck", &[0.0, 1.0], &turn);
    assert_eq!(warnings(&read(&clips.glb()).unwrap()), []);
}

#[test]
fn several_skeletons_in_one_file() {
    let one = Mannequin::new();
    let first = one.humanoid_skeleton();
    let two = Build {
        axes: Axes::Bone,
        size: 0.5,
        ..Build::default()
    };
    let two = two.add_to(one.gltf);
    let skeletons = json!([first, two.humanoid_skeleton()]);
    let mut gltf = two.gltf;
    gltf.extension(
        "EXT_skeleton_humanoid",
        json!({ "humanoidSkeletons": skeletons }),
    );
    let asset = read(&gltf.glb()).unwrap();
    assert_eq!(warnings(&asset), []);
    let [a, b] = &asset.humanoids[..] else {
        panic!("{:?}", asset.humanoids)
    };
    assert_eq!((&a.bones, &b.bones), (&one.nodes, &two.nodes));
    let at = "extensions.EXT_skeleton_humanoid.humanoidSkeletons[1]";
    assert_eq!(b.location, at);

    // A bone of the other character is not below this one's root.
    let list = &mut gltf.json["extensions"]["EXT_skeleton_humanoid"]["humanoidSkeletons"];
    list[1]["humanoidBones"]["jaw"] = json!(one.nodes[&Bone::Jaw]);
    let expected = [
        ("ROOT_NOT_ANCESTOR", format!("{at}.rootNode")),
        ("HIERARCHY", format!("{at}.humanoidBones.jaw")),
    ];
    assert_eq!(findings(&gltf.json), expected);
    let message = humanoid::validate(&gltf.json)[0].message();
    assert!(message.contains("jaw"), "{message}");
}

/// The text's own example: chest between hips and spine.
#[test]
fn every_bone_out_of_order_is_a_finding() {
    let mut file = Document::fixture("humanoid.gltf");
    let bones = "/extensions/EXT_skeleton_humanoid/humanoidSkeletons/0/humanoidBones";
    file.set(&format!("{bones}/spine"), json!(3));
    file.set(&format!("{bones}/chest"), json!(2));
    let at = |name: &str| ("HIERARCHY", format!("{SKELETON}.humanoidBones.{name}"));
    let expected = ["spine", "chest", "upperChest"].map(at);
    assert_eq!(findings(&file.json), expected);
}

#[test]
fn hostile_shapes_are_findings_and_nothing_worse() {
    let good = Document::fixture("humanoid.gltf");
    // Nodes in a circle, bones in it: the spine has the hips as a child.
    let mut circle = good.clone();
    circle.set("/nodes/2/children", json!([1]));
    assert!(!findings(&circle.json).is_empty());
    assert!(read(&circle.glb()).is_err());

    // Everything of a wrong type.
    let wrong = [
        json!(null),
        json!(1),
        json!("x"),
        json!([]),
        json!([[]]),
        json!({ "a": 1 }),
    ];
    for pointer in good.pointers() {
        let is_of_interest = ["/nodes", "/skins", "/animations", "/extensions"]
            .iter()
            .any(|p| pointer.starts_with(p));
        // One bone is like another.
        if !is_of_interest || pointer.contains("/humanoidBones/") || pointer.starts_with("/nodes/")
        {
            continue;
        }
        for wrong in &wrong {
            let mut file = good.clone();
            file.set(&pointer, wrong.clone());
            let _ = findings(&file.json);
            let _ = read(&file.glb());
        }
    }
}

/// Many skeletons over a deep chain take no longer than they are many.
#[test]
fn many_skeletons_over_a_deep_chain() {
    let deep = 20_000;
    let node = |i: usize| match i + 1 < deep {
        true => json!({ "children": [i + 1] }),
        false => json!({}),
    };
    let bones = json!({ "hips": deep - 2, "spine": deep - 1 });
    let skeleton = json!({ "rootNode": 0, "humanoidBones": bones });
    let json = json!({
        "asset": { "version": "2.0" },
        "nodes": (0..deep).map(node).collect::<Vec<_>>(),
        "skins": [{ "joints": (0..deep).collect::<Vec<_>>() }],
        "extensionsUsed": ["EXT_skeleton_humanoid"],
        "extensions": { "EXT_skeleton_humanoid": {
            "humanoidSkeletons": vec![skeleton; deep],
        } },
    });
    let (found, took) = common::processor::spent(|| findings(&json));
    assert_eq!(found, []);
    assert!(took.as_secs() < 20, "{took:?}");
}
