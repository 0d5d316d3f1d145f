//! Commands inside another program: results come back as values, and nothing is printed.

use std::cell::RefCell;
use std::ffi::OsString;
use std::ops::ControlFlow;

use image::RgbaImage;
use sinew_bake::Progress;

use crate::error::Result;
use crate::report::Verbosity;
use crate::{Exit, Failure};

/// How far a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// In a bake: how far the bake of this file is.
    Bake(Progress),
    /// Of several files, `done` are finished.
    Files {
        /// Files that are finished, also those that failed.
        done: usize,
        /// All files.
        total: usize,
    },
    /// In another command: one part of the work is done, such as reading or one picture.
    Part,
}

/// A callback that a command calls as it goes on, and that may stop it.
pub type Watch = Box<dyn FnMut(Step) -> ControlFlow<()> + Send>;

/// What a command leaves that has run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The exit code of the same command line, as `sinew --help` lists them.
    pub exit: u8,
    /// What the command prints to stdout, such as the object of `--json`.
    pub output: String,
    /// The pictures of `render`, which are not written to files.
    pub pictures: Vec<RgbaImage>,
}

/// The program that a command runs inside.
struct Host {
    watch: Watch,
    outcome: Outcome,
}

thread_local! {
    /// Set on the thread of a command that [`call`] runs.
    static HOST: RefCell<Option<Host>> = const { RefCell::new(None) };
}

/// Runs one command line without printing. `args` begins with the name of the program; progress
/// lines are off, as with `--quiet`, so add `--json` for a result.
///
/// Unlike [`run`](crate::run) it installs no handlers of signals, `--threads` makes a pool of threads
/// for this command alone, since rayon's own pool is the program's, and `render` writes no files: its
/// pictures are in the outcome.
/// `watch` hears how far the command is, on the thread that runs it.
///
/// # Errors
/// What the command prints as its error; [`Kind::Cancelled`](crate::Kind::Cancelled) if `watch`
/// stops it. Then no output appears under its name. Of several files those that are finished stay.
pub fn call(args: Vec<OsString>, watch: Watch) -> Result<Outcome, Failure> {
    let cli = match crate::parse(&args) {
        Ok((_, cli)) => cli,
        Err(e) if !e.use_stderr() => {
            return Ok(Outcome {
                output: e.render().to_string(),
                ..Outcome::default()
            });
        }
        Err(e) => return Err(Failure::usage(reason(&e))),
    };
    let threads = cli.threads;
    let run = move || {
        let outcome = Outcome::default();
        HOST.set(Some(Host { watch, outcome }));
        let ended = cli.command.run(Verbosity::Quiet);
        let outcome = HOST.take().map(|host| host.outcome).unwrap_or_default();
        let exit = ended?.code();
        Ok(Outcome { exit, ..outcome })
    };
    let work = move || match threads {
        None => run(),
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build();
            let pool = pool.map_err(|e| Failure::new(format!("--threads {threads}: {e}")))?;
            pool.install(run)
        }
    };
    let thread = std::thread::Builder::new().spawn(work);
    let thread = thread.map_err(|e| Failure::new(format!("cannot start a thread: {e}")))?;
    let ended = thread.join();
    ended.unwrap_or_else(|_| {
        let exit = Exit::Panicked.code();
        Err(Failure::new(format!(
            "the command panicked (exit code {exit}); its message is on stderr"
        )))
    })
}

/// What clap says of arguments, without its prefix and without the usage that follows.
pub(crate) fn reason(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.split("\n\n").next().unwrap_or_default();
    text.strip_prefix("error: ")
        .unwrap_or(text)
        .trim_end()
        .to_owned()
}

/// Whether this thread runs a command for another program, so that nothing is printed.
pub(crate) fn is_set() -> bool {
    HOST.with_borrow(Option::is_some)
}

/// Gives the host a text that is meant for stdout. `false` if there is no host.
pub(crate) fn take_output(text: &str) -> bool {
    HOST.with_borrow_mut(|host| {
        let Some(host) = host else { return false };
        host.outcome.output.push_str(text);
        true
    })
}

/// Gives the host a picture. Without a host it comes back, to be written to a file.
pub(crate) fn take_picture(picture: RgbaImage) -> Option<RgbaImage> {
    HOST.with_borrow_mut(|host| match host {
        Some(host) => {
            host.outcome.pictures.push(picture);
            None
        }
        None => Some(picture),
    })
}

/// Tells the host how far the command is, and asks whether to go on.
pub(crate) fn tell(step: Step) -> ControlFlow<()> {
    HOST.with_borrow_mut(|host| match host {
        Some(host) => (host.watch)(step),
        None => ControlFlow::Continue(()),
    })
}

/// As [`tell`], for commands other than bakes, whose libraries cannot be stopped: a command asks
/// between the parts of its work.
///
/// # Errors
/// The host stops the command.
pub(crate) fn go_on(step: Step) -> Result<()> {
    match tell(step) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Failure::cancelled().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    const HATCHLING: &str = "../../examples/assets/hatchling.usda";

    fn called(args: &[&str]) -> Result<Outcome, Failure> {
        let args = std::iter::once(&"sinew").chain(args).map(OsString::from);
        call(args.collect(), Box::new(|_| ControlFlow::Continue(())))
    }

    #[test]
    fn results_come_back_and_arguments_are_explained() {
        let checked = called(&["check", HATCHLING, "--json"]).unwrap();
        assert!(checked.output.starts_with("{\n  \"schema_version\": 2"));
        assert!(checked.exit < 2 && checked.pictures.is_empty());
        let failure = called(&["check", "--severity", "awful"]).unwrap_err();
        assert_eq!(failure.kind, Kind::Usage);
        assert!(
            failure.message.starts_with("invalid value 'awful'"),
            "{failure}"
        );
        assert!(!failure.message.contains("Usage:"), "{failure}");
    }

    #[test]
    fn a_command_has_as_many_threads_as_it_asks_for() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.usdc");
        for threads in ["1", "3"] {
            let args = ["bake", HATCHLING, "--backend", "cpu", "--json", "-o"];
            let more = [out.to_str().unwrap(), "--threads", threads];
            let baked = called(&[&args[..], &more].concat()).unwrap();
            let report: serde_json::Value = serde_json::from_str(&baked.output).unwrap();
            let backend = report["backend"].as_str().unwrap();
            assert!(backend.contains(&format!("{threads} thread")), "{backend}");
        }
    }

    #[test]
    fn a_bake_stops_when_the_host_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.usdc");
        let args = ["sinew", "bake", HATCHLING, "--backend", "cpu", "-o"];
        let args = args.map(OsString::from).into_iter();
        let stop = Box::new(|_| ControlFlow::Break(()));
        let failure = call(args.chain([out.into()]).collect(), stop).unwrap_err();
        assert_eq!(failure.kind, Kind::Cancelled);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn long_commands_stop_between_their_parts_and_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let [usda, png] = ["out.usda", "out.png"].map(|name| folder.path().join(name));
        let puppet = "../../examples/assets/puppet.glb";
        let commands: [(&[&str], _); 4] = [
            (&["convert", puppet], &usda),
            (&["convert", HATCHLING, "--flatten"], &usda),
            (&["retarget", puppet, puppet], &usda),
            (
                &["render", HATCHLING, "--sheet", "2x2", "--size", "320x240"],
                &png,
            ),
        ];
        for (words, out) in commands {
            for before in 0..100 {
                let args = ["sinew"].iter().chain(words).map(OsString::from);
                let args = args.chain(["-o".into(), out.into()]);
                let mut steps = 0;
                let watch = move |_| {
                    steps += 1;
                    match steps > before {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    }
                };
                match call(args.collect(), Box::new(watch)) {
                    Err(failure) if failure.kind == Kind::Gpu => break,
                    Err(failure) => assert_eq!(failure.kind, Kind::Cancelled, "{failure}"),
                    Ok(outcome) => {
                        // At the last step there is nothing left to do.
                        assert!(before > 1 && outcome.exit == 0, "{words:?} {before}");
                        break;
                    }
                }
                let left = folder.path().read_dir().unwrap().count();
                assert_eq!(left, 0, "{words:?} stopped after {before} steps");
            }
            for entry in folder.path().read_dir().unwrap().flatten() {
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
    }

    #[test]
    fn files_that_are_missing_are_a_kind_of_their_own() {
        let failure = called(&["convert", "no/such.glb", "-o", "x.usda"]).unwrap_err();
        assert_eq!(failure.kind, Kind::File);
        assert_eq!(failure.file, Some("no/such.glb".into()));
    }
}
