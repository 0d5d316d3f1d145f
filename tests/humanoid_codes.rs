//! EXT_skeleton_humanoid: every code at its place, on files of our own, and none on good ones.

mod common;

use std::path::Path;

use common::gltf_maker::{GltfMaker, bone_target};
use common::mannequin::{Axes, Build, Mannequin};
use glam::{DMat4, DQuat, DVec3};
use serde_json::{Value, json};
use sinew::asset::{Asset, Keys, Target};
use sinew::io::gltf::extensions::{HumanoidFinding, Severity, humanoid};
use sinew::retarget::Bone;

const EXTENSION: &str = "EXT_skeleton_humanoid";
const SKELETON: &str = "extensions.EXT_skeleton_humanoid.humanoidSkeletons[0]";

fn validate(gltf: &GltfMaker) -> Vec<HumanoidFinding> {
    humanoid::validate(&gltf.json)
}

fn read(gltf: &GltfMaker) -> sinew::Result<Asset> {
    sinew::io::gltf::read_bytes(&gltf.glb(), Path::new("made.glb"))
}

/// Codes and locations of an asset's warnings.
fn warnings(asset: &Asset) -> Vec<(&'static str, &str)> {
    let warnings = asset.warnings.iter();
    warnings.map(|w| (w.code, w.path.as_str())).collect()
}

/// A good file with a clip of two bones.
fn good() -> Mannequin {
    let mut made = Mannequin::new().with_humanoid();
    add_clip(&mut made.gltf);
    made
}

fn add_clip(gltf: &mut GltfMaker) {
    let clip = gltf.animation("nod");
    let turn = [DQuat::IDENTITY, DQuat::from_rotation_x(0.5)];
    gltf.bone_channel(clip, "neck", &[0.0, 1.0], &turn);
    gltf.bone_channel(clip, "leftUpperArm", &[0.0, 1.0], &turn);
}

/// One error of that code at that place, both from the validator and from the reader.
#[track_caller]
fn expect_error(gltf: &GltfMaker, code: &str, location: &str) {
    let findings = validate(gltf);
    let errors: Vec<_> = findings
        .iter()
        .filter(|f| f.severity == Severity::Error)
        .map(|f| (f.code, f.location.as_str()))
        .collect();
    assert_eq!(errors, [(code, location)]);
    assert_eq!(in_table(code), sinew::check::Severity::Error);
    match read(gltf) {
        Err(sinew::Error::Invalid(invalid)) => {
            assert_eq!(invalid.code, Some(errors[0].0));
            assert_eq!(invalid.prim, location);
            let file = invalid.file.as_ref().expect("the file");
            assert_eq!(file.as_path(), Path::new("made.glb"));
            assert!(invalid.to_string().contains(location), "{invalid}");
        }
        other => panic!("{code}: {:?}", other.map(|a| a.warnings)),
    }
}

#[track_caller]
fn expect_warnings(gltf: &GltfMaker, expected: &[(&str, &str)]) -> Asset {
    let asset = read(gltf).expect("an asset");
    assert_eq!(warnings(&asset), expected);
    for (code, _) in expected {
        assert_eq!(in_table(code), sinew::check::Severity::Warning, "{code}");
    }
    asset
}

/// What `sinew check` makes of a code.
fn in_table(code: &str) -> sinew::check::Severity {
    sinew::check::code(code).expect("a row").severity
}

/// The JSON of bone `name` in the first skeleton.
fn bone<'a>(made: &'a mut Mannequin, name: &str) -> &'a mut Value {
    &mut made.gltf.json["extensions"][EXTENSION]["humanoidSkeletons"][0]["humanoidBones"][name]
}

fn skeleton(made: &mut Mannequin) -> &mut serde_json::Map<String, Value> {
    made.gltf.json["extensions"][EXTENSION]["humanoidSkeletons"][0]
        .as_object_mut()
        .expect("a skeleton")
}

fn channel(made: &mut Mannequin, index: usize) -> &mut Value {
    &mut made.gltf.json["animations"][0]["channels"][index]
}

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
        [&Target::Bone(Bone::Neck), &Target::Bone(Bone::LeftUpperArm)]
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
fn errors_of_the_root_object() {
    let list = "extensions.EXT_skeleton_humanoid.humanoidSkeletons";
    let mut made = good();
    made.gltf.json["extensionsUsed"] = json!(["KHR_texture_transform"]);
    expect_error(&made.gltf, "NOT_IN_EXTENSIONS_USED", "extensionsUsed");
    let mut clips = GltfMaker::new();
    add_clip(&mut clips);
    clips
        .json
        .as_object_mut()
        .expect("JSON")
        .remove("extensionsUsed");
    expect_error(&clips, "NOT_IN_EXTENSIONS_USED", "extensionsUsed");

    for empty in [json!([]), json!(null), json!(3), json!({})] {
        let mut made = good();
        made.gltf.json["extensions"][EXTENSION]["humanoidSkeletons"] = empty;
        expect_error(&made.gltf, "SKELETONS_EMPTY", list);
    }
    let mut made = good();
    made.gltf.json["extensions"][EXTENSION] = json!({});
    expect_error(&made.gltf, "SKELETONS_EMPTY", list);
}

#[test]
fn errors_of_skeletons() {
    let at_root = format!("{SKELETON}.rootNode");
    let at_bones = format!("{SKELETON}.humanoidBones");
    let mut made = good();
    skeleton(&mut made).remove("rootNode");
    expect_error(&made.gltf, "ROOT_MISSING", &at_root);

    for wrong in [json!(9999), json!(-1), json!(1.5), json!("0"), json!([])] {
        let mut made = good();
        skeleton(&mut made).insert("rootNode".into(), wrong.clone());
        expect_error(&made.gltf, "ROOT_RANGE", &at_root);
        let mut made = good();
        *bone(&mut made, "leftHand") = wrong;
        let errors = validate(&made.gltf);
        let at = format!("{at_bones}.leftHand");
        assert_eq!((errors[0].code, &errors[0].location), ("NODE_RANGE", &at));
        expect_error(&made.gltf, "NODE_RANGE", &at);
    }

    let mut made = good();
    let spine = made.nodes[&Bone::Spine];
    skeleton(&mut made).insert("rootNode".into(), json!(spine));
    expect_error(&made.gltf, "ROOT_NOT_ANCESTOR", &at_root);

    for missing in [None, Some(json!(null)), Some(json!([1, 2]))] {
        let mut made = good();
        skeleton(&mut made).remove("humanoidBones");
        if let Some(value) = missing {
            skeleton(&mut made).insert("humanoidBones".into(), value);
        }
        expect_error(&made.gltf, "BONES_MISSING", &at_bones);
    }

    for name in ["LeftHand", "leftThumbIntermediate", "tail", ""] {
        let mut made = good();
        *bone(&mut made, name) = json!(1);
        let at = match name {
            "" => format!("{at_bones}[\"\"]"),
            name => format!("{at_bones}.{name}"),
        };
        expect_error(&made.gltf, "BONE_NAME_UNKNOWN", &at);
    }

    // Of two bones on one node the lower one is at fault.
    let mut made = good();
    *bone(&mut made, "leftToes") = json!(made.nodes[&Bone::LeftFoot]);
    expect_error(&made.gltf, "NODE_REUSED", &format!("{at_bones}.leftToes"));

    let mut made = good();
    let parent = made.nodes[&Bone::Head];
    let tip = made.gltf.node(Some(parent), json!({ "name": "no joint" }));
    *bone(&mut made, "jaw") = json!(tip);
    expect_error(&made.gltf, "NOT_A_JOINT", &format!("{at_bones}.jaw"));
}

#[test]
fn errors_of_the_hierarchy() {
    // A hand that hangs from the upper arm, past the lower one.
    let mut made = good();
    let hand = made.nodes[&Bone::LeftHand];
    let (upper, lower) = (
        made.nodes[&Bone::LeftUpperArm],
        made.nodes[&Bone::LeftLowerArm],
    );
    let nodes = &mut made.gltf.json["nodes"];
    nodes[lower]["children"] = json!([]);
    nodes[lower]
        .as_object_mut()
        .expect("a node")
        .remove("children");
    nodes[upper]["children"] = json!([lower, hand]);
    let at = format!("{SKELETON}.humanoidBones.leftHand");
    expect_error(&made.gltf, "HIERARCHY", &at);

    // The text's own example: chest between hips and spine.
    let mut made = good();
    let (spine, chest) = (made.nodes[&Bone::Spine], made.nodes[&Bone::Chest]);
    *bone(&mut made, "spine") = json!(chest);
    *bone(&mut made, "chest") = json!(spine);
    let found: Vec<_> = validate(&made.gltf)
        .into_iter()
        .map(|f| (f.code, f.location))
        .collect();
    let at = |name: &str| ("HIERARCHY", format!("{SKELETON}.humanoidBones.{name}"));
    assert_eq!(found, [at("spine"), at("chest"), at("upperChest")]);

    // With a bone taken away its children belong to the one above.
    for absent in [
        Bone::Chest,
        Bone::UpperChest,
        Bone::LeftShoulder,
        Bone::Hips,
        Bone::Head,
    ] {
        let mut made = good();
        let bones = skeleton(&mut made)["humanoidBones"].as_object_mut();
        bones.expect("bones").remove(absent.name());
        assert_eq!(validate(&made.gltf), [], "{absent}");
    }
}

#[test]
fn errors_of_channels() {
    let at = "animations[0].channels[1].target";
    let at_name = format!("{at}.extensions.{EXTENSION}.humanoidBoneName");
    for wrong in [
        json!({}),
        json!({ "humanoidBoneName": 3 }),
        json!({ "humanoidBoneName": null }),
    ] {
        let mut made = good();
        channel(&mut made, 1)["target"]["extensions"][EXTENSION] = wrong;
        expect_error(&made.gltf, "BONE_NAME_MISSING", &at_name);
    }
    let mut made = good();
    channel(&mut made, 1)["target"]["extensions"][EXTENSION]["humanoidBoneName"] = json!("Neck");
    expect_error(&made.gltf, "BONE_NAME_UNKNOWN", &at_name);

    for wrong in [
        json!("weights"),
        json!("pointer"),
        json!("Rotation"),
        json!(1),
    ] {
        let mut made = good();
        channel(&mut made, 1)["target"]["path"] = wrong;
        expect_error(&made.gltf, "PATH", &format!("{at}.path"));
    }
    let mut made = good();
    let target = channel(&mut made, 1)["target"].as_object_mut();
    target.expect("a target").remove("path");
    expect_error(&made.gltf, "PATH", &format!("{at}.path"));

    let mut made = good();
    channel(&mut made, 1)["target"] = bone_target("neck", "rotation");
    expect_error(&made.gltf, "DUPLICATE_TARGET", at);

    let mut made = good();
    let node = made.nodes[&Bone::Jaw];
    channel(&mut made, 0)["target"] = json!({ "node": node, "path": "rotation" });
    channel(&mut made, 1)["sampler"] = json!(0);
    expect_error(
        &made.gltf,
        "SAMPLER_SHARED",
        "animations[0].channels[1].sampler",
    );
    // Two human bones may share one.
    let mut made = good();
    channel(&mut made, 1)["sampler"] = json!(0);
    expect_warnings(&made.gltf, &[]);
}

#[test]
fn warnings_of_channels() {
    let mut made = good();
    let clip = made.gltf.animation("slide");
    for (path, bone) in [("translation", "hips"), ("scale", "head")] {
        let curve = made.gltf.curve("STEP", &[0.0], "VEC3", &[1.0, 2.0, 3.0]);
        made.gltf.channel(clip, curve, bone_target(bone, path));
    }
    let paths = [0, 1].map(|i| format!("animations[1].channels[{i}].target.path"));
    let expected = [
        ("PATH_NOT_ROTATION", &*paths[0]),
        ("PATH_NOT_ROTATION", &*paths[1]),
    ];
    let asset = expect_warnings(&made.gltf, &expected);
    let kept = asset.clips[1].tracks.iter();
    let kept: Vec<_> = kept.map(|t| (&t.target, &t.curve.keys)).collect();
    let value = vec![DVec3::new(1.0, 2.0, 3.0)];
    assert_eq!(
        kept[0],
        (&Target::Bone(Bone::Hips), &Keys::Translation(value.clone()))
    );
    assert_eq!(kept[1], (&Target::Bone(Bone::Head), &Keys::Scale(value)));

    // The extension goes before the node.
    let mut made = good();
    channel(&mut made, 1)["target"]["node"] = json!(0);
    let at = "animations[0].channels[1].target.node";
    let asset = expect_warnings(&made.gltf, &[("NODE_AND_EXT", at)]);
    assert_eq!(
        asset.clips[0].tracks[1].target,
        Target::Bone(Bone::LeftUpperArm)
    );
}

/// Rotates a joint and what is below it, in the bind pose and at rest.
fn repose(made: &mut Mannequin, bone: Bone, by: DQuat) {
    let node = made.nodes[&bone];
    let rotation: Vec<f64> =
        serde_json::from_value(made.gltf.json["nodes"][node]["rotation"].clone())
            .expect("a rotation");
    let world = made.gltf.rest_world(node).to_scale_rotation_translation().1;
    // In world axes, about the joint.
    let local = DQuat::from_slice(&rotation) * (world.inverse() * by * world);
    made.gltf.json["nodes"][node]["rotation"] = json!(local.normalize().to_array());
}

/// Bound as it stands now.
fn rebind(made: &Mannequin) -> GltfMaker {
    let mut gltf = made.gltf.clone();
    let joints: Vec<usize> =
        serde_json::from_value(gltf.json["skins"][0]["joints"].clone()).expect("joints");
    let skin = gltf.skin_at_rest(&joints);
    let skin = gltf.json["skins"][skin].take();
    gltf.json["skins"] = json!([skin]);
    gltf
}

fn at_bones(code: &'static str, bones: &[&str]) -> Vec<(&'static str, String)> {
    let at = |b: &&str| (code, format!("{SKELETON}.humanoidBones.{b}"));
    bones.iter().map(at).collect()
}

#[track_caller]
fn expect_pose_warnings(gltf: &GltfMaker, expected: &[(&'static str, String)]) {
    let asset = read(gltf).expect("an asset");
    let found: Vec<_> = asset
        .warnings
        .iter()
        .map(|w| (w.code, w.path.clone()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn warnings_of_the_reference_pose() {
    let whole = |code| vec![(code, SKELETON.to_owned())];
    // Nine degrees pass, eleven do not.
    for (degrees, off) in [(9.0_f64, false), (11.0, true)] {
        let turn = degrees.to_radians();
        let mut leaning = good();
        repose(&mut leaning, Bone::Hips, DQuat::from_rotation_x(turn));
        let expected = if off { whole("REF_UP") } else { Vec::new() };
        // A character that leans as a whole still faces +Z and stretches its arms along X.
        expect_whole_pose(&rebind(&leaning), &expected, off);

        let mut lowered = good();
        repose(
            &mut lowered,
            Bone::LeftUpperArm,
            DQuat::from_rotation_z(-turn),
        );
        let expected = match off {
            true => at_bones("REF_TPOSE_ARM", &["leftUpperArm", "leftLowerArm"]),
            false => Vec::new(),
        };
        expect_pose_warnings(&rebind(&lowered), &expected);

        let mut bent = good();
        repose(&mut bent, Bone::RightLowerArm, DQuat::from_rotation_y(turn));
        let expected = match off {
            true => at_bones("REF_TPOSE_ARM", &["rightLowerArm"]),
            false => Vec::new(),
        };
        expect_pose_warnings(&rebind(&bent), &expected);

        let mut turned = good();
        repose(&mut turned, Bone::Hips, DQuat::from_rotation_y(turn));
        let mut expected = Vec::new();
        if off {
            expected = whole("REF_FACING");
            let arms = [
                "leftUpperArm",
                "leftLowerArm",
                "rightUpperArm",
                "rightLowerArm",
            ];
            expected.extend(at_bones("REF_TPOSE_ARM", &arms));
        }
        expect_whole_pose(&rebind(&turned), &expected, off);
    }
}

/// A character that is turned as a whole has its bones' axes turned too, or not.
#[track_caller]
fn expect_whole_pose(gltf: &GltfMaker, expected: &[(&'static str, String)], axes: bool) {
    let asset = read(gltf).expect("an asset");
    let found = asset.warnings.iter().map(|w| (w.code, w.path.clone()));
    let (of_axes, others): (Vec<_>, Vec<_>) = found.partition(|(code, _)| *code == "REF_AXES");
    assert_eq!(others, expected);
    assert_eq!(!of_axes.is_empty(), axes);
}

/// Turns a joint in its bind pose, and leaves what is below it where it is.
fn retwist(made: &mut Mannequin, bone: Bone, by: DQuat) {
    let node = made.nodes[&bone];
    let nodes = &mut made.gltf.json["nodes"];
    let turned = |node: &Value, before: DQuat, after: DQuat| -> Value {
        let part = |name: &str| -> Vec<f64> {
            serde_json::from_value(node[name].clone()).expect("numbers")
        };
        let rotation = before * DQuat::from_slice(&part("rotation")) * after;
        let translation = before * DVec3::from_slice(&part("translation"));
        let mut node = node.clone();
        node["rotation"] = json!(rotation.normalize().to_array());
        node["translation"] = json!(translation.to_array());
        node
    };
    let children: Vec<usize> = match &nodes[node]["children"] {
        Value::Null => Vec::new(),
        list => serde_json::from_value(list.clone()).expect("children"),
    };
    let translation = nodes[node]["translation"].clone();
    nodes[node] = turned(&nodes[node], DQuat::IDENTITY, by);
    nodes[node]["translation"] = translation;
    for child in children {
        nodes[child] = turned(&nodes[child], by.inverse(), DQuat::IDENTITY);
    }
}

#[test]
fn warnings_of_bone_axes() {
    for (degrees, off) in [(9.0_f64, false), (11.0, true)] {
        let turn = degrees.to_radians();
        let expect = |made: &Mannequin, code, bones: &[&str]| {
            let expected = if off {
                at_bones(code, bones)
            } else {
                Vec::new()
            };
            expect_pose_warnings(&rebind(made), &expected);
        };
        // About the bone's own +Y: its direction stays.
        let twist = DQuat::from_rotation_y(turn);
        for bone in [
            Bone::Chest,
            Bone::LeftLowerArm,
            Bone::RightLowerLeg,
            Bone::LeftRingDistal,
        ] {
            let mut made = good();
            retwist(&mut made, bone, twist);
            expect(&made, "REF_AXES", &[bone.name()]);
        }
        // Bones that bend many ways may be turned as they like.
        for bone in [
            Bone::LeftShoulder,
            Bone::RightUpperArm,
            Bone::LeftThumbProximal,
            Bone::RightFoot,
        ] {
            let mut made = good();
            retwist(&mut made, bone, twist);
            expect_pose_warnings(&rebind(&made), &[]);
        }
        // About +X: it no longer points to the child.
        let tilt = DQuat::from_rotation_x(turn);
        for bone in [
            Bone::Hips,
            Bone::LeftShoulder,
            Bone::RightUpperLeg,
            Bone::RightHand,
            Bone::LeftThumbProximal,
        ] {
            let mut made = good();
            retwist(&mut made, bone, tilt);
            expect(&made, "REF_Y_TO_CHILD", &[bone.name()]);
        }
        // Without a child there is nothing to point to.
        let mut made = good();
        retwist(&mut made, Bone::LeftToes, tilt);
        expect_pose_warnings(&rebind(&made), &[]);
    }

    // Axes along the world's, as VRM has them: only what stands upright fits.
    let made = Build {
        axes: Axes::World,
        ..Build::default()
    }
    .make()
    .with_humanoid();
    let asset = read(&made.gltf).expect("an asset");
    let of = |code: &str| asset.warnings.iter().filter(|w| w.code == code).count();
    // Every bone with a child of its own, but for the five of the spine.
    assert_eq!(of("REF_Y_TO_CHILD"), 34);
    assert_eq!(of("REF_UP") + of("REF_FACING") + of("REF_TPOSE_ARM"), 0);
}

#[test]
fn the_reference_pose_is_the_bind_pose_and_not_the_rest_pose() {
    // At rest the character waves; it was bound in a T-pose, which is what counts.
    let mut made = good();
    repose(&mut made, Bone::LeftUpperArm, DQuat::from_rotation_z(1.2));
    expect_pose_warnings(&made.gltf, &[]);

    // Bound lying on its back in a space of its own, but standing at rest.
    let build = Build {
        bind_from_scene: [DMat4::from_rotation_x(-1.5), DMat4::IDENTITY],
        ..Build::default()
    };
    expect_pose_warnings(&build.make().with_humanoid().gltf, &[]);

    // Lying at rest and in the scene's space.
    let build = Build {
        root: DMat4::from_rotation_x(-std::f64::consts::FRAC_PI_2),
        axes: Axes::Bone,
        ..Build::default()
    };
    let asset = read(&build.make().with_humanoid().gltf).expect("an asset");
    assert!(asset.warnings.iter().any(|w| w.code == "REF_UP"));
    assert!(!asset.warnings.iter().any(|w| w.code == "REF_FACING"));

    // VRM 0.x faces the other way.
    let build = Build {
        root: DMat4::from_rotation_y(std::f64::consts::PI),
        ..Build::default()
    };
    let asset = read(&build.make().with_humanoid().gltf).expect("an asset");
    let facing = asset.warnings.iter().find(|w| w.code == "REF_FACING");
    assert!(
        facing
            .expect("REF_FACING")
            .message
            .contains("180.0 degrees")
    );
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
    let start = std::time::Instant::now();
    assert_eq!(validate(&gltf), []);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
