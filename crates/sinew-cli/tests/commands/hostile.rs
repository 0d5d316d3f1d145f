//! Files that are made to take a reader down (`tests/data/hostile.txt`, which says what the lines
//! mean): each is an error or a coded warning, soon and in little memory. A process is the place
//! where both can be limited, and where a full stack or memory ends nothing else.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::command::{Bench, executable};
use common::processor;
use common::stages::{Case, Table, repeated, unescaped};
use rayon::prelude::*;

/// What a command may take of all processors, which does not depend on the tests beside it. A build without optimization is
/// slower.
const LIMIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 240 } else { 10 });

/// A command that waits for something takes nothing of a processor: after this time it hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// The commands that read a character: what stands before the file and behind it.
const COMMANDS: [(&str, &[&str]); 5] = [
    ("check", &[]),
    ("inspect", &[]),
    ("bake", &["-o", "out.usdc", "--backend", "cpu"]),
    ("convert", &["-o", "out.usda"]),
    ("render", &["-o", "out.png"]),
];

/// A quarter of the usual stacks: a file that nests a quarter as deep is enough to find a recursion, in a small part of the
/// time.
const SMALL_STACKS: &str = "ulimit -s 2048; export RUST_MIN_STACK=524288; ";

/// Runs the command in the folder with at most 1 GiB: its exit code and what it said. It neither
/// panics, hangs nor is killed.
fn run(bench: &Bench, arguments: &[&str]) -> (i32, String) {
    run_with(bench, arguments, "")
}

fn run_with(bench: &Bench, arguments: &[&str], limits: &str) -> (i32, String) {
    for old in ["out.usdc", "out.usda", "out.png"] {
        let _ = fs::remove_file(bench.path(old));
    }
    let said = File::create(bench.path("said.txt")).unwrap();
    let start = Instant::now();
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(format!("{limits}ulimit -d 1048576; exec \"$0\" \"$@\""))
        .arg(executable())
        .args(arguments)
        // Each thread has a stack: the memory does not depend on the number of processors.
        .envs([("RAYON_NUM_THREADS", "4"), ("LP_NUM_THREADS", "4")])
        .current_dir(bench.folder.path())
        .stdin(Stdio::null())
        .stdout(said.try_clone().unwrap())
        .stderr(said)
        .spawn()
        .unwrap();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        let spent = processor::so_far(child.id()).unwrap_or_default();
        if spent > LIMIT || start.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{arguments:?} takes {spent:?} of a processor, or hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = fs::read(bench.path("said.txt")).unwrap();
    let text = String::from_utf8_lossy(&text).into_owned();
    let is_good = matches!(status.code(), Some(0..=3)) && !text.contains("panicked");
    assert!(is_good, "{arguments:?}: {status} {text}");
    (status.code().unwrap(), text)
}

/// Runs the commands on a file.
fn survives(commands: &[(&str, &[&str])], bench: &Bench, file: &str, limits: &str) {
    for (command, more) in commands {
        run_with(bench, &[&[*command, file], *more].concat(), limits);
    }
}

/// Makes the files of a case, with `target` in place of EACH.
fn make(case: &Case, bench: &Bench, target: &str) {
    for (name, text) in &case.files {
        bench.write(name, repeated(&text.replace("EACH", target)));
    }
    for name in case.all("pipe") {
        let made = Command::new("mkfifo").arg(bench.path(name)).status();
        assert!(made.unwrap().success());
    }
    for line in case.all("sparse") {
        let (name, head) = line.split_once(' ').unwrap_or((line, ""));
        let mut file = File::create(bench.path(name)).unwrap();
        file.write_all(&unescaped(head)).unwrap();
        file.set_len(20 << 30).unwrap();
    }
}

/// `turn` chooses the command that, beside `check`, reads a file that is refused: all read by the same functions.
fn holds(case: &Case, target: &str, turn: usize) {
    let bench = Bench::new();
    make(case, &bench, target);
    let with_target = |text: &str| text.replace("EACH", target);
    for line in case.all("fails") {
        let assets = common::repository().join("examples/assets/");
        let line = with_target(line).replace("ASSETS/", assets.to_str().unwrap());
        let (code, text) = run(&bench, &line.split(' ').collect::<Vec<_>>());
        let name = Path::new(target).file_name().unwrap().to_str().unwrap();
        let mut words = case.one("says").split(", ").chain([name]);
        let is_told = matches!(code, 1 | 2) && words.all(|word| text.contains(word));
        assert!(is_told, "{}, {target}: {code} {text}", case.name);
        assert!(!bench.path("out.usda").exists(), "{}: a file", case.name);
    }
    for line in case.all("done") {
        let (code, text) = run(&bench, &line.split(' ').collect::<Vec<_>>());
        assert_eq!(code, 0, "{}: {text}", case.name);
    }
    let (all, next) = match case.all("check").next() {
        Some(_) => (&COMMANDS[..1], &[][..]),
        None => (&COMMANDS[..], &COMMANDS[1 + turn % 4..][..1]),
    };
    let file = with_target(case.all("file").next().unwrap_or("in.usda"));
    if let Some(words) = case.all("refused").next() {
        let (code, text) = run(&bench, &["check", &file]);
        survives(next, &bench, &file, "");
        let words = with_target(words);
        let mut words = words.split(", ").chain([&*file]);
        let is_told = matches!(code, 1 | 2) && words.all(|word| text.contains(word));
        assert!(is_told, "{}, {target}: {code} {text}", case.name);
    }
    if case.all("survives").next().is_some() {
        survives(all, &bench, &file, "");
    }
}

#[test]
fn files_made_to_exhaust_a_reader() {
    let cases = Table::read("hostile.txt").cases;
    assert!(cases.len() > 40);
    cases.par_iter().enumerate().for_each(|(number, case)| {
        let targets = case.all("each").next().unwrap_or("in.usda");
        let targets = targets.split(" | ").enumerate();
        targets.for_each(|(i, target)| holds(case, target, number + i));
    });
}

/// No command calls itself for every level of prims.
#[test]
fn a_crate_file_may_nest_deep() {
    let bench = Bench::new();
    let mut layer = sinew_layer::Layer::new("deep");
    let path = sinew_layer::Path::parse(&"/a".repeat(5_000)).unwrap();
    layer.create(&path, sinew_layer::SpecKind::Prim);
    let file = File::create(bench.path("deep.usdc")).unwrap();
    sinew_layer::usdc::write_layer(&layer, file).unwrap();
    survives(&COMMANDS, &bench, "deep.usdc", SMALL_STACKS);
}
