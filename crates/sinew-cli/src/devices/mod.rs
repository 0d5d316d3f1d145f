//! `sinew devices`.

mod verify;

use std::fmt::Write;
use std::path::PathBuf;

use serde::Serialize;
use sinew::gpu::AdapterReport;

use crate::error::Result;
use crate::exit::Exit;
use crate::report::{Verbosity, count, print_report};

/// List the GPU adapters and the CPU backend, and mark the one that --backend auto takes.
///
/// --verify runs every kernel, in every variant, on the hardware adapters of this machine, and
/// compares the results with the CPU backend and with an f64 reference. Then it prints the worst
/// error of each check beside the limit, and the speed of each kernel.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Check the kernels on the hardware adapters. Exit with 1 if a check fails.
    #[arg(long)]
    verify: bool,
    /// Check the adapter whose name contains NAME; it may be a software adapter.
    #[arg(long, value_name = "NAME", requires = "verify")]
    adapter: Option<String>,
    /// Run only the checks whose names contain NAME, and measure no speed. May be repeated.
    #[arg(long, value_name = "NAME", requires = "verify")]
    check: Vec<String>,
    /// Write everything that was found to a file, to attach to an issue.
    #[arg(long, value_name = "OUT.json", requires = "verify")]
    report: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  sinew devices
  sinew devices --json | jq -r .auto
  sinew devices --verify --report verified.json
  sinew devices --verify --adapter llvmpipe
  sinew devices --verify --check posing
  sinew bake in.usda -o out.usdc --adapter llvmpipe";

#[derive(Serialize)]
struct Report {
    adapters: Vec<AdapterReport>,
    cpu_threads: usize,
    /// Name of the adapter that `auto` takes, or `cpu`.
    auto: String,
}

pub fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let adapters = AdapterReport::list();
    if args.verify {
        return verify::run(&adapters, args, verbosity.is_quiet());
    }
    let report = Report {
        auto: AdapterReport::hardware(&adapters).map_or("cpu".to_owned(), |a| a.name.clone()),
        cpu_threads: rayon::current_num_threads(),
        adapters,
    };
    let how = (args.json, verbosity);
    print_report("devices", Exit::Done, how, &report, describe)
}

/// The name of an adapter, and what it is.
fn named(adapter: &AdapterReport) -> String {
    let AdapterReport {
        name,
        backend,
        device_type,
        driver,
        software,
        ..
    } = adapter;
    let kind = if *software { "software" } else { "hardware" };
    format!("{name} ({backend}, {device_type}, {kind}, {driver})")
}

/// The report as text. Writing to a String cannot fail, so its results are dropped.
fn describe(report: &Report) -> String {
    let mut out = String::new();
    let auto = AdapterReport::hardware(&report.adapters);
    for adapter in &report.adapters {
        let mark = if auto == Some(adapter) { '*' } else { ' ' };
        let _ = writeln!(out, "{mark} gpu  {}", named(adapter));
    }
    let mark = if auto.is_none() { '*' } else { ' ' };
    let _ = writeln!(out, "{mark} cpu  {}", count(report.cpu_threads, "thread"));
    out
}
