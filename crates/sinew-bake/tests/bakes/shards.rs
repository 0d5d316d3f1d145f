//! Bakes in several runs are those in one, byte for byte.

use std::path::Path;

use sinew_bake::{BakeReport, stitch};

use crate::bench::*;
use crate::values::LOST_PRIMS;

const CUT: &str = "frames 1:20 clip-frames 3";

fn shard(input: &Path, out: &Path, words: &str, which: &str) -> BakeReport {
    run(input, out, &format!("{words} shard {which}"))
}

/// Shards in any order, one of them twice, then the stitch.
fn in_shards(input: &Path, out: &Path, words: &str, whole: &BakeReport) {
    let mut samples = 0;
    for which in ["3/3", "1/3", "2/3", "1/3"] {
        let report = shard(input, out, words, which);
        assert!(!out.exists(), "a shard writes no stage");
        samples += report.samples;
        assert_eq!(report.files.len(), clips(&report).1);
        assert!(report.files.iter().all(|f| f.exists()));
    }
    samples -= shard(input, out, words, "1/3 resume").samples;
    assert_eq!(samples, whole.samples, "each sample is one shard's");
    let report = stitched(input, out, words);
    assert_eq!((report.samples, report.deformed_points), (samples, 0));
    let (of, baked, kept) = clips(&report);
    assert_eq!((baked, kept), (0, of));
}

fn as_one(input: &Path, words: &str) {
    let bench = Bench::new();
    let [one, many] = ["one", "many"].map(|name| {
        std::fs::create_dir(bench.path(name)).unwrap();
        bench.path(name)
    });
    let report = run(input, &one.join("hero.usdc"), words);
    assert!(clips(&report).0 >= 3);
    in_shards(input, &many.join("hero.usdc"), words, &report);
    same_files(&one, &many);
}

pub fn on_the_cpu() {
    as_one(&hatchling(), CUT);
    for name in ["extents_hint", "instances_shared"] {
        as_one(&golden(name), "clip-frames 2");
        as_one(&golden(name), "clip-frames 2 layer");
    }
    as_one(&project("examples/assets/puppet.glb"), CUT);
}

pub fn on_a_gpu() {
    as_one(&hatchling(), &format!("{CUT} gpu"));
}

pub fn more_than_clips() {
    let bench = Bench::new();
    let out = bench.path("hero.usdc");
    let cut = "frames 1:2 clip-frames 1";
    let mut baked = 0;
    for which in 1..=5 {
        let report = shard(&hatchling(), &out, cut, &format!("{which}/5"));
        assert_eq!(clips(&report).0, 2);
        baked += clips(&report).1;
    }
    assert_eq!(baked, 2);
    stitched(&hatchling(), &out, cut);
    assert!(out.exists());
}

/// A stitch that is refused writes no stage.
fn not_stitched(out: &Path, more: &str, words: &[&str]) {
    let options = options(&format!("{CUT} {more}"));
    let result = stitch(&hatchling(), out, &options, &mut |_| {});
    is_refused(result, false, words, "stitch");
    assert!(!out.exists());
}

pub fn what_does_not_fit_is_not_stitched() {
    let bench = Bench::new();
    let input = hatchling();
    let out = bench.path("hero.usdc");
    let all = "7 of 7 clips are not there: 1 to 7";
    not_stitched(&out, "", &[all]);
    for which in ["1/3", "3/3"] {
        shard(&input, &out, CUT, which);
    }
    let two = "2 of 7 clips are not there: 3 to 4";
    not_stitched(&out, "", &["hero_clips", two]);
    shard(&input, &out, CUT, "2/3");
    let differs = ["hero.0001.usdc", "options", "space world"];
    not_stitched(&out, "space world", &differs);

    // One clip of another input.
    let clip = bench.path("hero_clips/hero.0004.usdc");
    let good = std::fs::read(&clip).unwrap();
    let text = std::fs::read_to_string(&input).unwrap();
    let other = bench.write("hero.usda", text + "\n#\n");
    shard(&other, &out, CUT, "4/7");
    not_stitched(&out, "", &["hero.0004.usdc", "input"]);

    // One that is cut short, and one that is no clip.
    for bytes in [&good[..good.len() - 100], b"#usda 1.0\n"] {
        std::fs::write(&clip, bytes).unwrap();
        not_stitched(&out, "", &["hero.0004.usdc", "no whole clip"]);
    }

    // One of another backend, by what it says of itself; this does nothing to a terminal, and begins no line.
    let place = good.windows(5).position(|w| w == b"cpu (").unwrap();
    for (name, said) in [
        (b"gpu", "gpu ("),
        (b"\x1b[A", r"found '\u{1b}[A ("),
        (b"\nc\r", r"found '\nc\r ("),
    ] {
        let mut tampered = good.clone();
        tampered[place..place + 3].copy_from_slice(name);
        std::fs::write(&clip, tampered).unwrap();
        not_stitched(&out, "", &["hero.0004.usdc", "backend", said]);
    }
    std::fs::write(&clip, &good).unwrap();
    assert_eq!(clips(&stitched(&input, &out, CUT)), (7, 0, 7));
}

/// What is the same request is the same bake, however it is spelled.
pub fn prims_in_any_order() {
    let bench = Bench::new();
    let out = bench.path("hero.usdc");
    let [left, right] = ["prim /Hatchling/Geo/WingL", "prim /Hatchling/Geo/WingR"];
    for (which, prims) in [
        ("1/2", format!("{left} {right}")),
        ("2/2", format!("{right} {left} {right}/ {left}")),
    ] {
        let words = format!("{CUT} {prims}");
        assert_eq!(shard(&hatchling(), &out, &words, which).prims, 2);
        // It is known again.
        let again = shard(&hatchling(), &out, &words, &format!("{which} resume"));
        assert_eq!(clips(&again).1, 0);
    }
    stitched(&hatchling(), &out, &format!("{CUT} {right} {left}"));
    let above = "prim /Hatchling/Geo";
    for (prims, kept) in [
        (format!("{left} {right} {left}"), 7),
        // One above counts for both, and is another request where there are more below it.
        (format!("{above} {left}"), 0),
        (format!("{above}/"), 7),
    ] {
        let report = run(&hatchling(), &out, &format!("{CUT} resume {prims}"));
        assert_eq!(clips(&report).2, kept, "{prims}");
    }
}

/// Whoever bakes a clip finds the same samples for its edges, also where prims cannot be baked at some times.
pub fn of_lost_prims() {
    let bench = Bench::new();
    let input = bench.write("in.usda", LOST_PRIMS);
    let [one, many] = ["one", "many"].map(|name| {
        std::fs::create_dir(bench.path(name)).unwrap();
        bench.path(name)
    });
    let cut = "clip-frames 2";
    let out = many.join("out.usdc");
    let report = run(&input, &one.join("out.usdc"), cut);
    assert_eq!(clips(&report).1, 7);
    for which in ["4/4", "2/4", "1/4", "3/4"] {
        shard(&input, &out, cut, which);
    }
    // Clips do not say which times a prim lacks, but that it was never baked.
    let report = stitched(&input, &out, cut);
    let failed = report.failed.iter().map(|f| &*f.path);
    assert!(failed.eq(["/World/Hero/Never", "/World/Lost/Lost"]));
    same_files(&one, &many);
    // Going on does, too, and tells the first time first, whichever is tried first.
    for clip in [3, 5] {
        let clip = format!("out_clips/out.{clip:04}.usdc");
        std::fs::remove_file(many.join(clip)).unwrap();
    }
    let resumed = run(&input, &out, &format!("{cut} resume"));
    assert_eq!(clips(&resumed).1, 2);
    assert!(resumed.failed.len() > 2);
    same_files(&one, &many);
}
