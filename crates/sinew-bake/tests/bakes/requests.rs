//! Requests that make no sense, clips that break, and what reports count.

use crate::bench::*;
use crate::bones::TWO_CLIPS;
use crate::motion::LIMB;

pub fn nonsense_is_refused() {
    let bench = Bench::new();
    for (name, text) in [("boxes", BOXES), ("clips", TWO_CLIPS), ("limb", LIMB)] {
        bench.write(&format!("{name}.usda"), text);
    }
    for folder in ["taken.0002.obj", "folder.usdc"] {
        std::fs::create_dir(bench.path(folder)).unwrap();
    }
    let rows = include_str!("requests.txt").lines();
    for row in rows.filter(|l| !l.starts_with('#')) {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        let [stage, output, words, end, told] = columns[..] else {
            panic!("{row}");
        };
        let input = bench.path(&format!("{stage}.usda"));
        let told: Vec<&str> = told.split(", ").collect();
        refused(&input, &bench.path(output), words, end == "usage", &told);
        assert_eq!(entries(bench.folder.path()), 5, "{row}");
    }
    for (text, word) in [("3/2", "1 to 2"), ("two", "I/N")] {
        let error = text.parse::<sinew_bake::Shard>().unwrap_err();
        assert!(error.contains(word), "{error}");
    }
    let error = "0.5:0".parse::<sinew_bake::Shutter>().unwrap_err();
    assert!(error.contains("closes"), "{error}");
    // Nothing is written over what is read.
    let glb = bench.path("in_mesh.glb");
    std::fs::copy(project("examples/assets/puppet.glb"), &glb).unwrap();
    let before = std::fs::read(&glb).unwrap();
    let out = bench.path("in.exr");
    refused(&glb, &out, "frames 1:2", false, &["is read from"]);
    assert_eq!(std::fs::read(&glb).unwrap(), before);
}

/// A prim that breaks in the middle of a clip ends the bake, and nothing of it is left.
pub fn a_clip_that_breaks_leaves_nothing() {
    let moving = BOXES.replace("5: (0, 1, 3)", "4: (0, 0, inf)");
    let points = BOXES.lines().find(|l| l.contains("point3f[] points"));
    let (name, values) = points.unwrap().trim().split_once(" = ").unwrap();
    let counted = format!("{name}.timeSamples = {{ 1: {values}, 3: [(0, 0, 0)] }}");
    let counted = BOXES.replacen(points.unwrap().trim(), &counted, 1);
    assert!(moving != BOXES && counted != BOXES);
    for (text, prim, output) in [
        (&moving, "/Hero/Blend", "f/a.####.obj"),
        (&moving, "/Hero/Blend", "a.exr"),
        (&counted, "/Hero/Box", "a.pc2"),
        (&counted, "/Hero/Box", "f/a.####.obj"),
        (&counted, "/Hero/Box", "a.exr"),
    ] {
        let bench = Bench::new();
        let input = bench.write("in.usda", text);
        refused(&input, &bench.path(output), "", false, &[prim]);
        assert_eq!(entries(bench.folder.path()), 1, "{output}");
    }
    // In its own space nothing of this is seen.
    let bench = Bench::new();
    let report = run(&bench.write("in.usda", moving), &bench.path("a.pc2"), "");
    let told = told(&report).join("\n");
    assert!(!told.contains("/Hero/Blend"), "{told}");
}

/// What the report of textures counts, and that of USD.
pub fn what_is_reported() {
    let bench = Bench::new();
    let input = bench.write("in.usda", BOXES);
    let report = run(&input, &bench.path("a.png"), "");
    assert_eq!((report.files.len(), report.prims, report.frames), (4, 4, 5));
    assert_eq!((report.points, report.samples), (32, 20));
    assert!(!report.elapsed.is_zero() && report.backend.contains("cpu"));
    assert_eq!(report.warnings[0].path, "/Hero/Ball");
    let out = bench.path("a.usda");
    let report = run(&input, &out, "");
    assert_eq!((report.frames, report.moved), (0, 2));
    assert_eq!(report.files, [out]);
}

/// The estimate is of the right size.
pub fn estimates_are_near() {
    let bench = Bench::new();
    for (name, least, most) in [
        ("a.usdc", 0.8, 1.2),
        ("a.usda", 0.8, 1.5),
        ("a.pc2", 0.9, 1.1),
        ("f/a.####.obj", 0.8, 1.5),
        ("a.exr", 0.9, 2.0),
        ("a.png", 0.9, 3.0),
    ] {
        let report = run(&hatchling(), &bench.path(name), "frames 1:24");
        let sizes = report.files.iter().map(|f| f.metadata().unwrap().len());
        let ratio = report.estimated_bytes as f64 / sizes.sum::<u64>() as f64;
        assert!((least..most).contains(&ratio), "{name}: {ratio}");
    }
}
