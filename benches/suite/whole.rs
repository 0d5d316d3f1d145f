//! Whole processes: a bake to disk, and how fast the command starts.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::floor;
use crate::measure::{ProcessRun, Times, process};
use crate::python::usd_core_bake;
use crate::row::Row;
use crate::workloads::Workload;

pub const WHO: &str = "sinew bake";

/// The command: what `SINEW` names, else the one that was built beside the suite.
pub fn command() -> PathBuf {
    std::env::var_os("SINEW")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_sinew")), PathBuf::from)
}

pub fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Runs of one side.
#[derive(Default)]
struct Side {
    seconds: Vec<f64>,
    peak: Option<u64>,
    /// Of a bake of a quarter of the frames.
    quarter_peak: Option<u64>,
    bytes: u64,
}

impl Side {
    fn add(&mut self, run: ProcessRun, output: &Path) -> Result<(), String> {
        self.seconds.push(run.seconds);
        self.peak = self.peak.max(run.peak_bytes);
        self.bytes = std::fs::metadata(output).map_err(|e| e.to_string())?.len();
        std::fs::remove_file(output).map_err(|e| e.to_string())
    }

    fn note(&self) -> String {
        let megabytes =
            |bytes: Option<u64>| bytes.map_or("?".into(), |b| format!("{:.0}", b as f64 / 1e6));
        let quarter = match self.quarter_peak {
            Some(_) => format!(
                ", with a quarter of the frames {} MB",
                megabytes(self.quarter_peak)
            ),
            None => String::new(),
        };
        format!("peak {} MB{quarter}", megabytes(self.peak))
    }
}

/// Lets the disk take what earlier runs wrote, so that none waits for another's bytes.
pub fn settle() {
    // Where there is no such command, times are worse for all.
    let _ = Command::new("sync").status();
}

/// A bake's rows, and our peak memory with all frames over that with a quarter of them.
pub struct Bake {
    pub rows: Vec<Row>,
    pub growth: Option<f64>,
}

/// Bakes the exported load with our command and with usd-core, in turn.
pub fn bake(
    load: &Workload,
    file: &Path,
    folder: &Path,
    python: Option<&str>,
    rounds: usize,
) -> Result<Bake, String> {
    let (mut ours, mut theirs) = (Side::default(), Side::default());
    let output = folder.join("baked.usdc");
    let sinew = |more: &[String]| {
        let mut command = vec![text(&command()), "bake".into(), text(file)];
        command.extend(["-o".into(), text(&output), "--quiet".into()]);
        command.extend_from_slice(more);
        command
    };
    let mut copies = Vec::new();
    for _ in 0..rounds {
        settle();
        ours.add(process(&sinew(&[]))?, &output)?;
        settle();
        // Again at once: memory that a virtual machine has given back to its host comes slowly.
        for _ in 0..2 {
            copies.push(floor::disk_write(folder, ours.bytes).map_err(|e| e.to_string())?);
        }
        if let Some(python) = python {
            settle();
            let run = process(&usd_core_bake(python, file, &output))?;
            theirs.add(run, &output)?;
        }
    }
    let quarter = (load.size.frames / 4).max(1);
    let frames = ["--frames".into(), format!("0:{}", quarter - 1)];
    ours.quarter_peak = process(&sinew(&frames))?.peak_bytes;
    std::fs::remove_file(&output).map_err(|e| e.to_string())?;

    let points = load.points() * load.size.frames;
    let mut rows = Vec::new();
    for (who, side) in [(WHO, &ours), ("usd-core, BakeSkinning + Export", &theirs)] {
        if !side.seconds.is_empty() {
            let row = Row::new("E", "bake", who, points, Times::of(side.seconds.clone()));
            let row = row.over_floor(side.bytes, Times::of(copies.clone()));
            rows.push(row.noted(side.note()));
        }
    }
    let growth = ours.peak.zip(ours.quarter_peak);
    Ok(Bake {
        rows,
        growth: growth.map(|(whole, quarter)| whole as f64 / quarter as f64),
    })
}
