//! Signals sent to commands at work.

use std::ops::RangeInclusive;
use std::time::Duration;

use libc::{SIGHUP, SIGINT, SIGTERM};

use crate::bench::{Folder, is_temporary, listing};
use crate::process::{Ended, Running, SIGNALS};

/// A bake of so many samples a frame: few take long to write, and many to deform.
fn long_bake(folder: &Folder, out: &str, step: f64, more: &str) -> Running {
    let line = format!("bake hatchling.usda -o {out} --frames 1:96:{step} {more}");
    Running::start(folder, &line)
}

/// A folder with outputs of earlier bakes.
fn folder() -> Folder {
    let folder = Folder::new();
    for old in ["old.usdc", "old.usda"] {
        folder.0.write(old, "the old file");
    }
    folder
}

/// `notes`: how often the bake may have said before how much it will write.
fn is_interrupted(ended: &Ended, notes: RangeInclusive<usize>) {
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    let said = ended.stderr.strip_suffix("interrupted\n");
    let said = said.unwrap_or_else(|| panic!("{}", ended.stderr));
    let found = said.lines().filter(|l| l.starts_with("note: about "));
    assert!(
        notes.contains(&found.count()) && said.lines().count() <= 1,
        "{said}"
    );
}

/// Sends each signal to a bake that has come so far; it says so and leaves everything as it was.
/// `least`: 0 if a signal may come before anything is said, otherwise 1.
fn interrupted(
    step: f64,
    runs: &[(i32, &str)],
    least: usize,
    mut so_far: impl FnMut(&mut Running, &Folder),
) {
    let folder = folder();
    let before = folder.listing();
    for (signal, out) in runs {
        let mut bake = long_bake(&folder, out, step, "--backend cpu");
        so_far(&mut bake, &folder);
        bake.signal(*signal);
        // The points of a .pc2 are less than 100 MB.
        let most = usize::from(*out != "c.pc2");
        is_interrupted(&bake.end(), least.min(most)..=most);
        assert!(folder.listing() == before, "{out}");
    }
}

pub fn a_signal_while_it_deforms() {
    let runs = [
        (SIGINT, "old.usdc"),
        (SIGTERM, "new.usda"),
        (SIGHUP, "new.usdz"),
    ];
    // Of a processor: a bake of so many samples takes seconds of it.
    let mut times = [0, 150, 300].into_iter();
    interrupted(0.02, &runs, 0, |bake, _| {
        bake.wait_until_spent(times.next().unwrap());
    });
}

/// Samples of a .usdc are on disk before the last is deformed.
pub fn a_signal_while_it_streams() {
    let runs = [(SIGINT, "old.usdc"), (SIGTERM, "new.usd")];
    interrupted(0.005, &runs, 1, |bake, folder| {
        bake.wait("to write many samples", |_| {
            let files = std::fs::read_dir(folder.0.folder.path()).unwrap().flatten();
            let mut sizes = files.filter_map(|f| Some(f.metadata().ok()?.len()));
            sizes.any(|size| size > 20 << 20)
        });
    });
}

pub fn a_signal_while_it_writes() {
    let runs = [
        (SIGINT, "old.usda"),
        (SIGTERM, "new.usda"),
        (SIGINT, "made/frames/f.#####.obj"),
        (SIGTERM, "c.pc2"),
    ];
    interrupted(0.25, &runs, 1, |bake, folder| {
        bake.wait("to write", |_| {
            let files = listing(folder.0.folder.path());
            files.keys().any(|f| is_temporary(f))
        });
    });
}

/// Killed at any moment, the bake leaves the file that was there.
pub fn a_kill_leaves_the_old_file() {
    let folder = folder();
    for milliseconds in [10, 50, 150, 400] {
        // Far more samples than it can write before it is killed.
        let mut bake = long_bake(&folder, "old.usda", 0.02, "--backend cpu");
        bake.wait_until_spent(milliseconds);
        bake.signal(libc::SIGKILL);
        assert_eq!(bake.end().signal, Some(libc::SIGKILL));
        let old = std::fs::read(folder.path("old.usda")).unwrap();
        assert_eq!(old, b"the old file", "after {milliseconds} ms");
    }
}

/// The one object of --json, also if the command is interrupted.
pub fn json_says_it_too() {
    let folder = folder();
    let before = folder.listing();
    let bake = long_bake(&folder, "out.usdc", 0.02, "--backend cpu --json");
    bake.signal(SIGTERM);
    let ended = bake.end();
    assert_eq!(ended.code, Some(130));
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(json["exit_code"], 130);
    assert_eq!(json["command"], "bake");
    assert_eq!(json["error"]["message"], "interrupted");
    assert!(folder.listing() == before);
}

/// Drivers have threads of their own, which nothing is taken from at the end.
pub fn a_signal_while_a_gpu_runs() {
    let folder = folder();
    let before = folder.listing();
    for milliseconds in [0, 100, 200, 400] {
        let mut bake = long_bake(&folder, "out.usdc", 0.02, "--backend gpu");
        bake.wait_until_spent(milliseconds);
        bake.signal(SIGINT);
        let ended = bake.end();
        assert_eq!(ended.code, Some(130), "{milliseconds} ms: {}", ended.stderr);
        assert!(folder.listing() == before);
    }
}

/// Two at once, as an impatient person sends them.
pub fn a_second_one_at_once() {
    let folder = folder();
    for _ in 0..5 {
        let bake = long_bake(&folder, "out.usdc", 0.02, "--backend cpu");
        bake.signal(SIGINT);
        bake.signal(SIGINT);
        assert_eq!(bake.end().code, Some(130));
    }
}

/// As `nohup` starts it.
pub fn ignored_signals_stay_ignored() {
    let folder = folder();
    let line = "bake hatchling.usda -o out.usdc --backend cpu --frames 1:96 --quiet";
    let mut bake = Running::spawn(folder.command(line), libc::SIG_IGN);
    // By then its handlers are set.
    bake.wait_until_spent(50);
    for signal in SIGNALS.repeat(2) {
        std::thread::sleep(Duration::from_millis(30));
        // It may be done by now.
        if !bake.is_over() {
            assert!(bake.has_in_mask("SigIgn:", signal) || bake.is_over());
            bake.signal(signal);
        }
    }
    let ended = bake.end();
    assert_eq!((ended.code, ended.signal), (Some(0), None));
    assert!(folder.path("out.usdc").exists());
}
