//! Composes USD layers into a stage, resolves values, and flattens the stage into one layer.

pub mod compose;
mod error;
pub mod resolver;

pub use error::{Error, Result};
