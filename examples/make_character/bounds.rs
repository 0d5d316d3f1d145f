//! Axis-aligned boxes, as `extent` holds them.

use glam::Vec3;

#[derive(Clone, Copy)]
pub struct Bounds {
    pub min: Vec3,
    pub max: Vec3,
}

impl Bounds {
    pub fn of(points: impl IntoIterator<Item = Vec3>) -> Self {
        let none = Self {
            min: Vec3::INFINITY,
            max: Vec3::NEG_INFINITY,
        };
        points.into_iter().fold(none, |b, p| Self {
            min: b.min.min(p),
            max: b.max.max(p),
        })
    }

    /// Larger by `margin` on every side.
    pub fn grown(self, margin: f32) -> Self {
        Self {
            min: self.min - margin,
            max: self.max + margin,
        }
    }
}
