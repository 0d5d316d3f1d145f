//! Humanoid clips on models, written as glTF and as USD.

use std::path::Path;

use libtest_mimic::Failed;
use sinew_animate::humanoid::{ApplyOptions, apply_to_all, expressions_to_weights};
use sinew_io::OpenOptions;
use sinew_io::gltf::{GltfEdit, read};
use sinew_io::usd::UsdFile;

use crate::converted;
use crate::eval::Document;
use crate::play::Play;
use common::humanoid::{json_of, keeps};

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

/// What is written as glTF, evaluated, is what is written as USD, skinned by usd-core.
pub fn both_forms(python: &str, file: &Path, clip: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let [gltf, usd] = ["out.glb", "out.usdc"].map(|name| folder.path().join(name));
    let (mut model, source) = (read(file)?, read(clip)?);
    model.make_clip_names_unique();
    let all = apply_to_all(
        &model,
        &source,
        &source.clips[0],
        &ApplyOptions::default(),
        None,
    )?;
    let applied = all.into_applied();
    let mut edit = GltfEdit::open(file)?;
    edit.add_clip(&model, &expressions_to_weights(&model, &applied.clip))?;
    edit.save(&gltf)?;
    keeps(&json_of(file), &json_of(&gltf));
    let asset = applied.into_asset(model);
    UsdFile::from_asset(&asset, &OpenOptions::default())?.save_as(&usd)?;
    let document = Document::open(&gltf);
    // The model's own animations come before it.
    let play = *Play::all(&document).last().ok_or("a clip")?;
    let moves = play.clip().is_some_and(|c| !c.channels.is_empty());
    assert!(moves, "the clip moves nothing");
    converted::same_as(python, play, &usd)
}
