//! Records of the `log` crate go to Python's `logging`, or to stderr while the command runs.

use std::ffi::OsString;
use std::sync::OnceLock;

use log::{Level, LevelFilter, Log, Metadata, Record};
use pyo3::prelude::*;

/// The logger of the process: Python's, until [`as_command`] is called.
struct Bridge;

/// The logger of the command `sinew`.
static COMMAND: OnceLock<Box<dyn Log>> = OnceLock::new();

/// Installs the bridge. In a process that has a logger already, that one stays.
pub fn install() {
    if log::set_logger(&Bridge).is_ok() {
        log::set_max_level(LevelFilter::Warn);
    }
}

/// Logs as the command with these arguments does from now on, to stderr.
pub fn as_command(args: &[OsString]) {
    let logger = sinew_cli::logger(args);
    log::set_max_level(logger.filter());
    // If the command ran before, its logger stays.
    let _ = COMMAND.set(Box::new(logger));
}

/// Takes over the level of Python's logger `sinew`, so that records below it cost nothing.
pub fn take_level(py: Python<'_>) -> PyResult<()> {
    if COMMAND.get().is_some() {
        return Ok(());
    }
    let logger = py
        .import("logging")?
        .call_method1("getLogger", ("sinew",))?;
    let level: i32 = logger.call_method0("getEffectiveLevel")?.extract()?;
    log::set_max_level(match level {
        41.. => LevelFilter::Off,
        31..=40 => LevelFilter::Error,
        21..=30 => LevelFilter::Warn,
        11..=20 => LevelFilter::Info,
        6..=10 => LevelFilter::Debug,
        _ => LevelFilter::Trace,
    });
    Ok(())
}

/// Whether records of a target are about drivers, and not about the user's files.
fn is_about_drivers(target: &str, level: Level) -> bool {
    let most = match target.split("::").next().unwrap_or_default() {
        "wgpu_core" | "naga" => LevelFilter::Error,
        "wgpu_hal" => LevelFilter::Off,
        _ => LevelFilter::Trace,
    };
    level > most
}

/// The name of the Python logger of a target: `sinew_io::usd` is `sinew.io.usd`.
fn name(target: &str) -> String {
    let target = target.replace("::", ".");
    match target.strip_prefix("sinew") {
        Some(rest) => format!("sinew{}", rest.replacen('_', ".", 1)),
        None => format!("sinew.{target}"),
    }
}

impl Log for Bridge {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        match COMMAND.get() {
            Some(command) => command.enabled(metadata),
            None => !is_about_drivers(metadata.target(), metadata.level()),
        }
    }

    fn log(&self, record: &Record<'_>) {
        if let Some(command) = COMMAND.get() {
            command.log(record);
            return;
        }
        if !self.enabled(record.metadata()) {
            return;
        }
        let level = match record.level() {
            Level::Error => 40,
            Level::Warn => 30,
            Level::Info => 20,
            Level::Debug => 10,
            Level::Trace => 5,
        };
        // While the interpreter ends, nobody can be told.
        Python::try_attach(|py| {
            let told = py.import("logging").and_then(|logging| {
                let logger = logging.call_method1("getLogger", (name(record.target()),))?;
                // A message with % is no template, because it has no arguments.
                logger.call_method1("log", (level, record.args().to_string()))
            });
            if let Err(e) = told {
                e.write_unraisable(py, None);
            }
        });
    }

    fn flush(&self) {}
}
