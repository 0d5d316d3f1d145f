//! Composes USD layers into a stage, resolves values, and flattens the stage into one layer.
//!
//! A [`Stage`] is opened from a root layer. Its [`Prim`]s, [`Attribute`]s and [`Relationship`]s are handles that are cheap to
//! copy. What they give is what usd-core 26.11 gives.
//!
//! ```
//! use std::sync::Arc;
//! use sinew_stage::{Predicate, Stage, StageOptions, resolver::FileResolver};
//!
//! let resolver = Arc::new(FileResolver::default());
//! let stage = Stage::open(StageOptions::new(resolver, "../../examples/assets/hatchling.usda"))?;
//! let mut meshes = stage.traverse(Predicate::DEFAULT).filter(|prim| prim.is_a("Mesh"));
//! assert!(meshes.next().expect("a mesh").attribute("points").get(None)?.is_some());
//! # Ok::<(), sinew_stage::Error>(())
//! ```
//!
//! | module | what is in it |
//! |---|---|
//! | [`stage`] | stages: layers, metadata, prims by path, edits of layers |
//! | [`prim`] | prims, their children and properties, and which prims a traversal visits |
//! | [`attribute`] | values at any time: defaults, samples, splines, clips, fallbacks |
//! | [`relationship`] | targets, forwarded too |
//! | [`resolver`] | from asset paths to layers: files, packages, layers in memory |
//! | [`compose`] | which specs make up a prim, strongest first; how large a stage may grow |
//! | [`flatten`] | the composed stage as one layer |
//!
//! A layer that cannot be read, or an arc that leads nowhere, is one of [`Stage::diagnostics`]; the rest of the stage is
//! there. Only a root layer that cannot be read, and a stage beyond its [`compose::Limits`], is an [`enum@Error`].

pub mod attribute;
mod clips;
pub mod compose;
mod error;
mod expression;
pub mod flatten;
mod interpolate;
mod metadata;
mod names;
mod population;
pub mod prim;
pub mod relationship;
pub mod resolver;
mod schema;
pub mod stage;
mod targets;

pub use attribute::{Attribute, ResolvedAsset, Source};
pub use error::{Error, Result};
pub use metadata::SpecOpinion;
pub use prim::{Predicate, Prim, Traversal};
pub use relationship::Relationship;
pub use stage::{Stage, StageOptions};

/// The code of the README, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
