//! What was finished before a kill is kept, and the whole comes out the same.

use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::bench::{Folder, count, is_temporary, listing, same_files};
use crate::process::Running;

/// Frames enough for some seconds of a test build, in twelve clips.
const LONG: &str = "--frames 1:96:0.1 --clip-frames 80";

/// Likewise twelve, of which a test needs several whole bakes.
const SHORTER: &str = "--frames 1:48:0.2 --clip-frames 20";

fn line(out: &str, options: &str) -> String {
    format!("bake hatchling.usda -o {out} --backend cpu --quiet {options}")
}

fn start(folder: &Folder, out: &str, options: &str) -> Running {
    Running::start(folder, &line(out, options))
}

/// Clips that have their names.
fn finished(clips: &Path) -> usize {
    let is_there = |n: &usize| clips.join(format!("hero.{n:04}.usdc")).exists();
    (1..).take_while(is_there).count()
}

fn changed(file: &Path) -> SystemTime {
    file.metadata().unwrap().modified().unwrap()
}

/// Four bakes are killed twice each; the second kill comes while the bake goes on.
pub fn after_kills() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("whole")).unwrap();
    folder.run(0, &line("whole/hero.usdc", SHORTER));
    let resumed = format!("{SHORTER} --resume");
    let mut random = common::rng::Rng::new(6);
    for trial in 0..4 {
        let name = format!("killed_{trial}");
        let killed = folder.path(&name);
        std::fs::create_dir(&killed).unwrap();
        let out = format!("{name}/hero.usdc");
        let clips = killed.join("hero_clips");
        let mut kills = 0;
        for most in [1 + trial, 4 + 2 * trial] {
            let mut bake = start(&folder, &out, &resumed);
            bake.wait("so far", |_| finished(&clips) >= most);
            std::thread::sleep(Duration::from_micros(random.below(40_000) as u64));
            if !bake.is_over() {
                kills += 1;
                bake.kill();
            }
            let is_whole = finished(&clips) == 12;
            assert!(is_whole || !folder.path(&out).exists(), "the stage is last");
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
    let terminate = |bake: Running| {
        bake.signal(libc::SIGTERM);
        assert_eq!(bake.end().code, Some(130));
    };
    let clips = folder.path("hero_clips");
    let mut bake = start(&folder, "hero.usdc", LONG);
    bake.wait("two clips", |_| finished(&clips) >= 2);
    terminate(bake);
    assert!(!folder.path("hero.usdc").exists());
    assert!(finished(&clips) >= 2);
    assert!(!listing(&clips).keys().any(|file| is_temporary(file)));
    // Before the first clip is whole, the folder goes too.
    let mut bake = start(&folder, "none.usdc", "--frames 1:96:0.1 --clip-frames 960");
    let none = folder.path("none_clips");
    bake.wait("a folder", |_| none.exists());
    terminate(bake);
    assert!(!none.exists());
}

/// A re-bake that is killed is not taken for a finished one.
pub fn a_rebake_removes_the_old_stage() {
    let folder = Folder::new();
    let out = folder.path("hero.usdc");
    let clips = folder.path("hero_clips");
    let clip = |n: usize| clips.join(format!("hero.{n:04}.usdc"));
    let kill = |mut bake: Running| {
        assert!(!bake.is_over(), "it ended before");
        bake.kill();
        // What it was writing.
        for file in folder.listing().keys().filter(|file| is_temporary(file)) {
            std::fs::remove_file(folder.path(file.to_str().unwrap())).unwrap();
        }
    };
    folder.run(0, &line("hero.usdc", SHORTER));
    let first = folder.listing();
    // The same once more gives the same clips, so OUT is good throughout.
    let before = changed(&clip(2));
    let mut bake = start(&folder, "hero.usdc", SHORTER);
    bake.wait("a second clip", |_| changed(&clip(2)) != before);
    kill(bake);
    assert!(folder.listing() == first);
    // Another one has its own, whoever bakes them.
    for more in [
        "--space world",
        "--space skel --resume",
        "--rigid points --shard 2/3",
    ] {
        assert!(out.exists());
        let before = std::fs::read(clip(5)).unwrap();
        let mut bake = start(&folder, "hero.usdc", &format!("{SHORTER} {more}"));
        bake.wait("the old stage", |_| {
            // Read first: what is removed meanwhile is told by the next look.
            let now = std::fs::read(clip(5)).unwrap();
            let is_gone = !out.exists();
            assert!(is_gone || now == before, "a stage is over its own clips");
            is_gone
        });
        kill(bake);
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
