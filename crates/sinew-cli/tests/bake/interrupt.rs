//! Signals sent to commands at work.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::bench::{Folder, is_temporary};
use common::processor;

/// For a machine whose processors and disk other work takes.
const PATIENCE: Duration = Duration::from_secs(600);

/// Starts the command, and waits until it catches SIGTERM; before that the signal ends a process that has written nothing.
///
/// It yields the processors to the tests, so that a test that waits for something sees it before the work is done, also on a
/// busy machine. Signals do what is usual, also where the tests were started to ignore them, as `nohup` does.
pub fn at_work(folder: &Folder, line: &str) -> Child {
    let usual = || {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: this needs nothing of the process.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        // SAFETY: as above. At 19 it would stand still beside other programs that keep the processors busy.
        unsafe { libc::nice(5) };
        Ok(())
    };
    let mut command = folder.command(line);
    // SAFETY: it only calls signal and nice, which may be called after fork.
    unsafe { command.pre_exec(usual) };
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    wait(&mut child, "to catch signals", |child| {
        has_in_mask(child.id(), "SigCgt:", libc::SIGTERM)
    });
    child
}

/// Whether a mask of a process holds a signal.
fn has_in_mask(process: u32, mask: &str, signal: i32) -> bool {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let found = text.lines().find_map(|l| l.strip_prefix(mask));
    let found = found.and_then(|m| u64::from_str_radix(m.trim(), 16).ok());
    found.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

/// Waits until something is so, while the process is at work.
pub fn wait(child: &mut Child, what: &str, mut done: impl FnMut(&Child) -> bool) {
    let start = Instant::now();
    while !done(child) {
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "it ended before it came {what}");
        assert!(start.elapsed() < PATIENCE, "it never came {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let kill = std::process::Command::new("kill")
        .args([name, &id])
        .status();
    assert!(kill.unwrap().success());
}

/// The exit status, which has to come by itself, and what was said.
pub fn end(mut child: Child) -> (ExitStatus, String) {
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
fn long_bake(folder: &Folder, out: &str, step: f64, more: &str) -> Child {
    let line = format!("bake hatchling.usda -o {out} --frames 1:96:{step} {more}");
    at_work(folder, &line)
}

/// Sends each signal to a bake that has come so far; it says so and leaves everything as it was.
fn interrupted(step: f64, runs: &[(&str, &str)], mut so_far: impl FnMut(&mut Child, &Path, usize)) {
    let folder = Folder::new();
    for old in ["old.usdc", "old.usda"] {
        folder.0.write(old, "the old file");
    }
    let before = folder.listing();
    for (i, (name, out)) in runs.iter().enumerate() {
        let mut child = long_bake(&folder, out, step, "--backend cpu");
        so_far(&mut child, folder.0.folder.path(), i);
        signal(&child, name);
        let (status, said) = end(child);
        assert_eq!(status.code(), Some(130), "{name}: {status}, {said}");
        assert_eq!(said, "interrupted\n", "{name}");
        assert!(folder.listing() == before, "{name}");
    }
}

pub fn a_signal_while_it_deforms() {
    let runs = [
        ("-INT", "old.usdc"),
        ("-TERM", "new.usda"),
        ("-HUP", "new.usdz"),
    ];
    // Of a processor: a bake of so many samples takes seconds of it.
    interrupted(0.02, &runs, |child, _, i| {
        processor::wait_until_spent(child, i as u32 * Duration::from_millis(150));
    });
}

/// Samples of a .usdc are on disk before the last is deformed.
pub fn a_signal_while_it_streams() {
    let runs = [("-INT", "old.usdc"), ("-TERM", "new.usd")];
    interrupted(0.005, &runs, |child, folder, _| {
        wait(child, "to write many samples", |_| {
            let files = std::fs::read_dir(folder).unwrap().flatten();
            let mut sizes = files.filter_map(|f| Some(f.metadata().ok()?.len()));
            sizes.any(|size| size > 20 << 20)
        });
    });
}

pub fn a_signal_while_it_writes() {
    let runs = [
        ("-INT", "old.usda"),
        ("-TERM", "new.usda"),
        ("-INT", "made/frames/f.#####.obj"),
        ("-TERM", "c.pc2"),
    ];
    interrupted(0.25, &runs, |child, folder, _| {
        let writes = |folder: &Path| {
            let files = crate::bench::listing(folder);
            files.keys().any(|f| is_temporary(f))
        };
        wait(child, "to write", |_| writes(folder));
    });
}

/// The one object of --json, also if the command is interrupted.
pub fn json_says_it_too() {
    let folder = Folder::new();
    let before = folder.listing();
    let child = long_bake(&folder, "out.usdc", 0.02, "--backend cpu --json");
    signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["exit_code"], 130);
    assert_eq!(json["command"], "bake");
    assert_eq!(json["error"]["message"], "interrupted");
    assert!(folder.listing() == before);
}

/// Drivers have threads of their own, which nothing is taken from at the end.
pub fn a_signal_while_a_gpu_runs() {
    let folder = Folder::new();
    let before = folder.listing();
    for milliseconds in [0, 100, 200, 400] {
        let mut child = long_bake(&folder, "out.usdc", 0.02, "--backend gpu");
        processor::wait_until_spent(&mut child, Duration::from_millis(milliseconds));
        signal(&child, "-INT");
        let (status, said) = end(child);
        assert_eq!(
            status.code(),
            Some(130),
            "{milliseconds} ms: {status}, {said}"
        );
        assert!(folder.listing() == before);
    }
}

/// Two at once, as an impatient person sends them.
pub fn a_second_one_at_once() {
    let folder = Folder::new();
    for _ in 0..5 {
        let child = long_bake(&folder, "out.usdc", 0.02, "--backend cpu");
        signal(&child, "-INT");
        signal(&child, "-INT");
        let (status, _) = end(child);
        assert_eq!(status.code(), Some(130), "{status}");
    }
}

/// As `nohup` starts it.
pub fn ignored_signals_stay_ignored() {
    let folder = Folder::new();
    let signals = [
        ("-HUP", libc::SIGHUP),
        ("-INT", libc::SIGINT),
        ("-TERM", libc::SIGTERM),
    ];
    let ignore = move || {
        for (_, signal) in signals {
            // SAFETY: this needs nothing of the process.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
        Ok(())
    };
    let line = "bake hatchling.usda -o out.usdc --backend cpu --frames 1:96 --quiet";
    let mut command = folder.command(line);
    // SAFETY: it only calls signal, which may be called after fork.
    unsafe { command.pre_exec(ignore) };
    // They are ignored when spawn returns: by then it is the command.
    let mut child = command.spawn().unwrap();
    for (name, number) in signals.repeat(2) {
        std::thread::sleep(Duration::from_millis(30));
        // It may be done by now.
        if child.try_wait().unwrap().is_none() {
            let still = has_in_mask(child.id(), "SigIgn:", number);
            assert!(still || child.try_wait().unwrap().is_some(), "{name}");
            signal(&child, name);
        }
    }
    let status = child.wait().unwrap();
    assert_eq!((status.code(), status.signal()), (Some(0), None));
    assert!(folder.path("out.usdc").exists());
}
