//! Composition: which specs of which layers make up each prim, strongest first.
//!
//! The rules are USD's (LIVERPS): local opinions and sublayers, inherits, variants, relocates, references, payloads, specializes.

use std::sync::Arc;

use sinew_layer::value::LayerOffset;
use sinew_layer::{Layer, Path, Spec, Token};

/// A layer with its sublayers.
#[derive(Debug)]
pub struct LayerStack {
    /// Strongest first. The offset maps times of the layer to times of the stack's root layer.
    pub layers: Vec<StackLayer>,
}

/// One layer of a stack.
#[derive(Debug)]
pub struct StackLayer {
    pub identifier: String,
    pub layer: Arc<Layer>,
    pub offset: LayerOffset,
}

/// How a node was introduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arc_ {
    Root,
}

/// One opinion: a spec of a layer that contributes to a prim.
#[derive(Clone, Copy, Debug)]
pub struct Opinion<'a> {
    /// Which node of the index.
    pub node: usize,
    /// Which layer of the node's stack.
    pub layer: &'a StackLayer,
    /// The spec's path in that layer, with variants.
    pub path: &'a Path,
    pub spec: &'a Spec,
}

/// The opinions of one prim.
#[derive(Debug)]
pub struct PrimIndex {}

impl PrimIndex {
    /// The specs of the prim, strongest first.
    pub fn opinions(&self) -> impl Iterator<Item = Opinion<'_>> {
        std::iter::empty()
    }

    /// Times of a layer to times of the stage, for an opinion.
    pub fn offset(&self, _: &Opinion<'_>) -> LayerOffset {
        LayerOffset::IDENTITY
    }

    /// A path (of a target, a connection, ...) in a node's namespace as a path of the stage; none if the arc does not reach it.
    pub fn map_to_stage(&self, _node: usize, _path: &Path) -> Option<Path> {
        None
    }

    /// Names of the child prims, in the composed order.
    pub fn child_names(&self) -> Vec<Token> {
        Vec::new()
    }
}
