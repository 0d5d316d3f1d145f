//! The command: what it refuses, and what it reports.

use crate::formats::bench::project;
use crate::formats::stage;
use common::command::{Bench, bake as command, refused, sinew, stderr, stdout};

pub fn requests_that_make_no_sense_are_refused() {
    let bench = Bench::new();
    let input = bench.write("in.usda", stage::usda(""));
    let out = |name: &str| bench.path(name);
    std::fs::create_dir(out("taken.0002.obj")).unwrap();
    for (name, more, words) in [
        ("a.abc", &[][..], &["a.abc", ".pc2", ".exr"][..]),
        ("a.obj", &[], &["5 frames", "a.####.obj", "--frames"]),
        ("#_#.obj", &[], &["one place for the frame number"]),
        ("none/a.pc2", &[], &["there is no folder"]),
        ("none/a.exr", &[], &["there is no folder"]),
        ("taken.####.obj", &[], &["taken.0002.obj", "it is a folder"]),
        ("a.exr", &["--vat-bits", "8"], &["32 or 16 bits", "found 8"]),
        (
            "a.png",
            &["--vat-bits", "32"],
            &["16 or 8 bits", "found 32"],
        ),
        ("a.exr", &["--vat-width", "0"], &["width", "found 0"]),
        ("a.exr", &["--vat-width", "40000"], &["16384"]),
        (
            "a.exr",
            &["--frames", "0:20000", "--vat-width", "48"],
            &["20001 frames", "16384"],
        ),
        ("a.exr", &["--space", "prim"], &["world space"]),
        ("a.obj", &["--vat-width", "8"], &["--vat-width", ".png"]),
        ("a.pc2", &["--layer"], &["layer", ".usda"]),
        (
            "a.pc2",
            &["--rigid", "xform"],
            &["--rigid xform", "only USD"],
        ),
        (
            "a.exr",
            &["--prim", "/Hero/Ball"],
            &["nothing could be skinned", "/Hero/Ball", "no points"],
        ),
    ] {
        let output = command(&input, &out(name), more);
        let text = stderr(&output);
        // Arguments that fit no file are wrong usage.
        let fits_none = ["a.abc", "a.exr", "a.obj", "a.pc2", "a.png"];
        let misused = match (name, more) {
            ("a.exr", ["--prim" | "--frames", ..]) | ("a.obj", []) => false,
            _ => fits_none.contains(&name),
        };
        let code = if misused { 2 } else { 1 };
        assert_eq!(output.status.code(), Some(code), "{name} {more:?}: {text}");
        for word in words {
            assert!(text.contains(word), "'{text}' should say '{word}'");
        }
    }
    let left: Vec<_> = std::fs::read_dir(bench.folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
    // Nothing is written over what is read.
    let glb = bench.path("in_mesh.glb");
    std::fs::copy(project("examples/assets/puppet.glb"), &glb).unwrap();
    let before = std::fs::read(&glb).unwrap();
    let output = command(&glb, &bench.path("in.exr"), &["--frames", "1:2"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("is read from"),
        "{}",
        stderr(&output)
    );
    assert_eq!(std::fs::read(&glb).unwrap(), before);
}

/// A prim that breaks in the middle of a clip ends the bake, and nothing of it is left.
pub fn a_clip_that_breaks_leaves_nothing() {
    let text = stage::usda("");
    let moving = text.replace("5: (0, 1, 3)", "4: (0, 0, inf)");
    let box_points = text
        .lines()
        .find(|l| l.contains("point3f[] points"))
        .unwrap();
    let (_, points) = box_points.split_once('=').unwrap();
    let counted = format!("point3f[] points.timeSamples = {{ 1: {points}, 3: [(0, 0, 0)] }}");
    let counted = text.replacen(box_points.trim(), &counted, 1);
    assert!(moving != text && counted != text);
    for (text, prim, output, breaks) in [
        (&moving, "/Hero/Blend", "f/a.####.obj", true),
        (&moving, "/Hero/Blend", "a.exr", true),
        // In its own space nothing of this is seen.
        (&moving, "/Hero/Blend", "a.pc2", false),
        (&counted, "/Hero/Box", "a.pc2", true),
        (&counted, "/Hero/Box", "f/a.####.obj", true),
        (&counted, "/Hero/Box", "a.exr", true),
    ] {
        let bench = Bench::new();
        let input = bench.write("in.usda", text);
        let done = command(&input, &bench.path(output), &[]);
        let left = std::fs::read_dir(bench.folder.path()).unwrap().count();
        if breaks {
            refused(&done, &bench.path(output), &["in.usda", prim]);
            assert_eq!(left, 1, "{output}");
            continue;
        }
        assert_eq!(done.status.code(), Some(0), "{output}: {}", stderr(&done));
        assert_eq!(
            stderr(&done).contains(prim),
            output != "a.pc2",
            "{}",
            stderr(&done)
        );
        assert!(left > 1);
    }
}

pub fn the_command_reports_in_json() {
    let bench = Bench::new();
    let input = bench.write("in.usda", stage::usda(""));
    let output = command(&input, &bench.path("a.png"), &["--json", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["files"].as_array().unwrap().len(), 4);
    let number = |key: &str| json[key].as_u64().unwrap();
    assert_eq!(
        (
            number("prims"),
            number("frames"),
            number("points"),
            number("samples")
        ),
        (4, 5, 32, 20)
    );
    assert!(
        json["seconds"].as_f64().unwrap() > 0.0
            && json["backend"].as_str().unwrap().contains("cpu")
    );
    assert_eq!(json["warnings"][0]["path"], "/Hero/Ball");
    let output = command(&input, &bench.path("a.usda"), &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["files"][0], bench.path("a.usda").to_str().unwrap());
    assert_eq!(
        (json["frames"].as_u64(), json["moved"].as_u64()),
        (Some(0), Some(2))
    );
    let text = stdout(&sinew(&["bake", "--help"]));
    for example in ["hero.####.obj", "hero.pc2", "hero.exr", "hero.png"] {
        assert!(text.contains(example), "{text}");
    }
}
