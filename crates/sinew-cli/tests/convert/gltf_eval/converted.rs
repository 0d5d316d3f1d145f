//! What `sinew convert` writes, skinned by usd-core's own UsdSkelBakeSkinning, against the evaluator.

use std::path::{Path, PathBuf};

use libtest_mimic::Failed;
use serde_json::Value;
use sinew_bake::{Backend, BakeOptions, Error, bake};
use sinew_io::usd::UsdFile;
use sinew_io::{ClipChoice, OpenOptions, open_with};

use crate::gltf_eval::moments::Moment;
use crate::gltf_eval::oracle::{Look, Seen, see, validate};
use crate::gltf_eval::pairing::{Allowed, Shown, pair};
use crate::gltf_eval::play::{Play, code};
use common::command::{self, sinew, stderr, stdout};
use common::gltf_eval::Document;
use common::gltf_eval::clip::{Channel, Clip, Property};
use common::tolerance;

const FORMS: [&str; 3] = ["usdc", "usda", "usdz"];

/// Every clip on its own, in a file of its own: usd-core's picture of it, our bake's, and what both sides' checks say.
pub fn clips(python: &str, file: &Path) -> Result<(), Failed> {
    let document = Document::open(file);
    let folder = tempfile::tempdir()?;
    for (i, play) in Play::all(&document).into_iter().enumerate() {
        // The forms of USD take turns.
        let form = FORMS[(i + file.as_os_str().len()) % FORMS.len()];
        let out = folder.path().join(format!("{i}.{form}"));
        one(python, play, file, &out)
            .map_err(|e| format!("{}: {}", play.name(), e.message().unwrap_or_default()))?;
    }
    Ok(())
}

pub fn one(python: &str, play: Play<'_>, file: &Path, out: &Path) -> Result<(), Failed> {
    convert(play, file, out)?;
    same_as(python, play, out)
}

/// A stage shows what the evaluator plays; and its bake, and what both sides' checks say of it.
pub fn same_as(python: &str, play: Play<'_>, out: &Path) -> Result<(), Failed> {
    let moments = play.moments();
    let stage = see(python, Look::Read, out, &[0.0], None)?.stage;
    let rate = stage["time_codes_per_second"].as_f64().ok_or("a rate")?;
    layer(play, &stage, rate)?;
    let times: Vec<f64> = moments.iter().map(|m| code(m.seconds, rate)).collect();
    let seen = see(python, Look::Bake, out, &times, None)?;
    let got = shown(seen);
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
    let keys = play.clip().map_or(Vec::new(), Clip::key_times);
    for seconds in keys.first().into_iter().chain(keys.last()) {
        let code = code(*seconds, rate);
        assert!(
            start <= code && code <= end,
            "{code} is not in {start} to {end}"
        );
    }
    let names = stage["joint_names"].as_array().into_iter().flatten();
    let names: Vec<&str> = names
        .flat_map(|n| n.as_array().into_iter().flatten())
        .filter_map(Value::as_str)
        .collect();
    let document = play.document;
    let skins = document
        .shown
        .iter()
        .filter_map(|n| document.nodes[*n].skin);
    for joint in skins.flat_map(|s| &document.skins[s].joints) {
        let name = document.nodes[*joint].name.as_str();
        assert!(
            name.is_empty() || names.contains(&name),
            "{name} is not in {names:?}"
        );
    }
    Ok(())
}

/// Runs the command where a name chooses the clip; the library otherwise.
fn convert(play: Play<'_>, file: &Path, out: &Path) -> Result<(), Failed> {
    let (Some(from), Some(to)) = (file.to_str(), out.to_str()) else {
        return Err("a path in UTF-8".into());
    };
    let clip = match (play.clip, play.unique_name()) {
        (None, _) => vec![],
        (Some(_), Some(name)) => vec!["--clip", name],
        (Some(_), None) => return Ok(play.open(file)?.save_as(out).map(drop)?),
    };
    let output = sinew(&[&["convert", from, "-o", to][..], &clip].concat());
    match output.status.success() {
        true => Ok(()),
        false => Err(stderr(&output).into()),
    }
}

fn shown(seen: Seen) -> Vec<Shown> {
    let prims = seen.prims.into_iter();
    let shown = prims.map(|prim| Shown {
        name: prim.path,
        deforms: false,
        points: prim.points,
        normals: prim.normals,
        corners: prim.corners,
    });
    shown.collect()
}

/// Every mesh that the glTF file shows and no other.
fn same_picture(play: Play<'_>, moments: &[Moment], got: &[Shown]) -> Result<(), Failed> {
    let want = play.shown(moments);
    let (pairs, left, more) = pair(&want, got);
    if let Some(left) = left.first() {
        return Err(format!("{} is not in the converted file", left.name).into());
    }
    if let Some(more) = more.first() {
        return Err(format!("{} is nothing that the glTF file shows", more.name).into());
    }
    let (at_keys, normals) = match play.scales() {
        true => (
            tolerance::GLTF_AT_KEYS_SCALED,
            tolerance::GLTF_NORMALS_SCALED,
        ),
        false => (tolerance::GLTF_AT_KEYS, tolerance::GLTF_NORMALS),
    };
    let allowed = Allowed {
        points: (at_keys, tolerance::GLTF_BETWEEN_KEYS),
        normals,
        normals_may_lack: false,
        size: play.least_size(&want),
        moments,
    };
    pairs.into_iter().try_for_each(|p| allowed.compare(p))
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
    let mut options = BakeOptions::default();
    options.backend = Backend::Cpu;
    let deforms = UsdFile::open(converted)?
        .scene(Default::default())?
        .bindings
        .len();
    match bake(converted, &out, &options, &mut |_| {}) {
        Err(Error::NothingToSkin { .. }) if deforms == 0 => return Ok(()),
        Err(e) => return Err(e.into()),
        Ok(_) => {}
    }
    let ours = see(python, Look::Read, &out, times, None)?;
    assert_eq!(ours.prims.len(), theirs.len());
    let sampled: Vec<Vec<f64>> = ours.prims.iter().map(|p| p.sampled.clone()).collect();
    for ((ours, theirs), sampled) in shown(ours).iter().zip(theirs).zip(&sampled) {
        assert_eq!(ours.name, theirs.name);
        let allowed = Allowed {
            points: (tolerance::GLTF_BAKES, tolerance::GLTF_BAKES),
            normals: tolerance::PIXAR_BAKE_NORMALS,
            normals_may_lack: false,
            size: least_size,
            moments,
        };
        same_where_sampled(&allowed, (theirs, ours), times, sampled)?;
    }
    Ok(())
}

/// Between the samples that a prim needs, a bake is a straight line.
fn same_where_sampled(
    allowed: &Allowed<'_>,
    (want, got): (&Shown, &Shown),
    times: &[f64],
    sampled: &[f64],
) -> Result<(), Failed> {
    let is_sampled = |i: &usize| sampled.is_empty() || sampled.contains(&times[*i]);
    let places: Vec<usize> = (0..times.len()).filter(is_sampled).collect();
    let moments: Vec<Moment> = places.iter().map(|i| allowed.moments[*i]).collect();
    if places.is_empty() {
        return Ok(());
    }
    let allowed = Allowed {
        moments: &moments,
        ..*allowed
    };
    allowed.compare((&want.at(&places), &got.at(&places)))
}

/// `sinew bake` of the glTF file itself, with its first clip.
pub fn bakes(python: &str, file: &Path) -> Result<(), Failed> {
    let document = Document::open(file);
    let play = Play::all(&document)[0];
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("baked.usdc");
    let output = command::bake(file, &out, &[]);
    let scene = sinew_io::open(file)?.scene(Default::default())?;
    if scene.bindings.is_empty() {
        // Nothing deforms; the error says so.
        assert!(!output.status.success(), "baked out of nothing");
        return Ok(());
    }
    if !output.status.success() {
        return Err(stderr(&output).into());
    }
    let rate = scene.time_line.time_codes_per_second;
    let moments = play.moments();
    let times: Vec<f64> = moments.iter().map(|m| code(m.seconds, rate)).collect();
    let seen = see(python, Look::Read, &out, &times, None)?;
    let sampled: Vec<Vec<f64>> = seen.prims.iter().map(|p| p.sampled.clone()).collect();
    let got = shown(seen);
    let want = play.shown(&moments);
    let (pairs, left, more) = pair(&want, &got);
    assert!(left.is_empty() && more.is_empty(), "other meshes");
    let allowed = Allowed {
        points: (tolerance::GLTF_AT_KEYS, tolerance::GLTF_BETWEEN_KEYS),
        normals: tolerance::GLTF_NORMALS,
        normals_may_lack: false,
        size: 0.0,
        moments: &moments,
    };
    for (want, shown) in pairs {
        let prim = got.iter().position(|g| std::ptr::eq(g, shown));
        let sampled = &sampled[prim.ok_or("a prim")?];
        same_where_sampled(&allowed, (want, shown), &times, sampled)?;
    }
    Ok(())
}

/// `sinew check` and usd-core's validators.
fn clean(python: &str, converted: &Path) -> Result<(), Failed> {
    let output = sinew(&["check", converted.to_str().ok_or("a path")?]);
    if !output.status.success() {
        return Err(format!("sinew check: {}{}", stdout(&output), stderr(&output)).into());
    }
    let errors = validate(python, converted)?;
    match errors.is_empty() {
        true => Ok(()),
        false => Err(format!("usd-core's validators: {errors:#?}").into()),
    }
}

/// All clips in one file: each, bound in turn, moves what its own file shows.
pub fn all_clips(python: &str, file: &Path) -> Result<(), Failed> {
    let document = Document::open(file);
    let folder = tempfile::tempdir()?;
    let out: PathBuf = folder.path().join("all.usdc");
    let options = OpenOptions {
        clips: ClipChoice::All,
        ..OpenOptions::default()
    };
    let opened = open_with(file, &options)?;
    opened.save_as(&out)?;
    clean(python, &out)?;
    let rate = opened
        .scene(Default::default())?
        .time_line
        .time_codes_per_second;
    let keys = |play: Play<'_>| -> (Vec<Moment>, Vec<f64>) {
        let moments: Vec<Moment> = play.moments().into_iter().filter(|m| m.is_key).collect();
        let times = moments.iter().map(|m| code(m.seconds, rate)).collect();
        (moments, times)
    };
    // As it is, the file shows its first clip.
    let first = Play::all(&document)[0];
    let (moments, times) = keys(first);
    let seen = see(python, Look::Bake, &out, &times, None)?;
    same_picture(first, &moments, &shown(seen))?;
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
            c.property == Property::Weights || skeleton.joint_of_node.contains_key(&c.node)
        };
        // Of clips of one name all but the first have a number behind it.
        let numbered = format!("{}_", clip.name);
        let own = |name: &str| *name == clip.name || name.starts_with(&numbered);
        let found = left.iter().position(|(name, _)| own(name));
        let animation = match found {
            Some(found) => &left.remove(found).1,
            None if clip.channels.iter().any(in_animation) => {
                return Err(format!("{}: no SkelAnimation", play.name()).into());
            }
            None => continue,
        };
        if !clip.channels.iter().all(in_animation) {
            continue;
        }
        let (moments, times) = keys(play);
        let seen = see(python, Look::Bake, &out, &times, Some(animation))?;
        same_picture(play, &moments, &shown(seen))
            .map_err(|e| format!("{}: {}", play.name(), e.message().unwrap_or_default()))?;
    }
    Ok(())
}
