//! Real files, from Pixar, Maya, Blender and others, where `SINEW_ASSETS` names their folder.
//!
//! `SINEW_PYTHON` names a Python with usd-core 26.11, which bakes the same files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use common::compare::compare_within;
use common::files::{missing, usd_files};
use common::trials::Trial;
use common::{gpu, pixar::same_binding, tolerance, usd};
use glam::DVec3;
use libtest_mimic::Failed;
use serde_json::Value;
use sinew::sampled::Time;
use sinew::skel::reference;
use sinew_bake::{Backend, BakeOptions, bake};
use sinew_io::usd::{ReadOptions, UsdFile};
use sinew_stage::Stage;

use crate::goldens::same_vectors;

/// Files that cannot be baked, with what their error has to say, and files that have to be there.
const FILES: &str = include_str!("assets.txt");

/// What the error of a file that cannot be baked has to say.
fn refusal(file: &Path) -> Option<&'static str> {
    let name = file.to_string_lossy();
    let mut refused = FILES.lines().filter_map(|l| l.split_once(" | "));
    refused
        .find(|(end, _)| name.ends_with(end))
        .map(|(_, says)| says)
}

/// Names of files that have to be there.
fn must_bake() -> impl Iterator<Item = &'static str> {
    let is_name = |l: &&str| !l.is_empty() && !l.starts_with('#') && !l.contains(" | ");
    FILES.lines().filter(is_name)
}

pub fn trials() -> Vec<Trial> {
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    let no_gpu = gpu::ignored();
    let real = assets.as_deref().map(usd_files).unwrap_or_default();
    let pixar = Arc::new(Pixar::new(real.clone()));
    let mut files: Vec<(PathBuf, Option<&str>)> = real.into_iter().map(|f| (f, None)).collect();
    for must in must_bake() {
        if files.iter().any(|(f, _)| f.ends_with(must)) {
            continue;
        }
        // The names of absent files show as ignored, so that nobody takes them for passed.
        let reason = missing(assets.as_deref(), must);
        assert!(reason.is_some(), "{must} is not in SINEW_ASSETS");
        files.push((PathBuf::from(must), reason));
    }
    let unless = |trial: Trial, missing: Option<&str>, skip: bool| {
        let trial = trial.with_kind(missing.unwrap_or_default());
        trial.with_ignored_flag(skip || missing.is_some())
    };
    let mut trials = Vec::new();
    for (file, missing) in files {
        let below = assets.as_deref().and_then(|a| file.strip_prefix(a).ok());
        let name = below.unwrap_or(&file).display().to_string();
        for (backend, kind, skip) in [(Backend::Cpu, "cpu", false), (Backend::Gpu, "gpu", no_gpu)] {
            let (file, pixar) = (file.clone(), pixar.clone());
            let run = move || one_file(&file, &pixar, backend);
            let trial = Trial::test(format!("pixar_{kind}::{name}"), run);
            trials.push(unless(trial, missing, skip));
        }
    }
    let root = assets.clone().unwrap_or_default();
    for name in ["rig_noscale.usda", "rig_noscale.usdc"] {
        let file = root.join("blender").join(name);
        let truth = root.join("blender/rig_noscale.truth.npz");
        let trial = Trial::test(format!("blender::{name}"), move || blender(&file, &truth));
        let missing = missing(assets.as_deref(), &format!("blender/{name}"));
        trials.push(unless(trial, missing, false));
    }
    let populate = "pixar-openusd/pxr/usd/usdSkel/testenv/testUsdSkelCache/populate.usda";
    let missing = missing(assets.as_deref(), populate);
    let populate = root.join(populate);
    let trial = Trial::test("populate::sources", move || populate_sources(&populate));
    trials.push(unless(trial, missing, false));
    trials
}

/// Pixar's bakes of all files, made once, when the first trial asks.
struct Pixar {
    files: Vec<PathBuf>,
    done: OnceLock<Result<Baked, String>>,
}

/// The folder of the baked stages, and what the script says of each file.
type Baked = (tempfile::TempDir, BTreeMap<PathBuf, Value>);

impl Pixar {
    fn new(files: Vec<PathBuf>) -> Self {
        Self {
            files,
            done: OnceLock::new(),
        }
    }

    /// The result for one file, and where its baked stage is.
    fn of(&self, file: &Path) -> Result<(&Value, PathBuf), Failed> {
        let done = self.done.get_or_init(|| self.run()).as_ref();
        let (folder, results) = done.map_err(|e| Failed::from(e.clone()))?;
        let number = self
            .files
            .iter()
            .position(|f| f == file)
            .ok_or("an unknown file")?;
        Ok((&results[file], folder.path().join(format!("{number}.usdc"))))
    }

    fn run(&self) -> Result<Baked, String> {
        let python = std::env::var("SINEW_PYTHON").map_err(
            |_| "SINEW_PYTHON has to name a Python with usd-core 26.11 (tests/run.sh makes one)",
        )?;
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let output = Command::new(&python)
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/against_usd_core/pixar_bake.py"
            ))
            .arg(folder.path())
            .args(&self.files)
            .output()
            .map_err(|e| format!("{python}: {e}"))?;
        if !output.status.success() {
            return Err(format!(
                "{python}: {}",
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        let json = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
        Ok((folder, json))
    }
}

fn one_file(file: &Path, pixar: &Pixar, backend: Backend) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out.usdc");
    let mut options = BakeOptions::default();
    // Pixar's hints count Skeletons that still move.
    options.keep_bindings = true;
    options.backend = backend;
    match (bake(file, &out, &options, &mut |_| {}), refusal(file)) {
        (Ok(_), None) => {}
        (Err(e), Some(says)) => {
            let (text, name) = (e.to_string(), file.file_name().ok_or("a name")?);
            let is_right = text.contains(says) && text.contains(&*name.to_string_lossy());
            let fault = format!("the error should name the file and say '{says}': {text}");
            return is_right.then_some(()).ok_or(fault.into());
        }
        (Ok(_), Some(_)) => return Err("was to be refused".into()),
        (Err(e), None) => return Err(e.into()),
    }
    let (theirs, baked) = pixar.of(file)?;
    if let Some(e) = theirs.get("error") {
        return Err(format!("usd-core cannot bake it: {e}").into());
    }
    same_bindings(file, theirs)?;
    let (ours, theirs_stage) = (usd::open(&out), usd::open(&baked));
    let mut compared = 0;
    for what in ["points", "normals", "extentsHint"] {
        for prim in theirs[what].as_array().ok_or("a list")? {
            let prim = prim.as_str().ok_or("a path")?;
            compared += same_samples(&ours, &theirs_stage, prim, what)?;
        }
    }
    if compared == 0 {
        return Err("nothing was compared".into());
    }
    Ok(())
}

/// Compares a property at Pixar's sample times; interpolation gives the value where sinew needed no
/// sample of its own. Returns how many samples of points and normals were compared.
fn same_samples(ours: &Stage, theirs: &Stage, prim: &str, what: &str) -> Result<usize, Failed> {
    let mut times: Vec<Option<f64>> = usd::times(theirs, prim, what)
        .into_iter()
        .map(Some)
        .collect();
    // Pixar samples no default hint beside times, and no times for what moves beside (rule 32).
    let is_hint = what == "extentsHint";
    if times.is_empty() && (!is_hint || usd::times(ours, prim, what).is_empty()) {
        times.push(None);
    }
    for time in &times {
        let want = usd::vectors(theirs, prim, what, *time);
        let want = want.ok_or_else(|| format!("{prim}.{what}: none at Pixar's"))?;
        same_vectors(ours, prim, what, *time, &want)?;
    }
    Ok(if is_hint { 0 } else { times.len() })
}

fn same_bindings(file: &Path, theirs: &Value) -> Result<(), Failed> {
    let scene = UsdFile::open(file)?.scene(ReadOptions::default())?;
    for (prim, want) in theirs["bindings"].as_object().ok_or("bindings")? {
        if want["influences"] != true && want["shapes"] != true {
            continue;
        }
        same_binding(&scene.resolve(prim)?, want)?;
    }
    Ok(())
}

/// World positions against the vertices that Blender computed, frame by frame.
fn blender(file: &Path, truth: &Path) -> Result<(), Failed> {
    let scene = UsdFile::open(file)?.scene(ReadOptions::default())?;
    let mut compared = 0;
    for (name, flat) in common::python::arrays(truth)? {
        let Some((mesh, frame)) = name.split_once('@') else {
            continue;
        };
        let want: Vec<DVec3> = flat.chunks_exact(3).map(DVec3::from_slice).collect();
        let bound = scene
            .bound_skins()
            .find(|b| b.binding().path.ends_with(&format!("/{mesh}")))
            .ok_or("the mesh")?;
        let time = Time::At(frame.parse()?);
        let deformed = reference::deform(&*bound.skin(time)?, &bound.pose(time)?).unwrap();
        let world = scene.world_from_prim(bound.binding().prim, time);
        let got: Vec<DVec3> = deformed
            .points
            .iter()
            .map(|p| world.transform_point3(*p))
            .collect();
        compare_within(&name, &got, &want, tolerance::BLENDER_METRES)?;
        compared += 1;
    }
    if compared < 10 {
        return Err(format!("{compared} frames compared").into());
    }
    Ok(())
}

/// Pixar's own test of animation sources binds no mesh to its Skeletons; this adds one to each.
fn populate_sources(populate: &Path) -> Result<(), Failed> {
    let expected = [
        ("/AnimBinding/Scope/Inherit", Some("/Anim1")),
        ("/AnimBinding/Scope/Override", Some("/Anim2")),
        ("/AnimBinding/Scope/Block", None),
        ("/AnimBinding/Unbound", None),
        ("/AnimBinding/BoundToInactiveAnim", None),
        ("/AnimBinding/Instance/Inherit", Some("/Anim1")),
        (
            "/AnimBinding/Instance/Override",
            Some("/AnimBinding/Instance/Anim"),
        ),
    ];
    let mut text = format!(
        "#usda 1.0\n(subLayers = [@{}@])\nover \"AnimBinding\" {{\n",
        populate.display()
    );
    for (i, (skeleton, _)) in expected.iter().enumerate() {
        text += &format!(
            r#"def Mesh "M{i}" (prepend apiSchemas = ["SkelBindingAPI"]) {{
                rel skel:skeleton = <{skeleton}>
                int[] primvars:skel:jointIndices = [] (interpolation = "vertex")
                float[] primvars:skel:jointWeights = [] (interpolation = "vertex")
            }}
            "#
        );
    }
    text += "}\n";
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("populate_bound.usda");
    std::fs::write(&file, text)?;
    let pixar = Pixar::new(vec![file.clone()]);
    let (theirs, _) = pixar.of(&file)?;
    let scene = UsdFile::open(&file)?.scene(ReadOptions::default())?;
    for (i, (skeleton, animation)) in expected.iter().enumerate() {
        let prim = format!("/AnimBinding/M{i}");
        let bound = scene.resolve(&prim)?;
        let got = bound
            .skeleton()
            .instance
            .animation()
            .map(|a| a.path.as_str());
        assert_eq!(bound.skeleton().path, *skeleton);
        assert_eq!(got, *animation, "{skeleton}");
        // usd-core names what an instance shares by its prototype (rule 5).
        let pixars = theirs["bindings"][&prim]["animation"].as_str();
        let same = match (pixars, animation) {
            (Some(theirs), Some(ours)) => match theirs.strip_prefix("/__Prototype_") {
                Some(inside) => ours.ends_with(inside.trim_start_matches(char::is_numeric)),
                None => theirs == *ours,
            },
            (theirs, ours) => theirs.is_none() && ours.is_none(),
        };
        assert!(
            same,
            "{skeleton}: {pixars:?} at Pixar's, {animation:?} here"
        );
    }
    Ok(())
}
