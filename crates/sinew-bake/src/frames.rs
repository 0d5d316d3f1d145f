//! Ranges of frames that callers ask for.

use crate::error::{Error, Result};
use sinew::scene::Scene;

/// The largest number of samples. No shot has more, so a file or request with more is a mistake.
pub(super) const MAX_SAMPLES: usize = 1_000_000;

/// The frames `first`, `first + step`, ... up to `last`, in time codes of the stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameRange {
    /// First frame.
    pub first: f64,
    /// Last frame, at or after `first`.
    pub last: f64,
    /// Time codes from one frame to the next, above 0.
    pub step: f64,
}

impl std::str::FromStr for FrameRange {
    type Err = String;

    /// Parses `FIRST`, `FIRST:LAST` or `FIRST:LAST:STEP`.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let number = |s: &str| {
            s.trim()
                .parse::<f64>()
                .ok()
                .filter(|v| v.is_finite())
                .ok_or_else(|| {
                    format!("expected a number in FIRST:LAST or FIRST:LAST:STEP, found '{s}'")
                })
        };
        let parts: Vec<&str> = text.split(':').collect();
        let (first, last, step) = match parts.as_slice() {
            [a] => (number(a)?, number(a)?, 1.0),
            [a, b] => (number(a)?, number(b)?, 1.0),
            [a, b, s] => (number(a)?, number(b)?, number(s)?),
            _ => {
                return Err(format!(
                    "expected FIRST:LAST or FIRST:LAST:STEP, found '{text}'"
                ));
            }
        };
        if step <= 0.0 {
            return Err(format!("expected a step above 0, found {step}"));
        }
        if last < first {
            return Err(format!(
                "the last frame, {last}, is before the first frame, {first}"
            ));
        }
        if (last - first) / step >= MAX_SAMPLES as f64 {
            return Err(format!("more than {MAX_SAMPLES} frames"));
        }
        Ok(Self { first, last, step })
    }
}

impl FrameRange {
    /// Fails if the range has no frames, or more than a million.
    pub(super) fn check(&self, scene: &Scene) -> Result<()> {
        let Self { first, last, step } = *self;
        let is_range = first.is_finite() && last.is_finite() && step.is_finite();
        if !is_range || step <= 0.0 || last < first {
            return Err(Error::EmptyRange { first, last, step });
        }
        match (last - first) / step >= MAX_SAMPLES as f64 {
            true => Err(Error::TooManyFrames {
                file: scene.file.clone(),
                most: MAX_SAMPLES,
                range: Some((first, last)),
            }),
            false => Ok(()),
        }
    }

    /// The frames. A frame may be up to half a thousandth of a step after the last, so that steps
    /// such as 0.1 reach the end.
    #[must_use]
    pub fn times(&self) -> Vec<f64> {
        let count = ((self.last - self.first) / self.step + 5e-4).floor() as usize;
        (0..=count)
            .map(|i| self.first + self.step * i as f64)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_ranges() {
        let times = |s: &str| s.parse::<FrameRange>().map(|r| r.times());
        assert_eq!(times("1:3"), Ok(vec![1.0, 2.0, 3.0]));
        assert_eq!(times("5"), Ok(vec![5.0]));
        assert_eq!(times("0:1:0.25"), Ok(vec![0.0, 0.25, 0.5, 0.75, 1.0]));
        assert_eq!(times("0:1:0.1").unwrap().len(), 11);
        assert_eq!(times("-2:-1"), Ok(vec![-2.0, -1.0]));
        for bad in [
            "", "a", "3:1", "1:2:0", "1:2:-1", "1:2:3:4", "1:nan", "0:1e300", "0:inf",
        ] {
            assert!(times(bad).is_err(), "{bad}");
        }
    }
}
