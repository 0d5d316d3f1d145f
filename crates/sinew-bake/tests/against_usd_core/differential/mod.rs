//! Random stages from seeds, baked by sinew and by Pixar's usd-core, compared in world space.
//!
//! `SINEW_PYTHON` names a Python with usd-core 26.11 (tests/run.sh makes one). `SINEW_SEEDS=FIRST` or
//! `SINEW_SEEDS=FIRST..END` runs other seeds than the usual ones. The Python files beside
//! this one make the stages, bake them and compare; differences.py lists what sinew is known to do otherwise.

mod total;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use common::trials::Trial;
use common::worker::Worker;
use common::{gpu, python, tolerance};
use libtest_mimic::Failed;
use serde_json::{Value, json};
use sinew_bake::{Backend, BakeOptions, Error, bake};
use total::Total;

/// All, and the usual ones.
const CPU_SEEDS: [Range<u64>; 2] = [0..500, 0..50];
const GPU_SEEDS: [Range<u64>; 2] = [0..50, 0..5];

/// The script that makes stages, bakes them with usd-core and compares.
const SCRIPT: &str = "crates/sinew-bake/tests/against_usd_core/differential/worker.py";

/// What the seeds have to exercise.
const COVERAGE: &str = include_str!("coverage.txt");

/// Stages that the comparison's own test perturbs.
const SELF_TEST_SEEDS: Range<u64> = 0..16;

pub fn trials() -> Vec<Trial> {
    let asked = std::env::var("SINEW_SEEDS").ok().map(|text| {
        seeds(&text).unwrap_or_else(|| panic!("SINEW_SEEDS: expected 7 or 7..90, found {text}"))
    });
    let usual = |[all, usual]: [Range<u64>; 2]| match common::all() {
        true => all,
        false => usual,
    };
    let cpu = asked.clone().unwrap_or(usual(CPU_SEEDS));
    let on_gpu = asked.clone().unwrap_or(usual(GPU_SEEDS));
    let least = match asked {
        None if common::all() => COVERAGE,
        _ => "",
    };
    let name = format!("cpu::seeds_{}..{}", cpu.start, cpu.end);
    let of_cpu = python::trial(&name, move |python| many(python, Backend::Cpu, cpu, least));
    let name = format!("gpu::seeds_{}..{}", on_gpu.start, on_gpu.end);
    let mut of_gpu = python::trial(&name, move |python| many(python, Backend::Gpu, on_gpu, ""));
    if gpu::ignored() {
        of_gpu = of_gpu.with_ignored_flag(true);
    }
    let of_comparison = python::trial("comparison::notices_what_is_wrong", self_test);
    vec![of_cpu, of_gpu, of_comparison]
}

fn seeds(text: &str) -> Option<Range<u64>> {
    let (first, end) = match text.split_once("..") {
        Some((first, end)) => (first.parse().ok()?, end.parse().ok()?),
        None => {
            let one = text.parse().ok()?;
            (one, one + 1)
        }
    };
    (first < end).then_some(first..end)
}

/// Bakes and compares the seeds on as many threads as there are cores.
fn many(python: &str, backend: Backend, seeds: Range<u64>, least: &str) -> Result<(), Failed> {
    let name = match backend {
        Backend::Cpu => "cpu",
        _ => "gpu",
    };
    let folder = scratch(name)?;
    let total = Mutex::new(Total::default());
    let next = AtomicU64::new(seeds.start);
    std::thread::scope(|scope| {
        for thread in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let (folder, total, next, seeds, backend) = (&folder, &total, &next, &seeds, &backend);
            scope.spawn(move || {
                let mut worker = Worker::new(python, SCRIPT, folder, thread);
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    let result = one(&mut worker, folder, seed, backend);
                    total.lock().expect("no panic").add(seed, result);
                }
            });
        }
    });
    let total = total.into_inner()?;
    println!("{name}: {}", serde_json::to_string_pretty(&total)?);
    total.judge(name, &folder, least)?;
    Ok(std::fs::remove_dir_all(folder)?)
}

/// A folder of this run's own, below target; it stays where something differs.
fn scratch(name: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("differential")
        .join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// One seed: what the comparison answers.
fn one(
    worker: &mut Result<Worker, String>,
    folder: &Path,
    seed: u64,
    backend: &Backend,
) -> Result<Value, String> {
    let worker = worker.as_mut().map_err(|e| e.clone())?;
    let (file, arc, baked) = generate_and_bake(worker, folder, seed, backend)?;
    let mut answer =
        worker.ask(&json!({"compare": file, "baked": baked, "tolerance": tolerances()}))?;
    answer["features"][format!("arc {arc}")] = 1.into();
    let failures = answer["failures"].as_array().ok_or("failures")?;
    if !failures.is_empty() {
        let texts: Vec<&str> = failures.iter().filter_map(Value::as_str).collect();
        return Err(format!(
            "{} differences\n      {}",
            texts.len(),
            texts[..texts.len().min(3)].join("\n      ")
        ));
    }
    for file in [&file, &baked] {
        // A stage that passes is not looked at again.
        std::fs::remove_file(file).ok();
    }
    Ok(answer)
}

/// The stage of a seed, the arc that composes it, and sinew's bake: the stage itself where there is
/// nothing to skin, as Pixar's bake then leaves it.
fn generate_and_bake(
    worker: &mut Worker,
    folder: &Path,
    seed: u64,
    backend: &Backend,
) -> Result<(PathBuf, String, PathBuf), String> {
    let made = worker.ask(&json!({"generate": seed, "folder": folder}))?;
    let text = |key: &str| made[key].as_str().map(str::to_owned).ok_or("a text");
    let (file, arc) = (PathBuf::from(text("file")?), text("arc")?);
    // Text, crate and layers of overs take turns.
    let extension = if seed.is_multiple_of(3) {
        "usda"
    } else {
        "usdc"
    };
    let baked = folder.join(format!("baked{seed}.{extension}"));
    let mut options = BakeOptions::default();
    options.backend = backend.clone();
    options.layer = seed % 5 == 4;
    let run = std::panic::AssertUnwindSafe(|| bake(&file, &baked, &options, &mut |_| {}));
    match std::panic::catch_unwind(run) {
        Ok(Ok(_)) => Ok((file, arc, baked)),
        Ok(Err(Error::NothingToSkin { .. })) => Ok((file.clone(), arc, file)),
        Ok(Err(e)) => Err(format!("sinew: {e}")),
        Err(_) => Err("sinew panicked".into()),
    }
}

fn tolerances() -> Value {
    json!({
        "points": tolerance::DIFFERENTIAL_POINTS,
        "normals": tolerance::PIXAR_BAKE_NORMALS,
        "transforms": tolerance::PIXAR_TRANSFORM,
        "tie": tolerance::HEMISPHERE_TIE,
    })
}

/// A file of Pixar's, Maya's, Blender's and others, as the seeds are: all transforms, points, normals,
/// extents and hints of its world. `refused` is what the error of a file says that cannot be baked;
/// what sinew refuses, Pixar leaves alone or cannot open.
pub fn real_file(
    python: &str,
    file: &Path,
    refused: Option<&str>,
    backend: Backend,
) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut worker = Worker::new(python, SCRIPT, folder.path(), 0)?;
    let baked = folder.path().join("baked.usdc");
    let mut options = BakeOptions::default();
    options.backend = backend;
    let result = bake(file, &baked, &options, &mut |_| {});
    let compared = match (&result, refused) {
        (Ok(_), None) => &*baked,
        (Err(e), Some(says)) => {
            let (text, name) = (e.to_string(), file.file_name().ok_or("a name")?);
            if !text.contains(says) || !text.contains(&*name.to_string_lossy()) {
                let fault = format!("the error should name the file and say '{says}': {text}");
                return Err(fault.into());
            }
            file
        }
        (Ok(_), Some(_)) => return Err("was to be refused".into()),
        (Err(e), None) => return Err(format!("sinew: {e}").into()),
    };
    let request = json!({"compare": file, "baked": compared, "tolerance": tolerances()});
    let answer = match (worker.ask(&request), &result) {
        (Ok(answer), _) => answer,
        (Err(e), Ok(_)) => return Err(e.into()),
        // usd-core cannot open it.
        (Err(_), Err(_)) => return Ok(()),
    };
    let failures = answer["failures"].as_array().ok_or("failures")?;
    if !failures.is_empty() {
        return Err(format!("{failures:#?}").into());
    }
    match (result, answer["baked"].as_u64()) {
        (Ok(_), Some(1..)) | (Err(Error::NothingToSkin { .. }), Some(0)) => Ok(()),
        (result, n) => Err(format!("Pixar bakes {n:?} prims, sinew says {result:?}").into()),
    }
}

/// The comparison fails for every way in which a bake can be wrong, and not for a bake that is right.
fn self_test(python: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let mut worker = Worker::new(python, SCRIPT, folder, 0)?;
    let mut noticed: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut passed = noticed.clone();
    for seed in SELF_TEST_SEEDS {
        let (file, _, baked) = generate_and_bake(&mut worker, folder, seed, &Backend::Cpu)?;
        let request = json!({"self_test": file, "baked": baked, "tolerance": tolerances()});
        let answer = worker.ask(&request)?;
        for (name, found) in answer["noticed"].as_object().ok_or("noticed")? {
            let list = match found.as_bool() {
                Some(true) => &mut noticed,
                _ => &mut passed,
            };
            list.entry(name.clone()).or_default().push(seed);
        }
    }
    if let Some(seeds) = noticed.remove("nothing") {
        return Err(format!("failed without a perturbation for seeds {seeds:?}").into());
    }
    passed.remove("nothing").ok_or("nothing was compared")?;
    // Some pass rightly: a sample that its neighbours interpolate to, a step that is small so far from the origin.
    let seeds = |list: &BTreeMap<String, Vec<u64>>, name: &str| list.get(name).map_or(0, Vec::len);
    for name in noticed.keys().chain(passed.keys()) {
        let (found, missed) = (seeds(&noticed, name), seeds(&passed, name));
        if found < 4 || found <= missed {
            return Err(format!("{name}: noticed in {found} stages, missed in {missed}").into());
        }
    }
    println!("comparison: {} kinds of wrong bakes noticed", noticed.len());
    match noticed.len() {
        12.. => Ok(()),
        n => Err(format!("only {n} perturbations were tried").into()),
    }
}
