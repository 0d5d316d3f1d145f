//! The error of a command.

use std::fmt;
use std::path::Path;

use sinew::Invalid;
use sinew::gpu::GpuError;

use crate::exit::Exit;
use crate::failure::{Failure, Kind};

/// A result with a command's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a command failed: the errors of all libraries, as the one line that is printed.
#[derive(Debug)]
pub enum Error {
    /// An attribute or a file is invalid. The line ends with its code.
    Invalid(Invalid),
    /// Arguments that are wrong whatever the files contain. The exit code is 2.
    Usage(String),
    /// An error of a library, which a program that runs the command can match.
    Failed(Box<Failure>),
    /// Any other error, and requests that a command refuses.
    Message(String),
}

impl Error {
    /// The error of an output whose name does not fit the request.
    pub fn bad_output(file: &Path, reason: impl fmt::Display) -> Self {
        Self::Usage(format!("{}: cannot write: {reason}", file.display()))
    }

    /// How a command with this error ends.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Failed(failure) if failure.kind == Kind::Usage => Exit::Usage,
            Self::Invalid(_) | Self::Failed(_) | Self::Message(_) => Exit::Failed,
        }
    }

    /// Whether the program that runs the command has stopped it.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Failed(failure) if failure.kind == Kind::Cancelled)
    }

    /// The stable code of the error, if it has one.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Invalid(invalid) => invalid.code,
            Self::Failed(failure) => failure.code,
            Self::Usage(_) | Self::Message(_) => None,
        }
    }

    /// The error of an output that cannot be written.
    pub fn write(file: &Path, reason: impl fmt::Display) -> Self {
        Self::Message(format!("{}: cannot write: {reason}", file.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(invalid) => f.write_str(&with_code(invalid)),
            Self::Failed(failure) => failure.fmt(f),
            Self::Usage(text) | Self::Message(text) => f.write_str(text),
        }
    }
}

/// The text of an invalid attribute, with its code in brackets. `sinew check --codes` explains the
/// code.
pub fn with_code(invalid: &Invalid) -> String {
    match invalid.code {
        Some(code) => format!("{invalid} [{code}]"),
        None => invalid.to_string(),
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

/// Errors of libraries that a program which runs the command can match.
macro_rules! failures {
    ($($error:ty),*) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Failure::from(error).into()
            }
        }
    )*};
}

failures!(GpuError, sinew::Error, sinew_io::Error, sinew_render::Error);

impl From<sinew_animate::Error> for Error {
    fn from(error: sinew_animate::Error) -> Self {
        match error {
            sinew_animate::Error::Invalid(invalid) => Self::Invalid(invalid),
            other => Self::Message(other.to_string()),
        }
    }
}

impl From<sinew_check::Error> for Error {
    fn from(error: sinew_check::Error) -> Self {
        match error {
            sinew_check::Error::Io(error) => error.into(),
            sinew_check::Error::UnknownCode { .. } | sinew_check::Error::NotFixable { .. } => {
                Self::Usage(error.to_string())
            }
            other => Self::Message(other.to_string()),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Invalid(invalid) => invalid.into(),
            Error::Usage(text) => Self::usage(text),
            Error::Failed(failure) => *failure,
            Error::Message(text) => Self::new(text),
        }
    }
}
