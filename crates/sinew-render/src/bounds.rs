//! Bounding boxes in world space.

use glam::{DMat4, DVec3};

/// An axis-aligned bounding box in world space, in the stage's units. It is empty if it contains no
/// point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Corner with the smallest coordinates; infinity if the box is empty.
    pub low: DVec3,
    /// Corner with the largest coordinates; negative infinity if the box is empty.
    pub high: DVec3,
}

impl Default for Bounds {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Bounds {
    /// The empty box.
    pub const EMPTY: Self = Self {
        low: DVec3::INFINITY,
        high: DVec3::NEG_INFINITY,
    };

    /// The smallest box around points. Points that are not finite are ignored.
    #[must_use]
    pub fn of(points: impl IntoIterator<Item = DVec3>) -> Self {
        let mut out = Self::EMPTY;
        for p in points {
            out.add(p);
        }
        out
    }

    /// Grows the box to contain a point. A point that is not finite is ignored.
    pub fn add(&mut self, point: DVec3) {
        if point.is_finite() {
            self.low = self.low.min(point);
            self.high = self.high.max(point);
        }
    }

    /// The smallest box around this box and another.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// Whether the box contains no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.low.cmple(self.high).all()
    }

    /// The middle of the box; the origin if it is empty.
    #[must_use]
    pub fn center(&self) -> DVec3 {
        if self.is_empty() {
            DVec3::ZERO
        } else {
            (self.low + self.high) * 0.5
        }
    }

    /// Lengths of the edges; zero if the box is empty.
    #[must_use]
    pub fn size(&self) -> DVec3 {
        if self.is_empty() {
            DVec3::ZERO
        } else {
            self.high - self.low
        }
    }

    /// Length of the diagonal; zero if the box is empty.
    #[must_use]
    pub fn diagonal(&self) -> f64 {
        self.size().length()
    }

    /// The distance from the middle within which light and shadows are computed. It leaves space for
    /// what moves out of the box.
    pub(super) fn reach(&self) -> f64 {
        match self.is_empty() {
            true => 1.0,
            false => 0.75 * self.diagonal().max(1e-9),
        }
    }

    /// The eight corners. Bits 0, 1 and 2 of the index choose the high x, y and z.
    #[must_use]
    pub fn corners(&self) -> [DVec3; 8] {
        std::array::from_fn(|i| {
            let pick = |bit: usize, axis: usize| match i >> bit & 1 {
                0 => self.low[axis],
                _ => self.high[axis],
            };
            DVec3::new(pick(0, 0), pick(1, 1), pick(2, 2))
        })
    }

    /// The smallest box around the transformed corners of this box.
    #[must_use]
    pub fn transformed(&self, m: DMat4) -> Self {
        if self.is_empty() {
            return *self;
        }
        Self::of(self.corners().map(|c| m.transform_point3(c)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_unite_and_move() {
        let a = Bounds::of([DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0), DVec3::NAN]);
        assert_eq!(a.center(), DVec3::new(0.5, 1.0, 1.5));
        assert!(Bounds::EMPTY.is_empty() && Bounds::EMPTY.union(a) == a);
        assert_eq!(Bounds::EMPTY.center(), DVec3::ZERO);
        let moved = a.transformed(DMat4::from_translation(DVec3::X));
        assert_eq!(moved.low, DVec3::X);
        assert!(Bounds::EMPTY.transformed(DMat4::IDENTITY).is_empty());
    }
}
