//! From a cold start: whole processes of the command, from nothing to their first result, beside what no process of this kind
//! can do without.

use std::path::Path;

use crate::export;
use crate::floor;
use crate::measure::{Times, process};
use crate::row::Row;
use crate::whole::{command, text};
use crate::workloads::{Kind, Workload};

pub const NAME: &str = "start";

/// A character of the repository, part of the suite so that it is there where no checkout is.
const CHARACTER: &[u8] = include_bytes!("../../examples/assets/puppet.glb");

/// Pictures of a clip, the first of which is the cold one.
const PICTURES: usize = 9;

/// Whole processes that take turns.
struct Processes<'a> {
    character: String,
    folder: &'a Path,
    runs: usize,
}

/// Rows of the command from a cold start. `adapter` draws; without one there are no pictures.
pub fn rows(folder: &Path, adapter: Option<&str>, runs: usize) -> Result<Vec<Row>, String> {
    let failed = |e: &dyn std::fmt::Display| e.to_string();
    let file = folder.join("started.usdc");
    export::export(&Workload::new(Kind::Body, 0.021), &file).map_err(|e| failed(&e))?;
    let character = folder.join("character.glb");
    std::fs::write(&character, CHARACTER).map_err(|e| failed(&e))?;
    let processes = Processes {
        character: text(&character),
        folder,
        runs: runs.max(3),
    };
    let mut rows = vec![inspect(&file, &processes)?];
    rows.extend(processes.bakes()?);
    if let Some(adapter) = adapter {
        rows.extend(processes.pictures(adapter)?);
    }
    Ok(rows)
}

/// `sinew inspect` of a file of about a megabyte.
fn inspect(file: &Path, processes: &Processes<'_>) -> Result<Row, String> {
    let bytes = std::fs::metadata(file).map_err(|e| e.to_string())?.len();
    let [times] = processes.times([&["inspect", &text(file)]])?;
    let row = Row::new(NAME, "inspect", "sinew inspect", 0, times);
    Ok(row.noted(format!("a file of {:.2} MB", bytes as f64 / 1e6)))
}

impl Processes<'_> {
    fn times<const N: usize>(&self, commands: [&[&str]; N]) -> Result<[Times; N], String> {
        let mut seconds = [(); N].map(|()| Vec::new());
        // One round warms up.
        for round in 0..=self.runs {
            for (arguments, seconds) in commands.iter().zip(&mut seconds) {
                let mut whole = vec![text(&command())];
                whole.extend(arguments.iter().map(|a| (*a).to_owned()));
                let run = process(&whole)?;
                if round > 0 {
                    seconds.push(run.seconds);
                }
            }
        }
        Ok(seconds.map(Times::of))
    }

    fn path(&self, name: &str) -> String {
        text(&self.folder.join(name))
    }

    /// A frame of the character, by the CPU backend and by what `auto` takes. The floor is a process that reads the file and
    /// describes it, and the writing of as many bytes as the bake writes.
    fn bakes(&self) -> Result<Vec<Row>, String> {
        let (file, out) = (self.character.as_str(), self.path("first.usdc"));
        let on = |backend| {
            [
                "bake",
                file,
                "-q",
                "--frames",
                "0:0",
                "--backend",
                backend,
                "-o",
                &out,
            ]
        };
        let (cpu, auto) = (on("cpu"), on("auto"));
        let [read, cpu, auto, devices] =
            self.times([&["inspect", file], &cpu, &auto, &["devices"]])?;
        let bytes = std::fs::metadata(&out).map_err(|e| e.to_string())?.len();
        let written: std::io::Result<Vec<f64>> = (0..self.runs)
            .map(|_| floor::disk_write(self.folder, bytes))
            .collect();
        let written = Times::of(written.map_err(|e| e.to_string())?).median();
        let floor = read.median() + written;
        let row = |case: &str, times| Row::new(NAME, case, "sinew bake", 0, times);
        let over = |row: Row, floor: f64, note: &str| Row {
            floor: Some(floor),
            floor_bytes: Some(bytes),
            ..row.noted(format!("floor: {note}"))
        };
        Ok(vec![
            over(
                row("first bake, CPU backend", cpu),
                floor,
                "inspect of the file, and a write of the result",
            ),
            over(
                row("first bake, --backend auto", auto),
                floor.max(devices.median()),
                "the same, or `sinew devices`, which loads the same drivers meanwhile",
            ),
        ])
    }

    /// A picture of the character of 1280 x 720 pixels, skinned by either backend. The floor is what the process cannot do
    /// without on this adapter: loading its drivers, and one more picture of a clip.
    fn pictures(&self, adapter: &str) -> Result<Vec<Row>, String> {
        let (file, one) = (self.character.as_str(), self.path("first.png"));
        let many = self.path("##.png");
        let count = PICTURES.to_string();
        let mut rows = Vec::new();
        for (backend, case) in [
            ("cpu", "first picture, CPU backend"),
            ("gpu", "first picture, GPU backend"),
        ] {
            let on = ["--backend", backend, "--adapter", adapter, "-q"];
            let first = [&["render", file, "-o", &one][..], &on].concat();
            let clip = [
                &["render", file, "-o", &many, "--turntable", &count][..],
                &on,
            ]
            .concat();
            let [devices, first, clip] = self.times([&["devices"], &first, &clip])?;
            let next = (clip.median() - first.median()) / (PICTURES - 1) as f64;
            let note = format!(
                "{adapter}; floor: `sinew devices` {:.1} ms and one more picture of a clip {:.1} ms",
                devices.median() * 1e3,
                next * 1e3
            );
            let row = Row::new(NAME, case, "sinew render", 0, first).noted(note);
            rows.push(Row {
                floor: Some(devices.median() + next),
                ..row
            });
        }
        Ok(rows)
    }
}
