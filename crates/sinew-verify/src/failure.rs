//! Why a check failed.

use std::fmt;

/// Why a check failed, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

impl From<String> for Failure {
    fn from(words: String) -> Self {
        Self(words)
    }
}

macro_rules! from_displayed {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self(error.to_string())
            }
        })*
    };
}

from_displayed!(
    &str,
    sinew::Invalid,
    sinew::gpu::GpuError,
    wgpu::PollError,
    wgpu::MapRangeError
);

/// A check's own condition.
///
/// # Errors
/// `what`, where it does not hold.
pub fn ensure(holds: bool, what: &str) -> Result<(), Failure> {
    match holds {
        true => Ok(()),
        false => Err(what.into()),
    }
}
