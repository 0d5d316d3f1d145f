//! Warnings of the reference pose.

use glam::{DMat4, DQuat, DVec3};
use serde_json::{Value, json};
use sinew_animate::retarget::Bone;

use super::{SKELETON, read};
use common::gltf_maker::GltfMaker;
use common::mannequin::{Axes, Build, Mannequin};

/// A character without a clip.
fn good() -> Mannequin {
    Mannequin::new().with_humanoid()
}

fn at_bones(code: &'static str, bones: &[&str]) -> Vec<(&'static str, String)> {
    let at = |b: &&str| (code, format!("{SKELETON}.humanoidBones.{b}"));
    bones.iter().map(at).collect()
}

#[track_caller]
fn expect_pose_warnings(gltf: &GltfMaker, expected: &[(&'static str, String)]) {
    assert_eq!(pose_warnings(gltf), expected);
}

fn pose_warnings(gltf: &GltfMaker) -> Vec<(&'static str, String)> {
    let asset = read(&gltf.glb()).expect("an asset");
    let warnings = asset.warnings.into_iter();
    warnings.map(|w| (w.code, w.path)).collect()
}

#[test]
fn warnings_of_the_reference_pose() {
    let whole = |code| vec![(code, SKELETON.to_owned())];
    // Nine degrees pass, eleven do not.
    for (degrees, off) in [(9.0_f64, false), (11.0, true)] {
        let turn = degrees.to_radians();
        let mut leaning = good();
        leaning.repose(Bone::Hips, DQuat::from_rotation_x(turn));
        let expected = if off { whole("REF_UP") } else { Vec::new() };
        // A character that leans as a whole still faces +Z and stretches its arms along X.
        expect_whole_pose(&leaning.rebound(), &expected, off);

        let mut lowered = good();
        lowered.repose(Bone::LeftUpperArm, DQuat::from_rotation_z(-turn));
        let expected = match off {
            true => at_bones("REF_TPOSE_ARM", &["leftUpperArm", "leftLowerArm"]),
            false => Vec::new(),
        };
        expect_pose_warnings(&lowered.rebound(), &expected);

        let mut bent = good();
        bent.repose(Bone::RightLowerArm, DQuat::from_rotation_y(turn));
        let expected = match off {
            true => at_bones("REF_TPOSE_ARM", &["rightLowerArm"]),
            false => Vec::new(),
        };
        expect_pose_warnings(&bent.rebound(), &expected);

        let mut turned = good();
        turned.repose(Bone::Hips, DQuat::from_rotation_y(turn));
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
        expect_whole_pose(&turned.rebound(), &expected, off);
    }
}

/// A character that is turned as a whole has its bones' axes turned too, or not.
#[track_caller]
fn expect_whole_pose(gltf: &GltfMaker, expected: &[(&'static str, String)], axes: bool) {
    let found = pose_warnings(gltf).into_iter();
    let (of_axes, others): (Vec<_>, Vec<_>) = found.partition(|(code, _)| *code == "REF_AXES");
    assert_eq!(others, expected);
    assert_eq!(!of_axes.is_empty(), axes);
}

/// A bone, the axis that it is turned about, the degrees that pass, and the warnings beyond.
type Turned = (Bone, DVec3, f64, &'static [(&'static str, &'static str)]);

const LIMBS: &[Turned] = &[
    // A leg spread, and a knee bent: the foot goes with it.
    (
        Bone::LeftUpperLeg,
        DVec3::Z,
        10.0,
        &[("REF_TPOSE_LEG", "leftUpperLeg")],
    ),
    (
        Bone::RightLowerLeg,
        DVec3::X,
        10.0,
        &[("REF_TPOSE_LEG", "rightLowerLeg")],
    ),
    // Toes that point outward, up and down. From ankle to toes the mannequin's foot descends by
    // 24.8 degrees: 45 pass, and ten more.
    (Bone::LeftFoot, DVec3::Y, 10.0, &[("REF_FOOT", "leftFoot")]),
    (
        Bone::RightFoot,
        DVec3::NEG_X,
        34.8,
        &[("REF_FOOT", "rightFoot")],
    ),
    (
        Bone::RightFoot,
        DVec3::X,
        30.2,
        &[("REF_FOOT", "rightFoot")],
    ),
    // A hand that is rolled, and one that is bent down: the fingers go with it.
    (Bone::LeftHand, DVec3::X, 10.0, &[("REF_HAND", "leftHand")]),
    (
        Bone::RightHand,
        DVec3::Z,
        10.0,
        &[("REF_HAND", "rightHand")],
    ),
    // The distal bone has no child, and so no direction.
    (
        Bone::LeftIndexProximal,
        DVec3::NEG_Z,
        10.0,
        &[
            ("REF_FINGER", "leftIndexProximal"),
            ("REF_FINGER", "leftIndexIntermediate"),
        ],
    ),
    (
        Bone::RightLittleIntermediate,
        DVec3::Y,
        10.0,
        &[("REF_FINGER", "rightLittleIntermediate")],
    ),
    (
        Bone::LeftThumbMetacarpal,
        DVec3::Y,
        10.0,
        &[
            ("REF_THUMB", "leftThumbMetacarpal"),
            ("REF_THUMB", "leftThumbProximal"),
        ],
    ),
    (
        Bone::RightThumbProximal,
        DVec3::Z,
        14.2,
        &[("REF_THUMB", "rightThumbProximal")],
    ),
];

#[test]
fn warnings_of_limbs() {
    for (bone, axis, passes, warnings) in LIMBS {
        for (degrees, off) in [(passes - 0.5, false), (passes + 0.5, true)] {
            let mut made = good();
            made.repose(*bone, DQuat::from_axis_angle(*axis, degrees.to_radians()));
            // A bone that is rolled has its axes rolled too.
            let found = pose_warnings(&made.rebound()).into_iter();
            let found: Vec<_> = found.filter(|(code, _)| *code != "REF_AXES").collect();
            let wanted = warnings.iter().filter(|_| off);
            let wanted: Vec<_> = wanted.flat_map(|(code, b)| at_bones(code, &[*b])).collect();
            assert_eq!(found, wanted, "{bone} by {degrees} degrees about {axis}");
        }
    }
}

/// What is off because the part above it is off is not told again.
#[test]
fn one_fault_of_a_limb_is_one_warning() {
    let mut lowered = good();
    let angle = 40.0_f64.to_radians();
    lowered.repose(Bone::LeftUpperArm, DQuat::from_rotation_z(-angle));
    let arms = at_bones("REF_TPOSE_ARM", &["leftUpperArm", "leftLowerArm"]);
    expect_pose_warnings(&lowered.rebound(), &arms);

    let mut spread = good();
    spread.repose(Bone::LeftUpperLeg, DQuat::from_rotation_z(angle));
    expect_pose_warnings(
        &spread.rebound(),
        &at_bones("REF_TPOSE_LEG", &["leftUpperLeg"]),
    );
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
            expect_pose_warnings(&made.rebound(), &expected);
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
            expect_pose_warnings(&made.rebound(), &[]);
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
        expect_pose_warnings(&made.rebound(), &[]);
    }

    // Axes along the world's, as VRM has them: only what stands upright fits.
    let made = Build {
        axes: Axes::World,
        ..Build::default()
    }
    .make()
    .with_humanoid();
    let asset = read(&made.gltf.glb()).expect("an asset");
    let of = |code: &str| asset.warnings.iter().filter(|w| w.code == code).count();
    // Every bone with a child of its own, but for the five of the spine.
    assert_eq!(of("REF_Y_TO_CHILD"), 34);
    assert_eq!(of("REF_UP") + of("REF_FACING") + of("REF_TPOSE_ARM"), 0);
}

#[test]
fn the_reference_pose_is_the_bind_pose_and_not_the_rest_pose() {
    // At rest the character waves; it was bound in a T-pose, which is what counts.
    let mut made = good();
    made.repose(Bone::LeftUpperArm, DQuat::from_rotation_z(1.2));
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
    let asset = read(&build.make().with_humanoid().gltf.glb()).expect("an asset");
    assert!(asset.warnings.iter().any(|w| w.code == "REF_UP"));
    assert!(!asset.warnings.iter().any(|w| w.code == "REF_FACING"));

    // VRM 0.x faces the other way.
    let build = Build {
        root: DMat4::from_rotation_y(std::f64::consts::PI),
        ..Build::default()
    };
    let asset = read(&build.make().with_humanoid().gltf.glb()).expect("an asset");
    let facing = asset.warnings.iter().find(|w| w.code == "REF_FACING");
    assert!(
        facing
            .expect("REF_FACING")
            .message
            .contains("180.0 degrees")
    );
}
