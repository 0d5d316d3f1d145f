//! Composes USD layers into a stage, resolves values, and flattens the stage into one layer.
//!
//! A [`Stage`] is opened from a root layer. Its [`Prim`]s, [`Attribute`]s and [`Relationship`]s are handles that are cheap to
//! copy. What they give is what usd-core 26.11 gives.

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
pub use metadata::{AssetMap, SpecOpinion};
pub use prim::{Predicate, Prim, Traversal};
pub use relationship::Relationship;
pub use stage::{Stage, StageOptions};
