//! The command `sinew`, as a library: [`main`] is the whole program, and [`run`] runs one command
//! line inside another program. [`call`] runs one for a program that wants its result as a value, as
//! the Python package does.

mod animate;
mod bake;
mod batch;
mod check;
mod completions;
mod convert;
mod describe;
mod devices;
mod error;
mod exit;
mod failure;
mod finding;
mod fix;
mod help;
mod host;
mod humanoid;
mod inspect;
mod interrupt;
mod open;
mod progress;
mod render;
mod report;
mod retarget;
mod view;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::report::Verbosity;

pub use failure::{Failure, Kind};
pub use host::{Outcome, Step, Watch, call};

/// Bakes, checks, fixes, converts, draws and retargets characters of USD, glTF, VRM, FBX and BVH
/// files.
#[derive(Parser)]
#[command(name = "sinew", version, max_term_width = 100, arg_required_else_help = true, after_help = after_help())]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Print only errors, and with --json the result.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Print more: all warnings, tables and log lines.
    ///
    /// The log lines are those of the level info, as with RUST_LOG=info.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
    /// Number of threads on the CPU. Without this: one for each core.
    #[arg(long, value_name = "N", global = true, value_parser = check::at_least_one)]
    threads: Option<usize>,
}

impl Cli {
    fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        }
    }
}

fn after_help() -> String {
    format!("{}\n\n{AFTER_HELP}", exit::TABLE)
}

const AFTER_HELP: &str = "\
If a command fails or is interrupted, an existing OUT stays as it was, and no half-written file is
left. There are two exceptions: `fix` writes OUT although errors are left in it, and
`bake --clip-frames` may have removed an old OUT, and keeps the files that it has finished.
If one of several files fails, the others are still done. The exit code is then 3, or 1 if all fail.
Results go to stdout, warnings and progress to stderr.
`sinew COMMAND --help` lists the common options of a command; with --all it lists every option.

Examples:
  sinew inspect hero.usdz
  sinew bake hero.usdz -o hero_baked.usdc
  sinew COMMAND --help";

// Each command has its description at its arguments: a sentence for the list of commands, and more
// for its own help.
#[derive(Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one for a process")]
enum Command {
    Bake(bake::Args),
    Convert(convert::Args),
    Inspect(inspect::Args),
    Check(check::Args),
    Fix(fix::Args),
    Humanoid(humanoid::Args),
    Describe(describe::Args),
    Retarget(Box<retarget::Args>),
    Animate(animate::Args),
    Render(Box<render::Args>),
    View(view::Args),
    Devices(devices::Args),
    Completions(completions::Args),
}

/// Runs the program with the arguments of the process, and says how the process is to end.
///
/// It sets the process up first: the allocator, the environment of graphics drivers, the logger.
#[must_use]
pub fn main() -> ExitCode {
    quiet_headless_drivers();
    keep_freed_memory();
    let args: Vec<OsString> = std::env::args_os().collect();
    let logger = logger(&args);
    let level = logger.filter();
    if log::set_boxed_logger(Box::new(logger)).is_ok() {
        log::set_max_level(level);
    }
    ExitCode::from(run(args))
}

/// The logger of the command: lines on stderr, filtered by `RUST_LOG`; without it warnings, and with
/// `--verbose` among `args` also information. A program that calls [`run`] and has no logger of its
/// own may install it.
#[must_use]
pub fn logger(args: &[OsString]) -> env_logger::Logger {
    let verbose = args
        .iter()
        .any(|argument| argument == "--verbose" || argument == "-v");
    // Warnings of wgpu are about drivers, not about the user's file.
    let level = if verbose { "info" } else { "warn" };
    let default_filter = format!("{level},wgpu_core=error,wgpu_hal=off,naga=error");
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or(default_filter))
        .format(|out, record| {
            let (level, target) = (record.level(), record.target());
            let text = record.args().to_string();
            writeln!(out, "[{level:<5} {target}] {}", report::plain(&text))
        })
        .build()
}

/// Runs one command line and returns its exit code, as `sinew --help` lists them. `args` begins
/// with the name of the program.
///
/// Results go to stdout, warnings, progress and errors to stderr. The first call installs handlers
/// for SIGINT, SIGTERM and SIGHUP, which end the process without half-written files. `--threads`
/// configures rayon's global pool, so it is an error where the pool is already in use.
#[must_use]
pub fn run(args: Vec<OsString>) -> u8 {
    execute(&args).code()
}

/// Parses a command line: the name of its command, and its arguments.
fn parse(args: &[OsString]) -> Result<(String, Cli), clap::Error> {
    let (args, is_all) = help::asked(args);
    let matches = help::shaped(Cli::command(), is_all).try_get_matches_from(&args);
    let matches = matches.map_err(|error| help::with_tip(error, &args))?;
    let name = matches.subcommand_name().unwrap_or_default().to_owned();
    Ok((name, Cli::from_arg_matches(&matches)?))
}

fn execute(args: &[OsString]) -> Exit {
    let (name, cli) = match parse(args) {
        Ok(parsed) => parsed,
        Err(e) => return not_parsed(args, &e),
    };
    let name = name.as_str();
    interrupt::handle(ended_json(args, name, Exit::Interrupted, "interrupted"));
    let work = move || {
        if let Some(threads) = cli.threads {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let built = pool.build_global();
            built.map_err(|e| Error::Message(format!("--threads {threads}: {e}")))?;
        }
        cli.command.run(cli.verbosity())
    };
    let Ok(result) = catch_unwind(AssertUnwindSafe(work)) else {
        // The panic hook has printed the message.
        let message = "the command panicked; its message is on stderr";
        if let Some(json) = ended_json(args, name, Exit::Panicked, message) {
            report::print_unasked(&json);
        }
        return Exit::Panicked;
    };
    result.unwrap_or_else(|e| fail(args, name, &e))
}

/// Whether the result was asked for as JSON. Arguments that could not be parsed have no option to
/// ask.
fn wants_json(args: &[OsString]) -> bool {
    args.iter().any(|argument| argument == "--json")
}

/// What --json prints if a command ends for another reason than its own error.
fn ended_json(args: &[OsString], command: &str, exit: Exit, message: &str) -> Option<String> {
    let error = Error::Message(message.to_owned());
    let json = wants_json(args).then(|| report::failure_json(command, exit, &error));
    json?.ok()
}

/// Prints an error to stderr, and with --json to stdout too.
fn fail(args: &[OsString], command: &str, error: &Error) -> Exit {
    let exit = error.exit();
    report::print_error(error);
    if wants_json(args) {
        let json = report::failure_json(command, exit, error);
        // The error is on stderr already, so a full stdout changes nothing.
        let _ = json.and_then(|json| report::print_result(&json));
    }
    exit
}

/// Prints what clap says of arguments that are no request: an error, or the help or version that
/// was asked for.
fn not_parsed(args: &[OsString], error: &clap::Error) -> Exit {
    if error.use_stderr() {
        let _ = error.print();
        if wants_json(args) {
            let error = Error::Usage(host::reason(error));
            let json = report::failure_json(&named(args), Exit::Usage, &error);
            let _ = json.and_then(|json| report::print_result(&json));
        }
        return Exit::Usage;
    }
    match error.print() {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            let error = Error::Message(format!("cannot write to stdout: {e}"));
            report::print_error(&error);
            Exit::Failed
        }
        _ => Exit::Done,
    }
}

/// The command that arguments which cannot be parsed name: a known one, or else the first word that
/// is no option. Empty if there is neither.
fn named(args: &[OsString]) -> Cow<'_, str> {
    let known = Cli::command();
    let words = || args.iter().skip(1).map(|word| word.to_string_lossy());
    let is_known = |word: &Cow<'_, str>| known.get_subcommands().any(|c| c.get_name() == &**word);
    let first = || words().find(|word| !word.starts_with('-'));
    words().find(is_known).or_else(first).unwrap_or_default()
}

impl Command {
    fn run(&self, verbosity: Verbosity) -> Result<Exit> {
        match self {
            Self::Bake(args) => bake::run(args, verbosity),
            Self::Convert(args) => convert::run(args, verbosity),
            Self::Inspect(args) => inspect::run(args, verbosity),
            Self::Check(args) => check::run(args, verbosity),
            Self::Fix(args) => fix::run(args, verbosity),
            Self::Humanoid(args) => humanoid::run(args, verbosity),
            Self::Describe(args) => describe::run(args, verbosity),
            Self::Retarget(args) => retarget::run(args, verbosity),
            Self::Animate(args) => animate::run(args, verbosity),
            Self::Render(args) => render::run(args, verbosity),
            Self::View(args) => view::run(args),
            Self::Devices(args) => devices::run(args, verbosity),
            Self::Completions(args) => completions::run(args),
        }
    }
}

/// Tells glibc to keep freed memory for later allocations.
///
/// Files are read into many large arrays that live for a moment. By default glibc returns each to
/// the kernel, which then clears the pages for the next one. For `inspect` of a file of 1 MB that
/// takes a third of the time.
fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (option, bytes) in [
        (libc::M_MMAP_THRESHOLD, 32 << 20),
        (libc::M_TRIM_THRESHOLD, 64 << 20),
        (libc::M_TOP_PAD, 4 << 20),
    ] {
        // SAFETY: mallopt changes how later allocations are served; it does not touch existing
        // ones.
        unsafe { libc::mallopt(option, bytes) };
    }
}

/// Switches Mesa's device-select layer off on a machine without a display. There the layer selects
/// nothing, and it complains on stderr, once per instance, that there is no Wayland.
fn quiet_headless_drivers() {
    let unset = |name: &str| std::env::var_os(name).is_none();
    if unset("XDG_RUNTIME_DIR") && unset("WAYLAND_DISPLAY") && unset("NODEVICE_SELECT") {
        // SAFETY: the process has one thread, and this is the first thing that it does.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a line of shell, of which some are in single quotes.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quoted = false;
        for c in line.chars() {
            match c {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                c => {
                    if let Some(word) = words.last_mut() {
                        word.push(c);
                    }
                }
            }
        }
        words
    }

    /// Every example of a help is a command line that can be run.
    #[test]
    fn examples_are_valid() {
        let mut examples = 0;
        for command in Cli::command().get_subcommands() {
            let Some(help) = command.get_after_help() else {
                continue;
            };
            let help = help.to_string();
            for line in help.lines() {
                assert!(line.len() <= 100, "{}: {line}", command.get_name());
            }
            let lines = help.lines().map(str::trim_start);
            for line in lines.filter(|l| l.starts_with("sinew ") || l.starts_with("parallel ")) {
                // Behind these are other commands.
                let line = line.split(" | ").next().unwrap_or_default();
                let line = line.split(" >").next().unwrap_or_default();
                let line = line.split(" ::: ").next().unwrap_or_default();
                let line = line.trim_start_matches("parallel ").replace("{}", "1");
                if let Err(e) = Cli::try_parse_from(words(&line)) {
                    panic!("{line}: {e}");
                }
                examples += 1;
            }
        }
        assert!(examples > 60, "{examples}");
    }
}
