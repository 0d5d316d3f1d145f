//! What can go wrong in this crate, as kinds that a caller can match.

/// Shorthand for results with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong in this crate.
///
/// ```
/// use sinew_check::{Error, FixOptions, fix};
///
/// let file = sinew_io::open("../../examples/assets/hatchling.usda")?;
/// let mut options = FixOptions::default();
/// options.only = vec!["joint-order".to_owned()];
/// let error = fix(&file, None, &options).unwrap_err();
/// assert!(matches!(error, Error::NotFixable { code } if code == "joint-order"));
/// # Ok::<(), sinew_io::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// [`FixOptions::only`](crate::FixOptions::only) has a code that no finding has.
    #[error("there is no code '{code}'")]
    UnknownCode {
        /// The code that was asked for.
        code: String,
    },
    /// [`FixOptions::only`](crate::FixOptions::only) has a code whose findings cannot be fixed
    /// without guessing.
    #[error("findings of code '{code}' cannot be fixed without guessing")]
    NotFixable {
        /// The code that was asked for.
        code: String,
    },
    /// A file could not be opened, read or written.
    #[error(transparent)]
    Io(#[from] sinew_io::Error),
}
