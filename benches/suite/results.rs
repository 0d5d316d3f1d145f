//! What one run of the suite found.

use std::collections::BTreeMap;

use sinew::gpu::AdapterReport;

use crate::row::Row;
use crate::sinew_gpu::{FaceCost, FrameCost};

/// Everything of one run.
#[derive(Default)]
pub struct Results {
    pub adapter: Option<AdapterReport>,
    pub cores: usize,
    pub rows: Vec<Row>,
    /// What a peer's bytes per point are made of.
    pub layouts: BTreeMap<String, String>,
    /// CPU cost of frames by load, and the load's joints and meshes.
    pub frames: Vec<(String, FrameCost, Counts)>,
    pub face: Option<FaceCost>,
    /// Channels of D's face.
    pub face_weights: usize,
    /// Dispatches with all characters of C and with half of them.
    pub dispatches: Option<[usize; 2]>,
    /// Peak memory of E with all frames over that with a quarter.
    pub growth: Option<f64>,
    /// What could not be measured, and why.
    pub missing: Vec<String>,
}

#[derive(Clone, Copy)]
pub struct Counts {
    pub joints: usize,
    pub meshes: usize,
}

impl Results {
    pub fn is_hardware(&self) -> bool {
        self.adapter.as_ref().is_some_and(|a| !a.software)
    }

    /// The row whose `who` contains this text.
    pub fn row(&self, load: &str, case: &str, who: &str, threads: Option<usize>) -> Option<&Row> {
        self.rows.iter().find(|r| {
            r.load == load && r.case == case && r.who.contains(who) && r.threads == threads
        })
    }

    /// The row that is exactly theirs.
    pub fn row_of(
        &self,
        load: &str,
        case: &str,
        who: &str,
        threads: Option<usize>,
    ) -> Option<&Row> {
        let mut rows = self.rows.iter();
        rows.find(|r| r.load == load && r.case == case && r.who == who && r.threads == threads)
    }

    pub fn frame(&self, load: &str) -> Option<(&FrameCost, Counts)> {
        let found = self.frames.iter().find(|(name, ..)| name == load);
        found.map(|(_, cost, counts)| (cost, *counts))
    }

    /// Takes rows, or tells why there are none.
    pub fn add<R: IntoIterator<Item = Row>>(
        &mut self,
        what: &str,
        rows: Result<R, impl std::fmt::Display>,
    ) {
        let rows = self.keep(what, rows);
        self.rows.extend(rows.into_iter().flatten());
    }

    /// Tells of a failure and goes on.
    pub fn keep<T>(&mut self, what: &str, result: Result<T, impl std::fmt::Display>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                eprintln!("{what}: {error}");
                self.missing.push(format!("{what}: {error}"));
                None
            }
        }
    }
}
