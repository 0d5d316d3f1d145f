//! What the tests of all formats share.

use std::path::{Path, PathBuf};

use glam::DVec3;
use sinew_bake::{Backend, BakeOptions, BakeReport, FrameRange, OutSpace, Rigid, bake};

use crate::formats::{obj, stage};
use common::command::Bench;
use common::usd;
use sinew_layer::Value;
use sinew_stage::Stage;

pub fn project(file: &str) -> PathBuf {
    common::repository().join(file)
}

pub fn cpu() -> BakeOptions {
    let mut options = BakeOptions::default();
    options.backend = Backend::Cpu;
    options
}

pub fn frames(first: f64, last: f64, step: f64) -> BakeOptions {
    let mut options = cpu();
    options.frames = Some(FrameRange { first, last, step });
    options
}

pub fn run(input: &Path, output: &Path, options: &BakeOptions) -> BakeReport {
    bake(input, output, options, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"))
}

/// The three ways our own stage stands, as files.
pub fn own_stages(bench: &Bench) -> Vec<PathBuf> {
    let places = [
        ("still", ""),
        ("placed", stage::PLACED),
        ("mirrored", stage::MIRRORED),
    ];
    let write =
        |(name, place): &(&str, &str)| bench.write(&format!("{name}.usda"), stage::usda(place));
    places.iter().map(write).collect()
}

/// The same bake as USD in world space: points by prim and time, to the bit what frames hold.
pub struct WorldBake(pub Stage, #[expect(dead_code)] tempfile::TempDir);

impl WorldBake {
    pub fn new(input: &Path, options: &BakeOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("world.usdc");
        let mut options = options.clone();
        options.space = Some(OutSpace::World);
        options.rigid = Rigid::Points;
        run(input, &out, &options);
        Self(usd::open(&out), folder)
    }

    pub fn points(&self, prim: &str, time: f64) -> Vec<DVec3> {
        usd::vectors(&self.0, prim, "points", Some(time)).unwrap()
    }
}

pub fn ints(stage: &Stage, prim: &str, name: &str) -> Vec<i32> {
    match usd::value(stage, prim, name, None) {
        Some(Value::IntArray(v)) => v.to_vec(),
        other => panic!("{prim}.{name}: {other:?}"),
    }
}

/// A mesh's faces as authored, turned where they are left-handed.
pub fn authored_faces(stage: &Stage, prim: &str, turned: bool) -> Vec<Vec<usize>> {
    let counts = ints(stage, prim, "faceVertexCounts");
    let indices = ints(stage, prim, "faceVertexIndices");
    let orientation = usd::value(stage, prim, "orientation", None);
    let left = orientation == Some(Value::token("leftHanded"));
    let mut at = 0;
    let mut out = Vec::new();
    for count in counts {
        let face = indices[at..at + count as usize].iter().map(|i| *i as usize);
        out.push(match left != turned {
            true => face.rev().collect(),
            false => face.collect(),
        });
        at += count as usize;
    }
    out
}

/// Faces in no order, each from its least point on.
pub fn sorted(mut faces: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    for face in &mut faces {
        let least = (0..face.len()).min_by_key(|i| face[*i]).unwrap_or(0);
        face.rotate_left(least);
    }
    faces.sort();
    faces
}

pub fn object<'a>(objects: &'a [obj::Object], prim: &str) -> &'a obj::Object {
    let name = prim.rsplit('/').next().unwrap();
    objects
        .iter()
        .find(|o| o.name == name)
        .unwrap_or_else(|| panic!("no {name}"))
}
