//! A stage of clips has the values of the same bake in one file, in usd-core.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use libtest_mimic::Failed;
use sinew_stage::{Predicate, Prim};

use crate::clips::bench::{bake, count, example, files, project};
use common::command::{Bench, stderr, stdout};
use common::tolerance;

/// Stages with what clips have to get right: sparse and sub-frame times, hints over several skeletons, instances that share
/// prototypes, moved rigid prims, normals of both names, rest points that move, clips in the input, several SkelRoots.
const GOLDENS: [&str; 12] = [
    "ancestors_animated",
    "clips_switch",
    "constant_rigid_meshless_note",
    "dq_constant",
    "extents_hint",
    "gprims",
    "instances_nested",
    "instances_shared",
    "layer_offsets",
    "nested_skel_roots",
    "normals_interpolations",
    "rest_points_animated",
];

fn compare(python: &str, pairs: &[(PathBuf, PathBuf)]) -> Output {
    Command::new(python)
        .arg(project("crates/sinew-cli/tests/bake/clips/compare.py"))
        .arg(tolerance::BETWEEN_SAMPLES.to_string())
        .args(pairs.iter().flat_map(|(one, clips)| [one, clips]))
        .output()
        .unwrap()
}

pub fn equal(python: &str, pairs: &[(PathBuf, PathBuf)]) -> Result<(), Failed> {
    let output = compare(python, pairs);
    let text = stdout(&output);
    if !output.status.success() {
        return Err(format!("{text}{}", stderr(&output)).into());
    }
    // Something was compared that moves.
    let moving = text.lines().filter_map(|l| l.split(", ").last());
    let moving = moving.filter(|m| *m != "0 moving").count();
    assert_eq!(moving, pairs.len(), "{text}");
    Ok(())
}

fn pair(
    bench: &Bench,
    input: &Path,
    name: &str,
    length: &str,
    more: &[&str],
) -> (PathBuf, PathBuf) {
    let one = bench.path(&format!("{name}_one.usdc"));
    let clips = bench.path(&format!("{name}.usdc"));
    // Some goldens have prims that cannot be skinned.
    let more = [more, &["--allow-partial"]].concat();
    bake(input, &one, &more);
    let clipped = [&more[..], &["--clip-frames", length]].concat();
    let report = bake(input, &clips, &clipped);
    assert_eq!(count(&report, "of"), count(&report, "baked"));
    (one, clips)
}

fn golden(name: &str) -> PathBuf {
    project(&format!("tests/goldens/{name}.usda"))
}

pub fn goldens(python: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let mut pairs = Vec::new();
    for length in ["1", "3"] {
        for name in GOLDENS {
            let files = format!("{name}_{length}");
            pairs.push(pair(&bench, &golden(name), &files, length, &[]));
        }
    }
    pairs.push(pair(&bench, &example(), "hatchling", "10", &[]));
    equal(python, &pairs)
}

pub fn layers_and_spaces(python: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let mut pairs = Vec::new();
    for (at, options) in [
        &["--layer"][..],
        &["--space", "world", "--frames", "0.5:9:0.75"],
        &["--space", "skel"],
        &["--rigid", "points"],
    ]
    .iter()
    .enumerate()
    {
        for name in [
            "dq_constant",
            "extents_hint",
            "instances_shared",
            "clips_switch",
            "gprims",
        ] {
            let files = format!("{name}_{at}");
            pairs.push(pair(&bench, &golden(name), &files, "2", options));
        }
    }
    let one = ["--prim", "/Hatchling/Geo/WingL", "--frames", "3:9"];
    pairs.push(pair(&bench, &example(), "wing", "3", &one));
    equal(python, &pairs)
}

/// Text for the stage, and inputs that are no USD, with textures.
pub fn other_formats(python: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let puppet = project("examples/assets/puppet.glb");
    let frames = ["--frames", "0:20:2.5"];
    let mut pairs = vec![pair(&bench, &puppet, "puppet", "4", &frames)];
    let clips = bench.path("text.usda");
    bake(
        &puppet,
        &clips,
        &[&frames[..], &["--clip-frames", "4"]].concat(),
    );
    assert!(
        std::fs::read_to_string(&clips)
            .unwrap()
            .contains("clips = {")
    );
    pairs.push((pairs[0].0.clone(), clips));
    equal(python, &pairs)
}

/// The comparison sees another bake for what it is.
pub fn noticed(python: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let (one, clips) = pair(&bench, &example(), "a", "10", &[]);
    // The clips of another space lie under the stage.
    let other = bench.path("other/a.usdc");
    std::fs::create_dir(bench.path("other")).unwrap();
    bake(
        &example(),
        &other,
        &["--clip-frames", "10", "--space", "skel"],
    );
    assert!(
        compare(python, &[(one.clone(), clips.clone())])
            .status
            .success()
    );
    for clip in ["a.0003.usdc", "a.manifest.usdc", "a.topology.usdc"] {
        let at = bench.path("a_clips").join(clip);
        let good = std::fs::read(&at).unwrap();
        match clip {
            "a.manifest.usdc" => std::fs::remove_file(&at).unwrap(),
            _ => drop(std::fs::copy(bench.path("other/a_clips").join(clip), &at).unwrap()),
        }
        let output = compare(python, &[(one.clone(), clips.clone())]);
        assert_eq!(output.status.code(), Some(1), "{clip}: {}", stdout(&output));
        std::fs::write(&at, good).unwrap();
    }
    Ok(())
}

/// Nothing moves: one clip, and a stage that names none.
pub fn a_still_stage() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(golden("influences_many")).unwrap();
    let still: String = text
        .lines()
        .filter(|l| !l.contains("skel:animationSource"))
        .map(|l| format!("{l}\n"))
        .collect();
    let input = bench.write("still.usda", still);
    let one = bench.path("one.usda");
    bake(&input, &one, &[]);
    let out = bench.path("out.usda");
    let report = bake(&input, &out, &["--clip-frames", "5"]);
    assert_eq!((count(&report, "of"), count(&report, "baked")), (1, 1));
    assert!(!std::fs::read_to_string(&out).unwrap().contains("clips = {"));
    assert_eq!(files(&bench.path("out_clips")).len(), 3);
    let value = |file: &Path| {
        let stage = common::usd::open(file);
        let prims = stage.traverse(Predicate::ALL);
        let points = |p: Prim<'_>| common::usd::vectors(&stage, p.path().as_str(), "points", None);
        prims.filter_map(points).collect::<Vec<_>>()
    };
    assert!(!value(&one).is_empty());
    assert_eq!(value(&one), value(&out));
}
