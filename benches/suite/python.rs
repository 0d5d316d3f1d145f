//! The Python package beside the same loops over usd-core's functions, in a process of its own.

use std::process::Command;

use crate::measure::Runs;
use crate::row::Row;

pub const NAME: &str = "python";

/// Points and frames of the clips: a face, and a body.
pub const SIZES: [(usize, usize); 2] = [(10_000, 200), (100_000, 100)];

/// Who the package's rows are of.
pub const OURS: [&str; 2] = [
    "sinew, Python, one call",
    "sinew, Python, a call for each frame",
];
pub const OURS_OF_ARRAYS: &str = "sinew, Python";

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../benches/python_points.py"
);

/// What a size's rows are called.
pub fn case(what: &str, points: usize) -> String {
    format!("{what}, {},000 points", points / 1000)
}

/// What python_points.py measures, by a Python with usd-core that also has the package.
pub fn rows(python: &str, scale: f64, runs: Runs, cores: usize) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (points, frames) in SIZES {
        let frames = ((frames as f64 * scale) as usize).max(2);
        let numbers = [points, frames].map(|n| n.to_string());
        let out = Command::new(python)
            .arg(SCRIPT)
            .args(numbers)
            .args(["--rows", "--runs", &runs.most.to_string()])
            .output()
            .map_err(|e| format!("{python}: {e}"))?;
        if !out.status.success() {
            let told = String::from_utf8_lossy(&out.stderr);
            return Err(told.lines().last().unwrap_or_default().to_owned());
        }
        for line in String::from_utf8_lossy(&out.stdout).lines() {
            let mut row: Row = serde_json::from_str(line).map_err(|e| format!("{line}: {e}"))?;
            row.threads = Some(cores);
            rows.push(row);
        }
    }
    Ok(rows)
}
