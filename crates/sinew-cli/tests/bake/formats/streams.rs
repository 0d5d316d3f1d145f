//! Samples that go to the file as they are deformed.
//!
//! A `.usdc` has its arrays ahead of the layer; a `.usdz` and a `.usda` are held whole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use sinew_bake::{Backend, BakeOptions, Progress};
use sinew_layer::value::Variability;
use sinew_layer::{Layer, Path as LayerPath, Spec, Value};

use common::command::{Bench, bake, stderr};
use common::usd;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

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

/// A streamed file and a held one of each stage, flattened and as layers.
fn pairs(bench: &Bench, each: &mut dyn FnMut(&Path, &Path)) {
    for stage in STAGES {
        let input = Path::new(FOLDER).join(stage);
        for (held, more) in [("held.usdz", &[][..]), ("held.usda", &["--layer"])] {
            let (streamed, held) = (bench.path("streamed.usdc"), bench.path(held));
            for output in [&streamed, &held] {
                let done = bake(&input, output, &[more, &["--allow-partial"]].concat());
                assert!(done.status.success(), "{stage}: {}", stderr(&done));
            }
            each(&streamed, &held);
        }
    }
}

pub fn a_streamed_file_holds_what_a_held_one_does() {
    let bench = Bench::new();
    let mut samples = 0;
    pairs(&bench, &mut |streamed, held| {
        let (streamed, held) = (usd::open(streamed), usd::open(held));
        let (streamed, held) = (streamed.root_layer(), held.root_layer());
        samples += same(streamed, held);
    });
    assert!(samples > 1000, "{samples}");
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

pub fn usd_core_finds_the_same_in_both() {
    let python = std::env::var("SINEW_PYTHON").unwrap();
    let bench = Bench::new();
    let mut samples = 0;
    pairs(&bench, &mut |streamed, held| {
        let script = Path::new(FOLDER).join("crates/sinew-cli/tests/bake/formats/same_layers.py");
        let output = Command::new(&python)
            .arg(script)
            .args([streamed, held])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let count = String::from_utf8(output.stdout).unwrap();
        samples += count.trim().parse::<usize>().unwrap();
    });
    assert!(samples > 1000, "{samples}");
}

/// usd-core takes the empty token from the file, and loses the layer where there is none.
pub fn usd_core_saves_in_place() {
    let python = std::env::var("SINEW_PYTHON").unwrap();
    let bench = Bench::new();
    let assets = Path::new(FOLDER).join("examples/assets");
    let (bow, bow_out) = (assets.join("bow.glb"), bench.path("bow.usdc"));
    let arguments = [bow.as_path(), Path::new("-o"), &bow_out];
    let mut files = vec![bow_out.clone()];
    let convert = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .arg("convert")
        .args(arguments)
        .output();
    let convert = convert.unwrap();
    assert!(convert.status.success(), "{}", stderr(&convert));
    for (name, more) in [
        ("flat.usdc", &["--frames", "1:4"][..]),
        ("layer.usdc", &["--layer", "--frames", "1:4"]),
        ("either.usd", &["--frames", "1:4"]),
        (
            "clips.usdc",
            &["--layer", "--frames", "1:4", "--clip-frames", "2"],
        ),
    ] {
        let out = bench.path(name);
        let done = bake(&hatchling(), &out, more);
        assert!(done.status.success(), "{name}: {}", stderr(&done));
        files.push(out);
    }
    let clips = std::fs::read_dir(bench.path("clips_clips"));
    files.extend(clips.unwrap().map(|entry| entry.unwrap().path()));
    files.retain(|file| file.extension().is_some_and(|e| e != "json"));
    assert!(files.len() > 7, "{files:?}");
    let output = Command::new(&python)
        .arg(Path::new(FOLDER).join("crates/sinew-cli/tests/bake/formats/save_in_place.py"))
        .args(&files)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let saved = String::from_utf8(output.stdout).unwrap();
    assert_eq!(saved.trim(), files.len().to_string());
}

fn hatchling() -> PathBuf {
    Path::new(FOLDER).join("examples/assets/hatchling.usda")
}

/// The stages of a bake run side by side, and in one thread where a caller's pool has no other.
pub fn the_same_bytes_every_time_and_in_one_thread() {
    let bench = Bench::new();
    let written = |name: &str| {
        let out = bench.path(name);
        let mut options = BakeOptions::default();
        options.backend = Backend::Cpu;
        let mut steps = Vec::new();
        let report = sinew_bake::bake(&hatchling(), &out, &options, &mut |p| steps.push(p));
        let samples = report.unwrap().samples;
        assert_eq!(steps.last(), Some(&Progress::Writing));
        let done = Progress::Deforming {
            done: samples,
            total: samples,
        };
        assert!(steps.contains(&done), "{steps:?}");
        std::fs::read(out).unwrap()
    };
    let first = written("a.usdc");
    assert!(first == written("b.usdc"), "another run");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let alone = pool.unwrap().install(|| written("c.usdc"));
    assert!(first == alone, "in one thread");
}

/// Four times the frames are 90 MB more on disk.
#[cfg(target_os = "linux")]
pub fn memory_does_not_grow_with_the_frames() {
    let bench = Bench::new();
    let out = bench.path("out.usdc");
    let peak = |frames: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        let input = hatchling();
        let args = ["--backend", "cpu", "--quiet", "--frames", frames];
        command
            .arg("bake")
            .arg(input)
            .arg("-o")
            .arg(&out)
            .args(args);
        let megabytes = peak_megabytes(&mut command);
        (megabytes, std::fs::metadata(&out).unwrap().len() >> 20)
    };
    let (few, small) = peak("1:96:0.48");
    // How far one thread is ahead of another differs from run to run, also on a busy machine.
    let many_runs = [(); 2].map(|()| peak("1:96:0.12"));
    let (many, large) = many_runs.into_iter().min().unwrap();
    assert!(large - small > 80, "{small} MB, {large} MB");
    let most = common::tolerance::MEMORY_OF_FRAMES_MB;
    assert!(many < few + most, "{few} MB, {many} MB of memory");
}

/// Most memory that a process had at a time.
#[cfg(target_os = "linux")]
#[expect(
    clippy::zombie_processes,
    reason = "wait4 waits, and tells what it used"
)]
fn peak_megabytes(command: &mut Command) -> u64 {
    let child = command.spawn().unwrap();
    let mut status = 0;
    // SAFETY: plain numbers, for which zeros are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to values that live on, and nobody else waits for the child.
    let waited = unsafe { libc::wait4(child.id() as i32, &mut status, 0, &mut usage) };
    assert_eq!((waited, status), (child.id() as i32, 0));
    usage.ru_maxrss as u64 >> 10
}

/// Writing ends in the middle of deforming: the bake ends with it, says why, and leaves nothing.
#[cfg(unix)]
pub fn a_file_that_grows_too_large_is_told_and_leaves_nothing() {
    let bench = Bench::new();
    let out = bench.path("out.usdc");
    // Blocks of 512 bytes or of 1024, as shells have it.
    let script = "trap '' XFSZ; ulimit -f 8000; exec \"$@\"";
    let output = Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_sinew"), "bake"])
        .arg(hatchling())
        .arg("-o")
        .arg(&out)
        .args(["--backend", "cpu", "--frames", "1:96:0.1"])
        .output()
        .unwrap();
    common::command::refused(&output, &out, &["out.usdc", "cannot write"]);
    let left = std::fs::read_dir(bench.folder.path()).unwrap().count();
    assert_eq!(left, 0);
}
