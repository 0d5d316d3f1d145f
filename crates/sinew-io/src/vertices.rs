//! Vertices of triangles: a point has several where values of its face corners differ.

use std::collections::HashMap;

use glam::Vec3;
use sinew::mesh::FaceTriangles;
use sinew_animate::asset::Primitive;

/// The vertices that some triangles of a mesh need, in the order in which they are first used.
#[derive(Debug, Default)]
pub(crate) struct SplitVertices {
    /// The point of each vertex.
    pub points: Vec<u32>,
    /// The first face corner that each vertex was made for.
    pub corners: Vec<u32>,
    /// The face of that corner.
    pub faces: Vec<u32>,
    /// Three vertices per triangle.
    pub indices: Vec<u32>,
}

impl SplitVertices {
    /// Makes the vertices of those triangles that `chosen` accepts by their face. `look` writes the
    /// bits of everything that tells vertices of one point apart: it gets a face and a face corner.
    pub fn new(
        triangles: &FaceTriangles,
        corner_points: &[u32],
        chosen: impl Fn(u32) -> bool,
        look: impl Fn(u32, u32, &mut Vec<u32>),
    ) -> Self {
        let mut out = Self::default();
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut key = Vec::new();
        for (triangle, face) in triangles.corners.iter().zip(&triangles.faces) {
            if !chosen(*face) {
                continue;
            }
            for corner in triangle {
                let point = corner_points[*corner as usize];
                key.clear();
                key.push(point);
                look(*face, *corner, &mut key);
                let vertex = match known.get(&key) {
                    Some(vertex) => *vertex,
                    None => {
                        let vertex = out.points.len() as u32;
                        known.insert(key.clone(), vertex);
                        out.points.push(point);
                        out.corners.push(*corner);
                        out.faces.push(*face);
                        vertex
                    }
                };
                out.indices.push(vertex);
            }
        }
        out
    }
}

/// The bits of numbers as [`SplitVertices`] compares them: -0 and 0 count as equal.
pub(crate) fn bits(numbers: &[f32], key: &mut Vec<u32>) {
    key.extend(numbers.iter().map(|n| (n + 0.0).to_bits()));
}

/// The box around points; `None` without any.
pub(crate) fn bounds(points: impl Iterator<Item = Vec3>) -> Option<[Vec3; 2]> {
    points.fold(None, |found, point| {
        let [low, high] = found.unwrap_or([point; 2]);
        Some([low.min(point), high.max(point)])
    })
}

/// Gives each offset of a morph target with its point: one that `indices` name, or all in turn.
pub(crate) fn offsets_by_point<'a>(
    indices: Option<&'a [u32]>,
    offsets: &'a [Vec3],
) -> impl Iterator<Item = (usize, Vec3)> + 'a {
    let point = move |i: usize| match indices {
        Some(indices) => indices.get(i).map(|point| *point as usize),
        None => Some(i),
    };
    let each = offsets.iter().enumerate();
    each.filter_map(move |(i, offset)| Some((point(i)?, *offset)))
}

/// The influences of a point that are above 0, each joint once.
pub(crate) fn merged_influences(primitive: &Primitive, point: usize) -> Vec<(u32, f32)> {
    let each = primitive.influences;
    let range = point * each..(point + 1) * each;
    let joints = primitive.joints[range.clone()].iter();
    let pairs = joints.zip(&primitive.weights[range]);
    let mut row: Vec<(u32, f32)> = Vec::new();
    for (joint, weight) in pairs.filter(|(_, w)| **w > 0.0) {
        match row.iter_mut().find(|(j, _)| j == joint) {
            Some((_, sum)) => *sum += *weight,
            None => row.push((*joint, *weight)),
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use sinew::skel::MeshTopology;

    use super::*;

    #[test]
    fn a_seam_splits_points() {
        let points = [0.0, 1.0, 2.0].map(|x| [Vec3::new(x, 0.0, 0.0), Vec3::new(x, 1.0, 0.0)]);
        let points = points.concat();
        let indices = [0, 2, 3, 1, 2, 4, 5, 3];
        let faces = MeshTopology::new("/M", &[4, 4], &indices, false, points.len()).unwrap();
        let triangles = FaceTriangles::new("/M", &faces, &points).unwrap();
        let split = |seam: bool, chosen: &dyn Fn(u32) -> bool| {
            SplitVertices::new(&triangles, faces.corner_points(), chosen, |face, _, key| {
                if seam {
                    bits(&[face as f32], key);
                }
            })
        };
        assert_eq!(split(false, &|_| true).points.len(), 6);
        let seam = split(true, &|_| true);
        assert_eq!((seam.points.len(), seam.indices.len()), (8, 12));
        assert_eq!(split(true, &|face| face == 1).points, [2, 4, 5, 3]);
    }
}
