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
        def BlendShape "Shape" { uniform vector3f[] offsets = [(0, 0, 1), (0, 0, 1)]; }"#;

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
    assert_eq!(report["schema_version"], 2);
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
    let input = bench.path("in.usda");
    let alone = bake(&input, &bench.path("alone.usda"), &["--prim", "/Bad/M"]);
    assert_eq!(alone.status.code(), Some(1));
    assert!(
        stderr(&alone).contains("[joint-order]"),
        "{}",
        stderr(&alone)
    );
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
    if std::env::var_os("SINEW_NO_GPU").is_none() {
        let png = bench.path("p.png");
        let png = png.to_str().unwrap();
        let square = format!("def Mesh \"Drawn\" {{\n{TRIANGLE}\n}}\n");
        let bad = std::fs::read_to_string(input).unwrap() + &square;
        let drawn = bench.write(
            "drawn.usda",
            bad.replace(
                "[(0, 0, 0), (1, 0, 0)]\n",
                &format!(
                    "[(0, 0, 0), (1, 0, 0), (0, 1, 0)]\n{}\n",
                    TRIANGLE.split("point3f").next().unwrap()
                ),
            ),
        );
        let drawn = drawn.to_str().unwrap();
        for (more, code) in [(&[][..], 3), (&["--allow-partial"], 0)] {
            let args = ["render", drawn, "-o", png, "--size", "32x32", "--json"];
            let output = sinew(&[&args[..], more].concat());
            assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(failed(&report), [("/Bad/M", "joint-order")]);
            assert_eq!(stderr(&output).matches("joint-order").count(), 1);
        }
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
        assert_eq!(report["schema_version"], 2);
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
    for args in [
        &["bake", input, "-o", &path("v.usda"), "--frames", "1"][..],
        &["check", input],
        &["devices"],
    ] {
        let verbose = sinew(&[args, &["--verbose"]].concat());
        assert_eq!(verbose.status.code(), Some(0), "{args:?}");
        let both = sinew(&[args, &["--verbose", "--quiet"]].concat());
        assert_eq!(both.status.code(), Some(2), "{args:?}");
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
            let prim = usd::prim(&stage, prim);
            assert!(!prim.has_api("SkelBindingAPI"), "{name}");
            let names = prim.authored_property_names();
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

/// The extent of a SkelRoot encloses what UsdSkel computes at every frame of the clip.
#[test]
fn convert_and_retarget_author_the_extents_of_skel_roots() {
    let bench = Bench::new();
    let assets = common::repository().join("examples/assets");
    let asset = |name: &str| assets.join(name).to_str().unwrap().to_owned();
    let path = |name: &str| bench.path(name).to_str().unwrap().to_owned();
    let runs = [
        ("convert.usda", vec!["convert", "PUPPET"]),
        ("walk.usdc", vec!["convert", "WALK"]),
        (
            "retarget.usda",
            vec!["retarget", "WALK", "HATCHLING", "--map", "MAP"],
        ),
        ("moved.usdc", vec!["retarget", "WALK", "PUPPET"]),
    ];
    let map = bench.write("map.json", r#"{"Hips": "root"}"#);
    let mut files = Vec::new();
    for (name, args) in &runs {
        let args: Vec<String> = args
            .iter()
            .map(|a| match *a {
                "PUPPET" => asset("puppet.glb"),
                "WALK" => asset("walk.bvh"),
                "HATCHLING" => asset("hatchling.usda"),
                "MAP" => map.to_str().unwrap().to_owned(),
                other => other.to_owned(),
            })
            .collect();
        let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
        let out = path(name);
        args.extend(["-o", &out, "--quiet"]);
        let output = sinew(&args);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{args:?}: {}",
            stderr(&output)
        );
        let stage = usd::open(Path::new(&out));
        let scene = sinew_io::open(&out)
            .unwrap()
            .scene(Default::default())
            .unwrap();
        let root = &scene.skel_roots[0].path;
        let extent = usd::vectors(&stage, root, "extent", None).unwrap();
        assert_eq!(extent.len(), 2, "{name}");
        files.push(out);
    }
    let Some(python) = std::env::var_os("SINEW_PYTHON") else {
        eprintln!("without SINEW_PYTHON usd-core is not asked");
        return;
    };
    let script = "
import sys
from pxr import Gf, Usd, UsdGeom, UsdSkel
for file in sys.argv[1:]:
    stage = Usd.Stage.Open(file)
    root = next(p for p in stage.Traverse() if p.IsA(UsdSkel.Root))
    authored = UsdGeom.Boundable(root).GetExtentAttr().Get()
    anim = next(p for p in stage.Traverse() if p.IsA(UsdSkel.Animation))
    times = UsdSkel.Animation(anim).GetTranslationsAttr().GetTimeSamples()
    times = sorted(set(times) | set(UsdSkel.Animation(anim).GetRotationsAttr().GetTimeSamples()))
    union = Gf.Range3f()
    for time in times or [Usd.TimeCode.Default()]:
        low, high = UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(root), time)
        union.UnionWith(Gf.Range3f(low, high))
    size = (union.max - union.min).GetLength()
    for a, b in zip(authored, [union.min, union.max]):
        if (Gf.Vec3f(a) - b).GetLength() > 1e-5 * size:
            print(file, authored, union)
";
    let output = Command::new(python)
        .args(["-c", script])
        .args(&files)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
}

const TRIANGLE: &str = "int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]";

/// Two prototypes, one below the instancer and one elsewhere, orientations, scales, ids, and instances in a prototype.
fn instancers() -> String {
    let moved = |x: f32| {
        format!(
            "double3 xformOp:translate = ({x}, 0.5, 0)\n    uniform token[] xformOpOrder = [\"xformOp:translate\"]"
        )
    };
    format!(
        r#"#usda 1.0
(
    startTimeCode = 1
    endTimeCode = 10
)
def Xform "World"
{{
    {}
    def PointInstancer "P" (inactiveIds = [13])
    {{
        float3 xformOp:rotateXYZ = (10, 80, 20)
        float3 xformOp:scale = (2, 2, 2)
        uniform token[] xformOpOrder = ["xformOp:rotateXYZ", "xformOp:scale"]
        int[] protoIndices = [0, 1, 2, 1, 0]
        int64[] ids = [10, 11, 12, 13, 14]
        int64[] invisibleIds.timeSamples = {{ 1: [], 5: [11], 8: [14] }}
        point3f[] positions.timeSamples = {{
            1: [(0, 0, 0), (5, 0, 0), (0, 6, 1), (1, 1, 1), (9, 9, 9)],
            10: [(0, 3, 0), (5, 1, 2), (0, 6, 4), (1, 1, 1), (8, 9, 9)],
        }}
        quath[] orientations = [(1, 0, 0, 0), (0.5, 0.5, 0.5, 0.5), (0, 1, 0, 0), (1, 0, 0, 0), (1, 0, 0, 0)]
        float3[] scales = [(1, 1, 1), (2, 1, 0.5), (1, 3, 1), (1, 1, 1), (1, 1, 1)]
        rel prototypes = [</World/P/Protos/A>, </Lib/B>, </World/P/Protos/Inner>]
        def Xform "Protos"
        {{
            {}
            def Xform "A"
            {{
                {}
                def Mesh "M"
                {{
                    {}
                    {TRIANGLE}
                }}
            }}
            def PointInstancer "Inner"
            {{
                {}
                int[] protoIndices = [0, 0]
                point3f[] positions = [(1, 0, 0), (0, 0, 2)]
                rel prototypes = </World/P/Protos/Inner/C>
                def Mesh "C"
                {{
                    {}
                    {TRIANGLE}
                }}
            }}
        }}
    }}
}}
def Xform "Lib"
{{
    {}
    token visibility = "invisible"
    def Mesh "B"
    {{
        {}
        {TRIANGLE}
    }}
}}
"#,
        moved(1.0),
        moved(20.0),
        moved(0.25),
        moved(0.125),
        moved(3.0),
        moved(4.0),
        moved(50.0),
        moved(0.75),
    )
}

#[test]
fn instances_stand_where_usd_core_places_them() {
    let bench = Bench::new();
    let input = bench.write("in.usda", instancers());
    let file = sinew_io::open(&input).unwrap();
    let scene = file.scene(Default::default()).unwrap();
    let geometry = file.geometry(&scene).unwrap();
    assert!(geometry.errors.is_empty() && geometry.warnings.is_empty());
    let bare: Vec<&str> = geometry
        .meshes
        .iter()
        .filter(|m| m.instances.is_empty())
        .map(|m| m.path.as_str())
        .collect();
    assert_eq!(bare, ["/Lib/B"], "a prototype that stands for itself too");
    let times = [1.0, 4.0, 6.5, 10.0];
    let seen = |time: f64| {
        let time = sinew::sampled::Time::At(time);
        let shown = geometry.meshes.iter().filter(|m| m.visible(time));
        let mut all: Vec<(String, [f64; 16])> = shown
            .map(|m| (m.path.clone(), m.world_from_prim(time).to_cols_array()))
            .collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all
    };
    let count = |time| seen(time).len();
    assert_eq!([1.0, 6.5, 10.0].map(count), [5, 4, 4]);
    let Some(python) = std::env::var_os("SINEW_PYTHON") else {
        eprintln!("without SINEW_PYTHON usd-core is not asked");
        return;
    };
    let script = "
import json, sys
from pxr import Gf, Usd, UsdGeom
stage = Usd.Stage.Open(sys.argv[1])

def shown(instancer, time, root):
    # Matrices to the space of the instancer's parent, without what is above.
    out = []
    all = instancer.ComputeInstanceTransformsAtTime(
        time, time, UsdGeom.PointInstancer.IncludeProtoXform, UsdGeom.PointInstancer.IgnoreMask)
    mask = instancer.ComputeMaskAtTime(time)
    indices = instancer.GetProtoIndicesAttr().Get(time)
    targets = instancer.GetPrototypesRel().GetTargets()
    own = UsdGeom.Xformable(instancer).GetLocalTransformation(time)
    for i, (matrix, index) in enumerate(zip(all, indices)):
        if mask and not mask[i]:
            continue
        proto = stage.GetPrimAtPath(targets[index])
        if proto.IsA(UsdGeom.PointInstancer):
            inverse = UsdGeom.Xformable(proto).GetLocalTransformation(time).GetInverse()
            for path, m in shown(UsdGeom.PointInstancer(proto), time, proto):
                # The matrix of the instance has the prototype's own transform already.
                out.append((path, m * inverse * matrix * own))
            continue
        for prim in Usd.PrimRange(proto):
            if prim.IsA(UsdGeom.Mesh):
                m = Gf.Matrix4d(1)
                at = prim
                while at != proto:
                    m = m * UsdGeom.Xformable(at).GetLocalTransformation(time)
                    at = at.GetParent()
                out.append((str(prim.GetPath()), m * matrix * own))
    return out

out = []
for time in map(float, sys.argv[2:]):
    prim = stage.GetPrimAtPath('/World/P')
    above = UsdGeom.Xformable(prim).ComputeParentToWorldTransform(time)
    meshes = [(p, [v for row in m * above for v in row]) for p, m in shown(UsdGeom.PointInstancer(prim), time, prim)]
    out.append(sorted(meshes))
print(json.dumps(out))
";
    let mut command = Command::new(python);
    command.args(["-c", script]).arg(&input);
    let output = command.args(times.map(|t| t.to_string())).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let expected: Vec<Vec<(String, Vec<f64>)>> = serde_json::from_slice(&output.stdout).unwrap();
    for (time, expected) in times.into_iter().zip(expected) {
        let mut found = seen(time);
        assert_eq!(found.len(), expected.len(), "at {time}");
        for (path, matrix) in expected {
            let near = |m: &[f64; 16]| m.iter().zip(&matrix).all(|(a, b)| (a - b).abs() < 1e-3);
            let at = found.iter().position(|(p, m)| *p == path && near(m));
            let at = at.unwrap_or_else(|| panic!("{path} at {time}: {matrix:?} in {found:?}"));
            found.remove(at);
        }
    }
}

/// Skinned prototypes move with their instances.
#[test]
fn instances_of_skinned_prototypes_are_drawn() {
    if std::env::var_os("SINEW_NO_GPU").is_some() {
        eprintln!("SINEW_NO_GPU: nothing is drawn");
        return;
    }
    use sinew::gpu::{AdapterChoice, GpuDevice, Skinner};
    let bench = Bench::new();
    let body = format!(
        "{}\n        int[] faceVertexCounts = [3]\n        int[] faceVertexIndices = [0, 1, 2]",
        influences()
    )
    .replace("[0, 1] (", "[0, 1, 1] (")
    .replace("[1, 1] (", "[1, 1, 1] (");
    let hero = character("Hero", JOINTS, "[0, 1]", &[("M", &body)])
        .replace(
            "[(0, 0, 0), (1, 0, 0)]",
            "[(0, 0, 0), (1, 0, 0), (0, 1, 0)]",
        )
        .replace("</Hero", "</P/Hero");
    let text = format!(
        "#usda 1.0\ndef PointInstancer \"P\" {{\n double3 xformOp:translate = (100, 0, 0)\n \
         uniform token[] xformOpOrder = [\"xformOp:translate\"]\n int[] protoIndices = [0, 0]\n \
         point3f[] positions = [(0, 0, 0), (5, 7, 0)]\n rel prototypes = </P/Hero>\n{hero}}}\n"
    );
    let input = bench.write("in.usda", text);
    let gpu = GpuDevice::new(&AdapterChoice::Any).unwrap();
    let skinner = Skinner::new(gpu.device(), gpu.queue(), &Default::default()).unwrap();
    let mut stage = sinew_render::Stage::open(&skinner, &input, &Default::default()).unwrap();
    let control = stage.control().clone();
    stage
        .set_time(sinew::sampled::Time::Default, &control)
        .unwrap();
    assert_eq!(stage.meshes().len(), 2);
    let bounds = stage.bounds();
    let size = [bounds.low, bounds.high];
    assert_eq!(
        size.map(|v| v.to_array()),
        [[100.0, 0.0, 0.0], [106.0, 8.0, 0.0]]
    );
}

/// A Skeleton beside the SkelRoot's animation source, which only the schema's text finds.
fn bound_by_the_mesh() -> String {
    format!(
        r#"#usda 1.0
(
    startTimeCode = 1
    endTimeCode = 3
)
def SkelRoot "R" ({API}) {{
    def Skeleton "Skel" ({API}) {{
        uniform token[] joints = ["A"]
        uniform matrix4d[] bindTransforms = [{IDENTITY}]
        uniform matrix4d[] restTransforms = [{IDENTITY}]
    }}
    def SkelAnimation "Anim" {{
        uniform token[] joints = ["A"]
        float3[] translations.timeSamples = {{ 1: [(0, 0, 0)], 3: [(8, 0, 0)] }}
        quatf[] rotations = [(1, 0, 0, 0)]
        half3[] scales = [(1, 1, 1)]
    }}
    def Mesh "M" ({API}) {{
        rel skel:skeleton = </R/Skel>
        rel skel:animationSource = </R/Anim>
        int[] primvars:skel:jointIndices = [0, 0, 0] (interpolation = "vertex")
        float[] primvars:skel:jointWeights = [1, 1, 1] (interpolation = "vertex")
        {TRIANGLE}
    }}
}}
"#
    )
}

#[test]
fn the_animation_source_can_be_chosen_everywhere() {
    let bench = Bench::new();
    let input = bench.write("in.usda", bound_by_the_mesh());
    let input = input.to_str().unwrap();
    let path = |name: &str| bench.path(name).to_str().unwrap().to_owned();
    let binding = ["--anim-source", "binding"];
    // The clip is bound only as the schema's text has it.
    let (moved, map) = (path("moved.usda"), bench.write("map.json", r#"{"A": "A"}"#));
    let map = map.to_str().unwrap();
    let retarget = [
        "retarget", input, input, "-o", &moved, "--map", map, "--json",
    ];
    let report = sinew(&[&retarget[..], &binding].concat());
    assert_eq!(report.status.code(), Some(0), "{}", stderr(&report));
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["clip"], "/R/Anim");
    let converted = sinew(&[&["convert", input, "-o", &path("c.usda")][..], &binding].concat());
    assert_eq!(converted.status.code(), Some(0), "{}", stderr(&converted));
    let told = |args: &[&str]| stderr(&sinew(args)).contains("animation-source-ignored");
    assert!(told(&["convert", input, "-o", &path("d.usda")]));
    assert!(!told(
        &[&["convert", input, "-o", &path("d.usda")][..], &binding].concat()
    ));
    if std::env::var_os("SINEW_NO_GPU").is_some() {
        eprintln!("SINEW_NO_GPU: nothing is drawn");
        return;
    }
    // The triangle is at the left, or has left the picture of the first frame's camera. %d is a number.
    let picture = |name: &str, more: &[&str]| {
        let out = path(name);
        let args = [
            "render",
            input,
            "-o",
            &out,
            "--frames",
            "1:3:2",
            "--size",
            "64x64",
            "--no-grid",
        ];
        let output = sinew(&[&args[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let at = |number: &str| {
            let file = out.replace("%03d", number).replace("###", number);
            std::fs::read(&file).unwrap_or_else(|e| panic!("{file}: {e}"))
        };
        (at("001"), at("003"))
    };
    let (first, last) = picture("still/%03d.png", &[]);
    assert_eq!(first, last);
    let (first, last) = picture("moved/###.png", &binding);
    assert_ne!(first, last);
}
