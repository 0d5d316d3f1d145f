//! The upper lids, with a blend shape that shuts them.

use glam::{Vec3, vec3};

use super::eye;
use crate::colors::{DEEP, TEAL};
use crate::mesh::{Grid, Mesh, Skin};
use crate::rig::{Rig, Side};
use crate::shape::{Offsets, Shape};

const ROWS: usize = 9;
const COLS: usize = 17;

/// An upper lid on a ball around the eye. It must follow the arc as it closes: on the straight way
/// between open and shut it would cut through the eye, so the in-between is no decoration.
pub fn lid(rig: &Rig, side: Side) -> Mesh {
    let at = rig.place(&side.name("eye*"));
    let points = arc(at, 0.0);
    let normals = normals_on_ball(at, &points);
    let offsets = |closed: f32| {
        let moved = arc(at, closed);
        Offsets {
            points: differences(&moved, &points),
            // On a ball the true normals are known.
            normals: differences(&normals_on_ball(at, &moved), &normals),
        }
    };
    let blink = Shape::new("blink", offsets(1.0), offsets(0.5));
    let grid = Grid {
        first: 0,
        rows: ROWS,
        cols: COLS,
        closed: false,
    };
    // The last row is the rim.
    let mut colors = vec![TEAL.lerp(DEEP, 0.3); (ROWS - 1) * COLS];
    colors.resize(ROWS * COLS, DEEP * 0.6);
    // All of it follows the head, but point by point: rigid only by its values.
    let skin = Skin::Smooth(vec![vec![(rig.find("head"), 1.0)]; points.len()]);
    Mesh {
        points,
        normals,
        colors,
        faces: grid.quads(false).collect(),
        shapes: vec![blink],
        ..Mesh::new(side.name("Lid*"), skin)
    }
}

/// The lid's points around the eye at `at`, `closed` being 0 when open and 1 when shut.
fn arc(at: Vec3, closed: f32) -> Vec<Vec3> {
    let radius = eye::RADIUS + 0.022;
    let rim = 22.0 + 104.0 * closed;
    (0..ROWS * COLS)
        .map(|n| {
            let v = (n / COLS) as f32 / (ROWS - 1) as f32;
            let u = (4.0 + 172.0 * (n % COLS) as f32 / (COLS - 1) as f32).to_radians();
            let a = (-70.0 + (rim + 70.0) * v).to_radians();
            at + radius * vec3(u.cos(), u.sin() * a.cos(), u.sin() * a.sin())
        })
        .collect()
}

fn normals_on_ball(at: Vec3, points: &[Vec3]) -> Vec<Vec3> {
    points.iter().map(|&p| (p - at).normalize()).collect()
}

fn differences(a: &[Vec3], b: &[Vec3]) -> Vec<Vec3> {
    a.iter().zip(b).map(|(a, b)| *a - *b).collect()
}
