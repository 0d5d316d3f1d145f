//! Real clips on real models.

use std::path::{Path, PathBuf};

use sinew_animate::asset::{AssetClip, TrackTarget};
use sinew_animate::humanoid::{ApplyOptions, apply, expressions_to_weights};
use sinew_animate::retarget::Bone;
use sinew_io::gltf;

use common::command::{Bench, stderr};
use common::humanoid::{describe, json_of, keeps, put, same_clip};
use common::tolerance;
use common::trials::Trial;

pub fn trials() -> Vec<Trial> {
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    let (kind, skip) = match assets {
        Some(_) => ("", false),
        None => ("needs SINEW_ASSETS", true),
    };
    let folder = assets.unwrap_or_default();
    let trial = Trial::test("real_clips_on_real_models", move || {
        real_clips_on_real_models(&folder);
        Ok(())
    });
    vec![trial.with_kind(kind).with_ignored_flag(skip)]
}

/// Real clips on real models: finite, the hips where the ratio says, rest where nothing moves.
fn real_clips_on_real_models(assets: &Path) {
    let bench = Bench::new();
    let manny = bench.path("manny.glb");
    let plain = assets.join("kaykit_char/res/models/mannequin_v2/manny_med_mod.gltf");
    let described = describe(&plain, &["-o", manny.to_str().unwrap()]);
    assert!(described.status.success(), "{}", stderr(&described));
    let mut models = vec![manny];
    for entry in std::fs::read_dir(assets.join("vrm")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "vrm") {
            models.push(path);
        }
    }
    assert!(models.len() >= 6);
    let mut moved = 0;
    for clip_name in ["three-vrm-test.vrma", "hips_spine_twisting.vrma"] {
        let source = gltf::read(&assets.join("vrm").join(clip_name)).unwrap();
        let clip = &source.clips[0];
        for model in &models {
            let asset = gltf::read(model).unwrap();
            let applied = apply(&asset, &source, clip, &ApplyOptions::default()).unwrap();
            let humanoid = &asset.humanoids[0].bones;
            let from = common::figure::Figure {
                asset: source.clone(),
            };
            let to = common::figure::Figure {
                asset: asset.clone(),
            };
            let none = AssetClip::default();
            let (first, last) = clip.range().unwrap();
            for i in 0..=20 {
                let time = first + (last - first) * f64::from(i) / 20.0;
                for (bone, node) in humanoid {
                    assert!(to.world(&applied.clip, *node, time).is_finite());
                    let Some(other) = from.bone(*bone) else {
                        continue;
                    };
                    let expected = from.turn(clip, other, time);
                    let found = to.turn(&applied.clip, *node, time);
                    let off = common::figure::angle(expected, found);
                    assert!(
                        off < tolerance::REAL_HUMANOID_TURN,
                        "{} {bone} at {time}: {off}",
                        model.display()
                    );
                    moved += 1;
                }
                let at = |f: &common::figure::Figure, c: &AssetClip| {
                    f.world(c, f.at(Bone::Hips), time).w_axis.truncate()
                };
                let (rest, source_rest) = (at(&to, &none), at(&from, &none));
                // Hips on the ground, as one of the clips has them, are no measure.
                let h = match source_rest.y {
                    0.0 => 1.0,
                    y => rest.y / y,
                };
                let expected = rest + h * (at(&from, clip) - source_rest);
                let found = at(&to, &applied.clip);
                assert!(
                    found.abs_diff_eq(expected, tolerance::FEW_ROUNDINGS),
                    "{}: {found}, not {expected}",
                    model.display()
                );
            }
            // Bones that the clip does not move have no track, and so their rest.
            let tracked = |n: &usize| {
                applied
                    .clip
                    .tracks
                    .iter()
                    .any(|t| t.target == TrackTarget::Node(*n))
            };
            let still = humanoid.values().filter(|n| !tracked(n)).count();
            assert_eq!(humanoid.len() - still, applied.report.bones.len());
            assert!(still > 0);
            let out = bench.path("out.glb");
            let output = put(model, &assets.join("vrm").join(clip_name), &out, &[]);
            assert!(output.status.success(), "{}", stderr(&output));
            let found = gltf::read(&out).unwrap();
            same_clip(
                found.clips.last().unwrap(),
                &expressions_to_weights(&asset, &applied.clip),
            );
            keeps(&json_of(model), &json_of(&out));
        }
    }
    assert!(moved > 1000, "{moved}");
}
