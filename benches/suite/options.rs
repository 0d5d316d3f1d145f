//! What the suite is asked to do.

use std::path::PathBuf;

use sinew::gpu::AdapterChoice;

use crate::measure::Runs;
use crate::workloads::Kind;
use crate::{crowds, influences, playing, python, start, visible};

pub const HELP: &str = "\
Measures sinew and its peers on the work loads A to G, and rewrites the table in benches/RESULTS.md.

usage: cargo bench --bench suite -- [OPTIONS]
       cargo bench --bench suite -- export FOLDER [--scale S] [--only A,D]

  --only A,D      these loads alone (A, B, C, D, D-scattered, E, F, G, influences, visible, crowds,
                  python, start); RESULTS.md stays as it is
  --scale S       every load times S; RESULTS.md stays as it is
  --quick         a twentieth of the sizes and few runs, to see that all works
  --runs N        runs of a row (15; more of short ones, 3 of long ones of a software adapter)
  --adapter NAME  the adapter whose name contains NAME; else hardware where there is some, else software
  --no-gpu        the CPU's rows alone
  --write         rewrite RESULTS.md all the same
  --results FILE  rewrite FILE instead; it is made where it is not there
  --json FILE     the rows as JSON too
  --seconds N     begin no load after N seconds, write after each load, and name the loads that are left out;
                  RESULTS.md stays as it is
  --help          this

export writes the loads as .usdc, so that other engines can run the same.

SINEW_PYTHON names a Python with usd-core 26.11; without it usd-core's rows say so; with the package
(pip install ./crates/sinew-python) in it, python is measured. SINEW_TORCH names a Python with
PyTorch for CUDA, for A and C. SINEW_OZZ names the
folder that benches/ozz/build.sh made, for ozz-animation's own job. SINEW names another `sinew` to bake with. A software adapter skins a fifth of C's characters; the table says so.

examples:
  SINEW_PYTHON=python cargo bench --bench suite
  cargo bench --bench suite -- --only A --runs 5 --no-gpu
  cargo bench --bench suite -- export loads --only A,C --scale 0.1
";

/// Runs whose median a goal may be judged by.
pub const ENOUGH: usize = 15;

pub struct Options {
    pub export: Option<PathBuf>,
    /// All where empty.
    pub only: Vec<String>,
    pub scale: f64,
    pub runs: Runs,
    pub adapter: AdapterChoice,
    pub gpu: bool,
    pub write: bool,
    /// The table to rewrite.
    pub results: PathBuf,
    pub json: Option<PathBuf>,
    /// Seconds from the start after which no load begins.
    pub seconds: Option<f64>,
}

/// What is wrong with the command, or nothing where help was asked for.
pub enum Stop {
    Help,
    Usage(String),
}

impl Options {
    pub fn parse(args: impl Iterator<Item = String>) -> Result<Self, Stop> {
        let mut out = Self {
            export: None,
            only: Vec::new(),
            scale: 1.0,
            runs: Runs {
                most: ENOUGH,
                fewest: ENOUGH,
                seconds: 3.0,
            },
            adapter: AdapterChoice::Any,
            gpu: true,
            write: false,
            results: concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/RESULTS.md").into(),
            json: None,
            seconds: None,
        };
        let (mut is_partial, mut write) = (false, false);
        let mut args = args.peekable();
        while let Some(arg) = args.next() {
            let mut value = || {
                let missing = || Stop::Usage(format!("{arg} takes a value"));
                args.next().ok_or_else(missing)
            };
            let wrong = |value: &str| Stop::Usage(format!("{arg} {value}: not a number above 0"));
            match arg.as_str() {
                "--help" | "-h" => return Err(Stop::Help),
                // cargo's own.
                "--bench" => {}
                "export" => out.export = Some(value()?.into()),
                "--only" => {
                    out.only = value()?.split(',').map(str::to_owned).collect();
                    is_partial = true;
                }
                "--scale" => {
                    let text = value()?;
                    let scale: Option<f64> = text.parse().ok();
                    out.scale = scale.filter(|s| *s > 0.0).ok_or_else(|| wrong(&text))?;
                    is_partial = true;
                }
                "--seconds" => {
                    let text = value()?;
                    let seconds: Option<f64> = text.parse().ok();
                    let seconds = seconds.filter(|s| *s > 0.0).ok_or_else(|| wrong(&text))?;
                    out.seconds = Some(seconds);
                    is_partial = true;
                }
                "--quick" => {
                    out.scale = 0.05;
                    out.runs = Runs {
                        most: 5,
                        fewest: 3,
                        seconds: 0.5,
                    };
                    is_partial = true;
                }
                "--runs" => {
                    let text = value()?;
                    let runs: Option<usize> = text.parse().ok();
                    out.runs.most = runs.filter(|n| *n > 0).ok_or_else(|| wrong(&text))?;
                    out.runs.fewest = out.runs.most;
                }
                "--adapter" => out.adapter = AdapterChoice::Named(value()?),
                "--no-gpu" => {
                    out.gpu = false;
                    is_partial = true;
                }
                "--write" => write = true,
                "--results" => {
                    out.results = value()?.into();
                    write = true;
                }
                "--json" => out.json = Some(value()?.into()),
                _ => return Err(Stop::Usage(format!("{arg}: no such option"))),
            }
        }
        let known = |name: &String| {
            [
                playing::NAME,
                influences::NAME,
                visible::NAME,
                crowds::NAME,
                python::NAME,
                start::NAME,
            ]
            .contains(&name.as_str())
                || Kind::ALL.iter().any(|k| k.name() == name)
        };
        if let Some(name) = out.only.iter().find(|n| !known(n)) {
            return Err(Stop::Usage(format!("--only {name}: no such load")));
        }
        out.write = write || !is_partial;
        Ok(out)
    }

    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|n| n == name)
    }
}
