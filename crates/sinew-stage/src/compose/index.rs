//! The opinions of one prim.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use sinew_layer::value::LayerOffset;
use sinew_layer::{Path, Spec, Token};

use super::graph::walk_instanceable;
use super::map::Map;
use super::site;
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
    /// Paths and times of this node to those of its parent.
    pub(super) to_parent: Map,
    /// The arc's number in the list of arcs at its origin.
    pub(super) sibling: u32,
    /// The depth in namespace of the prim that has the arc.
    pub(super) depth: usize,
    /// How many arcs lead to it. The copy of a specialized class is where its place is.
    pub(super) arcs: u16,
    /// From how many path elements on its specs do not count; 0 if all count.
    pub(super) restricted: usize,
    /// Whether an ancestor of the prim has the arc.
    pub(super) ancestral: bool,
    /// Whether its own specs do not count.
    pub(super) inert: bool,
    /// Whether it is out of the prim, with all below it.
    pub(super) culled: bool,
    /// Its strongest and weakest child, and its next weaker sibling.
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) next: u32,
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
pub struct InstanceKey(Arc<KeyContent>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct KeyContent {
    /// Kind, address of the layer stack, path, time offset and scale of each arc that is shared.
    arcs: Vec<(ArcKind, usize, Path, [u64; 2])>,
    selections: Vec<(Token, Token)>,
}

/// The opinions of one prim.
#[derive(Clone, Debug)]
pub struct PrimIndex {
    pub(super) path: Path,
    pub(super) nodes: Box<[Node]>,
    pub(super) has_payloads: bool,
    pub(super) instanceable: bool,
    pub(super) properties: OnceLock<Option<Box<PropertyNodes>>>,
}

/// The nodes that have specs of each property, strongest first.
pub(crate) type PropertyNodes = HashMap<Token, Vec<u32>, foldhash::fast::RandomState>;

/// Up to this many nodes are asked one by one for specs of a property.
const FEW: usize = 32;

impl PrimIndex {
    /// The nodes that have specs of each property; found once. None if all nodes are to be asked: there are few, or these
    /// would be more entries than `room`, which is what all prims of a stage may still have.
    pub(crate) fn property_nodes(&self, room: &AtomicUsize) -> Option<&PropertyNodes> {
        if self.nodes.len() <= FEW {
            return None;
        }
        let find = || {
            let names = || {
                self.opinions_of_all()
                    .map(|o| (o.node, o.spec.properties()))
            };
            let count = names().map(|(_, names)| names.len()).sum();
            let left = |room: usize| room.checked_sub(count);
            room.fetch_update(Relaxed, Relaxed, left).ok()?;
            let mut found = PropertyNodes::default();
            for (node, names) in names() {
                for name in names {
                    let nodes = found.entry(name.clone()).or_default();
                    if nodes.last() != Some(&(node as u32)) {
                        nodes.push(node as u32);
                    }
                }
            }
            Some(Box::new(found))
        };
        self.properties.get_or_init(find).as_deref()
    }

    /// About how many bytes of memory it takes, with what a stage keeps of the prim besides.
    pub(super) fn memory(&self) -> usize {
        const BESIDES: usize = 256;
        let of_node = |node: &Node| {
            // What the parent's index has, too, is shared.
            let maps = match node.ancestral {
                true => 0,
                false => node.map.memory() + node.to_parent.memory(),
            };
            size_of::<Node>() + node.path.as_str().len() + maps
        };
        BESIDES + self.path.as_str().len() + self.nodes.iter().map(of_node).sum::<usize>()
    }

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
        let all = self.opinions_of_all();
        all.filter(|o| self.nodes[o.node].contributes())
    }

    /// The specs of all nodes, also of those whose opinions do not count.
    fn opinions_of_all(&self) -> impl Iterator<Item = Opinion<'_>> {
        let nodes = self.nodes.iter().enumerate();
        let nodes = nodes.filter(|(_, n)| n.has_specs);
        nodes.flat_map(|(node, n)| {
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

    /// Whether the prim is an instance: `instanceable` is true and it has an arc whose opinions can be shared.
    #[must_use]
    pub fn is_instanceable(&self) -> bool {
        self.instanceable
    }

    /// Whether the prim itself has payloads, loaded or not.
    #[must_use]
    pub fn has_payloads(&self) -> bool {
        self.has_payloads
    }

    /// The key of the prototype that an instance shares. None if the prim is no instance.
    #[must_use]
    pub fn instance_key(&self) -> Option<InstanceKey> {
        if !self.instanceable {
            return None;
        }
        let mut arcs = Vec::new();
        walk_instanceable(&self.nodes, false, |i, is_shared| {
            let node = &self.nodes[i];
            if is_shared {
                let offset = node.map.offset();
                let offset = [offset.offset, offset.scale].map(|n| (n + 0.0).to_bits());
                let stack = Arc::as_ptr(&node.stack) as usize;
                arcs.push((node.kind, stack, node.path.clone(), offset));
            }
            // What is below a shared arc follows from it, but for payloads that are not loaded.
            !is_shared || self.has_payloads
        });
        let mut selections: BTreeMap<Token, Token> = BTreeMap::new();
        for node in self.nodes.iter().filter(|n| n.has_specs && n.contributes()) {
            for set in site::selected_sets(&node.stack, &node.path) {
                if !selections.contains_key(&set) {
                    let found = site::selection(&node.stack, &node.path, &set, &mut |_| {});
                    selections.extend(found.map(|variant| (set, variant)));
                }
            }
        }
        let selections = selections.into_iter().collect();
        Some(InstanceKey(Arc::new(KeyContent { arcs, selections })))
    }

    /// The variant that was selected in each set, whether an opinion selects it or a fallback.
    #[must_use]
    pub fn variant_selections(&self) -> BTreeMap<Token, Token> {
        let mut out = BTreeMap::new();
        for node in self.nodes.iter().filter(|n| n.kind == ArcKind::Variant) {
            if let Some((set, variant)) = node.path.variant() {
                out.entry(set.into()).or_insert_with(|| variant.into());
            }
        }
        out
    }

    /// The variant sets of the prim, the strongest opinions' first, with the variants of all opinions.
    #[must_use]
    pub fn variant_sets(&self) -> Vec<VariantSet> {
        let selections = self.variant_selections();
        let mut out: Vec<VariantSet> = Vec::new();
        let mut places: HashMap<Token, usize> = HashMap::new();
        let mut known: HashSet<(usize, Token)> = HashSet::new();
        for node in self.nodes.iter().filter(|n| n.has_specs && n.contributes()) {
            for name in site::variant_sets(&node.stack, &node.path) {
                let variants = site::variants(&node.stack, &node.path, &name);
                let place = *places.entry(name).or_insert_with_key(|name| {
                    out.push(VariantSet {
                        selection: selections.get(name).cloned(),
                        name: name.clone(),
                        variants: Vec::new(),
                    });
                    out.len() - 1
                });
                let new = variants.into_iter();
                let new = new.filter(|v| known.insert((place, v.clone())));
                out[place].variants.extend(new);
            }
        }
        out
    }
}
