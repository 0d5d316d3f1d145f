//! Stages that are converted to glTF, and usd-core's bake of them.

use std::path::{Path, PathBuf};

use libtest_mimic::Failed;
use serde_json::Value;

use crate::gltf_eval::moments::Moment;
use crate::gltf_eval::oracle::{Look, MeshPrim, facts, see};
use crate::gltf_eval::play;
use crate::gltf_out::agreement::{influence_sets, same};
use crate::gltf_out::judges;
use crate::gltf_out::matching::{MeshNode, match_points, pair_meshes};
use common::command::{sinew, stderr, stdout};
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
        args.push("--json");
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
        all.map(|w| ["code", "prim", "message"].map(|n| w[n].as_str().unwrap_or_default()))
            .collect()
    }

    /// How far off the points of a prim may be, relative to its size: what warnings of it state, and at least what is promised.
    pub fn allowed(&self, prim: &str) -> f64 {
        let warnings = self.warnings();
        let of = warnings
            .iter()
            .filter(|w| w[1].is_empty() || prim == w[1] || prim.starts_with(&format!("{}/", w[1])));
        let stated = of.filter_map(|w| stated_error(w[2]));
        stated.fold(tolerance::GLTF_OUT_AT_KEYS, f64::max)
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
    let keys = told["keys"].as_array().ok_or("keys")?;
    let mut codes: Vec<f64> = keys.iter().filter_map(Value::as_f64).collect();
    // Times below 0 are none of glTF's.
    let first = codes.first().copied().unwrap_or(0.0).min(0.0);
    let clip = document.clips.first();
    let written_keys = clip.map_or(Vec::new(), |c| c.key_times());
    codes.extend(written_keys.iter().map(|s| play::code(*s, rate) + first));
    codes.sort_by(f64::total_cmp);
    codes.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
    if codes.is_empty() {
        codes.push(0.0);
    }
    let codes = some(&codes);
    let baked = see(python, Look::BakePoints, stage, &codes, None)?.prims;
    let drawn = |p: &MeshPrim| !p.corners.is_empty() && p.points.iter().all(|p| !p.is_empty());
    let baked: Vec<MeshPrim> = baked.into_iter().filter(drawn).collect();
    let clips: Vec<_> = clip.into_iter().collect();
    let moments = codes.iter().map(|c| (c - first) / rate);
    let moments: Vec<_> = moments.map(|s| document.surfaces(&clips, s)).collect();
    let nodes = MeshNode::all(&document, &moments);
    for (prim, node) in pair_meshes(&baked, &nodes)? {
        let at = |e: String| format!("{} as node '{}': {e}", prim.path, node.name);
        let found = match_points(prim, node).map_err(at)?;
        let allowed = written.allowed(&prim.path);
        // Written so that a NaN fails.
        if !(found.error <= allowed) {
            let (vertex, moment) = found.worst;
            return Err(at(format!(
                "off by {:.2e} of its size (allowed {allowed:.1e}) at vertex {vertex}, time code {}; warnings: {:?}",
                found.error,
                codes[moment],
                written.warnings(),
            ))
            .into());
        }
        found.same_faces(prim, node).map_err(at)?;
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
