//! Trials that need a Python with usd-core 26.11, which `SINEW_PYTHON` names (tests/run.sh makes one).

use libtest_mimic::Failed;

use super::trials::Trial;

/// A trial of such a Python; without one it shows as ignored, with the reason.
pub fn trial(name: &str, run: impl FnOnce(&str) -> Result<(), Failed> + Send + 'static) -> Trial {
    let python = std::env::var("SINEW_PYTHON").ok();
    let (kind, skip) = match &python {
        Some(_) => ("", false),
        None => ("needs SINEW_PYTHON", true),
    };
    let python = python.unwrap_or_default();
    Trial::test(name, move || run(&python))
        .with_kind(kind)
        .with_ignored_flag(skip)
}
