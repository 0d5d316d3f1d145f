//! Reads and writes USD layers: `.usda`, `.usdc` and `.usdz` files with every value type, without composition.
//!
//! A [`Layer`] is one file's scene description: specs by [`Path`], each with fields that hold
//! [`Value`]s. Arrays of a `.usdc` file stay on disk until they are asked for.
//!
//! | module | what is in it |
//! |---|---|
//! | [`path`] | paths of prims, properties and variants |
//! | [`value`] | everything that a field can hold |
//! | [`layer`] | specs and fields of one layer |
//! | [`assets`] | the asset paths that a layer names |

pub mod assets;
mod author;
mod error;
pub mod layer;
mod open;
pub mod path;
pub mod usda;
pub mod usdc;
pub mod usdz;
pub mod value;

pub use error::{Error, Result};
pub use layer::{Fields, Layer, Spec, SpecKind};
pub use path::Path;
pub use value::{Array, Dictionary, ListOp, TimeSamples, Value};

/// A short string that is cheap to clone: a token, a name or a key.
pub use smol_str::SmolStr as Token;
