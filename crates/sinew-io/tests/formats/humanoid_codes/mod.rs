//! EXT_skeleton_humanoid: every code at its place, on files of our own, and none on good ones.

mod channels;
mod made;
mod pose;
mod skeletons;

use common::gltf_maker::GltfMaker;
use common::mannequin::{Axes, Build, Mannequin};
use glam::{DMat4, DQuat, DVec3};
use made::{
    EXTENSION, SKELETON, add_clip, expect_error, expect_warnings, good, read, skeleton, validate,
    warnings,
};
use serde_json::{Value, json};
use sinew_animate::asset::TrackTarget;
use sinew_animate::retarget::Bone;

#[test]
fn good_files_give_no_finding() {
    let made = good();
    assert_eq!(validate(&made.gltf), []);
    let asset = expect_warnings(&made.gltf, &[]);
    assert_eq!(asset.humanoids.len(), 1);
    let humanoid = &asset.humanoids[0];
    assert_eq!(
        (humanoid.location.as_str(), humanoid.root),
        (SKELETON, Some(made.root))
    );
    assert_eq!(humanoid.bones, made.nodes);
    let targets: Vec<_> = asset.clips[0].tracks.iter().map(|t| &t.target).collect();
    assert_eq!(
        targets,
        [
            &TrackTarget::Bone(Bone::Neck),
            &TrackTarget::Bone(Bone::LeftUpperArm)
        ]
    );

    // Everything that the text allows.
    let sparse = [
        Bone::Hips,
        Bone::Chest,
        Bone::Neck,
        Bone::LeftLowerArm,
        Bone::LeftHand,
    ];
    let arm = [Bone::LeftUpperArm, Bone::LeftLowerArm, Bone::LeftHand];
    let turned = DMat4::from_rotation_y(1.0) * DMat4::from_scale(DVec3::splat(3.0));
    for (name, build) in [
        (
            "missing bones",
            Build {
                bones: sparse.to_vec(),
                ..Build::default()
            },
        ),
        (
            "one bone",
            Build {
                bones: vec![Bone::Jaw],
                ..Build::default()
            },
        ),
        (
            "spacer nodes",
            Build {
                spacers: Some(false),
                ..Build::default()
            },
        ),
        (
            "spacer joints",
            Build {
                spacers: Some(true),
                ..Build::default()
            },
        ),
        (
            "two skins",
            Build {
                second_skin: arm.to_vec(),
                ..Build::default()
            },
        ),
        (
            "a bind space of its own",
            Build {
                second_skin: arm.to_vec(),
                bind_from_scene: [turned, DMat4::IDENTITY],
                ..Build::default()
            },
        ),
        (
            "a scaled root",
            Build {
                root: DMat4::from_scale_rotation_translation(
                    DVec3::splat(0.01),
                    DQuat::IDENTITY,
                    DVec3::new(3.0, 0.0, -2.0),
                ),
                size: 100.0,
                ..Build::default()
            },
        ),
    ] {
        let made = build.make().with_humanoid();
        assert_eq!(validate(&made.gltf), [], "{name}");
        let asset = read(&made.gltf).expect(name);
        assert_eq!(warnings(&asset), [], "{name}");
        assert_eq!(asset.humanoids[0].bones, made.nodes, "{name}");
    }

    // The root may be the hips themselves.
    let mut made = good();
    let hips = made.nodes[&Bone::Hips];
    skeleton(&mut made).insert("rootNode".into(), json!(hips));
    assert_eq!(validate(&made.gltf), []);

    // Clips may come without any skeleton, and files without the extension are no matter of it.
    let mut clips = GltfMaker::new();
    clips.node(None, json!({ "name": "nothing" }));
    assert_eq!(validate(&clips), []);
    add_clip(&mut clips);
    expect_warnings(&clips, &[]);
}

#[test]
fn several_skeletons_in_one_file() {
    let one = Mannequin::new();
    let first = one.humanoid_skeleton();
    let two = Build {
        axes: Axes::Bone,
        size: 0.5,
        ..Build::default()
    }
    .add_to(one.gltf);
    let second = two.humanoid_skeleton();
    let mut gltf = two.gltf.clone();
    gltf.extension(EXTENSION, json!({ "humanoidSkeletons": [first, second] }));
    let asset = expect_warnings(&gltf, &[]);
    assert_eq!(asset.humanoids.len(), 2);
    assert_eq!(asset.humanoids[0].bones, one.nodes);
    assert_eq!(asset.humanoids[1].bones, two.nodes);
    assert_eq!(
        asset.humanoids[1].location,
        "extensions.EXT_skeleton_humanoid.humanoidSkeletons[1]"
    );

    // A bone of the other character is not below this one's root.
    let mut mixed = gltf.clone();
    let list = &mut mixed.json["extensions"][EXTENSION]["humanoidSkeletons"];
    list[1]["humanoidBones"]["jaw"] = json!(one.nodes[&Bone::Jaw]);
    let findings = validate(&mixed);
    let at = "extensions.EXT_skeleton_humanoid.humanoidSkeletons[1]";
    let found: Vec<_> = findings
        .iter()
        .map(|f| (f.code, f.location.clone()))
        .collect();
    assert_eq!(
        found,
        [
            ("ROOT_NOT_ANCESTOR", format!("{at}.rootNode")),
            ("HIERARCHY", format!("{at}.humanoidBones.jaw")),
        ]
    );
    assert!(findings[0].message().contains("jaw"), "{}", findings[0]);
}

#[test]
fn one_skeleton_layout_of_the_schema() {
    let mut made = Mannequin::new();
    let skeleton = made.humanoid_skeleton();
    made.gltf.extension(EXTENSION, skeleton);
    let list = "extensions.EXT_skeleton_humanoid.humanoidSkeletons";
    let asset = expect_warnings(&made.gltf, &[("ONE_SKELETON_LAYOUT", list)]);
    assert_eq!(
        asset.humanoids[0].location,
        "extensions.EXT_skeleton_humanoid"
    );
    assert_eq!(asset.humanoids[0].bones, made.nodes);
    assert!(
        asset.humanoids[0].bones.contains_key(&Bone::Chest),
        "the schema forgets it"
    );

    // It is held to the same rules.
    let map = &mut made.gltf.json["extensions"][EXTENSION];
    map["humanoidBones"]["spline"] = json!(1);
    let at = "extensions.EXT_skeleton_humanoid.humanoidBones.spline";
    expect_error(&made.gltf, "BONE_NAME_UNKNOWN", at);
    let map = made.gltf.json["extensions"][EXTENSION].as_object_mut();
    map.expect("an object").remove("humanoidBones");
    let at = "extensions.EXT_skeleton_humanoid.humanoidBones";
    expect_error(&made.gltf, "BONES_MISSING", at);
}

#[test]
fn hostile_shapes_are_findings_and_nothing_worse() {
    // Nodes in a circle, bones in it.
    let mut made = good();
    let (hips, spine) = (made.nodes[&Bone::Hips], made.nodes[&Bone::Spine]);
    made.gltf.json["nodes"][spine]["children"] = json!([hips]);
    assert!(!validate(&made.gltf).is_empty());
    assert!(read(&made.gltf).is_err());

    // Everything of a wrong type.
    for wrong in [
        json!(null),
        json!(1),
        json!("x"),
        json!([]),
        json!([[]]),
        json!({ "a": 1 }),
    ] {
        for pointer in [
            "/nodes",
            "/skins",
            "/skins/0",
            "/skins/0/joints",
            "/animations",
            "/animations/0",
            "/animations/0/channels",
            "/animations/0/channels/0",
            "/animations/0/channels/0/target",
            "/animations/0/channels/0/target/extensions",
            "/extensions",
            "/extensionsUsed",
            "/extensions/EXT_skeleton_humanoid",
            "/extensions/EXT_skeleton_humanoid/humanoidSkeletons",
            "/extensions/EXT_skeleton_humanoid/humanoidSkeletons/0",
        ] {
            let mut made = good();
            *made.gltf.json.pointer_mut(pointer).expect(pointer) = wrong.clone();
            let _ = validate(&made.gltf);
            let _ = read(&made.gltf);
        }
    }

    // Many skeletons over a deep chain take no longer than they are many.
    let mut gltf = GltfMaker::new();
    let deep = 20_000;
    let nodes: Vec<Value> = (0..deep)
        .map(|i| {
            if i + 1 < deep {
                json!({ "children": [i + 1] })
            } else {
                json!({})
            }
        })
        .collect();
    gltf.json["nodes"] = json!(nodes);
    gltf.json["skins"] = json!([{ "joints": (0..deep).collect::<Vec<_>>() }]);
    let skeleton =
        json!({ "rootNode": 0, "humanoidBones": { "hips": deep - 2, "spine": deep - 1 } });
    gltf.extension(
        EXTENSION,
        json!({ "humanoidSkeletons": vec![skeleton; 20_000] }),
    );
    let (found, took) = common::processor::spent(|| validate(&gltf));
    assert_eq!(found, []);
    assert!(took.as_secs() < 20, "{took:?}");
}
