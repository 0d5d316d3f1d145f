//! Recognition, and bone maps.

use glam::DMat4;
use sinew::skel::Skeleton;
use sinew_animate::retarget::{
    Bone, BoneMap, Convention, Humanoid, RetargetOptions, Retargeter, Rig, RigPlacement,
};

use common::rigs::{Build, mixamo, vroid};

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
fn mixamo_and_vroid_bodies_match_bone_by_bone() {
    let source = Build::default().make();
    let target = Build {
        name: &vroid,
        extra: vec![("head", "HairJoint_01", false)],
        ..Build::default()
    }
    .make();
    let (s, t) = (
        Humanoid::recognise(&source.rig),
        Humanoid::recognise(&target.rig),
    );
    let (s, t) = (s.unwrap(), t.unwrap());
    assert_eq!(s.convention(), Some(Convention::Mixamo));
    assert_eq!(t.convention(), Some(Convention::VRoid));
    assert_eq!(s.joints().len(), source.at.len());
    assert_eq!(t.joints().len(), source.at.len());
    let map = BoneMap::between((&source.rig, &s), (&target.rig, &t));
    for key in source.at.keys() {
        let pair = map
            .pairs
            .iter()
            .find(|p| p.source == mixamo(key))
            .expect(key);
        assert_eq!(pair.target, vroid(key));
        assert!(pair.bone.is_some());
    }
}

#[test]
fn conventions_are_told_apart() {
    let unreal = [
        ("root", ""),
        ("Pelvis", "root"),
        ("Spine_01", "Pelvis"),
        ("spine_02", "Spine_01"),
        ("spine_03", "spine_02"),
        ("neck_01", "spine_03"),
        ("head", "neck_01"),
        ("clavicle_l", "spine_03"),
        ("UpperArm_L", "clavicle_l"),
        ("upperarm_twist_01_l", "UpperArm_L"),
        ("lowerarm_l", "UpperArm_L"),
        ("hand_l", "lowerarm_l"),
        ("thumb_01_l", "hand_l"),
        ("pinky_03_l", "hand_l"),
        ("thigh_r", "Pelvis"),
        ("calf_r", "thigh_r"),
        ("foot_r", "calf_r"),
        ("ball_r", "foot_r"),
    ];
    let (rig, found) = recognised(&unreal);
    assert_eq!(found.convention(), Some(Convention::Unreal));
    assert_eq!(named(&rig, &found, Bone::Hips), Some("Pelvis"));
    assert_eq!(named(&rig, &found, Bone::LeftUpperArm), Some("UpperArm_L"));
    assert_eq!(
        named(&rig, &found, Bone::LeftThumbMetacarpal),
        Some("thumb_01_l")
    );
    assert_eq!(
        named(&rig, &found, Bone::LeftLittleDistal),
        Some("pinky_03_l")
    );
    assert_eq!(named(&rig, &found, Bone::RightToes), Some("ball_r"));
    assert_eq!(
        found.joints().len(),
        unreal.len() - 2,
        "neither root nor twist"
    );

    // Sanitised as USD wants it; generated rigs have ORG- and DEF- bones, of which DEF- ones deform.
    let rigify = [
        ("root", ""),
        ("ORG_spine", "root"),
        ("DEF_spine", "root"),
        ("DEF_spine_001", "DEF_spine"),
        ("DEF_spine_004", "DEF_spine_001"),
        ("DEF_spine_006", "DEF_spine_004"),
        ("DEF_upper_arm_L", "DEF_spine_001"),
        ("DEF_upper_arm_L_001", "DEF_upper_arm_L"),
        ("DEF_forearm_L", "DEF_upper_arm_L_001"),
        ("DEF_hand_L", "DEF_forearm_L"),
        ("DEF_f_index_01_L", "DEF_hand_L"),
        ("DEF_thigh_R", "DEF_spine"),
        ("DEF_shin_R", "DEF_thigh_R"),
        ("DEF_foot_R", "DEF_shin_R"),
    ];
    let (rig, found) = recognised(&rigify);
    assert_eq!(found.convention(), Some(Convention::Rigify));
    assert_eq!(named(&rig, &found, Bone::Hips), Some("DEF_spine"));
    assert_eq!(named(&rig, &found, Bone::Spine), Some("DEF_spine_001"));
    assert_eq!(named(&rig, &found, Bone::Neck), Some("DEF_spine_004"));
    assert_eq!(named(&rig, &found, Bone::Head), Some("DEF_spine_006"));
    assert_eq!(
        named(&rig, &found, Bone::LeftIndexProximal),
        Some("DEF_f_index_01_L")
    );

    let upper = |name: &str| name[..1].to_uppercase() + &name[1..];
    let body = [
        ("hips", ""),
        ("spine", "hips"),
        ("head", "spine"),
        ("leftUpperArm", "spine"),
        ("leftLowerArm", "leftUpperArm"),
        ("leftHand", "leftLowerArm"),
        ("rightUpperLeg", "hips"),
        ("rightLowerLeg", "rightUpperLeg"),
    ];
    let with = |thumb: [&'static str; 3], capitals: bool| {
        let mut lines = body.to_vec();
        lines.extend([
            (thumb[0], "leftHand"),
            (thumb[1], thumb[0]),
            (thumb[2], thumb[1]),
        ]);
        let lines: Vec<(String, String)> = lines
            .iter()
            .map(|(a, b)| match capitals && !b.is_empty() {
                true => (upper(a), upper(b)),
                false if capitals => (upper(a), String::new()),
                false => ((*a).to_owned(), (*b).to_owned()),
            })
            .collect();
        let lines: Vec<(&str, &str)> = lines.iter().map(|(a, b)| (&**a, &**b)).collect();
        recognised(&lines)
    };
    let godot = [
        "leftThumbMetacarpal",
        "leftThumbProximal",
        "leftThumbDistal",
    ];
    let unity = [
        "leftThumbProximal",
        "leftThumbIntermediate",
        "leftThumbDistal",
    ];
    let (_, found) = with(godot, true);
    assert_eq!(found.convention(), Some(Convention::Godot));
    let (_, found) = with(godot, false);
    assert_eq!(found.convention(), Some(Convention::Humanoid));
    // Unity's thumb is one name further out.
    let (rig, found) = with(unity, true);
    assert_eq!(found.convention(), Some(Convention::Unity));
    assert_eq!(
        named(&rig, &found, Bone::LeftThumbMetacarpal),
        Some("LeftThumbProximal")
    );
    assert_eq!(
        named(&rig, &found, Bone::LeftThumbProximal),
        Some("LeftThumbIntermediate")
    );
}

#[test]
fn ready_player_me_has_no_prefix_and_eyes() {
    let lines = [
        ("Hips", ""),
        ("Spine", "Hips"),
        ("Neck", "Spine"),
        ("Head", "Neck"),
        ("LeftEye", "Head"),
        ("RightEye", "Head"),
        ("LeftArm", "Spine"),
        ("LeftForeArm", "LeftArm"),
        ("LeftHand", "LeftForeArm"),
        ("LeftUpLeg", "Hips"),
        ("LeftLeg", "LeftUpLeg"),
    ];
    let (rig, found) = recognised(&lines);
    assert_eq!(found.convention(), Some(Convention::ReadyPlayerMe));
    assert_eq!(named(&rig, &found, Bone::RightEye), Some("RightEye"));
    let own: Vec<(String, String)> = lines
        .iter()
        .map(|(a, b)| (format!("Hero_{a}"), format!("Hero_{b}")))
        .collect();
    let own: Vec<(&str, &str)> = own.iter().map(|(a, b)| (&**a, &**b)).collect();
    let (_, prefixed) = recognised(&own);
    assert_eq!(prefixed.joints().len(), lines.len());
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
