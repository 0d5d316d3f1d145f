//! Value types and crate versions of real files, read as usd-core 26.11 reads them.

use std::path::{Path, PathBuf};

use common::command::{Bench, bake, refused, sinew, stderr, stdout};
use common::compare::compare_within;
use common::{tolerance, usd};
use glam::DVec3;
use openusd::sdf;
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

#[test]
fn crate_versions() {
    let bench = Bench::new();
    let usual = &goldens()[0];
    for minor in [4, 7, 8, 9, 10, 11, 12] {
        let out = bench.path("out.usda");
        let output = bake(&folder().join(format!("v0.{minor}.0.usdc")), &out, &[]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "0.{minor}.0: {}",
            stderr(&output)
        );
        usual.holds(&out, &format!("crate 0.{minor}.0"));
        std::fs::remove_file(&out).unwrap();
    }
    // Written before 2017, with samples that openusd 0.8 misreads, and by a library that is newer.
    for version in ["0.2.0", "0.3.0", "0.5.0", "0.6.0", "0.13.0"] {
        let out = bench.path("out.usda");
        let input = folder().join(format!("v{version}.usdc"));
        let name = format!("v{version}.usdc");
        refused(
            &bake(&input, &out, &[]),
            &out,
            &[
                &name,
                &format!("crate version {version}"),
                "0.7 to 0.12",
                "usdcat",
                "[crate-version]",
            ],
        );
    }
}

/// A crate of that version, whose samples count as it says.
fn old_crate_with_samples(minor: u8) -> Vec<u8> {
    let bench = Bench::new();
    let base = std::fs::read_to_string(folder().join("base.usda")).unwrap();
    let weights = "blendShapeWeights = [1]";
    assert!(base.contains(weights));
    let samples = "blendShapeWeights.timeSamples = { 1: [1], 2: [0] }";
    let text = bench.write("in.usda", base.replace(weights, samples));
    let out = bench.path("out.usdc");
    run("convert", &text, &["-o", name(&out)]);
    let mut bytes = std::fs::read(out).unwrap();
    assert!(bytes.starts_with(b"PXR-USDC\0"));
    bytes[9] = minor;
    bytes
}

fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs a command that succeeds.
fn run(command: &str, input: &Path, more: &[&str]) {
    let output = sinew(&[&[command, name(input)], more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn no_command_reads_a_crate_of_another_version() {
    let bench = Bench::new();
    let old = bench.write("old.usdc", old_crate_with_samples(4));
    let whole = "( subLayers = [@./old.usdc@] )";
    let other = |arc: &str| format!("def SkelRoot \"R\" ({arc}) {{\n}}\n");
    let clips = "def SkelAnimation \"Anim\" (clips = { dictionary default = {
        asset[] assetPaths = [@./old.usdc@]
        string primPath = \"/R/Anim\"
        double2[] active = [(0, 0)]
        double2[] times = [(0, 0), (1, 1)]
        asset manifestAssetPath = @./manifest.usda@
    } })\n";
    let base = std::fs::read_to_string(folder().join("base.usda")).unwrap();
    bench.write("manifest.usda", &base);
    let animation = "def SkelAnimation \"Anim\"\n";
    assert!(base.contains(animation));
    let clips = base.replace(animation, clips);
    let clips = clips.replace("blendShapeWeights = [1]", "blendShapeWeights");
    for (input, text) in [
        ("old.usdc", None),
        ("sublayer.usda", Some(format!("#usda 1.0\n{whole}\n"))),
        (
            "reference.usda",
            Some(format!(
                "#usda 1.0\n{}",
                other("references = @./old.usdc@</R>")
            )),
        ),
        (
            "payload.usda",
            Some(format!(
                "#usda 1.0\n{}",
                other("payload = @./old.usdc@</R>")
            )),
        ),
        ("clips.usda", Some(clips)),
    ] {
        let input = match text {
            Some(text) => bench.write(input, text),
            None => old.clone(),
        };
        let input = name(&input);
        let out = bench.path("out.usda");
        let told = [
            "old.usdc",
            "crate version 0.4.0 with time samples",
            "[crate-version]",
        ];
        for args in [
            &["bake", input, "-o", name(&out), "--backend", "cpu"][..],
            &[
                "bake",
                input,
                "-o",
                name(&out),
                "--backend",
                "cpu",
                "--layer",
            ],
            &["convert", input, "-o", name(&out)],
            &["fix", input, "-o", name(&out)],
            &["inspect", input],
            &["retarget", input, input, "-o", name(&out)],
        ] {
            let output = sinew(args);
            refused(&output, &out, &told);
        }
        let output = sinew(&["check", input]);
        let report = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{input}: {report}");
        for word in ["error", "crate-version", "old.usdc"] {
            assert!(report.contains(word), "{input}: {report}");
        }
    }
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

/// Every command that writes the whole stage refuses to.
fn nothing_is_written(bench: &Bench, input: &Path, extension: &str, told: &[&str]) {
    let out = bench.path(&format!("out.{extension}"));
    refused(&bake(input, &out, &[]), &out, told);
    for command in ["convert", "fix"] {
        let output = sinew(&[command, name(input), "-o", name(&out)]);
        refused(&output, &out, told);
    }
    let retarget = sinew(&["retarget", name(input), name(input), "-o", name(&out)]);
    assert_eq!(retarget.status.code(), Some(1), "{}", stderr(&retarget));
    assert!(!out.exists());
    let folder = std::fs::read_dir(bench.folder.path()).unwrap();
    assert!(folder.count() <= 2, "nothing is left beside it");
}

#[test]
fn values_that_a_crate_would_get_changed_are_refused() {
    for (more, property) in [
        ("half2 a = (1, 2)", "a"),
        ("texCoord2h b.timeSamples = { 1: (1, 2) }", "b"),
        ("pathExpression c = \"/World//\"", "c"),
        ("pathExpression d.timeSamples = { 1: \"/World//\" }", "d"),
        ("int e = 1 ( customData = {\nhalf2 x = (1, 2)\n} )", "e"),
    ] {
        let (bench, input) = with_more(more);
        for extension in ["usdc", "usd", "usdz"] {
            let told = ["/R", &format!(".{property}: "), "[value-not-in-crate]"];
            nothing_is_written(&bench, &input, extension, &told);
        }
        // Text holds them, and a layer of overs does not have them.
        let out = bench.path("out.usda");
        assert_eq!(bake(&input, &out, &[]).status.code(), Some(0), "{more}");
        let value = |file: &Path| {
            let stage = usd::open(file);
            let attribute = stage.attribute(format!("/R.{property}").as_str()).unwrap();
            (
                attribute.get::<sdf::Value>().unwrap(),
                attribute.time_samples().unwrap(),
            )
        };
        assert_eq!(value(&out), value(&input), "{more}");
        let layer = bench.path("layer.usdc");
        let output = bake(&input, &layer, &["--layer"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    // Arrays of them are written as they are, and so is an expression that is none.
    for more in [
        "half2[] a = [(1, 2)]",
        "half3 b = (1, 2, 3)",
        "half4 c = (1, 2, 3, 4)",
        "quath d = (1, 0, 0, 0)",
        "pathExpression e = \"\"",
        "pathExpression[] f = [\"/World//\"]",
        "int64 g = -5",
        "uint64 h = 18446744073709551615",
    ] {
        let (bench, input) = with_more(more);
        let out = bench.path("out.usdc");
        assert_eq!(bake(&input, &out, &[]).status.code(), Some(0), "{more}");
    }
}

/// usd-core writes such arrays too; openusd 0.8 drops samples that it cannot decode.
#[test]
fn integers_that_are_not_read_are_told_and_not_written() {
    let values: Vec<String> = (0..16i64).map(|i| ((i * i) << 40).to_string()).collect();
    let values = values.join(", ");
    for more in [
        format!("int64[] ids.timeSamples = {{ 1: [{values}] }}"),
        format!("uint64[] ids = [{values}]"),
    ] {
        let (bench, text) = with_more(&more);
        let input = bench.path("in.usdc");
        run("convert", &text, &["-o", name(&input)]);
        std::fs::remove_file(text).unwrap();
        for extension in ["usda", "usdc", "usdz"] {
            let told = ["/R.ids: ", "[integers-not-read]"];
            nothing_is_written(&bench, &input, extension, &told);
        }
        let output = sinew(&["check", name(&input)]);
        let report = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{report}");
        assert!(report.contains("integers-not-read"), "{report}");
        let layer = bench.path("layer.usda");
        let output = bake(&input, &layer, &["--layer"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains("[integers-not-read]"));
    }
}

const SPLINE: &str = ".spline = { bezier,\n1: 5; post held,\n}";

#[test]
fn splines_are_told_and_not_written() {
    let lamp = format!("def SphereLight \"Lamp\" {{\nfloat inputs:intensity{SPLINE}\n}}");
    let (bench, input) = with_more(&lamp);
    for extension in ["usda", "usdc", "usdz"] {
        let told = ["/R/Lamp.inputs:intensity: ", "[spline-not-written]"];
        nothing_is_written(&bench, &input, extension, &told);
    }
    let layer = bench.path("layer.usda");
    let output = bake(&input, &layer, &["--layer"]);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(
        told.contains("/R/Lamp: inputs:intensity has a spline")
            && told.contains("[spline-ignored]"),
        "{told}"
    );
    goldens()[0].holds(&layer, "beside a spline");
    // A stronger value counts before it, but not in one layer with it.
    let over = "#usda 1.0\n( subLayers = [@./in.usda@] )\nover \"R\" {\nover \"Lamp\" {\n\
        float inputs:intensity = 3\n}\n}\n";
    let over = bench.write("over.usda", over);
    let output = bake(&over, &layer, &["--layer"]);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(!told.contains("spline"), "{told}");
    let out = bench.path("out.usda");
    let output = bake(&over, &out, &[]);
    refused(
        &output,
        &out,
        &["/R/Lamp.inputs:intensity: ", "[spline-not-written]"],
    );
}

#[test]
fn what_a_spline_moves_is_refused() {
    let op = |order: &str| {
        format!("uniform token[] xformOpOrder = [{order}]\ndouble xformOp:translateX{SPLINE}\n")
    };
    let moved = op("\"xformOp:translateX\"");
    let base = std::fs::read_to_string(folder().join("base.usda")).unwrap();
    // A root's, a Skeleton's and a mesh's own.
    for (place, spline) in [
        (
            "    rel skel:skeleton = </R/Skel>\n",
            "/R.xformOp:translateX",
        ),
        (
            "        rel skel:animationSource = </R/Anim>\n",
            "/R/Skel.xformOp:translateX",
        ),
        ("        point3f[] points", "/R/Body.xformOp:translateX"),
    ] {
        assert!(base.contains(place));
        let bench = Bench::new();
        let input = bench.write("in.usda", base.replace(place, &format!("{moved}{place}")));
        let out = bench.path("out.usda");
        let told = ["/R/Body.xformOpOrder: ", spline, "[spline-transform]"];
        refused(&bake(&input, &out, &["--layer"]), &out, &told);
        let obj = bench.path("out.obj");
        refused(&bake(&input, &obj, &[]), &obj, &told);
        let output = sinew(&["check", name(&input)]);
        let report = stdout(&output);
        assert!(report.contains("spline-transform"), "{report}");
        assert_eq!(output.status.code(), Some(1), "{report}");
    }
    // One that xformOpOrder does not list moves nothing.
    let place = "        point3f[] points";
    let bench = Bench::new();
    let input = bench.write(
        "in.usda",
        base.replace(place, &format!("{}{place}", op(""))),
    );
    let out = bench.path("out.usda");
    let output = bake(&input, &out, &["--layer"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}
