//! From times of the stage to times in the clips and back.

use sinew_layer::value::LayerOffset;

/// One pair of the `times` of a clip set.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Knot {
    stage: f64,
    clip: f64,
    /// Whether the time in the clip jumps here: the next knot stands at the same time of the stage.
    jumps: bool,
}

/// The piecewise linear map from times of the stage to times in the clips. Without knots they are the same.
#[derive(Debug, Default)]
pub(super) struct Timing {
    /// In rising order of the stage's times; the first and the last stand here twice.
    knots: Vec<Knot>,
}

/// A jump begins this much before its time: USD's `UsdTimeCode::SafeStep`, which is less than any step between two
/// samples up to a million, also if they are moved together tenfold.
const SAFE_STEP: f64 = f64::EPSILON * 1e6 * 10.0 * 2.0;

impl Timing {
    /// `pairs` are times of the stage with times in the clips; `offset` leads from the layer that has them to the stage.
    pub fn new(pairs: &[[f64; 2]], offset: &LayerOffset) -> Self {
        let mut knots: Vec<Knot> = pairs
            .iter()
            .filter(|p| p[0].is_finite() && p[1].is_finite())
            .map(|p| Knot {
                stage: p[0],
                clip: p[1],
                jumps: false,
            })
            .collect();
        knots.sort_by(|a, b| a.stage.total_cmp(&b.stage));
        // Before the first knot there is nothing to jump from.
        if knots.len() > 1 && knots[0].stage == knots[1].stage {
            knots.remove(0);
        }
        for i in 1..knots.len() {
            if knots[i - 1].stage == knots[i].stage {
                let authored = offset.inverse().apply(knots[i - 1].stage);
                knots[i - 1].stage = offset.apply(authored - SAFE_STEP);
                knots[i - 1].jumps = true;
            }
        }
        if let (Some(first), Some(last)) = (knots.first().copied(), knots.last().copied()) {
            knots.insert(0, first);
            knots.push(last);
        }
        Self { knots }
    }

    /// The times of the stage that have a knot, in rising order.
    pub fn stage_times(&self) -> impl Iterator<Item = f64> {
        self.knots.iter().map(|k| k.stage)
    }

    /// The first knot of the segment that a time of the stage lies in.
    fn segment(&self, time: f64) -> Option<usize> {
        let last = self.knots.len().checked_sub(1)?;
        let upper = self.knots.partition_point(|k| k.stage < time);
        Some(upper.clamp(1, last) - 1)
    }

    /// The two ends of a segment. Before a jump the end is where the jump is authored.
    fn ends(&self, segment: usize) -> (Knot, Knot) {
        let (a, mut b) = (self.knots[segment], self.knots[segment + 1]);
        if b.jumps
            && let Some(next) = self.knots.get(segment + 2)
        {
            b.stage = next.stage;
        }
        (a, b)
    }

    /// The time in the clip at a time of the stage.
    pub fn to_clip(&self, time: f64) -> f64 {
        let Some(segment) = self.segment(time) else {
            return time;
        };
        let (a, b) = self.ends(segment);
        if a.stage == b.stage || time == a.stage {
            a.clip
        } else if time == b.stage {
            b.clip
        } else {
            (b.clip - a.clip) / (b.stage - a.stage) * (time - a.stage) + a.clip
        }
    }

    fn to_stage(&self, clip: f64, segment: usize) -> f64 {
        let (a, b) = self.ends(segment);
        if a.clip == b.clip || clip == a.clip {
            a.stage
        } else if clip == b.clip {
            b.stage
        } else {
            (b.stage - a.stage) / (b.clip - a.clip) * (clip - a.clip) + a.stage
        }
    }

    /// The range of times in the clip that a segment covers; none for jumps.
    fn range(&self, segment: usize) -> Option<(f64, f64)> {
        let (a, b) = (self.knots[segment], self.knots[segment + 1]);
        (!a.jumps).then(|| (a.clip.min(b.clip), a.clip.max(b.clip)))
    }

    /// The times of the stage for the two samples of a clip beside a time of the stage: those that are nearest to it.
    pub fn bracket(&self, time: f64, lower: f64, upper: f64) -> (f64, f64) {
        let Some(segment) = self.segment(time) else {
            return (lower, upper);
        };
        let translate = |i: usize, clip: f64, is_lower: bool| {
            let (from, to) = self.range(i)?;
            if !(from <= clip && clip <= to) {
                return None;
            }
            let (a, b) = (self.knots[i], self.knots[i + 1]);
            if a.clip != b.clip {
                return Some(self.to_stage(clip, i));
            }
            let one = lower == upper;
            Some(match () {
                () if one && time == a.stage => a.stage,
                () if one && time == b.stage => b.stage,
                () if is_lower => a.stage,
                () => b.stage,
            })
        };
        let count = self.knots.len() - 1;
        let found_lower = (0..=segment).rev().find_map(|i| translate(i, lower, true));
        let found_upper = (segment..count).find_map(|i| translate(i, upper, false));
        match (found_lower, found_upper) {
            (Some(a), Some(b)) => (a, b),
            (Some(a), None) => (a, a),
            (None, Some(b)) => (b, b),
            // Both lie outside of what the knots cover.
            (None, None) => {
                let (first, last) = (self.knots[0], self.knots[count]);
                let clamp = |clip: f64| match clip < first.clip {
                    true => first.stage,
                    false => last.stage,
                };
                (clamp(lower), clamp(upper))
            }
        }
    }

    /// The times of the stage from `start` to `end` (not included) at which the clip is at one of its samples.
    pub fn samples(&self, samples: &[f64], start: f64, end: f64) -> Vec<f64> {
        let active = |t: f64| start <= t && t < end;
        if self.knots.is_empty() {
            return samples.iter().copied().filter(|t| active(*t)).collect();
        }
        let mut out: Vec<f64> = Vec::new();
        for segment in 0..self.knots.len() - 1 {
            let (a, b) = (self.knots[segment], self.knots[segment + 1]);
            let Some((from, to)) = self.range(segment) else {
                continue;
            };
            if b.stage < start || a.stage >= end {
                continue;
            }
            let first = samples.partition_point(|t| *t < from);
            for sample in samples[first..].iter().take_while(|t| **t <= to) {
                match a.clip == b.clip {
                    true => out.extend([a.stage, b.stage].into_iter().filter(|t| active(*t))),
                    false => {
                        out.extend(Some(self.to_stage(*sample, segment)).filter(|t| active(*t)))
                    }
                }
            }
        }
        out.sort_by(f64::total_cmp);
        out.dedup();
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_go_there_and_back() {
        let timing = Timing::new(&[[0.0, 0.0], [10.0, 20.0]], &LayerOffset::IDENTITY);
        assert_eq!(timing.to_clip(5.0), 10.0);
        assert_eq!(timing.to_clip(-5.0), 0.0, "the first knot holds");
        assert_eq!(timing.to_clip(15.0), 20.0);
        assert_eq!(
            timing.samples(&[0.0, 10.0, 30.0], f64::MIN, f64::MAX),
            [0.0, 5.0]
        );
        assert_eq!(timing.bracket(6.0, 10.0, 20.0), (5.0, 10.0));
        assert_eq!(Timing::default().to_clip(7.0), 7.0);
    }

    #[test]
    fn times_jump() {
        let timing = Timing::new(
            &[[0.0, 0.0], [10.0, 10.0], [10.0, 0.0], [20.0, 10.0]],
            &LayerOffset::IDENTITY,
        );
        assert_eq!(timing.to_clip(3.0), 3.0);
        assert_eq!(timing.to_clip(10.0), 0.0);
        assert_eq!(timing.to_clip(13.0), 3.0);
        assert_eq!(timing.samples(&[3.0], f64::MIN, f64::MAX), [3.0, 13.0]);
    }
}
