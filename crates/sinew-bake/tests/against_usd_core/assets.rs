//! Real files, from Pixar, Maya, Blender and others, where `SINEW_ASSETS` names their folder.
//!
//! `SINEW_PYTHON` names a Python with usd-core 26.11, which bakes the same files.

use std::path::{Path, PathBuf};

use common::compare::compare_within;
use common::files::{missing, usd_files};
use common::trials::Trial;
use common::{gpu, python, tolerance};
use glam::DVec3;
use libtest_mimic::Failed;
use sinew::sampled::Time;
use sinew::skel::reference;
use sinew_bake::Backend;
use sinew_io::usd::{ReadOptions, UsdFile};

use crate::differential::real_file;

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
    let unless = |trial: Trial, missing: Option<&str>, skip: bool| match missing {
        None if !skip => trial,
        _ => trial
            .with_kind(missing.unwrap_or_default())
            .with_ignored_flag(true),
    };
    let mut trials = Vec::new();
    for (file, missing) in files {
        let below = assets.as_deref().and_then(|a| file.strip_prefix(a).ok());
        let name = below.unwrap_or(&file).display().to_string();
        for (backend, kind, skip) in [(Backend::Cpu, "cpu", false), (Backend::Gpu, "gpu", no_gpu)] {
            let file = file.clone();
            let run = move |python: &str| real_file(python, &file, refusal(&file), backend);
            let trial = python::trial(&format!("pixar_{kind}::{name}"), run);
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
    trials
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
