//! Recognition, and bone maps.

use glam::DMat4;
use sinew::skel::Skeleton;
use sinew_animate::retarget::{
    Bone, BoneMap, Humanoid, RetargetOptions, Retargeter, Rig, RigPlacement,
};

use common::rigs::Build;

/// A rig of joint paths, each a metre above its parent.
fn rig(names: &[&str]) -> Rig {
    let joints: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
    let rest = vec![DMat4::from_translation(glam::DVec3::Y); joints.len()];
    let skeleton = Skeleton::new("/Skel", joints, None, Some(rest)).unwrap();
    Rig::new("the rig", &skeleton, RigPlacement::default()).unwrap()
}

/// Joint paths from lines of `child < parent`.
fn paths(lines: &[(&str, &str)]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (name, parent) in lines {
        let above = out.iter().find(|p| p.rsplit('/').next() == Some(*parent));
        out.push(above.map_or_else(|| (*name).to_owned(), |p| format!("{p}/{name}")));
    }
    out
}

fn recognised(lines: &[(&str, &str)]) -> (Rig, Humanoid) {
    let paths = paths(lines);
    let rig = rig(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    let humanoid = Humanoid::recognise(&rig).expect("a humanoid");
    (rig, humanoid)
}

fn named<'a>(rig: &'a Rig, humanoid: &Humanoid, bone: Bone) -> Option<&'a str> {
    humanoid
        .joints()
        .get(&bone)
        .map(|j| rig.names()[*j].as_str())
}

#[test]
fn a_joint_in_the_wrong_place_is_left_out() {
    let (rig, found) = recognised(&[
        ("hips", ""),
        ("spine", "hips"),
        ("head", "spine"),
        ("leftUpperArm", "spine"),
        ("leftLowerArm", "leftUpperArm"),
        ("leftHand", "leftLowerArm"),
        ("rightUpperLeg", "leftHand"),
        ("rightLowerLeg", "hips"),
    ]);
    let misplaced: Vec<_> = found.misplaced().iter().map(|(b, _)| *b).collect();
    assert_eq!(misplaced, [Bone::RightUpperLeg]);
    assert_eq!(named(&rig, &found, Bone::RightUpperLeg), None);
    assert_eq!(
        named(&rig, &found, Bone::RightLowerLeg),
        Some("rightLowerLeg")
    );
}

#[test]
fn few_words_are_enough() {
    let figure = rig(&[
        "torso_joint_1",
        "torso_joint_1/torso_joint_2",
        "torso_joint_1/torso_joint_2/arm_joint_L_1",
        "torso_joint_1/torso_joint_2/arm_joint_L_1/arm_joint_L_2",
        "torso_joint_1/torso_joint_2/arm_joint_R_1",
        "torso_joint_1/leg_joint_L_1",
        "torso_joint_1/leg_joint_L_1/leg_joint_L_2",
    ]);
    let found = Humanoid::recognise(&figure).unwrap();
    assert_eq!(found.convention(), None);
    let named = |bone| named(&figure, &found, bone);
    assert_eq!(named(Bone::Hips), Some("torso_joint_1"));
    assert_eq!(named(Bone::Spine), Some("torso_joint_2"));
    assert_eq!(named(Bone::LeftUpperArm), Some("arm_joint_L_1"));
    assert_eq!(named(Bone::LeftLowerArm), Some("arm_joint_L_2"));
    assert_eq!(named(Bone::RightUpperArm), Some("arm_joint_R_1"));
    assert_eq!(named(Bone::LeftLowerLeg), Some("leg_joint_L_2"));
    assert_eq!(named(Bone::Head), None);
}

#[test]
fn an_unknown_rig_gets_a_guess() {
    // Without words, the shape.
    let numbered = |key: &str| {
        let place = common::rigs::body()
            .iter()
            .position(|p| p.0 == key)
            .unwrap();
        format!("node{place}")
    };
    let body = Build {
        name: &numbered,
        ..Build::default()
    }
    .make();
    let unknown = Humanoid::recognise(&body.rig).unwrap_err();
    for (bone, key) in [
        (Bone::Hips, "hips"),
        (Bone::Spine, "spine"),
        (Bone::Head, "head"),
        (Bone::LeftUpperArm, "LUpperArm"),
        (Bone::RightHand, "RHand"),
        (Bone::LeftFoot, "LFoot"),
        (Bone::RightUpperLeg, "RUpperLeg"),
    ] {
        assert_eq!(unknown.guess.get(&bone), Some(&body.at[key]), "{bone}");
    }
    let chain = rig(&["Bone", "Bone/Bone_001"]);
    let unknown = Humanoid::recognise(&chain).unwrap_err();
    assert!(unknown.guess.is_empty() && unknown.main == 0);
}

#[test]
fn broken_maps_say_where() {
    for (text, line, words) in [
        ("", "line 1 column 0", "EOF"),
        ("[]", "line 1 column 0", "sequence"),
        ("{}", "line 1 column 2", "no joint"),
        ("{\n \"a\": 3}", "line 2 column", "integer"),
        (
            "{\n \"a\": \"b\",\n \"a\": \"c\"}",
            "line 3 column",
            "'a' twice",
        ),
        (
            "{\n \"a\": \"c\",\n \"b\": \"c\"}",
            "line 3 column",
            "'c' twice",
        ),
        ("{\"a\": \"b\"", "line 1 column", "EOF"),
        ("{\"a\": \"b\"} x", "line 1 column 12", "trailing"),
        ("{\"a\": null}", "line 1 column", "null"),
    ] {
        let error = BoneMap::from_json(text, "map.json")
            .unwrap_err()
            .to_string();
        for part in ["map.json", line, words] {
            assert!(
                error.contains(part),
                "{text}: '{error}' should say '{part}'"
            );
        }
    }
}

#[test]
fn maps_that_do_not_fit_are_refused() {
    let source = rig(&["A", "A/B", "A/C", "A/C/B"]);
    let target = rig(&["X", "X/Y"]);
    let refused = |json: &str| {
        let map = BoneMap::from_json(json, "map.json").unwrap();
        let options = RetargetOptions::default();
        Retargeter::new(&source, &target, &map, &options)
            .unwrap_err()
            .to_string()
    };
    let text = refused(r#"{"Z": "X"}"#);
    assert!(text.contains('Z') && text.contains("A, B, C, B"), "{text}");
    let text = refused(r#"{"A": "W"}"#);
    assert!(text.contains('W') && text.contains("X, Y"), "{text}");
    let text = refused(r#"{"B": "X"}"#);
    assert!(text.contains("2 joints") && text.contains("path"), "{text}");
    let text = refused(r#"{"A": "X", "C": "X/Y", "A/C/B": "Y"}"#);
    assert!(text.contains("follows both"), "{text}");
    let marked = BoneMap::from_json("\u{feff}{\"A/C/B\": \"X\", \"A\": \"Y\"}", "map.json");
    let plain = BoneMap::from_json(r#"{"A/C/B": "X", "A": "Y"}"#, "map.json");
    assert_eq!(marked.unwrap().pairs, plain.unwrap().pairs);
    let map = BoneMap::from_json(r#"{"A/C/B": "X", "A": "Y"}"#, "map.json").unwrap();
    let mut options = RetargetOptions::default();
    options.root_bone = Some("C".into());
    let text = Retargeter::new(&source, &target, &map, &options).unwrap_err();
    assert!(text.to_string().contains("root bone C"), "{text}");
    assert!(Retargeter::new(&source, &target, &map, &RetargetOptions::default()).is_ok());
}

#[test]
fn the_same_names_are_enough_without_a_convention() {
    let source = rig(&["root", "root/arm", "root/arm/claw", "root/tail"]);
    let target = rig(&[
        "root",
        "root/arm",
        "root/extra",
        "root/arm/twist",
        "root/arm/twist/claw",
    ]);
    let map = BoneMap::same_names(&source, &target).unwrap();
    let pairs: Vec<_> = map.pairs.iter().map(|p| p.source.as_str()).collect();
    assert_eq!(pairs, ["root", "arm", "claw"]);
    assert!(BoneMap::same_names(&source, &rig(&["root", "root/b", "root/c"])).is_none());
}
