//! EXT_skeleton_humanoid: every code at its place, on files of our own, and none on good ones.

use std::path::Path;

use common::document::Document;
use common::{fixture, rows};
use serde_json::{Value, json};
use sinew_animate::asset::Asset;
use sinew_animate::humanoid::reference_asset;
use sinew_io::gltf::extensions::{FindingSeverity, humanoid};

fn read(bytes: &[u8]) -> sinew_io::Result<Asset> {
    sinew_io::gltf::read_bytes(bytes, Path::new("made.glb"))
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

/// The pose that clips without a model are shown in.
#[test]
fn the_reference_pose_is_as_the_text_has_it() {
    let asset = reference_asset();
    asset.validate().unwrap();
    assert_eq!(asset.humanoids[0].bones.len(), 55);
    assert_eq!(humanoid::reference_pose(&asset, &asset.humanoids[0]), []);
}

/// Warnings of bind poses that are not the reference pose. The validator, which has the JSON alone, has none.
#[test]
fn the_reference_pose() {
    rows::check(&fixture("humanoid_pose.txt"), |row| {
        assert_eq!(findings(&row.json), [], "{}", row.at);
        read(&row.bytes)
    });
}

const SKELETONS: &str = "/extensions/EXT_skeleton_humanoid/humanoidSkeletons";

/// Documents with several findings.
#[test]
fn every_fault_is_a_finding() {
    // The text's own example: chest between hips and spine.
    let mut swapped = Document::fixture("humanoid.gltf");
    for (bone, node) in [("spine", 3), ("chest", 2)] {
        let pointer = format!("{SKELETONS}/0/humanoidBones/{bone}");
        swapped.set(&pointer, json!(node));
    }
    let at = |name: &str| format!("extensions.EXT_skeleton_humanoid.humanoidSkeletons{name}");
    let expected = ["spine", "chest", "upperChest"];
    let expected = expected.map(|b| ("HIERARCHY", at(&format!("[0].humanoidBones.{b}"))));
    assert_eq!(findings(&swapped.json), expected);

    // A bone of the other character is not below this one's root.
    let mut two = Document::fixture("humanoid_clips/two.gltf");
    let other = two
        .json
        .pointer(&format!("{SKELETONS}/0/humanoidBones/jaw"));
    let other = other.unwrap().clone();
    two.set(&format!("{SKELETONS}/1/humanoidBones/jaw"), other);
    let expected = [
        ("ROOT_NOT_ANCESTOR", at("[1].rootNode")),
        ("HIERARCHY", at("[1].humanoidBones.jaw")),
    ];
    assert_eq!(findings(&two.json), expected);
    let message = humanoid::validate(&two.json)[0].message();
    assert!(message.contains("jaw"), "{message}");
}

/// Nodes in a circle, bones in it: the spine has the hips as a child.
#[test]
fn bones_in_a_circle() {
    let mut circle = Document::fixture("humanoid.gltf");
    circle.set("/nodes/2/children", json!([1]));
    assert!(!findings(&circle.json).is_empty());
    assert!(read(&circle.glb()).is_err());
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
