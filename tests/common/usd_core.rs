//! Scripts that ask usd-core. The crates below `common` include this file by its path, so that their tests build no GPU.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Failed, Trial};

pub type Done = Result<(), Failed>;

/// A trial that needs the Python of `SINEW_PYTHON`; without one it shows as ignored.
pub fn against_usd_core(
    name: impl Into<String>,
    run: impl FnOnce() -> Done + Send + 'static,
) -> Trial {
    let python = std::env::var("SINEW_PYTHON").unwrap_or_default();
    let (kind, is_ignored) = match python.is_empty() {
        false => ("", false),
        true => ("needs SINEW_PYTHON", true),
    };
    Trial::test(name, run)
        .with_kind(kind)
        .with_ignored_flag(is_ignored)
}

/// Runs a script of a folder, and gives what it prints.
pub fn run(folder: &Path, script: &str, arguments: &[impl AsRef<OsStr>]) -> Result<String, Failed> {
    let output = Command::new(std::env::var("SINEW_PYTHON")?)
        .arg(folder.join(script))
        .args(arguments)
        .output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.success() {
        true => Ok(printed),
        false => {
            let error = String::from_utf8_lossy(&output.stderr);
            Err(format!("{script}: {printed}{error}").into())
        }
    }
}
