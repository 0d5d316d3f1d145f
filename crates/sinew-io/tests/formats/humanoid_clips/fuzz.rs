//! Files with digits changed: read or refused, and what is read is put, without a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sinew_animate::asset::Asset;
use sinew_animate::humanoid::{
    ApplyOptions, Mode, apply, bones_by_name, describe, expressions_to_weights,
};
use sinew_animate::retarget::Bone;
use sinew_io::gltf::{self, GltfEdit};

use super::files::bone_clip;
use common::mannequin::{Build, Mannequin};
use common::rng::Rng;

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

#[test]
fn damaged_files_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let bones = Bone::ALL
        .iter()
        .copied()
        .filter(|b| *b != Bone::Chest)
        .collect();
    let build = Build {
        bones,
        spacers: Some(true),
        second_skin: vec![Bone::LeftUpperLeg, Bone::LeftFoot],
        ..Build::default()
    };
    let model: Mannequin = build.make().with_humanoid();
    let model = model.gltf.glb();
    let clip = bone_clip(&[Bone::Hips, Bone::Chest, Bone::Neck, Bone::LeftFoot]).glb();
    let rng = &mut Rng::new(99);
    let (mut read, mut refused) = (0, 0);
    for round in 0..100 {
        let bytes = [damaged(rng, &model), damaged(rng, &clip)];
        let done = catch_unwind(AssertUnwindSafe(|| {
            let names = ["model.glb", "clip.glb"].map(|n| folder.path().join(n));
            for (name, bytes) in names.iter().zip(&bytes) {
                std::fs::write(name, bytes).unwrap();
            }
            let assets: Vec<Asset> = names.iter().filter_map(|n| gltf::read(n).ok()).collect();
            let [model, clip] = &assets[..] else {
                return false;
            };
            let _ = bones_by_name(model).map(|(bones, _)| describe(model, &bones));
            for mode in [Mode::Literal, Mode::Collapse, Mode::Conjugate] {
                let mut options = ApplyOptions::default();
                options.mode = mode;
                options.scale_translation = true;
                options.skeleton = 0;
                let Some(applied) = clip
                    .clips
                    .first()
                    .and_then(|c| apply(model, clip, c, &options).ok())
                else {
                    return false;
                };
                let mut edit = GltfEdit::open(&names[0]).unwrap();
                let plain = expressions_to_weights(model, &applied.clip);
                if edit.add_clip(model, &plain).is_ok() {
                    edit.save(&folder.path().join("out.glb")).unwrap();
                    gltf::read(&folder.path().join("out.glb")).unwrap();
                }
                applied.into_asset(model.clone()).validate().unwrap();
            }
            true
        }));
        match done {
            Ok(true) => read += 1,
            Ok(false) => refused += 1,
            Err(_) => panic!("round {round}"),
        }
    }
    assert!(read > 5 && refused > 5, "{read} read, {refused} refused");
}
