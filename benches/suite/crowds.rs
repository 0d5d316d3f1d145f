//! Stages of many characters that reference one file: bakes, `inspect` and `check`, as whole processes.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use sinew_layer::{usda, usdc};

use crate::peers::Result;
use crate::processes::{Process, text};
use crate::results::Row;
use crate::whole::{OURS, THEIRS};

pub const NAME: &str = "crowds";

/// How many characters the stages have. Costs are to grow with them, not faster.
pub const COUNTS: [usize; 3] = [1000, 4000, 8000];
/// Instances of one character, which share all they have.
const INSTANCES: usize = 100_000;

/// Of character.usda: a tube of points around a chain of joints that bends.
const POINTS: usize = 200;
const SAMPLES: usize = 5;

/// The rows of all stages.
pub fn rows(folder: &Path, python: Option<&str>, scale: f64, rounds: usize) -> Result<Vec<Row>> {
    let scaled = |n: usize| ((n as f64 * scale) as usize).max(1);
    let character = usda::parse("character.usda", include_bytes!("character.usda"))?;
    usdc::write_layer(&character, File::create(folder.join("character.usdc"))?)?;
    let output = folder.join("baked.usdc");
    let stages = COUNTS.map(|count| ("references", count));
    let mut rows = Vec::new();
    for (kind, count) in stages.into_iter().chain([("instances", INSTANCES)]) {
        let (count, is_instanced) = (scaled(count), kind == "instances");
        let file = stage(folder, kind, count)?;
        let mut sides = vec![("bake", OURS, Process::sinew_bake(&file, &output, &[]))];
        if !is_instanced {
            let theirs = python.map(|python| Process::usd_core_bake(python, &file, &output));
            sides.extend(theirs.map(|theirs| ("bake", THEIRS, theirs)));
            for (verb, who) in [("inspect", "sinew inspect"), ("check", "sinew check")] {
                sides.push((verb, who, Process::sinew(&[verb, &text(&file)])));
            }
        }
        for (verb, who, mut process) in sides {
            for _ in 0..if is_instanced { 1 } else { rounds.max(1) } {
                process.run()?;
            }
            let points = if verb == "bake" {
                count * POINTS * SAMPLES
            } else {
                0
            };
            let case = format!("{verb} {count} {kind}");
            let row = Row::new(NAME, &case, who, points, process.times());
            rows.push(row.noted(format!("peak {}", process.peak())));
        }
    }
    Ok(rows)
}

/// A stage of characters side by side.
fn stage(folder: &Path, kind: &str, count: usize) -> Result<PathBuf> {
    let mut out = String::from(
        "#usda 1.0\n(\n    startTimeCode = 0\n    endTimeCode = 4\n)\n\ndef Xform \"World\"\n{\n",
    );
    let instanceable = match kind {
        "instances" => "instanceable = true\n        ",
        _ => "",
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
    let file = folder.join(format!("{kind}{count}.usda"));
    fs::write(&file, out)?;
    Ok(file)
}
