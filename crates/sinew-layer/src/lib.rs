//! Reads and writes USD layers: `.usda`, `.usdc` and `.usdz` files with every value type, without composition.
//!
//! A [`Layer`] is one file's scene description: specs by [`Path`], each with fields that hold
//! [`Value`]s. [`Layer::open`] reads a file of any format. Arrays of a `.usdc` file are decoded when they are asked for
//! ([`Value::load`]).
//!
//! ```
//! use sinew_layer::{Layer, Path, Value, usda};
//!
//! let mut layer = Layer::new("hero.usda");
//! let hero = Path::parse("/Hero")?;
//! layer.define(&hero, "Xform");
//! let height = layer.attribute(&hero.property("height"), "double");
//! height.fields.set("default", Value::Double(1.8));
//! let mut text = Vec::new();
//! usda::write(&layer, &mut text)?;
//! assert!(String::from_utf8_lossy(&text).contains("double height = 1.8"));
//! # Ok::<(), sinew_layer::Error>(())
//! ```
//!
//! | module | what is in it |
//! |---|---|
//! | [`path`] | paths of prims, properties and variants |
//! | [`value`] | everything that a field can hold: arrays, splines, samples, list edits, array edits |
//! | [`layer`] | specs and fields of one layer, and the names of fields |
//! | [`usda`] | text layers, read and written |
//! | [`usdc`] | crate files, read and written; [`usdc::CrateWriter`] streams arrays |
//! | [`usdz`] | packages, read and written |
//! | [`assets`] | the asset paths that a layer names, replaced wherever they stand |
//!
//! What goes wrong is an [`enum@Error`] that says where. Files need not be trusted: time and memory are in
//! proportion to the file.

pub mod assets;
mod author;
mod error;
mod files;
pub mod layer;
mod open;
pub mod path;
pub mod usda;
pub mod usdc;
pub mod usdz;
pub mod value;

pub use error::{Error, Result};
pub use files::{Files, normalized};
pub use layer::{Fields, Layer, Spec, SpecKind};
pub use path::Path;
pub use value::{Array, Dictionary, ListOp, TimeSamples, Value};

/// A short string that is cheap to clone: a token, a name or a key.
pub use smol_str::SmolStr as Token;

/// The code of the README, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
