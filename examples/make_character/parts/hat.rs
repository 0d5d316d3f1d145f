//! The hat, a rigid prop.

use std::f32::consts::TAU;

use glam::{EulerRot, Mat4, Quat, Vec3, vec3};

use crate::mesh::{Grid, Mesh, Skin, normals_of};
use crate::rig::Rig;

const ROWS: usize = 9;
const SEGMENTS: usize = 28;
const LAYER: usize = ROWS * SEGMENTS;

/// Half of the shell it hatched from. It sits askew: that is in its geomBindTransform.
pub fn hat(rig: &Rig) -> Mesh {
    let mut mesh = Mesh::new("EggshellHat", Skin::Rigid(rig.find("head")));
    mesh.bind = Mat4::from_rotation_translation(
        Quat::from_euler(EulerRot::XYZ, -0.16, 0.3, -0.2),
        vec3(0.05, 1.93, -0.02),
    );
    for inner in [false, true] {
        let grid = Grid {
            first: mesh.points.len(),
            rows: ROWS,
            cols: SEGMENTS,
            closed: true,
        };
        mesh.faces.extend(grid.quads(inner));
        for row in 0..ROWS {
            for k in 0..SEGMENTS {
                let scale = if inner { 0.93 } else { 1.0 };
                mesh.points.push(shell(row, k) * scale);
                mesh.colors.push(color(inner, row, k));
            }
        }
    }
    // The broken edge joins the outer layer to the inner one.
    let edge = LAYER - SEGMENTS;
    for k in 0..SEGMENTS {
        let (a, b) = (edge + k, edge + (k + 1) % SEGMENTS);
        mesh.faces.push([a, b, b + LAYER, a + LAYER]);
    }
    mesh.normals = normals_of(&mesh.points, &mesh.faces);
    mesh
}

fn shell(row: usize, k: usize) -> Vec3 {
    // The last row zigzags.
    let zigzag = match (row == ROWS - 1, k.is_multiple_of(2)) {
        (false, _) => 0.0,
        (true, true) => 12.0,
        (true, false) => -9.0,
    };
    let a = (2.0 + 84.0 * row as f32 / (ROWS - 1) as f32 + zigzag).to_radians();
    let u = TAU * k as f32 / SEGMENTS as f32;
    vec3(
        0.3 * a.sin() * u.cos(),
        0.31 * a.cos(),
        0.3 * a.sin() * u.sin(),
    )
}

fn color(inner: bool, row: usize, k: usize) -> Vec3 {
    let speckled = row < ROWS - 1 && (row * 5 + k * 3 + k / 4).is_multiple_of(11);
    if inner {
        vec3(0.8, 0.7, 0.55)
    } else if speckled {
        vec3(0.3, 0.55, 0.68)
    } else {
        vec3(0.97, 0.92, 0.8)
    }
}
