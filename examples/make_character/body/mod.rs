//! The body: one implicit surface, meshed, coloured and bound.

mod blobs;
mod paint;
mod shapes;
mod skin;
mod surface;
mod surface_nets;

use glam::{Vec3, vec3};

use crate::mesh::{Mesh, Skin, normals_of};
use crate::rig::Rig;
use surface::Surface;

/// A box around the surface. It is symmetric in x, and so is the dragon.
const BOX: (Vec3, Vec3) = (vec3(-1.0, -0.08, -1.64), vec3(1.0, 2.32, 0.84));

pub fn body(rig: &Rig) -> Mesh {
    let surface = Surface {
        blobs: blobs::hatchling(rig),
    };
    let (mut points, faces) = surface_nets::mesh(|p| surface.distance(p), BOX.0, BOX.1);
    for p in &mut points {
        *p = onto(&surface, *p);
    }
    let normals: Vec<Vec3> = points
        .iter()
        .zip(normals_of(&points, &faces))
        .map(|(&p, n)| normal(&surface, p, n))
        .collect();
    let colors = points
        .iter()
        .zip(&normals)
        .map(|(p, n)| paint::color(rig, &surface, *p, *n))
        .collect();
    let skin = Skin::Smooth(skin::influences(rig, &surface, &points, &faces));
    let mut mesh = Mesh {
        points,
        normals,
        colors,
        faces,
        ..Mesh::new("Body", skin)
    };
    mesh.shapes = shapes::shapes(&mesh);
    mesh
}

/// Surface nets cut corners: this takes a point to where the surface is.
fn onto(surface: &Surface, mut p: Vec3) -> Vec3 {
    for _ in 0..2 {
        let d = surface.distance(p).clamp(-0.02, 0.02);
        p -= surface.gradient(p, 0.005) * d * 0.8;
    }
    p
}

/// Mostly the surface's own normal, but that of the faces where the two disagree: there the mesh is
/// too coarse for the surface.
fn normal(surface: &Surface, p: Vec3, of_faces: Vec3) -> Vec3 {
    let gradient = surface.gradient(p, 0.012);
    if gradient.dot(of_faces) > 0.3 {
        (gradient + 0.35 * of_faces).normalize()
    } else {
        of_faces
    }
}
