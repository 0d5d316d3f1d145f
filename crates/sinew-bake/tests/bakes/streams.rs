//! Samples that go to the file as they are deformed.
//!
//! A `.usdc` has its arrays ahead of the layer; a `.usdz` and a `.usda` are held whole.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libtest_mimic::Failed;
use sinew_bake::{Progress, bake};
use sinew_io::usd::BakeEdits;

use crate::bench::*;

/// Stages of all that a bake treats in a way of its own: shared instances, hints, rest points and normals that change,
/// several normals, rigid prims, equal samples, lengths that change, no times at all.
const STAGES: [&str; 9] = [
    "examples/assets/hatchling.usda",
    "tests/goldens/instances_shared.usda",
    "tests/goldens/extents_hint.usda",
    "tests/goldens/rest_points_animated.usda",
    "tests/goldens/normals_interpolations.usda",
    "tests/goldens/xform_ops.usda",
    "tests/goldens/sparse_anim.usda",
    "tests/goldens/array_length_change.usda",
    "tests/goldens/blend_only.usda",
];

/// A streamed file and a held one of each stage, flattened and as layers; made once.
static PAIRS: LazyLock<Vec<[PathBuf; 2]>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("streams");
    std::fs::create_dir_all(&folder).unwrap();
    let kinds = [("flat", "usdz", ""), ("layer", "usda", "layer")];
    let pairs = STAGES.iter().flat_map(|stage| kinds.map(|k| (stage, k)));
    let pairs = pairs.map(|(stage, (kind, held, words))| {
        let input = project(stage);
        let name = format!("{}_{kind}", input.file_stem().unwrap().display());
        let outputs = ["usdc", held].map(|e| folder.join(format!("{name}.{e}")));
        for out in &outputs {
            run(&input, out, words);
        }
        outputs
    });
    pairs.collect()
});

/// Specs, fields, sample times, and values to the bit, signs of zeros too.
pub fn usd_core_finds_the_same_in_both(with: &str) -> Result<(), Failed> {
    let files = PAIRS.iter().flatten().map(AsRef::as_ref);
    let count: usize = python(with, "same_layers.py", files)?.trim().parse()?;
    assert!(count > 1000, "{count}");
    Ok(())
}

/// usd-core takes the empty token from the file, and loses the layer where there is none.
pub fn usd_core_saves_in_place(with: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let bow = bench.path("bow.usdc");
    let converted = sinew_io::open(project("examples/assets/bow.glb")).unwrap();
    converted.write_flattened(&bow, BakeEdits::default())?;
    let mut files = vec![bow];
    for (name, words) in [
        ("flat.usdc", "frames 1:4"),
        ("layer.usdc", "layer frames 1:4"),
        ("either.usd", "frames 1:4"),
        ("clips.usdc", "layer frames 1:4 clip-frames 2"),
    ] {
        files.extend(run(&hatchling(), &bench.path(name), words).files);
    }
    assert!(files.len() > 7, "{files:?}");
    let saved = python(with, "save_in_place.py", files.iter().map(AsRef::as_ref))?;
    assert_eq!(saved.trim(), files.len().to_string());
    Ok(())
}

/// The stages of a bake run side by side, and in one thread where a caller's pool has no other.
pub fn the_same_bytes_every_time_and_in_one_thread() {
    let bench = Bench::new();
    let written = |name: &str| {
        let out = bench.path(name);
        let mut steps = Vec::new();
        let report = bake(&hatchling(), &out, &options(""), &mut |p| steps.push(p));
        let report = report.unwrap();
        let (total, bytes) = (report.samples, report.estimated_bytes);
        assert_eq!(steps.first(), Some(&Progress::Begins { bytes }));
        assert_eq!(steps.last(), Some(&Progress::Writing));
        let done = Progress::Deforming { done: total, total };
        assert!(steps.contains(&done), "{steps:?}");
        std::fs::read(out).unwrap()
    };
    let first = written("a.usdc");
    assert!(first == written("b.usdc"), "another run");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let alone = pool.unwrap().install(|| written("c.usdc"));
    assert!(first == alone, "in one thread");
}
