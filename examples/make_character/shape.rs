//! Blend shapes with an in-between at one half.

use glam::{Quat, Vec3};

use crate::mesh::{Mesh, normals_of};

pub struct Shape {
    pub name: &'static str,
    /// Of the points that it moves: `pointIndices`.
    pub points: Vec<usize>,
    pub full: Offsets,
    pub half: Offsets,
}

/// What is added to points and normals.
pub struct Offsets {
    pub points: Vec<Vec3>,
    pub normals: Vec<Vec3>,
}

impl Shape {
    /// Shorter offsets than this are left out.
    const LEAST: f32 = 8e-4;

    /// Made sparse from offsets of all the points.
    pub fn new(name: &'static str, full: Offsets, half: Offsets) -> Self {
        let moves = |o: &Offsets, i: usize| o.points[i].length() > Self::LEAST;
        let points: Vec<usize> = (0..full.points.len())
            .filter(|&i| moves(&full, i) || moves(&half, i))
            .collect();
        Self {
            name,
            full: full.only(&points),
            half: half.only(&points),
            points,
        }
    }
}

impl Offsets {
    /// Offsets of all the points of `mesh`, with what they do to its normals.
    pub fn new(mesh: &Mesh, offsets: Vec<Vec3>) -> Self {
        let moved: Vec<Vec3> = mesh
            .points
            .iter()
            .zip(&offsets)
            .map(|(p, o)| *p + *o)
            .collect();
        let from = normals_of(&mesh.points, &mesh.faces);
        let to = normals_of(&moved, &mesh.faces);
        // The change of the faces' normals, carried over to the mesh's own.
        let normals = (mesh.normals.iter().zip(from.iter().zip(to)))
            .map(|(n, (from, to))| Quat::from_rotation_arc(*from, to) * *n - *n)
            .collect();
        Self {
            points: offsets,
            normals,
        }
    }

    fn only(&self, points: &[usize]) -> Self {
        let pick = |all: &[Vec3]| points.iter().map(|&i| all[i]).collect();
        Self {
            points: pick(&self.points),
            normals: pick(&self.normals),
        }
    }
}
