//! What can go wrong with a stage.

/// What can go wrong when a stage is opened or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A layer cannot be read.
    #[error(transparent)]
    Layer(#[from] sinew_layer::Error),
    /// No layer of the stage has this identifier.
    #[error("no layer of the stage is called '{0}'")]
    NoSuchLayer(String),
    /// The stage would grow beyond its limits.
    #[error("{prim}: {reason}")]
    TooLarge {
        /// The prim at which the limit was reached.
        prim: String,
        /// Which limit, and how far it was exceeded.
        reason: String,
    },
}

/// A result with this crate's [`Error`](enum@Error).
pub type Result<T, E = Error> = std::result::Result<T, E>;
