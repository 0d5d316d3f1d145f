//! Composition: which specs of which layers make up each prim, strongest first.
//!
//! The rules are USD's (LIVERPS): local opinions and sublayers, inherits, variants, relocates, references, payloads, specializes.
//! [`Composer`] opens the layers and makes a [`PrimIndex`] for each prim, from its parent's.

mod arcs;
mod children;
mod composer;
mod expression;
mod finish;
mod graph;
mod implied;
mod index;
mod indexer;
mod library;
mod limits;
mod map;
mod moves;
mod paths;
mod relocates;
mod site;
mod stack;
mod strength;
#[cfg(test)]
mod tests;
mod variants;
mod work;

pub(crate) use composer::CLIP_SET_INVALID;
pub use composer::{Composer, DIAGNOSTIC_CODES, Diagnostic, Options};
pub use index::{ArcKind, InstanceKey, Node, Opinion, PrimIndex, VariantSet};
pub use limits::Limits;
pub use map::Map;
pub use stack::{LayerStack, StackLayer};
