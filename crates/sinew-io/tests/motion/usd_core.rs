//! BVH and FBX files converted, in usd-core: where their joints and points then are.

use std::path::Path;

use common::bvh_maker::figure;
use common::command::Bench;
use common::trials::Trial;
use common::worker::Workers;
use common::{pose, python, tolerance};
use glam::DVec3;
use libtest_mimic::Failed;
use serde_json::{Value, json};
use sinew_check::{CheckOptions, Severity, check_file};

pub fn trials() -> Vec<Trial> {
    #[cfg(feature = "fbx")]
    let fbx = python::trial("fbx_joints_and_points", fbx::joints_and_points);
    #[cfg(not(feature = "fbx"))]
    let fbx = Trial::test("fbx_joints_and_points", || Err("build with fbx".into()))
        .with_kind("needs --features fbx")
        .with_ignored_flag(true);
    vec![python::trial("bvh_joints", bvh), fbx]
}

/// What usd-core has in a file at these times: rate, units, joints in the world by their names, and
/// points of all skinned meshes in the world.
pub fn read(python: &str, file: &Path, times: &[f64]) -> Result<Value, Failed> {
    static WORKERS: Workers = Workers::new("crates/sinew-io/tests/motion/character_readback.py");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("motion");
    let request = json!({ "file": file, "times": times });
    Ok(WORKERS.ask(python, &folder, &request)?)
}

/// The points of a mesh at one of the times.
pub fn points(read: &Value, mesh: usize, time: f64) -> Vec<DVec3> {
    let points = read["points"][mesh][key(time)].as_array();
    points.expect("points").iter().map(vector).collect()
}

fn vector(value: &Value) -> DVec3 {
    DVec3::from_array([0, 1, 2].map(|i| value[i].as_f64().expect("a number")))
}

/// The key of a time, as Python writes numbers.
fn key(time: f64) -> String {
    format!("{time:?}")
}

/// Converts a file, which breaks no rule before and after, and asks usd-core.
fn converted(python: &str, bench: &Bench, input: &Path, times: &[f64]) -> Result<Value, Failed> {
    let out = bench.path("out.usda");
    sinew_io::open(input)?.save_as(&out)?;
    for file in [input, &out] {
        let mut report = check_file(file, &CheckOptions::default())?;
        report.keep(Severity::Error);
        assert!(report.findings.is_empty(), "{:?}", report.findings);
    }
    let read = read(python, &out, times)?;
    assert_eq!(read["upAxis"], "Y");
    Ok(read)
}

fn near(what: &str, found: DVec3, want: DVec3, most: f64) -> Result<(), Failed> {
    match found.abs_diff_eq(want, most) {
        true => Ok(()),
        false => Err(format!("{what}: {found}, not {want}").into()),
    }
}

/// Where the reader has the joints, which rows of `bvh/read.txt` prove, usd-core has them too.
fn bvh(python: &str) -> Result<(), Failed> {
    // With a second root.
    const PROP: &str = "ROOT Prop\n{\nOFFSET 40 80 0\nCHANNELS 2 Xrotation Zrotation\n\
                        JOINT Tip\n{\nOFFSET 0 30 0\nCHANNELS 0\n}\n}\nMOTION";
    let walk = figure(|_, name| format!("mixamorig:{name}"), 12, 21).replace("MOTION", PROP);
    let mut walk: Vec<String> = walk.lines().map(str::to_owned).collect();
    let first = walk.len() - 12;
    for (i, frame) in walk[first..].iter_mut().enumerate() {
        *frame += &format!(" {} {}", 3.0 * i as f64, 200.0 - 30.0 * i as f64);
    }
    let bench = Bench::new();
    let times: Vec<f64> = (0..12).map(f64::from).collect();
    let file = bench.write("walk.bvh", walk.join("\n"));
    let read = converted(python, &bench, &file, &times)?;
    assert_eq!(read["rate"], 30.0);
    assert_eq!(read["metersPerUnit"], 0.01);
    let asset = sinew_io::read_asset(&file)?.ok_or("no asset")?;
    let joints = asset.nodes.iter().enumerate();
    let joints: Vec<_> = joints.filter(|(_, n)| !n.name.ends_with("_end")).collect();
    assert_eq!(joints.len(), 39);
    for time in times {
        for (node, joint) in &joints {
            let what = format!("{} in frame {time}", joint.name);
            let found = vector(&read["world"][key(time)][&joint.name]);
            let want = pose::world(&asset, &asset.clips[0], *node, time / 30.0);
            let want = want.w_axis.truncate();
            near(&what, found, want, tolerance::JOINTS_IN_USD * 200.0)?;
        }
    }
    Ok(())
}

#[cfg(feature = "fbx")]
mod fbx {
    use common::fbx::{JOINTS, table, text};

    use super::*;

    /// What says that the tube's numbers are in Blender's axes.
    const Z_UP: [(&str, &str); 3] = [
        (
            r#""UpAxis", "int", "Integer", "",1"#,
            r#""UpAxis", "int", "Integer", "",2"#,
        ),
        (
            r#""FrontAxis", "int", "Integer", "",2"#,
            r#""FrontAxis", "int", "Integer", "",1"#,
        ),
        (
            r#""FrontAxisSign", "int", "Integer", "",1"#,
            r#""FrontAxisSign", "int", "Integer", "",-1"#,
        ),
    ];

    pub fn joints_and_points(python: &str) -> Result<(), Failed> {
        let most = tolerance::FBX_IN_USD * 10.0;
        for name in ["tube", "tube_z_up"] {
            let table = table(name);
            // The first clip, which the Skeleton is bound to.
            let poses = table.poses.iter();
            let poses: Vec<_> = poses
                .filter(|p| p.clip.as_deref() == Some("Wave"))
                .collect();
            let times: Vec<f64> = poses.iter().map(|p| p.seconds * 24.0).collect();
            assert!(times.len() >= 5, "{times:?}");
            let bench = Bench::new();
            let mut tube = text("tube");
            if name == "tube_z_up" {
                for (from, to) in Z_UP {
                    assert!(tube.contains(from), "{from}");
                    tube = tube.replace(from, to);
                }
            }
            let file = bench.write("tube.fbx", tube);
            let read = converted(python, &bench, &file, &times)?;
            assert_eq!(read["rate"], 24.0);
            for (pose, time) in poses.into_iter().zip(times) {
                for (name, want) in JOINTS.iter().zip(&pose.joints) {
                    let found = vector(&read["world"][key(time)][name]);
                    near(&format!("{name} at {time}"), found, *want, most)?;
                }
                let meshes = 0..read["points"].as_array().unwrap().len();
                let found: Vec<DVec3> = meshes.flat_map(|m| points(&read, m, time)).collect();
                assert_eq!(found.len(), table.order.len());
                for (found, point) in found.into_iter().zip(&table.order) {
                    let what = format!("point {point} at {time}");
                    near(&what, found, pose.points[*point], most)?;
                }
            }
        }
        Ok(())
    }
}
