//! The body's mesh: points on the implicit surface with colours, influences and blend shapes.

use glam::{Vec3, vec3};

use super::mesh::{self, Influences, Mesh, Offsets, Quad, Shape, Skin, normals_of};
use super::rig::Rig;
use super::surface::{self, Surface, mouth_line};
use super::{CREAM, DEEP, MOUTH, TEAL};
use crate::curves::{bell, bell3, smoothstep};

/// A box around the surface. It is symmetric in x, so the mesh is too.
const BOX: (Vec3, Vec3) = (vec3(-1.0, -0.08, -1.64), vec3(1.0, 2.32, 0.84));

pub fn body(rig: &Rig) -> Mesh {
    let surface = Surface {
        blobs: surface::blobs(rig),
    };
    let (mut points, faces) = surface::net(|p| surface.distance(p), BOX.0, BOX.1);
    for p in &mut points {
        *p = onto(&surface, *p);
    }
    // Surface nets crowd points where the grid cuts the surface at a slant: even them out.
    for _ in 0..5 {
        points = mesh::evened(&points, &faces);
        for p in &mut points {
            *p = onto(&surface, *p);
        }
    }
    let normals: Vec<Vec3> = points
        .iter()
        .zip(normals_of(&points, &faces))
        .map(|(&p, n)| normal(&surface, p, n))
        .collect();
    let colors = points
        .iter()
        .zip(&normals)
        .map(|(p, n)| color(rig, &surface, *p, *n))
        .collect();
    let skin = Skin::Smooth(influences(rig, &surface, &points, &faces));
    let mut mesh = Mesh {
        points,
        normals,
        colors,
        faces,
        ..Mesh::new("Body", skin)
    };
    mesh.shapes = shapes(&mesh);
    mesh
}

/// Moves a point onto the surface, because surface nets cut corners.
fn onto(surface: &Surface, mut p: Vec3) -> Vec3 {
    for _ in 0..2 {
        let d = surface.distance(p).clamp(-0.02, 0.02);
        p -= surface.gradient(p, 0.005) * d * 0.8;
    }
    p
}

/// The normal at `p`: mostly the surface's gradient. Where the faces' normal points elsewhere, the
/// mesh is too coarse for the surface, so the faces' normal is taken.
fn normal(surface: &Surface, p: Vec3, of_faces: Vec3) -> Vec3 {
    let gradient = surface.gradient(p, 0.012);
    if gradient.dot(of_faces) > 0.3 {
        (gradient + 0.35 * of_faces).normalize()
    } else {
        of_faces
    }
}

fn color(rig: &Rig, surface: &Surface, p: Vec3, normal: Vec3) -> Vec3 {
    let color = color_of_blobs(rig, surface, p);
    let stripe = 0.9 + 0.1 * (p.y * 62.0).sin();
    let color = color.lerp(CREAM * stripe, belly(p, normal));
    // The back is darker, but only where it is teal.
    let back = 0.55 * smoothstep(0.25, 0.95, normal.y - 0.5 * normal.z);
    let color = color.lerp(DEEP, back * smoothstep(0.12, 0.0, (color - TEAL).length()));
    // A point deep below the uncut surface is inside the mouth.
    color.lerp(MOUTH, smoothstep(0.018, 0.036, -surface.uncut(p)))
}

fn color_of_blobs(rig: &Rig, surface: &Surface, p: Vec3) -> Vec3 {
    let jaw = rig.find("jaw");
    let (mut sum, mut total) = (Vec3::ZERO, 0.0);
    for blob in &surface.blobs {
        let d = blob.distance(p).max(0.0);
        let mut weight = bell(d / 0.022) + 1e-6;
        // Teal weighs less, so what grows out of the body keeps its own colour.
        if blob.color == TEAL {
            weight *= 0.35;
        }
        // The jaw's colour ends at the lower lip.
        if blob.joint == jaw {
            weight *= smoothstep(0.03, -0.01, p.y - mouth_line(p));
        }
        sum += blob.color * weight;
        total += weight;
    }
    sum / total
}

/// How much `p` belongs to the light belly and throat, from 0 to 1.
fn belly(p: Vec3, normal: Vec3) -> f32 {
    let oval = ((p.x / 0.27).powi(2) + ((p.y - 0.78) / 0.42).powi(2)).sqrt();
    let throat =
        smoothstep(0.15, 0.09, p.x.abs()) * smoothstep(0.9, 1.0, p.y) * smoothstep(1.38, 1.3, p.y);
    smoothstep(0.25, 0.6, normal.z)
        * smoothstep(0.03, 0.1, p.z)
        * smoothstep(1.1, 0.86, oval).max(throat)
}

fn influences(rig: &Rig, surface: &Surface, points: &[Vec3], faces: &[Quad]) -> Vec<Influences> {
    let raw = points
        .iter()
        .map(|p| weights_at(rig, surface, *p))
        .collect();
    // Smoothing removes the creases where two blobs meet.
    mesh::smooth(raw, faces, 4)
        .iter()
        .map(|w| {
            let top = w.iter().copied().fold(0.0, f32::max);
            mesh::keep_largest(w, 0.004 * top)
        })
        .collect()
}

/// Weights of all joints at `p`: the nearer a joint's blobs, the larger its weight.
fn weights_at(rig: &Rig, surface: &Surface, p: Vec3) -> Vec<f32> {
    let mut weights = vec![0.0; rig.joints.len()];
    for blob in &surface.blobs {
        weights[blob.joint] += bell(blob.distance(p).max(0.0) / 0.1);
    }
    // The jaw moves what is below the mouth's line, the head what is above.
    if p.y > 1.2 && p.z > 0.12 {
        let below = smoothstep(0.02, -0.02, p.y - mouth_line(p))
            * smoothstep(0.14, 0.34, p.z)
            * smoothstep(1.27, 1.36, p.y);
        let (jaw, head) = (rig.find("jaw"), rig.find("head"));
        let both = weights[head] + weights[jaw];
        weights[jaw] = both * below;
        weights[head] = both * (1.0 - below);
    }
    let sum: f32 = weights.iter().sum();
    weights.iter().map(|w| w / sum).collect()
}

#[derive(Clone, Copy)]
enum Weight {
    Half,
    Full,
}

fn shapes(body: &Mesh) -> Vec<Shape> {
    vec![shape(body, "smile", smile), shape(body, "puff", puff)]
}

fn shape(body: &Mesh, name: &'static str, offset: fn(Vec3, Weight) -> Vec3) -> Shape {
    // Small offsets fade out, so the shape has no step at the edge of its points.
    let cut = |p: Vec3| smoothstep(0.002, 0.008, offset(p, Weight::Full).length());
    let offsets = |weight: Weight| {
        let offsets = body.points.iter().map(|&p| offset(p, weight) * cut(p));
        Offsets::new(body, offsets.collect())
    };
    Shape::new(name, offsets(Weight::Full), offsets(Weight::Half))
}

/// A smile: the corners of the mouth go up and back, the cheeks swell. At half weight the corners
/// only spread, because a smile that starts by rising looks like a sneer.
fn smile(p: Vec3, weight: Weight) -> Vec3 {
    let side = p.x.signum();
    let corner = bell3((p - vec3(0.25 * side, mouth_line(p), 0.4)) / vec3(0.1, 0.09, 0.16));
    let cheek = bell3((p - vec3(0.33 * side, 1.56, 0.28)) / 0.12);
    let (out, up) = match weight {
        Weight::Half => (0.8, 0.25),
        Weight::Full => (1.0, 1.0),
    };
    vec3(
        side * (0.035 * corner * out + 0.035 * cheek * up),
        0.06 * corner * up + 0.02 * cheek * up,
        -0.03 * corner * out,
    )
}

/// The belly puffs up.
fn puff(p: Vec3, weight: Weight) -> Vec3 {
    let middle = vec3(0.0, 0.78, 0.2);
    let most = match weight {
        Weight::Half => 0.7,
        Weight::Full => 1.0,
    };
    vec3(p.x * 0.22, (p.y - middle.y) * 0.12, 0.1) * bell3((p - middle) / 0.3) * most
}
