//! What frames have to hold, by the f64 reference.

use glam::{DMat4, DVec3};
use sinew::sampled::Time;
use sinew::scene::{OutSpace, Scene, SkinPart};
use sinew::skel::reference;
use sinew_io::usd::{ReadOptions, UsdFile};
use std::path::Path;

pub fn scene(file: &Path) -> Scene {
    let file: UsdFile = sinew_io::open(file).unwrap();
    file.scene(ReadOptions::default()).unwrap()
}

pub struct Truth {
    pub points: Vec<DVec3>,
    /// Of unit length; one per point or per face corner, where the skin has some.
    pub normals: Option<Vec<DVec3>>,
}

/// A prim's points by the reference, in world or prim space.
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
    Truth {
        points: done
            .points
            .iter()
            .map(|p| out_from_prim.transform_point3(*p))
            .collect(),
        normals: done.normals.map(|normals| {
            let turned = normals.iter().map(|n| normal.transform_vector3(*n));
            turned.map(DVec3::normalize_or_zero).collect()
        }),
    }
}

/// Prims of a scene that have points.
pub fn prims(scene: &Scene) -> Vec<String> {
    let baked = scene.bindings.iter();
    let baked = baked.filter(|b| b.points.has_value() && b.unsupported.is_none());
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
