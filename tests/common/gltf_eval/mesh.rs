//! Meshes: attributes and morph targets.

use glam::DVec3;
use serde_json::Value;

use super::accessor;
use super::file::{File, index, list, numbers};

pub struct Mesh {
    pub primitives: Vec<Primitive>,
    pub weights: Vec<f64>,
}

pub struct Primitive {
    pub points: Vec<DVec3>,
    pub normals: Vec<DVec3>,
    pub targets: Vec<Target>,
    /// (joint, weight) pairs of every set, point after point.
    pub influences: Vec<Vec<(usize, f64)>>,
    /// Corners of the triangles.
    pub corners: Vec<usize>,
}

pub struct Target {
    pub points: Vec<DVec3>,
    pub normals: Vec<DVec3>,
}

impl Mesh {
    pub fn read(file: &File, mesh: &Value) -> Self {
        let primitives = list(&mesh["primitives"]);
        let targets = list(&primitives[0]["targets"]).len();
        Self {
            primitives: primitives
                .iter()
                .map(|p| Primitive::read(file, p))
                .collect(),
            weights: numbers(&mesh["weights"]).unwrap_or_else(|| vec![0.0; targets]),
        }
    }
}

impl Primitive {
    fn read(file: &File, primitive: &Value) -> Self {
        let mode = primitive["mode"].as_u64().unwrap_or(4);
        let attributes = &primitive["attributes"];
        let points = vectors(file, &attributes["POSITION"]);
        let corners = match index(&primitive["indices"]) {
            Some(accessor) => {
                let indices = accessor::read(file, accessor);
                indices.iter().map(|i| *i as usize).collect()
            }
            None => (0..points.len()).collect(),
        };
        let mut influences = vec![Vec::new(); points.len()];
        for set in 0.. {
            let both = [format!("JOINTS_{set}"), format!("WEIGHTS_{set}")];
            let [Some(joints), Some(weights)] = both.map(|name| index(&attributes[name])) else {
                break;
            };
            let (joints, weights) = (accessor::read(file, joints), accessor::read(file, weights));
            for (i, (joint, weight)) in joints.iter().zip(&weights).enumerate() {
                influences[i / 4].push((*joint as usize, *weight));
            }
        }
        let targets = list(&primitive["targets"]).iter().map(|target| Target {
            points: vectors(file, &target["POSITION"]),
            normals: vectors(file, &target["NORMAL"]),
        });
        Self {
            normals: vectors(file, &attributes["NORMAL"]),
            targets: targets.collect(),
            influences,
            corners: triangles(mode, corners),
            points,
        }
    }

    /// Points and normals with morph targets added (3.7.2.2).
    pub fn morphed(&self, weights: &[f64]) -> (Vec<DVec3>, Vec<DVec3>) {
        let (mut points, mut normals) = (self.points.clone(), self.normals.clone());
        for (target, weight) in self.targets.iter().zip(weights) {
            for (point, offset) in points.iter_mut().zip(&target.points) {
                *point += *offset * *weight;
            }
            for (normal, offset) in normals.iter_mut().zip(&target.normals) {
                *normal += *offset * *weight;
            }
        }
        (points, normals)
    }
}

/// A vec3 accessor; empty where there is none.
fn vectors(file: &File, accessor: &Value) -> Vec<DVec3> {
    let Some(accessor) = index(accessor) else {
        return Vec::new();
    };
    let numbers = accessor::read(file, accessor);
    numbers.chunks_exact(3).map(DVec3::from_slice).collect()
}

/// Triangles of lists, strips and fans (3.7.2.1); none of points and lines.
fn triangles(mode: u64, corners: Vec<usize>) -> Vec<usize> {
    let triples = 0..corners.len().saturating_sub(2);
    match mode {
        4 => corners,
        5 => triples
            .flat_map(|i| [corners[i], corners[i + 1 + i % 2], corners[i + 2 - i % 2]])
            .collect(),
        6 => triples
            .flat_map(|i| [corners[i + 1], corners[i + 2], corners[0]])
            .collect(),
        _ => Vec::new(),
    }
}
