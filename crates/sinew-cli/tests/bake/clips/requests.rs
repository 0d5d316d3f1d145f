//! What is refused, and what is reported.

use crate::clips::bench::{bake, example, files};
use common::command::{Bench, refused, sinew, stderr};

fn refused_with(code: i32, args: &[&str], words: &[&str]) {
    let output = sinew(args);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    for word in words {
        assert!(
            text.contains(word),
            "{args:?}: '{text}' should say '{word}'"
        );
    }
}

fn request_refused(usage: bool, more: &[&str], out: &str, words: &[&str]) {
    let bench = Bench::new();
    let (input, out) = (example(), bench.path(out));
    let mut args = vec!["bake", input.to_str().unwrap(), "-o", out.to_str().unwrap()];
    args.extend(more);
    match usage {
        true => refused_with(2, &args, words),
        false => refused(&sinew(&args), &out, words),
    }
    assert_eq!(std::fs::read_dir(bench.folder.path()).unwrap().count(), 0);
}

pub fn nonsense() {
    for (more, words) in [
        (&["--clip-frames", "0"][..], "--clip-frames"),
        (&["--resume"], "--clip-frames"),
        (&["--shard", "1/2"], "--clip-frames"),
        (&["--stitch"], "--clip-frames"),
        (&["--clip-frames", "5", "--shard", "3/2"], "1 to 2"),
        (&["--clip-frames", "5", "--shard", "two"], "I/N"),
        (
            &["--clip-frames", "5", "--stitch", "--shard", "1/2"],
            "--shard",
        ),
        (&["--clip-frames", "5", "--stitch", "--resume"], "--resume"),
    ] {
        request_refused(true, more, "out.usdc", &[words]);
    }
    let cut = ["--clip-frames", "5"];
    request_refused(true, &cut, "out.usdz", &["self-contained"]);
    for out in ["out.####.obj", "out.pc2", "out.exr"] {
        request_refused(true, &cut, out, &["value clips"]);
    }
    let nothing = ["--clip-frames", "5", "--prim", "/Nobody"];
    request_refused(false, &nothing, "out.usdc", &["/Nobody"]);
}

/// Neither as a clip nor as what stands beside clips.
pub fn what_is_read() {
    for name in ["0002", "topology", "manifest"] {
        let bench = Bench::new();
        std::fs::create_dir(bench.path("out_clips")).unwrap();
        let layer = bench.path(&format!("out_clips/out.{name}.usdc"));
        bake(&example(), &layer, &["--frames", "1:2"]);
        let before = std::fs::read(&layer).unwrap();
        let text = format!(
            "#usda 1.0\n(\n    subLayers = [@{}@, @./out_clips/out.{name}.usdc@]\n)\n",
            example().display()
        );
        let (input, out) = (bench.write("in.usda", text), bench.path("out.usdc"));
        let mut args = vec!["bake", input.to_str().unwrap(), "-o", out.to_str().unwrap()];
        args.extend(["--frames", "1:9", "--clip-frames", "3"]);
        refused_with(1, &args, &["read from", name]);
        assert_eq!(std::fs::read(&layer).unwrap(), before);
    }
}

pub fn json() {
    let bench = Bench::new();
    let out = bench.path("out.usdc");
    let report = bake(&example(), &out, &["--frames", "1:7", "--clip-frames", "3"]);
    let files: Vec<&str> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f.as_str().unwrap())
        .collect();
    let expected = [
        "out.usdc",
        "out_clips/out.topology.usdc",
        "out_clips/out.manifest.usdc",
        "out_clips/out.0001.usdc",
        "out_clips/out.0002.usdc",
        "out_clips/out.0003.usdc",
    ];
    let expected = expected.map(|name| bench.path(name).to_str().unwrap().to_owned());
    assert_eq!(files, expected);
    assert_eq!(
        report["clips"],
        serde_json::json!({"of": 3, "baked": 3, "kept": 0})
    );
    let one = bake(&example(), &bench.path("one.usdc"), &["--frames", "1:7"]);
    for what in ["prims", "shared", "moved", "points", "samples"] {
        assert_eq!(report[what], one[what], "{what}");
    }
    // Frames at the edges of clips are deformed for both.
    assert!(report["deformed_points"].as_u64() > one["deformed_points"].as_u64());
    assert!(one.get("clips").is_none());
}

/// Files that somebody else has put under a clip's name.
pub fn foreign_files_stay() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("out_clips")).unwrap();
    bench.write("out_clips/out.0002.usdc", "mine");
    let out = bench.path("out.usdc");
    let input = example();
    let args = [
        "bake",
        input.to_str().unwrap(),
        "-o",
        out.to_str().unwrap(),
        "--backend",
        "cpu",
    ];
    for more in [
        &["--clip-frames", "10"][..],
        &["--clip-frames", "10", "--resume"],
    ] {
        let output = sinew(&[&args[..], more].concat());
        refused(&output, &out, &["out.0002.usdc", "no whole clip"]);
        // Before anything is deformed.
        assert!(!bench.path("out_clips/out.0001.usdc").exists());
        assert_eq!(
            std::fs::read(bench.path("out_clips/out.0002.usdc")).unwrap(),
            b"mine"
        );
    }
}

/// Two stages whose names differ in the ending have one folder of clips.
pub fn one_folder_of_two_stages() {
    let bench = Bench::new();
    let input = example();
    let first = bench.path("hero.usda");
    let cut = ["--frames", "1:6", "--clip-frames", "2"];
    bake(&input, &first, &[&cut[..], &["--shard", "2/3"]].concat());
    let refused = |more: &[&str]| {
        let before = files(bench.folder.path());
        let out = bench.path("hero.usdc");
        let mut args = vec!["bake", input.to_str().unwrap(), "-o", out.to_str().unwrap()];
        args.extend(cut);
        args.extend(more);
        refused_with(
            1,
            &args,
            &[
                "hero.0002.usdc is a clip of hero.usda",
                "choose another name",
            ],
        );
        assert!(files(bench.folder.path()) == before);
    };
    refused(&["--backend", "cpu"]);
    refused(&["--backend", "cpu", "--resume"]);
    // Clips that nobody has baked yet.
    refused(&["--backend", "cpu", "--shard", "1/3"]);
    refused(&["--stitch"]);
    bake(&input, &first, &[&cut[..], &["--resume"]].concat());
    std::fs::remove_file(bench.path("hero_clips/hero.0001.usdc")).unwrap();
    refused(&["--stitch"]);
    // Fewer clips than there are.
    let one = ["--frames", "1:2", "--clip-frames", "2", "--backend", "cpu"];
    let out = bench.path("hero.usdc");
    let args = [
        &["bake", input.to_str().unwrap(), "-o", out.to_str().unwrap()],
        &one[..],
    ]
    .concat();
    refused_with(1, &args, &["hero.0002.usdc is a clip of hero.usda"]);
    // A file of its own harms nobody.
    bake(&input, &out, &["--frames", "1:2"]);
    // Whoever has removed that bake may have the name.
    std::fs::remove_dir_all(bench.path("hero_clips")).unwrap();
    bake(&input, &out, &cut);
}
