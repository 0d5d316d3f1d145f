//! Tests whose names are shown when they are left out.

use libtest_mimic::{Arguments, Trial};

/// A name, what is run, and whether it is left out.
pub type Named = (&'static str, fn(), bool);

/// Runs a test binary of such trials, and ends the process.
pub fn run(trials: impl IntoIterator<Item = Named>) -> ! {
    let args = Arguments::from_args();
    let trials = trials.into_iter().map(|(name, run, ignored)| {
        let trial = Trial::test(name, move || {
            run();
            Ok(())
        });
        trial.with_ignored_flag(ignored)
    });
    libtest_mimic::run(&args, trials.collect()).exit()
}
