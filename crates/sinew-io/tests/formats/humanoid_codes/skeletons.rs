//! Errors of the extension's root object and of its skeletons.

use serde_json::json;
use sinew_animate::retarget::Bone;

use crate::humanoid_codes::made::{
    EXTENSION, SKELETON, add_clip, bone, expect_error, good, skeleton, validate,
};
use common::gltf_maker::GltfMaker;

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
