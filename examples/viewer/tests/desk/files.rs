//! Files that are broken, that change, and what the window tells of them.

use std::path::Path;

use libtest_mimic::Failed;
use serde_json::Value;
use sinew_viewer::drops::Intent;

use crate::viewer::Viewer;
use crate::{HATCHLING, Run, check};

pub const TRIALS: &[(&str, Run)] = &[
    ("a_broken_file_is_told_of_and_the_old_one_stays", broken),
    ("errors_show_their_line", lines),
    ("a_changed_file_is_read_again", reload),
    ("a_changed_sublayer_is_read_again", sublayer),
];

const BAD: &str = "#usda 1.0\ndef {";

fn shows(report: &Value, name: &str) -> Result<(), Failed> {
    let file = report["file"].as_str().unwrap_or_default();
    check(file.ends_with(name), || report.to_string())
}

fn is_well(report: &Value) -> Result<(), Failed> {
    check(report["error"].is_null(), || report.to_string())
}

fn tells(report: &Value, words: &str) -> Result<(), Failed> {
    let error = report["error"].as_str().unwrap_or_default();
    check(error.contains(words), || report.to_string())
}

fn broken() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let bad = folder.path().join("bad.usda");
    std::fs::write(&bad, BAD)?;

    // Nothing was shown before: an empty window, with the message.
    let mut viewer = Viewer::open(&[&bad.display().to_string()])?;
    let report = viewer.report();
    tells(&report, "bad.usda")?;
    check(report["file"].is_null(), || report.to_string())?;
    check(viewer.texts().contains("Something failed"), || {
        viewer.texts()
    })?;
    viewer.keys(&["Escape"])?;
    is_well(&viewer.report())?;
    let empty = viewer.texts();
    let invites = !empty.contains("Something failed") && empty.contains("Drop a character here");
    check(invites, || empty)?;

    // Something was: it stays, and goes on playing.
    is_well(&viewer.drop(HATCHLING, Intent::Auto)?)?;
    viewer.time(5.0);
    let good = viewer.picture()?;
    let report = viewer.drop(&bad, Intent::Auto)?;
    tells(&report, "bad.usda")?;
    shows(&report, "hatchling.usda")?;
    viewer.keys(&["Escape"])?;
    viewer.time(9.0);
    let moved = viewer.picture()?.difference(&good);
    check(moved > 500, || "the old file does not move any more".into())?;

    // Files of every kind that cannot be opened.
    for (name, bytes) in [
        ("cut.glb", &b"glTF\x02\0\0\0\xff\xff\0\0"[..]),
        ("none.bvh", b"HIERARCHY\n"),
        ("empty.usdc", b""),
        ("words.usd", b"no character"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes)?;
        tells(&viewer.drop(&path, Intent::Auto)?, name)?;
    }
    // One that is mended is shown.
    std::fs::copy(HATCHLING, folder.path().join("words.usd"))?;
    viewer.until("the mended file is shown", |viewer| {
        is_well(&viewer.report())?;
        shows(&viewer.report(), "words.usd")
    })
}

fn lines() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    // USD, JSON, and a motion.
    let files = [
        (
            "bad.usda",
            "#usda 1.0\ndef Mesh \"M\" {\n    point3f[] points = [(0, 0, zero)]\n}\n",
            "> 3 |     point3f[] points = [(0, 0, zero)]",
        ),
        (
            "bad.gltf",
            "{\n  \"asset\": {\"version\": \"2.0\"},\n  \"nodes\": [ {, ]\n}\n",
            "> 3 |   \"nodes\": [ {, ]",
        ),
        (
            "bad.bvh",
            "HIERARCHY\nROOT Hips\n{\n  OFFSET 0 x 0\n}\n",
            "> 4 |   OFFSET 0 x 0",
        ),
    ];
    let mut viewer = Viewer::open(&[])?;
    for (name, text, line) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, text)?;
        let report = viewer.drop(&path, Intent::Auto)?;
        let lines = report["error_lines"].as_str().unwrap_or_default();
        check(lines.lines().any(|l| l == line), || report.to_string())?;
        check(viewer.texts().contains(line), || viewer.texts())?;
        // Copy takes all of it.
        viewer.press("Copy")?;
        let report = viewer.report();
        let copied = report["copied"].as_str().unwrap_or_default();
        let error = report["error"].as_str().unwrap_or("none");
        check(copied.contains(error) && copied.contains(line), || {
            report.to_string()
        })?;
        check(!report.to_string().contains("/registry/"), || {
            report.to_string()
        })?;
    }
    viewer.press("Close")?;
    is_well(&viewer.report())
}

/// A stage of a hatchling, moved by a transform.
fn moved_hatchling(translate: &str) -> String {
    format!(
        "#usda 1.0\n(\n    upAxis = \"Y\"\n    startTimeCode = 1\n    endTimeCode = 20\n)\ndef Xform \"World\"\n{{\n    \
         double3 xformOp:translate = {translate}\n    uniform token[] xformOpOrder = [\"xformOp:translate\"]\n    \
         def \"Hatchling\" (\n        references = @{HATCHLING}@\n    )\n    {{\n    }}\n}}\n"
    )
}

fn reload() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("moved.usda");
    std::fs::write(&file, moved_hatchling("(0, 0, 0)"))?;
    let mut viewer = Viewer::open(&[&file.display().to_string()])?;
    viewer.time(7.0);
    let before = viewer.picture()?;
    check(before.report["loads"] == 1, || before.report.to_string())?;

    // Written in place: the camera stays, so that the move is seen. The file may be read before it is whole, and then again.
    std::fs::write(&file, moved_hatchling("(0.3, 0.2, 0)"))?;
    viewer.until("the moved file", |viewer| {
        let after = viewer.picture()?;
        is_well(&after.report)?;
        check(after.difference(&before) > 1000, || "nothing moved".into())
    })?;
    let (report, was) = (viewer.report(), &before.report);
    let stays = report["clip_from_world"] == was["clip_from_world"];
    check(report["time"] == 7.0 && stays, || report.to_string())?;

    // Broken by an editor, then replaced by a whole one, as editors save.
    std::fs::write(&file, BAD)?;
    viewer.until("the error is told", |viewer| {
        tells(&viewer.report(), "moved.usda")
    })?;
    shows(&viewer.report(), "moved.usda")?;
    let beside = folder.path().join("moved.usda.new");
    let replace = |file: &Path, text: &str| {
        std::fs::write(&beside, text)?;
        std::fs::rename(&beside, file)
    };
    replace(&file, &moved_hatchling("(0, 0, 0)"))?;
    viewer.until("the file is whole again", |viewer| {
        let back = viewer.picture()?;
        is_well(&back.report)?;
        check(back.difference(&before) < 50, || "another picture".into())
    })?;

    // After a drop that failed, what is shown is still followed, and so is what was dropped.
    let bad = folder.path().join("bad.usda");
    for (name, changed) in [("moved.usda", &file), ("bad.usda", &bad)] {
        replace(&bad, BAD)?;
        let report = viewer.drop(&bad, Intent::Auto)?;
        tells(&report, "bad.usda")?;
        shows(&report, "moved.usda")?;
        replace(changed, &moved_hatchling("(0.3, 0.2, 0)"))?;
        viewer.until("the other file is followed", |viewer| {
            is_well(&viewer.report())?;
            shows(&viewer.report(), name)
        })?;
    }
    Ok(())
}

fn sublayer() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("root.usda");
    std::fs::write(&root, "#usda 1.0\n(\n    subLayers = [@./below.usda@]\n)\n")?;
    let below = folder.path().join("below.usda");
    std::fs::write(&below, moved_hatchling("(0, 0, 0)"))?;
    let mut viewer = Viewer::open(&[&root.display().to_string()])?;
    viewer.keys(&["Home"])?;
    let before = viewer.picture()?;
    std::fs::write(&below, moved_hatchling("(0.4, 0, 0)"))?;
    viewer.until("the moved sublayer", |viewer| {
        let after = viewer.picture()?;
        is_well(&after.report)?;
        check(after.report["loads"].as_u64() >= Some(2), || {
            after.report.to_string()
        })?;
        check(after.difference(&before) > 1000, || "nothing moved".into())
    })
}
