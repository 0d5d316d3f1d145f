//! What can go wrong when a clip is moved to another character.

use std::path::PathBuf;

use sinew::Invalid;

/// Shorthand for results with this module's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// One of the two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one with the clip.
    Source,
    /// The one that the clip is moved to.
    Target,
}

/// Everything that can go wrong in this module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file has no clip.
    #[error("{}: no clip in this file", file.display())]
    NoClip { file: PathBuf },
    /// The file has no skeleton. `needs_model` says that a clip was found, and that another file
    /// may have its skeleton ([`super::SourceRequest::model`]).
    #[error("{}: no skeleton in this file{}", file.display(), if *needs_model { NEEDS_MODEL } else { "" })]
    NoSkeleton { file: PathBuf, needs_model: bool },
    /// There is no skeleton at the path that was asked for.
    #[error("{}: no skeleton at {path}; the file has {}", file.display(), known.join(", "))]
    NoSuchSkeleton {
        file: PathBuf,
        path: String,
        known: Vec<String>,
    },
    /// The file has several skeletons, and none was asked for.
    #[error("{}: the file has several skeletons: {}", file.display(), paths.join(", "))]
    SeveralSkeletons {
        file: PathBuf,
        side: Side,
        paths: Vec<String>,
    },
    /// No skeleton has the joints that the clip moves.
    #[error("{}: no skeleton in this file has the joints that the clip moves", file.display())]
    FitsNoSkeleton { file: PathBuf },
    /// Not one clip alone moves the skeleton.
    #[error("{}: {}; {}", file.display(), no_bound_clip(skeleton, *was_asked), has(clips))]
    NoBoundClip {
        file: PathBuf,
        skeleton: String,
        /// Whether a clip was asked for.
        was_asked: bool,
        /// The clips that fit, or all if none does.
        clips: Vec<String>,
    },
    /// USD ignores the clip.
    #[error(
        "{}: {clip} has no effect in USD: expected translations, rotations and scales that are finite, one for each of its joints",
        file.display()
    )]
    NoEffect { file: PathBuf, clip: String },
    /// A file cannot be read.
    #[error(transparent)]
    Io(Box<crate::Error>),
    /// The joints cannot be matched, or the clip cannot be moved.
    #[error(transparent)]
    Animate(Box<sinew_animate::Error>),
    /// A value breaks a rule.
    #[error(transparent)]
    Invalid(Box<Invalid>),
}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Self {
        Self::Io(Box::new(error))
    }
}

impl From<sinew_animate::Error> for Error {
    fn from(error: sinew_animate::Error) -> Self {
        Self::Animate(Box::new(error))
    }
}

impl From<Invalid> for Error {
    fn from(error: Invalid) -> Self {
        Self::Invalid(Box::new(error))
    }
}

const NEEDS_MODEL: &str = "; a clip needs the skeleton that it was made for, because rotations are measured from its bind pose";

fn no_bound_clip(skeleton: &str, was_asked: bool) -> String {
    match was_asked {
        true => format!("no single clip moves {skeleton}"),
        false => format!("no clip is bound to {skeleton}"),
    }
}

fn has(clips: &[String]) -> String {
    match clips.is_empty() {
        true => "the file has none".to_owned(),
        false => format!("the file has {}", clips.join(", ")),
    }
}
