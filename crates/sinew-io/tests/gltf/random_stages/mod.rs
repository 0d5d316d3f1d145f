//! Random stages of `random_stages.py`, and what is written of them: glTF, also with baked meshes, flattened and baked USD, and bone
//! textures. Each shows what sinew's scene of the stage shows, or is as far off as a warning states.

mod bones;
mod gltf_out;
mod truth;
mod usd_out;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use glam::DVec3;
use libtest_mimic::Failed;
use serde::Deserialize;

use crate::play::text;
use crate::seeds::{asked, write};
use crate::shown::Shown;
use common::compare::size;
use common::python;
use common::trials::Trial;
use truth::Stage;

const STAGES: Range<u64> = 0..200;

/// Seeds with small meshes on chains of joints with animated scales, which are farther off than is promised. They take long.
const FAR: [u64; 3] = [352, 396, 429];

pub fn trials() -> Vec<Trial> {
    let far = FAR.into_iter().filter(|_| common::all());
    let far = far.map(|seed| seed..seed + 1);
    let seeds = far.chain([asked(STAGES, 0..20)]);
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

/// A stage, and what of it was compared so far.
struct Subject<'a> {
    folder: &'a Path,
    seed: u64,
    name: String,
    told: Told,
    reports: &'a mut Reports,
}

type Reports = BTreeMap<&'static str, Report>;

/// What was compared of one kind of output.
#[derive(Debug, Default)]
struct Report {
    stages: usize,
    meshes: usize,
    moments: usize,
    /// The largest difference that no warning states, relative to the mesh's size.
    worst: f64,
    /// The largest difference of unit normals, at keys and between.
    worst_normals: [f64; 2],
    stated: usize,
    worst_stated: f64,
    failures: Vec<String>,
}

/// Every seed. The files stay where one fails.
fn each(python: &str, seeds: Range<u64>) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    write(python, "random_stages.py", &seeds, folder.path())?;
    let mut reports = Reports::new();
    for seed in seeds {
        let name = format!("seed{seed}");
        let told = std::fs::read_to_string(folder.path().join(format!("{name}.json")))?;
        let mut subject = Subject {
            folder: folder.path(),
            seed,
            told: serde_json::from_str(&told)?,
            name,
            reports: &mut reports,
        };
        subject.run("glTF", gltf_out::skinned);
        // Most of these is the same as before: a part of the stages is enough for the time that they take.
        if seed % 2 == 0 {
            subject.run("baked glTF", gltf_out::baked);
        }
        if seed % 4 == 0 {
            subject.run("flattened", usd_out::flattened);
        }
        subject.run("baked", usd_out::baked);
        subject.run("bones", bones::texture);
    }
    if std::env::var_os("SINEW_REPORT").is_some() {
        println!("{reports:#?}");
    }
    let failures = reports.values().flat_map(|r| &r.failures);
    let failures: Vec<&String> = failures.collect();
    match failures.len() {
        0 => Ok(()),
        n => {
            let first: Vec<String> = failures.into_iter().take(12).cloned().collect();
            let place = folder.keep();
            let place = place.display();
            Err(format!("{n} in {place}:\n{}", first.join("\n")).into())
        }
    }
}

impl Subject<'_> {
    fn run(&mut self, kind: &'static str, compare: fn(&Self, &mut Report) -> Result<(), Failed>) {
        let mut report = self.reports.remove(kind).unwrap_or_default();
        report.stages += 1;
        let before = report.failures.len();
        if let Err(e) = compare(self, &mut report) {
            report.failures.push(format!("{}: {}", self.name, text(&e)));
        }
        for failure in &mut report.failures[before..] {
            *failure = format!("{kind}: {failure}");
        }
        self.reports.insert(kind, report);
    }

    fn file(&self, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}{suffix}", self.name))
    }

    /// The stage as it shows a clip.
    fn stage(&self, clip: &str) -> Result<Stage, Failed> {
        let shows = self.told.clips.get(clip);
        let shows = shows.ok_or_else(|| format!("a clip '{clip}'"))?;
        Stage::open(&self.folder.join(shows), None)
    }
}

/// A time that is looked at.
#[derive(Clone, Copy)]
struct Moment {
    code: f64,
    is_key: bool,
}

/// Parts of the span between two keys at which it is looked at: spans take turns.
const INSIDE: [[f64; 2]; 2] = [[0.02, 0.5], [0.3, 0.98]];

/// How far a mesh may be off.
struct Allowed {
    /// Points at keys and between them, relative to the mesh's size.
    points: [f64; 2],
    /// Unit normals at keys and between them; none where they are not compared.
    normals: Option<[f64; 2]>,
    /// What a warning states, in metres.
    stated: Option<f64>,
}

impl Report {
    /// Compares a mesh, and notes that it differs.
    fn check(
        &mut self,
        what: &str,
        path: &str,
        (want, got): (&Shown, &Shown),
        moments: &[Moment],
        allowed: &Allowed,
    ) {
        if let Err(e) = self.compare(want, got, moments, allowed) {
            self.failures
                .push(format!("{path} of {what}: {}", text(&e)));
        }
    }

    /// Compares a mesh at all moments, corner by corner.
    fn compare(
        &mut self,
        want: &Shown,
        got: &Shown,
        moments: &[Moment],
        allowed: &Allowed,
    ) -> Result<(), Failed> {
        if want.corners.len() != got.corners.len() {
            return Err("other faces".into());
        }
        self.meshes += 1;
        self.moments += moments.len();
        self.stated += usize::from(allowed.stated.is_some());
        let sizes: Vec<f64> = want.points.iter().map(|p| size(p)).collect();
        let largest = sizes.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        for (i, Moment { code, is_key }) in moments.iter().enumerate() {
            let between = usize::from(!is_key);
            let apart = want.points[i].iter().zip(&got.points[i]);
            let error = apart.map(|(a, b)| a.distance(*b)).fold(0.0, worse);
            let most = allowed.points[between] * sizes[i].max(0.1 * largest);
            let relative = error / largest;
            let worst = match allowed.stated {
                None => &mut self.worst,
                Some(_) => &mut self.worst_stated,
            };
            *worst = worst.max(relative);
            // A NaN is not near.
            let is_near = error <= most + 1.02 * allowed.stated.unwrap_or_default();
            if !is_near {
                let stated = allowed.stated.map(|stated| stated / largest);
                let text = format!(
                    "at time code {code} (key: {is_key}): off by {relative:.2e}, stated: {stated:?}"
                );
                return Err(text.into());
            }
            // Points that are elsewhere have other normals.
            let Some(normals) = allowed.normals.filter(|_| allowed.stated.is_none()) else {
                continue;
            };
            if want.normals[i].len() != got.normals[i].len() {
                return Err(format!("{} normals", got.normals[i].len()).into());
            }
            // What has no size, or no joint, has no normal.
            let pairs = want.normals[i].iter().zip(&got.normals[i]);
            let apart = pairs.filter(|(a, _)| **a != DVec3::ZERO);
            let error = apart.map(|(a, b)| a.distance(*b)).fold(0.0, worse);
            let worst = &mut self.worst_normals[between];
            *worst = worst.max(error);
            let is_near = error <= normals[between];
            if !is_near {
                let text =
                    format!("normals at time code {code} (key: {is_key}): off by {error:.2e}");
                return Err(text.into());
            }
        }
        Ok(())
    }
}

/// The larger of two distances; NaN if one is.
fn worse(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}
