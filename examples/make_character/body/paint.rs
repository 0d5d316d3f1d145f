//! The body's colours.

use glam::Vec3;

use super::surface::{Surface, mouth_line};
use crate::colors::{CREAM, DEEP, MOUTH, TEAL};
use crate::curves::{bell, smoothstep};
use crate::rig::Rig;

pub fn color(rig: &Rig, surface: &Surface, p: Vec3, normal: Vec3) -> Vec3 {
    let color = of_blobs(rig, surface, p);
    let stripe = 0.9 + 0.1 * (p.y * 62.0).sin();
    let color = color.lerp(CREAM * stripe, belly(p, normal));
    // Darker along the back, but only where it is teal.
    let back = 0.55 * smoothstep(0.25, 0.95, normal.y - 0.5 * normal.z);
    let color = color.lerp(DEEP, back * smoothstep(0.12, 0.0, (color - TEAL).length()));
    // What is deep under the uncut surface is inside the mouth.
    color.lerp(MOUTH, smoothstep(0.018, 0.036, -surface.uncut(p)))
}

fn of_blobs(rig: &Rig, surface: &Surface, p: Vec3) -> Vec3 {
    let jaw = rig.find("jaw");
    let (mut sum, mut total) = (Vec3::ZERO, 0.0);
    for blob in &surface.blobs {
        let d = blob.distance(p).max(0.0);
        let mut weight = bell(d / 0.022) + 1e-6;
        // What juts out keeps its colour against what it grows from.
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

/// How much `p` is of the light belly and throat, which have soft stripes as on a lizard's.
fn belly(p: Vec3, normal: Vec3) -> f32 {
    let oval = ((p.x / 0.27).powi(2) + ((p.y - 0.78) / 0.42).powi(2)).sqrt();
    let throat =
        smoothstep(0.15, 0.09, p.x.abs()) * smoothstep(0.9, 1.0, p.y) * smoothstep(1.38, 1.3, p.y);
    smoothstep(0.25, 0.6, normal.z)
        * smoothstep(0.03, 0.1, p.z)
        * smoothstep(1.06, 0.9, oval).max(throat)
}
