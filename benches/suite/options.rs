//! What the suite is asked to do.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use sinew::gpu::AdapterChoice;

use crate::measure::{Runs, SHORT};
use crate::report::PARTS;
use crate::workloads::Kind;

/// Runs whose median a goal may be judged by.
pub const ENOUGH: usize = 15;

/// Measures sinew and its peers on the work loads A to G, and rewrites the table in benches/RESULTS.md
#[derive(Parser)]
#[command(bin_name = "cargo bench --bench suite --", args_override_self = true)]
#[command(args_conflicts_with_subcommands = true, after_help = MORE)]
pub struct Options {
    #[command(subcommand)]
    pub export: Option<Export>,
    #[command(flatten)]
    pub loads: Loads,
    /// A twentieth of the sizes and few runs, to see that all works
    #[arg(long)]
    quick: bool,
    /// Runs of a row (15; more of short ones, 3 of long ones of a software adapter)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// The adapter whose name contains NAME; else hardware where there is some, else software
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// The CPU's rows alone
    #[arg(long)]
    pub no_gpu: bool,
    /// Rewrite RESULTS.md all the same
    #[arg(long)]
    write: bool,
    /// Rewrite FILE instead; it is made where it is not there
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// The rows as JSON too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Begin no load after N seconds, write after each load, and name the loads that are left out;
    /// RESULTS.md stays as it is
    #[arg(long, value_name = "N", value_parser = above_zero)]
    pub seconds: Option<f64>,
    /// Cargo's own
    #[arg(long, hide = true, global = true)]
    bench: bool,
}

#[derive(Subcommand)]
pub enum Export {
    /// Write the loads as .usdc, so that other engines can run the same
    Export {
        folder: PathBuf,
        #[command(flatten)]
        loads: Loads,
    },
}

#[derive(Args)]
pub struct Loads {
    /// These loads alone (A, B, C, D, D-scattered, E, F, G, edits, influences, visible, crowds,
    /// python, start); RESULTS.md stays as it is
    #[arg(long, value_name = "A,D", value_delimiter = ',', value_parser = load)]
    only: Vec<String>,
    /// Every load times S; RESULTS.md stays as it is
    #[arg(long, value_name = "S", value_parser = above_zero)]
    scale: Option<f64>,
}

const MORE: &str = "\
SINEW_PYTHON names a Python with usd-core 26.11; without it usd-core's rows say so; with the package
(pip install ./crates/sinew-python) in it, python is measured. SINEW_TORCH names a Python with
PyTorch for CUDA, for A and C. SINEW_OZZ names the folder that benches/ozz/build.sh made, for
ozz-animation's own job. SINEW names another `sinew` to bake with. A software adapter skins a fifth
of C's characters; the table says so.

examples:
  SINEW_PYTHON=python cargo bench --bench suite
  cargo bench --bench suite -- --only A --runs 5 --no-gpu
  cargo bench --bench suite -- export loads --only A,C --scale 0.1
";

fn above_zero(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .filter(|n| *n > 0.0)
        .ok_or("not a number above 0".into())
}

fn load(text: &str) -> Result<String, String> {
    let mut known = Kind::ALL
        .iter()
        .map(|k| k.name())
        .chain(PARTS.map(|(name, _)| name));
    known
        .any(|name| name == text)
        .then(|| text.to_owned())
        .ok_or("no such load".into())
}

impl Loads {
    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|n| n == name)
    }

    pub fn scale(&self) -> f64 {
        self.scale.unwrap_or(1.0)
    }
}

impl Options {
    pub fn scale(&self) -> f64 {
        let usual = if self.quick { 0.05 } else { 1.0 };
        self.loads.scale.unwrap_or(usual)
    }

    pub fn runs(&self) -> Runs {
        let (most, fewest, seconds) = match self.quick {
            true => (5, 3, 0.5),
            false => (ENOUGH, ENOUGH, 3.0),
        };
        let asked = self.runs.map(|n| n as usize);
        Runs {
            most: asked.unwrap_or(most),
            fewest: asked.unwrap_or(fewest),
            seconds,
            short: SHORT,
        }
    }

    pub fn adapter(&self) -> AdapterChoice {
        let name = self.adapter.clone();
        name.map_or(AdapterChoice::Any, AdapterChoice::Named)
    }

    /// The table to rewrite, if one is to be rewritten.
    pub fn results(&self) -> Option<PathBuf> {
        let is_whole = self.loads.only.is_empty() && self.loads.scale.is_none();
        let is_whole = is_whole && !self.quick && !self.no_gpu && self.seconds.is_none();
        let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/RESULTS.md");
        let own = (self.write || is_whole).then(|| own.into());
        self.results.clone().or(own)
    }
}
