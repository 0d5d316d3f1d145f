//! Trials that need a Python with usd-core 26.11, which `SINEW_PYTHON` names (tests/run.sh makes one).

use libtest_mimic::{Completion, Failed};

use super::trials::Trial;

/// A trial of such a Python; without one it shows as ignored, with the reason.
pub fn trial(name: &str, run: impl FnOnce(&str) -> Result<(), Failed> + Send + 'static) -> Trial {
    ignorable(name, |python| run(python).map(|()| Completion::Completed))
}

/// A trial that needs more of the Python than that, and finds out while it runs whether it is there.
pub fn ignorable(
    name: &str,
    run: impl FnOnce(&str) -> Result<Completion, Failed> + Send + 'static,
) -> Trial {
    let python = std::env::var("SINEW_PYTHON").ok();
    let (kind, skip) = match &python {
        Some(_) => ("", false),
        None => ("needs SINEW_PYTHON", true),
    };
    let python = python.unwrap_or_default();
    Trial::ignorable(name, move || run(&python))
        .with_kind(kind)
        .with_ignored_flag(skip)
}
