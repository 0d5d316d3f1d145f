//! Stages that are converted to glTF, and usd-core's bake of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use glam::DVec3;
use libtest_mimic::Failed;
use serde_json::Value;

use crate::agreement::{blender_and_evaluator, in_three};
use crate::convert::{How, Written, to_gltf};
use crate::eval::Document;
use crate::judges::{Look, facts, see, valid_gltf};
use crate::matching::{Match, exceeds, match_points, pair_meshes};
use crate::play::{Moment, Play, code, seconds, text};
use crate::shown::{Shown, by_node, shown};
use crate::subjects::rows;
use common::{files, node, repository, tolerance};

/// Warnings and hints of the validator that are no faults.
pub const ALLOWED: &[&str] = &[
    "MESH_PRIMITIVE_GENERATED_TANGENT_SPACE",
    "NODE_SKINNED_MESH_NON_ROOT",
];

/// Stages and prims of them that are not compared with usd-core's bake, and why.
const OTHERWISE: &str = "
goldens/blend_bad_inbetweens  MSame               of two in-betweens of one weight usd-core uses both
goldens/blend_inbetween_sizes  *  shapes of the wrong size stop no others in glTF
goldens/blend_only            NoJointsInfluences  usd-core skins with joints that are not there
goldens/sparse_anim           OfSkelNoRest        usd-core has no pose for it
goldens/slerp_half            Body                usd-core turns halves between keys
goldens/normals_interpolations  BadCorners        its faces have points that are not there
goldens/dq_mirrored_singular  MTwo                joints of no size: more is off than is stated
goldens/clips_                *                   BakeSkinning reads what it wrote before, as that is stronger than value clips
";

/// Times at which a stage is looked at.
const MOMENTS: usize = 24;

/// Sizes of meshes, by which both sides divide errors, are of different frames.
const OTHER_FRAME: f64 = 1.25;

/// A stage as .glb: the validator finds no error, and points at keys are those of usd-core's bake, in the evaluator and in three.js, or
/// as far off as a warning states.
pub fn as_glb(python: &str, stage: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let write = |name: &str, how: How<'_>| to_gltf(stage, folder.path().join(name), &how);
    let written = write("out.glb", How::default())?;
    let mut known = Matches::new();
    // Which vertex is which point is seen where nothing is off.
    if written.states_an_error() {
        let bake = How {
            bake: true,
            ..How::default()
        };
        let baked = write("baked.glb", bake)?;
        let found = judged(python, stage, &baked, &known);
        known = found.map_err(|e| format!("baked: {}", text(&e)))?;
        in_three(&baked.file, few_keys)?;
    }
    judged(python, stage, &written, &known)?;
    in_three(&written.file, few_keys)
}

/// Some of the keys of a clip.
fn few_keys(play: Play<'_>) -> Vec<Moment> {
    let moments = some(&seconds(&play.keys())).into_iter();
    moments.map(Moment::key).collect()
}

/// Blender shows the .glb of a stage as the evaluator does.
pub fn in_blender(python: &str, stage: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let written = to_gltf(stage, folder.path().join("out.glb"), &How::default())?;
    blender_and_evaluator(python, &written.file)
}

/// Points of meshes by their prims' paths.
type Matches = BTreeMap<String, Match>;

/// The validator and the evaluator. Where warnings state an error, vertices are the points that are `known`.
fn judged(
    python: &str,
    stage: &Path,
    written: &Written,
    known: &Matches,
) -> Result<Matches, Failed> {
    if node::missing().is_none() {
        valid_gltf(&written.file, ALLOWED)?;
    }
    let document = Document::open(&written.file);
    let told = facts(python, stage)?;
    let rate = told["time_codes_per_second"].as_f64().ok_or("a rate")?;
    let keys: Vec<(f64, bool)> = serde_json::from_value(told["keys"].clone())?;
    // Times below 0 are none of glTF's.
    let first = keys.first().map_or(0.0, |k| k.0).min(0.0);
    // The first clip is what the stage shows, if that moves.
    let clip = document.clips.first().filter(|_| told["moves"] == true);
    let written_keys = clip.map_or(Vec::new(), |c| c.key_times());
    let mut codes: Vec<f64> = keys.iter().map(|k| k.0).collect();
    codes.extend(written_keys.iter().map(|s| code(*s, rate) + first));
    codes.sort_by(f64::total_cmp);
    codes.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
    if codes.is_empty() {
        codes.push(0.0);
    }
    let codes = some(&codes);
    // What moves without a sample there is interpolated: scales as halves, and matrices element by element.
    let is_key = |moment: usize| {
        let here = keys.iter().find(|k| (k.0 - codes[moment]).abs() < 1e-6);
        here.is_some_and(|k| k.1) || keys.is_empty()
    };
    let mut baked = see(python, Look::BakePoints, stage, &codes)?;
    baked.retain(|p| is_drawn(p) && !written.unskinned.contains(&p.name));
    baked.retain(|p| written.left_out.iter().all(|l| l.prim != p.name));
    let clips: Vec<_> = clip.into_iter().collect();
    let seconds: Vec<f64> = codes.iter().map(|c| (c - first) / rate).collect();
    let nodes = by_node(shown(&document, &clips, &seconds));
    let paired = pair_meshes(&baked, &nodes, !known.is_empty())?;
    // Those that usd-core does not skin: spheres and the like, and meshes whose points come and go.
    let others = told["gprims"].as_array().ok_or("gprims")?.iter();
    let others = others.filter_map(Value::as_str);
    let others: Vec<&str> = others.filter_map(|path| path.rsplit('/').next()).collect();
    for node in &paired.more {
        let is_known = others.iter().any(|name| node.name.starts_with(name));
        if !is_known {
            return Err(format!("node '{}' is not in the stage", node.name).into());
        }
    }
    let mut matches = Matches::new();
    for (prim, node) in paired.pairs {
        if is_otherwise(stage, prim) {
            continue;
        }
        let at = |e: String| {
            let codes = written.codes();
            format!(
                "{} as node '{}': {e}; warnings: {codes:?}",
                prim.name, node.name
            )
        };
        if let (Some(stated), Some(found)) = (written.stated(&prim.name), known.get(&prim.name)) {
            let error = found.error_of(prim, node, is_key).map_err(at)?;
            let allowed = stated * OTHER_FRAME + tolerance::GLTF_OUT_BETWEEN_KEYS;
            if exceeds(error, allowed) {
                let text = format!("off by {error:.2e} of its size, and {stated:.2e} is stated");
                return Err(at(text).into());
            }
            continue;
        }
        let found = match_points(prim, node, is_key).map_err(at)?;
        for (moment, (error, vertex)) in found.moments.iter().enumerate() {
            let allowed = match is_key(moment) {
                true => tolerance::GLTF_OUT_AT_KEYS,
                false => tolerance::GLTF_OUT_BETWEEN_KEYS,
            };
            if exceeds(*error, allowed) {
                let code = codes[moment];
                return Err(at(format!(
                    "off by {error:.2e} of its size (allowed {allowed:.1e}) at vertex {vertex}, time code {code}"
                ))
                .into());
            }
        }
        found.same_faces(prim, node).map_err(at)?;
        matches.insert(prim.name.clone(), found);
    }
    Ok(matches)
}

/// Whether a mesh has faces, all of points that are there.
fn is_drawn(prim: &Shown) -> bool {
    let corners: usize = prim.counts.iter().sum();
    let fits = |points: &Vec<DVec3>| prim.corners.iter().all(|c| *c < points.len());
    corners > 0 && corners == prim.corners.len() && prim.points.iter().all(fits)
}

fn is_otherwise(stage: &Path, prim: &Shown) -> bool {
    let stage = stage.to_string_lossy();
    let is_of = |name: &str| name == "*" || prim.name.ends_with(name);
    rows(OTHERWISE).any(|row| stage.contains(row[0]) && is_of(row[1]))
}

/// At most [`MOMENTS`] of the times, with the first and the last.
fn some(codes: &[f64]) -> Vec<f64> {
    let last = codes.len() - 1;
    let count = codes.len().min(MOMENTS);
    let place = |i: usize| codes[(i * last).checked_div(count - 1).unwrap_or(0)];
    (0..count).map(place).collect()
}

/// Stages of this project: the goldens, mirrored prims and the example character. And, where they are there, all real USD files.
pub fn subjects(assets: Option<&Path>) -> Vec<(String, PathBuf)> {
    let mut out = Vec::new();
    let goldens = files::files_of(&repository().join("tests/goldens"), &["json"]);
    for golden in goldens {
        let name = golden.file_name().unwrap_or_default().to_string_lossy();
        if let Some(stem) = name.strip_suffix(".golden.json") {
            let stage = golden.with_file_name(format!("{stem}.usda"));
            out.push((format!("goldens::{stem}"), stage));
        }
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gltf/mirrors.usda");
    out.push(("mirrors".to_owned(), own));
    let hatchling = repository().join("examples/assets/hatchling.usda");
    out.push(("examples::hatchling".to_owned(), hatchling));
    for file in assets.map(files::usd_files).into_iter().flatten() {
        let below = assets.and_then(|a| file.strip_prefix(a).ok());
        let name = below.unwrap_or(&file).display().to_string();
        if !name.contains("fail-case") {
            out.push((name, file));
        }
    }
    out
}
