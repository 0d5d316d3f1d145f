//! `sinew retarget`, and what usd-core makes of its output.

mod feet;
mod formats;
mod recognition;
mod stages;

use std::path::Path;
use std::process::Command;

use common::command::{Bench, misused, refused, sinew, stderr, stdout};
use common::rigs::{Build, Made, bones, mixamo, random_turn, vroid};
use common::rng::Rng;
use common::trials::Trial;
use common::{python, tolerance, usd};
use glam::{DMat4, DQuat, DVec3};
use libtest_mimic::Failed;
use serde_json::{Value, json};
use sinew::math::Trs;
use sinew_animate::retarget::RigPlacement;
use sinew_io::usd::UsdFile;
use sinew_layer::Value as Usd;
use sinew_stage::Stage as UsdStage;
use stages::Stage;

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("the_table_names_every_bone", the_table_names_every_bone),
        Trial::test("what_is_written_is_complete", what_is_written_is_complete),
        Trial::test("formats_hold_the_same", formats_hold_the_same),
        Trial::test("options_reach_the_maths", options_reach_the_maths),
        Trial::test(
            "the_printed_map_gives_the_same",
            the_printed_map_gives_the_same,
        ),
        Trial::test(
            "clips_and_skeletons_are_chosen",
            clips_and_skeletons_are_chosen,
        ),
        Trial::test("an_unknown_rig_shows_a_guess", an_unknown_rig_shows_a_guess),
        Trial::test("bad_requests_write_nothing", bad_requests_write_nothing),
        Trial::test(
            "a_bind_pose_that_lies_is_reported",
            a_bind_pose_that_lies_is_reported,
        ),
        Trial::test("rest_in_world_space_stands", rest_in_world_space_stands),
        Trial::test(
            "what_cannot_be_set_is_refused",
            what_cannot_be_set_is_refused,
        ),
        Trial::test(
            "a_moving_root_above_the_skeleton_counts",
            a_moving_root_above_the_skeleton_counts,
        ),
    ];
    for extension in ["usda", "usdc", "usdz"] {
        let name = format!("usd_core_sees_the_same_directions::{extension}");
        trials.push(python::trial(&name, move |python| {
            usd_core_sees_the_same_directions(extension, python)
        }));
    }
    trials.push(python::trial(
        "usd_core_reads_the_animation_alone",
        usd_core_reads_the_animation_alone,
    ));
    trials.extend(feet::trials());
    trials.extend(formats::trials());
    trials.extend(recognition::trials());
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
        made: &made,
        up: 'Z',
        meters_per_unit: 0.01,
        rate: 24.0,
        clips: vec![("Walk", (0..9).map(clip).collect())],
        channels: &[],
        shapes: &[],
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
        made: &target,
        up: 'Y',
        meters_per_unit: 1.0,
        rate: 24.0,
        clips: vec![],
        channels: &[],
        shapes: &["Smile", "Frown"],
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

fn the_table_names_every_bone() -> Result<(), Failed> {
    let pair = pair(1);
    // Without --verbose three lines.
    let short = stdout(&pair.ran("short.usda", &[]));
    assert_eq!(short.lines().count(), 3, "{short}");
    let still = "3 at rest (--verbose lists them)";
    assert!(short.contains(still), "{short}");
    let output = pair.ran("out.usda", &["--verbose"]);
    let text = stdout(&output);
    for key in pair.source.at.keys() {
        let (from, to) = (mixamo(key), vroid(key));
        let line = text
            .lines()
            .find(|l| l.split_whitespace().nth(1) == Some(from.as_str()));
        let line = line.ok_or(format!("{from} is not in\n{text}"))?;
        assert_eq!(line.split_whitespace().nth(2), Some(to.as_str()), "{line}");
    }
    for part in [
        "the names of Mixamo",
        "the names of VRoid",
        "at rest: Root, J_Sec_Hair, J_Sec_L_Twist",
        "9 samples from 1 to 9 at 30 time codes per second",
        "0.8000",
    ] {
        assert!(text.contains(part), "'{part}' is not in\n{text}");
    }
    // A channel without a shape is told, as is a bone without a counterpart.
    let told = stderr(&output);
    assert!(
        told.contains("Wink") && told.contains("[retarget-channels]"),
        "{told}"
    );
    assert!(!told.contains("Smile"), "{told}");
    let json: Value = serde_json::from_slice(&pair.ran("out2.usda", &["--json"]).stdout)?;
    assert_eq!(json["map"][mixamo("LHand")], json!(vroid("LHand")));
    assert_eq!(
        json["unmatched_target"],
        json!(["Root", "J_Sec_Hair", "J_Sec_L_Twist"])
    );
    assert!(pair.ran("out3.usda", &["--quiet"]).stdout.is_empty());
    Ok(())
}

fn value(stage: &UsdStage, prim: &str, name: &str, time: f64) -> Usd {
    let value = usd::value(stage, prim, name, Some(time));
    value.unwrap_or_else(|| panic!("{prim}.{name} at {time}"))
}

fn what_is_written_is_complete() -> Result<(), Failed> {
    let pair = pair(2);
    pair.ran("out.usda", &[]);
    let out = pair.bench.path("out.usda");
    let stage = usd::open(&out);
    let anim = "/Char/Skel/Animation";
    let joints = pair.target.rig.joints();
    assert_eq!(usd::tokens(&stage, anim, "joints"), joints);
    let times: Vec<f64> = (1..=9).map(f64::from).collect();
    let mut last: Vec<DQuat> = Vec::new();
    for name in ["translations", "rotations", "scales"] {
        assert_eq!(usd::times(&stage, anim, name), times, "{name}");
    }
    for time in &times {
        let Usd::Vec3fArray(t) = value(&stage, anim, "translations", *time) else {
            return Err("translations are float3".into());
        };
        let Usd::QuatfArray(r) = value(&stage, anim, "rotations", *time) else {
            return Err("rotations are quatf".into());
        };
        let Usd::Vec3hArray(s) = value(&stage, anim, "scales", *time) else {
            return Err("scales are half3".into());
        };
        assert_eq!([t.len(), r.len(), s.len()], [joints.len(); 3]);
        let r: Vec<DQuat> = r
            .iter()
            .map(|q| DQuat::from_array(q.0.map(f64::from)))
            .collect();
        for (j, q) in r.iter().enumerate() {
            assert!((q.length() - 1.0).abs() < tolerance::FEW_ROUNDINGS);
            if let Some(last) = last.get(j) {
                assert!(last.dot(*q) >= 0.0, "{} flips at {time}", joints[j]);
            }
        }
        last = r;
        // What nothing follows is at rest, to the precision of the file.
        for (j, name) in pair.target.rig.names().iter().enumerate() {
            let rest = &pair.target.rig.rest()[j];
            if name.starts_with("J_Sec") || name == "Root" {
                assert_eq!(t[j], rest.translation.as_vec3().to_array());
                assert!(last[j].dot(rest.rotation).abs() > 1.0 - tolerance::TURN_STORED_IN_F32);
            }
            assert_eq!(s[j][0].to_f64(), 1.0);
        }
    }
    let metadata = |key: &str| stage.metadata(key).unwrap();
    let number = |key: &str| match metadata(key) {
        Some(Usd::Double(v)) => v,
        other => panic!("{key}: {other:?}"),
    };
    assert_eq!(number("timeCodesPerSecond"), 30.0);
    assert_eq!(number("framesPerSecond"), 30.0);
    assert_eq!((number("startTimeCode"), number("endTimeCode")), (1.0, 9.0));
    assert_eq!(number("metersPerUnit"), 1.0);
    assert!(matches!(metadata("upAxis"), Some(Usd::Token(t)) if t.as_str() == "Y"));
    // Of the source's two channels the target has a shape for the second.
    assert_eq!(usd::tokens(&stage, anim, "blendShapes"), ["Smile"]);
    let Usd::FloatArray(weights) = value(&stage, anim, "blendShapeWeights", 3.0) else {
        return Err("weights are floats".into());
    };
    assert_eq!(*weights, [0.125 * 3.0 + 0.5]);
    // It is bound: sinew poses with it, and finds nothing wrong.
    let scene = UsdFile::open(&out)?.scene(Default::default())?;
    assert_eq!(scene.warnings, []);
    let animation = scene.instances[0]
        .instance
        .animation()
        .map(|a| a.path.clone());
    assert_eq!(animation.as_deref(), Some(anim));
    let check = sinew(&["check", out.to_str().unwrap()]);
    assert!(
        check.status.success(),
        "{}{}",
        stdout(&check),
        stderr(&check)
    );
    Ok(())
}

fn animation(file: &Path) -> sinew::skel::SkelAnimation {
    let file = UsdFile::open(file).unwrap();
    file.animations().unwrap().pop().expect("an animation")
}

fn formats_hold_the_same() -> Result<(), Failed> {
    let pair = pair(3);
    for out in ["out.usda", "out.usdc", "out.usdz"] {
        pair.ran(out, &[]);
        pair.ran(&format!("alone_{out}"), &["--animation-only"]);
    }
    let all = |of: &sinew::skel::SkelAnimation| {
        let samples = |t: f64| {
            let time = sinew::sampled::Time::At(t);
            (
                of.translations.at(time),
                of.rotations.at(time),
                of.channel_weights(time),
            )
        };
        (of.joints.clone(), [1.0, 4.5, 9.0].map(samples))
    };
    let want = animation(&pair.bench.path("out.usda"));
    for out in [
        "out.usdc",
        "out.usdz",
        "alone_out.usda",
        "alone_out.usdc",
        "alone_out.usdz",
    ] {
        let got = animation(&pair.bench.path(out));
        assert_eq!(all(&got), all(&want), "{out}");
    }
    let stage = usd::open(&pair.bench.path("alone_out.usda"));
    let default_prim = stage.metadata("defaultPrim")?;
    assert_eq!(default_prim, Some(Usd::token("Animation")));
    assert!(stage.prim(&usd::path("/Char")).is_none());
    for (key, want) in [
        ("metersPerUnit", 1.0),
        ("timeCodesPerSecond", 30.0),
        ("endTimeCode", 9.0),
    ] {
        let got = stage.metadata(key)?;
        assert!(
            matches!(got, Some(Usd::Double(v)) if v == want),
            "{key}: {got:?}"
        );
    }
    Ok(())
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

fn the_printed_map_gives_the_same() -> Result<(), Failed> {
    let pair = pair(5);
    let output = pair.ran("out.usda", &["--json"]);
    let json: Value = serde_json::from_slice(&output.stdout)?;
    let map = pair.bench.write("map.json", json["map"].to_string());
    pair.ran("mapped.usda", &["--map", map.to_str().unwrap()]);
    let text = |name: &str| std::fs::read_to_string(pair.bench.path(name)).unwrap();
    assert!(text("out.usda") == text("mapped.usda"));
    Ok(())
}

fn clips_and_skeletons_are_chosen() -> Result<(), Failed> {
    let pair = pair(6);
    for name in ["Still", "/Char/Skel/Still"] {
        pair.ran("out.usda", &["--clip", name]);
        assert_eq!(
            usd::times(
                &usd::open(&pair.bench.path("out.usda")),
                "/Char/Skel/Animation",
                "rotations"
            ),
            [1.0]
        );
    }
    let out = pair.bench.path("none.usda");
    refused(
        &pair.run("none.usda", &["--clip", "Run"]),
        &out,
        &["no clip is named 'Run'", "Walk, Still"],
    );
    refused(
        &pair.run("none.usda", &["--source-skeleton", "/X"]),
        &out,
        &["/X", SKEL],
    );
    refused(
        &pair.run("none.usda", &["--target-skeleton", "/X"]),
        &out,
        &["/X", "hero.usda", SKEL],
    );
    pair.ran(
        "out.usda",
        &["--source-skeleton", SKEL, "--target-skeleton", SKEL],
    );
    // Two in one file are not guessed between.
    let hero = std::fs::read_to_string(pair.bench.path("hero.usda"))?;
    let twins = hero.clone() + &hero[hero.find("def SkelRoot").unwrap()..].replace("Char", "Twin");
    pair.bench.write("hero.usda", twins);
    refused(
        &pair.run("none.usda", &[]),
        &out,
        &["several skeletons", "--target-skeleton", "/Twin/Skel"],
    );
    pair.ran("out.usda", &["--target-skeleton", "/Twin/Skel"]);
    let stage = usd::open(&pair.bench.path("out.usda"));
    assert_eq!(
        usd::times(&stage, "/Twin/Skel/Animation", "rotations").len(),
        9
    );
    // A name that is taken is numbered, and the other animation stays.
    let own = hero.replace(
        "uniform token[] jointNames",
        "def SkelAnimation \"Animation\" { }\nuniform token[] jointNames",
    );
    pair.bench.write("hero.usda", own);
    pair.ran("out.usda", &[]);
    let stage = usd::open(&pair.bench.path("out.usda"));
    assert_eq!(
        usd::times(&stage, "/Char/Skel/Animation_2", "rotations").len(),
        9
    );
    Ok(())
}

fn an_unknown_rig_shows_a_guess() -> Result<(), Failed> {
    let pair = pair(7);
    let odd = |key: &str| match key {
        "hips" => "torso_1".to_owned(),
        "spine" => "torso_2".to_owned(),
        key if key.contains("LowerArm") => format!("elbow_{}", &key[..1]),
        key if key.contains("Foot") => format!("{}_ankle", &key[..1]),
        // Letters of no word.
        key => key.bytes().map(|b| format!("x{b}")).collect(),
    };
    let robot = Build {
        name: &odd,
        ..Build::default()
    }
    .make();
    let stage = Stage {
        made: &robot,
        up: 'Y',
        meters_per_unit: 1.0,
        rate: 24.0,
        clips: vec![],
        channels: &[],
        shapes: &[],
    };
    let hero = pair.bench.write("hero.usda", stage.text());
    let out = pair.bench.path("out.usda");
    let output = pair.run("out.usda", &[]);
    refused(
        &output,
        &out,
        &[
            "hero.usda",
            "no human body",
            "--map",
            "\"mixamorig:Hips\": \"torso_1\"",
            "\"mixamorig:LeftForeArm\": \"elbow_L\"",
            "\"mixamorig:RightFoot\": \"R_ankle\"",
        ],
    );
    // What it prints is a map to begin with.
    let text = stderr(&output);
    let guess = &text[text.rfind("\n{").unwrap()..];
    let map = pair.bench.write("map.json", guess.trim());
    pair.ran("out.usda", &["--map", map.to_str().unwrap()]);
    // Between two rigs of the same names nothing needs to be known.
    let (a, b) = (hero.to_str().unwrap(), out.to_str().unwrap());
    let third = pair.bench.path("third.usda");
    let output = sinew(&["retarget", b, a, "-o", third.to_str().unwrap(), "--verbose"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("the same names on both sides"),
        "{}",
        stdout(&output)
    );
    Ok(())
}

fn bad_requests_write_nothing() -> Result<(), Failed> {
    let pair = pair(8);
    let out = pair.bench.path("out.usda");
    let map = |text: &str| {
        pair.bench
            .write("map.json", text)
            .to_str()
            .unwrap()
            .to_owned()
    };
    let refuse = |more: &[&str], words: &[&str]| refused(&pair.run("out.usda", more), &out, words);
    refuse(&["--map", "/no/such/map.json"], &["/no/such/map.json"]);
    refuse(&["--map", &map("{\n\"a\": 1}")], &["map.json", "line 2"]);
    refuse(
        &["--map", &map("{\"Nobody\": \"Root\"}")],
        &["Nobody", "mixamorig:Hips"],
    );
    refuse(&["--root-bone", "Nobody"], &["root bone Nobody"]);
    refuse(&["--arm-space", "NaN"], &["arm space"]);
    // OUT is no name that USD knows, or a file that is read.
    let glb = pair.bench.path("out.mp4");
    misused(&pair.run("out.mp4", &[]), &glb, &["found .mp4"]);
    let before = std::fs::read(pair.bench.path("hero.usda"))?;
    for name in ["hero.usda", "walk.usda"] {
        let output = pair.run(name, &[]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("read from"), "{}", stderr(&output));
    }
    assert_eq!(std::fs::read(pair.bench.path("hero.usda"))?, before);
    // No clip, no skeleton, nothing there.
    let run = |clip: &str, target: &str| {
        let path = |n: &str| pair.bench.path(n).to_str().unwrap().to_owned();
        sinew(&[
            "retarget",
            &path(clip),
            &path(target),
            "-o",
            out.to_str().unwrap(),
        ])
    };
    refused(
        &run("hero.usda", "walk.usda"),
        &out,
        &["hero.usda", "no clip"],
    );
    pair.bench.write("empty.usda", "#usda 1.0\n");
    refused(
        &run("empty.usda", "hero.usda"),
        &out,
        &["empty.usda", "no skeleton"],
    );
    refused(
        &run("walk.usda", "empty.usda"),
        &out,
        &["empty.usda", "no skeleton"],
    );
    refused(&run("gone.usda", "hero.usda"), &out, &["gone.usda"]);
    // A clip without scales counts for nothing in USD.
    let walk = std::fs::read_to_string(pair.bench.path("walk.usda"))?;
    pair.bench.write(
        "scaleless.usda",
        walk.replace("half3[] scales", "half3[] widths"),
    );
    refused(
        &run("scaleless.usda", "hero.usda"),
        &out,
        &["scaleless.usda", "/Char/Skel/Walk", "scales"],
    );
    let usage = sinew(&["retarget", "a.usda"]);
    assert_eq!(usage.status.code(), Some(2));
    Ok(())
}

/// The library's own doors, and nothing of what they refuse left behind.
fn what_cannot_be_set_is_refused() -> Result<(), Failed> {
    use half::f16;
    use sinew::sampled::Sampled;
    use sinew::scene::TimeLine;
    use sinew::skel::SkelAnimation;
    let pair = pair(12);
    let mut hero = UsdFile::open(pair.bench.path("hero.usda"))?;
    let whole = SkelAnimation {
        joints: vec!["Root".into()],
        translations: Sampled::constant(vec![glam::Vec3::X]),
        rotations: Sampled::constant(vec![glam::Quat::IDENTITY]),
        scales: Sampled::constant(vec![[f16::ONE; 3]]),
        ..SkelAnimation::default()
    };
    let rate = TimeLine {
        range: None,
        time_codes_per_second: 24.0,
        frames_per_second: 24.0,
    };
    let text = |file: &UsdFile| {
        file.save_as(pair.bench.path("text.usda")).unwrap();
        std::fs::read_to_string(pair.bench.path("text.usda")).unwrap()
    };
    let before = text(&hero);
    let out = pair.bench.path("alone.usda");
    let mut refuse =
        |skeleton: &str, name: &str, animation: &SkelAnimation, rate: &TimeLine, words: &[&str]| {
            let alone = hero.write_animation(&out, name, animation, rate);
            let set = hero
                .set_animation(skeleton, name, animation, rate)
                .unwrap_err()
                .to_string();
            for word in words {
                assert!(set.contains(word), "'{set}' should say '{word}'");
            }
            assert_eq!(alone.is_err(), skeleton == SKEL, "{set}");
        };
    refuse(
        "/Char/Body",
        "A",
        &whole,
        &rate,
        &["Skeleton", "/Char/Body"],
    );
    refuse("/Nobody", "A", &whole, &rate, &["/Nobody"]);
    std::fs::remove_file(&out)?;
    refuse(SKEL, "two words", &whole, &rate, &["two words"]);
    let short = SkelAnimation {
        rotations: Sampled::constant(Vec::new()),
        ..whole.clone()
    };
    refuse(
        SKEL,
        "A",
        &short,
        &rate,
        &["hero.usda", "rotations", "1 values", "found 0"],
    );
    let without = SkelAnimation {
        scales: Sampled::default(),
        ..whole.clone()
    };
    refuse(SKEL, "A", &without, &rate, &["scales", "found none"]);
    let still = TimeLine {
        frames_per_second: 0.0,
        ..rate
    };
    refuse(SKEL, "A", &whole, &still, &["per second"]);
    assert!(!out.exists());
    assert_eq!(text(&hero), before);
    assert_eq!(
        hero.set_animation(SKEL, "A", &whole, &rate)?,
        format!("{SKEL}/A")
    );
    assert_eq!(
        hero.set_animation(SKEL, "A", &whole, &rate)?,
        format!("{SKEL}/A_2")
    );
    let scene = hero.scene(Default::default())?;
    let bound = scene.instances[0]
        .instance
        .animation()
        .map(|a| a.path.clone());
    assert_eq!(bound, Some(format!("{SKEL}/A_2")));

    let golden = common::repository().join("tests/goldens/instanced.usda");
    let mut instanced = UsdFile::open(golden)?;
    let scene = instanced.scene(Default::default())?;
    let inside = scene.instances.first().ok_or("a skeleton")?.path.clone();
    let refused = instanced
        .set_animation(&inside, "A", &whole, &rate)
        .unwrap_err();
    assert!(refused.to_string().contains("instance"), "{refused}");
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

fn readback(python: &str, file: &Path) -> Result<Value, Failed> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/convert/retarget_readback.py");
    let output = Command::new(python)
        .arg(script)
        .arg(file)
        .arg(SKEL)
        .output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || told.contains("Warning") {
        return Err(format!("usd-core: {told}").into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn usd_core_sees_the_same_directions(extension: &str, python: &str) -> Result<(), Failed> {
    let pair = pair(10);
    let name = format!("out.{extension}");
    pair.ran(&name, &[]);
    let theirs = readback(python, &pair.bench.path(&name))?;
    assert_eq!(theirs["complaints"], json!([]));
    assert_eq!(theirs["rate"], json!([30.0, 30.0, 1.0, 9.0]));
    assert_eq!(theirs["units"], json!([1.0, "Y"]));
    let types = json!({
        "joints": "token[]", "translations": "float3[]", "rotations": "quatf[]", "scales": "half3[]",
        "blendShapes": "token[]", "blendShapeWeights": "float[]",
    });
    assert_eq!(theirs["types"], types);
    assert_eq!(theirs["weights"]["3.0"], json!([0.125 * 3.0 + 0.5]));
    for (time, pose) in &pair.poses {
        let posed = &theirs["world"][format!("{time:?}")];
        let at = |key: &str| {
            let row = &posed[pair.target.at[key]];
            DVec3::from_array([0, 1, 2].map(|i| row[i].as_f64().expect("a number")))
        };
        let world = pair.source.world(pose);
        for (a, b) in bones() {
            let want = pair.source.direction(&world, &a, &b);
            let off = (at(&b) - at(&a)).normalize().distance(want);
            assert!(
                off < tolerance::DIRECTION_IN_F32,
                "{a} to {b} at {time}: {off:.2e}"
            );
        }
    }
    Ok(())
}

fn usd_core_reads_the_animation_alone(python: &str) -> Result<(), Failed> {
    let pair = pair(11);
    pair.ran("out.usda", &[]);
    pair.ran("clip.usda", &["--animation-only"]);
    // The blog's case: the character's stage references the clip.
    let text = format!(
        "#usda 1.0\n(\n    subLayers = [@./hero.usda@]\n    upAxis = \"Y\"\n    metersPerUnit = 1\n    timeCodesPerSecond = 30\n    framesPerSecond = 30\n    startTimeCode = 1\n    endTimeCode = 9\n)\nover \"Char\" {{\n    over \"Skel\" {{\n        rel skel:animationSource = <{SKEL}/Clip>\n        def \"Clip\" (references = @./clip.usda@) {{ }}\n    }}\n}}\n"
    );
    let shot = pair.bench.write("shot.usda", text);
    let (whole, alone) = (
        readback(python, &pair.bench.path("out.usda"))?,
        readback(python, &shot)?,
    );
    for key in ["world", "weights", "types", "rate", "units"] {
        assert_eq!(alone[key], whole[key], "{key}");
    }
    Ok(())
}
