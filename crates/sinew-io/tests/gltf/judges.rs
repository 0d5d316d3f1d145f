//! What others say of a file: usd-core, the validator of Khronos, three.js, and Blender where `SINEW_BLENDER` names a Python
//! with bpy.

use std::path::Path;

use glam::DVec3;
use libtest_mimic::Failed;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::eval::Document;
use crate::play::{Moment, seconds};
use crate::shown::Shown;
use common::worker::Workers;

fn ask(workers: &Workers, program: &str, request: &Value) -> Result<Value, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gltf");
    Ok(workers.ask(program, &folder, request)?)
}

/// Asks for numbers too, which a script writes into a file of f64: the answer, and the numbers as vectors.
fn ask_with_numbers(
    workers: &Workers,
    program: &str,
    mut request: Value,
) -> Result<(Value, std::vec::IntoIter<DVec3>), Failed> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("numbers");
    request["out"] = json!(out);
    let answer = ask(workers, program, &request)?;
    let bytes = std::fs::read(&out)?;
    let numbers: Vec<f64> = bytemuck::pod_collect_to_vec(&bytes);
    let vectors: Vec<DVec3> = numbers.chunks_exact(3).map(DVec3::from_slice).collect();
    Ok((answer, vectors.into_iter()))
}

static USD_CORE: Workers = Workers::new("crates/sinew-io/tests/gltf/usd_core.py");

/// What usd-core shows of a file.
pub struct Seen {
    /// Meshes in metres with y up, at each time asked for.
    pub prims: Vec<Shown>,
    /// Rate, range, units and the like.
    pub stage: Value,
}

/// How usd-core looks at a file.
#[derive(Clone, Copy)]
pub enum Look<'a> {
    /// Skinned by UsdSkelBakeSkinning, every Skeleton bound to an animation.
    Bake(Option<&'a str>),
    /// The same without normals, which may differ at the corners of one point.
    BakePoints,
    /// As it is.
    Read,
}

/// The meshes of a file at time codes.
pub fn see(python: &str, look: Look<'_>, file: &Path, times: &[f64]) -> Result<Seen, Failed> {
    #[derive(Deserialize)]
    struct Told {
        path: String,
        points: usize,
        normals: usize,
        corners: Vec<i64>,
        counts: Vec<usize>,
        left_handed: bool,
        sampled: Vec<f64>,
    }
    let request = match look {
        Look::Bake(animation) => json!({ "bake": file, "animation": animation }),
        Look::BakePoints => json!({ "bake": file, "normals": false }),
        Look::Read => json!({ "read": file }),
    };
    let mut request = request;
    request["times"] = json!(times);
    let (mut answer, mut vectors) = ask_with_numbers(&USD_CORE, python, request)?;
    let told: Vec<Told> = serde_json::from_value(answer["prims"].take())?;
    let sizes: Vec<[usize; 2]> = told.iter().map(|t| [t.points, t.normals]).collect();
    let mut prims: Vec<Shown> = told
        .into_iter()
        .map(|told| Shown {
            name: told.path,
            sampled: told.sampled,
            // Without those that no point can be.
            corners: told
                .corners
                .into_iter()
                .filter_map(|c| usize::try_from(c).ok())
                .collect(),
            counts: told.counts,
            left_handed: told.left_handed,
            ..Shown::default()
        })
        .collect();
    for _ in times {
        for (prim, [points, normals]) in prims.iter_mut().zip(&sizes) {
            prim.points.push(vectors.by_ref().take(*points).collect());
            prim.normals.push(vectors.by_ref().take(*normals).collect());
        }
    }
    Ok(Seen {
        prims,
        stage: answer["stage"].take(),
    })
}

/// Rate, range, units, times of samples and the like.
pub fn facts(python: &str, file: &Path) -> Result<Value, Failed> {
    Ok(ask(&USD_CORE, python, &json!({ "stage": file }))?["stage"].take())
}

/// usd-core's validators find nothing.
pub fn valid_usd(python: &str, file: &Path) -> Result<(), Failed> {
    let answer = ask(&USD_CORE, python, &json!({ "validate": file }))?;
    match answer["errors"].as_array() {
        Some(errors) if errors.is_empty() => Ok(()),
        errors => Err(format!("usd-core's validators: {errors:#?}").into()),
    }
}

/// The validator of Khronos finds no error, and no warning or hint whose code is not in `allowed`.
pub fn valid_gltf(file: &Path, allowed: &[&str]) -> Result<(), Failed> {
    static WORKERS: Workers = Workers::new("tests/node/validate.mjs");
    let answer = ask(&WORKERS, "node", &json!({ "file": file }))?;
    let counts = |issue: &&Value| match issue["severity"].as_str() {
        Some("error") => true,
        Some("information") => false,
        _ => !allowed.contains(&issue["code"].as_str().unwrap_or_default()),
    };
    let found = answer["issues"].as_array().ok_or("issues")?.iter();
    let mut found: Vec<&Value> = found.filter(counts).collect();
    found.sort_by_key(|issue| issue["severity"] != "error");
    match found.first() {
        None => Ok(()),
        Some(first) => Err(format!("{first} (and {} more)", found.len() - 1).into()),
    }
}

/// What three.js shows of a clip: every primitive, without normals.
pub fn three(
    file: &Path,
    document: &Document,
    clip: Option<usize>,
    moments: &[Moment],
) -> Result<Vec<Shown>, Failed> {
    #[derive(Deserialize)]
    struct Told {
        node: usize,
        primitive: usize,
        points: usize,
    }
    static WORKERS: Workers = Workers::new("tests/node/evaluate.mjs");
    let request = json!({ "file": file, "clip": clip, "times": seconds(moments) });
    let (mut answer, mut vectors) = ask_with_numbers(&WORKERS, "node", request)?;
    let told: Vec<Told> = serde_json::from_value(answer["meshes"].take())?;
    let mut out: Vec<Shown> = told
        .iter()
        .map(|mesh| Shown {
            name: document.nodes[mesh.node].name.clone(),
            place: (mesh.node, mesh.primitive),
            ..Shown::default()
        })
        .collect();
    for _ in moments {
        for (shown, mesh) in out.iter_mut().zip(&told) {
            shown
                .points
                .push(vectors.by_ref().take(mesh.points).collect());
        }
    }
    Ok(out)
}

/// What Blender shows of a clip: one entry for each mesh object, without triangles.
pub fn blender(
    python: &str,
    file: &Path,
    clip: Option<&str>,
    seconds: &[f64],
) -> Result<Vec<Shown>, Failed> {
    #[derive(Deserialize)]
    struct Told {
        name: String,
        points: usize,
    }
    static WORKERS: Workers = Workers::new("tests/node/blender.py");
    let request = json!({ "file": file, "clip": clip, "times": seconds });
    let (mut answer, mut vectors) = ask_with_numbers(&WORKERS, python, request)?;
    let told: Vec<Told> = serde_json::from_value(answer["meshes"].take())?;
    let mut out: Vec<Shown> = told
        .iter()
        .map(|mesh| Shown {
            name: mesh.name.clone(),
            ..Shown::default()
        })
        .collect();
    for _ in seconds {
        for (shown, mesh) in out.iter_mut().zip(&told) {
            shown
                .points
                .push(vectors.by_ref().take(mesh.points).collect());
        }
    }
    Ok(out)
}
