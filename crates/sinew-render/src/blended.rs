//! Blended faces in the order of their distance, the farthest first: what is behind must be in the
//! picture before what it is seen through.
//!
//! Triangles are sorted one by one, by the CPU's points, over all meshes. Faces that cut through each
//! other have no right order.

use std::ops::Range;

use glam::Vec3;

use super::buffers::filled;
use super::{Camera, Stage};

/// Largest number of draw calls. If sorted triangles need more, each part is drawn by itself, and its
/// triangles are sorted among themselves.
const MOST_RUNS: usize = 2048;

/// The triangles of one mesh that share a blended material.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BlendedPart {
    /// Index into [`super::material::Materials`].
    pub material: usize,
    /// Render vertices of each triangle.
    pub vertices: Vec<[u32; 3]>,
    /// Points of each triangle.
    pub points: Vec<[u32; 3]>,
}

/// Triangles of one part that follow each other in the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Index into the parts.
    pub part: usize,
    /// Range of the index buffer.
    pub indices: Range<u32>,
}

/// The blended triangles of a picture.
#[derive(Debug)]
pub(super) struct Sorted<'a> {
    /// Each part, and the index of its mesh in the stage.
    pub parts: Vec<(usize, &'a BlendedPart)>,
    pub runs: Vec<Run>,
    pub indices: wgpu::Buffer,
}

impl<'a> Sorted<'a> {
    /// Sorts the blended triangles of all visible meshes for a camera.
    pub fn new(device: &wgpu::Device, stage: &'a Stage, camera: &Camera) -> Self {
        let world_from_camera = camera.world_from_camera();
        let back = world_from_camera.z_axis.truncate().as_vec3();
        let eye = super::frame::local(stage, world_from_camera.w_axis.truncate());
        let mut parts = Vec::new();
        let mut distances = Vec::new();
        let visible = stage.meshes.iter().enumerate().filter(|(_, m)| m.visible);
        for (mesh, stage_mesh) in visible.filter(|(_, m)| !m.buffers.blended.is_empty()) {
            let points = stage.local_points(mesh);
            let ahead: Vec<f32> = points.iter().map(|p| (eye - *p).dot(back)).collect();
            for part in stage_mesh.buffers.blended.iter() {
                distances.push(far_of(&part.points, &ahead));
                parts.push((mesh, part));
            }
        }
        let (runs, order) = order(&distances);
        let indices = order.iter().flat_map(|(part, triangle)| {
            let (_, blended) = parts[*part as usize];
            blended.vertices[*triangle as usize]
        });
        let indices: Vec<u32> = indices.collect();
        Self {
            indices: filled(
                device,
                "render.blended",
                bytemuck::cast_slice(&indices),
                wgpu::BufferUsages::INDEX,
            ),
            parts,
            runs,
        }
    }
}

/// Three times the distance of the middle of each triangle, along the view. A point that is missing
/// or not finite counts as 0.
fn far_of(triangles: &[[u32; 3]], ahead: &[f32]) -> Vec<f32> {
    let of_point = |p: u32| {
        let found = ahead.get(p as usize).copied();
        found.filter(|d| d.is_finite()).unwrap_or(0.0)
    };
    triangles
        .iter()
        .map(|t| Vec3::from(t.map(of_point)).element_sum())
        .collect()
}

/// The order of triangles, given as part and triangle, and their runs. `distances` has those of the
/// triangles of each part.
fn order(distances: &[Vec<f32>]) -> (Vec<Run>, Vec<(u32, u32)>) {
    let mut order: Vec<(u32, u32)> = Vec::new();
    for (part, triangles) in distances.iter().enumerate() {
        order.extend((0..triangles.len()).map(|t| (part as u32, t as u32)));
    }
    let at = |(part, triangle): (u32, u32)| distances[part as usize][triangle as usize];
    // Triangles at the same distance keep their order, so that a picture is always the same.
    order.sort_by(|a, b| at(*b).total_cmp(&at(*a)).then(a.cmp(b)));
    let sorted = runs(&order);
    if sorted.len() <= MOST_RUNS {
        return (sorted, order);
    }
    let mean = |part: u32| {
        let all = &distances[part as usize];
        all.iter().sum::<f32>() / all.len().max(1) as f32
    };
    let means: Vec<f32> = (0..distances.len() as u32).map(mean).collect();
    // The sort is stable, so the triangles of a part stay sorted.
    order.sort_by(|a, b| {
        let (x, y) = (means[a.0 as usize], means[b.0 as usize]);
        y.total_cmp(&x).then(a.0.cmp(&b.0))
    });
    (runs(&order), order)
}

fn runs(order: &[(u32, u32)]) -> Vec<Run> {
    let mut out: Vec<Run> = Vec::new();
    for (i, (part, _)) in order.iter().enumerate() {
        let end = (i as u32 + 1) * 3;
        match out.last_mut().filter(|run| run.part == *part as usize) {
            Some(run) => run.indices.end = end,
            None => out.push(Run {
                part: *part as usize,
                indices: end - 3..end,
            }),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_farthest_comes_first_over_all_parts() {
        let (runs, order) = order(&[vec![1.0, 5.0], vec![3.0, 4.0]]);
        assert_eq!(order, [(0, 1), (1, 1), (1, 0), (0, 0)]);
        let ranges: Vec<_> = runs.iter().map(|r| (r.part, r.indices.clone())).collect();
        assert_eq!(ranges, [(0, 0..3), (1, 3..9), (0, 9..12)]);
    }

    #[test]
    fn parts_that_alternate_too_often_are_drawn_one_after_the_other() {
        let many = 2 * MOST_RUNS;
        let near: Vec<f32> = (0..many).map(|i| i as f32 * 2.0).collect();
        let far: Vec<f32> = (0..many).map(|i| i as f32 * 2.0 + 1.0).collect();
        let (runs, order) = order(&[near, far]);
        assert_eq!(runs.len(), 2);
        assert_eq!((runs[0].part, order[0]), (1, (1, many as u32 - 1)));
        assert_eq!(order[many], (0, many as u32 - 1));
    }

    #[test]
    fn missing_points_do_no_harm() {
        assert_eq!(far_of(&[[0, 9, 1]], &[2.0, f32::NAN]), [2.0]);
    }
}
