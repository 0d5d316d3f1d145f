//! Clips: animation curves of nodes, human bones and expressions.

use glam::{DQuat, DVec3};
use serde_json::Value;

use crate::retarget::Bone;

/// One animation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssetClip {
    /// Name in the file. It may be empty, and several clips may have the same name.
    pub name: String,
    /// The animated components, in the file's order.
    pub tracks: Vec<Track>,
    /// Data of the application that wrote the file.
    pub extras: Option<Value>,
}

/// The animation of one component of one target.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// The node, bone or expression that moves.
    pub target: TrackTarget,
    /// Its values over time. The kind of [`Keys`] says which component moves.
    pub curve: Curve,
}

/// What a track moves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TrackTarget {
    /// A node, by index. Its values are relative to the parent; weights are the morph weights of
    /// its mesh.
    Node(usize),
    /// A human bone. Its values are relative to its bind pose (EXT_skeleton_humanoid).
    Bone(Bone),
    /// A VRM expression, by name. Its weight is clamped to 0..1 when it is used.
    Expression(String),
}

/// Keys of one component.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Times of the keys in seconds, strictly increasing; at least one.
    pub times: Vec<f64>,
    /// How values between two keys are computed.
    pub interpolation: CurveInterpolation,
    /// The values at `times`.
    pub keys: Keys,
}

/// How a curve is interpolated between its keys (glTF 2.0, 3.11 and appendix C).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CurveInterpolation {
    /// Linear; for rotations slerp along the shorter arc.
    #[default]
    Linear,
    /// The value of the earlier key.
    Step,
    /// Cubic Hermite splines. There are three values for each time: in-tangent, value, out-tangent.
    /// Tangents are per second. Rotations are normalised after interpolation.
    CubicSpline,
}

/// Values of a curve: one per time, or three per time for [`CurveInterpolation::CubicSpline`].
#[derive(Clone, Debug, PartialEq)]
pub enum Keys {
    /// Translations in the file's units.
    Translation(Vec<DVec3>),
    /// Rotations.
    Rotation(Vec<DQuat>),
    /// Scales.
    Scale(Vec<DVec3>),
    /// Morph weights, or the weight of an expression.
    Weights {
        /// Number of morph targets.
        count: usize,
        /// `count` weights for each value, one after the other.
        values: Vec<f64>,
    },
}

impl Keys {
    /// Size of the values in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Translation(v) | Self::Scale(v) => size_of_val(&v[..]),
            Self::Rotation(v) => size_of_val(&v[..]),
            Self::Weights { values, .. } => size_of_val(&values[..]),
        }
    }
}

impl AssetClip {
    /// A clip with the name and the extras of this one, and these tracks.
    #[must_use]
    pub fn with_tracks(&self, tracks: Vec<Track>) -> Self {
        Self {
            name: self.name.clone(),
            tracks,
            extras: self.extras.clone(),
        }
    }

    /// Times of the first and the last key of all tracks, in seconds; `None` if there is no track.
    #[must_use]
    pub fn range(&self) -> Option<(f64, f64)> {
        let times = self.tracks.iter().flat_map(|t| &t.curve.times);
        times.fold(None, |range, &t| match range {
            None => Some((t, t)),
            Some((first, last)) => Some((t.min(first), t.max(last))),
        })
    }
}

/// The position of a time between two keys of a curve.
struct Place {
    key: usize,
    /// The next key; equal to `key` if the time is before the first or after the last key.
    next: usize,
    /// 0 at `key`, 1 at `next`.
    alpha: f64,
    /// Seconds from `key` to `next`.
    span: f64,
}

impl Curve {
    /// The position of `time`. Before the first key and after the last one, the value of that key
    /// is used.
    fn place(&self, time: f64) -> Place {
        let next = self.times.partition_point(|t| *t <= time);
        let at = |key| Place {
            key,
            next: key,
            alpha: 0.0,
            span: 0.0,
        };
        if next == 0 {
            return at(0);
        }
        if next == self.times.len() {
            return at(next - 1);
        }
        let (t0, t1) = (self.times[next - 1], self.times[next]);
        let alpha = (time - t0) / (t1 - t0);
        Place {
            key: next - 1,
            next,
            alpha,
            span: t1 - t0,
        }
    }

    /// The value at `time`; `mix` interpolates linear curves and `hermite` splines.
    fn value<T: Copy>(
        &self,
        time: f64,
        get: impl Fn(usize) -> T,
        mix: impl Fn(T, T, f64) -> T,
        hermite: impl Fn([T; 4], [f64; 4]) -> T,
    ) -> T {
        let Place {
            key,
            next,
            alpha,
            span,
        } = self.place(time);
        match self.interpolation {
            CurveInterpolation::Linear if key == next => get(key),
            CurveInterpolation::Linear => mix(get(key), get(next), alpha),
            CurveInterpolation::Step => get(key),
            CurveInterpolation::CubicSpline if key == next => get(3 * key + 1),
            CurveInterpolation::CubicSpline => {
                let (t, t2, t3) = (alpha, alpha * alpha, alpha * alpha * alpha);
                let factors = [
                    2.0 * t3 - 3.0 * t2 + 1.0,
                    span * (t3 - 2.0 * t2 + t),
                    3.0 * t2 - 2.0 * t3,
                    span * (t3 - t2),
                ];
                // Value and out-tangent of this key, value and in-tangent of the next.
                let parts = [3 * key + 1, 3 * key + 2, 3 * next + 1, 3 * next].map(get);
                hermite(parts, factors)
            }
        }
    }

    /// The translation or scale at `time` in seconds; `None` if the curve has neither.
    #[must_use]
    pub fn vector(&self, time: f64) -> Option<DVec3> {
        let (Keys::Translation(values) | Keys::Scale(values)) = &self.keys else {
            return None;
        };
        Some(self.value(
            time,
            |i| values[i],
            DVec3::lerp,
            |v, f| v[0] * f[0] + v[1] * f[1] + v[2] * f[2] + v[3] * f[3],
        ))
    }

    /// The rotation at `time` in seconds, as a unit quaternion; `None` if the curve has no
    /// rotations.
    #[must_use]
    pub fn rotation(&self, time: f64) -> Option<DQuat> {
        let Keys::Rotation(values) = &self.keys else {
            return None;
        };
        let rotation = self.value(
            time,
            |i| values[i],
            DQuat::slerp,
            |v, f| v[0] * f[0] + v[1] * f[1] + v[2] * f[2] + v[3] * f[3],
        );
        Some(rotation.normalize())
    }

    /// The weight of one morph target at `time` in seconds; `None` if the curve does not have it.
    #[must_use]
    pub fn weight(&self, target: usize, time: f64) -> Option<f64> {
        let Keys::Weights { count, values } = &self.keys else {
            return None;
        };
        if target >= *count {
            return None;
        }
        Some(self.value(
            time,
            |i| values[i * count + target],
            |a, b, alpha| a + (b - a) * alpha,
            |v, f| v[0] * f[0] + v[1] * f[1] + v[2] * f[2] + v[3] * f[3],
        ))
    }
}
