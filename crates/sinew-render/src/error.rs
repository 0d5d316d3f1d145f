//! What can go wrong when a stage is read, posed or drawn, as kinds that a caller can match.

use std::path::PathBuf;

use sinew::gpu::GpuError;

/// Shorthand for results with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read, or a picture could not be written.
    #[error(transparent)]
    Io(Box<sinew_io::Error>),
    /// The stage has neither a mesh with faces nor a skeleton with joints.
    #[error(
        "{}: nothing to draw: expected a mesh with faces whose purpose is drawn, or a skeleton; found neither{}",
        file.display(),
        lines(messages)
    )]
    NothingToDraw {
        /// The stage's file.
        file: PathBuf,
        /// Parts of the file that are not drawn, and why.
        messages: Vec<String>,
    },
    /// The GPU failed: a lost device, no memory, a limit.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

impl From<sinew_io::Error> for Error {
    fn from(error: sinew_io::Error) -> Self {
        Self::Io(Box::new(error))
    }
}

/// Largest number of messages that an error lists.
const MOST_MESSAGES: usize = 20;

fn lines(messages: &[String]) -> String {
    let shown = messages.iter().take(MOST_MESSAGES);
    shown.map(|message| format!("\n  {message}")).collect()
}
