//! Warnings of the reference pose.

use glam::{DMat4, DQuat, DVec3};
use serde_json::{Value, json};
use sinew_animate::retarget::Bone;

use crate::humanoid_codes::made::{SKELETON, good, read};
use common::gltf_maker::GltfMaker;
use common::mannequin::{Axes, Build, Mannequin};

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
