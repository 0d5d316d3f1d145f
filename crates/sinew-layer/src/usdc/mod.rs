//! Crate files: `.usdc`.

pub(crate) mod format;
mod write;

pub use write::{CrateWriter, Element, write_layer};

use crate::error::Result;
use crate::value::Value;

/// A value that still lies in a crate file.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {}

impl Stored {
    pub(crate) fn load(&self) -> Result<Value> {
        unimplemented!()
    }
}

/// A value that a writer has put into its file already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    pub(crate) rep: u64,
    /// Which writer's.
    pub(crate) writer: u64,
}
