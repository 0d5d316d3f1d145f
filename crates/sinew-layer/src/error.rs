//! What can go wrong with a layer file.

use std::path::PathBuf;

/// What can go wrong when a layer is read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened, read or written.
    #[error("{}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The file is broken.
    #[error("{file}: {place}: {reason}")]
    Malformed {
        /// The file's name, or how a layer in memory is called.
        file: String,
        /// Where: a line (`line 12, column 3`), a section with its offset (`FIELDS at 1024`) or a
        /// spec with a field (`/Char/Mesh.points timeSamples`).
        place: String,
        /// What was expected and what was found.
        reason: String,
    },
    /// The file is newer than this crate, or uses a feature that it does not read.
    #[error("{file}: {reason}")]
    Unsupported {
        /// The file's name.
        file: String,
        /// What it uses.
        reason: String,
    },
    /// The layer cannot be written in this format.
    #[error("{path}: {field}: {reason}")]
    Unwritable {
        /// The spec.
        path: String,
        /// The field.
        field: String,
        /// Why.
        reason: String,
    },
    /// A path's text is no path.
    #[error("'{text}' is not a path: {reason}")]
    Path {
        /// The text.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// A result with this crate's [`Error`](enum@Error).
pub type Result<T, E = Error> = std::result::Result<T, E>;
