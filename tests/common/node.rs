//! Trials that need node.js and the packages of `tests/node/package.json`, which lie in the folder that `SINEW_NODE` names
//! (tests/run.sh makes one).

use libtest_mimic::Failed;

use super::trials::Trial;

/// Why such a trial cannot run here; `None` if it can.
pub fn missing() -> Option<&'static str> {
    match std::env::var_os("SINEW_NODE") {
        Some(_) => None,
        None => Some("needs SINEW_NODE"),
    }
}

/// A trial of such scripts; without them it shows as ignored, with the reason.
pub fn trial(name: &str, run: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    Trial::test(name, run)
        .with_kind(missing().unwrap_or_default())
        .with_ignored_flag(missing().is_some())
}
