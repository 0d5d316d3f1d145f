//! What can go wrong with humanoids and rigs, as kinds that a caller can match.

use std::path::PathBuf;

use sinew::error::Invalid;

/// Shorthand for results with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The model has no humanoid skeleton of the number that was asked for.
    #[error("{}: {}", file.display(), skeletons(*count, *asked))]
    NoHumanoid {
        file: PathBuf,
        asked: usize,
        /// How many it has.
        count: usize,
    },
    /// The names of a model's joints follow no known convention.
    #[error(
        "{}: the joints' names follow no known convention{closest}; write a map; the best guess is {{{guess}}}",
        file.display()
    )]
    UnknownNames {
        file: PathBuf,
        /// The convention that fits best, in brackets, or nothing.
        closest: String,
        /// Bones and nodes, as JSON without its braces.
        guess: String,
    },
    /// A humanoid cannot be described by a model's joints.
    #[error("{}: {reason}", file.display())]
    NotDescribable { file: PathBuf, reason: String },
    /// Nothing of a clip moves the model.
    #[error(
        "{}: nothing of clip \"{clip}\" moves a bone or an expression of {}{}",
        file.display(),
        model.display(),
        if *has_humanoid { "" } else { "; the clip's file has no humanoid map" }
    )]
    NothingMoves {
        file: PathBuf,
        clip: String,
        model: PathBuf,
        /// Whether the clip's file has a humanoid map. Without one the clip may still be retargeted by joint names.
        has_humanoid: bool,
    },
    /// A bone map does not fit its rigs.
    #[error("{0}")]
    BoneMap(String),
    /// The root bone that was asked for is no joint of the source that a joint of the target follows.
    #[error("{0}")]
    NoRootBone(String),
    /// The arms cannot be opened or closed as asked.
    #[error("{0}")]
    ArmSpace(String),
    /// A rig stands in a transform that has no inverse.
    #[error("{rig} stands in a transform that has no inverse")]
    NoInverse { rig: String },
    /// A value breaks a rule.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// For callers whose own errors are the engine's: the message stays.
impl From<Error> for sinew::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Invalid(invalid) => Self::Invalid(invalid),
            other => Self::Request(other.to_string()),
        }
    }
}

fn skeletons(count: usize, asked: usize) -> String {
    match count {
        0 => "has no humanoid skeleton (EXT_skeleton_humanoid or VRM)".to_owned(),
        1 => format!("has one humanoid skeleton, number 0, and none with number {asked}"),
        n => format!(
            "has humanoid skeletons 0 to {}, and none with number {asked}",
            n - 1
        ),
    }
}
