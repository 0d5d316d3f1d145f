//! What was finished before a kill is kept, and the whole comes out the same.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, SystemTime};

use crate::bench::{Folder, count, is_temporary, listing, same_files};
use crate::interrupt::{at_work, end, signal, wait};

/// Frames enough for some seconds of a test build, in twelve clips.
const LONG: &str = "--frames 1:96:0.1 --clip-frames 80";

/// Likewise twelve, of which a test needs several whole bakes.
const SHORTER: &str = "--frames 1:48:0.2 --clip-frames 20";

fn line(out: &str, options: &str) -> String {
    format!("bake hatchling.usda -o {out} --backend cpu --quiet {options}")
}

/// A bake that leaves the processors to this test while it is watched.
fn start(folder: &Folder, out: &str, options: &str) -> Child {
    at_work(folder, &line(out, options))
}

/// Clips that have their names.
fn finished(clips: &Path) -> usize {
    let is_there = |n: &usize| clips.join(format!("hero.{n:04}.usdc")).exists();
    (1..).take_while(is_there).count()
}

fn changed(file: &Path) -> SystemTime {
    file.metadata().unwrap().modified().unwrap()
}

fn remains(folder: &Path) -> usize {
    let files = listing(folder);
    files.keys().filter(|f| is_temporary(f)).count()
}

/// Four bakes are killed twice each; the second kill comes while the bake goes on.
pub fn after_kills() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("whole")).unwrap();
    folder.run(0, &line("whole/hero.usdc", LONG));
    let resumed = format!("{LONG} --resume");
    let mut random = common::rng::Rng::new(6);
    for trial in 0..4 {
        let name = format!("killed_{trial}");
        let killed = folder.path(&name);
        std::fs::create_dir(&killed).unwrap();
        let out = format!("{name}/hero.usdc");
        let clips = killed.join("hero_clips");
        let mut kills = 0;
        for most in [1 + trial, 4 + 2 * trial] {
            let mut child = start(&folder, &out, &resumed);
            wait(&mut child, "so far", |_| finished(&clips) >= most);
            std::thread::sleep(Duration::from_micros(random.below(40_000) as u64));
            kills += usize::from(child.try_wait().unwrap().is_none());
            child.kill().unwrap();
            child.wait().unwrap();
            let is_whole = finished(&clips) == 12;
            assert!(
                is_whole || !folder.path(&out).exists(),
                "the stage comes last"
            );
        }
        let there = finished(&clips);
        let first = clips.join("hero.0001.usdc");
        let before = changed(&first);
        let report = folder.json(0, &line(&out, &resumed));
        assert!(kills > 0 && there > 0, "{kills} kills, {there} clips");
        assert_eq!((count(&report, "kept"), count(&report, "of")), (there, 12));
        assert_eq!(changed(&first), before, "what is whole is not touched");
        // The clip that was being written has no remains.
        same_files(&folder.path("whole"), &killed);
    }
}

/// SIGTERM, as schedulers send it first.
pub fn an_interrupt_keeps_what_is_whole() {
    let folder = Folder::new();
    let clips = folder.path("hero_clips");
    let mut child = start(&folder, "hero.usdc", LONG);
    wait(&mut child, "two clips", |_| finished(&clips) >= 2);
    signal(&child, "-TERM");
    assert_eq!(end(child).0.code(), Some(130));
    assert!(!folder.path("hero.usdc").exists());
    assert!(finished(&clips) >= 2);
    assert_eq!(remains(&clips), 0);
    // Before the first clip is whole, the folder goes too.
    let mut child = start(&folder, "none.usdc", "--frames 1:96:0.1 --clip-frames 960");
    let none = folder.path("none_clips");
    wait(&mut child, "a folder", |_| none.exists());
    signal(&child, "-TERM");
    assert_eq!(end(child).0.code(), Some(130));
    assert!(!none.exists());
}

/// A re-bake that is killed is not taken for a finished one.
pub fn a_rebake_removes_the_old_stage() {
    let folder = Folder::new();
    let out = folder.path("hero.usdc");
    let clips = folder.path("hero_clips");
    let clip = |n: usize| clips.join(format!("hero.{n:04}.usdc"));
    let kill = |mut child: Child| {
        assert!(child.try_wait().unwrap().is_none(), "it ended before");
        child.kill().unwrap();
        child.wait().unwrap();
        // What it was writing.
        for (file, _) in folder.listing() {
            if is_temporary(&file) {
                std::fs::remove_file(folder.path(file.to_str().unwrap())).unwrap();
            }
        }
    };
    folder.run(0, &line("hero.usdc", SHORTER));
    let first = folder.listing();
    // The same once more gives the same clips, so OUT is good throughout.
    let before = changed(&clip(2));
    let mut child = start(&folder, "hero.usdc", SHORTER);
    wait(&mut child, "a second clip", |_| changed(&clip(2)) != before);
    kill(child);
    assert!(folder.listing() == first);
    // Another one has its own, whoever bakes them.
    for more in [
        "--space world",
        "--space skel --resume",
        "--rigid points --shard 2/3",
    ] {
        assert!(out.exists());
        let before = std::fs::read(clip(5)).unwrap();
        let mut child = start(&folder, "hero.usdc", &format!("{SHORTER} {more}"));
        wait(&mut child, "the old stage", |_| {
            // Read first: what is removed meanwhile is told by the next look.
            let now = std::fs::read(clip(5)).unwrap();
            let is_gone = !out.exists();
            assert!(is_gone || now == before, "a stage is over its own clips");
            is_gone
        });
        kill(child);
        assert!(!out.exists());
        folder.run(0, &line("hero.usdc", &format!("{SHORTER} --resume")));
    }
    assert!(folder.listing() == first);
    // What is refused or fails before that leaves it.
    folder.0.write("hero_clips/hero.0012.usdc", "mine");
    folder.run(1, &line("hero.usdc", &format!("{SHORTER} --space world")));
    let stage = std::fs::read(&out).unwrap();
    assert!(first[Path::new("hero.usdc")] == Some(stage));
}
