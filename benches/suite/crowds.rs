//! Stages of many characters that reference one file: bakes, `inspect` and `check`, as whole processes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sinew_layer::{usda, usdc};

use crate::measure::{Times, process};
use crate::python::usd_core_bake;
use crate::row::Row;
use crate::whole::{command, settle, text};

pub const NAME: &str = "crowds";
pub const OURS: &str = "sinew bake";
pub const THEIRS: &str = "usd-core, BakeSkinning + Export";

/// How many characters the stages have. Costs are to grow with them, not faster.
pub const COUNTS: [usize; 3] = [1000, 4000, 8000];
/// Instances of one character, which share all they have.
const INSTANCES: usize = 100_000;

/// Of character.usda.
const POINTS: usize = 200;
const SAMPLES: usize = 5;

/// The rows of all stages.
pub fn rows(
    folder: &Path,
    python: Option<&str>,
    scale: f64,
    rounds: usize,
) -> Result<Vec<Row>, String> {
    let scaled = |n: usize| ((n as f64 * scale) as usize).max(1);
    character(&folder.join("character.usdc"))?;
    let mut rows = Vec::new();
    for count in COUNTS.map(scaled) {
        let file = stage(folder, count, false)?;
        rows.extend(bakes(
            &file,
            folder,
            python,
            &format!("{count} references"),
            count,
            rounds,
        )?);
        for verb in ["inspect", "check"] {
            let run = || vec![text(&command()), verb.into(), text(&file)];
            let case = format!("{verb} {count} references");
            rows.push(timed(&case, &format!("sinew {verb}"), 0, rounds, run)?);
        }
    }
    let count = scaled(INSTANCES);
    let file = stage(folder, count, true)?;
    rows.extend(bakes(
        &file,
        folder,
        None,
        &format!("{count} instances"),
        count,
        1,
    )?);
    Ok(rows)
}

/// A bake by each side, in turn.
fn bakes(
    file: &Path,
    folder: &Path,
    python: Option<&str>,
    what: &str,
    count: usize,
    rounds: usize,
) -> Result<Vec<Row>, String> {
    let output = folder.join("baked.usdc");
    let points = count * POINTS * SAMPLES;
    let ours = || {
        let mut run = vec![text(&command()), "bake".into(), text(file)];
        run.extend(["-o".into(), text(&output), "--quiet".into()]);
        run
    };
    let case = format!("bake {what}");
    let mut rows = vec![timed(&case, OURS, points, rounds, ours)?];
    if let Some(python) = python {
        let theirs = || usd_core_bake(python, file, &output);
        rows.push(timed(&case, THEIRS, points, rounds, theirs)?);
    }
    std::fs::remove_file(&output).map_err(|e| e.to_string())?;
    Ok(rows)
}

fn timed(
    case: &str,
    who: &str,
    points: usize,
    rounds: usize,
    command: impl Fn() -> Vec<String>,
) -> Result<Row, String> {
    let mut seconds = Vec::new();
    let mut peak = None;
    for _ in 0..rounds.max(1) {
        settle();
        let run = process(&command())?;
        seconds.push(run.seconds);
        peak = peak.max(run.peak_bytes);
    }
    let row = Row::new(NAME, case, who, points, Times::of(seconds));
    let peak = peak.map_or("?".into(), |b| format!("{:.0}", b as f64 / 1e6));
    Ok(row.noted(format!("peak {peak} MB")))
}

/// A stage of characters side by side.
fn stage(folder: &Path, count: usize, instanced: bool) -> Result<PathBuf, String> {
    let mut out = String::from(
        "#usda 1.0\n(\n    startTimeCode = 0\n    endTimeCode = 4\n)\n\ndef Xform \"World\"\n{\n",
    );
    let instanceable = match instanced {
        true => "instanceable = true\n        ",
        false => "",
    };
    for i in 0..count {
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "    def \"C{i}\" (\n        {instanceable}prepend references = @./character.usdc@\n    )\n    {{\n        \
             double3 xformOp:translate = ({}, 0, {})\n        uniform token[] xformOpOrder = [\"xformOp:translate\"]\n    }}\n",
            i % 100,
            i / 100
        );
    }
    out.push_str("}\n");
    let kind = if instanced { "instances" } else { "references" };
    let file = folder.join(format!("{kind}{count}.usda"));
    std::fs::write(&file, out).map_err(|e| e.to_string())?;
    Ok(file)
}

/// A tube of points around a chain of joints that bends.
fn character(file: &Path) -> Result<(), String> {
    let text = include_bytes!("character.usda");
    let layer = usda::parse("character.usda", text).map_err(|e| e.to_string())?;
    let out = std::fs::File::create(file).map_err(|e| e.to_string())?;
    usdc::write_layer(&layer, out)
        .map(drop)
        .map_err(|e| e.to_string())
}
