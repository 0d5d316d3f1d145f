//! Where the root of a character moves to, in its own units.

use glam::{DMat4, DQuat, DVec3};
use sinew::math::Trs;
use sinew_animate::retarget::{BoneMap, RetargetOptions, Retargeter, RigPlacement, ScaleChoice};

use crate::poses::{close, humanoid, leg, moved, retargeter, same_directions, source};
use common::rigs::{Build, Made, mixamo, random_turn, vroid};
use common::rng::Rng;
use common::tolerance;

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
    no_scale.scale = ScaleChoice::Factor(1.0);
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
fn the_root_moves_in_proportion_to_the_legs() {
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
    let want = leg(&stocky) / leg(&source);
    assert!(
        (short - want).abs() < tolerance::RETARGETED_IN_F64,
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

/// A root bone above the hips is found on both sides, though no human bone is there.
#[test]
fn a_root_bone_needs_no_pair() {
    let mut rng = Rng::new(27);
    let make = |name: &'static dyn Fn(&str) -> String, size: f64, root, rng: &mut Rng| {
        Build {
            name,
            orient: Box::new(|_| random_turn(rng)),
            reshape: &|_, at| at * size,
            root,
            ..Build::default()
        }
        .make()
    };
    let source = make(&mixamo, 1.0, Some("root"), &mut rng);
    let target = make(&vroid, 1.4, Some("root"), &mut rng);
    let pairs = |target: &Made| {
        let (s, t) = (humanoid(&source), humanoid(target));
        BoneMap::between((&source.rig, &s), (&target.rig, &t))
    };
    let map = pairs(&target);
    let mut options = RetargetOptions::default();
    options.root_bone = Some("root".into());
    let mut retargeter =
        Retargeter::new(&source.rig, &target.rig, &map, &options).expect("a retargeter");
    let mut pose = source.random_pose(&mut rng, 1.0);
    pose[0].translation = DVec3::new(3.0, 0.25, -1.0);
    let mut out = vec![Trs::IDENTITY; target.rig.len()];
    retargeter.retarget(&pose, &mut out);
    let (from, to) = (source.world(&pose), target.world(&out));
    let scale = retargeter.root_scale();
    let within = tolerance::RETARGETED_IN_F64;
    for (s, t) in [(0, 0), (source.at["hips"], target.at["hips"])] {
        let want = from[s].w_axis.truncate() * scale;
        close("root and hips", to[t].w_axis.truncate(), want, within);
    }
    // Without it the root stays, and the hips move all the same.
    let plain = RetargetOptions::default();
    let mut plain = Retargeter::new(&source.rig, &target.rig, &map, &plain).expect("a retargeter");
    plain.retarget(&pose, &mut out);
    assert_eq!(out[0], target.rig.rest()[0]);
    let hips = target.world(&out)[target.at["hips"]].w_axis.truncate();
    close(
        "hips",
        hips,
        to[target.at["hips"]].w_axis.truncate(),
        within,
    );
    // A target that has none is told.
    let rootless = make(&vroid, 1.0, None, &mut rng);
    let map = pairs(&rootless);
    let refused = Retargeter::new(&source.rig, &rootless.rig, &map, &options).unwrap_err();
    assert!(refused.to_string().contains("root bone root"), "{refused}");
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
