//! Evenly spaced frames, for formats without sample times.

use crate::error::Result;
use crate::frames::FrameRange;
use crate::plan::Plan;
use crate::schedule::times_of_skeletons;
use sinew::sampled::Time;
use sinew::scene::Scene;

/// The frames of an output, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clip {
    /// Times of the frames, never empty; only the default time if nothing is animated.
    pub times: Vec<Time>,
    /// Time codes from one frame to the next.
    pub step: f64,
    pub time_codes_per_second: f64,
}

impl Clip {
    /// The requested frames. Without any, the frames go from startTimeCode to endTimeCode, or from
    /// the first to the last authored time if the stage has no range, in steps of
    /// timeCodesPerSecond / framesPerSecond.
    ///
    /// # Errors
    /// [`Error::TooManyFrames`](crate::Error::TooManyFrames) for more than a million frames.
    pub fn new(scene: &Scene, plan: &Plan, asked: Option<&FrameRange>) -> Result<Self> {
        let line = &scene.time_line;
        let stage_step = line.time_codes_per_second / line.frames_per_second;
        let clip = |times: Vec<Time>, step: f64| Self {
            times,
            step,
            time_codes_per_second: line.time_codes_per_second,
        };
        if let Some(asked) = asked {
            asked.check(scene)?;
            let times = asked.times().into_iter().map(Time::At).collect();
            return Ok(clip(times, asked.step));
        }
        let step = match stage_step.is_finite() && stage_step > 0.0 {
            true => stage_step,
            false => 1.0,
        };
        let authored = times_of_skeletons(scene, plan, None)?;
        let codes = authored.values().flatten().filter_map(|t| t.code());
        let bounds = codes.fold(None, |bounds: Option<(f64, f64)>, t| {
            Some(bounds.map_or((t, t), |(a, b)| (a.min(t), b.max(t))))
        });
        let Some(bounds) = bounds else {
            return Ok(clip(vec![Time::Default], step));
        };
        let of_stage = line
            .range
            .filter(|(a, b)| a.is_finite() && b.is_finite() && a <= b);
        let (first, last) = of_stage.unwrap_or(bounds);
        let frames = FrameRange { first, last, step };
        frames.check(scene)?;
        let times = frames.times().into_iter().map(Time::At).collect();
        Ok(clip(times, step))
    }

    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Frames per second of playback.
    pub fn frames_per_second(&self) -> f64 {
        self.time_codes_per_second / self.step
    }

    /// The time code of the first frame; 0 for the default time.
    pub fn first(&self) -> f64 {
        self.times[0].code().unwrap_or(0.0)
    }

    /// The number of each frame in a sequence. It is the time code if all time codes are integers,
    /// otherwise frames are counted from the first one.
    pub fn numbers(&self) -> Vec<i64> {
        let codes = || self.times.iter().map(|t| t.code().unwrap_or(0.0));
        // Steps such as 1/3 reach integers except for rounding.
        if codes().all(|t| (t - t.round()).abs() < 1e-6) {
            return codes().map(|t| t.round() as i64).collect();
        }
        let first = self.first().floor() as i64;
        (first..).take(self.len()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clip(times: &[f64], step: f64) -> Clip {
        Clip {
            times: times.iter().map(|t| Time::At(*t)).collect(),
            step,
            time_codes_per_second: 24.0,
        }
    }

    #[test]
    fn frames_are_named_by_their_time_where_that_is_whole() {
        assert_eq!(clip(&[-1.0, 0.0, 1.0], 1.0).numbers(), [-1, 0, 1]);
        assert_eq!(clip(&[1001.0, 1003.0], 2.0).numbers(), [1001, 1003]);
        assert_eq!(clip(&[1.0, 1.5, 2.0], 0.5).numbers(), [1, 2, 3]);
        assert_eq!(clip(&[-0.5, 0.5], 1.0).numbers(), [-1, 0]);
        let third = 1.0 / 3.0;
        assert_eq!(clip(&[3.0 * third, 6.0 * third], 1.0).numbers(), [1, 2]);
    }

    #[test]
    fn the_rate_follows_the_step() {
        assert_eq!(clip(&[1.0, 3.0], 2.0).frames_per_second(), 12.0);
    }
}
