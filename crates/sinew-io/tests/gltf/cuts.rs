//! Between the keys of stages, and on both sides of their cuts: their .glb is where usd-core's bake is, or as far off as a
//! warning states.

use std::path::Path;

use libtest_mimic::Failed;

use crate::convert::{How, to_gltf};
use crate::eval::Document;
use crate::judges::{Look, see};
use crate::shown::shown;
use common::compare::{compare_within, size};
use common::trials::Trial;
use common::{python, tolerance};

/// Stages, their warning, and the frames that are compared.
const STAGES: [(&str, Option<&str>, &[f64]); 2] = [
    ("cut", None, &[1.0, 3.0, 4.99, 5.01, 7.0, 9.0]),
    (
        "loose_rotation",
        Some("gltf-rotations"),
        &[1.0, 3.0, 5.5, 8.0, 10.0],
    ),
];

pub fn trials() -> Vec<Trial> {
    let trial = |(name, code, frames)| {
        python::trial(name, move |python| {
            as_far_as_stated(python, name, code, frames)
        })
    };
    STAGES.map(trial).into()
}

fn as_far_as_stated(
    python: &str,
    name: &str,
    code: Option<&str>,
    frames: &[f64],
) -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gltf");
    let stage = folder.join(format!("{name}.usda"));
    let out = tempfile::tempdir()?;
    let written = to_gltf(&stage, out.path().join("out.glb"), &How::default())?;
    assert_eq!(written.codes(), Vec::from_iter(code));
    let want = &see(python, Look::BakePoints, &stage, frames)?[0];
    let document = Document::open(&written.file);
    let clips: Vec<_> = document.clips.iter().collect();
    let seconds: Vec<f64> = frames.iter().map(|frame| frame / 24.0).collect();
    let got = &shown(&document, &clips, &seconds)[0];
    let mut worst = 0.0f64;
    let stated = written.stated_distance(&want.name).unwrap_or_default();
    let allowed = tolerance::GLTF_AT_KEYS * size(&want.points[0]) + 1.001 * stated;
    for ((frame, got), want) in frames.iter().zip(&got.points).zip(&want.points) {
        compare_within(&format!("{name} at {frame}"), got, want, allowed)?;
        let distances = got.iter().zip(want).map(|(a, b)| a.distance(*b));
        worst = distances.fold(worst, f64::max);
    }
    // What is stated is no excuse.
    assert!(worst > 0.5 * stated, "{name}: {worst}");
    Ok(())
}
