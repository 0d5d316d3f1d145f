//! Samples for motion blur: shutters, velocities, and the fewest samples within an error.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use sinew::sampled::Time;
use sinew::scene::OutSpace;

use crate::formats::truth::{deformed, scene};
use common::command::{Bench, bake as command, executable, stderr};
use common::trials::Trial;
use common::{processor, tolerance, usd};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

pub fn trials() -> Vec<Trial> {
    let python = std::env::var_os("SINEW_PYTHON").is_none();
    let assets = std::env::var_os("SINEW_ASSETS").is_none();
    let trials: Vec<common::trials::Named> = vec![
        (
            "shutters_sample_each_frame",
            shutters_sample_each_frame,
            false,
        ),
        (
            "velocities_are_the_slopes_of_the_reference",
            velocities_are_the_slopes_of_the_reference,
            false,
        ),
        (
            "clips_have_the_velocities_of_one_file",
            clips_have_the_velocities_of_one_file,
            false,
        ),
        ("fewer_samples_stay_near", fewer_samples_stay_near, false),
        (
            "the_largest_error_has_the_jumps",
            the_largest_error_has_the_jumps,
            false,
        ),
        (
            "too_many_samples_are_refused_at_once",
            too_many_samples_are_refused_at_once,
            false,
        ),
        (
            "requests_that_make_no_sense_are_refused",
            requests_that_make_no_sense_are_refused,
            false,
        ),
        (
            "velocities_of_the_input_are_blocked",
            velocities_of_the_input_are_blocked,
            python,
        ),
        (
            "usd_core_finds_velocities_and_errors",
            usd_core_finds_velocities_and_errors,
            python,
        ),
        (
            "usd_core_finds_the_velocities_of_real_files",
            usd_core_finds_the_velocities_of_real_files,
            python || assets,
        ),
    ];
    common::trials::named(trials)
}

/// A limb of two joints that turn and a root that moves, with keys at 1, 5 and 9, and a mesh of its own place.
const LIMB: &str = r#"#usda 1.0
(
    startTimeCode = 1
    endTimeCode = 9
    timeCodesPerSecond = 24
)
def SkelRoot "Hero" (prepend apiSchemas = ["SkelBindingAPI"])
{
    double3 xformOp:translate.timeSamples = { 1: (0, 0, 0), 9: (4, 0, 1) }
    uniform token[] xformOpOrder = ["xformOp:translate"]
    rel skel:skeleton = </Hero/Rig>
    def Skeleton "Rig" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        double3 xformOp:rotateXYZ.timeSamples = { 1: (0, 0, 0), 9: (0, 90, 10) }
        uniform token[] xformOpOrder = ["xformOp:rotateXYZ"]
        uniform token[] joints = ["A", "A/B"]
        uniform matrix4d[] bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(2,0,0,1))]
        uniform matrix4d[] restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(2,0,0,1))]
        rel skel:animationSource = </Hero/Walk>
    }
    def SkelAnimation "Walk"
    {
        uniform token[] joints = ["A", "A/B"]
        quatf[] rotations.timeSamples = { 1: [(1,0,0,0), (1,0,0,0)], 5: [(0.8,0.6,0,0), (0.6,0,0.8,0)], 9: [(0,0,1,0), (1,0,0,0)] }
        float3[] translations.timeSamples = { 1: [(0,0,0), (2,0,0)], 9: [(0,3,0), (2,1,0)] }
        half3[] scales = [(1,1,1), (1,1,1)]
    }
    def Mesh "Body" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(0,0,0), (2,0,0), (3,1,0), (4,0.5,1)]
        matrix4d primvars:skel:geomBindTransform = ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0.5,0,0,1))
        int[] primvars:skel:jointIndices = [0,1, 0,1, 0,1, 1,0] (elementSize = 2; interpolation = "vertex")
        float[] primvars:skel:jointWeights = [1,0, 0.5,0.5, 0.1,0.9, 1,0] (elementSize = 2; interpolation = "vertex")
    }
}
"#;

const BODY: &str = "/Hero/Body";

fn bake(input: &Path, out: &Path, more: &[&str]) -> Value {
    let output = command(input, out, &[more, &["--json"]].concat());
    assert_eq!(
        output.status.code(),
        Some(0),
        "{more:?}: {}",
        stderr(&output)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn shutters_sample_each_frame() {
    let bench = Bench::new();
    let input = bench.write("in.usda", LIMB);
    let out = bench.path("out.usda");
    let times = |more: &[&str]| {
        bake(&input, &out, more);
        usd::times(&usd::open(&out), BODY, "points")
    };
    let few = times(&[
        "--frames",
        "2:3",
        "--shutter",
        "-0.25:0.25",
        "--motion-samples",
        "3",
    ]);
    assert_eq!(few, [1.75, 2.0, 2.25, 2.75, 3.0, 3.25]);
    let whole = times(&["--shutter", "0:0.5"]);
    // The pose holds after the last frame, so its second sample is not needed.
    assert_eq!(whole.len(), 17);
    assert_eq!(whole[..3], [1.0, 1.5, 2.0]);
    let baked = usd::open(&out);
    assert_eq!(usd::times(&baked, BODY, "extent"), whole);
    // The values are those of the pose at the sample.
    let truth = deformed(&scene(&input), BODY, Time::At(1.5), OutSpace::Prim);
    let got = usd::vectors(&baked, BODY, "points", Some(1.5)).unwrap();
    common::compare::compare("points", &got, &truth.points, tolerance::POINTS).unwrap();
}

fn velocities_are_the_slopes_of_the_reference() {
    let bench = Bench::new();
    let hatchling = Path::new(FOLDER).join("examples/assets/hatchling.usda");
    let limb = bench.write("in.usda", LIMB);
    let dual = LIMB.replace("int[] faceVertexCounts", "uniform token primvars:skel:skinningMethod = \"dualQuaternion\"\n        int[] faceVertexCounts");
    let dual = bench.write("dual.usda", dual);
    let mut compared = 0;
    for (input, space) in [
        (&limb, "prim"),
        (&limb, "world"),
        (&dual, "prim"),
        (&hatchling, "prim"),
    ] {
        let out = bench.path("out.usdc");
        bake(
            input,
            &out,
            &["--frames", "2.5:8.5:3", "--velocities", "--space", space],
        );
        let (baked, scene) = (usd::open(&out), scene(input));
        let space = match space {
            "world" => OutSpace::World,
            _ => OutSpace::Prim,
        };
        let rate = scene.time_line.time_codes_per_second;
        for binding in scene.bindings.iter().filter(|b| !b.is_rigid()) {
            let prim = &binding.path;
            let points = usd::times(&baked, prim, "points");
            assert_eq!(usd::times(&baked, prim, "velocities"), points, "{prim}");
            for time in points {
                // The example has a key at every frame, and scales that are rounded between keys.
                let (h, inner, outer) = match *input == hatchling {
                    true => (0.5, 6.0, 0.0),
                    false => (0.1, 8.0, 1.0),
                };
                let at = |k: f64| deformed(&scene, prim, Time::At(time + k * h), space).points;
                let near = [-2.0, -1.0, 1.0, 2.0].map(at);
                let got = usd::vectors(&baked, prim, "velocities", Some(time)).unwrap();
                let want = (0..got.len()).map(|i| {
                    let (far, close) = (near[0][i] - near[3][i], near[2][i] - near[1][i]);
                    (far * outer + close * inner) * (rate / (12.0 * h))
                });
                let want: Vec<_> = want.collect();
                let fastest = want.iter().map(|v| v.length()).fold(0.0, f64::max);
                let size = near[0].iter().map(|p| p.length()).fold(0.0, f64::max);
                let most = tolerance::VELOCITY * fastest.max(size);
                for (got, want) in got.iter().zip(&want) {
                    let far = got.distance(*want);
                    assert!(
                        far <= most,
                        "{prim} at {time}: {got} for {want}, off by {far} > {most}"
                    );
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 15, "{compared}");
}

fn clips_have_the_velocities_of_one_file() {
    let bench = Bench::new();
    let input = bench.write("in.usda", LIMB);
    let (one, many) = (bench.path("one.usdc"), bench.path("many.usdc"));
    let options = ["--velocities", "--shutter", "0:0.5"];
    bake(&input, &one, &options);
    bake(
        &input,
        &many,
        &[&options[..], &["--clip-frames", "3"]].concat(),
    );
    let (one, many) = (usd::open(&one), usd::open(&many));
    let times = usd::times(&one, BODY, "velocities");
    assert_eq!(times.len(), 18);
    for time in times.iter().flat_map(|t| [*t, t + 0.2]) {
        for name in ["points", "velocities"] {
            let at = |stage| usd::vectors(stage, BODY, name, Some(time)).unwrap();
            assert_eq!(at(&one), at(&many), "{name} at {time}");
        }
    }
}

/// What describes the motion of the input's points has no value beside baked ones, says usd-core; what is
/// not about motion keeps its value, and so does a prim that is not baked.
fn velocities_of_the_input_are_blocked() {
    const OLD: &str = r#"vector3f[] velocities.timeSamples = { 1: [(9,0,0), (9,0,0), (9,0,0), (9,0,0)], 9: [(0,9,0), (9,0,0), (9,0,0), (9,0,0)] }
        vector3f[] accelerations = [(9,0,0), (9,0,0), (9,0,0), (9,0,0)]
        vector3f[] primvars:v = [(9,0,0), (9,0,0), (9,0,0), (9,0,0)] (interpolation = "vertex")
        float primvars:accel = 3
        point3f[] points ="#;
    let bench = Bench::new();
    let mut text = LIMB.replace("point3f[] points =", OLD);
    text.push_str("def Mesh \"Prop\"\n{\n        ");
    text.push_str(&OLD.replace(
        "points =",
        "points = [(0,0,0), (2,0,0), (3,1,0), (4,0.5,1)]\n}\n",
    ));
    let input = bench.write("in.usda", text);
    let clips = ["--clip-frames", "4"];
    let runs: [(&str, &[&str], &[&str]); 6] = [
        ("a.usda", &[], &[]),
        ("a.usdc", &["--velocities"], &["velocities"]),
        ("a.usdz", &[], &[]),
        ("layer.usda", &["--layer"], &[]),
        ("clips.usda", &clips, &[]),
        (
            "moving.usdc",
            &["--clip-frames", "4", "--velocities"],
            &["velocities"],
        ),
    ];
    let script = "
import sys
from pxr import Usd
stage = Usd.Stage.Open(sys.argv[1])
for path in ['/Hero/Body', '/Prop']:
    prim = stage.GetPrimAtPath(path)
    names = ['velocities', 'accelerations', 'primvars:v', 'primvars:accel']
    print(*(n for n in names if prim.GetAttribute(n).Get(5) is not None))
";
    for (name, more, left) in runs {
        let out = bench.path(name);
        let report = bake(&input, &out, more);
        let warnings = report["warnings"].as_array().unwrap();
        let mut told = warnings.iter().filter(|w| w["code"] == "old-motion");
        let warning = told.next().unwrap();
        assert_eq!(warning["path"], BODY, "{name}");
        let message = warning["message"].as_str().unwrap();
        let all = ["velocities", "accelerations", "primvars:v"];
        let blocked = all.iter().filter(|n| !left.contains(n));
        let blocked: Vec<&str> = blocked.copied().collect();
        assert!(message.contains(&blocked.join(", ")), "{name}: {message}");
        assert!(told.next().is_none(), "{name}");
        let python = std::env::var("SINEW_PYTHON").unwrap();
        let mut command = Command::new(python);
        let output = command.args(["-c", script]).arg(&out).output().unwrap();
        let found = String::from_utf8(output.stdout).unwrap();
        let body = [left, &["primvars:accel"]].concat().join(" ");
        let prop = [&all[..], &["primvars:accel"]].concat().join(" ");
        assert_eq!(found, format!("{body}\n{prop}\n"), "{name}");
    }
}

fn fewer_samples_stay_near() {
    let bench = Bench::new();
    let input = bench.write("in.usda", LIMB);
    let scene = scene(&input);
    let mut before = usize::MAX;
    for error in [0.001, 0.01, 0.1] {
        let out = bench.path("out.usdc");
        let text = error.to_string();
        let report = bake(&input, &out, &["--max-error", &text]);
        assert!(report["largest_error"].as_f64().unwrap() <= error);
        let baked = usd::open(&out);
        let times = usd::times(&baked, BODY, "points");
        assert!(times.len() <= before && times.len() > 2, "{times:?}");
        before = times.len();
        assert_eq!((times[0], times[times.len() - 1]), (1.0, 9.0));
        let mut worst = 0.0f64;
        for i in 0..=1600 {
            let time = 1.0 + f64::from(i) * 0.005;
            let want = deformed(&scene, BODY, Time::At(time), OutSpace::Prim).points;
            let got = usd::vectors(&baked, BODY, "points", Some(time)).unwrap();
            let off = got.iter().zip(&want).map(|(a, b)| a.distance(*b));
            worst = off.fold(worst, f64::max);
        }
        assert!(worst <= error, "{worst} of {error}");
        assert!(worst > error * 0.5, "{worst} of {error}: fewer would do");
    }
    assert!(before < 20, "{before}");
    // A range has its ends, and velocities at the same times.
    let out = bench.path("out.usdc");
    bake(
        &input,
        &out,
        &["--max-error", "0.01", "--frames", "2:4", "--velocities"],
    );
    let baked = usd::open(&out);
    let times = usd::times(&baked, BODY, "points");
    assert_eq!((times[0], times[times.len() - 1]), (2.0, 4.0));
    assert_eq!(times, usd::times(&baked, BODY, "velocities"));
}

/// Joint indices hold their values until the next ones, so points jump there.
fn the_largest_error_has_the_jumps() {
    let bench = Bench::new();
    let once = "int[] primvars:skel:jointIndices = [0,1, 0,1, 0,1, 1,0]";
    let twice = "int[] primvars:skel:jointIndices.timeSamples = { 1: [0,1, 0,1, 0,1, 1,0], 5: [1,0, 0,1, 0,1, 1,0] }";
    let text = LIMB.replace(once, &format!("{twice}\n        {once}"));
    assert_ne!(text, LIMB);
    let input = bench.write("in.usda", text);
    let report = bake(&input, &bench.path("out.usda"), &["--max-error", "0.001"]);
    let largest = report["largest_error"].as_f64().unwrap();
    let warnings = report["warnings"].as_array().unwrap();
    let mut jumps = warnings.iter().filter(|w| w["code"] == "max-error-jump");
    let message = jumps.next().unwrap()["message"].as_str().unwrap();
    let told = message.rsplit_once("by up to ").unwrap().1;
    let told: f64 = told.parse().unwrap();
    assert!(told > 0.1, "{message}");
    assert!((largest / told - 1.0).abs() < 1e-3, "{largest}: {message}");
}

/// Before they were refused, all of them were made and sorted: 256 million times.
fn too_many_samples_are_refused_at_once() {
    let bench = Bench::new();
    let input = bench.write("in.usda", LIMB);
    let long = LIMB.replace("endTimeCode = 9", "endTimeCode = 1200000");
    let long = bench.write("long.usda", long);
    let shutter = ["--shutter", "-0.25:0.25", "--motion-samples", "256"];
    for (input, more) in [
        (&input, &["--frames", "1:3000:0.003"][..]),
        // The stage's own frames.
        (&long, &[]),
    ] {
        let mut command = Command::new(executable());
        command.arg("bake").arg(input);
        command.arg("-o").arg(bench.path("a.usdc")).args(shutter);
        let (output, took) = processor::of_command(command.args(more)).unwrap();
        assert!(took.as_secs() < 30, "{more:?}: {took:?}");
        let text = stderr(&output);
        assert_ne!(output.status.code(), Some(0), "{more:?}");
        assert!(
            text.contains("more than 1000000 frames"),
            "{more:?}: {text}"
        );
    }
}

fn requests_that_make_no_sense_are_refused() {
    let bench = Bench::new();
    let input = bench.write("in.usda", LIMB);
    for (name, more, word) in [
        ("a.pc2", &["--velocities"][..], "USD"),
        ("a.exr", &["--shutter", "0:0.5"], "USD"),
        ("a.####.obj", &["--max-error", "1"], "USD"),
        ("a.usdc", &["--shutter", "0.5:0"], "closes"),
        (
            "a.usdc",
            &["--shutter", "0:0.5", "--motion-samples", "1"],
            "found 1",
        ),
        ("a.usdc", &["--motion-samples", "2"], "--shutter"),
        ("a.usdc", &["--max-error", "0"], "above 0"),
        (
            "a.usdc",
            &["--max-error", "1", "--shutter", "0:1"],
            "--shutter",
        ),
    ] {
        let output = command(&input, &bench.path(name), more);
        assert_eq!(output.status.code(), Some(2), "{name} {more:?}");
        assert!(
            stderr(&output).contains(word),
            "{more:?}: {}",
            stderr(&output)
        );
    }
    assert_eq!(std::fs::read_dir(bench.folder.path()).unwrap().count(), 1);
}

/// usd-core's joints in f64, what its ComputePointsAtTime makes of velocities, and its interpolation of points.
fn usd_core_finds_velocities_and_errors() {
    let python = std::env::var("SINEW_PYTHON").unwrap();
    let bench = Bench::new();
    let input = bench.write("in.usda", LIMB);
    let compare = |more: &[&str]| -> Value {
        let out = bench.path("out.usdc");
        bake(&input, &out, more);
        let script = Path::new(FOLDER).join("crates/sinew-cli/tests/bake/motion.py");
        let output = Command::new(&python)
            .arg(script)
            .args([&input, &out])
            .arg(BODY)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let number = |json: &Value, key: &str| json[key].as_f64().unwrap();
    let found = compare(&["--velocities", "--frames", "1:9:0.5"]);
    assert_eq!(found["same_times"], true, "{found}");
    assert!(number(&found, "compared") > 10.0, "{found}");
    assert!(
        number(&found, "velocity_error") <= tolerance::VELOCITY_OF_USD_CORE,
        "{found}"
    );
    // Beyond the velocity there is the acceleration: 0.01 time codes of it.
    assert!(number(&found, "extrapolated_error") < 3e-4, "{found}");
    for error in ["0.02", "0.2"] {
        let found = compare(&["--max-error", error]);
        let most: f64 = error.parse().unwrap();
        assert!(number(&found, "between_error") <= most, "{error}: {found}");
        assert_eq!(found["authored"], false);
    }
}

/// Blender's, Maya's, Pixar's and Khronos' files: animated transforms, dual quaternions, in-betweens, keys far apart. Times
/// stand between whole numbers, at which these files have their keys. Between keys usd-core rounds scales to 16 bits, so no
/// file here has animated ones.
fn usd_core_finds_the_velocities_of_real_files() {
    const PIXAR: &str = "pixar-openusd/pxr/usd/usdSkel/testenv/testUsdSkelBakeSkinning";
    const IMAGING: &str = "pixar-openusd/pxr/usdImaging/usdImagingGL/testenv";
    let python = std::env::var("SINEW_PYTHON").unwrap();
    let assets = std::env::var("SINEW_ASSETS").unwrap();
    let shapes = format!("{IMAGING}/testUsdImagingGLSkelBlendShapes/blendshapes.usda");
    let dual = format!("{IMAGING}/testUsdImagingGLSkelSkinning/test_dqs.usda");
    let bench = Bench::new();
    let script = Path::new(FOLDER).join("crates/sinew-cli/tests/bake/motion_real.py");
    let mut moving = 0;
    for (file, frames) in [
        ("blender/rig_noscale.usdc", "1.37:48:6"),
        ("maya-usd/skinCluster.usda", "0.37:119:17"),
        ("maya-usd/skelCube.usda", "0.37:30:4"),
        ("usd-wg-assets/CesiumMan.usdz", "0.37:40:7"),
        ("usd-wg-assets/RiggedFigure.usdz", "0.37:30:5"),
        (&format!("{PIXAR}/dqs.usda"), "1.37:30:5"),
        (&format!("{PIXAR}/blendshapes.usda"), "1.37:150:19"),
        (&shapes, "1.37:100:9"),
        (&dual, "1.37:20:3"),
    ] {
        let input = Path::new(&assets).join(file);
        if !input.exists() {
            // Not every file of the house is published.
            continue;
        }
        let out = bench.path("out.usdc");
        bake(&input, &out, &["--velocities", "--frames", frames]);
        let output = Command::new(&python)
            .args([&script, &input, &out])
            .output()
            .unwrap();
        assert!(output.status.success(), "{file}: {}", stderr(&output));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let prims = found.as_object().unwrap();
        for (prim, found) in prims {
            let number = |key: &str| found[key].as_f64().unwrap();
            let most = tolerance::VELOCITY_OF_F32_POINTS;
            assert!(number("error") <= most, "{file} {prim}: {found}");
            moving += usize::from(number("speed") > 0.0 && number("times") >= 4.0);
        }
    }
    assert!(moving >= 8, "{moving} prims move");
}
