//! Value types of real files, read as usd-core 26.11 reads them. Versions of crates are rows of
//! tests/data/runs.txt.

use std::path::{Path, PathBuf};

use common::command::{Bench, bake, sinew, stderr};
use common::compare::compare_within;
use common::{tolerance, usd};
use glam::DVec3;
use serde::Deserialize;

fn folder() -> PathBuf {
    common::repository().join("tests/crates")
}

/// What usd-core's bake makes of `base.usda` with one declaration changed (tests/crates/make_types.py).
#[derive(Deserialize)]
struct Golden {
    usual: String,
    other: String,
    points: Vec<[f64; 3]>,
    normals: Vec<[f64; 3]>,
}

#[derive(Deserialize)]
struct Goldens {
    cases: Vec<Golden>,
}

fn goldens() -> Vec<Golden> {
    let text = std::fs::read_to_string(folder().join("types.json")).unwrap();
    serde_json::from_str::<Goldens>(&text).unwrap().cases
}

impl Golden {
    fn holds(&self, out: &Path, what: &str) {
        let stage = usd::open(out);
        let within = |property: &str, want: &[[f64; 3]], most: f64| {
            let got = usd::vectors(&stage, "/R/Body", property, None)
                .unwrap_or_else(|| panic!("{what}: no {property}"));
            let want: Vec<DVec3> = want.iter().copied().map(DVec3::from).collect();
            compare_within(property, &got, &want, most).unwrap_or_else(|e| panic!("{what}: {e}"));
        };
        // Coordinates reach 4.
        within("points", &self.points, 4.0 * tolerance::PIXAR_BAKE_POINTS);
        within("normals", &self.normals, tolerance::PIXAR_BAKE_NORMALS);
    }
}

/// Bakes the stage with one declaration changed.
fn with_type(usual: &str, other: &str) -> (Bench, PathBuf) {
    let bench = Bench::new();
    let base = std::fs::read_to_string(folder().join("base.usda")).unwrap();
    assert!(base.contains(usual), "{usual}");
    let input = bench.write("in.usda", base.replace(usual, other));
    let out = bench.path("out.usda");
    let output = bake(&input, &out, &[]);
    // An attribute that is not read can leave a prim unskinned, which is told.
    let code = output.status.code();
    let told = stderr(&output);
    assert!(matches!(code, Some(0 | 3)), "{other}: {told}");
    assert_eq!(code == Some(3), told.contains("failed: "), "{told}");
    (bench, out)
}

/// Every golden whose values are, or are not, those of the unchanged stage.
fn hold(is_read: bool, least: usize) {
    let goldens = goldens();
    let (usual, changed) = goldens.split_first().unwrap();
    assert_eq!(usual.usual, usual.other);
    let same =
        |golden: &&Golden| (&golden.points, &golden.normals) == (&usual.points, &usual.normals);
    let of: Vec<_> = changed.iter().filter(|g| same(g) == is_read).collect();
    assert!(of.len() >= least, "{} cases", of.len());
    for golden in of {
        let (_bench, out) = with_type(&golden.usual, &golden.other);
        golden.holds(&out, &golden.other);
    }
}

#[test]
fn types_of_older_files_are_read() {
    hold(true, 9);
}

#[test]
fn other_precisions_are_no_value_as_in_usd_core() {
    hold(false, 13);
}

fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs a command that succeeds.
fn run(command: &str, input: &Path, more: &[&str]) {
    let output = sinew(&[&[command, name(input)], more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// A stage with more on its root prim.
fn with_more(more: &str) -> (Bench, PathBuf) {
    let bench = Bench::new();
    let base = std::fs::read_to_string(folder().join("base.usda")).unwrap();
    let place = "    rel skel:skeleton = </R/Skel>\n";
    assert!(base.contains(place));
    let input = bench.write("in.usda", base.replace(place, &format!("{place}{more}\n")));
    (bench, input)
}

/// The formats that a stage is written in.
const FORMATS: [&str; 4] = ["usda", "usdc", "usd", "usdz"];

/// Every command that writes the whole stage has a property as its input has it, in every format.
fn is_kept(bench: &Bench, input: &Path, (prim, property): (&str, &str)) {
    let read = |file: &Path| {
        let stage = usd::open(file);
        let attribute = usd::prim(&stage, prim).attribute(property);
        let samples = attribute.samples().unwrap().map(|samples| {
            let values = (0..samples.len()).map(|i| samples.load(i).unwrap());
            (samples.times().to_vec(), values.collect::<Vec<_>>())
        });
        (
            attribute.type_name(),
            attribute.get(None).unwrap(),
            samples,
            attribute.spline(),
            attribute.metadata("customData").unwrap(),
        )
    };
    let want = read(input);
    assert!(!want.0.is_empty(), "{prim}.{property}");
    for extension in FORMATS {
        for command in ["bake", "convert"] {
            let out = bench.path(&format!("{command}.{extension}"));
            run(command, input, &["-o", name(&out)]);
            assert_eq!(read(&out), want, "{command} {extension}");
        }
    }
}

#[test]
fn values_of_every_type_are_kept_in_every_format() {
    let integers: Vec<String> = (0..16i64).map(|i| ((i * i) << 40).to_string()).collect();
    let integers = integers.join(", ");
    for (more, property) in [
        ("half2 a = (1, 2)", "a"),
        ("texCoord2h b.timeSamples = { 1: (1, 2) }", "b"),
        ("pathExpression c = \"/World//\"", "c"),
        ("pathExpression d.timeSamples = { 1: \"/World//\" }", "d"),
        ("int e = 1 ( customData = {\nhalf2 x = (1, 2)\n} )", "e"),
        ("half2[] a = [(1, 2)]", "a"),
        ("half3 b = (1, 2, 3)", "b"),
        ("half4 c = (1, 2, 3, 4)", "c"),
        ("quath d = (1, 0, 0, 0)", "d"),
        ("pathExpression e = \"\"", "e"),
        ("pathExpression[] f = [\"/World//\"]", "f"),
        ("int64 g = -5", "g"),
        ("uint64 h = 18446744073709551615", "h"),
        (
            &format!("int64[] ids.timeSamples = {{ 1: [{integers}] }}"),
            "ids",
        ),
        (&format!("uint64[] ids = [{integers}]"), "ids"),
    ] {
        let (bench, input) = with_more(more);
        is_kept(&bench, &input, ("/R", property));
    }
}

const SPLINE: &str = ".spline = { bezier,\n1: 5; post held,\n}";

#[test]
fn splines_are_kept_in_every_format() {
    let lamp = format!("def SphereLight \"Lamp\" {{\nfloat inputs:intensity{SPLINE}\n}}");
    let (bench, input) = with_more(&lamp);
    is_kept(&bench, &input, ("/R/Lamp", "inputs:intensity"));
    let layer = bench.path("layer.usda");
    let output = bake(&input, &layer, &["--layer"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    goldens()[0].holds(&layer, "beside a spline");
    // A stronger value counts before it.
    let over = "#usda 1.0\n( subLayers = [@./in.usda@] )\nover \"R\" {\nover \"Lamp\" {\n\
        float inputs:intensity = 3\n}\n}\n";
    let over = bench.write("over.usda", over);
    is_kept(&bench, &over, ("/R/Lamp", "inputs:intensity"));
}
