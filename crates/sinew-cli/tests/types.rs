//! Value types and crate versions of real files, read as usd-core 26.11 reads them.

use std::path::{Path, PathBuf};

use common::command::{Bench, bake, refused, stderr};
use common::usd;
use glam::DVec3;

fn folder() -> PathBuf {
    common::repository().join("tests/crates")
}

/// Points and normals that usd-core's bake makes of `base.usda`, where everything has its usual type.
const POINTS: [[f64; 3]; 2] = [[1.0, 0.0, 0.0], [2.0, -3.28, 3.04]];
const NORMALS: [[f64; 3]; 2] = [[0.0, 0.28, 0.96], [0.316, -0.911, 0.266]];
/// Without the shape, which moves the second point.
const UNBLENDED: [[f64; 3]; 2] = [[1.0, 0.0, 0.0], [2.0, -0.4, 2.2]];
/// At rest, where an animation that lacks a component leaves the skeleton (rule 8).
const RESTING: [[f64; 3]; 2] = [[0.0, 0.0, 0.0], [1.0, 1.0, 4.0]];
/// Normals as authored.
const KEPT: [[f64; 3]; 2] = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]];

fn check(out: &Path, property: &str, want: [[f64; 3]; 2], what: &str) {
    let got = usd::vectors(&usd::open(out), "/R/Body", property, None)
        .unwrap_or_else(|| panic!("{what}: no {property}"));
    for (got, want) in got.iter().zip(want) {
        // The expected values are written with three digits.
        assert!(
            got.abs_diff_eq(DVec3::from(want), 6e-4),
            "{what}: {property} {got}, not {want:?}"
        );
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
    assert_eq!(
        output.status.code(),
        Some(0),
        "{other}: {}",
        stderr(&output)
    );
    (bench, out)
}

#[test]
fn types_of_older_files_are_read() {
    for (usual, other) in [
        ("int[] pointIndices", "uint[] pointIndices"),
        ("vector3f[] offsets", "point3f[] offsets"),
        ("vector3f[] offsets", "float3[] offsets"),
        ("uniform vector3f[] offsets", "vector3f[] offsets"),
        ("vector3f[] normalOffsets", "normal3f[] normalOffsets"),
        ("normal3f[] normals", "float3[] normals"),
        ("normal3f[] normals", "vector3f[] normals"),
        ("point3f[] points", "float3[] points"),
        ("float3[] translations", "point3f[] translations"),
    ] {
        let (_bench, out) = with_type(usual, other);
        check(&out, "points", POINTS, other);
        check(&out, "normals", NORMALS, other);
    }
}

#[test]
fn other_precisions_are_no_value_as_in_usd_core() {
    for (usual, other, points) in [
        ("vector3f[] offsets", "vector3d[] offsets", UNBLENDED),
        ("vector3f[] offsets", "half3[] offsets", UNBLENDED),
        ("int[] pointIndices", "int64[] pointIndices", UNBLENDED),
        (
            "float[] blendShapeWeights",
            "double[] blendShapeWeights",
            UNBLENDED,
        ),
        (
            "token[] skel:blendShapes",
            "string[] skel:blendShapes",
            UNBLENDED,
        ),
        ("half3[] scales", "float3[] scales", RESTING),
        ("half3[] scales", "double3[] scales", RESTING),
        ("quatf[] rotations", "quath[] rotations", RESTING),
        ("quatf[] rotations", "quatd[] rotations", RESTING),
        ("float3[] translations", "double3[] translations", RESTING),
        ("float3[] translations", "half3[] translations", RESTING),
    ] {
        let (_bench, out) = with_type(usual, other);
        check(&out, "points", points, other);
    }
    for other in ["normal3h[] normals", "normal3d[] normals"] {
        let (_bench, out) = with_type("normal3f[] normals", other);
        check(&out, "points", POINTS, other);
        check(&out, "normals", KEPT, other);
    }
}

#[test]
fn crate_versions() {
    let bench = Bench::new();
    for minor in 4..=12 {
        let out = bench.path("out.usda");
        let output = bake(&folder().join(format!("v0.{minor}.0.usdc")), &out, &[]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "0.{minor}.0: {}",
            stderr(&output)
        );
        check(&out, "points", POINTS, &format!("crate 0.{minor}.0"));
        check(&out, "normals", NORMALS, &format!("crate 0.{minor}.0"));
        std::fs::remove_file(&out).unwrap();
    }
    // Written before 2017, and by a library that is newer than openusd 0.8.
    for version in ["0.2.0", "0.3.0", "0.13.0"] {
        let out = bench.path("out.usda");
        let input = folder().join(format!("v{version}.usdc"));
        let name = format!("v{version}.usdc");
        refused(
            &bake(&input, &out, &[]),
            &out,
            &[
                &name,
                &format!("crate version {version}"),
                "0.4.0 to 0.12",
                "usdcat",
            ],
        );
    }
}
