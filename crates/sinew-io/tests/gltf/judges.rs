//! What others say of a file: usd-core, the validator of Khronos, three.js, and Blender where `SINEW_BLENDER` names a Python
//! with bpy.

use std::path::Path;

use glam::DVec3;
use libtest_mimic::Failed;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::shown::Shown;
use common::worker::Workers;

fn ask(workers: &Workers, program: &str, request: &Value) -> Result<Value, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gltf");
    Ok(workers.ask(program, &folder, request)?)
}

/// A mesh as a script tells of it. Each script fills in what it knows.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Told {
    #[serde(alias = "path")]
    name: String,
    node: usize,
    primitive: usize,
    /// How many points and normals it has.
    points: usize,
    normals: usize,
    corners: Vec<i64>,
    counts: Vec<usize>,
    left_handed: bool,
}

/// Asks for the meshes of a file at some times. The script writes their points and normals into a file of f64.
fn meshes(
    workers: &Workers,
    program: &str,
    mut request: Value,
    times: &[f64],
) -> Result<Vec<Shown>, Failed> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("numbers");
    (request["out"], request["times"]) = (json!(out), json!(times));
    let answer = ask(workers, program, &request)?;
    let told = answer.get("prims").unwrap_or(&answer["meshes"]);
    let told = Vec::<Told>::deserialize(told)?;
    let numbers: Vec<f64> = bytemuck::pod_collect_to_vec(&std::fs::read(&out)?);
    let mut vectors = numbers.chunks_exact(3).map(DVec3::from_slice);
    let mut take = |count: usize| -> Vec<DVec3> { vectors.by_ref().take(count).collect() };
    let sizes: Vec<[usize; 2]> = told.iter().map(|t| [t.points, t.normals]).collect();
    let shown = told.into_iter().map(|told| Shown {
        name: told.name,
        place: (told.node, told.primitive),
        // Without those that no point can be.
        corners: told
            .corners
            .into_iter()
            .filter_map(|c| c.try_into().ok())
            .collect(),
        counts: told.counts,
        left_handed: told.left_handed,
        ..Shown::default()
    });
    let mut shown: Vec<Shown> = shown.collect();
    for _ in times {
        for (shown, [points, normals]) in shown.iter_mut().zip(&sizes) {
            shown.points.push(take(*points));
            shown.normals.push(take(*normals));
        }
    }
    Ok(shown)
}

static USD_CORE: Workers = Workers::new("crates/sinew-io/tests/gltf/usd_core.py");

/// How usd-core looks at a file.
#[derive(Clone, Copy)]
pub enum Look {
    /// Skinned by UsdSkelBakeSkinning.
    Bake,
    /// The same without normals, which may differ at the corners of one point.
    BakePoints,
}

/// The meshes of a file at time codes, in metres with y up.
pub fn see(python: &str, look: Look, file: &Path, times: &[f64]) -> Result<Vec<Shown>, Failed> {
    let normals = matches!(look, Look::Bake);
    let request = json!({ "bake": file, "normals": normals });
    meshes(&USD_CORE, python, request, times)
}

/// Rate, range, units, times of samples and the like.
pub fn facts(python: &str, file: &Path) -> Result<Value, Failed> {
    Ok(ask(&USD_CORE, python, &json!({ "stage": file }))?["stage"].take())
}

/// What usd-core computes of every prim: cameras, lights, instances, transforms in the world at time codes, and so on.
pub fn describe(python: &str, file: &Path, times: &[f64]) -> Result<Value, Failed> {
    ask(
        &USD_CORE,
        python,
        &json!({ "describe": file, "times": times }),
    )
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
pub fn three(file: &Path, clip: Option<usize>, seconds: &[f64]) -> Result<Vec<Shown>, Failed> {
    static WORKERS: Workers = Workers::new("tests/node/evaluate.mjs");
    let request = json!({ "file": file, "clip": clip });
    meshes(&WORKERS, "node", request, seconds)
}

/// What Blender shows of a clip: one entry for each mesh object, without triangles.
pub fn blender(
    python: &str,
    file: &Path,
    clip: Option<&str>,
    seconds: &[f64],
) -> Result<Vec<Shown>, Failed> {
    static WORKERS: Workers = Workers::new("tests/node/blender.py");
    let request = json!({ "file": file, "clip": clip });
    meshes(&WORKERS, python, request, seconds)
}
