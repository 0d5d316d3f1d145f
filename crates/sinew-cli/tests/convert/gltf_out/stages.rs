//! Stages that are converted to glTF, and usd-core's bake of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use glam::DVec3;
use libtest_mimic::Failed;
use serde_json::Value;

use crate::gltf_eval::moments::Moment;
use crate::gltf_eval::oracle::{Look, MeshPrim, facts, see};
use crate::gltf_eval::{play, truth};
use crate::gltf_out::agreement::{blender_and_evaluator, influence_sets, same};
use crate::gltf_out::judges;
use crate::gltf_out::matching::{Match, MeshNode, exceeds, match_points, pair_meshes};
use common::command::{sinew, stderr, stdout};
use common::compare::{compare_within, size};
use common::gltf_eval::Document;
use common::{files, node, repository, tolerance};

/// Warnings and hints of the validator that are no faults.
pub const ALLOWED: &[&str] = &[
    "MESH_PRIMITIVE_GENERATED_TANGENT_SPACE",
    "NODE_SKINNED_MESH_NON_ROOT",
];

/// Stages and prims of them that are not compared with usd-core's bake, and why.
const OTHERWISE: &[(&str, &str, &str)] = &[
    (
        "goldens/blend_bad_inbetweens",
        "MSame",
        "of two in-betweens of one weight usd-core uses both",
    ),
    (
        "goldens/blend_only",
        "NoJointsInfluences",
        "usd-core skins with joints that are not there",
    ),
    (
        "goldens/sparse_anim",
        "OfSkelNoRest",
        "usd-core has no pose for it",
    ),
    (
        "goldens/slerp_half",
        "Body",
        "usd-core turns halves between keys",
    ),
    (
        "goldens/normals_interpolations",
        "BadCorners",
        "its faces have points that are not there",
    ),
    (
        "goldens/dq_mirrored_singular",
        "MTwo",
        "joints of no size: more is off than is stated",
    ),
    // BakeSkinning reads what it wrote before, as that is stronger than value clips; the goldens are made without it.
    (
        "goldens/clips_",
        "",
        "usd-core cannot bake value clips in place",
    ),
];

/// Times at which a stage is looked at.
const MOMENTS: usize = 24;

/// What the command wrote, and what it said.
pub struct Written {
    pub file: PathBuf,
    report: Value,
}

impl Written {
    /// Runs `sinew convert`.
    ///
    /// # Errors
    /// What the command prints if it fails.
    pub fn new(from: &Path, to: PathBuf, more: &[&str]) -> Result<Self, String> {
        let mut args = vec!["convert", from.to_str().ok_or("UTF-8")?, "-o"];
        args.push(to.to_str().ok_or("UTF-8")?);
        args.extend(["--json", "--allow-partial"]);
        args.extend(more);
        let output = sinew(&args);
        if !output.status.success() {
            return Err(stderr(&output));
        }
        let report = serde_json::from_str(&stdout(&output)).map_err(|e| e.to_string())?;
        Ok(Self { file: to, report })
    }

    /// Code, prim and message of each warning.
    pub fn warnings(&self) -> Vec<[&str; 3]> {
        let all = self.report["warnings"].as_array().into_iter().flatten();
        all.map(|w| ["code", "path", "message"].map(|n| w[n].as_str().unwrap_or_default()))
            .collect()
    }

    /// Prims that cannot be skinned, and are written at rest.
    fn failed(&self) -> Vec<&str> {
        let failed = self.report["failed"].as_array().into_iter().flatten();
        failed.filter_map(|f| f["path"].as_str()).collect()
    }

    /// How far off the points of a prim may be by its warnings, relative to its size; `None` if none states an error.
    fn stated(&self, prim: &str) -> Option<f64> {
        let warnings = self.warnings();
        let of = warnings.iter().filter(|w| w[1] == prim);
        of.filter_map(|w| stated_error(w[2])).reduce(f64::max)
    }
}

/// The number of a message that says `31.5 % of the mesh's size`.
fn stated_error(message: &str) -> Option<f64> {
    let (before, _) = message.split_once(" % of the mesh's size")?;
    let percent: f64 = before.rsplit(' ').next()?.parse().ok()?;
    Some(percent / 100.0)
}

/// Sizes of meshes, by which both sides divide errors, are of different frames.
const OTHER_FRAME: f64 = 1.25;

/// A stage as .glb: the validator finds no error, and points at keys are those of usd-core's bake, in the evaluator and in three.js, or
/// as far off as a warning states.
pub fn as_glb(python: &str, stage: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let written = Written::new(stage, folder.path().join("out.glb"), &[])?;
    // Which vertex is which point is seen where nothing is off.
    let is_off = written
        .warnings()
        .iter()
        .any(|w| stated_error(w[2]).is_some());
    let known = match is_off {
        true => {
            let baked = Written::new(stage, folder.path().join("baked.glb"), &["--bake"])?;
            let (document, found) = judged(python, stage, &baked, &Matches::new())
                .map_err(|e| format!("with --bake: {}", e.message().unwrap_or_default()))?;
            if node::missing().is_none() && influence_sets(&document) < 2 {
                in_three(&baked)?;
            }
            found
        }
        false => Matches::new(),
    };
    let (document, _) = judged(python, stage, &written, &known)?;
    if node::missing().is_some() {
        return Ok(());
    }
    if influence_sets(&document) < 2 {
        return in_three(&written);
    }
    let to = folder.path().join("four.glb");
    let four = Written::new(stage, to, &["--max-influences", "4"])?;
    judges::valid(&four.file, ALLOWED)?;
    let fewer = Document::open(&four.file);
    if influence_sets(&fewer) > 1 {
        return Err("more than four influences with --max-influences 4".into());
    }
    let stated = &four.report["influences"]["worst_distance"];
    let stated = stated.as_f64().ok_or("a distance")?;
    as_far_as_stated(&document, &fewer, stated)?;
    in_three(&four)
}

/// Points of every clip at its keys are at most so many metres from those of a file with more influences.
fn as_far_as_stated(all: &Document, fewer: &Document, metres: f64) -> Result<(), Failed> {
    for (play, with_fewer) in play::Play::all(all).iter().zip(play::Play::all(fewer)) {
        let mut moments = play.moments();
        moments.retain(|m| m.is_key);
        let (want, got) = (play.shown(&moments), with_fewer.shown(&moments));
        assert_eq!(want.len(), got.len(), "surfaces");
        for (want, got) in want.iter().zip(&got) {
            for (want_points, got_points) in want.points.iter().zip(&got.points) {
                let what = format!("{}, {} with fewer influences", play.name(), want.name);
                let roundings = tolerance::FEW_ROUNDINGS + tolerance::READ * size(want_points);
                compare_within(&what, got_points, want_points, metres + roundings)?;
            }
        }
    }
    Ok(())
}

/// Blender shows the .glb of a stage as the evaluator does.
pub fn in_blender(python: &str, stage: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let written = Written::new(stage, folder.path().join("out.glb"), &[])?;
    blender_and_evaluator(python, &written.file, tolerance::BLENDER)
}

/// Points of meshes by their prims' paths.
type Matches = BTreeMap<String, Match>;

/// The validator and the evaluator. Where warnings state an error, vertices are the points that are `known`.
fn judged(
    python: &str,
    stage: &Path,
    written: &Written,
    known: &Matches,
) -> Result<(Document, Matches), Failed> {
    if node::missing().is_none() {
        judges::valid(&written.file, ALLOWED)?;
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
    codes.extend(written_keys.iter().map(|s| play::code(*s, rate) + first));
    codes.sort_by(f64::total_cmp);
    codes.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
    if codes.is_empty() {
        codes.push(0.0);
    }
    let codes = some(&codes);
    // What moves without a sample there is interpolated: scales as halves, and matrices element by element.
    let is_key = |code: f64| {
        let here = keys.iter().find(|k| (k.0 - code).abs() < 1e-6);
        here.is_some_and(|k| k.1) || keys.is_empty()
    };
    let baked = see(python, Look::BakePoints, stage, &codes, None)?.prims;
    let failed = written.failed();
    let drawn = |p: &MeshPrim| {
        let corners: usize = p.counts.iter().sum();
        let fits = |points: &Vec<DVec3>| p.corners.iter().all(|c| *c < points.len());
        corners > 0 && corners == p.corners.len() && p.points.iter().all(fits)
    };
    let is_drawn = |p: &MeshPrim| drawn(p) && !failed.contains(&p.path.as_str());
    let baked: Vec<MeshPrim> = baked.into_iter().filter(is_drawn).collect();
    let clips: Vec<_> = clip.into_iter().collect();
    let moments = codes.iter().map(|c| (c - first) / rate);
    let moments: Vec<_> = moments.map(|s| document.surfaces(&clips, s)).collect();
    let nodes = MeshNode::all(&document, &moments);
    let (pairs, more) = pair_meshes(&baked, &nodes, !known.is_empty())?;
    // Those that usd-core does not skin: spheres and the like, and meshes whose points come and go.
    let others = told["gprims"].as_array().ok_or("gprims")?.iter();
    let others: Vec<&str> = others.filter_map(Value::as_str).collect();
    for node in more {
        let is_known = others.iter().any(|path| {
            node.name
                .starts_with(path.rsplit('/').next().unwrap_or_default())
        });
        if !is_known {
            return Err(format!("node '{}' is not in the stage", node.name).into());
        }
    }
    let mut matches = Matches::new();
    let stage_name = stage.to_string_lossy();
    let is_other = |prim: &MeshPrim| {
        let mut others = OTHERWISE.iter();
        others.any(|(of, name, _)| stage_name.contains(of) && prim.path.ends_with(name))
    };
    for (prim, node) in pairs {
        if is_other(prim) {
            continue;
        }
        let at = |e: String| format!("{} as node '{}': {e}", prim.path, node.name);
        let told = || -> Vec<&str> { written.warnings().iter().map(|w| w[0]).collect() };
        if let (Some(stated), Some(found)) = (written.stated(&prim.path), known.get(&prim.path)) {
            let error = found.error_of(prim, node, |m| is_key(codes[m]));
            let error = error.map_err(at)?;
            if exceeds(
                error,
                stated * OTHER_FRAME + tolerance::GLTF_OUT_BETWEEN_KEYS,
            ) {
                return Err(at(format!(
                    "off by {error:.2e} of its size, and {stated:.2e} is stated"
                ))
                .into());
            }
            continue;
        }
        let found = match_points(prim, node, |moment| is_key(codes[moment]));
        let found = found.map_err(|e| at(format!("{e}; warnings: {:?}", told())))?;
        for (moment, (error, vertex)) in found.moments.iter().enumerate() {
            let allowed = match is_key(codes[moment]) {
                true => tolerance::GLTF_OUT_AT_KEYS,
                false => tolerance::GLTF_OUT_BETWEEN_KEYS,
            };
            if exceeds(*error, allowed) {
                return Err(at(format!(
                    "off by {error:.2e} of its size (allowed {allowed:.1e}) at vertex {vertex}, time code {}; warnings: {:?}",
                    codes[moment],
                    told(),
                ))
                .into());
            }
        }
        found.same_faces(prim, node).map_err(at)?;
        matches.insert(prim.path.clone(), found);
    }
    Ok((document, matches))
}

/// At most [`MOMENTS`] of the times, with the first and the last.
fn some(codes: &[f64]) -> Vec<f64> {
    let last = codes.len() - 1;
    let count = codes.len().min(MOMENTS);
    let place = |i: usize| codes[(i * last).checked_div(count - 1).unwrap_or(0)];
    (0..count).map(place).collect()
}

/// three.js shows every clip of a file as the evaluator does.
fn in_three(written: &Written) -> Result<(), Failed> {
    let document = Document::open(&written.file);
    for play in play::Play::all(&document) {
        let keys: Vec<Moment> = play.moments().into_iter().filter(|m| m.is_key).collect();
        let seconds: Vec<f64> = keys.iter().map(|m| m.seconds).collect();
        let moments: Vec<Moment> = some(&seconds)
            .into_iter()
            .map(|seconds| Moment {
                seconds,
                is_key: true,
            })
            .collect();
        let want = play.shown(&moments);
        let got = judges::three(&written.file, &document, play.clip, &moments)?;
        same(&want, &got, &moments).map_err(|e| format!("in three.js, {}: {e}", play.name()))?;
    }
    Ok(())
}

/// Stages that Blender exported, the vertices that Blender computed for them, and how far off they are in metres: where bones scale, the
/// exporter wrote halves.
pub const BLENDER: [(&str, &str, f64); 4] = [
    (
        "rig_noscale.usda",
        "rig_noscale.truth.npz",
        tolerance::BLENDER_METRES,
    ),
    (
        "rig_noscale.usdc",
        "rig_noscale.truth.npz",
        tolerance::BLENDER_METRES,
    ),
    (
        "rig_identity.usdz",
        "rig_identity.truth.npz",
        tolerance::BLENDER_HALF_SCALES_METRES,
    ),
    (
        "rig_dense.usdc",
        "rig_dense.truth.npz",
        tolerance::BLENDER_HALF_SCALES_METRES,
    ),
];

/// A stage that Blender exported, as .glb, against the vertices that Blender computed.
pub fn blender_truth(stage: &Path, truth: &Path, metres: f64) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let written = Written::new(stage, folder.path().join("out.glb"), &[])?;
    let document = Document::open(&written.file);
    let frames = truth::frames(truth)?;
    let mut seconds: Vec<f64> = frames.iter().map(|f| f.0).collect();
    seconds.sort_by(f64::total_cmp);
    seconds.dedup();
    let clips: Vec<_> = document.clips.iter().take(1).collect();
    let moments: Vec<_> = seconds
        .iter()
        .map(|s| document.surfaces(&clips, *s))
        .collect();
    let nodes = MeshNode::all(&document, &moments);
    let names: BTreeSet<&String> = frames.iter().map(|f| &f.1).collect();
    let prims: Vec<MeshPrim> = names
        .into_iter()
        .map(|name| {
            let of = |s: &f64| frames.iter().find(|f| f.0 == *s && f.1 == *name);
            let points: Vec<Vec<DVec3>> = seconds
                .iter()
                .map(|s| of(s).map_or(Vec::new(), |f| f.2.clone()))
                .collect();
            MeshPrim {
                path: format!("/{name}"),
                corners: (0..points[0].len()).collect(),
                points,
                normals: Vec::new(),
                counts: Vec::new(),
                left_handed: false,
                sampled: Vec::new(),
            }
        })
        .collect();
    for (prim, node) in pair_meshes(&prims, &nodes, false)?.0 {
        let found = match_points(prim, node, |_| true)?;
        let (vertex, moment) = found.worst;
        let off = found.error * size(&prim.points[moment]);
        if exceeds(off, metres) {
            let name = &node.name;
            return Err(
                format!("{name}: off by {off:.2e} m at vertex {vertex}, frame {moment}").into(),
            );
        }
    }
    Ok(())
}

/// Stages of this project: the goldens and the example character. And, where they are there, all real USD files.
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
    let hatchling = repository().join("examples/assets/hatchling.usda");
    out.push(("examples::hatchling".to_owned(), hatchling));
    let is_good = |file: &PathBuf| !file.to_string_lossy().contains("fail-case");
    for file in assets
        .map(files::usd_files)
        .into_iter()
        .flatten()
        .filter(is_good)
    {
        let below = assets.and_then(|a| file.strip_prefix(a).ok());
        let name = below.unwrap_or(&file).display().to_string();
        out.push((name, file));
    }
    out
}
