//! Trials of one binary that holds several subjects.

use libtest_mimic::{Arguments, Completion, Failed};

/// One trial: a test that is made while the binary runs, with a name that can be put below its subject's.
pub struct Trial {
    name: String,
    kind: String,
    is_ignored: bool,
    run: Box<dyn FnOnce() -> Result<Completion, Failed> + Send>,
}

impl Trial {
    pub fn test(
        name: impl Into<String>,
        run: impl FnOnce() -> Result<(), Failed> + Send + 'static,
    ) -> Self {
        Self::ignorable(name, || run().map(|()| Completion::Completed))
    }

    /// A trial that finds out while it runs whether it can be run here, and shows as ignored with the reason where it cannot.
    pub fn ignorable(
        name: impl Into<String>,
        run: impl FnOnce() -> Result<Completion, Failed> + Send + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            kind: String::new(),
            is_ignored: false,
            run: Box::new(run),
        }
    }

    /// Shows a word before the name: why it is ignored.
    pub fn with_kind(self, kind: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            ..self
        }
    }

    pub fn with_ignored_flag(self, is_ignored: bool) -> Self {
        Self { is_ignored, ..self }
    }

    fn below(self, subject: &str) -> libtest_mimic::Trial {
        let name = match subject {
            "" => self.name,
            _ => format!("{subject}::{}", self.name),
        };
        libtest_mimic::Trial::ignorable_test(name, self.run)
            .with_kind(self.kind)
            .with_ignored_flag(self.is_ignored)
    }
}

/// Trials of functions, by their names.
#[macro_export]
macro_rules! trials {
    ($($test:ident),* $(,)?) => {
        vec![$($crate::trials::Trial::test(stringify!($test), $test)),*]
    };
}

/// A name, what is run, and whether it is left out.
pub type Named = (&'static str, fn(), bool);

/// Trials of such a list.
pub fn named(list: impl IntoIterator<Item = Named>) -> Vec<Trial> {
    let trials = list.into_iter().map(|(name, run, is_ignored)| {
        let trial = Trial::test(name, move || {
            run();
            Ok(())
        });
        trial.with_ignored_flag(is_ignored)
    });
    trials.collect()
}

/// Runs a test binary, and ends the process: each subject's trials under its name, which is empty for a binary of one subject.
pub fn run<const N: usize>(subjects: [(&str, Vec<Trial>); N]) -> ! {
    let args = Arguments::from_args();
    let trials = subjects
        .into_iter()
        .flat_map(|(subject, trials)| trials.into_iter().map(move |t| t.below(subject)));
    libtest_mimic::run(&args, trials.collect()).exit()
}

/// What a test function gives: nothing, a result, or a completion.
pub trait Ended {
    /// The end of its trial.
    fn ended(self) -> Result<Completion, Failed>;
}

impl Ended for () {
    fn ended(self) -> Result<Completion, Failed> {
        Ok(Completion::Completed)
    }
}

impl Ended for Completion {
    fn ended(self) -> Result<Completion, Failed> {
        Ok(self)
    }
}

impl<T: Ended> Ended for Result<T, Failed> {
    fn ended(self) -> Result<Completion, Failed> {
        self?.ended()
    }
}
