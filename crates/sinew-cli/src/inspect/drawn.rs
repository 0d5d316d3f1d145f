//! What of a stage can be drawn: how much, how large, and with which materials.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use serde::Serialize;
use sinew::sampled::Time;
use sinew::scene::{DrawnMesh, Scene};
use sinew_bake::{Backend, OutSpace, Sampler};
use sinew_io::usd::UsdFile;

use crate::error::{Error, Result};

#[derive(Serialize)]
pub struct DrawnReport {
    /// Meshes, those that PointInstancers show among them.
    pub meshes: usize,
    pub points: usize,
    pub triangles: usize,
    /// Prims of curves.
    pub curves: usize,
    /// Paths of the materials that are used.
    pub materials: Vec<String>,
    /// Asset paths of their images.
    pub textures: Vec<String>,
    /// The box around all visible meshes at the first time of the stage, in world space: minimum and
    /// maximum corner. `None` if nothing is visible then.
    pub bounds: Option<[[f32; 3]; 2]>,
}

/// Reads what is drawn, and deforms it once.
///
/// # Errors
/// Values that cannot be decoded. A prim that cannot be deformed is left out of the box.
pub fn report(file: &UsdFile, scene: &Arc<Scene>) -> Result<DrawnReport> {
    let geometry = file.geometry(scene)?;
    let meshes = &geometry.meshes;
    let first = scene.time_line.range.map(|(first, _)| first);
    let time = first.map_or(Time::Default, Time::At);
    let sampler = Sampler::new(Arc::clone(scene), &Backend::Cpu);
    let sampler = sampler.map_err(|e| Error::Message(e.to_string()))?;
    let visible = meshes.iter().filter(|mesh| mesh.visible(time));
    let boxes = visible.filter_map(|mesh| corners(&sampler, mesh, time));
    let bounds = boxes.reduce(|[low, high], other| [low.min(other[0]), high.max(other[1])]);
    // A polygon of n corners is n - 2 triangles.
    let triangles = |mesh: &DrawnMesh| {
        let faces = 0..mesh.topology.face_count();
        let corners = faces.map(|face| mesh.topology.corners(face).len());
        corners
            .map(|corners| corners.saturating_sub(2))
            .sum::<usize>()
    };
    let mut textures: Vec<String> = geometry.textures.iter().map(|t| t.asset.clone()).collect();
    textures.sort();
    textures.dedup();
    Ok(DrawnReport {
        meshes: meshes.len(),
        points: meshes.iter().map(DrawnMesh::point_count).sum(),
        triangles: meshes.iter().map(triangles).sum(),
        curves: geometry.curves.len(),
        materials: geometry.materials.iter().map(|m| m.path.clone()).collect(),
        textures,
        bounds: bounds.map(|corners| corners.map(|corner| corner.as_vec3().to_array())),
    })
}

/// The box around a mesh in world space. One that an instancer shows has its points at rest.
fn corners(sampler: &Sampler, mesh: &DrawnMesh, time: Time) -> Option<[DVec3; 2]> {
    if let (Some(binding), true) = (mesh.binding, mesh.instances.is_empty()) {
        let mut found = [[Vec3::ZERO; 2]];
        let extents = sampler.extents(binding, &[time], OutSpace::World, &mut found);
        return extents.ok().map(|()| found[0].map(Vec3::as_dvec3));
    }
    let world = mesh.world_from_prim(time);
    let points = mesh.points.at(time)?;
    let points = points.iter().map(|p| world.transform_point3(p.as_dvec3()));
    let all = points.map(|p| [p, p]);
    all.reduce(|[low, high], p| [low.min(p[0]), high.max(p[1])])
}
