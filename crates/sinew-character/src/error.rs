//! What can go wrong when a character is loaded or played, as kinds that a caller can match.

use std::path::PathBuf;

use sinew::Invalid;
use sinew::error::first_few;
use sinew::gpu::GpuError;

/// Shorthand for results with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be read, or has no clip of a name, or several that fit it.
    #[error(transparent)]
    Io(Box<sinew_io::Error>),
    /// The file has no mesh that a skeleton moves.
    #[error(
        "{}: expected a mesh that is bound to a skeleton, found none{}",
        file.display(),
        lines(left_out)
    )]
    NoCharacter {
        /// The file.
        file: PathBuf,
        /// Meshes and skeletons that cannot be used, with the reason.
        left_out: Vec<Invalid>,
    },
    /// No mesh has a blend shape of this name.
    #[error(
        "{}: no blend shape is named '{asked}'; there are {}",
        file.display(),
        known_names(known)
    )]
    NoSuchShape {
        /// The file.
        file: PathBuf,
        /// The requested name.
        asked: String,
        /// The blend shapes that there are.
        known: Vec<String>,
    },
    /// A clip drives this blend shape, so its weight cannot be set.
    #[error("{}: clips drive the blend shape '{shape}'", file.display())]
    PlayedShape {
        /// The file.
        file: PathBuf,
        /// The blend shape.
        shape: String,
    },
    /// A character has no instances and no results before its first update.
    #[error("{}: the character is in no crowd yet: call `update` first", file.display())]
    NotInCrowd {
        /// The file.
        file: PathBuf,
    },
    /// The crowd encoded a frame since its clock was advanced last, so the next one would show the
    /// same moment.
    #[error(
        "{}: no time has passed since the last frame: call `Crowd::advance` once per frame, with 0 \
         seconds while time stands still",
        file.display()
    )]
    NotAdvanced {
        /// The file.
        file: PathBuf,
    },
    /// A number from the caller cannot be used.
    #[error("{what}: expected {expected}, found {found}")]
    Argument {
        /// What it is.
        what: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is instead.
        found: String,
    },
    /// Something of the file, or a pose of the caller, does not fit.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The GPU failed: a lost device, no memory, a limit, a crowd that is not the character's.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

impl From<sinew_io::Error> for Error {
    fn from(error: sinew_io::Error) -> Self {
        Self::Io(Box::new(error))
    }
}

/// Largest number of names or reasons that an error lists.
const MOST: usize = 8;

fn lines(left_out: &[Invalid]) -> String {
    let shown = left_out.iter().take(MOST);
    shown.map(|error| format!("\n  {error}")).collect()
}

fn known_names(known: &[String]) -> String {
    match known {
        [] => "none".to_owned(),
        some => first_few(some, MOST),
    }
}
