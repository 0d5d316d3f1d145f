//! The body as an implicit surface: blobs melted together, with a mouth cut into them.

use glam::{Vec3, vec3};

use super::blobs::Blob;

pub struct Surface {
    pub blobs: Vec<Blob>,
}

impl Surface {
    /// About how far `p` is outside the body; less than 0 inside.
    pub fn distance(&self, p: Vec3) -> f32 {
        // A smooth cut leaves round lips.
        -smooth_min(-self.uncut(p), cavity(p), 0.055)
    }

    /// The same as though the mouth had not been cut.
    pub fn uncut(&self, p: Vec3) -> f32 {
        let melt = |d, blob: &Blob| smooth_min(d, blob.distance(p), blob.melt);
        self.blobs.iter().fold(f32::MAX, melt)
    }

    /// The way out, of length 1, measured over `step`.
    pub fn gradient(&self, p: Vec3, step: f32) -> Vec3 {
        let d = |axis: Vec3| self.distance(p + axis * step) - self.distance(p - axis * step);
        vec3(d(Vec3::X), d(Vec3::Y), d(Vec3::Z)).normalize_or(Vec3::Y)
    }
}

/// Height of the mouth's line: the corners turn up.
pub fn mouth_line(p: Vec3) -> f32 {
    1.445 + 1.0 * p.x * p.x - 0.05 * (p.z - 0.4)
}

/// The inside of the mouth, which opens to the front.
fn cavity(p: Vec3) -> f32 {
    let wide = 0.012 + 0.065 * ((p.z - 0.2) / 0.4).clamp(0.0, 1.0);
    let gap = (p.y - mouth_line(p)).abs() - wide;
    gap.max(0.26 - p.z).max(p.x.abs() - 0.25)
}

/// The polynomial smooth minimum, which differs from the true one where the two are nearer to each
/// other than `k`.
fn smooth_min(a: f32, b: f32, k: f32) -> f32 {
    let h = (k - (a - b).abs()).max(0.0) / k;
    a.min(b) - 0.25 * h * h * k
}
