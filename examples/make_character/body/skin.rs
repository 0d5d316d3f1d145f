//! The body's influences: the nearer a joint's flesh, the larger its weight.

use glam::Vec3;

use super::surface::{Surface, mouth_line};
use crate::curves::{bell, smoothstep};
use crate::mesh::Quad;
use crate::rig::Rig;
use crate::weights::{self, Influences};

pub fn influences(
    rig: &Rig,
    surface: &Surface,
    points: &[Vec3],
    faces: &[Quad],
) -> Vec<Influences> {
    let raw = points
        .iter()
        .map(|p| weights_at(rig, surface, *p))
        .collect();
    // Averaging over neighbours takes out the creases where two blobs meet.
    weights::smooth(raw, faces, 4)
        .iter()
        .map(|w| {
            let top = w.iter().copied().fold(0.0, f32::max);
            weights::keep_largest(w, 0.004 * top)
        })
        .collect()
}

/// Of all the joints.
fn weights_at(rig: &Rig, surface: &Surface, p: Vec3) -> Vec<f32> {
    let mut weights = vec![0.0; rig.joints.len()];
    for blob in &surface.blobs {
        weights[blob.joint] += bell(blob.distance(p).max(0.0) / 0.1);
    }
    // Above the mouth's line all is head, below it the jaw takes over.
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
