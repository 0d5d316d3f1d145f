//! Times of runs.

use std::convert::Infallible;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Seconds of some runs, the shortest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    seconds: Vec<f64>,
}

impl Times {
    /// # Panics
    /// Where there are none.
    pub fn of(mut seconds: Vec<f64>) -> Self {
        assert!(!seconds.is_empty(), "no runs");
        seconds.sort_by(f64::total_cmp);
        Self { seconds }
    }

    pub fn count(&self) -> usize {
        self.seconds.len()
    }

    pub fn median(&self) -> f64 {
        self.at(0.5)
    }

    /// The first and the third quartile: half of the runs lie between them.
    pub fn quartiles(&self) -> [f64; 2] {
        [self.at(0.25), self.at(0.75)]
    }

    /// The value that this share of the runs does not exceed, between two runs in proportion.
    fn at(&self, share: f64) -> f64 {
        let place = share * (self.seconds.len() - 1) as f64;
        let (low, high) = (place.floor() as usize, place.ceil() as usize);
        self.seconds[low] + (self.seconds[high] - self.seconds[low]) * place.fract()
    }

    /// The same with the runs of another round.
    pub fn and(&mut self, other: Self) {
        self.seconds.extend(other.seconds);
        self.seconds.sort_by(f64::total_cmp);
    }
}

/// How often things are run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Runs {
    /// More where all of them take less than `short` seconds: other cores are asleep in the first milliseconds.
    pub most: usize,
    /// So few where they take longer than `seconds`.
    pub fewest: usize,
    pub seconds: f64,
    pub short: f64,
}

/// Seconds. Written down in `usd_core.py` and `skinning_time.cc` too.
pub const SHORT: f64 = 0.2;
/// Seconds of warming up. A virtual machine gets its memory from its host page by page: copies of fresh arrays of 22 MB took 46
/// ms, then 11, 7 and 3, and 2 after a tenth of a second. Written down in the same places.
const WARM: f64 = 0.3;

impl Runs {
    /// So many, however long they take.
    pub fn exactly(count: usize) -> Self {
        let (seconds, short) = (0.0, 0.0);
        let (most, fewest) = (count, count);
        Self {
            most,
            fewest,
            seconds,
            short,
        }
    }

    /// Runs `f` for warming up, once at least, and then as often as wanted; it gives its own seconds.
    pub fn collect<E>(self, mut f: impl FnMut() -> Result<f64, E>) -> Result<Times, E> {
        let cold = Instant::now();
        f()?;
        while cold.elapsed().as_secs_f64() < WARM {
            f()?;
        }
        let (start, mut all) = (Instant::now(), Vec::new());
        loop {
            let spent = start.elapsed().as_secs_f64();
            let enough = all.len() >= self.most && spent >= self.short;
            if enough || all.len() >= self.fewest && spent >= self.seconds {
                return Ok(Times::of(all));
            }
            all.push(f()?);
        }
    }

    /// The same of something that is timed as a whole.
    pub fn time(self, mut f: impl FnMut()) -> Times {
        let timed = || {
            let start = Instant::now();
            f();
            Ok::<_, Infallible>(start.elapsed().as_secs_f64())
        };
        match self.collect(timed) {
            Ok(times) => times,
            Err(never) => match never {},
        }
    }
}
