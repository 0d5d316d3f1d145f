//! The maths, against plain f64 matrices.

use std::sync::Arc;

use glam::{DMat4, DQuat, DVec3};
use sinew::math::Trs;
use sinew::sampled::Time;
use sinew::skel::{Skeleton, SkeletonInstance};
use sinew_animate::retarget::{
    BoneMap, ClipSource, Humanoid, RetargetOptions, RetargetPose, Retargeter, Rig, RigPlacement,
};

use crate::counting;
use common::rigs::{Build, Made, bones, mixamo, random_turn, vroid};
use common::rng::Rng;
use common::tolerance;

fn humanoid(made: &Made) -> Humanoid {
    Humanoid::recognise(&made.rig).expect("a known rig")
}

fn retargeter(source: &Made, target: &Made, options: &RetargetOptions) -> Retargeter {
    let (s, t) = (humanoid(source), humanoid(target));
    let map = BoneMap::between((&source.rig, &s), (&target.rig, &t));
    Retargeter::new(&source.rig, &target.rig, &map, options).expect("a retargeter")
}

fn moved(retargeter: &mut Retargeter, target: &Made, pose: &[Trs]) -> Vec<Trs> {
    let mut out = vec![Trs::IDENTITY; target.rig.len()];
    retargeter.retarget(pose, &mut out);
    out
}

/// A body of the same directions, with Mixamo's names and its own random joint orients.
fn source(rng: &mut Rng) -> Made {
    Build {
        orient: Box::new(|_| random_turn(rng)),
        ..Build::default()
    }
    .make()
}

/// Another naming, and other joint orients.
fn vroid_target(rng: &mut Rng) -> Made {
    Build {
        name: &vroid,
        orient: Box::new(|_| random_turn(rng)),
        ..Build::default()
    }
    .make()
}

fn close(what: &str, got: DVec3, want: DVec3, within: f64) {
    let off = got.distance(want);
    assert!(off <= within, "{what}: {got} is {off:.3e} from {want}");
}

/// Bones of the same direction at bind point the same way in every pose.
fn same_directions(source: &Made, target: &Made, pose: &[Trs], out: &[Trs]) {
    let (from, to) = (source.world(pose), target.world(out));
    let mut compared = 0;
    for (a, b) in bones() {
        if [&a, &b]
            .iter()
            .all(|k| source.at.contains_key(*k) && target.at.contains_key(*k))
        {
            let want = source.direction(&from, &a, &b);
            close(
                &format!("{a} to {b}"),
                target.direction(&to, &a, &b),
                want,
                tolerance::DIRECTION,
            );
            compared += 1;
        }
    }
    assert!(compared >= 8, "{compared} bones compared");
}

#[test]
fn directions_are_the_sources_for_any_joint_orients() {
    for seed in 0..30 {
        let mut rng = Rng::new(seed);
        let source = source(&mut rng);
        let target = Build {
            name: &vroid,
            orient: Box::new(|_| random_turn(&mut rng)),
            reshape: &|_, at| at * 0.8,
            extra: vec![
                ("LUpperArm", "J_Sec_L_ArmTwist", true),
                ("LLowerLeg", "J_Sec_L_LegTwist", false),
                ("head", "J_Sec_Hair", false),
            ],
            root: Some("Root"),
            ..Build::default()
        }
        .make();
        let mut retargeter = retargeter(&source, &target, &RetargetOptions::default());
        assert_eq!(retargeter.warnings(), []);
        for _ in 0..5 {
            let pose = source.random_pose(&mut rng, 3.0);
            let out = moved(&mut retargeter, &target, &pose);
            same_directions(&source, &target, &pose, &out);
            // Joints that follow none keep their rest to the last bit.
            for (j, name) in target.rig.names().iter().enumerate() {
                if name.starts_with("J_Sec") || name == "Root" {
                    assert_eq!(out[j], target.rig.rest()[j], "{name}");
                }
            }
            // And none but the hips moves or scales.
            for (j, (local, rest)) in out.iter().zip(target.rig.rest()).enumerate() {
                assert_eq!(local.scale, rest.scale);
                if j != target.at["hips"] {
                    assert_eq!(local.translation, rest.translation);
                }
            }
        }
    }
}

/// The comparison above would see the formula that the blog prints.
#[test]
fn the_other_order_of_the_products_is_far_off() {
    let mut rng = Rng::new(7);
    let source = source(&mut rng);
    let target = vroid_target(&mut rng);
    let pose = source.random_pose(&mut rng, 1.0);
    let posed = source.world(&pose);
    let turn = |m: &DMat4| m.to_scale_rotation_translation().1;
    let j = source.at["LUpperArm"];
    let (b_s, b_t) = (
        turn(&source.rig.bind_skel()[j]),
        turn(&target.rig.bind_skel()[j]),
    );
    let wrong = (b_s.inverse() * b_t) * turn(&posed[j]);
    let right = turn(&posed[j]) * b_s.inverse() * b_t;
    assert!(wrong.angle_between(right) > 0.1);
    let out = moved(
        &mut retargeter(&source, &target, &RetargetOptions::default()),
        &target,
        &pose,
    );
    let got = turn(&target.world(&out)[target.at["LUpperArm"]]);
    assert!(got.dot(right).abs() > 1.0 - tolerance::FORMULAS_IN_F64);
}

#[test]
fn the_local_form_of_the_specification_agrees() {
    let mut rng = Rng::new(11);
    let source = source(&mut rng);
    let target = vroid_target(&mut rng);
    let pose = source.random_pose(&mut rng, 3.0);
    let out = moved(
        &mut retargeter(&source, &target, &RetargetOptions::default()),
        &target,
        &pose,
    );
    let bind = |made: &Made, j: usize| made.rig.bind_skel()[j].to_scale_rotation_translation().1;
    let k = |key: &str| bind(&source, source.at[key]).inverse() * bind(&target, target.at[key]);
    for (parent, child) in bones()
        .iter()
        .filter(|(a, b)| *a != "Hand" && b != "Middle1")
    {
        let want = k(parent).inverse() * pose[source.at[child.as_str()]].rotation * k(child);
        let got = out[target.at[child.as_str()]].rotation;
        assert!(
            got.dot(want).abs() > 1.0 - tolerance::FORMULAS_IN_F64,
            "{child}: {got} {want}"
        );
    }
}

#[test]
fn half_the_bones_are_enough() {
    let mut rng = Rng::new(3);
    let source = source(&mut rng);
    let gone = [
        "spine",
        "upperChest",
        "LShoulder",
        "RShoulder",
        "LToes",
        "RToes",
        "LThumb1",
        "RThumb1",
        "LThumb2",
        "RThumb2",
        "LThumb3",
        "RThumb3",
        "LMiddle1",
        "RMiddle1",
        "LMiddle2",
        "RMiddle2",
        "LMiddle3",
        "RMiddle3",
    ];
    let target = Build {
        name: &vroid,
        orient: Box::new(|_| random_turn(&mut rng)),
        has: &|key| !gone.contains(&key),
        ..Build::default()
    }
    .make();
    assert_eq!(target.at.len(), source.at.len() - gone.len());
    let mut retargeter = retargeter(&source, &target, &RetargetOptions::default());
    let pose = source.random_pose(&mut rng, 3.0);
    let out = moved(&mut retargeter, &target, &pose);
    same_directions(&source, &target, &pose, &out);
    // The other way round: what the smaller rig lacks stays at rest.
    let mut back = self::retargeter(&target, &source, &RetargetOptions::default());
    let pose = target.random_pose(&mut rng, 3.0);
    let out = moved(&mut back, &source, &pose);
    same_directions(&target, &source, &pose, &out);
    for key in gone {
        let j = source.at[key];
        assert_eq!(out[j], source.rig.rest()[j], "{key}");
    }
}

/// An A-pose against a T-pose.
fn arms_down(key: &str, at: DVec3) -> DVec3 {
    let arm = ["LowerArm", "Hand", "Thumb", "Middle"];
    if !arm.iter().any(|a| key[1..].starts_with(a)) {
        return at;
    }
    let side = at.x.signum();
    let shoulder = DVec3::new(0.17 * side, 1.42, -0.01);
    DQuat::from_rotation_z(-0.8 * side) * (at - shoulder) + shoulder
}

#[test]
fn align_turns_the_limbs_of_the_reference() {
    let mut rng = Rng::new(5);
    let source = source(&mut rng);
    let target = Build {
        name: &vroid,
        orient: Box::new(|_| random_turn(&mut rng)),
        reshape: &arms_down,
        ..Build::default()
    }
    .make();
    let pose = source.random_pose(&mut rng, 3.0);
    let mut plain = retargeter(&source, &target, &RetargetOptions::default());
    let out = moved(&mut plain, &target, &pose);
    let (from, to) = (source.world(&pose), target.world(&out));
    let off = source
        .direction(&from, "LUpperArm", "LLowerArm")
        .angle_between(target.direction(&to, "LUpperArm", "LLowerArm"));
    assert!((off - 0.8).abs() < tolerance::BEND_BY_HAND, "{off}");
    let mut options = RetargetOptions::default();
    options.pose = RetargetPose::Align;
    let mut aligned = retargeter(&source, &target, &options);
    for _ in 0..5 {
        let pose = source.random_pose(&mut rng, 3.0);
        let out = moved(&mut aligned, &target, &pose);
        same_directions(&source, &target, &pose, &out);
    }
    // At the source's bind pose the target's arms are level, with the roll that they had.
    let out = moved(&mut aligned, &target, source.rig.rest());
    let to = target.world(&out);
    let arm = target.at["LUpperArm"];
    let turned = to[arm].to_scale_rotation_translation().1;
    let bind = target.rig.bind_skel()[arm]
        .to_scale_rotation_translation()
        .1;
    let turn = turned * bind.inverse();
    let rest = |made: &Made| made.direction(&made.world(made.rig.rest()), "LUpperArm", "LLowerArm");
    let want = DQuat::from_rotation_arc(rest(&target), rest(&source));
    assert!(
        turn.dot(want).abs() > 1.0 - tolerance::FORMULAS_IN_F64,
        "{turn}"
    );
}

#[test]
fn a_z_up_source_in_centimetres_moves_a_y_up_target_in_metres() {
    let mut rng = Rng::new(8);
    let z_up = DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let source = Build {
        orient: Box::new(|_| random_turn(&mut rng)),
        placement: RigPlacement {
            up: DVec3::Z,
            meters_per_unit: 0.01,
            ..RigPlacement::default()
        },
        skel_from_body: DMat4::from_scale(DVec3::splat(100.0)) * z_up,
        ..Build::default()
    }
    .make();
    let target = Build {
        name: &vroid,
        orient: Box::new(|_| random_turn(&mut rng)),
        reshape: &|_, at| at * 0.5,
        ..Build::default()
    }
    .make();
    let mut retargeter = retargeter(&source, &target, &RetargetOptions::default());
    assert!((retargeter.root_scale() - 0.5).abs() < tolerance::FORMULAS_IN_F64);
    assert_eq!(retargeter.warnings(), []);
    let pose = source.random_pose(&mut rng, 3.0);
    let out = moved(&mut retargeter, &target, &pose);
    same_directions(&source, &target, &pose, &out);
    // p = rest_t + s (p_s - rest_s), in metres.
    let at = |made: &Made, pose: &[Trs]| made.position(&made.world(pose), "hips");
    let went = at(&source, &pose) - at(&source, source.rig.rest());
    let want = at(&target, target.rig.rest()) + went * 0.5;
    close(
        "hips",
        at(&target, &out),
        want,
        tolerance::RETARGETED_IN_F64,
    );
}

#[test]
fn the_root_moves_by_the_formula_and_its_options() {
    let mut rng = Rng::new(9);
    let source = source(&mut rng);
    let make = |root| {
        Build {
            name: &vroid,
            reshape: &|_, at| at * 1.5,
            root,
            ..Build::default()
        }
        .make()
    };
    let target = make(None);
    let pose = source.random_pose(&mut rng, 1.0);
    let at = |made: &Made, pose: &[Trs]| made.position(&made.world(pose), "hips");
    let went = at(&source, &pose) - at(&source, source.rig.rest());
    assert!(went.length() > 0.1);
    let rest = at(&target, target.rig.rest());
    let run = |target: &Made, options: &RetargetOptions| {
        let mut retargeter = retargeter(&source, target, options);
        let out = moved(&mut retargeter, target, &pose);
        (at(target, &out), out)
    };
    let plain = RetargetOptions::default();
    close(
        "scaled",
        run(&target, &plain).0,
        rest + went * 1.5,
        tolerance::RETARGETED_IN_F64,
    );
    let mut no_scale = plain.clone();
    no_scale.no_scale = true;
    close(
        "not scaled",
        run(&target, &no_scale).0,
        rest + went,
        tolerance::RETARGETED_IN_F64,
    );
    let mut in_place = plain.clone();
    in_place.in_place = true;
    let up = DVec3::new(0.0, went.y * 1.5, 0.0);
    close(
        "in place",
        run(&target, &in_place).0,
        rest + up,
        tolerance::RETARGETED_IN_F64,
    );
    // A turned and moved joint above the hips changes nothing of where they are in the world.
    let rooted = make(Some("Root"));
    close(
        "below a root",
        run(&rooted, &plain).0,
        rest + went * 1.5,
        tolerance::RETARGETED_IN_F64,
    );
    // Another bone may carry it: the hips stay where they are then.
    let mut spine = plain.clone();
    spine.root_bone = Some(mixamo("spine"));
    let (hips, out) = run(&target, &spine);
    close("hips", hips, rest, tolerance::RETARGETED_IN_F64);
    let spine_at = |made: &Made, pose: &[Trs]| made.position(&made.world(pose), "spine");
    let went = spine_at(&source, &pose) - spine_at(&source, source.rig.rest());
    let want = spine_at(&target, target.rig.rest()) + went * 1.5;
    close(
        "spine",
        spine_at(&target, &out),
        want,
        tolerance::RETARGETED_IN_F64,
    );
}

#[test]
fn hips_are_as_high_as_they_stand() {
    let mut rng = Rng::new(21);
    let source = source(&mut rng);
    let ratio = |has: &dyn Fn(&str) -> bool, body: DMat4, stands_at: f64| {
        let target = Build {
            name: &vroid,
            has,
            skel_from_body: body,
            placement: RigPlacement {
                world_from_skel: DMat4::from_translation(DVec3::new(0.0, stands_at, 0.0)),
                ..RigPlacement::default()
            },
            ..Build::default()
        }
        .make();
        retargeter(&source, &target, &RetargetOptions::default()).root_scale()
    };
    let all = |_: &str| true;
    let legs_end = |part: &'static str| move |key: &str| !key[1..].starts_with(part);
    let twice = DMat4::from_scale(DVec3::splat(2.0));
    // Legs so short that the ankles are at a third of the hips' height; the soles are on the ground all the same.
    let stocky = |key: &str, at: DVec3| match key {
        "LUpperLeg" | "RUpperLeg" => at.with_y(0.24),
        "LLowerLeg" | "RLowerLeg" => at.with_y(0.17),
        "hips" => at.with_y(0.27),
        _ => at,
    };
    let stocky = Build {
        name: &vroid,
        reshape: &stocky,
        ..Build::default()
    }
    .make();
    let short = retargeter(&source, &stocky, &RetargetOptions::default()).root_scale();
    assert!(
        (short - 0.27 / 0.95).abs() < tolerance::RETARGETED_IN_F64,
        "{short}"
    );
    // On the ground, with whatever legs it has; on a table; hanging from its hips.
    for (got, want) in [
        (ratio(&all, twice, 0.0), 2.0),
        (ratio(&legs_end("Foot"), twice, 0.0), 2.0),
        (ratio(&legs_end("LowerLeg"), twice, 0.0), 2.0),
        (ratio(&all, twice, 0.8), 2.0),
        (
            ratio(&all, twice * DMat4::from_translation(DVec3::Y * -0.95), 0.0),
            2.0,
        ),
    ] {
        assert!(
            (got - want).abs() < tolerance::RETARGETED_IN_F64,
            "{got} {want}"
        );
    }
}

#[test]
fn a_root_above_the_hips_carries_its_own_motion() {
    let mut rng = Rng::new(10);
    let make = |name: &'static dyn Fn(&str) -> String, size: f64, rng: &mut Rng| {
        Build {
            name,
            orient: Box::new(|_| random_turn(rng)),
            reshape: &|_, at| at * size,
            root: Some("root"),
            ..Build::default()
        }
        .make()
    };
    let source = make(&mixamo, 1.0, &mut rng);
    let target = make(&vroid, 2.0, &mut rng);
    let pairs = BoneMap::between(
        (&source.rig, &humanoid(&source)),
        (&target.rig, &humanoid(&target)),
    );
    let mut json = serde_json::to_value(&pairs).unwrap();
    json["root"] = "root".into();
    let map = BoneMap::from_json(&json.to_string(), "map.json").unwrap();
    let known = humanoid(&source);
    let map = map.with_bones((&source.rig, Some(&known)), (&target.rig, None));
    let mut retargeter =
        Retargeter::new(&source.rig, &target.rig, &map, &RetargetOptions::default()).unwrap();
    let mut pose = source.random_pose(&mut rng, 1.0);
    pose[0].translation += DVec3::new(3.0, 0.25, -1.0);
    let out = moved(&mut retargeter, &target, &pose);
    let (from, to) = (source.world(&pose), target.world(&out));
    close(
        "root",
        to[0].w_axis.truncate(),
        from[0].w_axis.truncate() * 2.0,
        tolerance::RETARGETED_IN_F64,
    );
    let hips = source.position(&from, "hips");
    close(
        "hips",
        target.position(&to, "hips"),
        hips * 2.0,
        tolerance::RETARGETED_IN_F64,
    );
    same_directions(&source, &target, &pose, &out);
}

/// A rig that is bound in the world below an Armature that is turned onto its back, and whose arms hang at rest.
fn bound_in_the_world() -> Made {
    let turned = DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let placement = RigPlacement {
        world_from_skel: turned.inverse(),
        ..RigPlacement::default()
    };
    let made = Build {
        name: &vroid,
        skel_from_body: turned,
        placement,
        ..Build::default()
    }
    .make();
    let bind = made.skeleton.bind().iter();
    let bind = bind.map(|m| placement.world_from_skel * *m).collect();
    let mut rest = made.skeleton.rest().expect("a rest pose").to_vec();
    for (arm, angle) in [("LUpperArm", -1.2), ("RUpperArm", 1.2)] {
        let joint = made.at[arm];
        rest[joint] *= DMat4::from_rotation_z(angle);
    }
    let joints = made.skeleton.joints().to_vec();
    let skeleton = Skeleton::new("/Skel", joints, Some(bind), Some(rest)).expect("a skeleton");
    let skeleton = skeleton.with_joint_names(made.skeleton.joint_names().map(<[_]>::to_vec));
    let rig = Rig::new("a rig", &skeleton, placement).expect("a rig");
    Made {
        rig,
        skeleton,
        at: made.at,
    }
}

/// Codes of a whole clip: one frame, in which the source is where it is said to be.
fn codes(
    source: &Made,
    target: &Made,
    pose: RetargetPose,
    world_from_skel: DMat4,
) -> Vec<&'static str> {
    let mut options = RetargetOptions::default();
    options.pose = pose;
    let mut retargeter = retargeter(source, target, &options);
    let instance = SkeletonInstance::new(Arc::new(source.skeleton.clone()), None);
    let world = |_: Time| world_from_skel;
    let clip = ClipSource {
        instance: &instance,
        world_from_skel: Some(&world),
        world_from_target: None,
    };
    let made = retargeter.retarget_clip(&clip, &target.rig, &[1.0, 2.0], &[]);
    made.expect("a clip");
    retargeter.warnings().iter().map(|w| w.code).collect()
}

#[test]
fn a_target_that_lies_while_the_source_stands_is_told() {
    let mut rng = Rng::new(21);
    let upright = source(&mut rng);
    let fine = vroid_target(&mut rng);
    let wrong = bound_in_the_world();
    let standing = DMat4::IDENTITY;
    let lying = DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2);
    for world in [standing, lying] {
        assert!(codes(&upright, &fine, RetargetPose::Bind, world).is_empty());
        assert_eq!(
            codes(&upright, &wrong, RetargetPose::Bind, world),
            ["retarget-lying"]
        );
        assert!(codes(&upright, &wrong, RetargetPose::Rest, world).is_empty());
    }
    // As the source it lays others down.
    let placed = wrong.rig.placement().world_from_skel;
    assert_eq!(
        codes(&wrong, &fine, RetargetPose::Bind, placed),
        ["retarget-lying"]
    );
    // A beast's trunk lies in every pose.
    let beast = Build {
        name: &vroid,
        reshape: &|_, at| DVec3::new(at.x, 0.5 - at.z, at.y),
        ..Build::default()
    }
    .make();
    assert!(codes(&upright, &beast, RetargetPose::Bind, standing).is_empty());
}

#[test]
fn characters_face_their_own_way() {
    let mut rng = Rng::new(12);
    let source = source(&mut rng);
    // Built facing backward, as VRM 0.x is, and standing turned and moved in its stage.
    let back = DMat4::from_rotation_y(std::f64::consts::PI);
    let placed =
        DMat4::from_rotation_translation(DQuat::from_rotation_y(0.9), DVec3::new(4.0, 0.0, -2.0));
    let target = Build {
        name: &vroid,
        orient: Box::new(|_| random_turn(&mut rng)),
        skel_from_body: back,
        placement: RigPlacement {
            world_from_skel: placed,
            ..RigPlacement::default()
        },
        ..Build::default()
    }
    .make();
    let mut retargeter = retargeter(&source, &target, &RetargetOptions::default());
    let codes: Vec<_> = retargeter.warnings().iter().map(|w| w.code).collect();
    assert_eq!(codes, ["retarget-facing"]);
    let pose = source.random_pose(&mut rng, 3.0);
    let out = moved(&mut retargeter, &target, &pose);
    // Seen from where each character stands, all points the same way.
    let own = (placed * back).inverse();
    let to: Vec<DMat4> = target.world(&out).iter().map(|m| own * *m).collect();
    let from = source.world(&pose);
    for (a, b) in bones() {
        let want = source.direction(&from, &a, &b);
        close(
            &a,
            target.direction(&to, &a, &b),
            want,
            tolerance::DIRECTION,
        );
    }
    let went =
        source.position(&from, "hips") - source.position(&source.world(source.rig.rest()), "hips");
    let rest = DVec3::new(0.0, 0.95, 0.0);
    close(
        "hips",
        target.position(&to, "hips"),
        rest + went,
        tolerance::RETARGETED_IN_F64,
    );
}

#[test]
fn bind_transforms_of_another_space_count_as_turned() {
    // Meshes of glTF files may be bound lying down, with a node above that sets all upright.
    let mut rng = Rng::new(13);
    let source = source(&mut rng);
    let straight = vroid_target(&mut rng);
    let lying = DMat4::from_rotation_x(1.2) * DMat4::from_translation(DVec3::new(0.1, 0.2, 0.3));
    let bind = straight
        .skeleton
        .bind()
        .iter()
        .map(|b| lying * *b)
        .collect();
    let skeleton = sinew::skel::Skeleton::new(
        "/Skel",
        straight.skeleton.joints().to_vec(),
        Some(bind),
        straight.skeleton.rest().map(<[DMat4]>::to_vec),
    )
    .unwrap()
    .with_joint_names(Some(straight.rig.names().to_vec()));
    let rig =
        sinew_animate::retarget::Rig::new("lying", &skeleton, RigPlacement::default()).unwrap();
    let target = Made {
        rig,
        at: straight.at,
        skeleton,
    };
    let pose = source.random_pose(&mut rng, 3.0);
    let out = moved(
        &mut retargeter(&source, &target, &RetargetOptions::default()),
        &target,
        &pose,
    );
    same_directions(&source, &target, &pose, &out);
}

#[test]
fn arm_space_opens_the_arms() {
    let mut rng = Rng::new(14);
    let source = source(&mut rng);
    let target = vroid_target(&mut rng);
    let mut opened = RetargetOptions::default();
    opened.arm_space = -30.0;
    let out = moved(
        &mut retargeter(&source, &target, &opened),
        &target,
        source.rig.rest(),
    );
    let to = target.world(&out);
    // From a T-pose, closing brings the arms down.
    for (side, sign) in [("L", 1.0), ("R", -1.0)] {
        for (a, b) in [
            ("UpperArm", "LowerArm"),
            ("LowerArm", "Hand"),
            ("Middle1", "Middle2"),
        ] {
            let (a, b) = (format!("{side}{a}"), format!("{side}{b}"));
            let was = source.direction(&source.world(source.rig.rest()), &a, &b);
            let want = DQuat::from_rotation_z(-sign * 30f64.to_radians()) * was;
            close(
                &a,
                target.direction(&to, &a, &b),
                want,
                tolerance::DIRECTION,
            );
        }
    }
    // In any pose the angle is the same, and nothing else moves.
    let pose = source.random_pose(&mut rng, 1.0);
    let plain = RetargetOptions::default();
    let without = moved(&mut retargeter(&source, &target, &plain), &target, &pose);
    let with = moved(&mut retargeter(&source, &target, &opened), &target, &pose);
    let arms = [target.at["LUpperArm"], target.at["RUpperArm"]];
    for (j, (a, b)) in without.iter().zip(&with).enumerate() {
        let angle = a.rotation.dot(b.rotation).abs().min(1.0).acos() * 2.0;
        let want = if arms.contains(&j) {
            30f64.to_radians()
        } else {
            0.0
        };
        assert!(
            (angle - want).abs() < tolerance::ANGLE_BY_ACOS,
            "{}: {angle}",
            target.rig.names()[j]
        );
    }
    let armless = Build {
        has: &|key| !key.contains("UpperArm"),
        ..Build::default()
    }
    .make();
    let (s, t) = (humanoid(&source), humanoid(&armless));
    let map = BoneMap::between((&source.rig, &s), (&armless.rig, &t));
    let refused = Retargeter::new(&source.rig, &armless.rig, &map, &opened).unwrap_err();
    assert!(refused.to_string().contains("upper arms"), "{refused}");
}

#[test]
fn a_moving_placement_moves_the_root() {
    let mut rng = Rng::new(15);
    let source = source(&mut rng);
    let target = Build {
        name: &vroid,
        ..Build::default()
    }
    .make();
    let mut retargeter = retargeter(&source, &target, &RetargetOptions::default());
    let stepped =
        DMat4::from_rotation_translation(DQuat::from_rotation_y(1.0), DVec3::new(2.0, 0.0, 1.0));
    retargeter.place_source(stepped);
    let out = moved(&mut retargeter, &target, source.rig.rest());
    let to = target.world(&out);
    let at = source.position(&source.world(source.rig.rest()), "hips");
    close(
        "hips",
        target.position(&to, "hips"),
        stepped.transform_point3(at),
        tolerance::RETARGETED_IN_F64,
    );
    let want = DQuat::from_rotation_y(1.0)
        * source.direction(&source.world(source.rig.rest()), "LFoot", "LToes");
    close(
        "toes",
        target.direction(&to, "LFoot", "LToes"),
        want,
        tolerance::DIRECTION,
    );
}

/// Mirrored, sheared, flattened: odd, and still numbers; mirrored and evenly scaled ones are exact too.
#[test]
fn odd_transforms_stay_finite() {
    let mut rng = Rng::new(16);
    for kind in 0..4 {
        let source = source(&mut rng);
        let straight = Build {
            name: &vroid,
            orient: Box::new(|_| random_turn(&mut rng)),
            ..Build::default()
        }
        .make();
        let odd = match kind {
            0 => DMat4::from_scale(DVec3::new(-1.0, -1.0, -1.0)),
            1 => DMat4::from_scale(DVec3::splat(2.0)),
            2 => DMat4::from_cols_array(&[
                1.0, 0.4, 0.0, 0.0, 0.0, 1.0, 0.3, 0.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 1.0,
            ]),
            _ => DMat4::from_scale(DVec3::new(1.0, 0.0, 1.0)),
        };
        // A scaled joint's children are brought back to where they were.
        let mut rest = straight.skeleton.rest().unwrap().to_vec();
        let upper = straight.at["LUpperArm"];
        rest[upper] *= odd;
        if kind < 3 {
            let below = (0..rest.len()).filter(|j| straight.rig.parents()[*j] == Some(upper));
            for j in below {
                rest[j] = odd.inverse() * rest[j];
            }
        }
        let skeleton = sinew::skel::Skeleton::new(
            "/Skel",
            straight.skeleton.joints().to_vec(),
            Some(straight.skeleton.bind().to_vec()),
            Some(rest),
        )
        .unwrap()
        .with_joint_names(Some(straight.rig.names().to_vec()));
        let rig =
            sinew_animate::retarget::Rig::new("odd", &skeleton, RigPlacement::default()).unwrap();
        let target = Made {
            rig,
            at: straight.at.clone(),
            skeleton,
        };
        let mut retargeter = retargeter(&source, &target, &RetargetOptions::default());
        let sheared = retargeter
            .warnings()
            .iter()
            .any(|w| w.code == "retarget-shear");
        assert_eq!(sheared, kind == 2, "{kind}");
        let mut pose = source.random_pose(&mut rng, 3.0);
        if kind == 3 {
            pose[source.at["RUpperArm"]].scale = DVec3::ZERO;
        }
        let out = moved(&mut retargeter, &target, &pose);
        for local in &out {
            let all = local.translation.is_finite() && local.scale.is_finite();
            assert!(all && local.rotation.is_normalized(), "{kind}: {local:?}");
        }
        if kind < 2 {
            same_directions(&source, &target, &pose, &out);
        }
    }
}

#[test]
fn frames_allocate_nothing() {
    let mut rng = Rng::new(17);
    let source = source(&mut rng);
    let target = Build {
        name: &vroid,
        extra: vec![("LUpperArm", "Twist", true)],
        ..Build::default()
    }
    .make();
    let mut options = RetargetOptions::default();
    options.pose = RetargetPose::Align;
    options.arm_space = 5.0;
    let mut retargeter = retargeter(&source, &target, &options);
    let pose = source.random_pose(&mut rng, 3.0);
    let mut out = vec![Trs::IDENTITY; target.rig.len()];
    let count = counting::allocations(|| {
        for _ in 0..10 {
            retargeter.place_source(DMat4::IDENTITY);
            retargeter.retarget(&pose, &mut out);
        }
    });
    assert_eq!(count, 0);
    assert!(counting::allocations(|| drop(std::hint::black_box(vec![0u8; 9]))) > 0);
}

/// A character's own clips play on it unchanged, stretched and scaled joints too; and in other units.
#[test]
fn the_same_rig_gets_its_own_pose_back() {
    let mut rng = Rng::new(18);
    let source = source(&mut rng);
    let names = BoneMap::same_names(&source.rig, &source.rig).unwrap();
    let options = RetargetOptions::default();
    let mut retargeter = Retargeter::new(&source.rig, &source.rig, &names, &options).unwrap();
    let mut pose = source.random_pose(&mut rng, 3.0);
    pose[source.at["LUpperArm"]].translation += DVec3::new(0.1, -0.2, 0.05);
    pose[source.at["LHand"]].scale = DVec3::new(1.5, 1.0, 0.5);
    let out = moved(&mut retargeter, &source, &pose);
    let (want, got) = (source.world(&pose), source.world(&out));
    for (want, got) in want.iter().zip(&got) {
        assert!(
            got.abs_diff_eq(*want, tolerance::RETARGETED_IN_F64),
            "{got} {want}"
        );
    }
    // On another body those joints keep their rest.
    let other = Build {
        orient: Box::new(|_| random_turn(&mut rng)),
        ..Build::default()
    }
    .make();
    let out = moved(
        &mut self::retargeter(&source, &other, &options),
        &other,
        &pose,
    );
    for key in ["LUpperArm", "LHand"] {
        let (got, rest) = (out[other.at[key]], other.rig.rest()[other.at[key]]);
        assert_eq!((got.translation, got.scale), (rest.translation, rest.scale));
    }
    // The same body, in centimetres.
    let turns: Vec<DQuat> = (0..source.rig.len())
        .map(|_| random_turn(&mut rng))
        .collect();
    let make = |size: f64| {
        let mut next = turns.iter();
        Build {
            orient: Box::new(move |_| *next.next().unwrap()),
            skel_from_body: DMat4::from_scale(DVec3::splat(size)),
            placement: RigPlacement {
                meters_per_unit: 1.0 / size,
                ..RigPlacement::default()
            },
            ..Build::default()
        }
        .make()
    };
    let (metres, centimetres) = (make(1.0), make(100.0));
    let mut pose = metres.random_pose(&mut rng, 3.0);
    pose[metres.at["RLowerLeg"]].translation += DVec3::new(0.1, -0.2, 0.05);
    let out = moved(
        &mut self::retargeter(&metres, &centimetres, &options),
        &centimetres,
        &pose,
    );
    let (want, got) = (metres.world(&pose), centimetres.world(&out));
    for key in metres.at.keys() {
        close(
            key,
            centimetres.position(&got, key),
            metres.position(&want, key),
            tolerance::RETARGETED_IN_F64,
        );
    }
}
