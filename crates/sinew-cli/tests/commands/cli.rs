//! The command as a script meets it: exit codes, streams, and bad input.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use common::command::{Bench, bake, misused, refused, sinew, stderr, stdout};
use common::usd;
use sinew_layer::{Layer, Value, usdc};

fn example() -> PathBuf {
    common::repository().join("examples/assets/hatchling.usda")
}

const API: &str = r#"prepend apiSchemas = ["SkelBindingAPI"]"#;
const IDENTITY: &str = "((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))";

/// A stage with one good mesh, and whatever else is asked for.
fn stage(joints: &str, bind: &str, body: &str) -> String {
    format!(
        r#"#usda 1.0
def SkelRoot "R" ({API}) {{
    rel skel:skeleton = </R/Skel>
    def Skeleton "Skel" ({API}) {{
        uniform token[] joints = {joints}
        uniform matrix4d[] bindTransforms = {bind}
        uniform matrix4d[] restTransforms = [{IDENTITY}, {IDENTITY}]
    }}
    {body}
}}
"#
    )
}

fn mesh(name: &str, indices: &str, weights: &str, size: usize, points: &str) -> String {
    format!(
        r#"def Mesh "{name}" ({API}) {{
            point3f[] points = {points}
            int[] primvars:skel:jointIndices = {indices} (elementSize = {size}; interpolation = "vertex")
            float[] primvars:skel:jointWeights = {weights} (elementSize = {size}; interpolation = "vertex")
        }}"#
    )
}

const JOINTS: &str = r#"["A", "A/B"]"#;

fn bind() -> String {
    format!("[{IDENTITY}, {IDENTITY}]")
}

fn good() -> String {
    mesh("Good", "[0, 1]", "[1, 1]", 1, "[(0, 0, 0), (1, 0, 0)]")
}

/// The broken mesh is reported with everything that helps; the good one beside it is baked.
fn others_still_bake(body: &str, words: &[&str]) {
    let bench = Bench::new();
    let input = bench.write(
        "in.usda",
        stage(JOINTS, &bind(), &format!("{}\n{body}", good())),
    );
    let out = bench.path("out.usda");
    let output = bake(&input, &out, &[]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("failed: /R/Bad: "), "{text}");
    for word in words {
        assert!(text.contains(word), "'{text}' should say '{word}'");
    }
    let baked = usd::open(&out);
    assert_eq!(
        usd::vectors(&baked, "/R/Good", "extent", None).map(|e| e.len()),
        Some(2)
    );

    // Alone it is an error, and the exit code says so.
    let input = bench.write("alone.usda", stage(JOINTS, &bind(), body));
    let out = bench.path("alone_out.usda");
    refused(&bake(&input, &out, &[]), &out, words);
}

#[test]
fn help_and_usage() {
    for args in [
        &["--help"][..],
        &["bake", "--help"],
        &["inspect", "--help"],
        &["devices", "--help"],
    ] {
        let output = sinew(args);
        assert_eq!(output.status.code(), Some(0));
        assert!(stderr(&output).is_empty());
    }
    assert!(stdout(&sinew(&["bake", "--help"])).contains("Examples:"));
    assert_eq!(sinew(&["bake"]).status.code(), Some(2));
    assert_eq!(
        sinew(&["bake", "a", "-o", "b.usda", "--frames", "3:1"])
            .status
            .code(),
        Some(2)
    );
    assert_eq!(sinew(&["frobnicate"]).status.code(), Some(2));
}

#[test]
fn bakes_the_example_to_every_format() {
    let bench = Bench::new();
    let mut points = Vec::new();
    for name in ["out.usda", "out.usdc", "out.usdz"] {
        let out = bench.path(name);
        let output = bake(&example(), &out, &["--frames", "1:9:4"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = stdout(&output);
        for word in [
            name,
            "8 prims",
            "8,110 points",
            "3 rigid prims moved by transform",
            "24 samples",
            "cpu",
            "points/s",
        ] {
            assert!(text.contains(word), "'{text}' should say '{word}'");
        }
        assert!(stderr(&output).is_empty(), "{}", stderr(&output));
        let baked = usd::open(&out);
        assert_eq!(
            usd::times(&baked, "/Hatchling/Geo/Body", "points"),
            [1.0, 5.0, 9.0]
        );
        assert_eq!(usd::type_name(&baked, "/Hatchling"), "Xform");
        points.push(usd::vectors(&baked, "/Hatchling/Geo/Body", "points", Some(5.0)).unwrap());
    }
    assert_eq!(points[0], points[1]);
    assert_eq!(points[0], points[2]);
}

#[test]
fn a_layer_holds_overs_alone() {
    let bench = Bench::new();
    let input = bench.write("in.usda", stage(JOINTS, &bind(), &good()));
    let out = bench.path("layer.usda");
    let output = bake(&input, &out, &["--layer"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(
        text.contains("./in.usda") && text.contains("over") && !text.contains("jointIndices"),
        "{text}"
    );
    let baked = usd::open(&out);
    assert_eq!(usd::type_name(&baked, "/R"), "Xform");
    assert_eq!(
        usd::vectors(&baked, "/R/Good", "points", None).map(|p| p.len()),
        Some(2)
    );

    let out = bench.path("layer.usdz");
    misused(&bake(&input, &out, &["--layer"]), &out, &["self-contained"]);
}

#[test]
fn textures_keep_resolving() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("tex")).unwrap();
    bench.write("tex/skin.png", b"not really a picture");
    let material = r#"def Shader "Tex" { asset inputs:file = @./tex/skin.png@
        asset inputs:gone = @./tex/gone.png@; }"#;
    let input = bench.write(
        "in.usda",
        stage(JOINTS, &bind(), &format!("{}\n{material}", good())),
    );
    let asset = |out: &Path, name: &str| {
        let stage = usd::open(out);
        match usd::value(&stage, "/R/Tex", &format!("inputs:{name}"), None) {
            Some(Value::AssetPath(path)) => path.0,
            other => panic!("{other:?}"),
        }
    };
    std::fs::create_dir(bench.path("elsewhere")).unwrap();
    let flat = bench.path("elsewhere/out.usda");
    assert_eq!(bake(&input, &flat, &[]).status.code(), Some(0));
    let path = asset(&flat, "file");
    assert_eq!(
        std::fs::read(flat.parent().unwrap().join(&path)).unwrap(),
        b"not really a picture",
        "{path}"
    );

    let packed = bench.path("elsewhere/out.usdz");
    let output = bake(&input, &packed, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("gone.png"),
        "a missing texture is a warning: {}",
        stderr(&output)
    );
    std::fs::remove_dir_all(bench.path("tex")).unwrap();
    let inside = std::fs::read(&packed).unwrap();
    assert!(
        inside.windows(20).any(|w| w == b"not really a picture"),
        "the texture is packed"
    );
    assert!(!asset(&packed, "file").is_empty());

    // From package to package: readers refuse packages within packages.
    let again = bench.path("again.usdz");
    let rig = bench.write("rig.usda", stage(JOINTS, &bind(), &good()).replace(
        "def SkelRoot \"R\" (",
        "def \"Other\" (prepend references = @./elsewhere/out.usdz@</R>) {}\ndef SkelRoot \"R\" (",
    ));
    let output = bake(&rig, &again, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let bytes = std::fs::read(&again).unwrap();
    assert!(bytes.windows(20).any(|w| w == b"not really a picture"));
    assert!(
        !bytes.windows(8).any(|w| w == b"out.usdz"),
        "no package within the package"
    );
    let left: Vec<_> = std::fs::read_dir(bench.folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert!(
        left.iter().all(|n| !n.to_string_lossy().ends_with(".tmp")),
        "{left:?}"
    );
}

#[test]
fn udim_textures_keep_resolving() {
    let bench = Bench::new();
    for folder in ["tex", "elsewhere"] {
        std::fs::create_dir(bench.path(folder)).unwrap();
    }
    bench.write("tex/skin.1001.png", b"the first tile");
    bench.write("tex/skin.1012.png", b"another tile");
    let shader = r#"def Shader "Tex" { asset inputs:file = @./tex/skin.<UDIM>.png@; }"#;
    let input = bench.write(
        "in.usda",
        stage(JOINTS, &bind(), &format!("{}\n{shader}", good())),
    );
    let flat = bench.path("elsewhere/out.usda");
    assert_eq!(bake(&input, &flat, &[]).status.code(), Some(0));
    let text = std::fs::read_to_string(&flat).unwrap();
    let path = text.split('@').find(|p| p.contains("<UDIM>")).unwrap();
    assert!(
        Path::new(&path.replace("<UDIM>", "1012")).is_file(),
        "{path}"
    );

    let packed = bench.path("elsewhere/out.usdz");
    let output = bake(&input, &packed, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let bytes = std::fs::read(&packed).unwrap();
    for tile in [&b"the first tile"[..], b"another tile"] {
        assert!(bytes.windows(tile.len()).any(|w| w == tile));
    }
}

#[test]
fn applied_schemas_keep_their_order() {
    let bench = Bench::new();
    let two = r#"prepend apiSchemas = ["MaterialBindingAPI", "SkelBindingAPI"]"#;
    let text = stage(JOINTS, &bind(), &good().replace(API, two));
    let input = bench.write("in.usda", text);
    let out = bench.path("out.usda");
    assert!(bake(&input, &out, &["--keep-bindings"]).status.success());
    let text = std::fs::read_to_string(&out).unwrap();
    let order = text
        .lines()
        .find(|l| l.contains("MaterialBindingAPI"))
        .unwrap();
    let place = |name: &str| order.find(name).unwrap();
    assert!(
        place("MaterialBindingAPI") < place("SkelBindingAPI"),
        "{order}"
    );
}

#[test]
fn chosen_prims() {
    let bench = Bench::new();
    let out = bench.path("out.usda");
    let output = bake(
        &example(),
        &out,
        &[
            "--frames",
            "1",
            "--prim",
            "/Hatchling/Geo/WingL",
            "--prim",
            "/Hatchling/Geo/EyeL",
        ],
    );
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("2 prims"), "{}", stdout(&output));
    assert!(stderr(&output).contains("no-longer-skinned"));
    let none = bench.path("none.usda");
    refused(
        &bake(&example(), &none, &["--prim", "/Hatchling/Ge"]),
        &none,
        &["/Hatchling/Ge", "no skinned prim"],
    );
}

#[test]
fn quiet_prints_nothing() {
    let bench = Bench::new();
    let output = bake(
        &example(),
        &bench.path("out.usdc"),
        &["--frames", "1", "--quiet"],
    );
    assert!(stdout(&output).is_empty() && stderr(&output).is_empty());
}

#[test]
fn inspect_tells_what_is_there() {
    let output = sinew(&["inspect", example().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    for word in [
        "37 joints",
        "/Hatchling/Rig/Dance",
        "smile",
        "in-betweens at [0.5]",
        "constant influence",
        "frames 1 to 96",
    ] {
        assert!(stdout(&output).contains(word), "{}", stdout(&output));
    }
    let output = sinew(&["inspect", example().to_str().unwrap(), "--json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["bindings"].as_array().unwrap().len(), 8);
    assert_eq!(json["skeletons"][0]["joints"], 37);
    assert_eq!(json["bindings"][0]["influences"]["element_size"], 6);
}

#[test]
fn devices_lists_the_cpu() {
    let output = sinew(&["devices"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("cpu"));
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&sinew(&["devices", "--json"]))).unwrap();
    assert!(json["auto"].is_string() && json["cpu_threads"].as_u64() > Some(0));
}

#[test]
fn an_adapter_that_is_not_there() {
    let bench = Bench::new();
    let out = bench.path("out.usda");
    let input = example();
    let args = [
        "bake",
        input.to_str().unwrap(),
        "-o",
        out.to_str().unwrap(),
        "--adapter",
        "no such adapter",
    ];
    refused(&sinew(&args), &out, &["no such adapter"]);
}

#[test]
fn input_that_is_no_stage() {
    let bench = Bench::new();
    let out = bench.path("out.usda");
    let missing = bench.path("missing.usda");
    refused(
        &bake(&missing, &out, &[]),
        &out,
        &["missing.usda", "No such file"],
    );
    for (name, bytes) in [
        ("text.usda", b"hello".to_vec()),
        ("empty.usda", Vec::new()),
        ("picture.usdc", b"\x89PNG\r\n\x1a\n".to_vec()),
        ("zip.usdz", b"PK\x03\x04garbage".to_vec()),
        ("open.usda", b"#usda 1.0\ndef Xform \"A\" {".to_vec()),
    ] {
        let input = bench.write(name, bytes);
        refused(&bake(&input, &out, &[]), &out, &[name, "cannot open"]);
        assert_eq!(
            sinew(&["inspect", input.to_str().unwrap()]).status.code(),
            Some(1)
        );
    }
    misused(
        &bake(bench.folder.path(), &out, &[]),
        &out,
        &["need a folder as OUT"],
    );
    // Read to its end, a device would take all memory.
    #[cfg(unix)]
    for name in ["zero", "zero.glb", "zero.bvh", "zero.usda"] {
        let input = bench.path(name);
        std::os::unix::fs::symlink("/dev/zero", &input).unwrap();
        refused(&bake(&input, &out, &[]), &out, &[name, "not a file"]);
    }
}

#[test]
fn truncated_usdc_at_every_tenth() {
    let bench = Bench::new();
    let whole = bench.path("whole.usdc");
    let input = bench.write("in.usda", stage(JOINTS, &bind(), &good()));
    assert!(bake(&input, &whole, &["--layer"]).status.success());
    // A crate file of a rig, as bytes: cut anywhere it has to be refused, or read, never panic.
    let rig = bench.path("rig.usdc");
    let layer = Layer::open(&input).unwrap();
    usdc::write_layer(&layer, std::fs::File::create(&rig).unwrap()).unwrap();
    let bytes = std::fs::read(&rig).unwrap();
    for tenth in 0..10 {
        let cut = bench.write("cut.usdc", &bytes[..bytes.len() * tenth / 10]);
        let out = bench.path("out.usdc");
        refused(&bake(&cut, &out, &[]), &out, &["cut.usdc"]);
    }
}

#[test]
fn no_skel_root() {
    let bench = Bench::new();
    let out = bench.path("out.usda");
    let input = bench.write("in.usda", "#usda 1.0\ndef Xform \"A\" {}\n");
    refused(&bake(&input, &out, &[]), &out, &["in.usda", "no SkelRoot"]);
    let input = bench.write("in.usda", "#usda 1.0\ndef SkelRoot \"A\" {}\n");
    refused(
        &bake(&input, &out, &[]),
        &out,
        &["no prim below a SkelRoot is bound"],
    );
}

#[test]
fn joints_out_of_order() {
    let bench = Bench::new();
    let out = bench.path("out.usda");
    let input = bench.write("in.usda", stage(r#"["A/B", "A"]"#, &bind(), &good()));
    refused(
        &bake(&input, &out, &[]),
        &out,
        &["in.usda", "/R/Skel.joints", "parents before", "A/B"],
    );
}

#[test]
fn bind_transforms_that_do_not_fit() {
    let bench = Bench::new();
    let out = bench.path("out.usda");
    let singular = format!("[{IDENTITY}, ((0,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))]");
    let nan = format!("[{IDENTITY}, ((nan,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))]");
    for (bind, words) in [
        (format!("[{IDENTITY}]"), ["expected 2 matrices", "found 1"]),
        ("[]".to_owned(), ["expected 2 matrices", "found 0"]),
        (singular, ["invertible", "A/B"]),
        (nan, ["invertible", "A/B"]),
    ] {
        let input = bench.write("in.usda", stage(JOINTS, &bind, &good()));
        let mut all = vec!["in.usda", "/R/Skel.bindTransforms"];
        all.extend(words);
        refused(&bake(&input, &out, &[]), &out, &all);
    }
}

#[test]
fn joint_index_out_of_range() {
    others_still_bake(
        &mesh("Bad", "[0, 2]", "[1, 0]", 1, "[(0, 0, 0), (1, 0, 0)]"),
        &["/R/Bad", "below 2", "2 at point 1"],
    );
}

#[test]
fn values_that_are_not_finite() {
    others_still_bake(
        &mesh("Bad", "[0, 1]", "[1, nan]", 1, "[(0, 0, 0), (1, 0, 0)]"),
        &["/R/Bad", "jointWeights", "finite", "point 1"],
    );
    others_still_bake(
        &mesh("Bad", "[0, 1]", "[1, 1]", 1, "[(0, 0, 0), (inf, 0, 0)]"),
        &["/R/Bad", "points", "finite", "at 1"],
    );
}

#[test]
fn element_size_that_does_not_divide() {
    others_still_bake(
        &mesh("Bad", "[0, 1, 0]", "[1, 1, 1]", 2, "[(0, 0, 0), (1, 0, 0)]"),
        &["/R/Bad", "multiple of elementSize 2", "3 indices"],
    );
}

#[test]
fn a_sublayer_cycle_still_bakes() {
    let bench = Bench::new();
    let text = stage(JOINTS, &bind(), &good());
    let input = bench.write(
        "in.usda",
        text.replacen("#usda 1.0\n", "#usda 1.0\n(subLayers = [@./in.usda@])\n", 1),
    );
    let output = bake(&input, &bench.path("out.usda"), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("[sublayer-cycle]"),
        "{}",
        stderr(&output)
    );
}

/// As in usd-core the arc that closes the circle is left out, and said so. What is there besides bakes.
#[test]
fn classes_in_a_circle_are_told() {
    let bench = Bench::new();
    let told = |name: &str, text: String| {
        let input = bench.write(&format!("{name}.usda"), text);
        let output = bake(&input, &bench.path("out.usda"), &[]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        for word in ["[arc-cycle]", "/A"] {
            assert!(
                stderr(&output).contains(word),
                "{name}: {}",
                stderr(&output)
            );
        }
    };
    let character = stage(JOINTS, &bind(), &good());
    let circles = [
        ("self", "def \"A\" (prepend inherits = </A>) {\n}\n"),
        (
            "two",
            "def \"A\" (prepend specializes = </B>) {\n}\ndef \"B\" (prepend inherits = </A>) {\n}\n",
        ),
        (
            "below",
            "def \"A\" (prepend inherits = </A/B>) {\ndef \"B\" {\n}\n}\ndef \"C\" (prepend inherits = </A/B>) {\n}\n",
        ),
    ];
    for (name, prims) in circles {
        told(name, format!("{character}{prims}"));
    }
    // Over two sublayers, which are fine each.
    bench.write(
        "under.usda",
        "#usda 1.0\ndef \"B\" (prepend inherits = </A>) {\n}\n",
    );
    let over = format!("{character}def \"A\" (prepend inherits = </B>) {{\n}}\n");
    let sublayers = "#usda 1.0\n(subLayers = [@./under.usda@])\n";
    told("over", over.replacen("#usda 1.0\n", sublayers, 1));
    // Behind a reference too.
    let other = "def \"Other\" (references = @./self.usda@</A>) {\n}\n";
    told("reference", format!("{character}{other}"));
}

/// Each class inherits two others: 2 to the power of 40 ways lead to the last.
#[test]
fn classes_that_many_ways_lead_to_are_composed() {
    let bench = Bench::new();
    let classes: String = (0..40)
        .map(|i| {
            format!(
                "def \"C{i}\" (prepend inherits = [</C{}>, </C{}>]) {{\n}}\n",
                i + 1,
                i + 2
            )
        })
        .collect();
    let text = stage(JOINTS, &bind(), &good()) + &classes;
    let input = bench.write("in.usda", text);
    let output = bake(&input, &bench.path("out.usda"), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn projections_are_told() {
    let bench = Bench::new();
    let project = |matrix: &str| matrix.replacen("((1,0,0,0)", "((1,0,0,0.5)", 1);
    let text = stage(JOINTS, &project(&bind()), &good());
    assert_ne!(text, stage(JOINTS, &bind(), &good()));
    let output = bake(&bench.write("in.usda", text), &bench.path("out.usda"), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("bindTransforms holds a projection"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn frames_without_end_are_refused() {
    let bench = Bench::new();
    let out = bench.path("out.usda");
    let animation = r#"rel skel:animationSource = </R/Anim>
        def SkelAnimation "Anim" {
            uniform token[] joints = ["A", "A/B"]
            float3[] translations.timeSamples = { 0: [(0,0,0), (0,0,0)], LAST: [(1,0,0), (0,0,0)] }
            quatf[] rotations = [(1,0,0,0), (1,0,0,0)]
            half3[] scales = [(1,1,1), (1,1,1)]
        }"#;
    let many = format!("[{}]", vec!["(0, 0, 0)"; 2000].join(", "));
    let ones = format!("[{}]", vec!["1"; 2000].join(", "));
    for (last, word) in [
        ("1e15", "more than 1000000 frames"),
        ("900000", "GB of points"),
    ] {
        let body = format!(
            "{}\n{}",
            mesh("Good", &ones, &ones, 1, &many),
            animation.replace("LAST", last)
        );
        let text = stage(JOINTS, &bind(), &body)
            .replace("#usda 1.0\n", "#usda 1.0\n(startTimeCode = 0\nendTimeCode = 1e15)\n")
            .replace("rel skel:animationSource = </R/Anim>", "")
            .replace("uniform token[] joints = [\"A\", \"A/B\"]\n        uniform matrix4d", "rel skel:animationSource = </R/Anim>\n        uniform token[] joints = [\"A\", \"A/B\"]\n        uniform matrix4d");
        let input = bench.write("in.usda", text);
        refused(
            &bake(&input, &out, &[]),
            &out,
            &["in.usda", word, "--frames"],
        );
        assert!(bake(&input, &out, &["--frames", "0:1"]).status.success());
        std::fs::remove_file(&out).unwrap();
    }
}

#[test]
fn deep_nesting_is_refused() {
    let bench = Bench::new();
    let out = bench.path("out.usda");
    let deep = format!("#usda 1.0\n{}", "def Xform \"A\" {\n".repeat(20_000));
    let input = bench.write("deep.usda", deep);
    refused(
        &bake(&input, &out, &[]),
        &out,
        &["deep.usda", "deeper than 1000"],
    );
}

#[test]
fn outputs_that_cannot_be() {
    let bench = Bench::new();
    let input = bench.write("in.usda", stage(JOINTS, &bind(), &good()));
    let before = std::fs::read(&input).unwrap();
    let same = bake(&input, &input, &[]);
    assert_eq!(same.status.code(), Some(1));
    assert!(stderr(&same).contains("read from"), "{}", stderr(&same));
    assert_eq!(
        std::fs::read(&input).unwrap(),
        before,
        "the input is as it was"
    );

    // A file that the input is composed from is as much an input.
    let top = bench.write("top.usda", "#usda 1.0\n(subLayers = [@./in.usda@])\n");
    assert_eq!(bake(&top, &input, &[]).status.code(), Some(1));
    assert_eq!(std::fs::read(&input).unwrap(), before);

    let nowhere = bench.path("no/such/folder/out.usda");
    refused(
        &bake(&input, &nowhere, &[]),
        &nowhere,
        &["there is no folder", "no/such/folder"],
    );
    let strange = bench.path("out.abc");
    misused(
        &bake(&input, &strange, &[]),
        &strange,
        &["out.abc", ".usdc"],
    );
    std::fs::create_dir(bench.path("dir.usda")).unwrap();
    assert_eq!(
        bake(&input, &bench.path("dir.usda"), &[]).status.code(),
        Some(1)
    );
}

/// Killed at any moment, the bake leaves the file that was there.
#[test]
fn a_kill_leaves_the_old_file() {
    let bench = Bench::new();
    let out = bench.write("out.usda", "the old file");
    // Milliseconds of a processor.
    for wait in [10, 50, 150, 400] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args([
                "bake",
                example().to_str().unwrap(),
                "-o",
                out.to_str().unwrap(),
                "--backend",
                "cpu",
            ])
            // Far more samples than it can write before it is killed.
            .args(["--frames", "1:96:0.02"])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        common::processor::wait_until_spent(&mut child, Duration::from_millis(wait));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert!(!status.success(), "it was killed, not done: {status}");
        assert_eq!(
            std::fs::read_to_string(&out).unwrap(),
            "the old file",
            "after {wait} ms"
        );
    }
}

/// A picture that a model is read from is not overwritten by another that would have its name.
#[test]
fn textures_beside_a_conversion_leave_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let [first, second] = [b'1', b'2'].map(|n| [&b"\x89PNG\r\n\x1a\n"[..], &[n]].concat());
    std::fs::create_dir(at("model_textures")).unwrap();
    std::fs::write(at("t.png"), &first).unwrap();
    std::fs::write(at("model_textures/t.png"), &second).unwrap();
    let mut model = serde_json::json!({
        "asset": {"version": "2.0"},
        "buffers": [{
            "byteLength": 36,
            "uri": format!("data:application/octet-stream;base64,{}", "AAAA".repeat(12)),
        }],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
            "min": [0, 0, 0], "max": [0, 0, 0]}],
        "images": [{"uri": "t.png"}, {"uri": "model_textures/t.png"}],
        "textures": [{"source": 0}, {"source": 1}],
        "materials": [{
            "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}},
            "emissiveFactor": [1, 1, 1],
            "emissiveTexture": {"index": 1},
        }],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 0}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
    });
    let uvs =
        serde_json::json!({"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC2"});
    model["accessors"].as_array_mut().unwrap().push(uvs);
    std::fs::write(at("model.gltf"), model.to_string()).unwrap();
    let convert = |out: &str| {
        let (input, out) = (at("model.gltf"), at(out));
        let output = sinew(&[
            "convert",
            input.to_str().unwrap(),
            "-o",
            out.to_str().unwrap(),
        ]);
        assert!(output.status.success(), "{}", stderr(&output));
        let text = std::fs::read_to_string(out).unwrap();
        let named: Vec<Vec<u8>> = text
            .split('@')
            .filter(|part| part.ends_with(".png"))
            .map(|path| std::fs::read(at(path)).unwrap())
            .collect();
        named
    };
    // The second time what is there is what would be written.
    for _ in 0..2 {
        assert_eq!(convert("model.usda"), [first.clone(), second.clone()]);
        assert_eq!(std::fs::read(at("model_textures/t.png")).unwrap(), second);
        assert_eq!(std::fs::read_dir(at("model_textures")).unwrap().count(), 3);
    }
    assert_eq!(convert("other.usda"), [first.clone(), second.clone()]);
    assert_eq!(std::fs::read_dir(at("other_textures")).unwrap().count(), 2);
    // Every command names the textures among what it wrote, and counts their bytes.
    for (command, out) in [("convert", "named.usda"), ("convert", "named.gltf")] {
        let (input, out) = (at("model.gltf"), at(out));
        let args = [input.to_str().unwrap(), "-o", out.to_str().unwrap()];
        let output = sinew(&[&[command][..], &args, &["--json"]].concat());
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let files = report["files"].as_array().unwrap();
        let files: Vec<&str> = files.iter().map(|f| f.as_str().unwrap()).collect();
        assert_eq!(files[0], out.to_str().unwrap());
        let pictures = files.iter().filter(|f| f.ends_with(".png"));
        assert_eq!(pictures.count(), 2, "{files:?}");
        let bytes = files.iter().map(|f| std::fs::metadata(f).unwrap().len());
        assert_eq!(report["output_bytes"], bytes.sum::<u64>());
    }
    // What is no USD has nothing to mend in place.
    let (input, out) = (at("model.gltf"), at("fixed.usda"));
    let output = sinew(&["fix", input.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    refused(&output, &out, &["model.gltf", "sinew convert"]);
}

#[test]
fn the_command_refuses_what_contradicts_itself() {
    let scene = common::repository().join("tests/goldens/gprims.usda");
    let out = Bench::new().path("never_written.usda");
    let output = bake(&scene, &out, &["--space", "world", "--rigid", "xform"]);
    misused(&output, &out, &["--rigid xform"]);
}
