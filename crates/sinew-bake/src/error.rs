//! What can go wrong in a bake, as kinds that a caller can match.

use std::fmt;
use std::path::PathBuf;

use sinew::gpu::GpuError;
use sinew::sampled::Time;
use sinew::{Invalid, Warning};

/// Shorthand for results with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong in a bake. Whichever it is, no output appears under its name and
/// nothing half-written is left, except finished clips of a bake into clips.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written, or what it holds could not be used.
    #[error(transparent)]
    Io(Box<sinew::Error>),
    /// The GPU failed: no adapter, a lost device, a limit.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// One attribute of one prim breaks a UsdSkel rule, and the bake cannot go on without it.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The input is readable, but nothing in it could be baked.
    #[error(transparent)]
    NothingToSkin(Box<NothingToSkin>),
    /// No skinned prim is at a path that was asked for, nor below it.
    #[error("{}: no skinned prim is at {path} or below; skinned prims are {}", file.display(), list(known))]
    UnknownPrim {
        /// The scene's file.
        file: PathBuf,
        /// The path that was asked for.
        path: String,
        /// The first few skinned prims of the scene.
        known: Vec<String>,
    },
    /// A prim was asked for by a path that does not begin with `/`.
    #[error("'{path}': expected an absolute prim path")]
    PrimPath {
        /// The path that was asked for.
        path: String,
    },
    /// A frame range without a frame: it ends before it begins, has a step that is not above zero, or
    /// numbers that are not finite.
    #[error("no frames from {first} to {last} in steps of {step}")]
    EmptyRange {
        /// First frame.
        first: f64,
        /// Last frame.
        last: f64,
        /// Time codes from one frame to the next.
        step: f64,
    },
    /// More frames than a bake makes: a mistake in the file or the request.
    #[error("{}: more than {most} frames {}", file.display(), between(range))]
    TooManyFrames {
        /// The scene's file.
        file: PathBuf,
        /// The most frames that a bake makes.
        most: usize,
        /// First and last frame; `None` for the authored times.
        range: Option<(f64, f64)>,
    },
    /// The authored times make more data than a bake makes without being asked for certain frames.
    #[error("{}: the authored times and the frames between them make {} GB of points", file.display(), bytes >> 30)]
    TooLarge {
        /// The scene's file.
        file: PathBuf,
        /// Size of the points of all times.
        bytes: u64,
    },
    /// Several frames go to files of one each, and the output's name has no place for their number.
    #[error("{}: cannot write: {frames} frames need a place for the number in the name, such as {}", file.display(), example.display())]
    FrameNumber {
        /// The output.
        file: PathBuf,
        /// How many frames there are.
        frames: usize,
        /// A name that has a place.
        example: PathBuf,
    },
    /// A prim could be baked at the first frame and cannot at a later one, in a bake in which every
    /// prim has every frame.
    #[error("{prim}: nothing came out at time {time}")]
    PrimLost {
        /// Prim path.
        prim: String,
        /// The frame.
        time: Time,
    },
    /// Options that fit neither each other nor the format.
    #[error("{0}")]
    Options(String),
    /// The output cannot be written as asked: its name, what is there already, or what the format can
    /// hold.
    #[error("{}: cannot write: {reason}", file.display())]
    Output {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Clips that a stage goes over are not there.
    #[error("{}: {} of {of} clips are not there: {}", folder.display(), missing.len(), runs(missing))]
    MissingClips {
        /// The folder of the clips.
        folder: PathBuf,
        /// How many there have to be.
        of: usize,
        /// Numbers of those that are missing, from 1.
        missing: Vec<usize>,
    },
    /// A clip is of another bake than the stage that goes over it.
    #[error("{}: its {what} is '{found}', where the bake to stitch has '{expected}'", file.display())]
    OtherClip {
        /// The clip.
        file: PathBuf,
        /// What differs: input, options, backend, frames.
        what: String,
        /// What the stage needs.
        expected: String,
        /// What the clip has.
        found: String,
    },
    /// A [`FrameSink`](crate::FrameSink) failed.
    #[error(transparent)]
    Sink(crate::SinkError),
    /// No thread could be started.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] std::io::Error),
    /// The progress callback asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl From<sinew::Error> for Error {
    fn from(error: sinew::Error) -> Self {
        match error {
            sinew::Error::Gpu(e) => Self::Gpu(e),
            sinew::Error::Invalid(e) => Self::Invalid(e),
            other => Self::Io(Box::new(other)),
        }
    }
}

impl From<sinew_io::Error> for Error {
    fn from(error: sinew_io::Error) -> Self {
        sinew::Error::from(error).into()
    }
}

impl Error {
    pub(super) fn output(file: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self::Output {
            file: file.into(),
            reason: reason.into(),
        }
    }

    /// What a sink says: an error of this crate where it is one.
    pub(super) fn of_sink(error: crate::SinkError) -> Self {
        match error.downcast::<Self>() {
            Ok(own) => *own,
            Err(other) => Self::Sink(other),
        }
    }
}

/// Why nothing could be baked.
#[derive(Debug)]
#[non_exhaustive]
pub struct NothingToSkin {
    /// The scene's file.
    pub file: PathBuf,
    /// Whether there is a SkelRoot at all.
    pub has_skel_root: bool,
    /// Prims that could not be baked.
    pub errors: Vec<Invalid>,
    /// What was overlooked.
    pub warnings: Vec<Warning>,
}

/// Reasons that a message lists.
const MOST_REASONS: usize = 20;

impl fmt::Display for NothingToSkin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        if !self.has_skel_root {
            f.write_str("nothing to skin: the stage has no SkelRoot")?;
            // It may be in a file that was not found.
            let missing = self.warnings.iter().filter(|w| w.code == "composition");
            for warning in missing.take(MOST_REASONS) {
                write!(f, "\n  {}", warning.message)?;
            }
            return Ok(());
        }
        f.write_str("nothing could be skinned")?;
        let warnings = self.warnings.iter();
        let warnings =
            warnings.filter(|w| !matches!(w.code, "normals-left" | "animation-source-ignored"));
        let coded = |e: &Invalid| match e.code {
            Some(code) => format!("{e} [{code}]"),
            None => e.to_string(),
        };
        let errors = self.errors.iter().map(coded);
        let mut reasons = errors.chain(warnings.map(ToString::to_string)).peekable();
        if reasons.peek().is_none() {
            return f.write_str(
                ": no prim below a SkelRoot is bound to a Skeleton with influences or blend shapes",
            );
        }
        for reason in reasons.take(MOST_REASONS) {
            write!(f, "\n  {reason}")?;
        }
        Ok(())
    }
}

impl std::error::Error for NothingToSkin {}

fn list(names: &[String]) -> String {
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    }
}

fn between(range: &Option<(f64, f64)>) -> String {
    match range {
        Some((first, last)) => format!("from {first} to {last}"),
        None => "between the first and the last authored time".to_owned(),
    }
}

/// `1 to 4, 7`.
fn runs(numbers: &[usize]) -> String {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for n in numbers {
        match out.last_mut() {
            Some((_, last)) if *last + 1 == *n => *last = *n,
            _ => out.push((*n, *n)),
        }
    }
    let text = out.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    });
    text.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_listed_in_runs() {
        assert_eq!(runs(&[1, 2, 3, 7, 9, 10]), "1 to 3, 7, 9 to 10");
    }

    #[test]
    fn a_sinks_error_of_this_crate_stays_what_it_is() {
        let own = Error::of_sink(Box::new(Error::Cancelled));
        assert!(matches!(own, Error::Cancelled));
        let other = Error::of_sink("the socket is closed".into());
        assert!(matches!(other, Error::Sink(_)));
        assert_eq!(other.to_string(), "the socket is closed");
    }
}
