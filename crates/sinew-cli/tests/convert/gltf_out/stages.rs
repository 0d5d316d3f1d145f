//! Stages that are converted to glTF, and usd-core's bake of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use glam::DVec3;
use libtest_mimic::Failed;
use serde_json::Value;

use crate::gltf_eval::moments::Moment;
use crate::gltf_eval::oracle::{Look, MeshPrim, facts, see};
use crate::gltf_eval::{play, truth};
use crate::gltf_out::agreement::{blender_and_evaluator, influence_sets, same};
use crate::gltf_out::judges;
use crate::gltf_out::matching::{MeshNode, match_points, pair_meshes};
use common::command::{sinew, stderr, stdout};
use common::compare::size;
use common::gltf_eval::Document;
use common::{files, node, repository, tolerance};

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

    /// How far off the points of a prim may be, relative to its size: what warnings of it state, and at least what is promised.
    fn allowed(&self, prim: &str, at_key: bool) -> f64 {
        let promised = match at_key {
            true => tolerance::GLTF_OUT_AT_KEYS,
            false => tolerance::GLTF_OUT_BETWEEN_KEYS,
        };
        let warnings = self.warnings();
        let of = warnings
            .iter()
            .filter(|w| w[1].is_empty() || prim == w[1] || prim.starts_with(&format!("{}/", w[1])));
        let stated = of.filter_map(|w| stated_error(w[2]));
        let cut = self.report["influences"]["worst_relative"].as_f64();
        stated.chain(cut).fold(promised, f64::max)
    }
}

/// The number of a message that says `1.2e-3 of its size`.
fn stated_error(message: &str) -> Option<f64> {
    let (before, _) = message.split_once(" of its size")?;
    before.rsplit(' ').next()?.parse().ok()
}

/// A stage as .glb: the validator finds no error, and points at keys are those of usd-core's bake, in the evaluator and in three.js, or
/// as far off as a warning states.
pub fn as_glb(python: &str, stage: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let written = Written::new(stage, folder.path().join("out.glb"), &[])?;
    let document = judged(python, stage, &written)?;
    if node::missing().is_some() {
        return Ok(());
    }
    if influence_sets(&document) < 2 {
        return in_three(&written);
    }
    let to = folder.path().join("four.glb");
    let four = Written::new(stage, to, &["--max-influences", "4"])?;
    let document = judged(python, stage, &four)?;
    if influence_sets(&document) > 1 {
        return Err("more than four influences with --max-influences 4".into());
    }
    in_three(&four)
}

/// Blender shows the .glb of a stage as the evaluator does.
pub fn in_blender(python: &str, stage: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let written = Written::new(stage, folder.path().join("out.glb"), &[])?;
    blender_and_evaluator(python, &written.file, tolerance::BLENDER)
}

/// The same with `--bake`, which leaves nothing that glTF cannot hold.
pub fn baked(python: &str, stage: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let written = Written::new(stage, folder.path().join("out.glb"), &["--bake"])?;
    judged(python, stage, &written)?;
    match node::missing() {
        Some(_) => Ok(()),
        None => in_three(&written),
    }
}

/// The validator and the evaluator.
fn judged(python: &str, stage: &Path, written: &Written) -> Result<Document, Failed> {
    if node::missing().is_none() {
        judges::valid(&written.file, &["NODE_SKINNED_MESH_NON_ROOT"])?;
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
    let drawn = |p: &MeshPrim| !p.counts.is_empty() && p.points.iter().all(|p| !p.is_empty());
    let is_drawn = |p: &MeshPrim| drawn(p) && !failed.contains(&p.path.as_str());
    let baked: Vec<MeshPrim> = baked.into_iter().filter(is_drawn).collect();
    let clips: Vec<_> = clip.into_iter().collect();
    let moments = codes.iter().map(|c| (c - first) / rate);
    let moments: Vec<_> = moments.map(|s| document.surfaces(&clips, s)).collect();
    let nodes = MeshNode::all(&document, &moments);
    let (pairs, more) = pair_meshes(&baked, &nodes)?;
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
    for (prim, node) in pairs {
        let at = |e: String| format!("{} as node '{}': {e}", prim.path, node.name);
        let found = match_points(prim, node);
        let found = found.map_err(|e| at(format!("{e}; warnings: {:?}", written.warnings())))?;
        for (moment, (error, vertex)) in found.moments.iter().enumerate() {
            let allowed = written.allowed(&prim.path, is_key(codes[moment]));
            // Written so that a NaN fails.
            if !(*error <= allowed) {
                let told: Vec<&str> = written.warnings().iter().map(|w| w[0]).collect();
                return Err(at(format!(
                    "off by {error:.2e} of its size (allowed {allowed:.1e}) at vertex {vertex}, time code {}; warnings: {told:?}",
                    codes[moment],
                ))
                .into());
            }
        }
        // With fewer influences, points that lie together may not stay so.
        if written.report["influences"].is_null() {
            found.same_faces(prim, node).map_err(at)?;
        }
    }
    Ok(document)
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
    for (prim, node) in pair_meshes(&prims, &nodes)?.0 {
        let found = match_points(prim, node)?;
        let (vertex, moment) = found.worst;
        let off = found.error * size(&prim.points[moment]);
        // Written so that a NaN fails.
        if !(off <= metres) {
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
    for file in assets.map(files::usd_files).into_iter().flatten() {
        let below = assets.and_then(|a| file.strip_prefix(a).ok());
        let name = below.unwrap_or(&file).display().to_string();
        out.push((name, file));
    }
    out
}
