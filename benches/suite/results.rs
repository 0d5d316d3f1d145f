//! What one run of the suite found.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::{Deserialize, Serialize};
use sinew::gpu::AdapterReport;

use crate::goals::Found;
use crate::measure::Times;
use crate::workloads::Workload;

/// What was measured, of whom, on which load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Letter of the work load.
    pub load: String,
    /// What was done: `points`, `points + normals`, `blend`.
    pub case: String,
    /// Whose: `sinew, CPU`, `usd-core 26.11`.
    pub who: String,
    /// Threads, for rows of the CPU.
    pub threads: Option<usize>,
    /// Points that a run deforms.
    pub points: usize,
    pub times: Times,
    /// Bytes that must move.
    pub floor_bytes: Option<u64>,
    /// Seconds that a copy of as many took, the median of its runs.
    pub floor: Option<f64>,
    /// What the row's own layout moves per point, where it says.
    pub bytes_per_point: Option<f64>,
    /// Largest number of bytes that a frame uploaded, where that matters.
    #[serde(default)]
    pub uploaded: Option<u64>,
    /// Whatever a reader has to know.
    pub note: String,
}

impl Row {
    pub fn new(load: &str, case: &str, who: &str, points: usize, times: Times) -> Self {
        Self {
            load: load.into(),
            case: case.into(),
            who: who.into(),
            threads: None,
            points,
            times,
            floor_bytes: None,
            floor: None,
            bytes_per_point: None,
            uploaded: None,
            note: String::new(),
        }
    }

    /// What is done to a load.
    pub fn of(load: &Workload, with_normals: bool, who: &str, times: Times) -> Self {
        let case = match (load.rig.is_some(), with_normals) {
            (false, _) => "blend",
            (true, false) => "points",
            (true, true) => "points + normals",
        };
        Self::new(load.kind.name(), case, who, load.points(), times)
    }

    pub fn on_threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    pub fn over_floor(mut self, bytes: u64, seconds: f64) -> Self {
        self.floor_bytes = Some(bytes);
        self.floor = Some(seconds);
        self
    }

    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Points per second of the median run.
    pub fn rate(&self) -> f64 {
        self.points as f64 / self.times.median()
    }

    /// How many times its floor it takes.
    pub fn times_the_floor(&self) -> Option<f64> {
        self.floor.map(|floor| self.times.median() / floor)
    }
}

/// Everything of one run.
#[derive(Default)]
pub struct Results {
    pub adapter: Option<AdapterReport>,
    pub cores: usize,
    pub rows: Vec<Row>,
    /// What a peer's bytes per point are made of.
    pub layouts: BTreeMap<&'static str, String>,
    /// What was found of goals that are about no rows, by the goals' words.
    pub facts: BTreeMap<&'static str, Found>,
    /// What could not be measured, and why.
    pub missing: Vec<String>,
}

impl Results {
    pub fn is_hardware(&self) -> bool {
        self.adapter.as_ref().is_some_and(|a| !a.software)
    }

    pub fn row(&self, load: &str, case: &str, who: &str, threads: Option<usize>) -> Option<&Row> {
        let mut rows = self.rows.iter();
        rows.find(|r| r.load == load && r.case == case && r.who == who && r.threads == threads)
    }

    /// Takes rows, or tells why there are none.
    pub fn add<R: IntoIterator<Item = Row>>(&mut self, what: &str, rows: Result<R, impl Display>) {
        let rows = self.keep(what, rows);
        self.rows.extend(rows.into_iter().flatten());
    }

    /// The same of a round: where a row of the same kind is there, the runs of both count.
    pub fn merge(&mut self, what: &str, rows: Result<Vec<Row>, impl Display>) {
        for row in self.keep(what, rows).into_iter().flatten() {
            let mut rows = self.rows.iter_mut();
            let same = rows.find(|r| {
                (&r.load, &r.case, &r.who, r.threads, r.points)
                    == (&row.load, &row.case, &row.who, row.threads, row.points)
            });
            match same {
                Some(old) => old.times.and(row.times),
                None => self.rows.push(row),
            }
        }
    }

    /// Tells of a failure and goes on.
    pub fn keep<T>(&mut self, what: &str, result: Result<T, impl Display>) -> Option<T> {
        let told = |error| {
            eprintln!("{what}: {error}");
            self.missing.push(format!("{what}: {error}"));
        };
        result.map_err(told).ok()
    }
}
