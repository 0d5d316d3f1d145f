//! A stage of clips has the values of the same bake in one file, in usd-core.

use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

use crate::bench::*;
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

type Pair = (PathBuf, PathBuf);

fn compare(with: &str, pairs: &[Pair]) -> Result<String, Failed> {
    let between = tolerance::BETWEEN_SAMPLES.to_string();
    let files = pairs.iter().flat_map(|(one, clips)| [&**one, &**clips]);
    let args = [Path::new(&between)].into_iter().chain(files);
    python(with, "compare.py", args)
}

/// Every pair has the same values, and something in it that moves.
pub fn equal(with: &str, pairs: &[Pair]) -> Result<(), Failed> {
    let text = compare(with, pairs)?;
    let moving = text.lines().filter_map(|l| l.split(", ").last());
    let moving = moving.filter(|m| *m != "0 moving").count();
    assert_eq!(moving, pairs.len(), "{text}");
    Ok(())
}

/// The same bake in one file, and in clips of so many frames.
fn pair(bench: &Bench, input: &Path, name: &str, words: &str, length: usize) -> Pair {
    let one = bench.path(&format!("{name}_one.usdc"));
    let many = bench.path(&format!("{name}_{length}.usdc"));
    if !one.exists() {
        run(input, &one, words);
    }
    let report = run(input, &many, &format!("{words} clip-frames {length}"));
    let (of, baked, _) = clips(&report);
    assert_eq!(of, baked);
    (one, many)
}

pub fn goldens_are_as_in_one_file(with: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let mut pairs = Vec::new();
    for length in [1, 3] {
        for name in GOLDENS {
            pairs.push(pair(&bench, &golden(name), name, "", length));
        }
    }
    pairs.push(pair(&bench, &hatchling(), "hatchling", "", 10));
    equal(with, &pairs)
}

/// Layers, spaces, one prim, and inputs that are no USD; text for the stage.
pub fn other_bakes_too(with: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let mut pairs = Vec::new();
    for (at, words) in [
        "layer",
        "space world frames 0.5:9:0.75",
        "space skel",
        "rigid points",
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
            pairs.push(pair(&bench, &golden(name), &files, words, 2));
        }
    }
    let one = "prim /Hatchling/Geo/WingL frames 3:9";
    pairs.push(pair(&bench, &hatchling(), "wing", one, 3));
    let puppet = project("examples/assets/puppet.glb");
    let frames = "frames 0:20:2.5";
    let (one, many) = pair(&bench, &puppet, "puppet", frames, 4);
    let text = bench.path("text.usda");
    run(&puppet, &text, &format!("{frames} clip-frames 4"));
    let written = std::fs::read_to_string(&text).unwrap();
    assert!(written.contains("clips = {"));
    pairs.extend([(one.clone(), many), (one, text)]);
    equal(with, &pairs)
}

/// The comparison sees another bake for what it is.
pub fn what_differs_is_noticed(with: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let input = bench.write("in.usda", &*LIMB);
    let pairs = [pair(&bench, &input, "a", "", 3)];
    // The clips of another space lie under the stage.
    std::fs::create_dir(bench.path("other")).unwrap();
    let other = bench.path("other/a_3.usdc");
    run(&input, &other, "clip-frames 3 space skel");
    compare(with, &pairs)?;
    for clip in ["a_3.0003.usdc", "a_3.manifest.usdc", "a_3.topology.usdc"] {
        let at = bench.path("a_3_clips").join(clip);
        let good = std::fs::read(&at).unwrap();
        match clip {
            "a_3.manifest.usdc" => std::fs::remove_file(&at).unwrap(),
            _ => drop(std::fs::copy(bench.path("other/a_3_clips").join(clip), &at).unwrap()),
        }
        assert!(compare(with, &pairs).is_err(), "{clip}");
        std::fs::write(&at, good).unwrap();
    }
    compare(with, &pairs)?;
    Ok(())
}

/// Prims that cannot be baked at some times: values around cuts are one file's all the same.
pub fn lost_prims_are_as_in_one_file(with: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let input = bench.write("in.usda", &*LOST_PRIMS);
    let mut pairs: Vec<Pair> = Vec::new();
    for (at, words) in ["", "layer", "space skel", "frames 1.5:13:0.5"]
        .iter()
        .enumerate()
    {
        let one = bench.path(&format!("one_{at}.usdc"));
        let report = run(&input, &one, words);
        let expected = told(&report);
        let failed: Vec<&str> = report.failed.iter().map(|f| &*f.path).collect();
        for name in ["Early", "Middle", "Late", "Often", "Never"] {
            let path = format!("/World/Hero/{name}");
            assert!(failed.contains(&&*path), "{path}: {expected:#?}");
        }
        let not_baked = warnings(&report, "times-not-baked").len();
        assert_eq!((not_baked, report.errors.len()), (5, 2), "{expected:#?}");
        for length in [1, 2, 3, 5, 100] {
            let many = bench.path(&format!("clips_{at}_{length}.usdc"));
            let report = run(&input, &many, &format!("{words} clip-frames {length}"));
            assert_eq!(told(&report), expected);
            pairs.push((one.clone(), many));
        }
    }
    equal(with, &pairs)
}
