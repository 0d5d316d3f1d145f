//! What bakes have to hold: by the f64 reference, and by the same bake as USD in world space.

use std::path::Path;

use glam::{DMat4, DVec3};
use sinew::sampled::Time;
use sinew::scene::{OutSpace, Scene, SkinPart};
use sinew::skel::reference;
use sinew_bake::{BakeOptions, Rigid};
use sinew_stage::Stage;

use crate::bench::run_with;
use common::usd;

pub fn scene(file: &Path) -> Scene {
    let file = sinew_io::open(file).unwrap();
    file.scene(Default::default()).unwrap()
}

pub struct Truth {
    pub points: Vec<DVec3>,
    /// Of unit length; one per point or per face corner, where the skin has some.
    pub normals: Option<Vec<DVec3>>,
}

/// A prim's points by the reference, in this space.
pub fn deformed(scene: &Scene, prim: &str, time: Time, space: OutSpace) -> Truth {
    let bound = scene.resolve(prim).unwrap();
    let binding = bound.binding();
    let part = SkinPart {
        blend_only: false,
        // The primvar where there are both.
        normals: binding.normals.len().saturating_sub(1),
    };
    let skin = bound.skin_part(time, part).unwrap();
    let pose = scene.at(time, space).pose(bound).unwrap();
    let done = reference::deform(&skin, &pose).unwrap();
    let stays = binding.influences.is_none() && space == OutSpace::World;
    let out_from_prim = match stays {
        true => scene.world_from_prim(binding.prim, time),
        false => DMat4::IDENTITY,
    };
    let normal = out_from_prim.inverse().transpose();
    let points = done.points.iter();
    let points = points.map(|p| out_from_prim.transform_point3(*p));
    Truth {
        points: points.collect(),
        normals: done.normals.map(|normals| {
            let turned = normals.iter().map(|n| normal.transform_vector3(*n));
            turned.map(DVec3::normalize_or_zero).collect()
        }),
    }
}

/// Prims of a scene that have points.
pub fn prims(scene: &Scene) -> Vec<String> {
    let baked = scene.bindings.iter();
    let baked = baked.filter(|b| b.points.has_value() && !b.is_shape && b.unsupported.is_none());
    baked.map(|b| b.path.clone()).collect()
}

/// Smooth normals: every corner of a face adds the cross product of its edges to its point. Faces are counter-clockwise.
pub fn smooth_normals(points: &[DVec3], faces: &[Vec<usize>]) -> Vec<DVec3> {
    let mut sums = vec![DVec3::ZERO; points.len()];
    for face in faces {
        for (i, &point) in face.iter().enumerate() {
            let next = points[face[(i + 1) % face.len()]];
            let before = points[face[(i + face.len() - 1) % face.len()]];
            sums[point] += (next - points[point]).cross(before - points[point]);
        }
    }
    sums.into_iter().map(DVec3::normalize_or_zero).collect()
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
        run_with(input, &out, &options);
        Self(usd::open(&out), folder)
    }

    pub fn points(&self, prim: &str, time: f64) -> Vec<DVec3> {
        usd::vectors(&self.0, prim, "points", Some(time)).unwrap()
    }
}
