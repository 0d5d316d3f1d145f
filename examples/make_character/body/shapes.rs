//! The body's blend shapes: a smile, and a belly that puffs up.

use glam::{Vec3, vec3};

use super::surface::mouth_line;
use crate::curves::{bell3, smoothstep};
use crate::mesh::Mesh;
use crate::shape::{Offsets, Shape};

#[derive(Clone, Copy)]
enum Weight {
    Half,
    Full,
}

pub fn shapes(body: &Mesh) -> Vec<Shape> {
    vec![shape(body, "smile", smile), shape(body, "puff", puff)]
}

fn shape(body: &Mesh, name: &'static str, offset: fn(Vec3, Weight) -> Vec3) -> Shape {
    // A soft cut, so that the shape has no step where its points end.
    let cut = |p: Vec3| smoothstep(0.002, 0.008, offset(p, Weight::Full).length());
    let offsets = |weight: Weight| {
        let offsets = body.points.iter().map(|&p| offset(p, weight) * cut(p));
        Offsets::new(body, offsets.collect())
    };
    Shape::new(name, offsets(Weight::Full), offsets(Weight::Half))
}

/// The corners of the mouth go up and back, the cheeks swell. Halfway the corners only spread: a
/// smile that starts by rising looks like a sneer.
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

fn puff(p: Vec3, weight: Weight) -> Vec3 {
    let middle = vec3(0.0, 0.78, 0.2);
    let most = match weight {
        Weight::Half => 0.7,
        Weight::Full => 1.0,
    };
    vec3(p.x * 0.22, (p.y - middle.y) * 0.12, 0.1) * bell3((p - middle) / 0.3) * most
}
