//! `sinew humanoid`: what it writes as glTF, evaluated, is what it writes as USD, skinned by usd-core.

use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

use crate::gltf_eval::converted;
use crate::gltf_eval::play::Play;
use common::command::{sinew, stderr};
use common::gltf_eval::Document;

/// Models with a clip, below SINEW_ASSETS.
pub const PAIRS: &[(&str, &str)] = &[
    ("vrm/Example.vrm", "vrm/three-vrm-test.vrma"),
    ("vrm/modifier_shapekey_vrm1.vrm", "vrm/three-vrm-test.vrma"),
    (
        "vrm/skinned_mesh_parent_vrm1.vrm",
        "vrm/hips_spine_twisting.vrma",
    ),
    ("vrm/smoke_spring.vrm", "vrm/three-vrm-test.vrma"),
];

/// The example's puppet and the clip for any humanoid.
pub fn example() -> (PathBuf, PathBuf) {
    let folder = common::repository().join("examples/assets");
    (folder.join("puppet.glb"), folder.join("bow.glb"))
}

pub fn both_forms(python: &str, model: &Path, clip: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let [gltf, usd] = ["out.glb", "out.usdc"].map(|name| folder.path().join(name));
    for out in [&gltf, &usd] {
        let paths = [model, clip, out].map(|p| p.to_str());
        let [Some(model), Some(clip), Some(out)] = paths else {
            return Err("a path in UTF-8".into());
        };
        let output = sinew(&["humanoid", model, clip, "-o", out]);
        if !output.status.success() {
            return Err(stderr(&output).into());
        }
    }
    let document = Document::open(&gltf);
    // The model's own animations come before it.
    let play = *Play::all(&document).last().ok_or("a clip")?;
    let moves = play.clip().is_some_and(|c| !c.channels.is_empty());
    assert!(moves, "the clip moves nothing");
    converted::same_as(python, play, &usd)
}
