//! Bakes in several runs are those in one, byte for byte.

use std::path::Path;

use serde_json::Value;

use crate::clips::bench::{bake, count, example, project, same_files};
use common::command::{Bench, refused, sinew, stderr, stdout};

const CUT: [&str; 4] = ["--frames", "1:20", "--clip-frames", "3"];

/// Shards in any order, one of them twice, then the stitch.
fn in_shards(input: &Path, out: &Path, options: &[&str], whole: &Value) {
    let mut samples = 0;
    for shard in ["3/3", "1/3", "2/3", "1/3"] {
        let report = bake(input, out, &[options, &["--shard", shard]].concat());
        assert!(!out.exists(), "a shard writes no stage");
        samples += report["samples"].as_u64().unwrap();
        let files = report["files"].as_array().unwrap();
        assert_eq!(files.len() as u64, count(&report, "baked"));
        assert!(
            files
                .iter()
                .all(|f| Path::new(f.as_str().unwrap()).exists())
        );
    }
    let first = [options, &["--shard", "1/3", "--resume"]].concat();
    samples -= bake(input, out, &first)["samples"].as_u64().unwrap();
    assert_eq!(samples, whole["samples"], "each sample is one shard's");
    let report = bake(input, out, &[options, &["--stitch"]].concat());
    assert_eq!(report["samples"], samples);
    assert_eq!(
        (count(&report, "baked"), count(&report, "kept")),
        (0, count(&report, "of"))
    );
    assert_eq!(report["deformed_points"], 0);
}

fn as_one(input: &Path, options: &[&str]) {
    let bench = Bench::new();
    for folder in ["one", "many"] {
        std::fs::create_dir(bench.path(folder)).unwrap();
    }
    let report = bake(input, &bench.path("one/hero.usdc"), options);
    assert!(count(&report, "of") >= 3);
    in_shards(input, &bench.path("many/hero.usdc"), options, &report);
    same_files(&bench.path("one"), &bench.path("many"));
}

pub fn on_the_cpu() {
    as_one(&example(), &[&CUT[..], &["--backend", "cpu"]].concat());
    let cut = ["--backend", "cpu", "--clip-frames", "2"];
    for golden in ["extents_hint", "instances_shared"] {
        let input = project(&format!("tests/goldens/{golden}.usda"));
        as_one(&input, &cut);
        as_one(&input, &[&cut[..], &["--layer"]].concat());
    }
    let puppet = project("examples/assets/puppet.glb");
    as_one(&puppet, &[&CUT[..], &["--backend", "cpu"]].concat());
}

pub fn on_a_gpu() {
    as_one(&example(), &[&CUT[..], &["--adapter", ""]].concat());
}

pub fn more_than_clips() {
    let bench = Bench::new();
    let out = bench.path("hero.usdc");
    let cut = ["--frames", "1:2", "--clip-frames", "1"];
    let mut baked = 0;
    for shard in 1..=5 {
        let shard = format!("{shard}/5");
        let report = bake(&example(), &out, &[&cut[..], &["--shard", &shard]].concat());
        assert_eq!(count(&report, "of"), 2);
        baked += count(&report, "baked");
    }
    assert_eq!(baked, 2);
    bake(&example(), &out, &[&cut[..], &["--stitch"]].concat());
    assert!(out.exists());
}

pub fn what_does_not_fit() {
    let bench = Bench::new();
    let out = bench.path("hero.usdc");
    let stitch = |more: &[&str]| {
        let (input, out) = (example(), out.to_str().unwrap().to_owned());
        let mut args = vec!["bake", "--stitch", input.to_str().unwrap(), "-o", &out];
        args.extend(CUT);
        args.extend(more);
        sinew(&args)
    };
    refused(&stitch(&[]), &out, &["7 of 7 clips are not there: 1 to 7"]);
    for shard in ["1/3", "3/3"] {
        bake(&example(), &out, &[&CUT[..], &["--shard", shard]].concat());
    }
    refused(
        &stitch(&[]),
        &out,
        &["hero_clips", "2 of 7 clips are not there: 3 to 4"],
    );
    bake(&example(), &out, &[&CUT[..], &["--shard", "2/3"]].concat());
    refused(
        &stitch(&["--space", "world"]),
        &out,
        &["hero.0001.usdc", "options", "space world"],
    );

    // One clip of another input.
    let clip = bench.path("hero_clips/hero.0004.usdc");
    let good = std::fs::read(&clip).unwrap();
    let text = std::fs::read_to_string(example()).unwrap();
    let other = bench.write(
        "hero.usda",
        text.replacen("upAxis", "# \nupAxis", 1) + "\n#\n",
    );
    bake(
        &other,
        &bench.path("hero.usdc"),
        &[&CUT[..], &["--shard", "4/7"]].concat(),
    );
    refused(&stitch(&[]), &out, &["hero.0004.usdc", "input"]);

    // One that is cut short, and one that is no clip.
    std::fs::write(&clip, &good[..good.len() - 100]).unwrap();
    refused(&stitch(&[]), &out, &["hero.0004.usdc", "no whole clip"]);
    std::fs::write(&clip, "#usda 1.0\n").unwrap();
    refused(&stitch(&[]), &out, &["hero.0004.usdc", "no whole clip"]);
    std::fs::write(&clip, &good).unwrap();

    // One of another backend, by what it says of itself.
    let place = |bytes: &[u8]| bytes.windows(5).position(|w| w == b"cpu (").unwrap();
    let mut foreign = good.clone();
    let at = place(&foreign);
    foreign[at..at + 3].copy_from_slice(b"gpu");
    std::fs::write(&clip, &foreign).unwrap();
    refused(&stitch(&[]), &out, &["hero.0004.usdc", "backend", "gpu ("]);
    std::fs::write(&clip, &good).unwrap();

    // What it says does nothing to a terminal, and begins no line.
    let mut tampered = good.clone();
    tampered[at..at + 3].copy_from_slice(b"\x1b[A");
    std::fs::write(&clip, &tampered).unwrap();
    refused(&stitch(&[]), &out, &["backend", r"found '\u{1b}[A ("]);
    tampered[at..at + 3].copy_from_slice(b"\nc\r");
    std::fs::write(&clip, &tampered).unwrap();
    refused(&stitch(&[]), &out, &["backend", r"found '\nc\r ("]);
    std::fs::write(&clip, &good).unwrap();
    let clips: Vec<_> = (1..=7)
        .map(|n| bench.path(&format!("hero_clips/hero.{n:04}.usdc")))
        .collect();
    let whole: Vec<_> = clips.iter().map(|c| std::fs::read(c).unwrap()).collect();
    for (clip, bytes) in clips.iter().zip(&whole) {
        let mut bytes = bytes.clone();
        let at = place(&bytes);
        bytes[at..at + 3].copy_from_slice(b"\x1b[A");
        std::fs::write(clip, bytes).unwrap();
    }
    let output = stitch(&[]);
    assert!(
        stdout(&output).contains(r"ran on \u{1b}[A ("),
        "{}",
        stdout(&output)
    );
    std::fs::remove_file(&out).unwrap();
    for (clip, bytes) in clips.iter().zip(whole) {
        std::fs::write(clip, bytes).unwrap();
    }
    let output = stitch(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("7 kept"), "{}", stdout(&output));
}

/// What is the same request is the same bake, however it is spelled.
pub fn prims_in_any_order() {
    let bench = Bench::new();
    let out = bench.path("hero.usdc");
    let [left, right] = ["/Hatchling/Geo/WingL", "/Hatchling/Geo/WingR"];
    for (shard, prims) in [
        ("1/2", &[left, right][..]),
        ("2/2", &[right, left, "/Hatchling/Geo/WingR/", left]),
    ] {
        let prims = prims.iter().flat_map(|p| ["--prim", p]);
        let options: Vec<&str> = CUT.into_iter().chain(prims).collect();
        let report = bake(
            &example(),
            &out,
            &[&options[..], &["--shard", shard]].concat(),
        );
        assert_eq!(report["prims"], 2);
        // It is known again.
        let again = [&options[..], &["--shard", shard, "--resume"]].concat();
        assert_eq!(count(&bake(&example(), &out, &again), "baked"), 0);
    }
    let both = ["--stitch", "--prim", right, "--prim", left];
    bake(&example(), &out, &[&CUT[..], &both].concat());
    let resume = ["--resume", "--prim", left, "--prim", right, "--prim", left];
    assert_eq!(
        count(
            &bake(&example(), &out, &[&CUT[..], &resume].concat()),
            "kept"
        ),
        7
    );
    // One above counts for both, and is another request where there are more below it.
    let resume = ["--resume", "--prim", "/Hatchling/Geo", "--prim", left];
    assert_eq!(
        count(
            &bake(&example(), &out, &[&CUT[..], &resume].concat()),
            "kept"
        ),
        0
    );
    let resume = ["--resume", "--prim", "/Hatchling/Geo/"];
    assert_eq!(
        count(
            &bake(&example(), &out, &[&CUT[..], &resume].concat()),
            "kept"
        ),
        7
    );
}
