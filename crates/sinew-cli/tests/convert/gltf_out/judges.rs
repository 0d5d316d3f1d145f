//! What others say of a glTF file: the validator of Khronos, three.js, and Blender where `SINEW_BLENDER` names a Python with bpy.

use std::path::{Path, PathBuf};

use glam::DVec3;
use libtest_mimic::Failed;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::gltf_eval::moments::Moment;
use crate::gltf_eval::pairing::Shown;
use crate::gltf_out::matching::MeshNode;
use common::gltf_eval::Document;
use common::worker::Workers;

/// What the validator finds.
#[derive(Clone, Debug, Deserialize)]
pub struct Issue {
    pub severity: String,
    pub code: String,
    pub message: String,
    pub pointer: String,
}

/// All issues of a file, errors first.
pub fn issues(file: &Path) -> Result<Vec<Issue>, Failed> {
    static WORKERS: Workers = Workers::new("tests/node/validate.mjs");
    let mut answer = ask(&WORKERS, &json!({ "file": file }))?;
    let mut issues: Vec<Issue> = serde_json::from_value(answer["issues"].take())?;
    issues.sort_by_key(|i| i.severity != "error");
    Ok(issues)
}

/// The validator finds no error, and no warning or hint whose code is not in `allowed`.
pub fn valid(file: &Path, allowed: &[&str]) -> Result<(), Failed> {
    let counts = |i: &Issue| match i.severity.as_str() {
        "error" => true,
        "information" => false,
        _ => !allowed.contains(&i.code.as_str()),
    };
    let mut found = issues(file)?;
    found.retain(counts);
    let Some(first) = found.first() else {
        return Ok(());
    };
    let Issue {
        severity,
        code,
        message,
        pointer,
    } = first;
    let more = found.len() - 1;
    Err(format!("{severity} {code} at {pointer}: {message} (and {more} more)").into())
}

/// What three.js shows of a clip: one entry for each primitive, in the order of the nodes and without normals.
pub fn three(
    file: &Path,
    document: &Document,
    clip: Option<usize>,
    moments: &[Moment],
) -> Result<Vec<Shown>, Failed> {
    static WORKERS: Workers = Workers::new("tests/node/evaluate.mjs");
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("points");
    let times: Vec<f64> = moments.iter().map(|m| m.seconds).collect();
    let answer = ask(
        &WORKERS,
        &json!({ "file": file, "clip": clip, "times": times, "out": out }),
    )?;
    let bytes = std::fs::read(&out)?;
    let mut numbers = bytes
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes(b.try_into().expect("eight")));
    let mut next = || numbers.next().expect("as many as were told");
    let index = |v: &Value| v.as_u64().map(|v| v as usize).ok_or("an index");
    let meshes = answer["meshes"].as_array().ok_or("meshes")?;
    let mut out = Vec::new();
    for mesh in meshes {
        let (node, primitive) = (index(&mesh["node"])?, index(&mesh["primitive"])?);
        let shown = Shown {
            name: format!(
                "node {node} '{}' primitive {primitive}",
                document.nodes[node].name
            ),
            deforms: false,
            points: Vec::new(),
            normals: vec![Vec::new(); times.len()],
            corners: Vec::new(),
        };
        out.push(((node, primitive), index(&mesh["points"])?, shown));
    }
    for _ in &times {
        for (_, count, shown) in &mut out {
            let points = (0..*count).map(|_| DVec3::new(next(), next(), next()));
            shown.points.push(points.collect());
        }
    }
    out.sort_by_key(|(place, ..)| *place);
    Ok(out.into_iter().map(|(.., shown)| shown).collect())
}

/// What Blender shows of a clip: one entry for each mesh object, without triangles.
pub fn blender(
    python: &str,
    file: &Path,
    clip: Option<&str>,
    seconds: &[f64],
) -> Result<Vec<MeshNode>, Failed> {
    static WORKERS: Workers = Workers::new("tests/node/blender.py");
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("points");
    let request = json!({ "file": file, "clip": clip, "times": seconds, "out": out });
    let answer = WORKERS.ask(python, &logs(), &request)?;
    let bytes = std::fs::read(&out)?;
    let mut numbers = bytes
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes(b.try_into().expect("eight")));
    let mut next = || numbers.next().expect("as many as were told");
    let meshes = answer["meshes"].as_array().ok_or("meshes")?;
    let mut out: Vec<MeshNode> = meshes
        .iter()
        .enumerate()
        .map(|(node, mesh)| MeshNode {
            node,
            name: mesh["name"].as_str().unwrap_or_default().to_owned(),
            points: Vec::new(),
            triangles: Vec::new(),
        })
        .collect();
    for _ in seconds {
        for (shown, mesh) in out.iter_mut().zip(meshes) {
            let count = mesh["points"].as_u64().ok_or("points")?;
            let points = (0..count).map(|_| DVec3::new(next(), next(), next()));
            shown.points.push(points.collect());
        }
    }
    Ok(out)
}

fn logs() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("gltf_out")
}

fn ask(workers: &Workers, request: &Value) -> Result<Value, Failed> {
    Ok(workers.ask("node", &logs(), request)?)
}
