//! The wings: a webbed sheet behind a leading edge.

use std::f32::consts::PI;

use glam::{Vec3, vec3};

use crate::colors::{CORAL, DEEP};
use crate::curves::{bell, catmull_rom, smoothstep};
use crate::mesh::{Grid, Mesh, Skin, normals_of};
use crate::rig::{Rig, Side, WING};
use crate::weights::{self, Influences};

/// From the root to the tip.
const COLS: usize = 25;
/// From the leading edge to the trailing one, on the front and on the back each.
const ROWS: usize = 8;
const BONES: [&str; 3] = ["wing*", "wingMid*", "wingTip*"];

pub fn wing(rig: &Rig, side: Side) -> Mesh {
    let ring = 2 * ROWS;
    let mut skin = Vec::new();
    let (mut points, mut colors) = (Vec::new(), Vec::new());
    for i in 0..COLS {
        let u = i as f32 / (COLS - 1) as f32;
        for j in 0..ring {
            let back = j >= ROWS;
            let v = (if back { ring - 1 - j } else { j }) as f32 / (ROWS - 1) as f32;
            points.push(side.place(point(u, v, back)));
            colors.push(color(u, v));
            skin.push(influences(rig, side, u, v));
        }
    }
    let grid = Grid {
        first: 0,
        rows: COLS,
        cols: ring,
        closed: true,
    };
    // A mirrored face is seen from behind.
    let faces: Vec<_> = grid.quads(side.sign < 0.0).collect();
    Mesh {
        normals: normals_of(&points, &faces),
        points,
        colors,
        faces,
        ..Mesh::new(side.name("Wing*"), Skin::Smooth(skin))
    }
}

/// 0 on the ribs, 1 in the middle between them.
fn web(u: f32) -> f32 {
    (PI * (u * BONES.len() as f32).fract()).sin()
}

/// The left wing's point at `u` from the root and `v` from the leading edge.
fn point(u: f32, v: f32, back: bool) -> Vec3 {
    // A curve through the joints, so that the leading edge has no corners.
    let edge = catmull_rom(&WING, u * BONES.len() as f32);
    let arch = (PI * u).sin();
    let low = vec3(0.12, 0.84, -0.26).lerp(WING[3] + vec3(-0.02, -0.04, 0.0), u)
        + vec3(0.0, -0.22 * arch, 0.0);
    // The trailing edge is scalloped between the ribs.
    let low = edge + (low - edge) * (1.0 - 0.22 * web(u));
    // The sheet is thinner there, and rounded at the leading edge.
    let thick = 0.034 * (1.0 - v).powi(3) * (1.0 - 0.5 * u) + 0.014 - 0.010 * web(u);
    let round = if v == 0.0 { 0.4 } else { 1.0 };
    let bulge = -0.07 * (PI * v).sin() * arch;
    let out = if back { -1.0 } else { 1.0 };
    edge.lerp(low, v) + vec3(0.0, 0.0, bulge + thick * round * out)
}

fn color(u: f32, v: f32) -> Vec3 {
    let sheet = CORAL.lerp(vec3(0.98, 0.68, 0.22), smoothstep(0.1, 0.9, v));
    let rib = 0.5 * smoothstep(0.006, 0.0, 0.010 * web(u));
    sheet.lerp(DEEP, smoothstep(0.2, 0.08, v).max(rib))
}

/// Each of the bones has its part of the length; at the root the trunk holds on to the sheet.
fn influences(rig: &Rig, side: Side, u: f32, v: f32) -> Influences {
    let mut weights = vec![0.0; rig.joints.len()];
    for (k, bone) in BONES.iter().enumerate() {
        let middle = u * BONES.len() as f32 - k as f32 - 0.5;
        weights[rig.find(&side.name(bone))] = bell(middle / 0.62);
    }
    weights[rig.find("chest")] = 1.2 * bell(u / 0.1);
    weights[rig.find("spine")] = 0.8 * bell(u / 0.16) * smoothstep(0.3, 1.0, v);
    let sum: f32 = weights.iter().sum();
    weights::keep_largest(&weights, 0.01 * sum)
}
