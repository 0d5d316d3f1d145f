//! Where the hips go and how the figure stands: options, roots that move, bind poses that lie.

use std::path::Path;

use common::rigs::{Build, Made, mixamo};
use common::tolerance;
use common::trials::Trial;
use glam::{DMat4, DVec3};
use libtest_mimic::Failed;
use sinew::math::Trs;
use sinew::sampled::Time;
use sinew_animate::retarget::{
    GroundChoice, RetargetOptions, RetargetPose, RigPlacement, ScaleChoice,
};
use sinew_io::usd::UsdFile;

use crate::formats;
use crate::pair::{Job, pair};
use crate::stages::{self, Stage};

pub fn trials() -> Vec<Trial> {
    common::trials![
        options_reach_the_maths,
        a_lying_bind_pose_does_not_lay_the_figure,
        rest_in_world_space_stands,
        a_moving_root_above_counts
    ]
}

/// Where the hips are at each time, in metres with Y up.
fn hips(made: &Made, file: &Path) -> Vec<DVec3> {
    let scene = UsdFile::open(file).unwrap().scene(Default::default());
    let scene = scene.unwrap();
    let at = |t: u32| {
        let time = Time::At(t.into());
        let posed = scene.instances[0].instance.skel_from_joint(time).unwrap();
        let m = made.rig.placement().world_from_skel * posed[made.at["hips"]];
        m.w_axis.truncate()
    };
    (1..=9).map(at).collect()
}

/// Where the hips of a figure are at rest.
fn rest(made: &Made) -> DVec3 {
    made.position(&made.world(made.rig.rest()), "hips")
}

fn options_reach_the_maths() -> Result<(), Failed> {
    let pair = pair(4);
    let (own, from) = (rest(&pair.target), rest(&pair.source));
    let out = pair.bench.path("out.usdc");
    type Set = fn(&mut RetargetOptions);
    type Went = fn(DVec3) -> DVec3;
    // Of how far the source's hips went, how far the target's go.
    let cases: [(&str, Set, Went); 4] = [
        ("none", |_| {}, |went| went * 0.8),
        (
            "no scale",
            |o| o.scale = ScaleChoice::Factor(1.0),
            // Heights are from the ground: the walker's hips are 0.95 m above it, the hero's 0.76 m.
            |went| went + DVec3::Y * 0.19,
        ),
        (
            "in place",
            |o| o.in_place = true,
            |went| DVec3::Y * went.y * 0.8,
        ),
        (
            "root bone",
            |o| o.root_bone = Some(mixamo("head")),
            |_| DVec3::ZERO,
        ),
    ];
    for (name, set, goes) in cases {
        // The clip tumbles through its ground, which is not to be found by its feet.
        pair.job()
            .with(|job| job.request.options.ground = GroundChoice::Keep)
            .with(|job| set(&mut job.request.options))
            .write(&out)?;
        for (got, (_, pose)) in hips(&pair.target, &out).iter().zip(&pair.poses) {
            let went = pair.source.position(&pair.source.world(pose), "hips") - from;
            let off = got.distance(own + goes(went));
            assert!(off < tolerance::RETARGETED_METRES, "{name}: {off}");
        }
    }
    let turns = |set: Set| -> Result<glam::Quat, Failed> {
        let job = pair.job().with(|job| set(&mut job.request.options));
        let (_, moved) = job.run()?;
        let turns = moved.animation.rotations.at(Time::At(2.0)).ok_or("turns")?;
        Ok(turns[pair.target.at["LUpperArm"]])
    };
    let plain = turns(|_| {})?;
    // The rigs stand in the same pose, so only opening the arms changes anything.
    let cases: [(Set, f32); 2] = [
        (|o| o.pose = RetargetPose::Rest, 0.0),
        (|o| o.arm_space = -10.0, 10.0),
    ];
    for (i, (set, want)) in cases.into_iter().enumerate() {
        let angle = plain.angle_between(turns(set)?).to_degrees();
        assert!((angle - want).abs() < 0.1, "{i}: {angle}");
    }
    Ok(())
}

/// The bind transforms are turned against the rest transforms as a whole.
fn a_lying_bind_pose_does_not_lay_the_figure() -> Result<(), Failed> {
    let pair = pair(5);
    let place = "uniform matrix4d[] bindTransforms = ";
    let laid = DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let turned = pair.target.skeleton.bind().iter();
    let turned: Vec<String> = turned.map(|m| stages::matrix(&(laid * *m))).collect();
    pair.edit("hero.usda", |hero| {
        let line = hero.lines().find(|l| l.trim_start().starts_with(place));
        let line = line.expect("bind transforms");
        hero.replace(line, &format!("{place}[{}]", turned.join(", ")))
    });
    let job = pair
        .job()
        .with(|job| job.source.clip = Some("Still".to_owned()));
    // The pose stands by itself, so the space of its transforms does not matter.
    for pose in [RetargetPose::Auto, RetargetPose::Bind, RetargetPose::Rest] {
        let out = pair.bench.path(&format!("{pose:?}.usda"));
        let job = job.clone().with(|job| job.request.options.pose = pose);
        let moved = job.write(&out)?;
        let measured = moved.retargeter.measured().each_ref().map(|m| m.reference);
        let expected = match pose {
            RetargetPose::Rest => "rest",
            _ => "bind",
        };
        assert_eq!(measured, [expected; 2]);
        let at = formats::world(&formats::scene(&out, None)?, 1.0);
        let trunk = (at["J_Bip_C_Head"].w_axis - at["J_Bip_C_Hips"].w_axis).truncate();
        let degrees = trunk.angle_between(DVec3::Y).to_degrees();
        assert!(degrees < 5.0, "{pose:?}: {degrees}");
    }
    Ok(())
}

/// As Maya's exporter writes HumanIK characters: bind and rest transforms in world space, below a
/// SkelRoot that is rotated, and animation that is not in world space.
fn rest_in_world_space_stands() -> Result<(), Failed> {
    let pair = pair(6);
    let laid = DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let made = Build {
        placement: RigPlacement {
            world_from_skel: laid,
            up: DVec3::Z,
            meters_per_unit: 0.01,
        },
        skel_from_body: DMat4::from_scale(DVec3::splat(100.0)) * laid,
        ..Build::default()
    }
    .make();
    let hips = made.at["hips"];
    let clip = |i: u32| {
        let mut pose = made.rig.rest().to_vec();
        let moved = DMat4::from_translation(DVec3::Y * -10.0 * f64::from(i));
        pose[hips] = Trs::from_matrix(&(laid.inverse() * moved * pose[hips].matrix()));
        (f64::from(i), pose)
    };
    let stage = Stage {
        up: 'Z',
        meters_per_unit: 0.01,
        clips: vec![("Walk", (0..9).map(clip).collect())],
        ..Stage::of(&made)
    };
    let maya = pair.bench.write("maya.usda", stage.text());
    let report = sinew_check::check_file(&maya, &Default::default())?;
    assert_eq!(report.of("rest-pose-lies").count(), 1);
    let lean = |file: &Path, up: DVec3, head: &str, hips: &str| -> Result<f64, Failed> {
        let scene = formats::scene(file, None)?;
        let most = (1..8).map(|time| {
            let at = formats::world(&scene, f64::from(time));
            let trunk = (at[head].w_axis - at[hips].w_axis).truncate();
            trunk.angle_between(up).to_degrees()
        });
        Ok(most.fold(0.0, f64::max))
    };
    // From it, and onto it.
    let (hero, back) = (pair.bench.path("hero2.usda"), pair.bench.path("back.usda"));
    let moved = Job::new(&maya, pair.bench.path("hero.usda")).write(&hero)?;
    let scale = moved.retargeter.root_scale();
    assert!((scale - 0.8).abs() < tolerance::BEND_BY_HAND, "{scale}");
    let degrees = lean(&hero, DVec3::Y, "J_Bip_C_Head", "J_Bip_C_Hips")?;
    assert!(degrees < 5.0, "{degrees}");
    Job::new(&hero, &maya).write(&back)?;
    let degrees = lean(&back, DVec3::Z, &mixamo("head"), &mixamo("hips"))?;
    assert!(degrees < 5.0, "{degrees}");
    Ok(())
}

/// Puts a translation from frame 1 to 9 in place of a figure's transform.
fn translated(text: String, from: &str, to: &str) -> String {
    let start = text.find("matrix4d xformOp:transform").unwrap();
    let end = start + text[start..].find('\n').unwrap();
    let moving = format!("double3 xformOp:translate.timeSamples = {{ 1: {from}, 9: {to} }}");
    let text = text[..start].to_owned() + &moving + &text[end..];
    text.replace("[\"xformOp:transform\"]", "[\"xformOp:translate\"]")
}

/// Converters put the motion of nodes above the joints into xformOps.
fn a_moving_root_above_counts() -> Result<(), Failed> {
    let pair = pair(9);
    pair.edit("walk.usda", |text| {
        translated(text, "(30, -20, 0)", "(130, -20, 0)")
    });
    // As above.
    let job = pair
        .job()
        .with(|job| job.request.options.ground = GroundChoice::Keep);
    let written = |name: &str| -> Result<Vec<DVec3>, Failed> {
        let out = pair.bench.path(name);
        job.write(&out)?;
        Ok(hips(&pair.target, &out))
    };
    let got = written("out.usdc")?;
    let (own, from) = (rest(&pair.target), rest(&pair.source));
    for (i, (got, (_, pose))) in got.iter().zip(&pair.poses).enumerate() {
        let went = pair.source.position(&pair.source.world(pose), "hips") - from;
        // A metre along X, over eight frames.
        let moved = went + DVec3::X * (i as f64 / 8.0);
        let off = got.distance(own + moved * 0.8);
        assert!(off < tolerance::RETARGETED_METRES, "{i}: {off}");
    }
    // What the target stands below may move too: the motion in the world is the clip's.
    pair.edit("hero.usda", |text| {
        translated(text, "(0.5, 0, 0)", "(0.5, 4, 0)")
    });
    let lifted = written("lifted.usdc")?;
    for (i, (lifted, got)) in lifted.iter().zip(&got).enumerate() {
        let off = (*lifted + DVec3::Y * (i as f64 / 2.0)).distance(*got);
        assert!(off < tolerance::RETARGETED_METRES, "{i}: {off}");
    }
    Ok(())
}
