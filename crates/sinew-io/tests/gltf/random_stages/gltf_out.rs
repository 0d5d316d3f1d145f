//! Stages as glTF, whose skins and nodes move meshes, and with meshes that are baked into morph targets.

use gltf::animation::Property;
use libtest_mimic::Failed;
use sinew::sampled::Time;
use sinew::scene::DrawnMesh;

use super::truth::Stage;
use super::{Allowed, INSIDE, Moment, Report, Subject};
use crate::convert::{How, Written, to_gltf};
use crate::eval::Document;
use crate::judges::valid_gltf;
use crate::shown::{Shown, by_corner, shown};
use crate::stages::ALLOWED;
use common::{node, tolerance};

/// Seconds between keys below which nothing is looked at between them.
const CLOSE: f64 = 1e-3;

/// Every mesh in every clip.
pub fn skinned(subject: &Subject<'_>, report: &mut Report) -> Result<(), Failed> {
    let written = to_gltf(
        &subject.file(".usda"),
        subject.file(".glb"),
        &How::default(),
    )?;
    every_clip(subject, &written, report, |_, _| true)
}

/// The meshes that glTF cannot hold, as frames; others are as they were.
pub fn baked(subject: &Subject<'_>, report: &mut Report) -> Result<(), Failed> {
    let how = How {
        bake: true,
        ..How::default()
    };
    let written = to_gltf(&subject.file(".usda"), subject.file("_baked.glb"), &how)?;
    every_clip(subject, &written, report, is_baked)
}

fn is_baked(written: &Written, path: &str) -> bool {
    let mut warnings = written.warnings.iter();
    warnings.any(|w| w.code == "gltf-baked" && w.path == path)
}

fn every_clip(
    subject: &Subject<'_>,
    written: &Written,
    report: &mut Report,
    takes: impl Fn(&Written, &str) -> bool,
) -> Result<(), Failed> {
    if node::missing().is_none() {
        valid_gltf(&written.file, ALLOWED)?;
    }
    let document = Document::open(&written.file);
    for clip in &document.clips {
        let stage = subject.stage(&clip.name)?;
        let meshes = stage.geometry.meshes.iter();
        let meshes: Vec<_> = meshes.filter(|m| takes(written, &m.path)).collect();
        if meshes.is_empty() {
            continue;
        }
        let rate = stage.scene.time_line.time_codes_per_second;
        let moments = moments(&subject.told.times, &clip.key_times(), rate);
        let seconds: Vec<f64> = moments.iter().map(|m| m.code / rate).collect();
        let codes: Vec<f64> = moments.iter().map(|m| m.code).collect();
        let got = by_corner(shown(&document, &[clip], &seconds));
        for mesh in meshes {
            let want = match is_baked(written, &mesh.path) {
                true => frames(&stage, mesh, &codes)?,
                false => stage.shown(mesh, &codes)?,
            };
            let sheared = format!("{}_shear", want.name);
            let mut found = got.iter();
            let found = found.find(|s| s.name == want.name || s.name == sheared);
            let found = found.ok_or_else(|| format!("no mesh {}", want.name))?;
            let stated = written.stated_distance(&mesh.path);
            // At keys of others scales are halves.
            let exact = !clip.animates(Property::Scale);
            // What moves as a whole by two joints: glTF leaves open how a skin turns its normals.
            let mut rigid = mesh.binding.into_iter().map(|b| stage.scene.bound(b));
            let turns = !found.deforms || !rigid.any(|b| b.binding().is_rigid());
            let at = |keys: f64, between: f64| [if exact { keys } else { between }, between];
            let allowed = Allowed {
                points: at(
                    tolerance::GLTF_OUT_AT_KEYS,
                    tolerance::GLTF_OUT_BETWEEN_KEYS,
                ),
                normals: turns.then(|| {
                    at(
                        tolerance::GLTF_NORMALS,
                        tolerance::GLTF_OUT_NORMALS_BETWEEN_KEYS,
                    )
                }),
                stated: stated.map(|d| d * stage.scene.meters_per_unit),
            };
            let what = format!("{} {}, {:?}", subject.name, clip.name, written.codes());
            report.check(&what, &mesh.path, (&want, found), &moments, &allowed);
        }
    }
    Ok(())
}

/// A baked mesh: straight lines in the space of its Skeleton between its samples and frames.
fn frames(stage: &Stage, mesh: &DrawnMesh, codes: &[f64]) -> Result<Shown, Failed> {
    let Some(bound) = mesh.binding.map(|b| stage.scene.bound(b)) else {
        let samples = stage.with_frames(mesh.points.times().collect());
        return stage.straight(mesh, codes, &samples, |code| {
            mesh.world_from_prim(Time::At(code))
        });
    };
    let samples = stage.with_frames(stage.deform_times(bound));
    stage.straight(mesh, codes, &samples, |code| {
        let skeleton = bound.skeleton().prim;
        stage.scene.world_from_prim(skeleton, Time::At(code))
    })
}

/// All samples of the stage and all keys of the clip, on both sides of cuts, and some times between.
fn moments(codes: &[f64], keys: &[f64], rate: f64) -> Vec<Moment> {
    let mut all: Vec<f64> = codes.iter().map(|code| code / rate).collect();
    all.extend(keys);
    all.sort_by(f64::total_cmp);
    // Times that differ by the rounding of f32 are one.
    let near = |a: f64, b: f64| (a - b).abs() <= 2.0 * f64::from(f32::EPSILON) * b.abs();
    all.dedup_by(|a, b| near(*a, *b));
    let mut out = Vec::new();
    let mut add = |seconds: f64, is_key| {
        let code = seconds * rate;
        out.push(Moment { code, is_key });
    };
    for (i, seconds) in all.iter().enumerate() {
        // In a cut a time that is rounded has another value: it is looked at from outside.
        let aside = 4.0 * f64::from(f32::EPSILON) * seconds;
        let before = i > 0 && seconds - all[i - 1] < CLOSE;
        let after = all.get(i + 1).is_some_and(|next| next - seconds < CLOSE);
        match (before, after) {
            (false, false) => add(*seconds, true),
            (true, false) => add(seconds + aside, true),
            (false, true) => add(seconds - aside, true),
            (true, true) => {}
        }
        if let Some(next) = all.get(i + 1).filter(|_| !after) {
            for share in INSIDE[i % 2] {
                add(seconds + (next - seconds) * share, false);
            }
        }
    }
    out
}
