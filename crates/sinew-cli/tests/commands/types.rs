//! Value types and crate versions of real files, read as usd-core 26.11 reads them.

use std::path::{Path, PathBuf};

use common::command::{Bench, bake, refused, sinew, stderr, stdout};
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

#[test]
fn crate_versions() {
    let bench = Bench::new();
    let usual = &goldens()[0];
    for minor in 4..=13 {
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
    // Those that usd-core 26.11 refuses as well, and one that is not there yet.
    bench.write("v0.17.0.usdc", crate_of_version(17));
    for (folder, version) in [
        (folder(), "0.2.0"),
        (folder(), "0.3.0"),
        (bench.path(""), "0.17.0"),
    ] {
        let out = bench.path("out.usda");
        let name = format!("v{version}.usdc");
        let told = [
            &*name,
            &format!("crate version {version}"),
            "0.4.0 to 0.16.0",
        ];
        refused(&bake(&folder.join(&name), &out, &[]), &out, &told);
    }
}

/// A crate with samples that says that it is of this version.
fn crate_of_version(minor: u8) -> Vec<u8> {
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

/// The file itself is refused. As in usd-core a layer or a clip that cannot be read is left out, which every command says.
#[test]
fn every_command_tells_of_a_crate_of_another_version() {
    let bench = Bench::new();
    let old = bench.write("old.usdc", crate_of_version(3));
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
        let told = ["old.usdc", "crate version 0.3.0"];
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
            if input == name(&old) {
                refused(&output, &out, &told);
            }
            let said = stderr(&output) + &stdout(&output);
            // Retargeting ends earlier: what is left has no skeleton.
            for word in told.iter().filter(|_| args[0] != "retarget") {
                assert!(said.contains(*word), "{args:?}: {said}");
            }
            // The next command writes the same file.
            std::fs::remove_file(&out).ok();
        }
        let output = sinew(&["check", input]);
        let report = stdout(&output) + &stderr(&output);
        assert_ne!(output.status.code(), Some(0), "{input}: {report}");
        for word in ["error", "crate version 0.3.0", "old.usdc"] {
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

#[test]
fn splines_move_as_their_values_do() {
    let op = |value: &str| {
        format!(
            "uniform token[] xformOpOrder = [\"xformOp:translateX\"]\ndouble xformOp:translateX{value}\n"
        )
    };
    let base = std::fs::read_to_string(folder().join("base.usda")).unwrap();
    let world = |place: &str, value: &str| {
        let bench = Bench::new();
        let input = bench.write(
            "in.usda",
            base.replace(place, &format!("{}{place}", op(value))),
        );
        let out = bench.path("out.usda");
        let output = bake(&input, &out, &["--space", "world", "--frames", "1:2"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let stage = usd::open(&out);
        usd::vectors(&stage, "/R/Body", "points", Some(1.0)).unwrap()
    };
    // A root's, a Skeleton's and a mesh's own.
    for place in [
        "    rel skel:skeleton = </R/Skel>\n",
        "        rel skel:animationSource = </R/Anim>\n",
        "        point3f[] points",
    ] {
        assert!(base.contains(place));
        assert_eq!(world(place, SPLINE), world(place, " = 5"), "{place}");
    }
}
