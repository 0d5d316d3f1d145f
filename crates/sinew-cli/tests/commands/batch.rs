//! Folders, globs and several files as the input of one command, with one report.

use std::path::Path;

use common::command::{Bench, sinew, stderr, stdout};
use serde_json::Value;

/// A folder `in` with two good characters, a broken file and one that is no character.
fn bench() -> Bench {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("in")).unwrap();
    let assets = common::repository().join("examples/assets");
    for name in ["hatchling.usda", "puppet.glb"] {
        std::fs::copy(assets.join(name), bench.path("in").join(name)).unwrap();
    }
    bench.write("in/broken.usda", "no layer");
    bench.write("in/notes.txt", "text");
    bench
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn run(bench: &Bench, args: &[&str]) -> (Option<i32>, String, String) {
    let placed: Vec<String> = args
        .iter()
        .map(|arg| match arg.contains('/') {
            true => format!("{}/{arg}", bench.folder.path().display()),
            false => (*arg).to_owned(),
        })
        .collect();
    let placed: Vec<&str> = placed.iter().map(String::as_str).collect();
    let output = sinew(&placed);
    (output.status.code(), stdout(&output), stderr(&output))
}

const SHORT: [&str; 4] = ["--frames", "1:2", "--backend", "cpu"];

/// A folder is baked file by file; a broken file does not end it, and the exit code says so.
#[test]
fn a_folder_goes_on_after_an_error() {
    let bench = bench();
    let args = [&["bake", "in/", "-o", "out/", "--json"][..], &SHORT].concat();
    let (code, text, errors) = run(&bench, &args);
    assert_eq!(code, Some(3), "{errors}");
    assert_eq!(names(&bench.path("out")), ["hatchling.usdc", "puppet.usdc"]);
    assert!(errors.contains("broken.usda"), "{errors}");
    let json: Value = serde_json::from_str(&text).unwrap();
    let ends: Vec<_> = json["files"].as_array().unwrap().iter().collect();
    let codes: Vec<_> = ends.iter().map(|e| e["exit_code"].as_u64()).collect();
    // In the order of their names: broken, hatchling, puppet.
    assert_eq!(codes, [Some(1), Some(0), Some(0)]);
    assert!(
        ends[0]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("broken.usda")
    );
    assert_eq!(ends[1]["prims"], 8);
    assert_eq!(json["counts"]["failed"], 1);
    let whole = [&args[..], &["--allow-partial"]].concat();
    assert_eq!(run(&bench, &whole).0, Some(0));
    // Each file is the one that it becomes alone.
    let (code, ..) = run(
        &bench,
        &[
            &["bake", "in/hatchling.usda", "-o", "./one.usdc"][..],
            &SHORT,
        ]
        .concat(),
    );
    assert_eq!(code, Some(0));
    let [one, of_many] =
        ["one.usdc", "out/hatchling.usdc"].map(|f| std::fs::read(bench.path(f)).unwrap());
    assert!(one == of_many);
}

#[test]
fn globs_and_several_files() {
    let bench = bench();
    let (code, text, errors) = run(
        &bench,
        &["convert", "in/[hp]*", "-o", "glb/", "--to", "glb"],
    );
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(names(&bench.path("glb")), ["hatchling.glb", "puppet.glb"]);
    assert!(
        text.ends_with("2 files: 2 done, 0 partial, 0 failed\n"),
        "{text}"
    );
    let two = ["in/hatchling.usda", "in/puppet.glb"];
    let args = [
        &["bake", two[0], two[1], "-o", "obj/", "--to", "obj"][..],
        &SHORT,
    ]
    .concat();
    assert_eq!(run(&bench, &args).0, Some(0));
    assert!(names(&bench.path("obj")).contains(&"puppet.0002.obj".to_owned()));
    let (code, _, errors) = run(&bench, &["fix", "in/*.usda", "-o", "fixed/"]);
    assert_eq!(code, Some(3), "{errors}");
    assert_eq!(names(&bench.path("fixed")), ["hatchling.usda"]);
    let (code, text, _) = run(&bench, &["check", "in/", "--severity", "error"]);
    assert_eq!(code, Some(2), "one cannot be opened");
    assert!(
        text.contains("puppet.glb") && text.contains("hatchling.usda"),
        "{text}"
    );
    assert!(!text.contains("notes.txt"));
}

/// Wrong arguments are told once, and not for every file.
#[test]
fn wrong_arguments_end_it() {
    let bench = bench();
    let (code, text, errors) = run(&bench, &["bake", "in/", "-o", "out/", "--to", "xyz"]);
    assert_eq!(code, Some(2), "{errors}");
    assert_eq!(errors.matches("error: ").count(), 1, "{errors}");
    assert!(text.is_empty() && !bench.path("out").exists(), "{text}");
    // Of several folders that were made for it none stays; those that were there do.
    std::fs::create_dir(bench.path("mine")).unwrap();
    for (out, first) in [("a/b/c/", "a"), ("mine/b/c/", "mine/b")] {
        let (code, _, errors) = run(&bench, &["bake", "in/", "-o", out, "--to", "xyz"]);
        assert_eq!(code, Some(2), "{errors}");
        assert!(!bench.path(first).exists(), "{out}");
    }
    let (code, ..) = run(&bench, &["bake", "in/", "-o", "mine/", "--to", "xyz"]);
    assert!(code == Some(2) && bench.path("mine").exists());
}

/// One line for each file on stdout, and lines on stderr that say which file they are about. --verbose has the whole
/// reports.
#[test]
fn a_line_for_each_file() {
    let bench = bench();
    std::fs::create_dir(bench.path("v1.2")).unwrap();
    let args = ["bake", "in/hatchling.usda", "in/*", "-o", "./v1.2"];
    let args = [&args[..], &SHORT].concat();
    let (code, text, errors) = run(&bench, &args);
    assert_eq!(code, Some(3), "{errors}");
    // A file that is named twice is baked once; a glob also finds what is no character.
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].contains("in/hatchling.usda -> "), "{text}");
    assert!(
        lines[0].contains("v1.2/hatchling.usdc: 8 prims, 8,110 points, "),
        "{text}"
    );
    assert!(
        lines[0].ends_with("kB") || lines[0].ends_with("MB"),
        "{text}"
    );
    assert_eq!(lines[2], "4 files: 2 done, 0 partial, 2 failed");
    for line in errors.lines() {
        assert!(line.contains("/in/"), "{errors}");
    }
    let verbose = [&args[..], &["--verbose"]].concat();
    let (_, text, _) = run(&bench, &verbose);
    assert!(text.contains("estimated before") && text.contains("ran on"));
    let quiet = [&args[..], &["--quiet"]].concat();
    let (code, text, errors) = run(&bench, &quiet);
    assert_eq!((code, text.as_str()), (Some(3), ""));
    assert_eq!(errors.matches("error: ").count(), 2, "{errors}");
    // Clips alone are no characters to bake.
    let walk = common::repository().join("examples/assets/walk.bvh");
    std::fs::create_dir(bench.path("mixed")).unwrap();
    std::fs::copy(walk, bench.path("mixed/walk.bvh")).unwrap();
    std::fs::copy(bench.path("in/puppet.glb"), bench.path("mixed/puppet.glb")).unwrap();
    let args = [&["bake", "mixed/", "-o", "baked/"][..], &SHORT].concat();
    assert_eq!(run(&bench, &args).0, Some(0));
    assert_eq!(names(&bench.path("baked")), ["puppet.usdc"]);
}

/// What cannot be done is an error before anything is written.
#[test]
fn refusals_come_first() {
    let bench = bench();
    std::fs::copy(bench.path("in/puppet.glb"), bench.path("in/hatchling.glb")).unwrap();
    let before = names(bench.folder.path());
    for (args, code, words) in [
        (vec!["bake", "in/", "-o", "./out.usdc"], 2, "need a folder"),
        (vec!["bake", "in/", "-o", "out/"], 2, "would both become"),
        (vec!["bake", "in/*.abc", "-o", "out/"], 1, "no such file"),
        // 1 would say that a file has errors.
        (vec!["check", "in/*.abc"], 2, "no such file"),
        (
            vec!["bake", "in/puppet.glb", "-o", "./out.usdc", "--to", "obj"],
            2,
            "--to obj: expected a folder",
        ),
        (
            vec!["convert", "in/*.glb", "-o", "out/", "--to", "xyz"],
            2,
            "xyz",
        ),
        (vec!["bake", "in/a[", "-o", "out/"], 2, "not a glob"),
    ] {
        let (found, _, errors) = run(&bench, &args);
        assert_eq!(found, Some(code), "{args:?}: {errors}");
        assert!(errors.contains(words), "{args:?}: {errors}");
    }
    std::fs::create_dir(bench.path("empty")).unwrap();
    let (code, _, errors) = run(&bench, &["convert", "empty/", "-o", "out/"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("in this folder"), "{errors}");
    assert_eq!(run(&bench, &["check", "empty/"]).0, Some(2));
    std::fs::remove_dir(bench.path("empty")).unwrap();
    // If all fail, nothing is left, and the command has failed.
    bench.write("in/other.usda", "no layer");
    let args = ["bake", "in/broken.usda", "in/other.usda", "-o", "out/"];
    assert_eq!(run(&bench, &args).0, Some(1));
    assert_eq!(names(bench.folder.path()), before);
}
