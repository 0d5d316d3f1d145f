//! `sinew retarget`: what it writes, what it asks for and what it does with poses and roots.

mod feet;
mod formats;
mod recognition;
mod requests;
mod stages;
mod written;

use std::path::{Path, PathBuf};

use common::command::{Bench, sinew, stderr, stdout};
use common::rigs::{Build, Made, mixamo, random_turn, vroid};
use common::rng::Rng;
use common::tolerance;
use common::trials::Trial;
use glam::{DMat4, DQuat, DVec3};
use libtest_mimic::Failed;
use serde_json::Value;
use sinew::math::Trs;
use sinew_animate::retarget::RigPlacement;
use sinew_io::usd::UsdFile;
use stages::Stage;
use written::animation;

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("options_reach_the_maths", options_reach_the_maths),
        Trial::test(
            "a_bind_pose_that_lies_is_reported",
            a_bind_pose_that_lies_is_reported,
        ),
        Trial::test("rest_in_world_space_stands", rest_in_world_space_stands),
        Trial::test(
            "a_moving_root_above_the_skeleton_counts",
            a_moving_root_above_the_skeleton_counts,
        ),
    ];
    trials.extend(feet::trials());
    trials.extend(formats::trials());
    trials.extend(recognition::trials());
    trials.extend(requests::trials());
    trials.extend(written::trials());
    trials
}

const SKEL: &str = "/Char/Skel";

/// The bind transforms are turned against the rest transforms, joint by joint by other angles.
fn a_bind_pose_that_lies_is_reported() -> Result<(), Failed> {
    let pair = pair(5);
    let place = "uniform matrix4d[] bindTransforms = ";
    let hero = std::fs::read_to_string(pair.bench.path("hero.usda"))?;
    let line = hero.lines().find(|l| l.trim_start().starts_with(place));
    let line = line.ok_or("bind transforms")?;
    let turned = pair.target.skeleton.bind().iter().enumerate();
    let turned: Vec<String> = turned
        .map(|(i, m)| {
            let angle = std::f64::consts::FRAC_PI_2 + 0.01 * i as f64;
            stages::matrix(&(DMat4::from_rotation_x(angle) * *m))
        })
        .collect();
    let lying = hero.replace(line, &format!("{place}[{}]", turned.join(", ")));
    let lying = pair.bench.write("lying.usda", lying);
    let walk = pair.bench.path("walk.usda");
    let out = pair.bench.path("out.usda");
    let args = [
        "retarget",
        walk.to_str().ok_or("UTF-8")?,
        lying.to_str().ok_or("UTF-8")?,
    ];
    let args = [&args[..], &["-o", out.to_str().ok_or("UTF-8")?]].concat();
    let output = sinew(&[&args[..], &["--clip", "Still", "--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("[retarget-reference]"));
    let report: Value = serde_json::from_str(&stdout(&output))?;
    let codes: Vec<_> = report["warnings"]
        .as_array()
        .ok_or("warnings")?
        .iter()
        .map(|w| w["code"].clone())
        .collect();
    assert!(
        codes.contains(&Value::from("retarget-reference")),
        "{report}"
    );
    assert!(!codes.contains(&Value::from("retarget-lying")), "{report}");
    assert_eq!(
        report["reference_poses"],
        serde_json::json!(["bind", "rest"])
    );
    // The option decides otherwise.
    let output = sinew(&[&args[..], &["--clip", "Still", "--json", "--pose", "bind"]].concat());
    let report: Value = serde_json::from_str(&stdout(&output))?;
    assert_eq!(
        report["reference_poses"],
        serde_json::json!(["bind", "bind"])
    );
    Ok(())
}

/// As Maya's exporter writes HumanIK characters: bind and rest transforms in world space, below a SkelRoot that is rotated,
/// and animation that is not in world space.
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
    pair.bench.write("maya.usda", stage.text());
    let path = |name: &str| {
        pair.bench
            .path(name)
            .to_str()
            .unwrap_or_default()
            .to_owned()
    };
    let output = sinew(&["check", &path("maya.usda"), "--json"]);
    assert!(
        stdout(&output).contains("\"rest-pose-lies\""),
        "{}",
        stdout(&output)
    );
    let upright = |file: &str, up: DVec3, head: &str, hips: &str| -> Result<f64, Failed> {
        let output = pair.bench.path(file);
        let scene = formats::scene(&output, None)?;
        let most = (1..8).map(|time| {
            let at = formats::world(&scene, f64::from(time));
            let trunk = (at[head].w_axis - at[hips].w_axis).truncate();
            trunk.angle_between(up).to_degrees()
        });
        Ok(most.fold(0.0, f64::max))
    };
    // From it, and onto it.
    let args = [
        "retarget",
        &path("maya.usda"),
        &path("hero.usda"),
        "-o",
        &path("hero2.usda"),
    ];
    let output = sinew(&[&args[..], &["--json"]].concat());
    assert!(
        stderr(&output).contains("[retarget-reference]"),
        "{}",
        stderr(&output)
    );
    let report: Value = serde_json::from_str(&stdout(&output))?;
    let scale = report["root_scale"].as_f64().ok_or("a scale")?;
    assert!((scale - 0.8).abs() < tolerance::BEND_BY_HAND, "{scale}");
    let lean = upright("hero2.usda", DVec3::Y, "J_Bip_C_Head", "J_Bip_C_Hips")?;
    assert!(lean < 5.0, "{lean} degrees");
    let still = [
        "retarget",
        &path("hero2.usda"),
        &path("maya.usda"),
        "-o",
        &path("back.usda"),
    ];
    let output = sinew(&still);
    assert!(output.status.success(), "{}", stderr(&output));
    let lean = upright("back.usda", DVec3::Z, &mixamo("head"), &mixamo("hips"))?;
    assert!(lean < 5.0, "{lean} degrees");
    Ok(())
}

/// A Z-up walker in centimetres with Mixamo's names, and a Y-up hero in metres with VRoid's.
struct Pair {
    bench: Bench,
    source: Made,
    target: Made,
    poses: Vec<(f64, Vec<Trs>)>,
}

fn pair(seed: u64) -> Pair {
    let bench = Bench::new();
    let mut rng = Rng::new(seed);
    let source = Build {
        orient: Box::new(|_| random_turn(&mut rng)),
        placement: RigPlacement {
            world_from_skel: DMat4::from_translation(DVec3::new(30.0, -20.0, 0.0)),
            up: DVec3::Z,
            meters_per_unit: 0.01,
        },
        skel_from_body: DMat4::from_scale(DVec3::splat(100.0))
            * DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2),
        ..Build::default()
    }
    .make();
    let target = Build {
        name: &vroid,
        orient: Box::new(|_| random_turn(&mut rng)),
        reshape: &|_, at| at * 0.8,
        extra: vec![
            ("LUpperArm", "J_Sec_L_Twist", true),
            ("head", "J_Sec_Hair", false),
        ],
        root: Some("Root"),
        placement: RigPlacement {
            world_from_skel: DMat4::from_translation(DVec3::new(0.5, 0.0, 0.0)),
            ..RigPlacement::default()
        },
        ..Build::default()
    }
    .make();
    // Turning on, so that quaternions pass through half turns.
    let last = source.random_pose(&mut rng, 3.1);
    let poses: Vec<(f64, Vec<Trs>)> = (0..9)
        .map(|i| {
            let mut pose = source.rig.rest().to_vec();
            for (local, last) in pose.iter_mut().zip(&last) {
                let (axis, _) = (local.rotation.inverse() * last.rotation).to_axis_angle();
                let angle = f64::from(i) * 0.8;
                local.rotation = (local.rotation * DQuat::from_axis_angle(axis, angle)).normalize();
                local.translation = local.translation.lerp(last.translation, f64::from(i) / 8.0);
            }
            (f64::from(i) + 1.0, pose)
        })
        .collect();
    let walk = Stage {
        made: &source,
        up: 'Z',
        meters_per_unit: 0.01,
        rate: 30.0,
        clips: vec![("Walk", poses.clone()), ("Still", poses[..1].to_vec())],
        channels: &["Wink", "Smile"],
        shapes: &[],
    };
    bench.write("walk.usda", walk.text());
    let hero = Stage {
        shapes: &["Smile", "Frown"],
        ..Stage::of(&target)
    };
    bench.write("hero.usda", hero.text());
    Pair {
        bench,
        source,
        target,
        poses,
    }
}

impl Pair {
    /// Another hero, whose joints have these names for the bones.
    fn write_hero(&self, name: &dyn Fn(&str) -> String) -> PathBuf {
        let made = Build {
            name,
            ..Build::default()
        }
        .make();
        self.bench.write("hero.usda", Stage::of(&made).text())
    }

    fn run(&self, out: &str, more: &[&str]) -> std::process::Output {
        let path = |name: &str| self.bench.path(name).to_str().unwrap().to_owned();
        let (clip, target, out) = (path("walk.usda"), path("hero.usda"), path(out));
        let mut args = vec!["retarget", &clip, &target, "-o", &out];
        args.extend(more);
        sinew(&args)
    }

    fn ran(&self, out: &str, more: &[&str]) -> std::process::Output {
        let output = self.run(out, more);
        assert!(output.status.success(), "{}", stderr(&output));
        output
    }
}

/// Where the hips are at each time, in metres with Y up.
fn hips(made: &Made, file: &Path) -> Vec<DVec3> {
    let file = UsdFile::open(file).unwrap();
    let scene = file.scene(Default::default()).unwrap();
    let at = |t: u32| {
        let time = sinew::sampled::Time::At(t.into());
        let posed = scene.instances[0].instance.skel_from_joint(time).unwrap();
        let m = made.rig.placement().world_from_skel * posed[made.at["hips"]];
        m.w_axis.truncate()
    };
    (1..=9).map(at).collect()
}

fn options_reach_the_maths() -> Result<(), Failed> {
    let pair = pair(4);
    let rest = pair
        .target
        .position(&pair.target.world(pair.target.rig.rest()), "hips");
    let source_rest = pair
        .source
        .position(&pair.source.world(pair.source.rig.rest()), "hips");
    let went: Vec<DVec3> = pair
        .poses
        .iter()
        .map(|(_, pose)| pair.source.position(&pair.source.world(pose), "hips") - source_rest)
        .collect();
    let up = |v: &DVec3| DVec3::new(0.0, v.y, 0.0);
    for (options, want) in [
        (
            &[][..],
            &(|v: &DVec3| rest + *v * 0.8) as &dyn Fn(&DVec3) -> DVec3,
        ),
        (&["--no-scale"], &|v| rest + *v),
        (&["--in-place"], &|v| rest + up(v) * 0.8),
        (&["--root-bone", "Head"], &|_| rest),
    ] {
        let options: Vec<&str> = options
            .iter()
            .map(|o| if *o == "Head" { "mixamorig:Head" } else { o })
            .collect();
        pair.ran("out.usdc", &options);
        let got = hips(&pair.target, &pair.bench.path("out.usdc"));
        for (got, went) in got.iter().zip(&went) {
            let off = got.distance(want(went));
            assert!(off < tolerance::RETARGETED_METRES, "{options:?}: {off}");
        }
    }
    let plain = animation(&pair.bench.path("out.usdc"));
    for options in [
        ["--pose", "align"],
        ["--pose", "rest"],
        ["--arm-space", "-10"],
    ] {
        pair.ran("other.usdc", &options);
        let other = animation(&pair.bench.path("other.usdc"));
        let time = sinew::sampled::Time::At(2.0);
        let (a, b) = (
            plain.rotations.at(time).unwrap(),
            other.rotations.at(time).unwrap(),
        );
        let arm = pair.target.at["LUpperArm"];
        let angle = a[arm].angle_between(b[arm]).to_degrees();
        // The rigs stand in the same pose, so only opening the arms changes anything.
        let want = if options[0] == "--arm-space" {
            10.0
        } else {
            0.0
        };
        assert!((angle - want).abs() < 0.1, "{options:?}: {angle}");
    }
    Ok(())
}

/// Converters put the motion of nodes above the joints into xformOps.
fn a_moving_root_above_the_skeleton_counts() -> Result<(), Failed> {
    let pair = pair(9);
    let walk = std::fs::read_to_string(pair.bench.path("walk.usda"))?;
    let start = walk.find("matrix4d xformOp:transform").unwrap();
    let end = start + walk[start..].find('\n').unwrap();
    let moving = "double3 xformOp:translate.timeSamples = { 1: (30, -20, 0), 9: (130, -20, 0) }";
    let walk = walk[..start].to_owned() + moving + &walk[end..];
    pair.bench.write(
        "walk.usda",
        walk.replace("[\"xformOp:transform\"]", "[\"xformOp:translate\"]"),
    );
    pair.ran("out.usdc", &[]);
    let got = hips(&pair.target, &pair.bench.path("out.usdc"));
    let source = |i: usize| {
        pair.source
            .position(&pair.source.world(&pair.poses[i].1), "hips")
    };
    let rest = pair
        .source
        .position(&pair.source.world(pair.source.rig.rest()), "hips");
    let own = pair
        .target
        .position(&pair.target.world(pair.target.rig.rest()), "hips");
    for (i, got) in got.iter().enumerate() {
        // A metre along X, over eight frames.
        let moved = source(i) - rest + DVec3::X * (i as f64 / 8.0);
        let off = got.distance(own + moved * 0.8);
        assert!(off < tolerance::RETARGETED_METRES, "{i}: {off}");
    }
    // What the target stands below may move too: the motion in the world is the clip's.
    let hero = std::fs::read_to_string(pair.bench.path("hero.usda"))?;
    let start = hero.find("matrix4d xformOp:transform").unwrap();
    let end = start + hero[start..].find('\n').unwrap();
    let moving = "double3 xformOp:translate.timeSamples = { 1: (0.5, 0, 0), 9: (0.5, 4, 0) }";
    let hero = hero[..start].to_owned() + moving + &hero[end..];
    let hero = hero.replace("[\"xformOp:transform\"]", "[\"xformOp:translate\"]");
    pair.bench.write("hero.usda", hero);
    pair.ran("lifted.usdc", &[]);
    let lifted = hips(&pair.target, &pair.bench.path("lifted.usdc"));
    for (i, (lifted, got)) in lifted.iter().zip(&got).enumerate() {
        let off = (*lifted + DVec3::Y * (i as f64 / 2.0)).distance(*got);
        assert!(off < tolerance::RETARGETED_METRES, "{i}: {off}");
    }
    Ok(())
}
