//! `sinew fix`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew_check::{FixEntry, FixOptions, FixReport, fix};
use sinew_io::read_asset;
use sinew_io::usd::{OpenOptions, UsdFile};

use crate::batch::{Batch, Done};
use crate::check::{at_least_one, describe};
use crate::error::{Error, Result};
use crate::exit::{Exit, PartialArgs};
use crate::open::{AnimArgs, USD, check_extension};
use crate::progress::Progress;
use crate::report::{Sizes, Verbosity, count, place, print_message};

/// Fix those findings of `check` that need no guess, and write another file.
///
/// `fix` normalises and sorts weights, and with --max-influences keeps the largest ones. It removes
/// malformed in-betweens. It applies SkelBindingAPI to prims that have its properties. It authors a
/// missing vertex interpolation of influences, and a missing or wrong elementSize, if the values
/// leave only one choice. It normalises rotations, and writes uint[] pointIndices as int[].
///
/// OUT is a copy of IN's root layer with these opinions added, so OUT refers to the same files as
/// IN. OUT is then checked too. If IN or OUT is a .usdz, the stage is flattened into one layer.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// File to fix: .usda, .usdc, .usd or .usdz. Several files, a folder or a glob are fixed one
    /// after another into the folder OUT. If one fails, the others are still fixed.
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// File to write; its extension chooses the format. It cannot be IN. In the folder OUT each
    /// file keeps its name.
    #[arg(
        short,
        long,
        value_name = "OUT.{usda,usdc,usdz}|OUT/",
        required_unless_present = "dry_run"
    )]
    output: Option<PathBuf>,
    /// Print the fixes, and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Fix only findings with these codes; `sinew check --codes` lists all.
    #[arg(long, value_name = "CODE,CODE", value_delimiter = ',')]
    only: Vec<String>,
    /// Keep the N largest influences of each point, and normalise their weights.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    max_influences: Option<usize>,
    #[command(flatten)]
    partial: PartialArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Folder to search for assets whose paths do not begin with ./, ../ or /. May be repeated.
    #[arg(long, value_name = "DIR")]
    search_path: Vec<PathBuf>,
    #[command(flatten)]
    anim: AnimArgs,
}

const AFTER_HELP: &str = "\
Some fixes do not change the skinned result: sorting, int[] indices, and the removal of in-betweens
that every reader skips. All other fixes may change it and are marked with *. For example, a point
whose weights summed to 0.9 moves.

Exit codes:
  0  OUT has no errors
  1  OUT is written, but errors are left that `fix` cannot fix; or OUT could not be written
  3  OUT has no errors, but a finding of a kind that `fix` can fix could not be fixed at its prim;
     0 with --allow-partial
With --dry-run the exit codes are those of the file that would be written.

Examples:
  sinew fix hero.usda --dry-run
  sinew fix characters -o fixed/
  sinew fix hero.usda -o hero_fixed.usda --max-influences 4
  sinew fix hero.usdc -o hero_fixed.usdc --only weights-unsorted,inbetween-skipped";

/// The report of --json.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    fix: FixReport,
    /// Absent from a dry run.
    #[serde(flatten)]
    sizes: Option<Sizes>,
}

pub fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let batch = Batch {
        command: "fix",
        inputs: &args.inputs,
        extensions: &USD,
        to: None,
        output: args.output.as_deref().filter(|_| !args.dry_run),
        open: open_options(args),
        json: args.json,
        partial: args.partial,
        verbosity,
    };
    batch.run(sinew_io::extension, |input, output| {
        fix_one(args, input, output, verbosity)
    })
}

fn open_options(args: &Args) -> OpenOptions {
    OpenOptions {
        search_paths: args.search_path.clone(),
        ..OpenOptions::default()
    }
}

fn fix_one(
    args: &Args,
    input: &Path,
    out: Option<&Path>,
    verbosity: Verbosity,
) -> Result<Done<Report>> {
    let open = open_options(args);
    if let Some(out) = out {
        check_extension(out, &USD)?;
    }
    let mut progress = Progress::new(verbosity.is_quiet());
    progress.doing(&format!("fixing {}", input.display()));
    if read_asset(input)?.is_some() {
        return Err(Error::Message(format!(
            "{}: expected a USD file; `sinew convert` writes one from this file",
            input.display()
        )));
    }
    let file = UsdFile::open_with(input, &open)?;
    let mut options = FixOptions::default();
    options.check.open = open;
    options.check.max_influences = args.max_influences;
    options.check.anim_source = args.anim.source();
    options.only = args.only.clone();
    let report = fix(&file, out, &options)?;
    drop(progress);
    for entry in &report.not_fixed {
        print_message("not fixed", entry_text(entry));
    }
    let sizes = out.map(|out| Sizes::of("IN", input, &[out]));
    let exit = match report.remaining_errors() {
        0 => args.partial.exit(!report.not_fixed.is_empty()),
        errors => {
            let file = out.filter(|_| !args.dry_run).unwrap_or(input).display();
            let text = format!(
                "{} left: `sinew check {file}` says which",
                count(errors, "error")
            );
            print_message("not fixed", text);
            Exit::Failed
        }
    };
    Ok(Done {
        exit,
        text: summary(args, &report, sizes.as_ref()),
        brief: brief(args, &report, sizes.as_ref()),
        report: Report { fix: report, sizes },
    })
}

/// The numbers of findings: those that are fixed and the others add up to those of IN.
fn counts(args: &Args, report: &FixReport) -> String {
    let all = &report.before.counts;
    let all = all.errors + all.warnings + all.infos;
    let fixed = report.fixed.len();
    let n = count(fixed, "finding");
    let done = if args.dry_run { "to fix" } else { "fixed" };
    let in_part = report.not_fixed.iter().filter(|f| f.changes_results);
    let in_part = in_part.count();
    let left = all.saturating_sub(fixed + in_part);
    let in_part = match in_part {
        0 => String::new(),
        n => format!("{n} in part, "),
    };
    let errors = match report.remaining_errors() {
        0 => String::new(),
        errors => format!("; {} left", count(errors, "error")),
    };
    format!("{n} {done}, {in_part}{left} not fixed{errors}")
}

fn brief(args: &Args, report: &FixReport, sizes: Option<&Sizes>) -> String {
    let written = sizes.map_or(String::new(), |sizes| format!(", {}", sizes.written()));
    counts(args, report) + &written
}

/// The report as text. Writing to a String cannot fail, so its results are dropped.
fn summary(args: &Args, report: &FixReport, sizes: Option<&Sizes>) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", report.file);
    for entry in &report.fixed {
        let mark = if entry.changes_results { '*' } else { ' ' };
        let _ = writeln!(out, " {mark}{}", entry_text(entry));
    }
    let _ = writeln!(out, "  {}", counts(args, report));
    if report.flattened {
        let _ = writeln!(
            out,
            "  flattened into one layer, because a .usdz is a package"
        );
    }
    if let Some(sizes) = sizes {
        let _ = writeln!(out, "  {sizes}");
    }
    match &report.after {
        Some(after) if after.findings.is_empty() => {
            let _ = writeln!(out, "  no findings remain");
        }
        Some(after) => {
            let _ = writeln!(out, "Remaining findings:");
            out += &describe(after, false);
        }
        None => {}
    }
    out
}

/// What was done, or could not be done, and where.
fn entry_text(entry: &FixEntry) -> String {
    let place = place(&entry.path, &entry.property);
    format!("{place}: {} [{}]", entry.message, entry.code)
}
