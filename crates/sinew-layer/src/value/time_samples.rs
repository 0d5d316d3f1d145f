//! The time samples of an attribute.

use std::fmt;
use std::sync::Arc;

use super::{LayerOffset, Value};
use crate::error::Result;

/// Values at times, the times in rising order. Clones share both. A value that lies in a crate file is
/// decoded when it is asked for, so samples need no memory for arrays that nobody looks at.
#[derive(Clone)]
pub struct TimeSamples {
    times: Arc<[f64]>,
    values: Arc<[Value]>,
}

impl TimeSamples {
    /// Samples in any order; of two at one time the last counts. Times that are not finite are left out.
    #[must_use]
    pub fn new(mut samples: Vec<(f64, Value)>) -> Self {
        samples.retain(|(time, _)| time.is_finite());
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut times: Vec<f64> = Vec::with_capacity(samples.len());
        let mut values = Vec::with_capacity(samples.len());
        for (time, value) in samples {
            // -0 and 0 are one time.
            if times.last() == Some(&time) {
                times.pop();
                values.pop();
            }
            times.push(time);
            values.push(value);
        }
        Self {
            times: times.into(),
            values: values.into(),
        }
    }

    /// Samples whose times are in rising order already, and may be shared with other samples.
    ///
    /// # Panics
    /// If there are not as many values as times.
    #[must_use]
    pub fn from_sorted(times: Arc<[f64]>, values: Arc<[Value]>) -> Self {
        assert_eq!(times.len(), values.len(), "a value for each time");
        Self { times, values }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The times, in rising order.
    #[must_use]
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The times, to share them.
    #[must_use]
    pub fn shared_times(&self) -> &Arc<[f64]> {
        &self.times
    }

    /// The values as they are: [`Value::Stored`] if they lie in a file.
    #[must_use]
    pub fn values(&self) -> &Arc<[Value]> {
        &self.values
    }

    /// The value of a sample, decoded.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`] if the file's bytes are no such value.
    ///
    /// # Panics
    /// If there is no such sample.
    pub fn load(&self, index: usize) -> Result<Value> {
        self.values[index].load()
    }

    /// These samples at other times. The values are shared.
    #[must_use]
    pub fn offset(&self, offset: &LayerOffset) -> Self {
        if offset.is_identity() {
            return self.clone();
        }
        let times = self.times.iter().map(|t| offset.apply(*t));
        if offset.scale > 0.0 {
            return Self {
                times: times.collect(),
                values: Arc::clone(&self.values),
            };
        }
        Self::new(times.zip(self.values.iter().cloned()).collect())
    }

    /// The samples beside a time: the indices of the last one at or before it and of the first one at or
    /// after it. Before the first sample both are the first, after the last both the last. None if there
    /// are no samples.
    #[must_use]
    pub fn bracket(&self, time: f64) -> Option<(usize, usize)> {
        let last = self.times.len().checked_sub(1)?;
        let upper = self.times.partition_point(|t| *t < time);
        Some(match self.times.get(upper) {
            None => (last, last),
            Some(t) if *t == time => (upper, upper),
            Some(_) => (upper.saturating_sub(1), upper),
        })
    }
}

impl PartialEq for TimeSamples {
    fn eq(&self, other: &Self) -> bool {
        self.times == other.times
            && (Arc::ptr_eq(&self.values, &other.values) || self.values == other.values)
    }
}

impl fmt::Debug for TimeSamples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.times.iter().zip(self.values.iter()))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_sorted_and_bracketed() {
        let value = |v: i32| Value::Int(v);
        let samples = TimeSamples::new(vec![
            (2.0, value(2)),
            (-0.0, value(7)),
            (0.0, value(0)),
            (f64::NAN, value(9)),
        ]);
        assert_eq!(samples.times(), [0.0, 2.0]);
        assert_eq!(samples.load(0).unwrap(), value(0));
        assert_eq!(samples.bracket(-1.0), Some((0, 0)));
        assert_eq!(samples.bracket(1.0), Some((0, 1)));
        assert_eq!(samples.bracket(2.0), Some((1, 1)));
        assert_eq!(samples.bracket(3.0), Some((1, 1)));
        let back = samples.offset(&LayerOffset {
            offset: 10.0,
            scale: -1.0,
        });
        assert_eq!(back.times(), [8.0, 10.0]);
        assert_eq!(back.load(0).unwrap(), value(2));
    }
}
