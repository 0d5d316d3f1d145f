//! Stages: how they are composed and flattened, and their values, most of it compared with usd-core 26.11.
//!
//! `SINEW_PYTHON` names a Python with usd-core; without it the trials that compare show as ignored.
//! `SINEW_ASSETS` may name a folder of further files.

mod compose;
mod dump;
mod flatten;
mod values;

use std::path::Path;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

type Done = Result<(), Failed>;

fn main() {
    let mut trials = vec![compose::trial()];
    trials.extend(values::trials());
    trials.extend(flatten::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn against_usd_core(name: impl Into<String>, run: impl FnOnce() -> Done + Send + 'static) -> Trial {
    let python = std::env::var("SINEW_PYTHON").unwrap_or_default();
    let (kind, is_ignored) = match python.is_empty() {
        false => ("", false),
        true => ("needs SINEW_PYTHON", true),
    };
    Trial::test(name, run)
        .with_kind(kind)
        .with_ignored_flag(is_ignored)
}

/// Runs a script of this folder, and gives what it prints.
fn python(script: &str, arguments: &[&Path]) -> Result<String, Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stages");
    let output = Command::new(std::env::var("SINEW_PYTHON")?)
        .arg(folder.join(script))
        .args(arguments)
        .output()?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{script}: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}
