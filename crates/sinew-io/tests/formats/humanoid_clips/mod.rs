//! Humanoid clips on models, against a straightforward evaluation in matrices.

mod bind_relative;
mod files;
mod fuzz;
mod rest_relative;
mod usd;

use common::figure::{Figure, angle, rotations, translations};
use common::rng::Rng;
use common::tolerance::HUMANOID;
use glam::DMat4;
use sinew_animate::asset::{Asset, AssetClip, Curve, TrackTarget};
use sinew_animate::humanoid::{Applied, ApplyOptions, Mode, apply};
use sinew_animate::retarget::Bone;

/// Applies a clip of a source, or of no model at all.
fn put(model: &Asset, source: &Asset, clip: &AssetClip, mode: Mode) -> Applied {
    let mut options = ApplyOptions::default();
    options.mode = mode;
    let applied = apply(model, source, clip, &options).unwrap();
    let asset = applied.clone().into_asset(model.clone());
    asset.validate().unwrap();
    applied
}

/// A skin of all the figure's bones as they stand at rest.
fn skin_at_rest(figure: &mut Figure) {
    let joints: Vec<usize> = figure.asset.humanoids[0].bones.values().copied().collect();
    let rest = figure.asset.clone();
    figure.skin(&joints, DMat4::IDENTITY, |j| rest.rest_world(j));
}

/// Tracks that turn each of the bones.
fn turns(rng: &mut Rng, bones: &[Bone]) -> Vec<(TrackTarget, Curve)> {
    let turn = |b: &Bone| (TrackTarget::Bone(*b), rotations(rng));
    bones.iter().map(turn).collect()
}

/// Tracks that turn each of the bones and move the hips.
fn turns_and_hips(rng: &mut Rng, bones: &[Bone]) -> Vec<(TrackTarget, Curve)> {
    let mut tracks = turns(rng, bones);
    tracks.push((TrackTarget::Bone(Bone::Hips), translations(rng)));
    tracks
}

/// A node of each figure with the clip on it turns alike in the world.
#[track_caller]
fn turn_alike(a: (&Figure, &AssetClip, usize), b: (&Figure, &AssetClip, usize), time: f64) {
    let [a, b] = [a, b].map(|(figure, clip, node)| figure.turn(clip, node, time));
    let apart = angle(a, b);
    assert!(apart < HUMANOID * 100.0, "at {time}: {apart}");
}

fn warns(applied: &Applied, code: &str, words: &str) -> bool {
    let mut warnings = applied.report.warnings.iter();
    warnings.any(|w| w.code == code && w.to_string().contains(words))
}
