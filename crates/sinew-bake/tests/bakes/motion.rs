//! Samples for motion blur: shutters, velocities, and the fewest samples within an error.

use std::path::Path;

use libtest_mimic::Failed;
use serde_json::Value;
use sinew::sampled::Time;
use sinew::scene::OutSpace;

use crate::bench::*;
use crate::truth::{deformed, scene};
use common::{tolerance, usd};

const BODY: &str = "/Hero/Body";

pub fn velocities_are_the_slopes_of_the_reference() {
    let bench = Bench::new();
    let hatchling = hatchling();
    let limb = bench.write("in.usda", &*LIMB);
    let dual = "uniform token primvars:skel:skinningMethod = \"dualQuaternion\"\n        ";
    let counts = "int[] faceVertexCounts";
    let dual = LIMB.replace(counts, &format!("{dual}{counts}"));
    let dual = bench.write("dual.usda", dual);
    let mut compared = 0;
    for (input, words, space) in [
        (&limb, "", OutSpace::Prim),
        (&limb, "space world", OutSpace::World),
        (&dual, "", OutSpace::Prim),
        (&hatchling, "", OutSpace::Prim),
    ] {
        let out = bench.path("out.usdc");
        let words = format!("frames 2.5:8.5:3 velocities {words}");
        run(input, &out, &words);
        let (baked, scene) = (usd::open(&out), scene(input));
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
                    assert!(far <= most, "{prim} at {time}: {got} for {want}");
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 15, "{compared}");
}

/// What describes the motion of the input's points has no value beside baked ones, says usd-core; what is
/// not about motion keeps its value, and so does a prim that is not baked.
pub fn velocities_of_the_input_are_blocked(with: &str) -> Result<(), Failed> {
    const OLD: &str = r#"vector3f[] velocities.timeSamples = { 1: [(9,0,0), (9,0,0), (9,0,0), (9,0,0)], 9: [(0,9,0), (9,0,0), (9,0,0), (9,0,0)] }
        vector3f[] accelerations = [(9,0,0), (9,0,0), (9,0,0), (9,0,0)]
        vector3f[] primvars:v = [(9,0,0), (9,0,0), (9,0,0), (9,0,0)] (interpolation = "vertex")
        float primvars:accel = 3
        point3f[] points ="#;
    let bench = Bench::new();
    let mut text = LIMB.replace("point3f[] points =", OLD);
    text.push_str("\ndef Mesh \"Prop\"\n{\n        ");
    text.push_str(&OLD.replace(
        "points =",
        "points = [(0,0,0), (2,0,0), (3,1,0), (4,0.5,1)]\n}\n",
    ));
    let input = bench.write("in.usda", text);
    for (name, words, left) in [
        ("a.usda", "", &[][..]),
        ("a.usdc", "velocities", &["velocities"]),
        ("a.usdz", "", &[]),
        ("layer.usda", "layer", &[]),
        ("clips.usda", "clip-frames 4", &[]),
        ("moving.usdc", "clip-frames 4 velocities", &["velocities"]),
    ] {
        let out = bench.path(name);
        let report = run(&input, &out, words);
        let [warning] = warnings(&report, "old-motion")[..] else {
            panic!("{name}: {:?}", report.warnings);
        };
        assert_eq!(warning.path, BODY, "{name}");
        let all = ["velocities", "accelerations", "primvars:v"];
        let blocked = all.iter().filter(|n| !left.contains(n));
        let blocked = blocked.copied().collect::<Vec<_>>().join(", ");
        assert!(warning.message.contains(&blocked), "{name}: {warning}");
        let found = python(with, "old_motion.py", [out.as_ref()])?;
        let body = [left, &["primvars:accel"]].concat().join(" ");
        let prop = [&all[..], &["primvars:accel"]].concat().join(" ");
        assert_eq!(found, format!("{body}\n{prop}\n"), "{name}");
    }
    Ok(())
}

pub fn fewer_samples_stay_near() {
    let bench = Bench::new();
    let input = bench.write("in.usda", &*LIMB);
    let scene = scene(&input);
    let mut before = usize::MAX;
    for error in [0.001, 0.01, 0.1] {
        let out = bench.path("out.usdc");
        let report = run(&input, &out, &format!("max-error {error}"));
        assert!(report.largest_error.unwrap() <= error);
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
    run(&input, &out, "max-error 0.01 frames 2:4 velocities");
    let baked = usd::open(&out);
    let times = usd::times(&baked, BODY, "points");
    assert_eq!((times[0], times[times.len() - 1]), (2.0, 4.0));
    assert_eq!(times, usd::times(&baked, BODY, "velocities"));
}

/// Joint indices hold their values until the next ones, so points jump there.
pub fn the_largest_error_has_the_jumps() {
    let bench = Bench::new();
    let name = "int[] primvars:skel:jointIndices";
    let (first, then) = ("[0,1, 0,1, 0,1, 1,0]", "[1,0, 0,1, 0,1, 1,0]");
    let samples = format!("{name}.timeSamples = {{ 1: {first}, 5: {then} }}");
    let text = LIMB.replace(name, &format!("{samples}\n        {name}"));
    let input = bench.write("in.usda", text);
    let report = run(&input, &bench.path("out.usda"), "max-error 0.001");
    let largest = report.largest_error.unwrap();
    let message = &warnings(&report, "max-error-jump")[0].message;
    let told = message.rsplit_once("by up to ").unwrap().1;
    let told: f64 = told.parse().unwrap();
    assert!(told > 0.1, "{message}");
    assert!((largest / told - 1.0).abs() < 1e-3, "{largest}: {message}");
}

/// usd-core's joints in f64, what its ComputePointsAtTime makes of velocities, and its interpolation of points.
pub fn usd_core_finds_velocities_and_errors(with: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let input = bench.write("in.usda", &*LIMB);
    let compare = |words: &str| -> Result<Value, Failed> {
        let out = bench.path("out.usdc");
        run(&input, &out, words);
        let found = python(with, "motion.py", [&input, &out, Path::new(BODY)])?;
        Ok(serde_json::from_str(&found)?)
    };
    let number = |json: &Value, key: &str| json[key].as_f64().unwrap();
    let found = compare("velocities frames 1:9:0.5")?;
    assert_eq!(found["same_times"], true, "{found}");
    assert!(number(&found, "compared") > 10.0, "{found}");
    let most = tolerance::VELOCITY_OF_USD_CORE;
    assert!(number(&found, "velocity_error") <= most, "{found}");
    // Beyond the velocity there is the acceleration: 0.01 time codes of it.
    assert!(number(&found, "extrapolated_error") < 3e-4, "{found}");
    for error in [0.02, 0.2] {
        let found = compare(&format!("max-error {error}"))?;
        assert!(number(&found, "between_error") <= error, "{error}: {found}");
        assert_eq!(found["authored"], false);
    }
    Ok(())
}

/// Blender's, Maya's, Pixar's and Khronos' files: animated transforms, dual quaternions, in-betweens, keys far apart. Times
/// stand between whole numbers, at which these files have their keys. Between keys usd-core rounds scales to 16 bits, so no
/// file here has animated ones.
pub fn usd_core_finds_the_velocities_of_real_files(
    with: &str,
    assets: &Path,
) -> Result<(), Failed> {
    const PIXAR: &str = "pixar-openusd/pxr/usd/usdSkel/testenv/testUsdSkelBakeSkinning";
    const IMAGING: &str = "pixar-openusd/pxr/usdImaging/usdImagingGL/testenv";
    let shapes = format!("{IMAGING}/testUsdImagingGLSkelBlendShapes/blendshapes.usda");
    let dual = format!("{IMAGING}/testUsdImagingGLSkelSkinning/test_dqs.usda");
    let bench = Bench::new();
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
        let input = assets.join(file);
        if !input.exists() {
            // Not every file of the house is published.
            continue;
        }
        let out = bench.path("out.usdc");
        run(&input, &out, &format!("velocities frames {frames}"));
        let found: Value = serde_json::from_str(&python(with, "motion_real.py", [&*input, &out])?)?;
        for (prim, found) in found.as_object().unwrap() {
            let number = |key: &str| found[key].as_f64().unwrap();
            let most = tolerance::VELOCITY_OF_F32_POINTS;
            assert!(number("error") <= most, "{file} {prim}: {found}");
            moving += usize::from(number("speed") > 0.0 && number("times") >= 4.0);
        }
    }
    assert!(moving >= 8, "{moving} prims move");
    Ok(())
}
