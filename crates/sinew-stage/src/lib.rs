//! Composes USD layers into a stage, resolves values, and flattens the stage into one layer.

pub mod attribute;
pub mod compose;
mod error;
pub mod prim;
pub mod relationship;
pub mod resolver;
pub mod stage;

pub use attribute::{Attribute, ResolvedAsset, Source};
pub use error::{Error, Result};
pub use prim::{Predicate, Prim, Traversal};
pub use relationship::Relationship;
pub use stage::{Stage, StageOptions};
