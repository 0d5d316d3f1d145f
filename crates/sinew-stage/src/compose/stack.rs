//! Layers with their sublayers.

use std::sync::Arc;

use sinew_layer::Layer;
use sinew_layer::value::LayerOffset;

/// A layer with its sublayers.
#[derive(Debug)]
pub struct LayerStack {
    /// Strongest first. The offset maps times of the layer to times of the stack's root layer.
    pub layers: Vec<StackLayer>,
}

/// One layer of a stack.
#[derive(Debug)]
pub struct StackLayer {
    /// The layer's resolved name ([`Resolver`](crate::resolver::Resolver)).
    pub identifier: String,
    pub layer: Arc<Layer>,
    /// Times of the layer to times of the stack's root layer.
    pub offset: LayerOffset,
}
