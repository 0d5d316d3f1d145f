//! The meshes beside the body: wings, eyes, lids and the hat.

use std::f32::consts::{PI, TAU};

use glam::{EulerRot, Mat4, Quat, Vec3, vec3};

use super::mesh::{Grid, Influences, Mesh, Offsets, Shape, Skin, keep_largest, normals_of};
use super::rig::{Rig, Side, WING};
use super::{CORAL, DEEP, TEAL};
use crate::curves::{bell, catmull_rom, smoothstep};

/// Columns of a wing, from the root to the tip.
const WING_COLS: usize = 25;
/// Rows of each face of a wing, from the leading edge to the trailing edge.
const WING_ROWS: usize = 8;
const WING_BONES: [&str; 3] = ["wing*", "wingMid*", "wingTip*"];

/// A webbed sheet behind a leading edge.
pub fn wing(rig: &Rig, side: Side) -> Mesh {
    let ring = 2 * WING_ROWS;
    let mut skin = Vec::new();
    let (mut points, mut colors) = (Vec::new(), Vec::new());
    for i in 0..WING_COLS {
        let u = i as f32 / (WING_COLS - 1) as f32;
        for j in 0..ring {
            let back = j >= WING_ROWS;
            let v = (if back { ring - 1 - j } else { j }) as f32 / (WING_ROWS - 1) as f32;
            points.push(side.place(wing_point(u, v, back)));
            colors.push(wing_color(u, v));
            skin.push(wing_influences(rig, side, u, v));
        }
    }
    let grid = Grid {
        first: 0,
        rows: WING_COLS,
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

/// How far `u` is from the ribs: 0 on a rib, 1 in the middle between two.
fn web(u: f32) -> f32 {
    (PI * (u * WING_BONES.len() as f32).fract()).sin()
}

/// The left wing's point at `u` from the root and `v` from the leading edge.
fn wing_point(u: f32, v: f32, back: bool) -> Vec3 {
    // The leading edge is a curve through the joints, so it has no corners.
    let edge = catmull_rom(&WING, u * WING_BONES.len() as f32);
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

fn wing_color(u: f32, v: f32) -> Vec3 {
    let sheet = CORAL.lerp(vec3(0.98, 0.68, 0.22), smoothstep(0.1, 0.9, v));
    let rib = 0.5 * smoothstep(0.006, 0.0, 0.010 * web(u));
    sheet.lerp(DEEP, smoothstep(0.2, 0.08, v).max(rib))
}

/// Each bone moves its part of the length. At the root the trunk moves the sheet too.
fn wing_influences(rig: &Rig, side: Side, u: f32, v: f32) -> Influences {
    let mut weights = vec![0.0; rig.joints.len()];
    for (k, bone) in WING_BONES.iter().enumerate() {
        let middle = u * WING_BONES.len() as f32 - k as f32 - 0.5;
        weights[rig.find(&side.name(bone))] = bell(middle / 0.62);
    }
    weights[rig.find("chest")] = 1.2 * bell(u / 0.1);
    weights[rig.find("spine")] = 0.8 * bell(u / 0.16) * smoothstep(0.3, 1.0, v);
    let sum: f32 = weights.iter().sum();
    keep_largest(&weights, 0.01 * sum)
}

const EYE_RADIUS: f32 = 0.15;
const EYE_SEGMENTS: usize = 20;

/// A ball whose pole looks forward. Iris and pupil are rings, and a glint lies over them.
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
    // It looks slightly outward, because the eyes sit on the sides of the head.
    let turn = Quat::from_rotation_y(0.2 * side.sign) * Quat::from_rotation_x(-0.06);
    add_ball(&mut mesh, Vec3::ZERO, EYE_RADIUS, turn, &rings);

    // A cap hardly above the eye: a lid that closes comes nearer between its shapes.
    let glint = [0.0, 4.0, 8.5].map(|angle| (angle, Vec3::ONE));
    let to = vec3(0.045, 0.058, 0.129).normalize();
    let turn = turn * Quat::from_rotation_arc(Vec3::Z, to);
    add_ball(&mut mesh, Vec3::ZERO, 1.017 * EYE_RADIUS, turn, &glint);
    mesh
}

/// `rings` are angles from the pole in degrees, and their colours.
fn add_ball(mesh: &mut Mesh, at: Vec3, radius: f32, turn: Quat, rings: &[(f32, Vec3)]) {
    let grid = Grid {
        first: mesh.points.len(),
        rows: rings.len(),
        cols: EYE_SEGMENTS,
        closed: true,
    };
    mesh.faces.extend(grid.quads(true));
    for (angle, color) in rings {
        // A tiny ring in place of the pole has faces with normals.
        let t = angle.to_radians().max(0.002);
        for k in 0..EYE_SEGMENTS {
            let u = TAU * k as f32 / EYE_SEGMENTS as f32;
            let normal = turn * vec3(t.sin() * u.cos(), t.sin() * u.sin(), t.cos());
            mesh.points.push(at + normal * radius);
            mesh.normals.push(normal);
            mesh.colors.push(*color);
        }
    }
}

const LID_ROWS: usize = 9;
const LID_COLS: usize = 17;

/// An upper lid, part of a ball around the eye, with a blend shape that shuts it. The lid must
/// follow an arc as it closes: on a straight line it would cut through the eye, so it needs its
/// in-between.
pub fn lid(rig: &Rig, side: Side) -> Mesh {
    let at = rig.place(&side.name("eye*"));
    let points = lid_arc(at, 0.0);
    let normals = normals_on_ball(at, &points);
    let offsets = |closed: f32| {
        let moved = lid_arc(at, closed);
        Offsets {
            points: differences(&moved, &points),
            // On a ball the true normals are known.
            normals: differences(&normals_on_ball(at, &moved), &normals),
        }
    };
    let blink = Shape::new("blink", offsets(1.0), offsets(0.5));
    let grid = Grid {
        first: 0,
        rows: LID_ROWS,
        cols: LID_COLS,
        closed: false,
    };
    // The last row is the rim.
    let mut colors = vec![TEAL.lerp(DEEP, 0.3); (LID_ROWS - 1) * LID_COLS];
    colors.resize(LID_ROWS * LID_COLS, DEEP * 0.6);
    // All points follow the head, but with influences per point: the lid is rigid only by its
    // values.
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

/// The lid's points around the eye at `at`. `closed` is 0 when the lid is open and 1 when it is
/// shut.
fn lid_arc(at: Vec3, closed: f32) -> Vec<Vec3> {
    let radius = EYE_RADIUS + 0.026;
    let rim = 22.0 + 104.0 * closed;
    (0..LID_ROWS * LID_COLS)
        .map(|n| {
            let v = (n / LID_COLS) as f32 / (LID_ROWS - 1) as f32;
            let u = (4.0 + 172.0 * (n % LID_COLS) as f32 / (LID_COLS - 1) as f32).to_radians();
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

const HAT_ROWS: usize = 9;
const HAT_SEGMENTS: usize = 28;
const HAT_LAYER: usize = HAT_ROWS * HAT_SEGMENTS;

/// Half of the eggshell, rigidly bound to the head. Its geomBindTransform sets it askew.
pub fn hat(rig: &Rig) -> Mesh {
    let mut mesh = Mesh::new("EggshellHat", Skin::Rigid(rig.find("head")));
    mesh.bind = Mat4::from_rotation_translation(
        Quat::from_euler(EulerRot::XYZ, -0.16, 0.3, -0.2),
        vec3(0.05, 1.93, -0.02),
    );
    for inner in [false, true] {
        let grid = Grid {
            first: mesh.points.len(),
            rows: HAT_ROWS,
            cols: HAT_SEGMENTS,
            closed: true,
        };
        mesh.faces.extend(grid.quads(inner));
        for row in 0..HAT_ROWS {
            for k in 0..HAT_SEGMENTS {
                let scale = if inner { 0.93 } else { 1.0 };
                mesh.points.push(hat_point(row, k) * scale);
                mesh.colors.push(hat_color(inner, row, k));
            }
        }
    }
    // The broken edge joins the outer layer to the inner one.
    let edge = HAT_LAYER - HAT_SEGMENTS;
    for k in 0..HAT_SEGMENTS {
        let (a, b) = (edge + k, edge + (k + 1) % HAT_SEGMENTS);
        mesh.faces.push([a, b, b + HAT_LAYER, a + HAT_LAYER]);
    }
    mesh.normals = normals_of(&mesh.points, &mesh.faces);
    mesh
}

fn hat_point(row: usize, k: usize) -> Vec3 {
    // The last row zigzags.
    let zigzag = match (row == HAT_ROWS - 1, k.is_multiple_of(2)) {
        (false, _) => 0.0,
        (true, true) => 12.0,
        (true, false) => -9.0,
    };
    let a = (2.0 + 84.0 * row as f32 / (HAT_ROWS - 1) as f32 + zigzag).to_radians();
    let u = TAU * k as f32 / HAT_SEGMENTS as f32;
    vec3(
        0.3 * a.sin() * u.cos(),
        0.31 * a.cos(),
        0.3 * a.sin() * u.sin(),
    )
}

fn hat_color(inner: bool, row: usize, k: usize) -> Vec3 {
    let speckled = row < HAT_ROWS - 1 && (row * 5 + k * 3 + k / 4).is_multiple_of(11);
    if inner {
        vec3(0.8, 0.7, 0.55)
    } else if speckled {
        vec3(0.3, 0.55, 0.68)
    } else {
        vec3(0.97, 0.92, 0.8)
    }
}
