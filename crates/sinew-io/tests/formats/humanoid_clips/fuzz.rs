//! Files with digits changed: read or refused, and what is read is put, without a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use common::document::Document;
use common::rng::Rng;
use serde_json::json;
use sinew_animate::humanoid::{
    ApplyOptions, Mode, apply, bones_by_name, describe, expressions_to_weights,
};
use sinew_io::gltf::{self, GltfEdit};

/// Changes a few digits of the JSON.
fn damaged(rng: &mut Rng, bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let end = 20 + u32::from_le_bytes(out[12..16].try_into().unwrap()) as usize;
    for _ in 0..=rng.below(6) {
        let digits: Vec<usize> = (20..end).filter(|i| out[*i].is_ascii_digit()).collect();
        let at = digits[rng.below(digits.len())];
        out[at] = b'0' + rng.below(10) as u8;
    }
    out
}

/// Reads a model and a clip, and puts the clip on the model in every way. Whether the files were read.
fn is_put(model: &Path, clip: &Path, out: &Path) -> bool {
    let (Ok(asset), Ok(source)) = (gltf::read(model), gltf::read(clip)) else {
        return false;
    };
    let _ = bones_by_name(&asset).map(|(bones, _)| describe(&asset, &bones));
    for mode in [Mode::Literal, Mode::Collapse, Mode::Conjugate] {
        let mut options = ApplyOptions::default();
        options.mode = mode;
        options.scale_translation = true;
        let clip = source.clips.first();
        let applied = clip.and_then(|c| apply(&asset, &source, c, &options).ok());
        let Some(applied) = applied else {
            return false;
        };
        let mut edit = GltfEdit::open(model).unwrap();
        let plain = expressions_to_weights(&asset, &applied.clip);
        if edit.add_clip(&asset, &plain).is_ok() {
            edit.save(out).unwrap();
            gltf::read(out).unwrap();
        }
        applied.into_asset(asset.clone()).validate().unwrap();
    }
    true
}

#[test]
fn damaged_files_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    // Without a bone that the clip moves, and with a leg in a second skin.
    let mut model = Document::fixture("humanoid.gltf");
    model.remove("/extensions/EXT_skeleton_humanoid/humanoidSkeletons/0/humanoidBones/chest");
    let leg = ["leftUpperLeg", "leftFoot"].map(|b| model.named(b));
    model.push("skins", json!({ "joints": leg }));
    model.bind_at_rest();
    let model = model.glb();
    let clip = Document::fixture("humanoid_clips/chest_clip.gltf").glb();
    let [names @ .., out] = ["model.glb", "clip.glb", "out.glb"].map(|n| folder.path().join(n));
    let rng = &mut Rng::new(99);
    let (mut read, mut refused) = (0, 0);
    for round in 0..100 {
        for (name, bytes) in names.iter().zip([&model, &clip]) {
            std::fs::write(name, damaged(rng, bytes)).unwrap();
        }
        match catch_unwind(AssertUnwindSafe(|| is_put(&names[0], &names[1], &out))) {
            Ok(true) => read += 1,
            Ok(false) => refused += 1,
            Err(_) => panic!("round {round}"),
        }
    }
    assert!(read > 5 && refused > 5, "{read} read, {refused} refused");
}
