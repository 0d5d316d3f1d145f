//! Samples within the time that a shutter is open, for motion blur.

use std::str::FromStr;

/// Times that are nearer to each other than this, in time codes, are one sample.
const SAME: f64 = 1e-6;

/// The largest number of samples of a frame. No renderer uses more.
const MOST_SAMPLES: usize = 256;

/// The time around each frame in which a shutter is open, and how often it is sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shutter {
    /// When it opens, in time codes after the frame; negative for before.
    pub open: f64,
    /// When it closes, after `open`.
    pub close: f64,
    /// Number of samples, at even steps from `open` to `close` with both, 2 to 256.
    pub samples: usize,
}

impl FromStr for Shutter {
    type Err = String;

    /// Parses `OPEN:CLOSE`, with two samples.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |s: &str| s.trim().parse::<f64>().ok().filter(|v| v.is_finite());
        let parts = text.split_once(':');
        let parts = parts.and_then(|(open, close)| Some((number(open)?, number(close)?)));
        let Some((open, close)) = parts else {
            return Err(format!(
                "expected OPEN:CLOSE, such as -0.25:0.25, found '{text}'"
            ));
        };
        let shutter = Self {
            open,
            close,
            samples: 2,
        };
        shutter.check()?;
        Ok(shutter)
    }
}

impl Shutter {
    /// What is wrong with it.
    pub(super) fn check(&self) -> Result<(), String> {
        let Self {
            open,
            close,
            samples,
        } = *self;
        if !(open.is_finite() && close.is_finite() && close > open) {
            return Err(format!(
                "expected a shutter that closes after it opens, found {open}:{close}"
            ));
        }
        match (2..=MOST_SAMPLES).contains(&samples) {
            true => Ok(()),
            false => Err(format!(
                "expected 2 to {MOST_SAMPLES} motion samples, found {samples}"
            )),
        }
    }

    /// The sample times of frames, ascending.
    pub(super) fn times(&self, frames: &[f64]) -> Vec<f64> {
        let steps = (self.samples - 1) as f64;
        let sample = |i: usize| self.open + (self.close - self.open) * i as f64 / steps;
        let samples = || (0..self.samples).map(sample);
        let all = frames.iter().flat_map(|f| samples().map(move |s| f + s));
        let mut out: Vec<f64> = all.collect();
        out.sort_by(f64::total_cmp);
        // Shutters of neighbouring frames may meet.
        out.dedup_by(|b, a| *b - *a < SAME);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_even_and_shared_where_shutters_meet() {
        let shutter = Shutter {
            samples: 3,
            ..Shutter::from_str("-0.25:0.25").unwrap()
        };
        assert_eq!(
            shutter.times(&[1.0, 2.0]),
            [0.75, 1.0, 1.25, 1.75, 2.0, 2.25]
        );
        let whole = Shutter::from_str("-0.5:0.5").unwrap();
        assert_eq!(whole.times(&[1.0, 2.0, 3.0]), [0.5, 1.5, 2.5, 3.5]);
        let third = Shutter::from_str("0:0.3333333333").unwrap();
        assert_eq!(third.times(&[0.1, 0.1 + 1.0 / 3.0]).len(), 3);
    }

    #[test]
    fn what_is_no_shutter_is_refused() {
        for bad in ["", "1", "0.5:0.25", "0:0", "a:b", "0:inf"] {
            assert!(Shutter::from_str(bad).is_err(), "{bad}");
        }
        let few = Shutter {
            open: 0.0,
            close: 0.5,
            samples: 1,
        };
        assert!(few.check().unwrap_err().contains("found 1"));
    }
}
