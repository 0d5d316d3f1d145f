//! Smooth normals, computed from deformed points: `shaders/smooth_normals.wgsl` and its mirror.

use glam::{Vec3, Vec4, Vec4Swizzles};

#[cfg(target_arch = "x86_64")]
use super::cpu::Avx2Fma;
use super::lanes::{Lanes, Vectors};
#[cfg(target_arch = "x86_64")]
use super::lanes_avx2::Wide;
use super::layout::wgsl;
use super::registry::{LARGEST_AREA, SMALLEST_AREA};
use super::skin::ITEM_STRUCTS;
use super::{Access, Binding, Dispatch, Kernel, SkinItem};
use crate::error::Invalid;
use crate::skel::MeshTopology;

/// The kernel of smooth normals. It runs after [`super::SKIN`], and reads its items.
pub const SMOOTH_NORMALS: Kernel = Kernel {
    name: "smooth_normals",
    wgsl: wgsl![
        "common/dispatch",
        "common/items",
        "common/actions",
        "common/octahedral",
        "smooth_normals"
    ],
    bindings: &[
        Binding::new(0, "dispatch", Access::Uniform, size_of::<Dispatch>()),
        Binding::new(1, "items", Access::Read, size_of::<SkinItem>()),
        Binding::new(2, "skins", Access::Read, 4),
        Binding::new(3, "out_0", Access::ReadWrite, 4),
        Binding::new(4, "out_1", Access::ReadWrite, 4),
        Binding::new(5, "state", Access::Read, 4),
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

    /// Computes the normals of the points from `first` on, as the mirror of [`SMOOTH_NORMALS`].
    /// Every corner adds the cross product of its two edges, so large faces count for more. The
    /// normal is zero at a point without faces, or if its faces have no area. `points` has all
    /// deformed points. All variants have the same bits.
    pub(super) fn of_points(&self, points: &[Vec3], first: usize, out: &mut [Vec3]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(cpu) = Avx2Fma::detect() {
            // SAFETY: the machine has AVX2 and FMA.
            unsafe { self.of_points_wide(cpu, points, first, out) };
            return;
        }
        self.of_points_here::<4, Vec4>((), points, first, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn of_points_wide(&self, cpu: Avx2Fma, points: &[Vec3], first: usize, out: &mut [Vec3]) {
        self.of_points_here::<8, Wide>(cpu, points, first, out);
    }

    #[inline(always)]
    fn of_points_here<const N: usize, L: Lanes<N>>(
        &self,
        cpu: L::Cpu,
        points: &[Vec3],
        first: usize,
        out: &mut [Vec3],
    ) {
        let floats = bytemuck::cast_slice(points);
        let rows = self.rows[first..].windows(2);
        for ((row, p), to) in rows.zip(&points[first..]).zip(&mut *out) {
            let corners = &self.neighbors[row[0] as usize..row[1] as usize];
            *to = sum_of_corners(floats, p.extend(0.0), corners);
        }
        let (whole, rest) = out.as_chunks_mut::<N>();
        for sums in whole {
            L::to_points(units(L::from_points(cpu, sums)), sums);
        }
        let mut padded = [Vec3::ZERO; N];
        padded[..rest.len()].copy_from_slice(rest);
        L::to_points(units(L::from_points(cpu, &padded)), &mut padded);
        rest.copy_from_slice(&padded[..rest.len()]);
    }
}

/// The sum of the cross products of a point's corners. `floats` has three values per point.
#[inline(always)]
fn sum_of_corners(floats: &[f32], p: Vec4, corners: &[[u32; 2]]) -> Vec3 {
    // One load of four values where there are four; the fourth is discarded.
    let at = |point: u32| {
        let first = point as usize * 3;
        match floats.get(first..first + 4) {
            Some(four) => Vec4::from_slice(four),
            None => Vec3::from_slice(&floats[first..]).extend(0.0),
        }
    };
    let mut sum = Vec4::ZERO;
    for [next, previous] in corners {
        let (a, b) = (at(*next) - p, at(*previous) - p);
        // The cross product as (z, x, y).
        sum += a * b.yzxw() - a.yzxw() * b;
    }
    Vec3::new(sum.y, sum.z, sum.x)
}

/// Scales vectors to unit length, even very short ones: areas shrink with the square of the mesh's
/// unit.
#[inline(always)]
fn units<const N: usize, L: Lanes<N>>([x, y, z]: Vectors<L>) -> Vectors<L> {
    let cpu = x.cpu();
    let size = x.abs().add(y.abs()).add(z.abs());
    let [x, y, z] = [x.div(size), y.div(size), z.div(size)];
    let square = x.mul(x).add(y.mul(y)).add(z.mul(z));
    let scale = L::splat(cpu, 1.0).div(square.sqrt());
    let unit = |v: L| {
        let zero = L::splat(cpu, 0.0);
        // Both comparisons are false for NaN.
        let small = L::select(L::splat(cpu, SMALLEST_AREA).less(size), v.mul(scale), zero);
        L::select(size.less(L::splat(cpu, LARGEST_AREA)), small, zero)
    };
    [unit(x), unit(y), unit(z)]
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::kernel::{PackedPose, PackedSkin, skin_on_cpu};
    use crate::mesh::RenderVertices;
    use crate::skel::{Pose, Skin};

    /// A skin without influences.
    fn resting(points: Vec<Vec3>) -> PackedSkin {
        let skin = Skin::new("/Mesh", Arc::new(points), None, None, None, 0, vec![]);
        PackedSkin::pack("/Mesh", &skin.expect("valid")).expect("packs")
    }

    fn normals_of(skin: &PackedSkin) -> Vec<Vec3> {
        let pose = PackedPose::pack(skin, &Pose::of_shapes(Vec::new())).expect("sizes that fit");
        let mut points = vec![Vec3::ZERO; skin.output_count()];
        let mut normals = vec![Vec3::NAN; skin.output_normal_count()];
        skin_on_cpu(skin, &pose, &mut points, Some(&mut normals)).expect("sizes that fit");
        normals
    }

    fn faces(counts: &[i32], corners: &[i32], left_handed: bool, points: usize) -> MeshTopology {
        MeshTopology::new("/Mesh", counts, corners, left_handed, points).expect("valid")
    }

    /// Outward along the diagonals, whichever way the faces run.
    #[test]
    fn of_a_cube() {
        // Counter-clockwise as seen from outside.
        let sides = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let corner = |i: i32| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32);
        let points: Vec<Vec3> = (0..8).map(|i| corner(i) * 2.0 - 1.0).collect();
        for left_handed in [false, true] {
            let mut sides = sides;
            if left_handed {
                sides.iter_mut().for_each(|side| side.reverse());
            }
            let topology = faces(&[4; 6], sides.as_flattened(), left_handed, 8);
            let skin = resting(points.clone())
                .with_smooth_normals(&topology)
                .expect("fits");
            for (normal, point) in normals_of(&skin).iter().zip(&points) {
                assert!(
                    normal.abs_diff_eq(point.normalize(), 1e-6),
                    "{normal} at {point}"
                );
            }
        }
    }

    /// There and back again: no area, and no rounding of one either.
    #[test]
    fn of_folded_faces() {
        let points = [[0.1, 0.2, 0.7], [-0.9, 0.3, 0.11], [1.0; 3], [0.0; 3]].map(Vec3::from);
        let topology = faces(&[4, 3, 3], &[0, 1, 0, 1, 0, 0, 1, 2, 2, 2], false, 4);
        let skin = resting(points.to_vec())
            .with_smooth_normals(&topology)
            .expect("fits");
        let made = skin.smooth_normals().expect("made normals");
        assert!(made.neighbors().is_empty(), "{made:?}");
        assert_eq!(normals_of(&skin), [Vec3::ZERO; 4]);
    }

    #[test]
    fn faces_of_another_mesh_are_refused() {
        let topology = faces(&[3], &[0, 1, 4], false, 5);
        let refused = resting(vec![Vec3::ZERO; 3]).with_smooth_normals(&topology);
        let error = refused.expect_err("refused").to_string();
        assert!(error.contains("indices of 3 points"), "{error}");
    }

    /// Corners whose neighbours have no vertex count for nothing, whichever is said first.
    #[test]
    fn corners_without_vertices_count_for_nothing() {
        let skin = resting(vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE]);
        let topology = faces(&[3, 3], &[0, 1, 2, 1, 3, 2], false, 4);
        let vertices = RenderVertices::new(vec![0, 1, 2]);
        let first = skin.clone().with_vertices(vertices.clone()).expect("fits");
        let first = first.with_smooth_normals(&topology).expect("fits");
        let second = skin.with_smooth_normals(&topology).expect("fits");
        let second = second.with_vertices(vertices).expect("fits");
        assert!(first == second, "the order of the two makes a difference");
        let made = first.smooth_normals().expect("made normals");
        assert_eq!(made.neighbors(), [[1, 2], [2, 0], [0, 1], [2, 1]]);
        assert_eq!(made.rows(), [0, 1, 2, 3, 4]);
    }
}
