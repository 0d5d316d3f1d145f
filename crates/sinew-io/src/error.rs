//! What can go wrong with files, as kinds that a caller can match.

use std::path::{Path, PathBuf};

use sinew::error::Invalid;

/// The cause of an [`Error`], for [`std::error::Error::source`].
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// Shorthand for results with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong in this crate.
///
/// ```
/// let error = sinew_io::open("no/such/hero.usda").unwrap_err();
/// match &error {
///     sinew_io::Error::Open { file, source } => {
///         assert_eq!(file.to_str(), Some("no/such/hero.usda"));
///         let io = source.downcast_ref::<std::io::Error>().expect("the system's error");
///         assert_eq!(io.kind(), std::io::ErrorKind::NotFound);
///     }
///     other => panic!("{other}"),
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, parsed or composed.
    #[error("{}: cannot open: {}", file.display(), explain(source.as_ref()))]
    Open { file: PathBuf, source: Source },
    /// A file could not be written.
    #[error("{}: cannot write: {}", file.display(), explain(source.as_ref()))]
    Write { file: PathBuf, source: Source },
    /// The output is one of the files that are read.
    #[error("{}: cannot write: {reason}", output.display())]
    OutputIsInput { output: PathBuf, reason: String },
    /// The file has no clip of the name that was asked for.
    #[error("{}: no clip is named '{asked}': {}", file.display(), has(known))]
    NoSuchClip {
        file: PathBuf,
        asked: String,
        /// The clips that it has.
        known: Vec<String>,
    },
    /// Several clips fit what was asked for.
    #[error("{}: '{asked}' fits several clips; choose one of {}", file.display(), candidates.join(", "))]
    AmbiguousClip {
        file: PathBuf,
        asked: String,
        /// The clips that fit: names, or the paths of SkelAnimations.
        candidates: Vec<String>,
    },
    /// The clip that was asked for moves no skeleton of the file.
    #[error("{}: the clip {clip} fits no skeleton: {reason}", file.display())]
    ClipFitsNothing {
        file: PathBuf,
        /// The paths of its SkelAnimations.
        clip: String,
        /// The joints that it moves, and the skeletons that there are.
        reason: String,
    },
    /// A variant was asked for that the stage does not have.
    #[error("variant '{selection}': {reason}")]
    NoSuchVariant {
        /// As it was asked for: `/Prim{set=variant}`.
        selection: String,
        /// What is missing, and what there is instead.
        reason: String,
    },
    /// A search path is not a folder.
    #[error("search path: there is no folder {}", folder.display())]
    NoSuchFolder { folder: PathBuf },
    /// The file's format does not have what was asked for.
    #[error("{}: {reason}", file.display())]
    Unsupported { file: PathBuf, reason: String },
    /// The result would be larger than this crate makes it.
    #[error("{}: {reason}", file.display())]
    TooLarge { file: PathBuf, reason: String },
    /// An edit does not fit what the file holds.
    #[error("{}: {reason}", file.display())]
    Edit { file: PathBuf, reason: String },
    /// The file breaks a rule of its format.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The engine refused something.
    #[error(transparent)]
    Engine(Box<sinew::Error>),
}

impl Error {
    pub(crate) fn open(file: &Path, source: impl Into<Source>) -> Self {
        Self::Open {
            file: file.to_owned(),
            source: source.into(),
        }
    }

    pub(crate) fn write(file: &Path, source: impl Into<Source>) -> Self {
        Self::Write {
            file: file.to_owned(),
            source: source.into(),
        }
    }
}

impl From<sinew::Error> for Error {
    fn from(error: sinew::Error) -> Self {
        match error {
            sinew::Error::Invalid(invalid) => Self::Invalid(invalid),
            other => Self::Engine(Box::new(other)),
        }
    }
}

fn has(known: &[String]) -> String {
    match known.is_empty() {
        true => "it has none".to_owned(),
        false => format!("it has {}", known.join(", ")),
    }
}

/// An error's message with those of its causes, each said once.
pub(crate) fn explain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn kinds_keep_their_source() {
        let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let error = Error::open(Path::new("a.usda"), missing());
        let source = error.source().and_then(|s| s.downcast_ref());
        let kind = source.map(std::io::Error::kind);
        assert_eq!(kind, Some(std::io::ErrorKind::NotFound));
        assert!(error.to_string().starts_with("a.usda: cannot open: "));
    }

    #[test]
    fn a_clip_that_is_not_there_is_named_with_those_that_are() {
        let error = |known: &[&str]| Error::NoSuchClip {
            file: "a.glb".into(),
            asked: "Run".into(),
            known: known.iter().map(|k| (*k).to_owned()).collect(),
        };
        let text = error(&["Walk", "Idle"]).to_string();
        assert_eq!(text, "a.glb: no clip is named 'Run': it has Walk, Idle");
        assert!(error(&[]).to_string().ends_with("it has none"));
    }
}
