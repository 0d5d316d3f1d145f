//! What the tests of bakes share: options as words, bakes that succeed or are refused, and the files of a folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::sync::LazyLock;

pub use common::command::Bench;
pub use common::files::{listing, same_files};
use common::stages::Table;
use libtest_mimic::Failed;
use sinew::Warning;
use sinew::skel::AnimSource;
use sinew_bake::{
    Backend, BakeOptions, BakeReport, BoneValues, Error, OutSpace, Rigid, VatValues, bake, stitch,
};
use sinew_io::ClipChoice;

/// Five frames, Z up, in centimetres: a box with uvs of its corners and two materials, bent by two joints; a left-handed box
/// with normals; a rigid one; one that only blends; and a sphere.
pub static BOXES: LazyLock<String> = LazyLock::new(|| base("boxes"));

/// A limb of two joints that turn and a root that moves, with keys at 1, 5 and 9, and a mesh of its own place.
pub static LIMB: LazyLock<String> = LazyLock::new(|| base("limb"));

/// A stage with two clips, five influences a point, a character that walks, other units and another up axis.
pub static TWO_CLIPS: LazyLock<String> = LazyLock::new(|| base("two clips"));

/// Prims that fail at the beginning, in the middle for longer than several clips, often, at the end, always.
pub static LOST_PRIMS: LazyLock<String> = LazyLock::new(|| base("lost prims"));

/// A base stage of the table.
fn base(name: &str) -> String {
    Table::read("bakes.txt").base(name).to_owned()
}

/// The boxes with a SkelRoot that is turned, moved and scaled. If it is mirrored, what is written in world space has to be
/// turned over.
pub fn scaled(scale: &str) -> String {
    let place = format!(
        "double3 xformOp:translate = (3, 1, -2)
    float3 xformOp:rotateXYZ = (10, 20, 30)
    float3 xformOp:scale = {scale}
    uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:rotateXYZ\", \"xformOp:scale\"]"
    );
    BOXES.replace("# PLACE", &place)
}

/// A mirror, whose volume is 1.5.
pub const MIRROR: &str = "(-1, 1.5, 1)";

/// The three ways the boxes stand, as files.
pub fn own_stages(bench: &Bench) -> [PathBuf; 3] {
    [
        bench.write("still.usda", &*BOXES),
        bench.write("placed.usda", scaled("(1, 1, 1)")),
        bench.write("mirrored.usda", scaled(MIRROR)),
    ]
}

/// A file of the repository.
pub fn project(file: &str) -> PathBuf {
    common::repository().join(file)
}

/// The example character.
pub fn hatchling() -> PathBuf {
    project("examples/assets/hatchling.usda")
}

/// A stage of tests/goldens.
pub fn golden(name: &str) -> PathBuf {
    project(&format!("tests/goldens/{name}.usda"))
}

fn parsed<T: FromStr>(name: &str, value: &str) -> T {
    let value = value.parse();
    value.unwrap_or_else(|_| panic!("{name}: another value is expected"))
}

/// Options as words: the names that the command gives them, each with its value behind it. On the CPU if no backend is named.
pub fn options(words: &str) -> BakeOptions {
    let mut out = BakeOptions::default();
    out.backend = Backend::Cpu;
    let mut rigid = None;
    let mut clips = Vec::new();
    let mut words = words.split_whitespace();
    while let Some(name) = words.next() {
        let mut value = || words.next().unwrap_or_else(|| panic!("{name}: no value"));
        match name {
            "layer" => out.layer = true,
            "keep-bindings" => out.keep_bindings = true,
            "velocities" => out.velocities = true,
            "resume" => out.resume = true,
            "gpu" => out.backend = Backend::Gpu,
            "frames" => out.frames = Some(parsed(name, value())),
            "prim" => out.prims.push(value().to_owned()),
            "clip" => clips.push(value().to_owned()),
            "clip-frames" => out.clip_frames = Some(parsed(name, value())),
            "shard" => out.shard = Some(parsed(name, value())),
            "shutter" => out.shutter = Some(parsed(name, value())),
            "motion-samples" => {
                let shutter = out.shutter.as_mut().expect("a shutter before its samples");
                shutter.samples = parsed(name, value());
            }
            "max-error" => out.max_error = Some(parsed(name, value())),
            "rigid" => rigid = Some(value()),
            "anim-source" => {
                assert_eq!(value(), "binding");
                out.anim_source = AnimSource::AtBinding;
            }
            "space" => {
                out.space = Some(match value() {
                    "prim" => OutSpace::Prim,
                    "skel" => OutSpace::Skel,
                    "world" => OutSpace::World,
                    other => panic!("{other}: no space"),
                });
            }
            "vat-values" => {
                out.vat.values = match value() {
                    "position" => VatValues::Position,
                    _ => VatValues::Offset,
                };
            }
            "vat-bits" => out.vat.bits = Some(parsed(name, value())),
            "vat-width" => out.vat.max_width = parsed(name, value()),
            "dual-quaternions" => out.bones.values = BoneValues::DualQuaternion,
            "bone-bits" => out.bones.bits = Some(parsed(name, value())),
            "bone-width" => out.bones.max_width = parsed(name, value()),
            other => panic!("{other}: no option"),
        }
    }
    match &mut clips[..] {
        [name] => out.open.clips = ClipChoice::Named(std::mem::take(name)),
        _ => out.bones.clips = clips,
    }
    // As the command has it.
    let in_prim_space = matches!(out.space, None | Some(OutSpace::Prim));
    out.rigid = match rigid {
        Some("points") => Rigid::Points,
        None if !in_prim_space => Rigid::Points,
        _ => Rigid::Xform,
    };
    out
}

/// A bake that has to succeed.
pub fn run(input: &Path, output: &Path, words: &str) -> BakeReport {
    run_with(input, output, &options(words))
}

/// The same, with options that words cannot say.
pub fn run_with(input: &Path, output: &Path, options: &BakeOptions) -> BakeReport {
    let report = bake(input, output, options, &mut |_| {});
    report.unwrap_or_else(|e| panic!("{}: {e}", output.display()))
}

/// A stitch that has to succeed.
pub fn stitched(input: &Path, output: &Path, words: &str) -> BakeReport {
    let report = stitch(input, output, &options(words), &mut |_| {});
    report.unwrap_or_else(|e| panic!("{words}: {e}"))
}

/// Fails with an error that names all these words. `is_usage` is whether the command ends with its code for wrong usage.
pub fn is_refused(result: Result<BakeReport, Error>, is_usage: bool, words: &[&str], what: &str) {
    let error = match result {
        Ok(_) => panic!("{what}: it is baked"),
        Err(error) => error,
    };
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "{what}: '{text}' should say '{word}'");
    }
    let usage = matches!(
        error,
        Error::Options(_) | Error::EmptyRange { .. } | Error::PrimPath { .. }
    );
    assert_eq!(usage, is_usage, "{what}: {error:?}");
}

/// The warnings of a code.
pub fn warnings<'a>(report: &'a BakeReport, code: &str) -> Vec<&'a Warning> {
    let all = report.warnings.iter();
    all.filter(|w| w.code == code).collect()
}

/// Everything that a report tells, with codes.
pub fn told(report: &BakeReport) -> Vec<String> {
    let errors = report.errors.iter();
    let errors = errors.map(|e| format!("{e} [{}]", e.code.unwrap_or_default()));
    let warnings = report.warnings.iter().map(ToString::to_string);
    let failed = report.failed.iter();
    let failed =
        failed.map(|f| format!("{}: {} [{}]", f.path, f.reason, f.code.unwrap_or_default()));
    let mut all: Vec<String> = errors.chain(warnings).chain(failed).collect();
    all.sort();
    all
}

/// Clips of the whole bake, baked ones and kept ones.
pub fn clips(report: &BakeReport) -> (usize, usize, usize) {
    let counts = report.clips.expect("a bake into clips");
    (counts.of, counts.baked, counts.kept)
}

/// Number of entries of a folder.
pub fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

/// What a script beside this file prints in the Python with usd-core.
pub fn python<'a>(
    python: &str,
    script: &str,
    args: impl IntoIterator<Item = &'a Path>,
) -> Result<String, Failed> {
    let script = project("crates/sinew-bake/tests/bakes").join(script);
    let output = Command::new(python).arg(script).args(args).output()?;
    let text = common::command::stdout(&output);
    match output.status.success() {
        true => Ok(text),
        false => Err((text + &common::command::stderr(&output)).into()),
    }
}
