//! What a farm relies on: exit codes, the list of failed prims, JSON of failures, streams that are full.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use common::command::{Bench, bake, sinew, stderr, stdout};
use common::usd;
use serde_json::Value;

const API: &str = r#"prepend apiSchemas = ["SkelBindingAPI"]"#;
const IDENTITY: &str = "((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))";

/// A SkelRoot with a Skeleton of two joints, an animation with two channels, and meshes.
fn character(name: &str, joints: &str, weights: &str, meshes: &[(&str, &str)]) -> String {
    let mut out = format!(
        r#"def SkelRoot "{name}" ({API}) {{
    rel skel:skeleton = </{name}/Skel>
    def Skeleton "Skel" ({API}) {{
        uniform token[] joints = {joints}
        uniform matrix4d[] bindTransforms = [{IDENTITY}, {IDENTITY}]
        uniform matrix4d[] restTransforms = [{IDENTITY}, {IDENTITY}]
        rel skel:animationSource = </{name}/Anim>
    }}
    def SkelAnimation "Anim" {{
        uniform token[] blendShapes = ["one", "two"]
        float[] blendShapeWeights = {weights}
    }}
"#
    );
    for (mesh, properties) in meshes {
        write!(
            out,
            r#"    def Mesh "{mesh}" ({API}) {{
        point3f[] points = [(0, 0, 0), (1, 0, 0)]
        {properties}
    }}
"#
        )
        .unwrap();
    }
    out + "}\n"
}

const JOINTS: &str = r#"["A", "A/B"]"#;
const INDICES: &str = r#"int[] primvars:skel:jointIndices = [0, 1] (interpolation = "vertex")"#;
const WEIGHTS: &str = r#"float[] primvars:skel:jointWeights = [1, 1] (interpolation = "vertex")"#;

fn influences() -> String {
    format!("{INDICES}\n        {WEIGHTS}")
}

/// A shape for the second channel.
const SHAPE: &str = r#"uniform token[] skel:blendShapes = ["two"]
        rel skel:blendShapeTargets = [<Shape>]
        def BlendShape "Shape" { uniform vector3f[] offsets = [(0, 0, 1), (0, 0, 1)] }"#;

/// Bakes a stage with `--json`, with this exit code: the report, and what is on stderr.
fn baked(bench: &Bench, text: &str, code: i32, more: &[&str]) -> (Value, String) {
    let input = bench.write("in.usda", format!("#usda 1.0\n{text}"));
    let output = bake(
        &input,
        &bench.path("out.usda"),
        &[&["--json"], more].concat(),
    );
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{told}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["exit_code"], code);
    (report, told)
}

/// Paths and codes of the failed prims.
fn failed(report: &Value) -> Vec<(&str, &str)> {
    let text = |prim: &'_ Value, key: &str| -> &'static str {
        String::leak(prim[key].as_str().unwrap_or_default().to_owned())
    };
    let all = report["failed"].as_array().unwrap().iter();
    all.map(|prim| (text(prim, "path"), text(prim, "code")))
        .collect()
}

#[test]
fn everything_baked_is_0() {
    let bench = Bench::new();
    let body = influences();
    let text = character("R", JOINTS, "[0, 1]", &[("M", &body), ("S", SHAPE)]);
    let (report, told) = baked(&bench, &text, 0, &[]);
    assert!(failed(&report).is_empty() && told.is_empty(), "{told}");
    assert_eq!(report["schema_version"], 1);
    assert_eq!(report["command"], "bake");
}

#[test]
fn a_broken_skeleton_lists_all_its_prims() {
    let bench = Bench::new();
    let body = influences();
    let prims = [("M", body.as_str()), ("N", body.as_str())];
    let text = character("Bad", r#"["A/B", "A"]"#, "[0, 1]", &prims)
        + &character("Good", JOINTS, "[0, 1]", &prims[..1]);
    let (report, told) = baked(&bench, &text, 3, &[]);
    let expected = [("/Bad/M", "joint-order"), ("/Bad/N", "joint-order")];
    assert_eq!(failed(&report), expected);
    for path in ["/Bad/M", "/Bad/N"] {
        let line = format!("failed: {path}: ");
        let line = told.lines().find(|l| l.starts_with(&line)).unwrap();
        assert!(
            line.contains("/Bad/Skel.joints") && line.contains("[joint-order]"),
            "{line}"
        );
    }
    let out = usd::open(&bench.path("out.usda"));
    assert!(usd::vectors(&out, "/Good/M", "extent", None).is_some());
    // Who takes what there is says so, and who asks for the good one only gets it.
    let (report, _) = baked(&bench, &text, 0, &["--allow-partial"]);
    assert_eq!(failed(&report), expected);
    let (report, told) = baked(&bench, &text, 0, &["--prim", "/Good/M"]);
    assert!(failed(&report).is_empty(), "{told}");
    // The same in a sequence and in clips.
    for (out, more) in [
        ("f/a.####.obj", &[][..]),
        ("c.usdc", &["--clip-frames", "1"]),
    ] {
        let input = bench.path("in.usda");
        let output = bake(&input, &bench.path(out), more);
        let told = stderr(&output);
        // The meshes have no faces, which an .obj needs.
        let code = if more.is_empty() { 1 } else { 3 };
        assert_eq!(output.status.code(), Some(code), "{told}");
    }
}

#[test]
fn half_of_the_influences_is_told() {
    let bench = Bench::new();
    let good = influences();
    for (half, missing) in [(INDICES, "jointWeights"), (WEIGHTS, "jointIndices")] {
        let text = character("R", JOINTS, "[0, 1]", &[("M", half), ("N", &good)]);
        let (report, told) = baked(&bench, &text, 3, &[]);
        assert_eq!(failed(&report), [("/R/M", "influences-incomplete")]);
        assert!(told.contains(&format!("no {missing}")), "{told}");
        // A prim that blends still blends.
        let both = format!("{half}\n        {SHAPE}");
        let text = character("R", JOINTS, "[0, 1]", &[("M", &both)]);
        let (report, _) = baked(&bench, &text, 3, &[]);
        assert_eq!(failed(&report), [("/R/M", "influences-incomplete")]);
        let out = usd::open(&bench.path("out.usda"));
        let points = usd::vectors(&out, "/R/M", "points", None).unwrap();
        assert_eq!(points[0][2], 1.0);
    }
}

#[test]
fn joints_that_the_skeleton_lacks_are_told() {
    let bench = Bench::new();
    let joints = |list: &str| {
        format!(
            "{}\n        uniform token[] skel:joints = {list}",
            influences()
        )
    };
    for (list, code) in [(r#"["A", "A/X"]"#, 3), (r#"["A", "A/B", "A/X"]"#, 0)] {
        let text = character("R", JOINTS, "[0, 1]", &[("M", &joints(list))]);
        let (report, told) = baked(&bench, &text, code, &[]);
        let warned = report["warnings"].as_array().unwrap();
        assert!(
            warned.iter().any(|w| w["code"] == "joints-unknown"),
            "{told}"
        );
        assert!(told.contains("/R/M: ") && told.contains("A/X"), "{told}");
        // Only a joint that moves something is a fault.
        let expected: &[_] = if code == 3 {
            &[("/R/M", "joints-unknown")]
        } else {
            &[]
        };
        assert_eq!(failed(&report), expected);
    }
}

#[test]
fn numbers_of_channel_weights_are_told() {
    let bench = Bench::new();
    for (weights, code, z) in [("[0.5]", 3, 0.0), ("[0, 1, 7]", 0, 1.0)] {
        let text = character("R", JOINTS, weights, &[("S", SHAPE)]);
        let (report, told) = baked(&bench, &text, code, &[]);
        assert!(told.contains("[channel-weights-count]"), "{told}");
        let expected: &[_] = match code {
            3 => &[("/R/S", "channel-weights-count")],
            _ => &[],
        };
        assert_eq!(failed(&report), expected);
        let out = usd::open(&bench.path("out.usda"));
        let points = usd::vectors(&out, "/R/S", "points", None).unwrap();
        assert_eq!(points[0][2], z, "missing weights are 0, as in Pixar's code");
    }
}

/// usd-core's BlendShapeQuery gives z = 0, 0.5 and 3.5 at the weights 0.5, 0.8 and 2 if the offsets of an in-between
/// at 0.6 have no value, are blocked or empty.
#[test]
fn an_inbetween_without_offsets_counts_at_its_weight() {
    let bench = Bench::new();
    for value in ["", " = None", " = []"] {
        for (weight, z) in [
            ("0.5", 0.0),
            ("0.8", 0.5),
            ("2", 3.5),
            ("0.6", 0.0),
            ("1", 1.0),
        ] {
            let shape = SHAPE.replace(
                "{ uniform",
                &format!("{{ uniform vector3f[] inbetweens:i{value} (weight = 0.6)\n uniform"),
            );
            let text = character("R", JOINTS, &format!("[0, {weight}]"), &[("S", &shape)]);
            baked(&bench, &text, 0, &[]);
            let out = usd::open(&bench.path("out.usda"));
            let points = usd::vectors(&out, "/R/S", "points", None);
            let found = points.map_or(0.0, |p| p[0][2]);
            assert!(
                (found - z).abs() < 1e-6,
                "'{value}' at {weight}: {found}, not {z}"
            );
        }
    }
}

#[test]
fn fix_convert_and_render_have_3_too() {
    let bench = Bench::new();
    let body = influences();
    let bad = character("Bad", r#"["A/B", "A"]"#, "[0, 1]", &[("M", &body)]);
    let input = bench.write("in.usda", format!("#usda 1.0\n{bad}"));
    let (input, out) = (input.to_str().unwrap(), bench.path("c.usda"));
    let out = out.to_str().unwrap();
    for (more, code) in [(&[][..], 3), (&["--allow-partial"], 0)] {
        let args = [&["convert", input, "-o", out, "--json"], more].concat();
        let output = sinew(&args);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(failed(&report), [("/Bad/M", "joint-order")]);
        assert!(stderr(&output).contains("failed: /Bad/M: "));
    }
    // Weights that sum to less than 0 cannot be normalised without a guess.
    let body = body.replace("[1, 1]", "[2, -3]");
    let text = character("R", JOINTS, "[0, 1]", &[("M", &body)]);
    let input = bench.write("fix.usda", format!("#usda 1.0\n{text}"));
    let input = input.to_str().unwrap();
    for (more, code) in [(&[][..], 3), (&["--allow-partial"], 0)] {
        let output = sinew(&[&["fix", input, "-o", out], more].concat());
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains("not fixed: /R/M.primvars:skel:jointWeights"));
        assert!(stdout(&output).contains("1 not fixed"));
    }
}

#[test]
fn failures_are_json_too() {
    let bench = Bench::new();
    let gone = bench.path("gone.usda");
    let gone = gone.to_str().unwrap();
    let out = bench.path("o.usda");
    let out = out.to_str().unwrap();
    let png = bench.path("o.png");
    let png = png.to_str().unwrap();
    for (args, code) in [
        (&["bake", gone, "-o", out][..], 1),
        (&["bake", gone, "-o", "o.abc"], 2),
        (&["convert", gone, "-o", out], 1),
        (&["fix", gone, "-o", out], 1),
        (&["inspect", gone], 1),
        (&["retarget", gone, gone, "-o", out], 1),
        (&["humanoid", gone, gone, "-o", out], 1),
        (&["render", gone, "-o", png], 1),
        (&["render", gone, "-o", "o.jpg"], 2),
        (&["bake", gone], 2),
    ] {
        let output = sinew(&[args, &["--json"]].concat());
        assert_eq!(
            output.status.code(),
            Some(code),
            "{args:?}: {}",
            stderr(&output)
        );
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{args:?}: {e}: {}", stdout(&output)));
        assert_eq!(report["schema_version"], 1);
        assert_eq!(report["command"], args[0]);
        assert_eq!(report["exit_code"], code);
        assert!(report["error"]["message"].is_string(), "{report}");
        assert!(!stderr(&output).is_empty());
    }
    let json = sinew(&["check", gone, "--json"]);
    let report: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(
        report["files"][0]["error"]["message"].is_string(),
        "{report}"
    );
}

#[test]
fn threads_and_quiet_are_everywhere() {
    let bench = Bench::new();
    let input = common::repository().join("examples/assets/hatchling.usda");
    let input = input.to_str().unwrap();
    let path = |name: &str| bench.path(name).to_str().unwrap().to_owned();
    for args in [
        &[
            "bake",
            input,
            "-o",
            &path("b.usda"),
            "--frames",
            "1",
            "--backend",
            "cpu",
        ][..],
        &["convert", input, "-o", &path("c.usda")],
        &["fix", input, "-o", &path("f.usda")],
        &["inspect", input],
        &["check", input],
        &["devices"],
    ] {
        let output = sinew(&[args, &["--quiet", "--threads", "1"]].concat());
        assert_eq!(
            output.status.code(),
            Some(0),
            "{args:?}: {}",
            stderr(&output)
        );
        assert!(
            output.stdout.is_empty() && output.stderr.is_empty(),
            "{args:?}"
        );
    }
    let report = sinew(&[
        "bake",
        input,
        "-o",
        &path("b.usda"),
        "--frames",
        "1",
        "--backend",
        "cpu",
        "--json",
        "--threads",
        "1",
    ]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["backend"], "cpu (1 thread)");
    assert_eq!(
        sinew(&["check", input, "--threads", "0"]).status.code(),
        Some(2)
    );
}

/// Runs with stdout and stderr on these files; the exit code, never a panic's.
#[cfg(target_os = "linux")]
fn into_streams(args: &[&str], out: &Path, err: &Path) -> Option<i32> {
    let open = |path: &Path| Stdio::from(std::fs::File::options().write(true).open(path).unwrap());
    let mut command = Command::new(common::command::executable());
    command.args(args).stdout(open(out)).stderr(open(err));
    command.status().unwrap().code()
}

#[cfg(target_os = "linux")]
#[test]
fn full_and_closed_streams_are_no_panic() {
    let bench = Bench::new();
    let full = Path::new("/dev/full");
    let null = Path::new("/dev/null");
    let bad = character("R", JOINTS, "[0.5]", &[("M", INDICES), ("S", SHAPE)]);
    let bad = bench.write("bad.usda", format!("#usda 1.0\n{bad}"));
    let bad = bad.to_str().unwrap();
    let gone = bench.path("gone.usda");
    let gone = gone.to_str().unwrap();
    let path = |name: &str| bench.path(name).to_str().unwrap().to_owned();
    let assets = common::repository().join("examples/assets");
    let asset = |name: &str| assets.join(name).to_str().unwrap().to_owned();
    let (walk, puppet) = (asset("walk.bvh"), asset("puppet.glb"));
    let mut wrong = Vec::new();
    for (args, quiet_code) in [
        (
            vec!["bake", bad, "-o", &path("b.usda"), "--backend", "cpu"],
            3,
        ),
        (vec!["convert", bad, "-o", &path("c.usda")], 0),
        (vec!["fix", bad, "-o", &path("f.usda")], 0),
        (vec!["inspect", bad], 0),
        (vec!["check", bad], 1),
        (vec!["check", gone], 2),
        (vec!["devices"], 0),
        (vec!["completions", "bash"], 0),
        (vec!["retarget", &walk, &puppet, "-o", &path("r.usda")], 0),
        (
            vec![
                "humanoid",
                &puppet,
                &asset("bow.glb"),
                "-o",
                &path("h.usda"),
            ],
            0,
        ),
        (
            vec!["render", &puppet, "-o", &path("p.png"), "--size", "32x32"],
            0,
        ),
        (vec!["--help"], 0),
        (vec!["bake", "--help"], 0),
        (vec!["--version"], 0),
        (vec!["bake"], 2),
        (vec!["bake", gone, "-o", &path("x.usda")], 1),
    ] {
        if args[0] == "render" && std::env::var_os("SINEW_NO_GPU").is_some() {
            continue;
        }
        // What cannot be told is no reason to end otherwise; what cannot be printed is.
        let code = into_streams(&args, null, full);
        if code != Some(quiet_code) {
            wrong.push(format!("{args:?} with a full stderr: {code:?}"));
        }
        let prints = !matches!((args[0], quiet_code), ("bake", 1 | 2) | ("check", 2));
        let expected = if prints { 1 } else { quiet_code };
        for err in [full, null] {
            let code = into_streams(&args, full, err);
            if code != Some(expected) && args != ["bake", "--help"] || code == Some(101) {
                wrong.push(format!(
                    "{args:?} with a full stdout: {code:?}, not {expected}"
                ));
            }
        }
        // Closed, and a pipe that nobody reads.
        for shell in [">&- 2>&-", "| true", "2>&1 | true"] {
            let script = format!("set -o pipefail; \"$@\" {shell}");
            let output = Command::new("bash")
                .args(["-c", &script, "bash"])
                .arg(common::command::executable())
                .args(&args)
                .output()
                .unwrap();
            if output.status.code() != Some(quiet_code) {
                wrong.push(format!("{args:?} {shell}: {:?}", output.status.code()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Bindings without effect are taken away, and usd-core's validators agree.
#[test]
fn a_bake_needs_no_bindings() {
    let bench = Bench::new();
    let input = common::repository().join("examples/assets/hatchling.usda");
    let bake = |name: &str, more: &[&str]| {
        let out = bench.path(name);
        let output = bake(&input, &out, &[&["--frames", "1:4"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        out
    };
    let mut files = Vec::new();
    for (name, more) in [
        ("a.usda", &[][..]),
        ("a.usdc", &[]),
        ("a.usdz", &[]),
        ("clips.usdc", &["--clip-frames", "2"]),
    ] {
        let out = bake(name, more);
        let output = sinew(&["check", out.to_str().unwrap(), "--strict"]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stdout(&output));
        let stage = usd::open(&out);
        for prim in ["/Hatchling", "/Hatchling/Geo/Body", "/Hatchling/Rig/Skel"] {
            let prim = stage.prim(prim).unwrap();
            assert!(!prim.has_api_schema("SkelBindingAPI").unwrap(), "{name}");
            let names = prim.authored_property_names().unwrap();
            let left = names.iter().find(|n| n.as_str().contains("skel:"));
            assert_eq!(left.map(|n| n.as_str()), None, "{name}");
        }
        // The rig itself stays.
        assert_eq!(usd::type_name(&stage, "/Hatchling/Rig/Skel"), "Skeleton");
        files.push(out);
    }
    let text = std::fs::read_to_string(bake("kept.usda", &["--keep-bindings"])).unwrap();
    assert!(text.contains("SkelBindingAPI") && text.contains("skel:jointIndices"));
    let misused = sinew(&[
        "bake",
        input.to_str().unwrap(),
        "-o",
        "o.pc2",
        "--keep-bindings",
    ]);
    assert_eq!(misused.status.code(), Some(2));
    let Some(python) = std::env::var_os("SINEW_PYTHON") else {
        eprintln!("without SINEW_PYTHON usd-core's validators are not asked");
        return;
    };
    let script = "
import sys
from pxr import Usd, UsdValidation
validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
context = UsdValidation.ValidationContext(validators)
for file in sys.argv[1:]:
    for error in context.Validate(Usd.Stage.Open(file)):
        print(file, error.GetName(), error.GetMessage())
";
    let output = Command::new(python)
        .args(["-c", script])
        .args(&files)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
}

/// A disk of this size in memory, which is unmounted at the end; `None` if this process may not mount.
#[cfg(target_os = "linux")]
struct SmallDisk(tempfile::TempDir);

#[cfg(target_os = "linux")]
impl SmallDisk {
    fn new(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", size, "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        mount.is_ok_and(|s| s.success()).then(|| Self(folder))
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_too_small_is_told_before_and_while_writing() {
    let Some(disk) = SmallDisk::new("size=3m") else {
        eprintln!("this process may not mount a tmpfs, so no disk is full");
        return;
    };
    let bench = Bench::new();
    let input = common::repository().join("examples/assets/hatchling.usda");
    for (name, more) in [
        ("o.usdc", &[][..]),
        ("o.usda", &[]),
        ("o.usdz", &[]),
        ("o.exr", &[]),
        ("f/o.####.obj", &[]),
        ("o.usdc", &["--clip-frames", "10"]),
    ] {
        let out = disk.0.path().join(name);
        let old = disk.0.path().join("o.usdc");
        std::fs::write(&old, "old").unwrap();
        for (force, words) in [
            (
                &[][..],
                &["too small", "MB are missing", "--ignore-free-space"][..],
            ),
            (
                &["--ignore-free-space"],
                &["disk is full", "MB are missing"],
            ),
        ] {
            let output = bake(&input, &out, &[more, force].concat());
            let told = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{name} {more:?}: {told}");
            for word in words {
                assert!(told.contains(word), "{name} {more:?}: {told}");
            }
            assert_eq!(std::fs::read_to_string(&old).unwrap(), "old", "{name}");
            let left: Vec<_> = std::fs::read_dir(disk.0.path())
                .unwrap()
                .map(|e| e.unwrap().file_name().into_string().unwrap())
                .collect();
            // Finished clips stay.
            let clips = !more.is_empty();
            assert!(left == ["o.usdc"] || clips, "{left:?}");
            if clips {
                let _ = std::fs::remove_dir_all(disk.0.path().join("o_clips"));
            }
        }
    }
    // The estimate is of the right size.
    for (name, least, most) in [
        ("a.usdc", 0.8, 1.2),
        ("a.usda", 0.8, 1.5),
        ("a.pc2", 0.9, 1.1),
        ("f/a.####.obj", 0.8, 1.5),
        ("a.exr", 0.9, 2.0),
        ("a.png", 0.9, 3.0),
    ] {
        let output = bake(&input, &bench.path(name), &["--json", "--frames", "1:24"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let files = report["files"].as_array().unwrap().iter();
        let sizes = files.map(|f| std::fs::metadata(f.as_str().unwrap()).unwrap().len());
        let actual = sizes.sum::<u64>() as f64;
        let ratio = report["estimated_bytes"].as_f64().unwrap() / actual;
        assert!((least..most).contains(&ratio), "{name}: {ratio}");
    }
}
