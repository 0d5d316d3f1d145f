//! Vertices of the bones and the boxes that are drawn over the picture.

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec3};

use super::frame::{linear, local};
use super::{Bounds, JointId, Stage};

/// A line of lines.wgsl, in local space. The colour is linear, with straight alpha.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Line {
    pub from: Vec3,
    pub to: Vec3,
    pub color: [f32; 4],
}

/// A vertex of bones.wgsl, in local space. The colour is linear, with straight alpha.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct BoneVertex {
    pub at: Vec3,
    pub color: [f32; 4],
}

/// The lines of the bounding box of each visible mesh.
pub(super) fn boxes(stage: &Stage) -> Vec<Line> {
    let count = stage.meshes.len();
    let all = (0..count)
        .map(|i| stage.mesh_bounds(i))
        .filter(|b| !b.is_empty());
    all.flat_map(|b| box_lines(stage, &b)).collect()
}

/// The twelve edges of a box.
fn box_lines(stage: &Stage, bounds: &Bounds) -> Vec<Line> {
    let corners = bounds.corners().map(|c| local(stage, c));
    let color = linear([0.98, 0.75, 0.2]).extend(0.95).to_array();
    let mut out = Vec::with_capacity(12);
    for (i, from) in corners.iter().enumerate() {
        for bit in [1, 2, 4].into_iter().filter(|bit| i & bit == 0) {
            let to = corners[i | bit];
            out.push(Line {
                from: *from,
                to,
                color,
            });
        }
    }
    out
}

/// An octahedron from each joint to each of its children, and a small one at each joint. `size` is
/// the size of the scene, in the stage's units.
pub(super) fn bones(stage: &Stage, chosen: Option<JointId>, size: f64) -> Vec<BoneVertex> {
    let [bone, joint, marked] = [[0.55, 0.72, 0.92], [0.93, 0.95, 0.98], [1.0, 0.55, 0.1]]
        .map(|c| linear(c).extend(1.0).to_array());
    let mut out = Vec::new();
    for (s, skeleton) in stage.skeletons().iter().enumerate() {
        let is_chosen = |joint: usize| chosen == Some(JointId { skeleton: s, joint });
        let at = |i: usize| {
            skeleton
                .world_from_joint
                .get(i)
                .map(|m| m.w_axis.truncate())
        };
        for (i, info) in skeleton.joints.iter().enumerate() {
            let Some(end) = at(i) else {
                continue;
            };
            let dot = if is_chosen(i) {
                size * 0.012
            } else {
                size * 0.006
            };
            let color = if is_chosen(i) { marked } else { joint };
            let around = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| axis * dot);
            octahedron(
                stage,
                end - around[1],
                end,
                end + around[1],
                [around[0], around[2]],
                color,
                &mut out,
            );
            let Some((parent, start)) = info.parent.and_then(|p| Some((p, at(p)?))) else {
                continue;
            };
            let along = end - start;
            let length = along.length();
            if length < size * 1e-4 {
                continue;
            }
            // Thick near its own joint, as in most programs.
            let wide = (length * 0.1).min(size * 0.03);
            let (side, other) = (along / length).any_orthonormal_pair();
            let color = if is_chosen(parent) { marked } else { bone };
            let middle = start + along * 0.15;
            octahedron(
                stage,
                start,
                middle,
                end,
                [side * wide, other * wide],
                color,
                &mut out,
            );
        }
    }
    out
}

/// Appends the triangles of an octahedron with the tips `start` and `end` and a ring around
/// `middle`.
fn octahedron(
    stage: &Stage,
    start: DVec3,
    middle: DVec3,
    end: DVec3,
    [a, b]: [DVec3; 2],
    color: [f32; 4],
    out: &mut Vec<BoneVertex>,
) {
    let ring = [middle + a, middle + b, middle - a, middle - b];
    for tip in [start, end] {
        for i in 0..4 {
            for at in [tip, ring[i], ring[(i + 1) % 4]] {
                out.push(BoneVertex {
                    at: local(stage, at),
                    color,
                });
            }
        }
    }
}
