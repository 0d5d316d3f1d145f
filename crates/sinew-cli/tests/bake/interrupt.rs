//! Signals sent to commands at work.

use std::collections::BTreeMap;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use common::command::Bench;
use common::processor;
use common::trials::Trial;

/// For a machine whose processors and disk other work takes.
const PATIENCE: Duration = Duration::from_secs(600);

pub fn trials() -> Vec<Trial> {
    let no_gpu = common::gpu::ignored();
    let trials: [common::trials::Named; 7] = [
        (
            "a_signal_while_it_deforms",
            a_signal_while_it_deforms,
            false,
        ),
        ("json_says_it_too", json_says_it_too, false),
        ("a_signal_while_it_writes", a_signal_while_it_writes, false),
        (
            "a_signal_while_it_streams",
            a_signal_while_it_streams,
            false,
        ),
        (
            "a_signal_while_a_gpu_runs",
            a_signal_while_a_gpu_runs,
            no_gpu,
        ),
        ("a_second_one_at_once", a_second_one_at_once, false),
        (
            "ignored_signals_stay_ignored",
            ignored_signals_stay_ignored,
            false,
        ),
    ];
    common::trials::named(trials)
}

/// All files below a folder, with what they hold.
fn listing(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut out = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.clone());
                out.insert(path, None);
            } else {
                out.insert(path.clone(), std::fs::read(&path).ok());
            }
        }
    }
    out
}

fn has_temporary(folder: &Path) -> bool {
    let files = listing(folder);
    files
        .keys()
        .any(|f| f.extension().is_some_and(|e| e == "tmp"))
}

/// Lets signals do what is usual in the command, also where the tests were started to ignore them, as `nohup` does.
fn with_usual_signals(command: &mut Command) -> &mut Command {
    let usual = || {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: this needs nothing of the process.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: it only calls signal, which may be called after fork.
    unsafe { command.pre_exec(usual) }
}

fn start(args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    let mut child = with_usual_signals(&mut command)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Until it catches SIGTERM; before that the signal ends a process that has written nothing.
    let status = format!("/proc/{}/status", child.id());
    wait(&mut child, "to catch signals", || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let caught = text.lines().find_map(|l| l.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|m| u64::from_str_radix(m.trim(), 16).ok());
        caught.is_some_and(|mask| mask & (1 << (15 - 1)) != 0)
    });
    child
}

fn wait(child: &mut Child, what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended before it came {what}"
        );
        assert!(start.elapsed() < PATIENCE, "it never came {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args([name, &id])
            .status()
            .unwrap()
            .success()
    );
}

/// The exit status, which has to come by itself, and what was said.
fn end(mut child: Child) -> (ExitStatus, String) {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it goes on");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    (output.status, String::from_utf8(output.stderr).unwrap())
}

/// A bake of so many samples a frame: few take long to write, and many to deform.
fn long_bake(bench: &Bench, out: &str, step: &str, more: &[&str]) -> Child {
    let input = common::repository().join("examples/assets/hatchling.usda");
    let out = bench.path(out);
    let mut args = vec!["bake", input.to_str().unwrap(), "-o", out.to_str().unwrap()];
    let frames = format!("1:96:{step}");
    args.extend(["--frames", &frames]);
    args.extend(more);
    start(&args)
}

fn a_signal_while_it_deforms() {
    let bench = Bench::new();
    bench.write("old.usdc", "the old file");
    let before = listing(bench.folder.path());
    // Of a processor: a bake of so many samples takes seconds of it.
    for (name, out, milliseconds) in [
        ("-INT", "old.usdc", 0),
        ("-TERM", "new.usda", 150),
        ("-HUP", "new.usdz", 300),
    ] {
        let mut child = long_bake(&bench, out, "0.02", &["--backend", "cpu"]);
        processor::wait_until_spent(&mut child, Duration::from_millis(milliseconds));
        signal(&child, name);
        let (status, said) = end(child);
        assert_eq!(status.code(), Some(130), "{name}: {status}, {said}");
        assert_eq!(said, "interrupted\n");
        assert_eq!(listing(bench.folder.path()), before, "{name}");
    }
}

/// The one object of --json, also if the command is interrupted.
fn json_says_it_too() {
    let bench = Bench::new();
    let child = long_bake(&bench, "out.usdc", "0.02", &["--backend", "cpu", "--json"]);
    signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["exit_code"], 130);
    assert_eq!(json["command"], "bake");
    assert_eq!(json["error"]["message"], "interrupted");
    assert_eq!(listing(bench.folder.path()).len(), 0);
}

/// Samples of a .usdc are on disk before the last is deformed.
fn a_signal_while_it_streams() {
    let bench = Bench::new();
    bench.write("old.usdc", "the old file");
    let before = listing(bench.folder.path());
    for (name, out) in [("-INT", "old.usdc"), ("-TERM", "new.usd")] {
        let mut child = long_bake(&bench, out, "0.005", &["--backend", "cpu"]);
        let folder = bench.folder.path();
        wait(&mut child, "to write many samples", || {
            let files = std::fs::read_dir(folder).unwrap().flatten();
            let mut sizes = files.filter_map(|f| Some(f.metadata().ok()?.len()));
            sizes.any(|size| size > 20 << 20)
        });
        signal(&child, name);
        let (status, said) = end(child);
        assert_eq!(status.code(), Some(130), "{name}: {status}, {said}");
        assert_eq!(listing(folder), before, "{name}");
    }
}

fn a_signal_while_it_writes() {
    let bench = Bench::new();
    bench.write("old.usda", "the old file");
    let before = listing(bench.folder.path());
    for (name, out) in [
        ("-INT", "old.usda"),
        ("-TERM", "new.usda"),
        ("-INT", "made/frames/f.#####.obj"),
        ("-TERM", "c.pc2"),
    ] {
        let mut child = long_bake(&bench, out, "0.25", &["--backend", "cpu"]);
        let folder = bench.folder.path();
        wait(&mut child, "to write", || has_temporary(folder));
        signal(&child, name);
        let (status, said) = end(child);
        assert_eq!(status.code(), Some(130), "{name}: {status}, {said}");
        assert_eq!(listing(folder), before, "{name}");
    }
}

/// Drivers have threads of their own, which nothing is taken from at the end.
fn a_signal_while_a_gpu_runs() {
    let bench = Bench::new();
    for milliseconds in [0, 100, 200, 400] {
        let mut child = long_bake(&bench, "out.usdc", "0.02", &["--adapter", ""]);
        processor::wait_until_spent(&mut child, Duration::from_millis(milliseconds));
        signal(&child, "-INT");
        let (status, said) = end(child);
        assert_eq!(
            status.code(),
            Some(130),
            "after {milliseconds} ms of a processor: {status}, {said}"
        );
        assert!(listing(bench.folder.path()).is_empty());
    }
}

/// Two at once, as an impatient person sends them.
fn a_second_one_at_once() {
    let bench = Bench::new();
    for _ in 0..5 {
        let child = long_bake(&bench, "out.usdc", "0.02", &["--backend", "cpu"]);
        signal(&child, "-INT");
        signal(&child, "-INT");
        let (status, _) = end(child);
        assert_eq!(status.code(), Some(130), "{status}");
    }
}

/// As `nohup` starts it.
fn ignored_signals_stay_ignored() {
    let bench = Bench::new();
    let input = common::repository().join("examples/assets/hatchling.usda");
    let out = bench.path("out.usdc");
    let command = format!(
        "trap '' HUP INT TERM; exec {} bake {} -o {} --backend cpu --frames 1:96 --quiet",
        env!("CARGO_BIN_EXE_sinew"),
        input.display(),
        out.display()
    );
    let child = Command::new("sh").args(["-c", &command]).spawn().unwrap();
    for name in ["-HUP", "-INT", "-TERM", "-HUP", "-INT", "-TERM"] {
        std::thread::sleep(Duration::from_millis(30));
        // It may be done by now.
        let _ = Command::new("kill")
            .args([name, &child.id().to_string()])
            .stderr(Stdio::null())
            .status();
    }
    let status = child.wait_with_output().unwrap().status;
    assert_eq!((status.code(), status.signal()), (Some(0), None));
    assert!(out.exists());
}
