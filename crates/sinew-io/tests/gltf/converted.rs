//! What sinew converts to USD, skinned by usd-core's own UsdSkelBakeSkinning, against the evaluator.

use std::path::Path;

use libtest_mimic::Failed;
use serde_json::Value;
use sinew_check::{CheckOptions, Severity, check_file};

use crate::eval::Document;
use crate::judges::{Look, facts, see, valid_usd};
use crate::play::{Moment, Play, code, codes};
use crate::shown::{Allowed, Shown, pair};
use common::tolerance;

const FORMS: [&str; 3] = ["usdc", "usda", "usdz"];

/// Every clip on its own, in a file of its own: usd-core's picture of it, and what both sides' checks say.
pub fn clips(python: &str, file: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    // Some of these are carried far out, where f32 is coarse.
    let whole = file
        .parent()
        .is_some_and(|folder| folder.ends_with("data/assets"));
    Play::each(&Document::open(file), |play| {
        let play = Play { whole, ..play };
        // The forms of USD take turns.
        let number = play.clip.unwrap_or(0);
        let form = FORMS[(number + file.as_os_str().len()) % FORMS.len()];
        one(
            python,
            play,
            file,
            &folder.path().join(format!("{number}.{form}")),
        )
    })
}

pub fn one(python: &str, play: Play<'_>, file: &Path, out: &Path) -> Result<(), Failed> {
    play.open(file)?.save_as(out)?;
    same_as(python, play, out)
}

/// A stage shows what the evaluator plays, and what both sides' checks say of it.
pub fn same_as(python: &str, play: Play<'_>, out: &Path) -> Result<(), Failed> {
    let moments = play.moments();
    let stage = facts(python, out)?;
    let rate = stage["time_codes_per_second"].as_f64().ok_or("a rate")?;
    layer(play, &stage, rate)?;
    let got = see(python, Look::Bake, out, &codes(&moments, rate))?;
    same_picture(play, &moments, &got)?;
    clean(python, out)
}

/// What the layer says of itself, and the joints' names as they were.
fn layer(play: Play<'_>, stage: &Value, rate: f64) -> Result<(), Failed> {
    assert_eq!(stage["up_axis"], "Y");
    assert_eq!(stage["meters_per_unit"], 1.0);
    assert_eq!(stage["frames_per_second"], rate);
    assert!(stage["default_prim"].is_string(), "{stage}");
    let range = (stage["start"].as_f64(), stage["end"].as_f64());
    let (Some(start), Some(end)) = range else {
        return Err(format!("no range: {stage}").into());
    };
    if let Some(clip) = play.clip().filter(|c| !c.channels.is_empty()) {
        let (first, last) = clip.range();
        for code in [code(first, rate), code(last, rate)] {
            assert!(
                (start..=end).contains(&code),
                "{code} is not in {start} to {end}"
            );
        }
    }
    let names: Vec<Vec<String>> = serde_json::from_value(stage["joint_names"].clone())?;
    let names: Vec<&String> = names.iter().flatten().collect();
    let document = play.document;
    let nodes = document.shown.iter();
    let skins = nodes.filter_map(|n| document.nodes[*n].skin);
    for joint in skins.flat_map(|s| &document.skins[s].joints) {
        let name = &document.nodes[*joint].name;
        let kept = name.is_empty() || names.contains(&name);
        assert!(kept, "{name} is not in {names:?}");
    }
    Ok(())
}

/// Every mesh that the glTF file shows and no other.
fn same_picture(play: Play<'_>, moments: &[Moment], got: &[Shown]) -> Result<(), Failed> {
    let want = play.shown(moments);
    let (at_keys, normals) = match play.scales() {
        true => (
            tolerance::GLTF_AT_KEYS_SCALED,
            tolerance::GLTF_NORMALS_SCALED,
        ),
        false => (tolerance::GLTF_AT_KEYS, tolerance::GLTF_NORMALS),
    };
    let points = (at_keys, tolerance::GLTF_BETWEEN_KEYS);
    let allowed = Allowed {
        size: play.least_size(&want),
        ..Allowed::new(points, normals, moments)
    };
    allowed.compare_all(pair(&want, got))
}

/// sinew's check and usd-core's validators.
fn clean(python: &str, converted: &Path) -> Result<(), Failed> {
    let report = check_file(converted, &CheckOptions::default())?;
    let mut findings = report.findings.iter();
    if let Some(error) = findings.find(|f| f.severity == Severity::Error) {
        return Err(format!("sinew's check: {error:?}").into());
    }
    valid_usd(python, converted)
}
