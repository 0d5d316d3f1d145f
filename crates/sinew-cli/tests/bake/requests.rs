//! Requests that the command refuses itself, and the exit codes and advice that it gives for errors of the library.

use crate::bench::{Folder, rows};
use common::command::{stderr, stdout};

pub fn nonsense_is_refused() {
    let folder = Folder::new();
    let before = folder.listing();
    let no_gpu = common::gpu::ignored();
    for row in rows(include_str!("requests.txt")) {
        let [code, line, words] = row[..] else {
            panic!("{row:?}");
        };
        // Some of them open a device first.
        if no_gpu && line.starts_with("render") {
            continue;
        }
        let told = stderr(&folder.run(code.parse().unwrap(), line));
        for word in words.split(", ") {
            assert!(told.contains(word), "{line}: '{told}' should say '{word}'");
        }
        assert!(folder.listing() == before, "{line}");
    }
}

/// One bake to each format ends well, and prints how many files it wrote.
pub fn every_format_is_written() {
    let folder = Folder::new();
    for (line, first) in [
        ("-o a.usda", "a.usda"),
        ("-o a.usdc --layer", "a.usdc"),
        ("-o a.usdz", "a.usdz"),
        ("-o clips.usdc --clip-frames 1", "clips.usdc"),
        ("-o made/a.####.obj", "made/a.0001.obj"),
        ("-o a.pc2 --prim /Hatchling/Geo/WingL", "a.pc2"),
        ("-o a.exr --vat-values position", "a.exr"),
        ("-o a.png --vat-bits 8", "a.png"),
        (
            "-o a.bones.exr --bone-values dual-quaternion",
            "a.bones.exr",
        ),
    ] {
        let line = format!("bake hatchling.usda --backend cpu --frames 1:2 {line}");
        let report = folder.json(0, &line);
        let files = report["files"].as_array().unwrap();
        assert_eq!(files[0], *first, "{line}");
        for file in files {
            assert!(
                folder.path(file.as_str().unwrap()).exists(),
                "{line}: {file}"
            );
        }
    }
    let told = stdout(&folder.run(
        0,
        "bake hatchling.usda -o b.usdc --frames 1:4 --clip-frames 2",
    ));
    assert!(told.contains("2 clips baked"), "{told}");
    let again = "bake hatchling.usda -o b.usdc --frames 1:4 --clip-frames 2 --resume";
    let told = stdout(&folder.run(0, again));
    assert!(told.contains("2 kept"), "{told}");
    let help = stdout(&folder.run(0, "bake --help"));
    for example in ["hero.####.obj", "hero.pc2", "hero.exr", "hero.png"] {
        assert!(help.contains(example), "{help}");
    }
    let help = stdout(&folder.run(0, "render --help"));
    assert!(help.contains("sinew render hero.glb"), "{help}");
}

/// Names in clips do nothing to a terminal: of the stitch, and of a bake that goes on.
pub fn what_clips_say_does_nothing_to_a_terminal() {
    let folder = Folder::new();
    let line = "bake hatchling.usda -o a.usdc --backend cpu --frames 1:2 --clip-frames 2";
    folder.run(0, line);
    let clip = folder.path("a_clips/a.0001.usdc");
    let mut bytes = std::fs::read(&clip).unwrap();
    let place = bytes.windows(5).position(|w| w == b"cpu (").unwrap();
    bytes[place..place + 3].copy_from_slice(b"\x1b[A");
    std::fs::write(&clip, bytes).unwrap();
    let stitch = line.replace("--backend cpu", "--stitch");
    let told = stdout(&folder.run(0, &stitch));
    assert!(told.contains(r"ran on \u{1b}[A ("), "{told}");
    let again = stderr(&folder.run(0, &format!("{line} --resume")));
    assert!(
        again.contains(r"\u{1b}[A (") && !again.contains('\x1b'),
        "{again}"
    );
}
