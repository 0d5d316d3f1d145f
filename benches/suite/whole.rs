//! Work load E: bakes to disk, as whole processes.

use std::path::Path;

use crate::floor;
use crate::goals::{Found, PEAK};
use crate::measure::Times;
use crate::peers::Result;
use crate::processes::Process;
use crate::results::{Results, Row};
use crate::workloads::Workload;

pub const OURS: &str = "sinew bake";
pub const THEIRS: &str = "usd-core, BakeSkinning + Export";

/// Bakes the exported load with our command and with usd-core, in turn.
pub fn bake(
    results: &mut Results,
    load: &Workload,
    file: &Path,
    folder: &Path,
    python: Option<&str>,
    rounds: usize,
) -> Result<()> {
    let output = folder.join("baked.usdc");
    let mut ours = Process::sinew_bake(file, &output, &[]);
    let mut theirs = python.map(|python| Process::usd_core_bake(python, file, &output));
    let mut copies = Vec::new();
    for _ in 0..rounds {
        ours.run()?;
        // Again at once: memory that a virtual machine has given back to its host comes slowly.
        for _ in 0..2 {
            copies.push(floor::disk_write(folder, ours.bytes)?);
        }
        if let Some(theirs) = &mut theirs {
            theirs.run()?;
        }
    }
    let last = (load.size.frames / 4).max(1) - 1;
    let mut quarter = Process::sinew_bake(file, &output, &["--frames", &format!("0:{last}")]);
    quarter.run()?;

    let points = load.points() * load.size.frames;
    let copy = Times::of(copies).median();
    let row = |who: &str, side: &Process| {
        let row = Row::new("E", "bake", who, points, side.times());
        row.over_floor(side.bytes, copy)
    };
    let mut note = format!("peak {}", ours.peak());
    if quarter.peak.is_some() {
        note += &format!(", with a quarter of the frames {}", quarter.peak());
    }
    results.rows.push(row(OURS, &ours).noted(note));
    let theirs = theirs.map(|side| row(THEIRS, &side).noted(format!("peak {}", side.peak())));
    results.rows.extend(theirs);
    if let Some((whole, quarter)) = ours.peak.zip(quarter.peak) {
        let growth = whole as f64 / quarter as f64;
        let found = Found::new(format!("{growth:.2}x"), &[], growth < 1.2);
        results.facts.insert(PEAK, found);
    }
    Ok(())
}
