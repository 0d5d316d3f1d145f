//! What can go wrong in a bake, as kinds that a caller can match.

use std::fmt;
use std::path::PathBuf;

use sinew::gpu::GpuError;
use sinew::sampled::Time;
use sinew::{Invalid, Warning};
use sinew_io::usd::COMPOSITION_CODES;

/// Shorthand for results with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong in a bake. After any error, no output appears under its name and no
/// temporary file is left. Only finished clips of a bake into clips stay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written, or its contents could not be used.
    #[error(transparent)]
    Io(Box<sinew_io::Error>),
    /// The GPU failed: there is no adapter, the device is lost, or a limit is too low.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// One attribute of one prim breaks a UsdSkel rule, and the bake cannot go on without it.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The input is readable, but nothing in it could be baked.
    #[error(transparent)]
    NothingToSkin(Box<NothingToSkin>),
    /// There is no skinned prim at a requested path or below it.
    #[error("{}: there is no skinned prim at {path} or below; skinned prims are {}", file.display(), list(known))]
    UnknownPrim {
        /// The scene's file.
        file: PathBuf,
        /// The requested path.
        path: String,
        /// The first few skinned prims of the scene.
        known: Vec<String>,
    },
    /// A requested path does not begin with `/`.
    #[error("expected an absolute prim path, found '{path}'")]
    PrimPath {
        /// The requested path.
        path: String,
    },
    /// A frame range has no frames: it ends before it begins, its step is not above 0, or its
    /// numbers are not finite.
    #[error("there are no frames from {first} to {last} in steps of {step}")]
    EmptyRange {
        /// First frame.
        first: f64,
        /// Last frame.
        last: f64,
        /// Time codes from one frame to the next.
        step: f64,
    },
    /// There are more frames than a bake allows, which is a mistake in the file or the request.
    #[error("{}: more than {most} frames {}", file.display(), between(range))]
    TooManyFrames {
        /// The scene's file.
        file: PathBuf,
        /// The largest number of frames that a bake allows.
        most: usize,
        /// First and last frame; `None` for the authored times.
        range: Option<(f64, f64)>,
    },
    /// The authored times need more data than a bake allows. Set the frames to bake.
    #[error("{}: the authored times and the frames between them need {} GB of points", file.display(), bytes >> 30)]
    TooLarge {
        /// The scene's file.
        file: PathBuf,
        /// Size of the points at all times, in bytes.
        bytes: u64,
    },
    /// There is one file per frame, but the name of the output has no placeholder for the frame
    /// number.
    #[error("{}: cannot write: {frames} frames need a placeholder for the frame number in the name, such as {}", file.display(), example.display())]
    FrameNumber {
        /// The output.
        file: PathBuf,
        /// Number of frames.
        frames: usize,
        /// An example of a name with a placeholder.
        example: PathBuf,
    },
    /// A prim could be baked at the first frame but not at a later one, although every prim must be
    /// in every frame.
    #[error("{prim}: cannot be baked at time {time}, although it could at the first frame")]
    PrimLost {
        /// Prim path.
        prim: String,
        /// The frame.
        time: Time,
    },
    /// Options do not fit each other or the format; the text says which.
    #[error("{0}")]
    Options(String),
    /// The output cannot be written, because of its name, an existing file, or a limit of the
    /// format.
    #[error("{}: cannot write: {reason}", file.display())]
    Output {
        /// The file.
        file: PathBuf,
        /// Why it cannot be written.
        reason: String,
    },
    /// The disk of the output has too little space, seen before the bake or while it was written.
    #[error("{}: cannot write: the disk {}: about {} are needed in all and {} were free, so {}", file.display(), if *is_full { "is full" } else { "is too small" }, bytes_as_text(*needed), bytes_as_text(*free), missing_space(*needed, *free))]
    DiskSpace {
        /// The output.
        file: PathBuf,
        /// Estimated size of the output, in bytes.
        needed: u64,
        /// Bytes that were free before the bake.
        free: u64,
        /// Whether the disk became full while the output was written.
        is_full: bool,
    },
    /// Clips that a stage refers to are missing.
    #[error("{}: {} of {of} clips are not there: {}", folder.display(), missing.len(), runs(missing))]
    MissingClips {
        /// The folder of the clips.
        folder: PathBuf,
        /// Number of clips of the bake.
        of: usize,
        /// Numbers of the missing clips, from 1.
        missing: Vec<usize>,
    },
    /// A clip is from another bake than the other clips.
    #[error("{}: expected a clip with {what} '{expected}', found '{found}'", file.display())]
    OtherClip {
        /// The clip.
        file: PathBuf,
        /// Name of the property that differs, such as input, options, backend or frames.
        what: String,
        /// The value in the other clips.
        expected: String,
        /// The value in this clip.
        found: String,
    },
    /// A [`FrameSink`](crate::FrameSink) failed with an error of its own.
    #[error(transparent)]
    Sink(crate::SinkError),
    /// The callback stopped the bake.
    #[error("cancelled")]
    Cancelled,
}

impl From<sinew::Error> for Error {
    fn from(error: sinew::Error) -> Self {
        match error {
            sinew::Error::Invalid(invalid) => Self::Invalid(invalid),
            other => sinew_io::Error::from(other).into(),
        }
    }
}

impl From<sinew_io::Error> for Error {
    fn from(error: sinew_io::Error) -> Self {
        match error {
            sinew_io::Error::Invalid(invalid) => Self::Invalid(invalid),
            other => Self::Io(Box::new(other)),
        }
    }
}

impl Error {
    pub(super) fn output(file: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self::Output {
            file: file.into(),
            reason: reason.into(),
        }
    }

    /// The error of a sink; if it is one of this crate, it is returned as it is.
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
    /// Whether the stage has a SkelRoot.
    pub has_skel_root: bool,
    /// Prims that could not be baked.
    pub errors: Vec<Invalid>,
    /// What was ignored while reading.
    pub warnings: Vec<Warning>,
}

/// The largest number of reasons in a message.
const MOST_REASONS: usize = 20;

impl fmt::Display for NothingToSkin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        if !self.has_skel_root {
            f.write_str("nothing to skin: the stage has no SkelRoot")?;
            // The SkelRoot may be in a file that was not found.
            let missing = self.warnings.iter();
            let missing = missing.filter(|w| COMPOSITION_CODES.contains(&w.code));
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

/// Bytes as text, such as `1.5 GB`.
#[must_use]
pub fn bytes_as_text(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} bytes"),
        _ => format!("{value:.1} {}", UNITS[unit]),
    }
}

/// How much space is missing, in words.
fn missing_space(needed: u64, free: u64) -> String {
    match needed.checked_sub(free) {
        Some(missing) if missing > 0 => {
            format!("about {} are missing", bytes_as_text(missing))
        }
        _ => "other files took the space meanwhile, or more is needed than was estimated".into(),
    }
}

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

/// Numbers as text such as `1 to 4, 7`.
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
    fn amounts_are_short() {
        assert_eq!(bytes_as_text(999), "999 bytes");
        assert_eq!(bytes_as_text(1_500), "1.5 kB");
        assert_eq!(bytes_as_text(2_340_000_000), "2.3 GB");
    }

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
