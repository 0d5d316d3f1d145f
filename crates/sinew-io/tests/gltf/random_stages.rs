//! Random stages of `random_stages.py`: every clip of their .glb shows what sinew's scene of the stage shows, or is as far off as a
//! warning states.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use glam::DVec3;
use gltf::animation::Property;
use libtest_mimic::Failed;
use serde::Deserialize;
use sinew::sampled::Time;
use sinew::scene::{DrawnMesh, Scene};
use sinew::skel::reference;

use crate::convert::{How, Written, to_gltf};
use crate::eval::Document;
use crate::eval::clip::Clip;
use crate::judges::valid_gltf;
use crate::play::text;
use crate::seeds::{asked, write};
use crate::shown::{Shown, by_corner, shown};
use crate::stages::ALLOWED;
use common::compare::size;
use common::trials::Trial;
use common::{node, python, tolerance};

const STAGES: Range<u64> = 0..200;

/// Seeds with small meshes on chains of joints with animated scales, which are farther off than is promised.
const FAR: [u64; 3] = [352, 396, 429];

pub fn trials() -> Vec<Trial> {
    let far = FAR.map(|seed| seed..seed + 1);
    let seeds = far.into_iter().chain([asked(STAGES, 0..20)]);
    let trial =
        |seeds: Range<u64>| python::trial(&format!("{seeds:?}"), move |python| each(python, seeds));
    seeds.map(trial).collect()
}

/// What the script says of a stage.
#[derive(Deserialize)]
struct Told {
    /// The stage that shows each clip.
    clips: BTreeMap<String, String>,
    /// Time codes at which something has a sample.
    times: Vec<f64>,
}

/// What was compared.
#[derive(Debug, Default)]
struct Report {
    stages: usize,
    meshes: usize,
    moments: usize,
    /// The largest difference that no warning states, relative to the mesh's size.
    worst: f64,
    stated: usize,
    worst_stated: f64,
    failures: Vec<String>,
}

/// Every seed. The files stay where one fails.
fn each(python: &str, seeds: Range<u64>) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    write(python, "random_stages.py", &seeds, folder.path())?;
    let mut report = Report::default();
    for seed in seeds {
        let name = format!("seed{seed}");
        if let Err(e) = one(folder.path(), &name, &mut report) {
            report.failures.push(format!("{name}: {}", text(&e)));
        }
    }
    if std::env::var_os("SINEW_REPORT").is_some() {
        println!("{report:#?}");
    }
    match report.failures.len() {
        0 => Ok(()),
        n => {
            let first = report.failures.iter().take(8).cloned().collect::<Vec<_>>();
            let place = folder.keep();
            let place = place.display();
            Err(format!("{n} in {place}:\n{}", first.join("\n")).into())
        }
    }
}

fn one(folder: &Path, name: &str, report: &mut Report) -> Result<(), Failed> {
    let told = std::fs::read_to_string(folder.join(format!("{name}.json")))?;
    let told: Told = serde_json::from_str(&told)?;
    let stage = folder.join(format!("{name}.usda"));
    let written = to_gltf(&stage, folder.join(format!("{name}.glb")), &How::default())?;
    if node::missing().is_none() {
        valid_gltf(&written.file, ALLOWED)?;
    }
    report.stages += 1;
    let document = Document::open(&written.file);
    for clip in &document.clips {
        let shows = told.clips.get(&clip.name);
        let shows = shows.ok_or_else(|| format!("a clip '{}'", clip.name))?;
        let scene = sinew_io::open(folder.join(shows))?;
        let geometry = scene.scene(Default::default())?;
        let meshes = scene.geometry(&geometry)?.meshes;
        let rate = geometry.time_line.time_codes_per_second;
        let keys: Vec<f64> = clip.key_times();
        let moments = moments(&told.times, &keys, rate);
        let seconds: Vec<f64> = moments.iter().map(|m| m.0).collect();
        let codes: Vec<f64> = seconds.iter().map(|s| s * rate).collect();
        let got = by_corner(shown(&document, &[clip], &seconds));
        for mesh in &meshes {
            let want = by_corner(vec![truth(&geometry, mesh, &codes)?]).remove(0);
            let sheared = format!("{}_shear", want.name);
            let found = got
                .iter()
                .find(|s| s.name == want.name || s.name == sheared);
            let found = found.ok_or_else(|| format!("no mesh {}", want.name))?;
            report.meshes += 1;
            report.moments += moments.len();
            if let Err(e) = compare(
                &want,
                found,
                &moments,
                (&geometry, clip, &written),
                &mesh.path,
                report,
            ) {
                report.failures.push(format!(
                    "{name} {} {}: {}; {:?}",
                    clip.name,
                    want.name,
                    text(&e),
                    written.codes()
                ));
            }
        }
    }
    Ok(())
}

/// Seconds, and whether they are a key: all samples of the stage and all keys of the clip, on both sides of cuts, and some between.
fn moments(codes: &[f64], keys: &[f64], rate: f64) -> Vec<(f64, bool)> {
    let mut all: Vec<f64> = codes.iter().map(|code| code / rate).collect();
    all.extend(keys);
    all.sort_by(f64::total_cmp);
    // Times that differ by the rounding of f32 are one.
    let near = |a: f64, b: f64| (a - b).abs() <= 2.0 * f64::from(f32::EPSILON) * b.abs();
    all.dedup_by(|a, b| near(*a, *b));
    let mut out = Vec::new();
    for (i, seconds) in all.iter().enumerate() {
        // In a cut a time that is rounded has another value: it is looked at from outside.
        let aside = 4.0 * f64::from(f32::EPSILON) * seconds;
        let before = i > 0 && seconds - all[i - 1] < CLOSE;
        let after = all.get(i + 1).is_some_and(|next| next - seconds < CLOSE);
        match (before, after) {
            (false, false) => out.push((*seconds, true)),
            (true, false) => out.push((seconds + aside, true)),
            (false, true) => out.push((seconds - aside, true)),
            (true, true) => {}
        }
        if let Some(next) = all.get(i + 1).filter(|_| !after) {
            let inside = [0.02, 0.3, 0.5, 0.98].map(|share| seconds + (next - seconds) * share);
            out.extend(inside.map(|seconds| (seconds, false)));
        }
    }
    out
}

/// Seconds between keys below which nothing is looked at between them.
const CLOSE: f64 = 1e-3;

/// What sinew's scene shows of a mesh, in metres with y up.
fn truth(scene: &Scene, mesh: &DrawnMesh, codes: &[f64]) -> Result<Shown, Failed> {
    let name = mesh.path.rsplit('/').next().unwrap_or_default();
    let topology = &mesh.topology;
    let mut out = Shown {
        name: name.to_owned(),
        corners: topology
            .corner_points()
            .iter()
            .map(|p| *p as usize)
            .collect(),
        ..Shown::default()
    };
    for code in codes {
        let time = Time::At(*code);
        let mut world = mesh.world_from_prim(time);
        let points = match mesh.binding.map(|b| scene.bound(b)) {
            Some(bound) => {
                let prim = bound.binding().prim;
                world = scene.world_from_prim(prim, time);
                let skin = bound.skin(time)?;
                let deformed = reference::deform(&skin, &bound.pose(time)?).unwrap();
                let points = deformed.points.iter().map(|p| world.transform_point3(*p));
                let points = points.collect::<Vec<_>>();
                if bound.binding().is_rigid() {
                    // A bake moves the prim in place of its points.
                    let parent = scene.prims[prim].parent;
                    let above = parent.map(|p| scene.world_from_prim(p, time));
                    let above = above.unwrap_or_default();
                    world = above * bound.rigid_transform(time)?;
                }
                points
            }
            None => {
                let points = mesh.points.at(time).ok_or("points")?;
                points
                    .iter()
                    .map(|p| world.transform_point3(p.as_dvec3()))
                    .collect()
            }
        };
        if out.points.is_empty() {
            out.left_handed = topology.is_left_handed() != (world.determinant() < 0.0);
        }
        let in_metres = |p: DVec3| match scene.up_axis {
            'Z' => DVec3::new(p.x, p.z, -p.y) * scene.meters_per_unit,
            _ => p * scene.meters_per_unit,
        };
        out.points.push(points.into_iter().map(in_metres).collect());
    }
    Ok(out)
}

/// Compares a mesh at all moments, corner by corner.
fn compare(
    want: &Shown,
    got: &Shown,
    moments: &[(f64, bool)],
    (scene, clip, written): (&Scene, &Clip, &Written),
    path: &str,
    report: &mut Report,
) -> Result<(), Failed> {
    if want.corners.len() != got.corners.len() {
        return Err("other faces".into());
    }
    let sizes: Vec<f64> = want.points.iter().map(|p| size(p)).collect();
    let largest = sizes.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let stated = written
        .stated_distance(path)
        .map(|d| d * scene.meters_per_unit);
    // At keys of others scales are halves.
    let exact = !clip.animates(Property::Scale);
    for (i, (seconds, is_key)) in moments.iter().enumerate() {
        let apart = want.points[i].iter().zip(&got.points[i]);
        let error = apart.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        let allowed = match *is_key && exact {
            true => tolerance::GLTF_OUT_AT_KEYS,
            false => tolerance::GLTF_OUT_BETWEEN_KEYS,
        };
        let allowed = allowed * sizes[i].max(0.1 * largest);
        let relative = error / largest;
        match stated {
            None => report.worst = report.worst.max(relative),
            Some(_) => report.worst_stated = report.worst_stated.max(relative),
        }
        if error > allowed + 1.02 * stated.unwrap_or_default() {
            let stated = stated.map(|stated| stated / largest);
            let text = format!(
                "at {seconds} s (key: {is_key}): off by {relative:.2e}, stated: {stated:?}"
            );
            return Err(text.into());
        }
    }
    report.stated += usize::from(stated.is_some());
    Ok(())
}
