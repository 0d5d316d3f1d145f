//! usd-core's answers about a file: what its meshes look like in the world.

use std::path::Path;

use glam::DVec3;
use libtest_mimic::Failed;
use serde_json::{Value, json};

use common::worker::Workers;

/// A mesh in metres with y up, at each time asked for.
#[derive(Clone, Debug)]
pub struct MeshPrim {
    pub path: String,
    pub points: Vec<Vec<DVec3>>,
    /// Empty where it has none.
    pub normals: Vec<Vec<DVec3>>,
    /// Point indices, face by face.
    pub corners: Vec<usize>,
    /// Corners of each face.
    pub counts: Vec<usize>,
    /// Whether faces turn clockwise as seen from outside.
    pub left_handed: bool,
    /// Time codes of the samples of what moves it.
    pub sampled: Vec<f64>,
}

/// What a file shows.
pub struct Seen {
    pub prims: Vec<MeshPrim>,
    /// Rate, range, units and the like.
    pub stage: Value,
}

/// How to look at a file.
#[derive(Clone, Copy)]
pub enum Look {
    /// Skinned by UsdSkelBakeSkinning.
    Bake,
    /// The same without normals, which may differ at the corners of one point.
    BakePoints,
    /// As it is.
    Read,
}

/// The meshes of a file at time codes.
pub fn see(
    python: &str,
    look: Look,
    file: &Path,
    times: &[f64],
    animation: Option<&str>,
) -> Result<Seen, Failed> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("numbers");
    let how = match look {
        Look::Bake | Look::BakePoints => "bake",
        Look::Read => "read",
    };
    let normals = !matches!(look, Look::BakePoints);
    let answer = ask(
        python,
        &json!({
            how: file, "times": times, "out": out, "animation": animation, "normals": normals,
        }),
    )?;
    let bytes = std::fs::read(&out)?;
    let mut numbers = bytes
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes(b.try_into().expect("eight")));
    let mut vectors = |count: u64| -> Vec<DVec3> {
        let mut next = || numbers.next().expect("as many as were told");
        (0..count)
            .map(|_| DVec3::new(next(), next(), next()))
            .collect()
    };
    let told = answer["prims"].as_array().ok_or("prims")?;
    let indices = |list: &Value| -> Vec<usize> {
        let list = list.as_array().into_iter().flatten();
        list.filter_map(Value::as_u64).map(|c| c as usize).collect()
    };
    let mut prims: Vec<MeshPrim> = told
        .iter()
        .map(|prim| MeshPrim {
            path: prim["path"].as_str().unwrap_or_default().to_owned(),
            points: Vec::new(),
            normals: Vec::new(),
            sampled: prim["sampled"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_f64)
                .collect(),
            corners: indices(&prim["corners"]),
            counts: indices(&prim["counts"]),
            left_handed: prim["left_handed"] == true,
        })
        .collect();
    for _ in times {
        for (prim, told) in prims.iter_mut().zip(told) {
            prim.points
                .push(vectors(told["points"].as_u64().ok_or("points")?));
            prim.normals
                .push(vectors(told["normals"].as_u64().ok_or("normals")?));
        }
    }
    Ok(Seen {
        prims,
        stage: answer["stage"].clone(),
    })
}

/// Rate, range, units, times of samples and the like.
pub fn facts(python: &str, file: &Path) -> Result<Value, Failed> {
    Ok(ask(python, &json!({"stage": file}))?["stage"].take())
}

/// What usd-core's validators say: (validator, error, site, message).
pub fn validate(python: &str, file: &Path) -> Result<Vec<[String; 4]>, Failed> {
    let mut answer = ask(python, &json!({"validate": file}))?;
    Ok(serde_json::from_value(answer["errors"].take())?)
}

fn ask(python: &str, request: &Value) -> Result<Value, Failed> {
    static WORKERS: Workers = Workers::new("crates/sinew-cli/tests/convert/gltf_eval/worker.py");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gltf_eval");
    Ok(WORKERS.ask(python, &folder, request)?)
}
