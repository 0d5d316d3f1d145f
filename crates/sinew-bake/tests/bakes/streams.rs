//! Samples that go to the file as they are deformed.
//!
//! A `.usdc` has its arrays ahead of the layer; a `.usdz` and a `.usda` are held whole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libtest_mimic::Failed;
use sinew_bake::{Progress, bake};
use sinew_io::usd::BakeEdits;
use sinew_layer::value::Variability;
use sinew_layer::{Layer, Path as LayerPath, Spec, Value};

use crate::bench::*;
use common::usd;

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

/// Least number of samples in all pairs.
const SAMPLES: usize = 1000;

pub fn a_streamed_file_holds_what_a_held_one_does() {
    let compared = PAIRS.iter().map(|pair| {
        let [streamed, held] = pair.each_ref().map(|file| usd::open(file));
        same(streamed.root_layer(), held.root_layer())
    });
    assert!(compared.sum::<usize>() > SAMPLES);
}

/// Compares two layers, and counts their samples.
fn same(a: &Layer, b: &Layer) -> usize {
    let specs = |layer: &Layer| -> BTreeMap<LayerPath, Spec> {
        let mut specs = BTreeMap::new();
        layer.walk(&LayerPath::root(), &mut |path, spec| {
            specs.insert(path.clone(), spec.clone());
        });
        specs
    };
    let (a, b) = (specs(a), specs(b));
    assert!(a.keys().eq(b.keys()));
    let mut samples = 0;
    for ((path, a), b) in a.iter().zip(b.values()) {
        assert_eq!(a.kind, b.kind, "{path}");
        let fields = |spec: &Spec| {
            let mut fields: Vec<_> = spec.fields.iter().cloned().collect();
            // What is said of every attribute may stand in one file and be left out of the other.
            let said_of_all = [
                ("custom", Value::Bool(false)),
                ("variability", Value::Variability(Variability::Varying)),
            ];
            fields.retain(|field| {
                !said_of_all
                    .iter()
                    .any(|(n, v)| *n == field.0 && *v == field.1)
            });
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            fields
        };
        let (a, b) = (fields(a), fields(b));
        assert!(a.iter().map(|f| &f.0).eq(b.iter().map(|f| &f.0)), "{path}");
        for ((field, x), (_, y)) in a.iter().zip(&b) {
            let (x, y) = (x.load().unwrap(), y.load().unwrap());
            let (Value::TimeSamples(x), Value::TimeSamples(y)) = (&x, &y) else {
                assert_eq!(bits(&x), bits(&y), "{path} {field}");
                continue;
            };
            assert_eq!(x.times(), y.times(), "{path}");
            for i in 0..x.len() {
                let (x, y) = (x.load(i).unwrap(), y.load(i).unwrap());
                assert_eq!(bits(&x), bits(&y), "{path} {i}");
            }
            samples += x.len();
        }
    }
    samples
}

/// What has to be equal: signs of zeros too, where a value is an array of vectors.
fn bits(value: &Value) -> String {
    match value {
        Value::Vec3fArray(v) => {
            let numbers = v.as_flattened().iter();
            let bits: Vec<u32> = numbers.map(|v| v.to_bits()).collect();
            format!("Vec3f {bits:x?}")
        }
        _ => format!("{value:?}"),
    }
}

pub fn usd_core_finds_the_same_in_both(with: &str) -> Result<(), Failed> {
    let files = PAIRS.iter().flatten().map(AsRef::as_ref);
    let count: usize = python(with, "same_layers.py", files)?.trim().parse()?;
    assert!(count > SAMPLES, "{count}");
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
        let total = report.unwrap().samples;
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
