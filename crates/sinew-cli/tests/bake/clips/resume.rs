//! What was finished before a kill is kept, and the whole comes out the same.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::clips::bench::{bake, count, example, files, is_temporary, project, same_files};
use common::command::{Bench, sinew, stderr};

/// Frames enough for some seconds of a test build, in twelve clips.
const LONG: [&str; 4] = ["--frames", "1:96:0.1", "--clip-frames", "80"];

fn start(input: &Path, out: &Path, options: &[&[&str]]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_sinew"))
        .arg("bake")
        .args([input, Path::new("-o"), out])
        .args(["--backend", "cpu", "--quiet"])
        .args(options.concat())
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Clips that have their names.
fn finished(out: &Path) -> usize {
    let stem = out.file_stem().unwrap().to_str().unwrap();
    let folder = out.with_file_name(format!("{stem}_clips"));
    (1..)
        .take_while(|n| folder.join(format!("{stem}.{n:04}.usdc")).exists())
        .count()
}

/// Likewise twelve, of which a test needs several whole bakes.
const SHORTER: [&str; 4] = ["--frames", "1:48:0.2", "--clip-frames", "20"];

/// Against hangs, also on a machine whose processors and disk other work takes.
const PATIENCE: Duration = Duration::from_secs(600);

/// Waits until so many clips are there and a moment more; whether the process was still at work then.
fn kill_at(child: &mut Child, out: &Path, clips: usize, moment: Duration, signal: &str) -> bool {
    let start = Instant::now();
    while finished(out) < clips && child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < PATIENCE, "it never came so far");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(moment);
    let at_work = child.try_wait().unwrap().is_none();
    let id = child.id().to_string();
    let kill = Command::new("kill")
        .args([signal, &id])
        .stderr(Stdio::null())
        .status();
    assert!(kill.unwrap().success() || !at_work);
    child.wait().unwrap();
    at_work
}

pub fn after_kills() {
    let bench = Bench::new();
    let whole = bench.path("whole");
    std::fs::create_dir(&whole).unwrap();
    bake(&example(), &whole.join("hero.usdc"), &LONG);
    let mut random = common::rng::Rng::new(6);
    for trial in 0..4 {
        let folder = bench.path(&format!("killed_{trial}"));
        std::fs::create_dir(&folder).unwrap();
        let out = folder.join("hero.usdc");
        let mut kills = 0;
        // The second one comes while it goes on.
        for clips in [1 + trial, 4 + 2 * trial] {
            let mut child = start(&example(), &out, &[&LONG, &["--resume"]]);
            let moment = Duration::from_micros(random.below(40_000) as u64);
            kills += usize::from(kill_at(&mut child, &out, clips, moment, "-KILL"));
            assert!(
                !out.exists() || finished(&out) == 12,
                "the stage comes last"
            );
        }
        let there = finished(&out);
        let clip = folder.join("hero_clips/hero.0001.usdc");
        let changed = |file: &Path| -> SystemTime { file.metadata().unwrap().modified().unwrap() };
        let before = changed(&clip);
        let report = bake(&example(), &out, &[&LONG[..], &["--resume"]].concat());
        assert!(kills > 0 && there > 0, "{kills} kills, {there} clips");
        assert_eq!(count(&report, "kept"), there as u64);
        assert_eq!(count(&report, "of"), 12);
        assert_eq!(changed(&clip), before, "what is whole is not touched");
        same_files(&whole, &folder);
        // The clip that was being written has no remains.
        let entries = std::fs::read_dir(folder.join("hero_clips")).unwrap();
        let remains = entries.filter(|e| is_temporary(&e.as_ref().unwrap().path()));
        assert_eq!(remains.count(), 0);
    }
}

/// SIGTERM, as schedulers send it first.
pub fn interrupt() {
    let bench = Bench::new();
    let out = bench.path("hero.usdc");
    let mut child = start(&example(), &out, &[&LONG]);
    assert!(kill_at(&mut child, &out, 2, Duration::ZERO, "-TERM"));
    assert!(!out.exists());
    let entries = std::fs::read_dir(bench.path("hero_clips")).unwrap();
    let names: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    assert!(
        names.len() >= 2 && !names.iter().any(|f| is_temporary(f)),
        "{names:?}"
    );
    // Before the first clip is whole, the folder goes too.
    let out = bench.path("none.usdc");
    let mut child = start(&example(), &out, &[&LONG[..2], &["--clip-frames", "960"]]);
    let folder = bench.path("none_clips");
    let start = Instant::now();
    while !folder.exists() && child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < PATIENCE, "it never began");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(kill_at(&mut child, &out, 0, Duration::ZERO, "-TERM"));
    assert!(!folder.exists());
}

/// Another input, other options, another clip under the name: baked anew, with the reason; a touched file is the same.
pub fn changed() {
    let bench = Bench::new();
    let input = bench.write("in.usda", std::fs::read(example()).unwrap());
    let out = bench.path("out.usdc");
    let short = ["--frames", "1:9", "--clip-frames", "3"];
    let resume = [&short[..], &["--resume"]].concat();
    bake(&input, &out, &short);
    let first = files(bench.folder.path());
    let all_kept = || {
        let report = bake(&input, &out, &resume);
        assert_eq!((count(&report, "kept"), count(&report, "baked")), (3, 0));
    };
    all_kept();
    bench.write("in.usda", std::fs::read(example()).unwrap());
    all_kept();
    assert_eq!(files(bench.folder.path()), first);
    // The same file by another name.
    let report = bake(&bench.path("./in.usda"), &out, &resume);
    assert_eq!(count(&report, "kept"), 3);

    let anew = |more: &[&str], what: &str| {
        let mut args = vec!["bake", input.to_str().unwrap(), "-o", out.to_str().unwrap()];
        args.extend(["--backend", "cpu"]);
        args.extend(&resume);
        args.extend(more);
        let output = sinew(&args);
        let text = stderr(&output);
        assert!(output.status.success(), "{text}");
        assert_eq!(text.matches("clip-baked-anew").count(), 3, "{text}");
        assert!(text.contains(&format!("with {what} '")), "{text}");
    };
    let with_space = ["--space", "world"];
    anew(&with_space, "options");
    anew(&[], "options");
    assert_eq!(files(bench.folder.path()), first);
    let text = std::fs::read_to_string(&input).unwrap();
    assert!(text.contains("metersPerUnit = "));
    bench.write(
        "in.usda",
        text.replacen("metersPerUnit = ", "metersPerUnit = 1", 1),
    );
    anew(&[], "input");

    // Times between the same first and last ones.
    let stepped = |frames: &str, which: &str| {
        let cut = ["--frames", frames, "--clip-frames", "10", "--resume"];
        count(&bake(&input, &bench.path("steps.usdc"), &cut), which)
    };
    assert_eq!(stepped("1:9:2", "baked"), 1);
    assert_eq!(stepped("1:9:4", "baked"), 1);
    assert_eq!(stepped("1:9:4", "kept"), 1);

    // Clips change places.
    let clip = |n: usize| bench.path(&format!("out_clips/out.{n:04}.usdc"));
    std::fs::rename(clip(2), clip(9)).unwrap();
    std::fs::copy(clip(1), clip(2)).unwrap();
    let report = bake(&input, &out, &resume);
    assert_eq!((count(&report, "kept"), count(&report, "baked")), (2, 1));
    let warnings = report["warnings"].as_array().unwrap();
    let told = |code: &str| warnings.iter().any(|w| w["code"] == code);
    assert!(
        told("clip-baked-anew") && told("clip-left-over"),
        "{report}"
    );
    assert_eq!(
        std::fs::read(clip(2)).unwrap(),
        std::fs::read(clip(9)).unwrap()
    );

    // A layer that the input is composed of counts as the input does.
    let over = bench.write(
        "over.usda",
        "#usda 1.0\n(\n    subLayers = [@./in.usda@]\n)\n",
    );
    let out = bench.path("composed.usdc");
    bake(&over, &out, &short);
    let report = bake(&over, &out, &resume);
    assert_eq!(count(&report, "kept"), 3);
    std::fs::copy(example(), &input).unwrap();
    assert_eq!(count(&bake(&over, &out, &resume), "kept"), 0);

    // And so does a clip of the input.
    for name in [
        "clips_switch.usda",
        "clips_switch_a.usda",
        "clips_switch_b.usda",
        "clips_switch_manifest.usda",
    ] {
        bench.write(
            name,
            std::fs::read(project("tests/goldens").join(name)).unwrap(),
        );
    }
    let out = bench.path("of_clips.usdc");
    let input = bench.path("clips_switch.usda");
    let resume = ["--clip-frames", "4", "--resume"];
    bake(&input, &out, &resume);
    assert_eq!(count(&bake(&input, &out, &resume), "baked"), 0);
    let b = std::fs::read_to_string(bench.path("clips_switch_b.usda")).unwrap();
    bench.write("clips_switch_b.usda", b + "\n# Said anew.\n");
    assert_eq!(count(&bake(&input, &out, &resume), "kept"), 0);
}

/// A re-bake that is killed is not taken for a finished one.
pub fn rebake() {
    let bench = Bench::new();
    let out = bench.path("hero.usdc");
    let clip = |n: usize| bench.path(&format!("hero_clips/hero.{n:04}.usdc"));
    bake(&example(), &out, &SHORTER);
    let first = files(bench.folder.path());
    // The same once more gives the same clips, so OUT is good throughout.
    let before = clip(2).metadata().unwrap().modified().unwrap();
    let mut child = start(&example(), &out, &[&SHORTER]);
    while clip(2).metadata().unwrap().modified().unwrap() == before {
        assert!(child.try_wait().unwrap().is_none());
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(files(bench.folder.path()) == first);
    // Another one has its own, whoever bakes them.
    for more in [
        &["--space", "world"][..],
        &["--space", "skel", "--resume"],
        &["--rigid", "points", "--shard", "2/3"],
    ] {
        assert!(out.exists());
        let before = std::fs::read(clip(5)).unwrap();
        let mut child = start(&example(), &out, &[&SHORTER, more]);
        loop {
            let now = std::fs::read(clip(5)).unwrap();
            if !out.exists() {
                break;
            }
            assert!(now == before, "a stage that is there is over its own clips");
            assert!(child.try_wait().unwrap().is_none());
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!out.exists());
        bake(&example(), &out, &[&SHORTER[..], &["--resume"]].concat());
    }
    assert!(files(bench.folder.path()) == first);
    // What is refused or fails before that leaves it.
    bench.write("hero_clips/hero.0012.usdc", "mine");
    let args = ["bake", "--quiet", "--space", "world", "--backend", "cpu"];
    let input = example();
    let names = [input.to_str().unwrap(), "-o", out.to_str().unwrap()];
    let output = sinew(&[&args[..], &names, &SHORTER].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(std::fs::read(&out).unwrap() == first[Path::new("hero.usdc")]);
}

/// What kill -9 has left of any file of a bake is gone with the next one of the same OUT.
pub fn leftovers() {
    let bench = Bench::new();
    let input = example();
    let out = bench.path("hero.usdc");
    let cut = ["--frames", "1:6", "--clip-frames", "2"];
    let shard = |n: &str| drop(bake(&input, &out, &[&cut[..], &["--shard", n]].concat()));
    let all = |more: &[&str]| drop(bake(&input, &out, &[&cut[..], more].concat()));
    all(&[]);
    let whole = files(bench.folder.path());
    let temporary = |file: &Path| {
        let name = file.file_name().unwrap().to_str().unwrap();
        file.with_file_name(format!(".{name}.aZ09bY.sinew.tmp"))
    };
    let clip = |n: usize| PathBuf::from(format!("hero_clips/hero.{n:04}.usdc"));
    let left = |files: &[PathBuf]| {
        let there = files
            .iter()
            .filter(|f| bench.path(f.to_str().unwrap()).exists());
        there.cloned().collect::<Vec<_>>()
    };
    // Those of every file, and of a clip of an earlier bake that had more.
    let of: Vec<PathBuf> = whole.keys().cloned().chain([clip(9)]).collect();
    let ours: Vec<PathBuf> = of.iter().map(|f| temporary(f)).collect();
    let foreign = [
        ".hero.usdc.backup.tmp",
        ".other.usdc.aZ09bY.sinew.tmp",
        "hero_clips/.notes.aZ09bY.sinew.tmp",
        "hero.usdc.tmp",
    ];
    let foreign = foreign.map(PathBuf::from);
    let put = || {
        for file in ours.iter().chain(&foreign) {
            bench.write(file.to_str().unwrap(), "half");
        }
    };
    for more in [&[][..], &["--resume"]] {
        put();
        all(more);
        assert_eq!(left(&ours), Vec::<PathBuf>::new(), "{more:?}");
        assert_eq!(left(&foreign), foreign);
    }
    // A shard clears its own clips', as others may be at work; the stitch what it writes itself, and what is nobody's.
    put();
    shard("2/3");
    let mut others = ours.clone();
    others.retain(|f| *f != temporary(&clip(2)));
    assert_eq!(left(&ours), others);
    bake(&input, &out, &[&cut[..], &["--stitch"]].concat());
    assert_eq!(left(&ours), [temporary(&clip(1)), temporary(&clip(3))]);
    shard("1/3");
    shard("3/3");
    assert_eq!(left(&ours), Vec::<PathBuf>::new());
    assert_eq!(left(&foreign), foreign);
    assert!(files(bench.folder.path()) == whole);
}
