//! The opinions of one prim.

use std::collections::BTreeMap;
use std::sync::Arc;

use sinew_layer::value::LayerOffset;
use sinew_layer::{Path, Spec, Token};

use super::map::Map;
use super::stack::{LayerStack, StackLayer};

/// How a node was introduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArcKind {
    Root,
    Inherit,
    Variant,
    Relocate,
    Reference,
    Payload,
    Specialize,
}

/// One site that contributes to a prim: a path in a layer stack.
#[derive(Clone, Debug)]
pub struct Node {
    pub stack: Arc<LayerStack>,
    /// The path in the layers of the stack, with variants.
    pub path: Path,
    pub kind: ArcKind,
    /// The node that this one was added to; none for the root.
    pub parent: Option<usize>,
    /// The node whose arc this one was made from. It differs from the parent for implied classes and for specializes,
    /// which are moved to the root.
    pub origin: Option<usize>,
    /// Paths and times of this node to those of the stage.
    pub map: Map,
    /// Whether any layer of the stack has a spec at the path that counts.
    pub has_specs: bool,
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

/// A variant set of a prim with all variants that any opinion has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantSet {
    pub name: Token,
    pub variants: Vec<Token>,
    /// The variant that was selected; none if there is no selection.
    pub selection: Option<Token>,
}

/// What decides about the prims below an instance: instances with equal keys share one prototype.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InstanceKey(Arc<[(usize, Path)]>);

/// The opinions of one prim.
#[derive(Clone, Debug)]
pub struct PrimIndex {
    pub(super) path: Path,
    pub(super) nodes: Box<[Node]>,
}

impl PrimIndex {
    /// The prim's path in the stage.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The sites that contribute, strongest first. The first is the root.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The specs of the prim, strongest first.
    pub fn opinions(&self) -> impl Iterator<Item = Opinion<'_>> {
        self.nodes.iter().enumerate().flat_map(|(node, n)| {
            n.stack.layers.iter().filter_map(move |layer| {
                Some(Opinion {
                    node,
                    layer,
                    path: &n.path,
                    spec: layer.layer.spec(&n.path)?,
                })
            })
        })
    }

    /// Times of a layer to times of the stage, for an opinion.
    #[must_use]
    pub fn offset(&self, opinion: &Opinion<'_>) -> LayerOffset {
        let node = self.nodes[opinion.node].map.offset();
        node.after(&opinion.layer.offset)
    }

    /// A path (of a target, a connection, ...) in a node's namespace as a path of the stage; none if the arc does not reach it.
    #[must_use]
    pub fn map_to_stage(&self, node: usize, path: &Path) -> Option<Path> {
        self.nodes[node].map.to_target(path)
    }

    /// Names of the child prims, in the composed order.
    #[must_use]
    pub fn child_names(&self) -> Vec<Token> {
        let mut names: Vec<Token> = Vec::new();
        for opinion in self.opinions() {
            for name in opinion.spec.children() {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
        }
        names
    }

    /// Whether the prim is an instance: `instanceable` is true and it has an arc whose opinions can be shared.
    #[must_use]
    pub fn is_instanceable(&self) -> bool {
        false
    }

    /// The key of the prototype that an instance shares. None if the prim is no instance.
    #[must_use]
    pub fn instance_key(&self) -> Option<InstanceKey> {
        None
    }

    /// The variant that was selected in each set, whether an opinion selects it or a fallback.
    #[must_use]
    pub fn variant_selections(&self) -> BTreeMap<Token, Token> {
        BTreeMap::new()
    }

    /// The variant sets of the prim, with the variants of all opinions.
    #[must_use]
    pub fn variant_sets(&self) -> Vec<VariantSet> {
        Vec::new()
    }
}
