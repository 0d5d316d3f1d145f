//! Stages: how they are composed and flattened, and their values, most of it compared with usd-core 26.11.
//!
//! `SINEW_PYTHON` names a Python with usd-core; without it the trials that compare show as ignored.
//! `SINEW_ASSETS` may name a folder of further files.

mod compose;
mod dump;
mod flatten;
#[path = "../../../../tests/common/usd_core.rs"]
mod usd_core;
mod values;

use std::path::Path;

use libtest_mimic::{Arguments, Failed};

use usd_core::{Done, against_usd_core};

fn main() {
    let mut trials = vec![compose::trial()];
    trials.extend(values::trials());
    trials.extend(flatten::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Runs a script of this folder, and gives what it prints.
fn python(script: &str, arguments: &[&Path]) -> Result<String, Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stages");
    usd_core::run(&folder, script, arguments)
}
