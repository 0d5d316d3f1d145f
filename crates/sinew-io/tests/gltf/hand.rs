//! The evaluator against files computed by hand: what each shows is in its extras.

use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::path::Path;

use glam::DVec3;
use libtest_mimic::Failed;
use serde::Deserialize;

use crate::eval::{Document, clip};
use common::files::files_of;
use common::tolerance;
use common::trials::Trial;

/// What a file of `hand` shows.
#[derive(Deserialize)]
struct Hand {
    expected: Vec<Expected>,
    /// Key times of the first clip.
    keys: Option<Vec<f64>>,
    /// How many primitives are shown.
    surfaces: Option<usize>,
    /// How many channels the first clip has.
    channels: Option<usize>,
}

#[derive(Deserialize)]
struct Expected {
    /// The second of the first clip.
    at: f64,
    surface: usize,
    point: usize,
    is: [f64; 3],
    normal: Option<[f64; 3]>,
}

pub fn trials() -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gltf/hand");
    let files = files_of(&folder, &["gltf"]).into_iter();
    let mut trials: Vec<Trial> = files
        .map(|file| {
            let name = file.file_stem().unwrap_or_default().display().to_string();
            Trial::test(name, move || shows(&file))
        })
        .collect();
    assert_eq!(trials.len(), 13, "a file of {} is lost", folder.display());
    trials.push(Trial::test("slerp_goes_the_short_way", slerp));
    trials
}

fn shows(file: &Path) -> Result<(), Failed> {
    let document = Document::open(file);
    let hand = Hand::deserialize(&document.json["extras"])?;
    let clips: Vec<_> = document.clips.iter().take(1).collect();
    if let Some(keys) = hand.keys {
        assert_eq!(document.clips[0].key_times(), keys);
    }
    if let Some(channels) = hand.channels {
        assert_eq!(document.clips[0].channels.len(), channels);
    }
    for expected in hand.expected {
        let surfaces = document.surfaces(&clips, expected.at);
        assert!(hand.surfaces.is_none_or(|count| count == surfaces.len()));
        let surface = &surfaces[expected.surface];
        let near = |what: &str, got: DVec3, want: [f64; 3]| {
            let want = DVec3::from(want);
            let off = (got - want).length();
            let at = expected.at;
            assert!(
                off < tolerance::GLTF_BY_HAND,
                "{what} at {at} s: {got}, expected {want}"
            );
        };
        near("a point", surface.points[expected.point], expected.is);
        if let Some(normal) = expected.normal {
            near("a normal", surface.normals[expected.point], normal);
        }
    }
    Ok(())
}

fn slerp() -> Result<(), Failed> {
    let quarter = [0.0, 0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2];
    let (sine, cosine) = (PI / 8.0).sin_cos();
    let near = |a: f64, b: f64| (a - b).abs() < tolerance::STEPS_IN_F64;
    for b in [quarter, quarter.map(|c| -c)] {
        let half = clip::slerp(&[0.0, 0.0, 0.0, 1.0], &b, 0.5);
        assert!(near(half[2], sine) && near(half[3], cosine), "{half:?}");
    }
    let same = clip::slerp(&quarter, &quarter, 0.3);
    assert!(near(same[2], FRAC_1_SQRT_2), "{same:?}");
    Ok(())
}
