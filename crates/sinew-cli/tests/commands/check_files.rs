//! `sinew check` on glTF and VRM files: what their readers find, then what the stages find that they become.

use std::collections::BTreeSet;
use std::path::Path;

use common::command::{Bench, sinew};
use common::gltf_maker::GltfMaker;
use common::mannequin::{Axes, Build, Mannequin};
use glam::{DQuat, DVec3};
use serde_json::{Value, json};
use sinew_animate::retarget::Bone;
use sinew_check::{CODES, CheckOptions, FILE_CODES, Report, Severity, all_codes, check_file};

const EXTENSION: &str = "EXT_skeleton_humanoid";

fn check(path: &Path) -> Report {
    check_file(path, &CheckOptions::default()).expect("a report")
}

fn found(report: &Report) -> Vec<(&'static str, &str)> {
    let findings = report.findings.iter();
    findings.map(|f| (f.code, f.path.as_str())).collect()
}

/// Broken in three ways at once.
fn broken() -> GltfMaker {
    let mut made = Mannequin::new().with_humanoid();
    let clip = made.gltf.animation("nod");
    let still = [DQuat::IDENTITY];
    made.gltf.bone_channel(clip, "neck", &[0.0], &still);
    made.gltf.bone_channel(clip, "neck", &[0.0], &still);
    made.gltf.json["extensionsUsed"] = json!([]);
    let skeleton = &mut made.gltf.json["extensions"][EXTENSION]["humanoidSkeletons"][0];
    skeleton["humanoidBones"]["tail"] = json!(1);
    made.gltf.json["animations"][0]["channels"][0]["target"]["node"] = json!(0);
    made.gltf
}

const BROKEN: [(&str, &str); 4] = [
    ("NOT_IN_EXTENSIONS_USED", "extensionsUsed"),
    (
        "BONE_NAME_UNKNOWN",
        "extensions.EXT_skeleton_humanoid.humanoidSkeletons[0].humanoidBones.tail",
    ),
    ("DUPLICATE_TARGET", "animations[0].channels[1].target"),
    ("NODE_AND_EXT", "animations[0].channels[0].target.node"),
];

#[test]
fn the_table_of_files() {
    let codes: BTreeSet<&str> = all_codes().map(|c| c.code).collect();
    assert_eq!(
        codes.len(),
        CODES.len() + FILE_CODES.len(),
        "codes are unique"
    );
    let mut capitals = BTreeSet::new();
    for c in FILE_CODES {
        assert!(!c.meaning.is_empty() && !c.advice.is_empty(), "{}", c.code);
        assert!(!c.fixable, "{}: sinew fix mends stages", c.code);
        if c.code
            .chars()
            .all(|ch| ch.is_ascii_uppercase() || ch == '_')
        {
            capitals.insert((c.code, c.severity));
        } else {
            let plain = |ch: char| ch.is_ascii_lowercase() || ch == '-';
            assert!(c.code.chars().all(plain), "{}", c.code);
        }
    }
    // The extension's codes, word for word, and the one for the schema's layout.
    let errors = "BONE_NAME_MISSING BONE_NAME_UNKNOWN PATH DUPLICATE_TARGET SAMPLER_SHARED \
        NOT_IN_EXTENSIONS_USED SKELETONS_EMPTY ROOT_MISSING ROOT_RANGE ROOT_NOT_ANCESTOR BONES_MISSING \
        NODE_RANGE NODE_REUSED NOT_A_JOINT HIERARCHY";
    let warnings = "PATH_NOT_ROTATION NODE_AND_EXT REF_AXES REF_Y_TO_CHILD REF_TPOSE_ARM REF_TPOSE_LEG REF_FOOT REF_HAND \
        REF_FINGER REF_THUMB REF_UP REF_FACING \
        ONE_SKELETON_LAYOUT";
    let errors = errors.split_whitespace().map(|c| (c, Severity::Error));
    let warnings = warnings.split_whitespace().map(|c| (c, Severity::Warning));
    assert_eq!(capitals, errors.chain(warnings).collect());
}

#[test]
fn all_that_is_wrong_with_a_humanoid_is_told() {
    let bench = Bench::new();
    for name in ["broken.gltf", "broken.glb", "broken.vrm"] {
        let path = broken().write(bench.folder.path(), name);
        let report = check(&path);
        assert_eq!(found(&report), BROKEN, "{name}");
        let counts = report.counts;
        assert_eq!((counts.errors, counts.warnings, counts.infos), (3, 1, 0));
        assert!(
            report
                .findings
                .iter()
                .all(|f| !f.advice.is_empty() && !f.fixable)
        );

        let output = sinew(&["check", "--json", path.to_str().expect("UTF-8")]);
        assert_eq!(output.status.code(), Some(1));
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let listed = json["files"][0]["findings"].as_array().expect("findings");
        let listed: Vec<_> = listed
            .iter()
            .map(|f| (f["code"].as_str(), f["path"].as_str()))
            .collect();
        assert_eq!(listed, BROKEN.map(|(code, path)| (Some(code), Some(path))));
    }
}

#[test]
fn bones_along_the_world_s_axes_are_warnings() {
    let bench = Bench::new();
    let build = Build {
        axes: Axes::World,
        ..Build::default()
    };
    let path = build
        .make()
        .with_humanoid()
        .gltf
        .write(bench.folder.path(), "world.glb");
    let report = check(&path);
    assert_eq!(report.counts.errors, 0);
    assert!(report.of("REF_Y_TO_CHILD").count() > 30);
    assert!(
        report
            .of("REF_Y_TO_CHILD")
            .all(|f| f.severity == Severity::Warning)
    );

    let good = Mannequin::new().with_humanoid();
    let path = good.gltf.write(bench.folder.path(), "good.gltf");
    assert_eq!(found(&check(&path)), []);
}

/// For each rule of the extension's reference pose, a file that keeps it and one that breaks it.
#[test]
fn rules_of_the_reference_pose() {
    let bench = Bench::new();
    let (x, y, z) = (DVec3::X, DVec3::Y, DVec3::Z);
    for (code, bone, axis, degrees) in [
        ("REF_UP", Bone::Hips, x, 20.0),
        ("REF_FACING", Bone::Hips, y, 20.0),
        ("REF_TPOSE_ARM", Bone::RightUpperArm, z, 45.0_f64),
        ("REF_TPOSE_LEG", Bone::LeftUpperLeg, z, 15.0),
        ("REF_FOOT", Bone::LeftFoot, y, 57.0),
        ("REF_HAND", Bone::LeftHand, x, 90.0),
        ("REF_FINGER", Bone::RightRingProximal, z, 30.0),
        ("REF_THUMB", Bone::RightThumbMetacarpal, y, 45.0),
    ] {
        for off in [false, true] {
            let mut made = Mannequin::new().with_humanoid();
            if off {
                made.repose(bone, DQuat::from_axis_angle(axis, degrees.to_radians()));
            }
            let path = made.rebound().write(bench.folder.path(), "posed.glb");
            let report = check(&path);
            let count = report.of(code).count();
            assert_eq!(count > 0, off, "{code}: {:?}", found(&report));
            assert_eq!(found(&report).is_empty(), !off, "{:?}", found(&report));
        }
    }
}

#[test]
fn what_a_reader_refuses_is_an_error_at_its_place() {
    let bench = Bench::new();
    let expect = |path: &Path, code: &str, location: &str| {
        let report = check(path);
        assert_eq!(found(&report), [(code, location)]);
        assert_eq!(report.counts.errors, 1);
    };
    let folder = bench.folder.path();
    let mut made = Mannequin::new();
    made.gltf.json["skins"][0]["joints"][3] = json!(5000);
    expect(
        &made.gltf.write(folder, "joint.glb"),
        "file-invalid",
        "skins[0].joints[3]",
    );

    let mut made = Mannequin::new();
    made.gltf.json["extensionsRequired"] = json!(["ACME_secret"]);
    let path = made.gltf.write(folder, "required.glb");
    expect(&path, "gltf-extension-required", "extensionsRequired");

    let mut made = Mannequin::new();
    let bones = made.vrm_bones();
    let vrm = json!({ "specVersion": "1.0", "humanoid": { "humanBones": bones } });
    made.gltf.extension("VRMC_vrm", vrm);
    let good = made.gltf.write(folder, "good.vrm");
    assert_eq!(check(&good).counts.errors, 0);
    let humanoid = &mut made.gltf.json["extensions"]["VRMC_vrm"]["humanoid"];
    humanoid["humanBones"]["head"]["node"] = json!(5000);
    let at = "extensions.VRMC_vrm.humanoid.humanBones.head.node";
    expect(&made.gltf.write(folder, "node.vrm"), "vrm-node-range", at);

    let path = bench.write("text.gltf", "{ \"asset\": ");
    expect(&path, "file-invalid", "line 1 column 11");
    let mut short = Mannequin::new().gltf.glb();
    short.truncate(short.len() / 2);
    let path = bench.write("short.glb", &short);
    assert_eq!(check(&path).counts.errors, 1);
}

#[test]
fn the_stage_is_checked_too() {
    let bench = Bench::new();
    let mut made = Mannequin::new().with_humanoid();
    let node = made.nodes[&sinew_animate::retarget::Bone::Jaw];
    made.gltf.json["nodes"][node]["extensions"] = json!({ "VRMC_node_constraint": {} });
    let path = made.gltf.write(bench.folder.path(), "made.glb");
    let mut options = CheckOptions::default();
    options.max_influences = Some(1);
    // The mannequin's points have one influence each, in four slots.
    let report = check_file(&path, &options).expect("a report");
    let at_prims = report.findings.iter().filter(|f| f.path.starts_with('/'));
    let at_prims: Vec<_> = at_prims.map(|f| f.code).collect();
    let in_file = format!("nodes[{node}].extensions.VRMC_node_constraint");
    assert_eq!(found(&report)[0], ("node-constraints-ignored", &*in_file));
    assert_eq!(at_prims, ["influences-too-many"]);
}

#[test]
fn the_list_of_codes_has_all() {
    let output = sinew(&["check", "--codes"]);
    let listed = String::from_utf8(output.stdout).expect("UTF-8");
    for c in all_codes() {
        let is_there = listed.contains(c.code) && listed.contains(c.meaning);
        assert!(is_there, "{}", c.code);
    }
}
