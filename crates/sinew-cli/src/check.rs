//! `sinew check`.

use std::fmt::Write;
use std::io::IsTerminal;
use std::path::PathBuf;

use serde::Serialize;
use sinew_check::{
    CheckOptions, Code, Counts, Effect, Finding, Report, Severity, all_codes, check_file,
};

use crate::batch;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::failure::{Failure, Kind};
use crate::finding;
use crate::host::{self, Step};
use crate::open::{AnimArgs, OpenArgs, one_of};
use crate::progress::Progress;
use crate::report::{
    Verbosity, count, plain, print_coloured, print_error, print_result, result_json,
};

/// Check files for errors and doubtful data; each finding has a stable code and advice.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Files to check: USD, glTF, VRM, BVH or FBX, or folders and globs of such files. A file that
    /// is not USD is checked twice: as it is, and as the USD stage that `convert` makes of it.
    #[arg(value_name = "IN", required_unless_present = "codes")]
    inputs: Vec<PathBuf>,
    /// Print one JSON object, with an entry in `files` for each file.
    #[arg(long)]
    json: bool,
    /// Report points with more than N influences.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    max_influences: Option<usize>,
    /// Show only findings of this severity or worse.
    #[arg(long, default_value = "info")]
    #[arg(value_parser = one_of([
        ("info", Severity::Info),
        ("warning", Severity::Warning),
        ("error", Severity::Error),
    ]))]
    severity: Severity,
    /// Exit with 1 for warnings too.
    #[arg(long)]
    strict: bool,
    /// List every code with its severity, meaning and advice.
    #[arg(long, conflicts_with = "inputs")]
    codes: bool,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    anim: AnimArgs,
}

const AFTER_HELP: &str = "\
Exit codes:
  0  no errors
  1  errors; with --strict also warnings
  2  wrong usage, or a file that cannot be opened

Severities:
  error    the result of some prim is missing or wrong
  warning  the result is probably not what you mean, or other programs give another one
  info     worth knowing

Examples:
  sinew check hero.usdz
  sinew check avatar.vrm wave.vrma walk.glb
  sinew check characters/ 'clips/*.bvh'
  sinew check *.usda --strict --severity warning --max-influences 4
  sinew check hero.usda --json | jq -r '.files[].findings[] | [.code, .path] | @tsv'";

/// Parses a number of at least 1, for clap.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number of at least 1".into()),
        Ok(n) => Ok(n),
    }
}

/// The report of a file, or the error if the file could not be checked.
#[derive(Serialize)]
#[serde(untagged)]
enum Outcome {
    Checked(Report),
    Failed {
        file: String,
        /// Why the file could not be checked.
        error: finding::Finding,
    },
}

/// The report of --json: one entry for each file, in the order of the arguments.
#[derive(Serialize)]
struct Checked {
    files: Vec<Outcome>,
}

/// The report of --codes --json.
#[derive(Serialize)]
struct Codes {
    codes: Vec<&'static Code>,
}

pub fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let quiet = verbosity.is_quiet();
    if args.codes {
        print_result(&codes(args.json)?)?;
        return Ok(Exit::Done);
    }
    let mut options = CheckOptions::default();
    options.open = args.open.options().map_err(unopened)?;
    options.max_influences = args.max_influences;
    options.anim_source = args.anim.source();
    let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let (mut unreadable, mut bad) = (false, false);
    let inputs = batch::inputs(&args.inputs, &batch::CHARACTERS, None).map_err(unopened)?;
    let inputs = inputs.files;
    let mut outcomes = Vec::with_capacity(inputs.len());
    let mut progress = Progress::new(quiet);
    let total = inputs.len();
    for (done, input) in inputs.iter().enumerate() {
        host::go_on(Step::Files { done, total })?;
        let what = format!("checking {}", input.display());
        match total {
            1 => progress.doing(&what),
            _ => progress.done(&what, "files", done, total),
        }
        match check_file(input, &options) {
            Ok(mut report) => {
                bad |= report.counts.errors > 0 || (args.strict && report.counts.warnings > 0);
                report.keep(args.severity);
                if !args.json && !quiet {
                    progress.aside(|| print_coloured(&describe(&report, colour)))?;
                }
                outcomes.push(Outcome::Checked(report));
            }
            Err(e) => {
                let e = Error::from(e);
                unreadable = true;
                progress.aside(|| print_error(&e));
                outcomes.push(Outcome::Failed {
                    file: input.display().to_string(),
                    error: finding::Finding::error(&e),
                });
            }
        }
    }
    drop(progress);
    host::go_on(Step::Files { done: total, total })?;
    let exit = match (unreadable, bad) {
        (true, _) => Exit::Usage,
        (false, true) => Exit::Failed,
        (false, false) => Exit::Done,
    };
    if args.json {
        print_result(&result_json("check", exit, &Checked { files: outcomes })?)?;
    }
    Ok(exit)
}

/// Nothing can be opened: the exit code is 2, since 1 says that a file has errors.
fn unopened(error: Error) -> Error {
    let mut failure = Failure::from(error);
    failure.kind = Kind::Usage;
    failure.into()
}

fn codes(json: bool) -> Result<String> {
    if json {
        let codes = all_codes().collect();
        return result_json("check", Exit::Done, &Codes { codes });
    }
    let width = all_codes().map(|c| c.code.len()).max().unwrap_or(0);
    let mut out = String::new();
    for c in all_codes() {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{:width$}  {:7}  {}",
            c.code,
            c.severity.name(),
            c.meaning
        );
        let command = command_for(c.code, c.fixable);
        let _ = writeln!(out, "{:width$}  {:7}  -> {}{command}", "", "", c.advice);
        if c.effect != Effect::Used {
            let _ = writeln!(out, "{:width$}  {:7}  {}", "", "", c.effect.describe());
        }
    }
    Ok(out)
}

/// The command that follows the advice of a code, in brackets; empty if there is none. The
/// library's advice names no commands.
fn command_for(code: &str, fixable: bool) -> &'static str {
    match code {
        "influences-too-many" if fixable => " (`sinew fix --max-influences N`)",
        _ if fixable => " (`sinew fix`)",
        _ if code.starts_with("REF_") => " (`sinew humanoid --mode conjugate`)",
        "pose-off-reference" => " (`sinew humanoid --mode conjugate`)",
        "bone-missing" => " (`sinew humanoid --mode collapse`)",
        "bone-tracks-left" | "expression-missing" => " (`sinew humanoid`)",
        "retarget-feet-sink" => " (`sinew retarget --lock-feet`)",
        _ => "",
    }
}

/// The findings by prim, and a summary. The text is plain except for colours, if `colour`. Writing
/// to a String cannot fail, so its results are dropped.
pub fn describe(report: &Report, colour: bool) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", plain(&report.file));
    let width = report.findings.iter().map(|f| f.code.len()).max();
    let mut path = None;
    for f in &report.findings {
        if path != Some(&f.path) && f.path != report.file {
            let _ = writeln!(out, "  {}", plain(&f.path));
        }
        path = Some(&f.path);
        finding(&mut out, f, width.unwrap_or(0), colour);
    }
    let fixable = report.findings.iter().filter(|f| f.fixable).count();
    let advice = match fixable {
        0 => String::new(),
        n => format!("; `sinew fix` can fix {n}"),
    };
    let _ = writeln!(out, "  {}{advice}", counted(report.counts));
    out
}

/// The numbers of findings of each severity.
pub fn counted(counts: Counts) -> String {
    let [errors, warnings, infos] = [
        (counts.errors, "error"),
        (counts.warnings, "warning"),
        (counts.infos, "info"),
    ]
    .map(|(n, noun)| count(n, noun));
    format!("{errors}, {warnings}, {infos}")
}

fn finding(out: &mut String, f: &Finding, width: usize, colour: bool) {
    let paint = match f.severity {
        Severity::Error => "\x1b[31m",
        Severity::Warning => "\x1b[33m",
        Severity::Info => "\x1b[36m",
    };
    let (on, off) = if colour { (paint, "\x1b[0m") } else { ("", "") };
    let property = match f.property.as_str() {
        "" => String::new(),
        // The message of a broken attribute already begins with its name.
        p if f.message.starts_with(p) => String::new(),
        p => format!("{}: ", plain(p)),
    };
    let _ = writeln!(
        out,
        "    {on}{:7}{off}  {:width$}  {property}{}",
        f.severity.name(),
        f.code,
        plain(&f.message)
    );
    let command = command_for(f.code, f.fixable);
    let _ = writeln!(out, "    {:7}  {:width$}  -> {}{command}", "", "", f.advice);
}
