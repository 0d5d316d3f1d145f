//! Value types of real files, read as usd-core 26.11 reads them. Versions of crates are rows of
//! tests/data/runs.txt; the test `survive` compares values of every type in what is written.

use common::command::{Bench, bake, stderr};
use common::compare::compare_within;
use common::{tolerance, usd};
use glam::DVec3;
use serde::Deserialize;

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

/// Bakes the stage with the declaration changed, and compares.
fn holds(golden: &Golden, base: &str) {
    let Golden { usual, other, .. } = golden;
    assert!(base.contains(usual), "{usual}");
    let bench = Bench::new();
    let input = bench.write("in.usda", base.replace(usual, other));
    let out = bench.path("out.usda");
    let output = bake(&input, &out, &[]);
    // An attribute that is not read can leave a prim unskinned, which is told.
    let code = output.status.code();
    let told = stderr(&output);
    assert!(matches!(code, Some(0 | 3)), "{other}: {told}");
    assert_eq!(code == Some(3), told.contains("failed: "), "{told}");
    let stage = usd::open(&out);
    let within = |property: &str, want: &[[f64; 3]], most: f64| {
        let got = usd::vectors(&stage, "/R/Body", property, None).unwrap();
        let want: Vec<DVec3> = want.iter().copied().map(DVec3::from).collect();
        compare_within(property, &got, &want, most).unwrap_or_else(|e| panic!("{other}: {e}"));
    };
    // Coordinates reach 4.
    within("points", &golden.points, 4.0 * tolerance::PIXAR_BAKE_POINTS);
    within("normals", &golden.normals, tolerance::PIXAR_BAKE_NORMALS);
}

/// Types of older files are read; other precisions are no value.
#[test]
fn types_are_read_as_usd_core_reads_them() {
    let read = |file: &str| {
        let folder = common::repository().join("tests/crates");
        std::fs::read_to_string(folder.join(file)).unwrap()
    };
    let base = read("base.usda");
    let goldens = serde_json::from_str::<Goldens>(&read("types.json"));
    let cases = goldens.unwrap().cases;
    let (usual, changed) = cases.split_first().unwrap();
    assert_eq!(usual.usual, usual.other);
    let is_read =
        |golden: &&Golden| (&golden.points, &golden.normals) == (&usual.points, &usual.normals);
    let count = changed.iter().filter(is_read).count();
    assert!(
        count >= 9 && changed.len() - count >= 13,
        "{count} are read"
    );
    changed.iter().for_each(|golden| holds(golden, &base));
}
