//! Smooth normals, computed from deformed points: `shaders/smooth_normals.wgsl` and its mirror.

use glam::Vec3;

use super::layout::wgsl;
use super::registry::{LARGEST_AREA, SMALLEST_AREA};
use super::skin::ITEM_STRUCTS;
use super::{Access, Binding, Dispatch, Kernel, SkinItem};
use crate::error::Invalid;
use crate::skel::MeshTopology;

/// The kernel of smooth normals. It runs after [`super::SKIN`] and [`super::MULTI_POSE_LBS`], and
/// reads the items of [`super::SKIN`].
pub const SMOOTH_NORMALS: Kernel = Kernel {
    name: "smooth_normals",
    wgsl: wgsl![
        "common/dispatch",
        "common/items",
        "common/octahedral",
        "common/skin_item",
        "smooth_normals"
    ],
    entry: "main",
    bindings: &[
        Binding::new(0, "dispatch", Access::Uniform, size_of::<Dispatch>() as u64),
        Binding::new(1, "items", Access::Read, size_of::<SkinItem>() as u64),
        Binding::new(2, "skins", Access::Read, 4),
        Binding::new(3, "out_0", Access::ReadWrite, 4),
        Binding::new(4, "out_1", Access::ReadWrite, 4),
    ],
    structs: ITEM_STRUCTS,
    overrides: &[],
    numbers: &["NORMALS_BINDING"],
};

/// The neighbours of each point at its face corners, in compressed sparse rows. The kernel gathers
/// them, so it needs no atomics.
///
/// It leaves out faces that are holes or have fewer than three corners, and corners whose two edges
/// are the same or have no length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SmoothNormals {
    rows: Vec<u32>,
    neighbors: Vec<[u32; 2]>,
}

impl SmoothNormals {
    pub(super) fn pack(
        prim: &str,
        topology: &MeshTopology,
        point_count: usize,
    ) -> Result<Self, Invalid> {
        const INDICES: &str = "faceVertexIndices";
        let mut corners = topology.corner_points().iter().enumerate();
        if let Some((corner, point)) = corners.find(|(_, p)| **p as usize >= point_count) {
            let found = format!("{point} at {corner}");
            let expected = format!("indices of {point_count} points");
            return Err(Invalid::new(prim, INDICES, expected, found).coded("mesh-topology"));
        }
        // Each corner takes two words.
        let words = topology.corner_count() as u64 * 2;
        Invalid::unless_u32_counts(prim, INDICES, "words of neighbours", words)?;

        let mut made = Self {
            rows: vec![0; point_count + 1],
            neighbors: Vec::new(),
        };
        // Count, sum up, fill: a counting sort by point that keeps the order of faces.
        for_each_corner(topology, |point, _| made.rows[point as usize + 1] += 1);
        for i in 1..made.rows.len() {
            made.rows[i] += made.rows[i - 1];
        }
        made.neighbors = vec![[0; 2]; made.rows[point_count] as usize];
        let mut next = made.rows.clone();
        for_each_corner(topology, |point, neighbors| {
            let at = &mut next[point as usize];
            made.neighbors[*at as usize] = neighbors;
            *at += 1;
        });
        Ok(made)
    }

    /// Drops corners with a neighbour that has no render vertex, because that neighbour has no
    /// result to read.
    pub(super) fn keep_shown(&mut self, shown: &[bool]) {
        let is_shown = |pair: &[u32; 2]| pair.iter().all(|point| shown[*point as usize]);
        if self.neighbors.iter().all(is_shown) {
            return;
        }
        let mut kept = Vec::with_capacity(self.neighbors.len());
        let mut rows = Vec::with_capacity(self.rows.len());
        rows.push(0);
        for row in self.rows.windows(2) {
            let corners = &self.neighbors[row[0] as usize..row[1] as usize];
            kept.extend(corners.iter().filter(|pair| is_shown(pair)));
            rows.push(kept.len() as u32);
        }
        (self.rows, self.neighbors) = (rows, kept);
    }

    /// The first corner of each point, and one more for the end.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Two neighbours of the point of each corner: the next point of the face and the one before,
    /// counter-clockwise as seen from outside.
    #[must_use]
    pub fn neighbors(&self) -> &[[u32; 2]] {
        &self.neighbors
    }

    /// Computes the normal of one point, as the mirror of [`SMOOTH_NORMALS`]. Every corner adds the
    /// cross product of its two edges, so large faces count for more. The normal is zero at a point
    /// without faces, or if its faces have no area.
    pub(super) fn of_point(&self, points: &[Vec3], point: usize) -> Vec3 {
        let p = points[point];
        let corners = self.rows[point] as usize..self.rows[point + 1] as usize;
        let mut sum = Vec3::ZERO;
        for [next, previous] in &self.neighbors[corners] {
            sum += (points[*next as usize] - p).cross(points[*previous as usize] - p);
        }
        unit(sum)
    }
}

/// Scales a vector to unit length, even a very short one: areas shrink with the square of the
/// mesh's unit.
fn unit(v: Vec3) -> Vec3 {
    let v_abs = v.abs();
    let size = v_abs.x + v_abs.y + v_abs.z;
    // The comparison is false for NaN.
    if size > SMALLEST_AREA && size < LARGEST_AREA {
        (v / size).normalize()
    } else {
        Vec3::ZERO
    }
}

/// Calls `f(point, [next, previous])` for the corners that count, face by face.
fn for_each_corner(topology: &MeshTopology, mut f: impl FnMut(u32, [u32; 2])) {
    let mut holes = topology.holes().iter().copied().peekable();
    for face in 0..topology.face_count() {
        if holes.next_if(|hole| *hole as usize == face).is_some() {
            continue;
        }
        let points = &topology.corner_points()[topology.corners(face)];
        if points.len() < 3 {
            continue;
        }
        for (i, point) in points.iter().enumerate() {
            let next = points[(i + 1) % points.len()];
            let previous = points[(i + points.len() - 1) % points.len()];
            // Such a corner has no area; skipping it avoids the rounding of one.
            if next == previous || next == *point || previous == *point {
                continue;
            }
            match topology.is_left_handed() {
                true => f(*point, [previous, next]),
                false => f(*point, [next, previous]),
            }
        }
    }
}
