//! Humanoid clips on models, written as glTF and as USD.

use std::path::Path;

use libtest_mimic::Failed;
use sinew_animate::asset::{Asset, AssetClip, TrackTarget};
use sinew_animate::humanoid::{
    Applied, ApplyOptions, apply, apply_to_all, describe, expressions_to_weights,
};
use sinew_animate::retarget::Bone;
use sinew_io::OpenOptions;
use sinew_io::gltf::{GltfEdit, read};
use sinew_io::usd::UsdFile;

use crate::converted;
use crate::eval::Document;
use crate::play::Play;
use common::humanoid::{json_of, keeps, same_clip};
use common::{pose, tolerance};

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

/// Writes the model's file with the clip as one more animation.
fn with_clip(file: &Path, model: &Asset, applied: &Applied, out: &Path) -> Result<(), Failed> {
    let mut edit = GltfEdit::open(file)?;
    edit.add_clip(model, &expressions_to_weights(model, &applied.clip))?;
    edit.save(out)?;
    Ok(())
}

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
    with_clip(file, &model, &applied, &gltf)?;
    let asset = applied.into_asset(model);
    UsdFile::from_asset(&asset, &OpenOptions::default())?.save_as(&usd)?;
    let document = Document::open(&gltf);
    // The model's own animations come before it.
    let play = *Play::all(&document).last().ok_or("a clip")?;
    let moves = play.clip().is_some_and(|c| !c.channels.is_empty());
    assert!(moves, "the clip moves nothing");
    converted::same_as(python, play, &usd)
}

/// Real clips on real models: finite, the hips where the ratio says, rest where nothing moves.
pub fn real_clips_on_real_models(assets: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let manny = folder.path().join("manny.glb");
    let plain = assets.join("kaykit_char/res/models/mannequin_v2/manny_med_mod.gltf");
    let (asset, mut edit) = (read(&plain)?, GltfEdit::open(&plain)?);
    let (bones, _) = sinew_animate::humanoid::bones_by_name(&asset)?;
    edit.describe(&describe(&asset, &bones)?.0)?;
    edit.save(&manny)?;
    let mut models = vec![manny];
    models.extend(common::files::files_of(&assets.join("vrm"), &["vrm"]));
    assert!(models.len() >= 6);
    let mut moved = 0;
    for clip in ["three-vrm-test.vrma", "hips_spine_twisting.vrma"] {
        let source = read(&assets.join("vrm").join(clip))?;
        for file in &models {
            let model = read(file)?;
            let applied = apply(&model, &source, &source.clips[0], &ApplyOptions::default())?;
            moved += moves_as(&source, &model, &applied, file);
            let out = folder.path().join("out.glb");
            with_clip(file, &model, &applied, &out)?;
            let found = read(&out)?;
            let wanted = expressions_to_weights(&model, &applied.clip);
            same_clip(found.clips.last().ok_or("a clip")?, &wanted);
            keeps(&json_of(file), &json_of(&out));
        }
    }
    assert!(moved > 1000, "{moved}");
    Ok(())
}

/// The bones of a model turn as those of the clip's file do; how many turns were compared.
fn moves_as(source: &Asset, model: &Asset, applied: &Applied, file: &Path) -> usize {
    let file = file.display();
    let clip = &source.clips[0];
    let humanoid = &model.humanoids[0].bones;
    let mut moved = 0;
    let (first, last) = clip.range().unwrap();
    for i in 0..=20 {
        let time = first + (last - first) * f64::from(i) / 20.0;
        for (bone, node) in humanoid {
            assert!(pose::world(model, &applied.clip, *node, time).is_finite());
            let Some(other) = source.humanoids[0].bones.get(bone) else {
                continue;
            };
            let expected = pose::turn(source, clip, *other, time);
            let found = pose::turn(model, &applied.clip, *node, time);
            let off = pose::angle(expected, found);
            let is_near = off < tolerance::REAL_HUMANOID_TURN;
            assert!(is_near, "{file} {bone} at {time}: {off}");
            moved += 1;
        }
        let hips = |asset: &Asset, clip: &AssetClip| {
            let node = asset.humanoids[0].bones[&Bone::Hips];
            pose::world(asset, clip, node, time).w_axis.truncate()
        };
        let none = AssetClip::default();
        let (rest, source_rest) = (hips(model, &none), hips(source, &none));
        // Hips on the ground, as one of the clips has them, are no measure.
        let ratio = match source_rest.y {
            0.0 => 1.0,
            y => rest.y / y,
        };
        let expected = rest + ratio * (hips(source, clip) - source_rest);
        let found = hips(model, &applied.clip);
        let is_near = found.abs_diff_eq(expected, tolerance::FEW_ROUNDINGS);
        assert!(is_near, "{file}: {found}, not {expected}");
    }
    // Bones that the clip does not move have no track, and so their rest.
    let tracks = &applied.clip.tracks;
    let is_still = |node: &&usize| tracks.iter().all(|t| t.target != TrackTarget::Node(**node));
    let still = humanoid.values().filter(is_still).count();
    assert_eq!(humanoid.len() - still, applied.report.bones.len());
    assert!(still > 0);
    moved
}
