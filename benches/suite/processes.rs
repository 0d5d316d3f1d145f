//! Whole processes, from start to end, that take turns.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use common::processor::Ended;

use crate::measure::Times;
use crate::peers::Result;

/// First argument of the suite's own child that times a process.
pub const CHILD: &str = "time-process";

/// A command, and what its runs took.
#[derive(Default)]
pub struct Process {
    command: Vec<String>,
    /// What it writes, which is removed again.
    output: Option<PathBuf>,
    seconds: Vec<f64>,
    /// Largest resident set of all runs, where the system tells it.
    pub peak: Option<u64>,
    /// Length of the output.
    pub bytes: u64,
}

pub fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl Process {
    /// Our command: what `SINEW` names, else the one that was built beside the suite.
    pub fn sinew(arguments: &[&str]) -> Self {
        let sinew = std::env::var("SINEW");
        let sinew = sinew.unwrap_or_else(|_| env!("CARGO_BIN_EXE_sinew").into());
        let arguments = arguments.iter().map(|a| (*a).to_owned());
        Self {
            command: std::iter::once(sinew).chain(arguments).collect(),
            ..Self::default()
        }
    }

    pub fn sinew_bake(input: &Path, output: &Path, more: &[&str]) -> Self {
        let (input, out) = (text(input), text(output));
        let bake = ["bake", &input, "-o", &out, "--quiet"];
        Self {
            output: Some(output.to_owned()),
            ..Self::sinew(&[&bake[..], more].concat())
        }
    }

    /// usd-core's BakeSkinning and Export.
    pub fn usd_core_bake(python: &str, input: &Path, output: &Path) -> Self {
        const BAKE: &str = "import sys
from pxr import Usd, UsdSkel
stage = Usd.Stage.Open(sys.argv[1])
assert UsdSkel.BakeSkinning(stage.Traverse())
stage.Export(sys.argv[2])";
        let command = [python, "-c", BAKE, &text(input), &text(output)];
        Self {
            command: command.map(String::from).to_vec(),
            output: Some(output.to_owned()),
            ..Self::default()
        }
    }

    /// Runs it once. Its own output is dropped, but for what it has to say where it fails.
    ///
    /// Linux counts a child's peak memory from its parent's before exec, so the one that starts it has to be small: a child of
    /// this same executable does.
    pub fn run(&mut self) -> Result<()> {
        // Lets the disk take what earlier runs wrote, so that none waits for another's bytes. Where there is no such command,
        // times are worse for all.
        let _ = Command::new("sync").status();
        let mut child = Command::new(std::env::current_exe()?);
        let out = child.arg(CHILD).args(&self.command).output()?;
        let told = String::from_utf8_lossy(&out.stdout);
        let numbers: Vec<f64> = told.split_whitespace().flat_map(str::parse).collect();
        let [seconds, peak] = numbers[..] else {
            let why = String::from_utf8_lossy(&out.stderr);
            return Err(format!("{}: {}", self.command.join(" "), why.trim()).into());
        };
        self.seconds.push(seconds);
        self.peak = self.peak.max((peak > 0.0).then_some(peak as u64));
        if let Some(output) = &self.output {
            self.bytes = std::fs::metadata(output)?.len();
            std::fs::remove_file(output)?;
        }
        Ok(())
    }

    pub fn times(&self) -> Times {
        Times::of(self.seconds.clone())
    }

    /// As words.
    pub fn peak(&self) -> String {
        let megabytes = self.peak.map(|bytes| format!("{:.0}", bytes as f64 / 1e6));
        format!("{} MB", megabytes.unwrap_or("?".into()))
    }
}

/// Runs processes in turn, so that whatever else the machine does meets all of them alike; the first round warms up.
pub fn warm<const N: usize>(mut processes: [Process; N], rounds: usize) -> Result<[Process; N]> {
    for round in 0..=rounds {
        for process in &mut processes {
            process.run()?;
            if round == 0 {
                process.seconds.clear();
            }
        }
    }
    Ok(processes)
}

/// The child's half: prints seconds and peak bytes, 0 where they are not known.
pub fn time_process(command: &[String]) -> Result<()> {
    let (program, arguments) = command.split_first().ok_or("no command to time")?;
    let start = Instant::now();
    let mut command = Command::new(program);
    let command = command.args(arguments).stdout(Stdio::null());
    let child = command.stdin(Stdio::null()).spawn();
    let ended = Ended::wait(&mut child.map_err(|e| format!("{program}: {e}"))?)?;
    let seconds = start.elapsed().as_secs_f64();
    if !ended.status.success() {
        return Err(format!("{program} failed").into());
    }
    let peak = ended.peak;
    println!("{seconds} {peak}");
    Ok(())
}
