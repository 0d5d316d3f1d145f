//! What sinew converts to USD, skinned by usd-core's own UsdSkelBakeSkinning, against the evaluator.

use std::path::Path;

use gltf::animation::Property;
use libtest_mimic::Failed;
use serde_json::Value;
use sinew_bake::{Backend, BakeOptions, Error, bake};
use sinew_check::{CheckOptions, Severity, check_file};
use sinew_io::{ClipChoice, OpenOptions, open_with};

use crate::eval::Document;
use crate::eval::clip::Channel;
use crate::judges::{Look, facts, see, valid_usd};
use crate::play::{Moment, Play, code, codes, text};
use crate::shown::{Allowed, Shown, pair};
use common::tolerance;

const FORMS: [&str; 3] = ["usdc", "usda", "usdz"];

/// Every clip on its own, in a file of its own: usd-core's picture of it, our bake's, and what both sides' checks say.
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

/// A stage shows what the evaluator plays; and its bake, and what both sides' checks say of it.
pub fn same_as(python: &str, play: Play<'_>, out: &Path) -> Result<(), Failed> {
    let moments = play.moments();
    let stage = facts(python, out)?;
    let rate = stage["time_codes_per_second"].as_f64().ok_or("a rate")?;
    layer(play, &stage, rate)?;
    let times = codes(&moments, rate);
    let got = see(python, Look::Bake(None), out, &times)?;
    same_picture(play, &moments, &got)?;
    our_bake(python, out, &moments, &times, &got, play.least_size(&got))?;
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

/// Our bake of the converted file, read by usd-core, is usd-core's.
fn our_bake(
    python: &str,
    converted: &Path,
    moments: &[Moment],
    times: &[f64],
    theirs: &[Shown],
    least_size: f64,
) -> Result<(), Failed> {
    let out = converted.with_extension("baked.usdc");
    if !bakes_something(converted, &out)? {
        return Ok(());
    }
    let ours = see(python, Look::Read, &out, times)?;
    assert_eq!(ours.len(), theirs.len());
    let points = (tolerance::GLTF_BAKES, tolerance::GLTF_BAKES);
    let allowed = Allowed {
        size: least_size,
        ..Allowed::new(points, tolerance::PIXAR_BAKE_NORMALS, moments)
    };
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert_eq!(ours.name, theirs.name);
        same_where_sampled(&allowed, (theirs, ours), times)?;
    }
    Ok(())
}

/// Bakes a file, or says that it has nothing to skin where that is so.
fn bakes_something(file: &Path, out: &Path) -> Result<bool, Failed> {
    let scene = sinew_io::open(file)?.scene(Default::default())?;
    let mut options = BakeOptions::default();
    options.backend = Backend::Cpu;
    match (bake(file, out, &options, &mut |_| {}), scene.bindings.len()) {
        (Err(Error::NothingToSkin { .. }), 0) => Ok(false),
        (Ok(_), 0) => Err("baked out of nothing".into()),
        (result, _) => Ok(result.map(|_| true)?),
    }
}

/// Between the samples that a prim needs, a bake is a straight line.
fn same_where_sampled(
    allowed: &Allowed<'_>,
    (want, got): (&Shown, &Shown),
    times: &[f64],
) -> Result<(), Failed> {
    let is_sampled = |i: &usize| got.sampled.is_empty() || got.sampled.contains(&times[*i]);
    let places: Vec<usize> = (0..times.len()).filter(is_sampled).collect();
    if places.is_empty() {
        return Ok(());
    }
    let moments: Vec<Moment> = places.iter().map(|i| allowed.moments[*i]).collect();
    let allowed = Allowed {
        moments: &moments,
        ..*allowed
    };
    allowed.compare((&want.at(&places), &got.at(&places)))
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

/// All clips in one file: each, bound in turn, moves what its own file shows.
pub fn all_clips(python: &str, file: &Path) -> Result<(), Failed> {
    let document = Document::open(file);
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("all.usdc");
    let options = OpenOptions {
        clips: ClipChoice::All,
        ..OpenOptions::default()
    };
    let opened = open_with(file, &options)?;
    opened.save_as(&out)?;
    clean(python, &out)?;
    let scene = opened.scene(Default::default())?;
    let rate = scene.time_line.time_codes_per_second;
    let same_with = |play: Play<'_>, animation: Option<&str>| {
        let keys = play.keys();
        let seen = see(python, Look::Bake(animation), &out, &codes(&keys, rate))?;
        same_picture(play, &keys, &seen)
            .map_err(|e| Failed::from(format!("{}: {}", play.name(), text(&e))))
    };
    // As it is, the file shows its first clip.
    same_with(Play::all(&document)[0], None)?;
    let skeletons = &opened.origin().ok_or("an origin")?.skeletons;
    let [skeleton] = &skeletons[..] else {
        // What several Skeletons are bound to says no path alone.
        return Ok(());
    };
    let mut left: Vec<&(String, String)> = skeleton.animations.iter().collect();
    for play in Play::all(&document) {
        let Some(clip) = play.clip() else { continue };
        // Joints and morph weights are in SkelAnimations; other nodes move by their transforms, which hold the bound
        // clip's samples alone.
        let in_animation = |c: &Channel| {
            c.property == Property::MorphTargetWeights
                || skeleton.joint_of_node.contains_key(&c.node)
        };
        // Of clips of one name all but the first have a number behind it.
        let numbered = format!("{}_", clip.name);
        let own = |name: &str| *name == clip.name || name.starts_with(&numbered);
        let animation = match left.iter().position(|(name, _)| own(name)) {
            Some(found) => &left.remove(found).1,
            None if clip.channels.iter().any(in_animation) => {
                return Err(format!("{}: no SkelAnimation", play.name()).into());
            }
            None => continue,
        };
        if clip.channels.iter().all(in_animation) {
            same_with(play, Some(animation))?;
        }
    }
    Ok(())
}
