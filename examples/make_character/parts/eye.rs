//! The eyeballs, rigidly bound.

use std::f32::consts::TAU;

use glam::{Mat4, Quat, Vec3, vec3};

use crate::mesh::{Grid, Mesh, Skin};
use crate::rig::{Rig, Side};

pub const RADIUS: f32 = 0.15;
const SEGMENTS: usize = 20;

/// A ball whose pole looks forward, with iris and pupil as rings, and a glint before it.
pub fn eye(rig: &Rig, side: Side) -> Mesh {
    let joint = side.name("eye*");
    let mut mesh = Mesh::new(side.name("Eye*"), Skin::Rigid(rig.find(&joint)));
    mesh.bind = Mat4::from_translation(rig.place(&joint));

    let black = vec3(0.01, 0.01, 0.015);
    let gold = vec3(0.95, 0.55, 0.05);
    let rings = [
        (0.0, black),
        (14.0, black),
        (24.0, black),
        (26.0, gold * 0.55),
        (34.0, gold),
        (42.0, gold * 0.7),
        (44.0, black),
        (47.0, Vec3::splat(0.93)),
        (60.0, Vec3::splat(0.95)),
        (75.0, Vec3::splat(0.95)),
        (90.0, Vec3::splat(0.95)),
        (110.0, Vec3::splat(0.9)),
        (140.0, Vec3::splat(0.85)),
        (175.0, Vec3::splat(0.8)),
    ];
    // It squints slightly outward, as the eyes sit on the sides of the head.
    let turn = Quat::from_rotation_y(0.2 * side.sign) * Quat::from_rotation_x(-0.06);
    add_ball(&mut mesh, Vec3::ZERO, RADIUS, turn, &rings);

    let glint = [0.0, 45.0, 90.0, 135.0, 178.0].map(|angle| (angle, Vec3::ONE));
    let at = turn * vec3(0.045, 0.058, 0.129);
    add_ball(&mut mesh, at, 0.027, Quat::IDENTITY, &glint);
    mesh
}

/// `rings` are angles from the pole in degrees, and their colours.
fn add_ball(mesh: &mut Mesh, at: Vec3, radius: f32, turn: Quat, rings: &[(f32, Vec3)]) {
    let grid = Grid {
        first: mesh.points.len(),
        rows: rings.len(),
        cols: SEGMENTS,
        closed: true,
    };
    mesh.faces.extend(grid.quads(true));
    for (angle, color) in rings {
        // A ring around the pole, even if too small to see, has faces with normals.
        let t = angle.to_radians().max(0.002);
        for k in 0..SEGMENTS {
            let u = TAU * k as f32 / SEGMENTS as f32;
            let normal = turn * vec3(t.sin() * u.cos(), t.sin() * u.sin(), t.cos());
            mesh.points.push(at + normal * radius);
            mesh.normals.push(normal);
            mesh.colors.push(*color);
        }
    }
}
