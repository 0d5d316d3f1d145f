//! Surface nets: one point in every cell that the surface crosses, one quad for every crossed edge.

use glam::{UVec3, Vec3, uvec3};

use crate::mesh::Quad;

const CELL: f32 = 0.047;

/// The surface between `lo` and `hi` where `distance` is 0, which must not reach the box's sides.
pub fn mesh(distance: impl Fn(Vec3) -> f32, lo: Vec3, hi: Vec3) -> (Vec<Vec3>, Vec<Quad>) {
    let size = ((hi - lo) / CELL).ceil().as_uvec3() + 1;
    let id = |c: UVec3| ((c.z * size.y + c.y) * size.x + c.x) as usize;
    let at = |c: UVec3| lo + c.as_vec3() * CELL;
    let grid: Vec<f32> = cells(UVec3::ZERO, size).map(|c| distance(at(c))).collect();
    let inside = |c: UVec3| grid[id(c)] < 0.0;

    // The mean of where the cell's edges are crossed.
    let crossing = |cell: UVec3| {
        let (mut sum, mut count) = (Vec3::ZERO, 0.0);
        let corner = |k: u32| cell + uvec3(k & 1, k >> 1 & 1, k >> 2);
        for from in 0..8 {
            for to in [1, 2, 4].map(|axis| from | axis) {
                let (a, b) = (corner(from), corner(to));
                if inside(a) != inside(b) {
                    let (da, db) = (grid[id(a)], grid[id(b)]);
                    sum += at(a).lerp(at(b), da / (da - db));
                    count += 1.0;
                }
            }
        }
        (count > 0.0).then(|| sum / count)
    };
    let mut points = Vec::new();
    let mut point_of = vec![usize::MAX; grid.len()];
    for cell in cells(UVec3::ZERO, size - 1) {
        if let Some(p) = crossing(cell) {
            point_of[id(cell)] = points.len();
            points.push(p);
        }
    }

    let mut faces = Vec::new();
    for c in cells(UVec3::ONE, size - 1) {
        for (along, u, v) in [
            (UVec3::X, UVec3::Y, UVec3::Z),
            (UVec3::Y, UVec3::Z, UVec3::X),
            (UVec3::Z, UVec3::X, UVec3::Y),
        ] {
            if inside(c) != inside(c + along) {
                // The four cells around the edge.
                let mut quad = [c - u - v, c - v, c, c - u].map(|cell| point_of[id(cell)]);
                if !inside(c) {
                    quad.reverse();
                }
                faces.push(quad);
            }
        }
    }
    (points, faces)
}

/// All from `lo` to before `hi`, x the fastest.
fn cells(lo: UVec3, hi: UVec3) -> impl Iterator<Item = UVec3> {
    (lo.z..hi.z).flat_map(move |z| {
        (lo.y..hi.y).flat_map(move |y| (lo.x..hi.x).map(move |x| uvec3(x, y, z)))
    })
}
