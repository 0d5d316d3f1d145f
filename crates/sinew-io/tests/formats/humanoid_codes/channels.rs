//! Errors and warnings of animation channels.

use glam::DVec3;
use serde_json::json;
use sinew_animate::asset::{Keys, TrackTarget};
use sinew_animate::retarget::Bone;

use crate::humanoid_codes::made::{EXTENSION, channel, expect_error, expect_warnings, good};
use common::gltf_maker::bone_target;

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
        (
            &TrackTarget::Bone(Bone::Hips),
            &Keys::Translation(value.clone())
        )
    );
    assert_eq!(
        kept[1],
        (&TrackTarget::Bone(Bone::Head), &Keys::Scale(value))
    );

    // The extension goes before the node.
    let mut made = good();
    channel(&mut made, 1)["target"]["node"] = json!(0);
    let at = "animations[0].channels[1].target.node";
    let asset = expect_warnings(&made.gltf, &[("NODE_AND_EXT", at)]);
    assert_eq!(
        asset.clips[0].tracks[1].target,
        TrackTarget::Bone(Bone::LeftUpperArm)
    );
}
