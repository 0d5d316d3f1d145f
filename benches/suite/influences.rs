//! A's mesh with other numbers of influences, in one thread: our CPU backend beside ozz-animation's own job.

use std::path::Path;

use crate::measure::Runs;
use crate::peers::Result;
use crate::results::Row;
use crate::workloads::{Influences, Kind, Size, Workload};
use crate::{cpu, ozz_original};

/// Name of these rows' load.
pub const NAME: &str = "influences";

const COUNTS: [usize; 6] = [1, 2, 3, 4, 8, 12];

/// Rows of each number; ozz-animation's where there is a folder of its programs.
///
/// # Errors
/// Those of [`ozz_original::rows`].
pub fn rows(scale: f64, ozz: Option<&Path>, runs: Runs) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for count in COUNTS {
        let size = Size::of(Kind::Body, scale);
        let load = Workload::body_of(size, Influences::Each(count));
        let mut of_count = cpu::rows(&load, 1, runs)?;
        if let Some(folder) = ozz {
            of_count.extend(ozz_original::rows(&load, folder, runs)?);
        }
        for mut row in of_count {
            row.case = format!("{count} influences: {}", row.case);
            row.load = NAME.into();
            rows.push(row);
        }
    }
    Ok(rows)
}
