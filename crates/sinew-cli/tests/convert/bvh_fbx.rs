//! BVH and FBX files of our own, from `sinew convert` into usd-core: where their joints and points then are.

use std::path::Path;
use std::process::Command;

use common::bvh_maker::{Part, mixamo};
use common::command::{Bench, sinew, stderr, stdout};
use common::trials::Trial;
use common::{python, tolerance};
use glam::DVec3;
use libtest_mimic::Failed;
use serde_json::Value;

pub fn trials() -> Vec<Trial> {
    let trials = vec![
        python::trial("bvh::joints_in_usd_core", bvh),
        python::trial("bvh::limbs_on_another_figure", bvh_retargeted),
        fbx_trial("fbx::joints_and_points_in_usd_core"),
    ];
    trials
}

#[cfg(feature = "fbx")]
fn fbx_trial(name: &str) -> Trial {
    python::trial(name, fbx::joints_and_points)
}

#[cfg(not(feature = "fbx"))]
fn fbx_trial(name: &str) -> Trial {
    let run = || Err("build with --features fbx".into());
    Trial::test(name, run)
        .with_kind("needs --features fbx")
        .with_ignored_flag(true)
}

/// Converts, checks, and asks usd-core.
fn converted(python: &str, bench: &Bench, input: &Path, times: &[f64]) -> Result<Value, Failed> {
    let out = bench.path("out.usda");
    let (input, file) = (input.to_str().unwrap(), out.to_str().unwrap());
    for args in [
        &["convert", input, "-o", file][..],
        &["check", input],
        &["check", file],
    ] {
        let output = sinew(args);
        if !output.status.success() {
            return Err(format!("{args:?}: {}{}", stderr(&output), stdout(&output)).into());
        }
    }
    read(python, &out, times)
}

/// What usd-core has.
fn read(python: &str, file: &Path, times: &[f64]) -> Result<Value, Failed> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/convert/character_readback.py");
    let times = times.iter().map(f64::to_string);
    let output = Command::new(python)
        .arg(script)
        .arg(file)
        .args(times)
        .output()?;
    if !output.status.success() {
        return Err(stderr(&output).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn vector(value: &Value) -> DVec3 {
    let [x, y, z] = [0, 1, 2].map(|i| value[i].as_f64().unwrap());
    DVec3::new(x, y, z)
}

/// The key of a time in usd-core's answers, as Python writes numbers.
fn key(time: f64) -> String {
    format!("{time:?}")
}

/// Where usd-core has a joint.
fn joint(read: &Value, name: &str, time: f64) -> DVec3 {
    let place = &read["world"][key(time)][name];
    assert!(place.is_array(), "no joint {name}");
    vector(place)
}

fn near(what: &str, found: DVec3, want: DVec3, most: f64) -> Result<(), Failed> {
    if found.abs_diff_eq(want, most) {
        return Ok(());
    }
    Err(format!("{what}: {found}, not {want}").into())
}

fn bvh(python: &str) -> Result<(), Failed> {
    let mut walk = mixamo("mixamorig:", 12, 21);
    // A second root.
    let turn = ["Xrotation", "Zrotation"];
    walk.parts
        .push(Part::new("Prop", None, [40.0, 80.0, 0.0], &turn));
    let prop = walk.parts.len() - 1;
    walk.parts
        .push(Part::new("Tip", Some(prop), [0.0, 30.0, 0.0], &[]));
    for (i, frame) in walk.frames.iter_mut().enumerate() {
        frame.extend([3.0 * i as f64, 200.0 - 30.0 * i as f64]);
    }
    let bench = Bench::new();
    let times: Vec<f64> = (0..12).map(f64::from).collect();
    let read = converted(
        python,
        &bench,
        &bench.write("walk.bvh", walk.text()),
        &times,
    )?;
    assert_eq!(read["rate"], 30.0);
    assert_eq!(read["upAxis"], "Y");
    assert_eq!(read["metersPerUnit"], 0.01);
    for (frame, time) in times.iter().enumerate() {
        for (part, (_, place)) in walk.parts.iter().zip(walk.world(frame)) {
            let what = format!("{} in frame {frame}", part.name);
            let found = joint(&read, &part.name, *time);
            near(&what, found, place, tolerance::JOINTS_IN_USD * 200.0)?;
        }
    }
    Ok(())
}

/// Limbs of a figure with other names, in metres, point where the walk's do.
fn bvh_retargeted(python: &str) -> Result<(), Failed> {
    let walk = mixamo("mixamorig:", 12, 33);
    let bench = Bench::new();
    let (input, out) = (bench.write("walk.bvh", walk.text()), bench.path("out.usda"));
    let puppet = common::repository().join("examples/assets/puppet.glb");
    let [input, puppet, file] = [&input, &puppet, &out].map(|p| p.to_str().unwrap());
    let output = sinew(&["retarget", input, puppet, "-o", file, "--pose", "align"]);
    if !output.status.success() {
        return Err(stderr(&output).into());
    }
    let limbs = [
        ("Arm", "ForeArm", "UpperArm", "LowerArm"),
        ("ForeArm", "Hand", "LowerArm", "Hand"),
        ("UpLeg", "Leg", "UpperLeg", "LowerLeg"),
        ("Leg", "Foot", "LowerLeg", "Foot"),
    ];
    let frames: Vec<f64> = (0..12).map(f64::from).collect();
    // Seconds at 30 frames each, in the time codes of what was written.
    let rate = read(python, &out, &[])?["rate"].as_f64().unwrap();
    let times: Vec<f64> = frames.iter().map(|f| f / 30.0 * rate).collect();
    let read = read(python, &out, &times)?;
    for (frame, time) in times.iter().enumerate() {
        let worlds = walk.world(frame);
        let place = |name: String| {
            let part = walk.parts.iter().position(|p| p.name == name);
            worlds[part.unwrap_or_else(|| panic!("no part {name}"))].1
        };
        for (side, small) in [("Left", "left"), ("Right", "right")] {
            for (from, to, near_joint, far_joint) in limbs {
                let of = |bone| place(format!("mixamorig:{side}{bone}"));
                let want = (of(to) - of(from)).normalize();
                let found = joint(&read, &format!("{small}{far_joint}"), *time)
                    - joint(&read, &format!("{small}{near_joint}"), *time);
                let what = format!("{side}{from} in frame {frame}");
                near(&what, found.normalize(), want, tolerance::LIMBS_IN_USD)?;
            }
        }
    }
    Ok(())
}

#[cfg(feature = "fbx")]
mod fbx {
    use super::*;
    use common::fbx::{JOINTS, Pose, Y_UP, Z_UP, table, text};

    /// Key times of the tube's first clip, which the Skeleton is bound to.
    const SECONDS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

    pub fn joints_and_points(python: &str) -> Result<(), Failed> {
        for axes in [Y_UP, Z_UP] {
            let bench = Bench::new();
            let times = SECONDS.map(|s| s * 24.0);
            let file = bench.write("tube.fbx", axes.applied_to(&text("tube")));
            let read = converted(python, &bench, &file, &times)?;
            assert_eq!(read["rate"], 24.0);
            assert_eq!(read["upAxis"], "Y");
            let table = table("tube", &axes);
            for (seconds, time) in SECONDS.into_iter().zip(times) {
                let is_asked =
                    |p: &&Pose| p.clip.as_deref() == Some("Wave") && p.seconds == seconds;
                let pose = table.poses.iter().find(is_asked).expect("a key time");
                compare(pose, &table.order, &read, time)?;
            }
        }
        Ok(())
    }

    fn vectors(value: &Value) -> Vec<DVec3> {
        let list = value.as_array().expect("a list of vectors");
        list.iter().map(vector).collect()
    }

    fn compare(pose: &Pose, order: &[usize], read: &Value, time: f64) -> Result<(), Failed> {
        let most = tolerance::FBX_IN_USD * 10.0;
        for (name, want) in JOINTS.iter().zip(&pose.joints) {
            let what = format!("{name} at {}", pose.seconds);
            near(&what, joint(read, name, time), *want, most)?;
        }
        let meshes = read["points"].as_array().unwrap();
        let found: Vec<DVec3> = meshes.iter().flat_map(|m| vectors(&m[key(time)])).collect();
        assert_eq!(found.len(), order.len());
        for (found, point) in found.into_iter().zip(order) {
            let what = format!("point {point} at {}", pose.seconds);
            near(&what, found, pose.points[*point], most)?;
        }
        Ok(())
    }
}
