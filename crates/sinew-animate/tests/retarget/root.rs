//! Where the root of a character moves to, in its own units.

use glam::{DMat4, DQuat, DVec3};
use sinew::math::Trs;
use sinew_animate::retarget::{BoneMap, RetargetOptions, Retargeter, RigPlacement};

use crate::poses::{close, humanoid, leg, moved, retargeter, same_directions, source};
use common::rigs::{Build, Made, mixamo, random_turn, vroid};
use common::rng::Rng;
use common::tolerance;

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
