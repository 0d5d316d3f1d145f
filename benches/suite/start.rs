//! How fast the command starts: whole processes.

use std::path::Path;

use crate::export;
use crate::measure::{Times, process};
use crate::row::Row;
use crate::whole::{command, text};
use crate::workloads::{Kind, Workload};

pub const NAME: &str = "start";
pub const TITLE: &str = "Start: whole processes";

/// Rows of the command from a cold start; `_adapter` draws.
pub fn rows(folder: &Path, _adapter: Option<&str>, runs: usize) -> Result<Vec<Row>, String> {
    let file = folder.join("started.usdc");
    export::export(&Workload::new(Kind::Body, 0.021), &file).map_err(|e| e.to_string())?;
    Ok(vec![inspect(&file, runs)?])
}

/// `sinew inspect` of a file.
fn inspect(file: &Path, runs: usize) -> Result<Row, String> {
    let bytes = std::fs::metadata(file).map_err(|e| e.to_string())?.len();
    let command = [text(&command()), "inspect".into(), text(file)];
    let seconds: Result<Vec<f64>, String> = (0..runs.max(3))
        .map(|_| Ok(process(&command)?.seconds))
        .collect();
    let row = Row::new(NAME, "inspect", "sinew inspect", 0, Times::of(seconds?));
    Ok(row.noted(format!("a file of {:.2} MB", bytes as f64 / 1e6)))
}
