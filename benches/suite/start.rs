//! From a cold start: whole processes of the command, from nothing to their first result, beside what no process of this kind
//! can do without.

use std::fs;
use std::path::Path;

use crate::measure::Times;
use crate::peers::Result;
use crate::processes::{Process, text, warm};
use crate::results::Row;
use crate::workloads::{Kind, Workload};
use crate::{export, floor};

pub const NAME: &str = "start";

/// A character of the repository, part of the suite so that it is there where no checkout is.
const CHARACTER: &[u8] = include_bytes!("../../examples/assets/puppet.glb");

/// Pictures of a clip, the first of which is the cold one.
const PICTURES: usize = 9;

/// Rows of the command from a cold start. `adapter` draws; without one there are no pictures.
pub fn rows(folder: &Path, adapter: Option<&str>, runs: usize) -> Result<Vec<Row>> {
    let runs = runs.max(3);
    let file = folder.join("started.usdc");
    export::export(&Workload::new(Kind::Body, 0.021), &file)?;
    let character = folder.join("character.glb");
    fs::write(&character, CHARACTER)?;

    // A file of about a megabyte.
    let bytes = fs::metadata(&file)?.len();
    let [inspect] = warm([Process::sinew(&["inspect", &text(&file)])], runs)?;
    let row = Row::new(NAME, "inspect", "sinew inspect", 0, inspect.times());
    let mut rows = vec![row.noted(format!("a file of {:.2} MB", bytes as f64 / 1e6))];
    rows.extend(bakes(folder, &character, runs)?);
    if let Some(adapter) = adapter {
        for backend in ["cpu", "gpu"] {
            rows.push(picture(folder, &text(&character), adapter, backend, runs)?);
        }
    }
    Ok(rows)
}

/// A frame of the character, by the CPU backend and by what `auto` takes. The floor is a process that reads the file and
/// describes it, and the writing of as many bytes as the bake writes.
fn bakes(folder: &Path, character: &Path, runs: usize) -> Result<[Row; 2]> {
    let out = folder.join("first.usdc");
    let on = |backend| {
        let more = ["--frames", "0:0", "--backend", backend];
        Process::sinew_bake(character, &out, &more)
    };
    let read = Process::sinew(&["inspect", &text(character)]);
    let devices = Process::sinew(&["devices"]);
    let [read, cpu, auto, devices] = warm([read, on("cpu"), on("auto"), devices], runs)?;
    let written = (0..runs).map(|_| floor::disk_write(folder, cpu.bytes));
    let written = Times::of(written.collect::<std::io::Result<_>>()?).median();
    let floor = read.times().median() + written;
    let row = |case: &str, bake: &Process, floor: f64, note: &str| {
        let row = Row::new(NAME, case, "sinew bake", 0, bake.times());
        row.over_floor(bake.bytes, floor)
            .noted(format!("floor: {note}"))
    };
    Ok([
        row(
            "first bake, CPU backend",
            &cpu,
            floor,
            "inspect of the file, and a write of the result",
        ),
        row(
            "first bake, --backend auto",
            &auto,
            floor.max(devices.times().median()),
            "the same, or `sinew devices`, which loads the same drivers meanwhile",
        ),
    ])
}

/// A picture of the character of 1280 x 720 pixels, skinned by either backend. The floor is what the process cannot do without
/// on this adapter: loading its drivers, and one more picture of a clip.
fn picture(folder: &Path, file: &str, adapter: &str, backend: &str, runs: usize) -> Result<Row> {
    let (one, many) = (
        text(&folder.join("first.png")),
        text(&folder.join("##.png")),
    );
    let count = PICTURES.to_string();
    let render = |out: &str, more: &[&str]| {
        let on = ["--backend", backend, "--adapter", adapter, "-q"];
        Process::sinew(&[&["render", file, "-o", out][..], more, &on].concat())
    };
    let clip = render(&many, &["--turntable", &count]);
    let processes = [Process::sinew(&["devices"]), render(&one, &[]), clip];
    let [devices, first, clip] = warm(processes, runs)?.map(|process| process.times());
    let next = (clip.median() - first.median()) / (PICTURES - 1) as f64;
    let note = format!(
        "{adapter}; floor: `sinew devices` {:.1} ms and one more picture of a clip {:.1} ms",
        devices.median() * 1e3,
        next * 1e3
    );
    let case = format!("first picture, {} backend", backend.to_uppercase());
    let mut row = Row::new(NAME, &case, "sinew render", 0, first).noted(note);
    row.floor = Some(devices.median() + next);
    Ok(row)
}
