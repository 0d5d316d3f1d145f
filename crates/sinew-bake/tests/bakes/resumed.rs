//! What a bake into clips keeps of an earlier one, what it clears, and whose files it leaves alone.

use std::path::{Path, PathBuf};

use sinew_bake::stitch;

use crate::bench::*;

const SHORT: &str = "frames 1:9 clip-frames 3";

/// The number of clips that a resumed bake keeps.
fn kept(input: &Path, out: &Path, words: &str) -> usize {
    clips(&run(input, out, &format!("{words} resume"))).2
}

/// Another input, other options, another clip under the name: baked anew, with the reason; a touched file is the same.
pub fn what_changed_is_baked_anew() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(hatchling()).unwrap();
    let input = bench.write("in.usda", &text);
    let out = bench.path("out.usdc");
    run(&input, &out, SHORT);
    let first = files(bench.folder.path());
    assert_eq!(kept(&input, &out, SHORT), 3);
    bench.write("in.usda", &text);
    assert_eq!(kept(&input, &out, SHORT), 3);
    assert_eq!(files(bench.folder.path()), first);
    // The same file by another name.
    assert_eq!(kept(&bench.path("./in.usda"), &out, SHORT), 3);

    let anew = |more: &str, what: &str| {
        let report = run(&input, &out, &format!("{SHORT} resume {more}"));
        let told = warnings(&report, "clip-baked-anew");
        let reason = format!("with {what} '");
        assert!(told.iter().all(|w| w.message.contains(&reason)), "{told:?}");
        assert_eq!((told.len(), clips(&report)), (3, (3, 3, 0)));
    };
    anew("space world", "options");
    anew("", "options");
    assert_eq!(files(bench.folder.path()), first);
    let larger = text.replacen("metersPerUnit = ", "metersPerUnit = 1", 1);
    assert_ne!(larger, text);
    bench.write("in.usda", larger);
    anew("", "input");

    // Times between the same first and last ones.
    let stepped = |step: &str| {
        let words = format!("frames 1:9:{step} clip-frames 10");
        kept(&input, &bench.path("steps.usdc"), &words)
    };
    assert_eq!([stepped("2"), stepped("4"), stepped("4")], [0, 0, 1]);

    // Clips change places.
    let clip = |n: usize| bench.path(&format!("out_clips/out.{n:04}.usdc"));
    std::fs::rename(clip(2), clip(9)).unwrap();
    std::fs::copy(clip(1), clip(2)).unwrap();
    let report = run(&input, &out, &format!("{SHORT} resume"));
    assert_eq!(clips(&report), (3, 1, 2));
    for code in ["clip-baked-anew", "clip-left-over"] {
        assert_eq!(warnings(&report, code).len(), 1, "{code}");
    }
    assert!(std::fs::read(clip(2)).unwrap() == std::fs::read(clip(9)).unwrap());

    // A layer that the input is composed of counts as the input does.
    let over = "#usda 1.0\n(\n    subLayers = [@./in.usda@]\n)\n";
    let over = bench.write("over.usda", over);
    let out = bench.path("composed.usdc");
    run(&over, &out, SHORT);
    assert_eq!(kept(&over, &out, SHORT), 3);
    bench.write("in.usda", &text);
    assert_eq!(kept(&over, &out, SHORT), 0);

    // And so does a clip of the input.
    for name in ["", "_a", "_b", "_manifest"] {
        let name = format!("clips_switch{name}");
        std::fs::copy(golden(&name), bench.path(&format!("{name}.usda"))).unwrap();
    }
    let out = bench.path("of_clips.usdc");
    let input = bench.path("clips_switch.usda");
    let words = "clip-frames 4";
    let all = clips(&run(&input, &out, words)).0;
    assert_eq!(kept(&input, &out, words), all);
    let b = std::fs::read_to_string(bench.path("clips_switch_b.usda")).unwrap();
    bench.write("clips_switch_b.usda", b + "\n# Said anew.\n");
    assert_eq!(kept(&input, &out, words), 0);
}

/// What kill -9 has left of any file of a bake is gone with the next one of the same OUT.
pub fn what_a_kill_left_is_cleared() {
    let bench = Bench::new();
    let input = hatchling();
    let out = bench.path("hero.usdc");
    let cut = "frames 1:6 clip-frames 2";
    let bake = |more: &str| drop(run(&input, &out, &format!("{cut} {more}")));
    bake("");
    let whole = files(bench.folder.path());
    let temporary = |file: &Path| {
        let name = file.file_name().unwrap().to_str().unwrap();
        file.with_file_name(format!(".{name}.aZ09bY.sinew.tmp"))
    };
    let clip = |n: usize| PathBuf::from(format!("hero_clips/hero.{n:04}.usdc"));
    let left = |files: &[PathBuf]| -> Vec<PathBuf> {
        let is_there = |f: &&PathBuf| bench.folder.path().join(f).exists();
        files.iter().filter(is_there).cloned().collect()
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
    for more in ["", "resume"] {
        put();
        bake(more);
        assert_eq!(left(&ours), Vec::<PathBuf>::new(), "{more}");
        assert_eq!(left(&foreign), foreign);
    }
    // A shard clears its own clips', as others may be at work; the stitch what it writes itself, and what is nobody's.
    put();
    bake("shard 2/3");
    let mut others = ours.clone();
    others.retain(|f| *f != temporary(&clip(2)));
    assert_eq!(left(&ours), others);
    stitched(&input, &out, cut);
    assert_eq!(left(&ours), [temporary(&clip(1)), temporary(&clip(3))]);
    bake("shard 1/3");
    bake("shard 3/3");
    assert_eq!(left(&ours), Vec::<PathBuf>::new());
    assert_eq!(left(&foreign), foreign);
    assert!(files(bench.folder.path()) == whole);
}

/// Files that somebody else has put under a clip's name.
pub fn foreign_files_stay() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("out_clips")).unwrap();
    bench.write("out_clips/out.0002.usdc", "mine");
    let before = files(bench.folder.path());
    for words in ["clip-frames 10", "clip-frames 10 resume"] {
        let told = ["out.0002.usdc", "no whole clip"];
        refused(&hatchling(), &bench.path("out.usdc"), words, false, &told);
        // Before anything is deformed.
        assert_eq!(files(bench.folder.path()), before);
    }
}

/// Neither as a clip nor as what stands beside clips.
pub fn what_is_read_is_not_written() {
    for name in ["0002", "topology", "manifest"] {
        let bench = Bench::new();
        std::fs::create_dir(bench.path("out_clips")).unwrap();
        let layer = format!("out_clips/out.{name}.usdc");
        run(&hatchling(), &bench.path(&layer), "frames 1:2");
        let below = hatchling();
        let text = format!(
            "#usda 1.0\n(\n    subLayers = [@{}@, @./{layer}@]\n)\n",
            below.display()
        );
        let input = bench.write("in.usda", text);
        let before = files(bench.folder.path());
        let told = ["read from", name];
        refused(&input, &bench.path("out.usdc"), SHORT, false, &told);
        assert!(files(bench.folder.path()) == before);
    }
}

/// Two stages whose names differ in the ending have one folder of clips.
pub fn one_folder_of_two_stages() {
    let bench = Bench::new();
    let input = hatchling();
    let (first, out) = (bench.path("hero.usda"), bench.path("hero.usdc"));
    let cut = "frames 1:6 clip-frames 2";
    let told = ["hero.0002.usdc is a clip of hero.usda", "another name"];
    run(&input, &first, &format!("{cut} shard 2/3"));
    let before = files(bench.folder.path());
    // Also clips that nobody has baked yet, and fewer clips than there are.
    for words in [
        cut,
        &format!("{cut} resume"),
        &format!("{cut} shard 1/3"),
        "frames 1:2 clip-frames 2",
    ] {
        refused(&input, &out, words, false, &told);
    }
    let result = stitch(&input, &out, &options(cut), &mut |_| {});
    is_refused(result, false, &told, "stitch");
    assert!(files(bench.folder.path()) == before);
    run(&input, &first, &format!("{cut} resume"));
    std::fs::remove_file(bench.path("hero_clips/hero.0001.usdc")).unwrap();
    let result = stitch(&input, &out, &options(cut), &mut |_| {});
    is_refused(result, false, &told, "stitch");
    // A file of its own harms nobody.
    run(&input, &out, "frames 1:2");
    // Whoever has removed that bake may have the name.
    std::fs::remove_dir_all(bench.path("hero_clips")).unwrap();
    run(&input, &out, cut);
}

/// The files of a bake into clips in their order, and what it counts.
pub fn what_is_reported() {
    let bench = Bench::new();
    let out = bench.path("out.usdc");
    let report = run(&hatchling(), &out, "frames 1:7 clip-frames 3");
    let layers = ["topology", "manifest", "0001", "0002", "0003"];
    let layers = layers.map(|layer| bench.path(&format!("out_clips/out.{layer}.usdc")));
    let expected: Vec<PathBuf> = [out].into_iter().chain(layers).collect();
    assert_eq!(report.files, expected);
    assert_eq!(clips(&report), (3, 3, 0));
    let one = run(&hatchling(), &bench.path("one.usdc"), "frames 1:7");
    assert!(one.clips.is_none());
    let counts = |r: &sinew_bake::BakeReport| (r.prims, r.shared, r.moved, r.points, r.samples);
    assert_eq!(counts(&report), counts(&one));
    // Frames at the edges of clips are deformed for both.
    assert!(report.deformed_points > one.deformed_points);
}
