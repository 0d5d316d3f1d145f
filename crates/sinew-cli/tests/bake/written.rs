//! What is written and drawn: extents of SkelRoots, the animation source that was chosen, and bakes without findings.

use std::process::Command;

use libtest_mimic::Failed;

use crate::bench::{Folder, project};
use common::command::{stderr, stdout};
use common::usd;

/// A bake leaves nothing that `check` finds, not even with --strict.
pub fn check_finds_nothing_in_a_bake() {
    let folder = Folder::new();
    for (out, more) in [
        ("a.usda", ""),
        ("a.usdc", ""),
        ("a.usdz", ""),
        ("clips.usdc", "--clip-frames 2"),
    ] {
        let options = format!("--backend cpu --frames 1:4 {more}");
        folder.run(0, &format!("bake hatchling.usda -o {out} {options}"));
        folder.run(0, &format!("check {out} --strict"));
    }
}

/// The extent of a SkelRoot encloses what UsdSkel computes at every frame of the clip.
pub fn convert_and_retarget_author_the_extents_of_skel_roots(python: &str) -> Result<(), Failed> {
    let folder = Folder::new();
    folder.0.write("map.json", r#"{"Hips": "root"}"#);
    let mut script = Command::new(python);
    script.arg(project("crates/sinew-cli/tests/bake/extents.py"));
    for (out, line) in [
        ("convert.usda", "convert puppet.glb"),
        ("walk.usdc", "convert walk.bvh"),
        (
            "retarget.usda",
            "retarget walk.bvh hatchling.usda --map map.json",
        ),
        ("moved.usdc", "retarget walk.bvh puppet.glb"),
    ] {
        folder.run(0, &format!("{line} -o {out} --quiet"));
        let out = folder.path(out);
        let scene = sinew_io::open(&out)?.scene(Default::default())?;
        let root = &scene.skel_roots[0].path;
        let extent = usd::vectors(&usd::open(&out), root, "extent", None);
        assert_eq!(extent.unwrap().len(), 2, "{line}");
        script.arg(out);
    }
    let output = script.output()?;
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    Ok(())
}

/// A Skeleton beside the animation source of a mesh, which only the schema's text finds.
const BOUND_BY_THE_MESH: &str = include_str!("bound_by_the_mesh.usda");

pub fn the_animation_source_can_be_chosen_everywhere() {
    let folder = Folder::new();
    folder.0.write("in.usda", BOUND_BY_THE_MESH);
    folder.0.write("map.json", r#"{"A": "A"}"#);
    let binding = "--anim-source binding";
    // The clip is bound only as the schema's text has it.
    let line = "retarget in.usda in.usda -o moved.usda --map map.json";
    let report = folder.json(0, &format!("{line} {binding}"));
    assert_eq!(report["clip"], "/R/Anim");
    for (more, is_told) in [("", true), (binding, false)] {
        let told = stderr(&folder.run(0, &format!("convert in.usda -o c.usda {more}")));
        assert_eq!(told.contains("animation-source-ignored"), is_told, "{told}");
    }
}

pub fn the_animation_source_of_pictures_can_be_chosen() {
    let folder = Folder::new();
    folder.0.write("in.usda", BOUND_BY_THE_MESH);
    // The triangle is at the left, or has left the picture of the first frame's camera. %d is a number.
    for (out, more, is_still) in [
        ("still/%03d.png", "", true),
        ("moved/###.png", "--anim-source binding", false),
    ] {
        let options = format!("--frames 1:3:2 --size 64x64 --no-grid {more}");
        folder.run(0, &format!("render in.usda -o {out} {options}"));
        let (below, _) = out.split_once('/').unwrap();
        let read = |name: &str| std::fs::read(folder.path(below).join(name)).unwrap();
        assert_eq!(read("001.png") == read("003.png"), is_still, "{out}");
    }
}
