//! What can go wrong with humanoids and rigs, as kinds that a caller can match.

use std::path::PathBuf;

use sinew::error::Invalid;

use crate::retarget::NoMatch;

/// Shorthand for results with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The model has no humanoid skeleton with the index that was asked for.
    #[error("{}: {}", file.display(), skeletons(*count, *asked))]
    NoHumanoid {
        /// The model.
        file: PathBuf,
        /// The index that was asked for, from 0.
        asked: usize,
        /// How many humanoid skeletons the model has.
        count: usize,
    },
    /// The joints of a model show no human body.
    #[error(
        "{}: {reason}: a map of the bones is needed; the best guess is {{{guess}}}",
        file.display()
    )]
    UnknownNames {
        /// The model.
        file: PathBuf,
        /// Why no body is recognised.
        reason: String,
        /// The most likely map, as JSON from bones to nodes without the outer braces.
        guess: String,
    },
    /// A humanoid skeleton cannot be made from the joints of a model.
    #[error("{}: {reason}", file.display())]
    NotDescribable {
        /// The model.
        file: PathBuf,
        /// Why not.
        reason: String,
    },
    /// No track of a clip moves a bone or an expression of the model.
    #[error(
        "{}: nothing of clip \"{clip}\" moves a bone or an expression of {}{}",
        file.display(),
        model.display(),
        if *has_humanoid { "" } else { "; the clip's file has no humanoid map" }
    )]
    NothingMoves {
        /// The clip's file.
        file: PathBuf,
        /// Name of the clip.
        clip: String,
        /// The model.
        model: PathBuf,
        /// Whether the clip's file has a humanoid map. If not, the clip may still be retargeted by
        /// joint names.
        has_humanoid: bool,
    },
    /// A bone map does not fit its rigs; the text says why.
    #[error("{0}")]
    BoneMap(String),
    /// The root bone that was asked for is not a source joint of any pair; the text lists those
    /// that are.
    #[error("{0}")]
    NoRootBone(String),
    /// The arms cannot be opened or closed by the given angle; the text says why.
    #[error("{0}")]
    ArmSpace(String),
    /// The joints of two rigs cannot be matched.
    #[error("{0}")]
    NoMatch(Box<NoMatch>),
    /// No leg of a rig is paired whole: upper leg, lower leg and foot.
    #[error(
        "{rig}: feet cannot be locked, because upper leg, lower leg and foot of no side follow the source"
    )]
    NoLegs {
        /// Label of the rig.
        rig: String,
    },
    /// The world transform of a rig is singular.
    #[error("{rig}: its world transform has no inverse")]
    NoInverse {
        /// Label of the rig.
        rig: String,
    },
    /// A value of a skeleton, clip or map breaks a rule.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

fn skeletons(count: usize, asked: usize) -> String {
    match count {
        0 => "has no humanoid skeleton (EXT_skeleton_humanoid or VRM)".to_owned(),
        1 => format!("expected a humanoid skeleton with number {asked}, found one, with number 0"),
        n => format!(
            "expected a humanoid skeleton with number {asked}, found those with numbers 0 to {}",
            n - 1
        ),
    }
}
