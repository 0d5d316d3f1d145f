//! One measured figure.

use crate::measure::Times;

/// What was measured, of whom, on which load.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
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

    pub fn on_threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    pub fn over_floor(mut self, bytes: u64, copy: Times) -> Self {
        self.floor_bytes = Some(bytes);
        self.floor = Some(copy.median());
        self
    }

    pub fn uploading(mut self, bytes: u64) -> Self {
        self.uploaded = Some(bytes);
        self
    }

    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// The same work as a whole, to compare times of different sizes.
    pub fn without_points(&self) -> Self {
        Self {
            points: 0,
            ..self.clone()
        }
    }

    /// Points per second of the median run.
    pub fn rate(&self) -> f64 {
        self.points as f64 / self.times.median()
    }
}

/// Puts a row among others: where one of the same kind is there, the runs of both count.
pub fn merge(rows: &mut Vec<Row>, row: Row) {
    let same = |r: &&mut Row| {
        (&r.load, &r.case, &r.who, r.threads, r.points)
            == (&row.load, &row.case, &row.who, row.threads, row.points)
    };
    match rows.iter_mut().find(same) {
        Some(old) => old.times = old.times.clone().and(row.times),
        None => rows.push(row),
    }
}
