//! From seconds to time codes.

use sinew_animate::asset::{Asset, AssetClip, Curve, CurveInterpolation, Keys};

/// Frames per second that animation is commonly made at.
const COMMON_RATES: [f64; 14] = [
    24.0,
    25.0,
    30.0,
    50.0,
    60.0,
    48.0,
    100.0,
    120.0,
    24_000.0 / 1001.0,
    30_000.0 / 1001.0,
    60_000.0 / 1001.0,
    15.0,
    240.0,
    1000.0,
];

/// A rate for clips whose keys fit no common one; they stand at fractional time codes then.
const FALLBACK_RATE: f64 = 24.0;

/// Frames that a key may be off a whole one.
const OFF_FRAME: f64 = 1e-4;

/// Seconds are single precision in glTF.
const F32_ROUNDING: f64 = 1.2e-7;

/// How seconds become time codes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate {
    /// timeCodesPerSecond and framesPerSecond.
    pub per_second: f64,
    /// Every key stands at a whole frame, and is rounded to it.
    snaps: bool,
}

impl Rate {
    /// The rate that the file names, or the first common one, at which all keys of the clips fall on whole frames.
    pub fn of(asset: &Asset, clips: &[&AssetClip]) -> Self {
        let named = asset.frames_per_second.filter(|r| (1e-3..1e6).contains(r));
        let fallback = named.unwrap_or(FALLBACK_RATE);
        let fitting = named
            .into_iter()
            .chain(COMMON_RATES)
            .find(|rate| fits(clips, *rate));
        Self {
            per_second: fitting.unwrap_or(fallback),
            snaps: fitting.is_some(),
        }
    }

    pub fn code(&self, seconds: f64) -> f64 {
        let code = seconds * self.per_second;
        // No negative zero.
        if self.snaps { code.round() + 0.0 } else { code }
    }

    /// The same curve over time codes, its tangents per time code.
    pub fn curve(&self, curve: &Curve) -> Curve {
        let mut out = curve.clone();
        for time in &mut out.times {
            *time = self.code(*time);
        }
        if out.interpolation == CurveInterpolation::CubicSpline {
            let factor = self.per_second.recip();
            let is_tangent = |i: usize| i % 3 != 1;
            match &mut out.keys {
                Keys::Translation(v) | Keys::Scale(v) => {
                    let tangents = v.iter_mut().enumerate().filter(|(i, _)| is_tangent(*i));
                    tangents.for_each(|(_, v)| *v *= factor);
                }
                Keys::Rotation(v) => {
                    let tangents = v.iter_mut().enumerate().filter(|(i, _)| is_tangent(*i));
                    tangents.for_each(|(_, v)| *v *= factor);
                }
                Keys::Weights { count, values } => {
                    for (i, v) in values.iter_mut().enumerate() {
                        if is_tangent(i / *count) {
                            *v *= factor;
                        }
                    }
                }
            }
        }
        out
    }
}

/// Whether every key falls on a whole frame, and no two of one curve on the same.
fn fits(clips: &[&AssetClip], rate: f64) -> bool {
    let tracks = clips.iter().flat_map(|c| &c.tracks);
    tracks.into_iter().all(|track| {
        let mut before = f64::NEG_INFINITY;
        track.curve.times.iter().all(|seconds| {
            let code = seconds * rate;
            let frame = code.round();
            let rises = frame > before;
            before = frame;
            rises && (code - frame).abs() <= OFF_FRAME.max(code.abs() * F32_ROUNDING)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_animate::asset::{Track, TrackTarget};

    fn clip(times: Vec<f64>) -> AssetClip {
        let values = vec![0.0; times.len()];
        let curve = Curve {
            times,
            interpolation: CurveInterpolation::Linear,
            keys: Keys::Weights { count: 1, values },
        };
        let target = TrackTarget::Node(0);
        AssetClip {
            name: String::new(),
            tracks: vec![Track { target, curve }],
            ..AssetClip::default()
        }
    }

    fn rate(times: Vec<f64>, named: Option<f64>) -> Rate {
        let asset = Asset {
            frames_per_second: named,
            ..Asset::default()
        };
        Rate::of(&asset, &[&clip(times)])
    }

    #[test]
    fn keys_find_their_rate() {
        let at = |fps: f64| (0..90).map(move |i| f64::from((f64::from(i) / fps) as f32));
        for fps in [24.0, 25.0, 30.0, 50.0, 60.0, 120.0, 30_000.0 / 1001.0] {
            let found = rate(at(fps).collect(), None);
            assert_eq!(found.per_second, fps);
            assert_eq!(found.code(f64::from((7.0 / fps) as f32)), 7.0);
        }
        assert_eq!(rate(vec![0.0, 0.5, 1.0], Some(10.0)).per_second, 10.0);
        let odd = rate(vec![0.0, 0.123_456_7, 1.0], None);
        assert_eq!(odd.per_second, 24.0);
        assert_eq!(odd.code(0.123_456_7), 24.0 * 0.123_456_7);
        // Two keys of one frame are kept apart.
        let close = rate(vec![0.0, 0.000_001, 1.0], None);
        assert_ne!(close.code(0.000_001), close.code(0.0));
    }
}
