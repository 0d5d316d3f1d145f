//! Time codes of the stage as seconds.

use sinew::sampled::Time;
use sinew::scene::TimeLine;

/// The most frames that values without samples are read at.
const MOST_FRAMES: usize = 100_000;

/// The stage's time line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(TimeLine);

impl Clock {
    pub fn new(time_line: TimeLine) -> Self {
        Self(time_line)
    }

    /// A time code in seconds. Time code 0 is second 0.
    pub fn seconds(&self, code: f64) -> f64 {
        match self.0.time_codes_per_second {
            rate if rate > 0.0 && rate.is_finite() => code / rate,
            _ => code / 24.0,
        }
    }

    /// Seconds in time codes.
    pub fn codes(&self, seconds: f64) -> f64 {
        seconds / self.seconds(1.0)
    }

    /// The time of what does not move.
    pub fn rest(&self) -> Time {
        Time::At(self.start())
    }

    /// The first time code of the range, or 0.
    pub fn start(&self) -> f64 {
        self.0.range.map_or(0.0, |(start, _)| start)
    }

    /// Time codes of all frames of the range, with its end.
    pub fn frames(&self) -> Vec<f64> {
        let (start, end) = self.0.range.unwrap_or((0.0, 0.0));
        self.frames_between(start, end)
    }

    /// Time codes of the stage's frames from `start` to `end`, with both.
    pub fn frames_between(&self, start: f64, end: f64) -> Vec<f64> {
        let step = self.0.time_codes_per_second / self.0.frames_per_second;
        let step = if step > 0.0 && step.is_finite() {
            step
        } else {
            1.0
        };
        let zero = self.start();
        let first = ((start - zero) / step).ceil();
        let count = ((end - zero) / step).floor() - first;
        let count = if count >= 0.0 { count as usize + 1 } else { 0 };
        let frames = (0..count.min(MOST_FRAMES)).map(|i| zero + step * (first + i as f64));
        // The ends may be frames themselves, but for rounding.
        let is_end = |t: f64| (t - start).abs().min((t - end).abs()) < 1e-6 * step;
        let frames = frames.filter(|t| !is_end(*t));
        merged(frames.chain([start, end.max(start)]).collect())
    }
}

/// Times in ascending order, each once.
pub(super) fn merged(mut times: Vec<f64>) -> Vec<f64> {
    times.retain(|t| t.is_finite());
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_those_of_the_stage() {
        let clock = Clock::new(TimeLine {
            range: Some((1.0, 9.0)),
            time_codes_per_second: 24.0,
            frames_per_second: 12.0,
        });
        assert_eq!(clock.frames_between(3.5, 7.5), [3.5, 5.0, 7.0, 7.5]);
        assert_eq!(clock.frames_between(-1.5, 1.0), [-1.5, -1.0, 1.0]);
        assert_eq!(clock.frames_between(3.5, 3.75), [3.5, 3.75]);
        // Ends that are frames but for rounding.
        let clock = Clock::new(TimeLine {
            range: Some((0.0, 8.0)),
            time_codes_per_second: 24.0,
            frames_per_second: 30.0,
        });
        assert_eq!(clock.frames_between(2.4, 4.8).len(), 4);
    }
}
