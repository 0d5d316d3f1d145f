//! Stages of our own against what Pixar's usd-core made of them (tests/goldens/make_goldens.py).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::compare::{bounds, compare_hints, compare_matrices, compare_within, size};
use common::trials::Trial;
use common::{gpu, pixar::same_binding, tolerance, usd};
use glam::{DMat4, DVec3};
use libtest_mimic::Failed;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew::skel::reference;
use sinew_bake::{Backend, BakeOptions, Rigid, bake};
use sinew_io::usd::{ReadOptions, UsdFile};
use sinew_layer::Value as Usd;
use sinew_stage::Stage;

/// Where sinew differs from Pixar on purpose: (stage, prim, why).
const DIFFERS: &[(&str, &str, &str)] = &[(
    "blend_bad_inbetweens",
    "/World/Char/Geo/MSame",
    "Pixar uses both of two in-betweens of one weight; the schema text has the second ignored (rule 13), and so do we",
)];

type Run = fn(&Golden) -> Result<(), Failed>;

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("tests/goldens")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.to_string_lossy().ends_with(".golden.json"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 49, "{} goldens found", paths.len());
    let no_gpu = gpu::ignored();
    for path in paths {
        let name = path
            .file_name()
            .and_then(|n| n.to_str())
            .expect("UTF-8")
            .replace(".golden.json", "");
        let golden = Golden::read(&path, name.clone());
        let runs: [(&str, bool, Run); 6] = [
            ("bindings", false, Golden::bindings),
            ("reference", false, Golden::reference),
            ("bake_cpu", false, |g| g.bake(Backend::Cpu, false)),
            ("bake_layer", false, |g| g.bake(Backend::Cpu, true)),
            ("bake_gpu", no_gpu, |g| g.bake(Backend::Gpu, false)),
            ("rigid_points", false, Golden::bake_rigid_points),
        ];
        let count = if golden.is_rigid() { 6 } else { 5 };
        for (kind, skip, run) in &runs[..count] {
            let (golden, run) = (golden.clone(), *run);
            let trial = Trial::test(format!("{kind}::{name}"), move || run(&golden));
            trials.push(trial.with_ignored_flag(*skip));
        }
    }
    trials
}

fn folder() -> PathBuf {
    common::repository().join("tests/goldens")
}

#[derive(Clone)]
struct Golden {
    name: String,
    stage: PathBuf,
    json: Value,
}

/// Samples of one attribute: (time, vectors).
type Samples = Vec<(Time, Vec<DVec3>)>;

impl Golden {
    fn read(path: &Path, name: String) -> Self {
        let text = std::fs::read_to_string(path).expect("a golden");
        let json: Value = serde_json::from_str(&text).expect("JSON");
        let stage = folder().join(json["stage"].as_str().expect("a stage"));
        Self { name, stage, json }
    }

    fn scene(&self) -> Result<Scene, Failed> {
        Ok(UsdFile::open(&self.stage)?.scene(ReadOptions::default())?)
    }

    /// Every prim that has influences or shapes at Pixar's is bound here to the same Skeleton and
    /// animation, and no other prim is.
    fn bindings(&self) -> Result<(), Failed> {
        let scene = self.scene()?;
        let theirs = self.json["bindings"].as_object().ok_or("no bindings")?;
        for (prim, want) in theirs {
            let has_data = !want["joints"].is_null() || !want["blend_shapes"].is_null();
            let ours = scene.resolve(prim);
            if !has_data {
                if ours.is_ok_and(|o| o.binding().unsupported.is_none()) {
                    return Err(format!("{prim}: bound here, without data at Pixar's").into());
                }
                continue;
            }
            same_binding(&ours?, want)?;
        }
        for binding in &scene.bindings {
            if binding.unsupported.is_none() && !theirs.contains_key(&binding.path) {
                return Err(format!("{}: bound here and not at Pixar's", binding.path).into());
            }
        }
        Ok(())
    }

    /// Baked prims that sinew has to match.
    fn prims(&self) -> Result<Vec<BakedPrim>, Failed> {
        let mut out = Vec::new();
        for (prim, attributes) in self.json["baked"].as_object().ok_or("nothing baked")? {
            let differs =
                |(stage, path, _): &&(&str, &str, &str)| *stage == self.name && path == prim;
            if DIFFERS.iter().any(|d| differs(&d)) {
                continue;
            }
            out.push(BakedPrim {
                path: prim.clone(),
                points: samples(&attributes["points"])?,
                normals: samples(&attributes["normals"])?,
                extent: samples(&attributes["extent"])?,
                transform: matrices(&attributes["transform"])?,
                as_points: samples(&attributes["deformed_prim_space"])?,
            });
        }
        Ok(out)
    }

    fn is_rigid(&self) -> bool {
        self.prims()
            .is_ok_and(|p| p.iter().any(|p| !p.as_points.is_empty()))
    }

    fn reference(&self) -> Result<(), Failed> {
        let scene = self.scene()?;
        let mut compared = 0;
        for prim in self.prims()? {
            let path = &prim.path;
            let bound = scene.resolve(path)?;
            for (time, want) in &prim.transform {
                let got = bound.rigid_transform(*time)?;
                let want = as_ours(&scene, path, *time, *want)?;
                let allowed = tolerance::PIXAR_TRANSFORM;
                compare_matrices(&format!("{path} transform at {time}"), got, want, allowed)?;
                compared += 1;
            }
            // Hydra deforms the points of a rigid prim, and so does the reference.
            let (points, mut normals) = match prim.as_points.is_empty() {
                true => (prim.points, prim.normals.into_iter()),
                false => (prim.as_points, Vec::new().into_iter()),
            };
            for (time, want) in points {
                let skin = bound.skin(time)?;
                let got = reference::deform(&skin, &bound.pose(time)?).unwrap();
                let rest: Vec<DVec3> = skin.points().iter().map(|p| p.as_dvec3()).collect();
                let allowed = tolerance::PIXAR_REFERENCE_POINTS * size(&rest).max(size(&want));
                compare_within(
                    &format!("{path} points at {time}"),
                    &got.points,
                    &want,
                    allowed,
                )?;
                compared += 1;
                if let Some((t, want)) = normals.next() {
                    assert_eq!(t, time, "{path}: normals sampled with the points");
                    let got = got.normals.ok_or_else(|| format!("{path}: no normals"))?;
                    let allowed = tolerance::PIXAR_REFERENCE_NORMALS;
                    compare_within(&format!("{path} normals at {time}"), &got, &want, allowed)?;
                }
            }
        }
        if compared == 0 {
            return Err("nothing was compared".into());
        }
        Ok(())
    }

    /// The whole way: a file in, a file out, read as a stage.
    fn bake(&self, backend: Backend, layer: bool) -> Result<(), Failed> {
        let mut options = BakeOptions::default();
        // Pixar's hints count Skeletons that still move.
        options.keep_bindings = true;
        options.backend = backend;
        options.layer = layer;
        let baked = self.baked(options)?;
        let (scene, stage) = (self.scene()?, &baked.stage);
        let mut compared = 0;
        for prim in self.prims()? {
            let path = &prim.path;
            for (what, samples) in [
                ("points", prim.points),
                ("normals", prim.normals),
                ("extent", prim.extent),
            ] {
                compared += same_samples(stage, path, what, &samples)?;
            }
            for (time, want) in prim.transform {
                if overlooked_ancestors(stage, path, "xformOp:transform", time) {
                    continue;
                }
                let got = usd::local_transform(stage, path, time.code())
                    .ok_or_else(|| format!("{path}: not moved"))?;
                let want = as_ours(&scene, path, time, want)?;
                let allowed = tolerance::PIXAR_TRANSFORM;
                compare_matrices(&format!("{path} transform at {time}"), got, want, allowed)?;
                compared += 1;
            }
        }
        for (prim, hints) in self.json["hints"].as_object().into_iter().flatten() {
            let hints = samples(hints)?;
            assert!(!hints.is_empty(), "{prim}: no hint at Pixar's");
            for (time, want) in hints {
                same_vectors(stage, prim, "extentsHint", time.code(), &want)?;
            }
        }
        if compared == 0 {
            return Err("nothing was compared".into());
        }
        self.clips(stage)?;
        for prim in self.skel_roots_of_baked_prims()? {
            assert_eq!(
                usd::type_name(stage, &prim),
                "Xform",
                "{prim} would skin twice (rule 32)"
            );
        }
        Ok(())
    }

    /// Rigid prims as points, with their transforms as they were.
    fn bake_rigid_points(&self) -> Result<(), Failed> {
        let mut options = BakeOptions::default();
        // Pixar's hints count Skeletons that still move.
        options.keep_bindings = true;
        options.backend = Backend::Cpu;
        options.rigid = Rigid::Points;
        let baked = self.baked(options)?;
        let mut compared = 0;
        for prim in self.prims()? {
            compared += same_samples(&baked.stage, &prim.path, "points", &prim.as_points)?;
        }
        assert!(compared > 0, "no rigid prim compared");
        Ok(())
    }

    fn baked(&self, options: BakeOptions) -> Result<Baked, Failed> {
        let folder = tempfile::tempdir()?;
        let out = folder.path().join("out.usdc");
        bake(&self.stage, &out, &options, &mut |_| {})?;
        Ok(Baked {
            stage: usd::open(&out),
            _folder: folder,
        })
    }

    /// What value clips supply beside the baked points is written into the flattened file, and is as
    /// usd-core resolves it: at the samples, between and beyond them, and on both sides of a jump.
    fn clips(&self, stage: &Stage) -> Result<(), Failed> {
        let Some(attributes) = self.json["clips"].as_object() else {
            return Ok(());
        };
        let baked = self.json["baked"].as_object().ok_or("nothing baked")?;
        let mut compared = 0;
        for (path, values) in attributes {
            let is_baked = path
                .rsplit_once('.')
                .is_some_and(|(p, _)| baked.contains_key(p));
            if is_baked {
                continue;
            }
            for (time, want) in values.as_object().ok_or("values")? {
                let (prim, name) = path.split_once('.').ok_or("a property")?;
                let got = usd::value(stage, prim, name, Some(time.parse()?));
                let (mut numbers, mut wanted) = (Vec::new(), Vec::new());
                flatten_json(want, &mut wanted);
                match got {
                    Some(Usd::Token(t)) => {
                        assert_eq!(want.as_str(), Some(t.as_str()), "{path} at {time}")
                    }
                    Some(value) => flatten_value(&value, &mut numbers),
                    None => assert!(want.is_null(), "{path} at {time}: no value"),
                }
                let same = numbers.len() == wanted.len()
                    && numbers
                        .iter()
                        .zip(&wanted)
                        .all(|(a, b)| (a - b).abs() <= tolerance::CLIPS * b.abs().max(1.0));
                if !same {
                    return Err(
                        format!("{path} at {time}: {numbers:?}, at Pixar's {wanted:?}").into(),
                    );
                }
                compared += 1;
            }
        }
        assert!(compared > 50, "{compared} values that clips supply");
        Ok(())
    }

    fn skel_roots_of_baked_prims(&self) -> Result<Vec<String>, Failed> {
        let scene = self.scene()?;
        let roots = scene.bindings.iter().filter(|b| b.unsupported.is_none());
        Ok(roots
            .map(|b| scene.prims[b.skel_root].path.clone())
            .collect())
    }
}

/// A baked stage and the folder it lives in.
struct Baked {
    stage: Stage,
    _folder: tempfile::TempDir,
}

/// What Pixar's bake made of one prim.
struct BakedPrim {
    path: String,
    points: Samples,
    normals: Samples,
    /// Of prims whose widths count too.
    extent: Samples,
    /// parent_from_prim of a rigid prim.
    transform: Vec<(Time, DMat4)>,
    /// That transform brought into the points instead.
    as_points: Samples,
}

/// A rigid prim that resets its transform stack still does in our bake, and so holds its world
/// transform; Pixar's drops the reset and takes the parent's transform out instead.
fn as_ours(scene: &Scene, prim: &str, time: Time, local: DMat4) -> Result<DMat4, Failed> {
    let prim = &scene.prims[scene.resolve(prim)?.binding().prim];
    Ok(match prim.parent.filter(|_| prim.xform.resets) {
        Some(parent) => scene.world_from_prim(parent, time) * local,
        None => local,
    })
}

/// Pixar overlooks moving ancestors and writes a default value where sinew samples them (rule 31).
fn overlooked_ancestors(stage: &Stage, prim: &str, what: &str, time: Time) -> bool {
    time == Time::Default && !usd::times(stage, prim, what).is_empty()
}

/// Values at Pixar's sample times, interpolated where sinew needed no sample of its own.
fn same_samples(stage: &Stage, prim: &str, what: &str, samples: &Samples) -> Result<usize, Failed> {
    let mut compared = 0;
    for (time, want) in samples {
        if overlooked_ancestors(stage, prim, what, *time) {
            continue;
        }
        let got = same_vectors(stage, prim, what, time.code(), want)?;
        compared += 1;
        if what == "points" && usd::type_name(stage, prim) == "Mesh" {
            let extent = usd::vectors(stage, prim, "extent", time.code());
            let extent = extent.ok_or_else(|| format!("{prim}: no extent"))?;
            let what = format!("{prim} extent at {time}");
            compare_within(&what, &extent, &bounds(&got), tolerance::EXTENT)?;
        }
    }
    Ok(compared)
}

/// Compares a property at a time with Pixar's, and returns its values.
fn same_vectors(
    stage: &Stage,
    prim: &str,
    property: &str,
    time: Option<f64>,
    want: &[DVec3],
) -> Result<Vec<DVec3>, Failed> {
    let what = format!("{prim} {property} at {time:?}");
    let got = usd::vectors(stage, prim, property, time);
    let got = got.ok_or_else(|| format!("{what}: no value"))?;
    let points = tolerance::PIXAR_BAKE_POINTS;
    match property {
        "extentsHint" => compare_hints(&what, &got, want, points)?,
        "points" | "extent" => compare_within(&what, &got, want, points * size(want))?,
        _ => compare_within(&what, &got, want, tolerance::PIXAR_BAKE_NORMALS)?,
    }
    Ok(got)
}

fn flatten_json(value: &Value, out: &mut Vec<f64>) {
    match value {
        Value::Array(values) => values.iter().for_each(|v| flatten_json(v, out)),
        Value::Number(n) => out.extend(n.as_f64()),
        _ => {}
    }
}

/// The types that the clip goldens hold; quaternions as w, x, y, z.
fn flatten_value(value: &Usd, out: &mut Vec<f64>) {
    match value {
        Usd::QuatfArray(v) => out.extend(v.iter().flat_map(|q| {
            let [x, y, z, w] = q.0.map(f64::from);
            [w, x, y, z]
        })),
        other => out.extend(usd::numbers(other)),
    }
}

/// Row-vector matrices of usd-core, as column-vector ones: the same sixteen numbers.
fn matrices(json: &Value) -> Result<Vec<(Time, DMat4)>, Failed> {
    let all = by_time::<[f64; 16]>(json)?.into_iter();
    Ok(all.map(|(t, m)| (t, DMat4::from_cols_array(&m))).collect())
}

fn samples(json: &Value) -> Result<Samples, Failed> {
    let all = by_time::<Vec<[f64; 3]>>(json)?.into_iter();
    let vectors = |v: Vec<[f64; 3]>| v.into_iter().map(DVec3::from).collect();
    Ok(all.map(|(t, v)| (t, vectors(v))).collect())
}

/// Values by time; none if there is no object of them.
fn by_time<T: DeserializeOwned>(json: &Value) -> Result<Vec<(Time, T)>, Failed> {
    let all: Option<BTreeMap<String, T>> = serde_json::from_value(json.clone())?;
    let timed = all.unwrap_or_default().into_iter().map(|(time, value)| {
        let time = match time.as_str() {
            "default" => Time::Default,
            time => Time::At(time.parse()?),
        };
        Ok((time, value))
    });
    timed.collect()
}
