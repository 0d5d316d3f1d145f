//! `sinew fix`.

use std::fmt::Write;
use std::path::PathBuf;

use sinew_check::{FixEntry, FixOptions, FixReport, fix};
use sinew_io::read_asset;
use sinew_io::usd::{OpenOptions, UsdFile};

use crate::bake::AnimSourceArg;
use crate::check::{at_least_one, describe};
use crate::progress::Progress;
use crate::report::{count, print_result, to_json};

/// Mends what `sinew check` finds and what can be mended without guessing, into another file, and checks
/// that.
///
/// It normalises and sorts weights, keeps the largest influences where a limit is given, takes malformed
/// in-betweens away, applies SkelBindingAPI where its properties are, authors the interpolation of influences
/// that are one row per point, normalises rotations and writes uint[] pointIndices as int[].
///
/// OUT is a copy of IN's root layer with these opinions added, so everything that IN refers to is still
/// referred to. A .usdz, as IN or OUT, is flattened into one layer.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// File to mend: .usda, .usdc, .usd or .usdz.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// File to write; its ending chooses the format. It cannot be IN.
    #[arg(
        short,
        long,
        value_name = "OUT.{usda,usdc,usdz}",
        required_unless_present = "dry_run"
    )]
    output: Option<PathBuf>,
    /// Tell what would be mended and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Mend these codes alone (see `sinew check --codes`).
    #[arg(long, value_name = "CODE,CODE", value_delimiter = ',')]
    only: Vec<String>,
    /// Keep the N largest influences of each point, and normalise them.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    max_influences: Option<usize>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Folder where assets named without ./ are looked for. May be repeated.
    #[arg(long, value_name = "DIR")]
    search_path: Vec<PathBuf>,
    /// Where animation is looked for (see `sinew bake --help`).
    #[arg(long, value_enum, default_value_t = AnimSourceArg::Skeleton)]
    anim_source: AnimSourceArg,
}

const AFTER_HELP: &str = "\
Sorting, int[] indices and taking away in-betweens that every reader skips leave results as they are. The rest
changes them, and is marked with *: a point whose weights summed to 0.9 moves.

Examples:
  sinew fix hero.usda --dry-run
  sinew fix hero.usda -o hero_fixed.usda --max-influences 4
  sinew fix hero.usdc -o hero_fixed.usdc --only weights-unsorted,inbetween-skipped";

pub fn run(args: &Args) -> sinew::Result<()> {
    let open = OpenOptions {
        search_paths: args.search_path.clone(),
        ..OpenOptions::default()
    };
    let mut progress = Progress::new(false);
    progress.doing(&format!("mending {}", args.input.display()));
    if read_asset(&args.input)?.is_some() {
        return Err(sinew::Error::Request(format!(
            "{}: sinew fix mends USD files; `sinew convert` makes one of this",
            args.input.display()
        )));
    }
    let file = UsdFile::open_with(&args.input, &open)?;
    let mut options = FixOptions::default();
    options.check.open = open;
    options.check.max_influences = args.max_influences;
    options.check.anim_source = args.anim_source.into();
    options.only = args.only.clone();
    let out = args.output.as_deref().filter(|_| !args.dry_run);
    let report = fix(&file, out, &options)?;
    drop(progress);
    if args.json {
        return print_result(&to_json(&report)?);
    }
    print_result(&tell(args, &report))
}

/// Writing to a String cannot fail.
fn tell(args: &Args, report: &FixReport) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", report.file);
    for m in &report.fixed {
        mend(&mut out, m);
    }
    for m in &report.not_fixed {
        let _ = writeln!(out, "  left: {}: {} [{}]", place(m), m.message, m.code);
    }
    let n = report.fixed.len();
    let done = if args.dry_run { "to mend" } else { "mended" };
    let _ = writeln!(
        out,
        "  {} {done}, {} left alone",
        count(n, "finding"),
        report.not_fixed.len()
    );
    if report.flattened {
        let _ = writeln!(out, "  flattened into one layer, as a package asks for");
    }
    if let Some(after) = &report.after {
        let _ = writeln!(out, "What remains:");
        out += &describe(after, false);
    }
    out
}

fn place(m: &FixEntry) -> String {
    match m.property.as_str() {
        "" => m.path.clone(),
        property => format!("{}.{property}", m.path),
    }
}

fn mend(out: &mut String, m: &FixEntry) {
    let mark = if m.changes_results { '*' } else { ' ' };
    let _ = writeln!(out, " {mark}{}: {} [{}]", place(m), m.message, m.code);
}
