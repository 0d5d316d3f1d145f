//! The tree of sites that contribute to a prim, while it grows.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Arc;

use sinew_layer::layer::field;
use sinew_layer::value::Value;
use sinew_layer::{Path, Token};

use super::implied::{arcs_above, place_of};
use super::index::{ArcKind, Node};
use super::map::Map;
use super::paths::{elements, namespace_depth, up};
use super::site;
use super::stack::LayerStack;

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// The tree of sites. Node 0 is the root. The children of a node are linked, the strongest first.
#[derive(Debug)]
pub(super) struct Graph {
    pub nodes: Vec<Node>,
    /// Whether the prim itself has payloads, also if they are not loaded.
    pub has_payloads: bool,
    /// What comparisons have cost that are not counted against the limits yet: nodes that were looked at.
    pub compared: Cell<usize>,
    roots: RefCell<Roots>,
}

/// The root prims, with the addresses of their stacks, that the first `counted` nodes are at or below.
#[derive(Debug, Default)]
struct Roots {
    known: HashSet<(usize, Token), foldhash::fast::RandomState>,
    counted: usize,
}

/// Up to this many nodes are compared one by one.
const FEW: usize = 16;

/// How a new node hangs on its parent.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub kind: ArcKind,
    pub parent: usize,
    pub origin: usize,
    pub to_parent: Map,
    /// The arc's number in the list of arcs at its origin.
    pub sibling: usize,
    /// How deep in namespace the arc is.
    pub depth: usize,
    /// Whether the new node is the copy of a specialized class at the root; its origin holds its place.
    pub is_copy: bool,
}

impl Link {
    /// The node whose arc leads to the new node: the copy of a specialized class is where its place is.
    pub fn above(&self, graph: &Graph) -> usize {
        match graph.nodes[self.origin].parent {
            Some(parent) if self.is_copy => parent,
            _ => self.parent,
        }
    }
}

impl Node {
    /// A site without arcs.
    pub(super) fn site(stack: Arc<LayerStack>, path: Path) -> Self {
        Self {
            has_specs: site::has_specs(&stack, &path),
            stack,
            path,
            kind: ArcKind::Root,
            parent: None,
            origin: None,
            map: Map::IDENTITY,
            to_parent: Map::IDENTITY,
            sibling: 0,
            depth: 0,
            arcs: 0,
            restricted: 0,
            ancestral: false,
            inert: false,
            culled: false,
            first: NONE,
            last: NONE,
            next: NONE,
        }
    }

    /// Whether its specs count.
    pub(super) fn contributes(&self) -> bool {
        !self.inert && !self.culled
    }

    /// Whether it is the same place as another node.
    pub(super) fn is_at(&self, stack: &Arc<LayerStack>, path: &Path) -> bool {
        self.path == *path && Arc::ptr_eq(&self.stack, stack)
    }

    pub(super) fn is_class(&self) -> bool {
        matches!(self.kind, ArcKind::Inherit | ArcKind::Specialize)
    }

    /// Lets its specs not count, from this depth on.
    pub(super) fn set_inert(&mut self) {
        if !self.inert {
            self.inert = true;
            self.restricted = elements(&self.path);
        }
    }

    /// Takes it out of the prim, from this depth on.
    pub(super) fn set_culled(&mut self) {
        if !self.culled {
            self.culled = true;
            self.restricted = elements(&self.path);
        }
    }

    /// Whether specs at an ancestor of its path count.
    pub(super) fn contributes_at(&self, ancestor: &Path) -> bool {
        self.restricted == 0 || self.restricted > elements(ancestor)
    }
}

impl Graph {
    pub fn new(root: Node) -> Self {
        Self::of(vec![root])
    }

    pub fn of(nodes: Vec<Node>) -> Self {
        Self {
            nodes,
            has_payloads: false,
            compared: Cell::new(0),
            roots: RefCell::default(),
        }
    }

    /// Whether a node can be at a site, above it or below it: false only if there is none with the same root prim.
    pub fn is_near(&self, stack: &Arc<LayerStack>, path: &Path) -> bool {
        if self.nodes.len() <= FEW {
            return true;
        }
        let site = |stack, path: &Path| (Arc::as_ptr(stack) as usize, Token::new(root_name(path)));
        let mut roots = self.roots.borrow_mut();
        let counted = std::mem::replace(&mut roots.counted, self.nodes.len());
        let new = self.nodes[counted..].iter();
        roots.known.extend(new.map(|n| site(&n.stack, &n.path)));
        // The root itself is above all.
        let is_known = |path: &Path| roots.known.contains(&site(stack, path));
        path.is_root() || is_known(path) || is_known(&Path::root())
    }

    /// The children of a node, the strongest first.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let index = |i: u32| (i != NONE).then_some(i as usize);
        std::iter::successors(index(self.nodes[node].first), move |n| {
            index(self.nodes[*n].next)
        })
    }

    /// The nodes below and including a node, the strongest first. `visit` says whether to go on below a node.
    pub fn walk(&self, node: usize, mut visit: impl FnMut(usize) -> bool) {
        let mut open = vec![node];
        let mut below = Vec::new();
        while let Some(node) = open.pop() {
            if visit(node) {
                below.extend(self.children(node));
                open.extend(below.drain(..).rev());
            }
        }
    }

    /// A node and all below it.
    pub fn subtree(&self, node: usize) -> Vec<usize> {
        let mut all = Vec::new();
        self.walk(node, |n| {
            all.push(n);
            true
        });
        all
    }

    /// A node with its ancestors, from itself to the root.
    pub fn ancestors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |n| self.nodes[*n].parent)
    }

    /// How many prims below the arc's place in namespace a node is.
    pub fn depth_below(&self, node: usize) -> usize {
        let node = &self.nodes[node];
        node.parent.map_or(0, |p| {
            namespace_depth(&self.nodes[p].path).saturating_sub(node.depth)
        })
    }

    /// A node's path where its arc was introduced.
    pub fn path_at_introduction(&self, node: usize) -> Path {
        up(&self.nodes[node].path, self.depth_below(node))
    }

    pub fn has_child(&self, node: usize, is_it: impl Fn(&Node) -> bool) -> bool {
        self.children(node).any(|c| is_it(&self.nodes[c]))
    }

    /// Adds a node.
    pub fn insert(&mut self, mut node: Node, link: &Link) -> usize {
        self.set_link(&mut node, link);
        self.nodes.push(node);
        let at = self.nodes.len() - 1;
        self.insert_in_order(link.parent, at);
        at
    }

    /// Adds a whole graph.
    pub fn insert_graph(&mut self, graph: Graph, link: &Link) -> usize {
        let base = self.nodes.len();
        let shift = |i: u32| if i == NONE { NONE } else { i + base as u32 };
        let mut root_map = Map::IDENTITY;
        for (i, mut node) in graph.nodes.into_iter().enumerate() {
            node.first = shift(node.first);
            node.last = shift(node.last);
            node.next = shift(node.next);
            if i == 0 {
                self.set_link(&mut node, link);
                root_map = node.map.clone();
            } else {
                node.arcs = node.arcs.saturating_add(self.nodes[base].arcs);
                node.parent = node.parent.map(|p| p + base);
                node.origin = node.origin.map(|o| o + base);
                node.map = root_map.after(&node.map);
            }
            self.nodes.push(node);
        }
        self.has_payloads |= graph.has_payloads;
        self.insert_in_order(link.parent, base);
        base
    }

    fn set_link(&self, node: &mut Node, link: &Link) {
        node.kind = link.kind;
        node.arcs = self.nodes[link.above(self)].arcs.saturating_add(1);
        node.parent = Some(link.parent);
        node.origin = Some(link.origin);
        node.map = self.nodes[link.parent].map.after(&link.to_parent);
        node.to_parent = link.to_parent.clone();
        node.sibling = link.sibling as u32;
        node.depth = link.depth;
        node.ancestral = false;
    }

    /// Enters a node into its parent's children, by strength. A specialized class can be stronger than one and weaker than
    /// another that is stronger still, so the order of the questions is usd-core's: first child, last child, then in turn.
    fn insert_in_order(&mut self, parent: usize, child: usize) {
        let is_stronger = |than: u32| self.compare_siblings(child, than as usize).is_lt();
        let (first, last) = (self.nodes[parent].first, self.nodes[parent].last);
        if first == NONE {
            self.nodes[parent].first = child as u32;
            self.nodes[parent].last = child as u32;
            self.nodes[child].next = NONE;
        } else if is_stronger(first) {
            self.nodes[child].next = first;
            self.nodes[parent].first = child as u32;
        } else if !is_stronger(last) {
            self.nodes[last as usize].next = child as u32;
            self.nodes[parent].last = child as u32;
            self.nodes[child].next = NONE;
        } else {
            let mut before = first as usize;
            for sibling in self.children(parent) {
                if is_stronger(sibling as u32) {
                    break;
                }
                before = sibling;
            }
            self.nodes[child].next = self.nodes[before].next;
            self.nodes[before].next = child as u32;
        }
    }

    /// Turns the graph of a prim into the beginning of the graph of its child.
    pub fn enter_child(&mut self, name: &str) {
        self.has_payloads = false;
        let root = self.nodes[0].path.clone();
        let child = root.child(name);
        // Below the root of a layer there are root prims now.
        self.roots = RefCell::default();
        for (i, node) in self.nodes.iter_mut().enumerate() {
            node.path = match node.path == root {
                true => child.clone(),
                false => node.path.child(name),
            };
            node.has_specs = node.has_specs && site::has_specs(&node.stack, &node.path);
            node.ancestral = i > 0;
        }
    }

    /// Takes a subtree out of the prim: its specs do not count, on any level of namespace.
    pub fn elide(&mut self, node: usize) {
        for node in self.subtree(node) {
            self.nodes[node].culled = true;
            self.nodes[node].restricted = 1;
        }
    }

    /// Lets no specs of a subtree count.
    pub fn set_subtree_inert(&mut self, node: usize) {
        for node in self.subtree(node) {
            self.nodes[node].set_inert();
        }
    }
}

/// The name of the root prim that a path is at or below; empty for the root itself.
fn root_name(path: &Path) -> &str {
    let text = path.as_str();
    let name = text.strip_prefix('/').unwrap_or(text);
    name.split(['/', '{', '.', '[']).next().unwrap_or_default()
}

/// Walks over the nodes, the strongest first, with whether each is one that instances share: a direct arc leads to it, and
/// it has specs. In a graph that will be a part of another (`is_part`), the arc to the node itself has to be direct.
/// `visit` says whether to go on below a node.
pub(super) fn walk_instanceable(
    nodes: &[Node],
    is_part: bool,
    mut visit: impl FnMut(usize, bool) -> bool,
) {
    let mut open: Vec<(usize, bool)> = vec![(0, false)];
    while let Some((at, direct)) = open.pop() {
        let node = &nodes[at];
        if node.culled {
            continue;
        }
        let is_direct = |n: usize| n != 0 && !nodes[n].ancestral;
        let direct = is_direct(at)
            || !is_part
                && match place_of(nodes, at) {
                    // The copy of a specialized class is direct if the arcs to its place are.
                    Some(_) => arcs_above(nodes, at).any(is_direct),
                    None => direct,
                };
        if visit(at, direct && node.has_specs && node.contributes()) {
            let below = open.len();
            let mut child = node.first;
            while child != NONE {
                open.push((child as usize, direct));
                child = nodes[child as usize].next;
            }
            open[below..].reverse();
        }
    }
}

/// Whether a prim is an instance: it has a direct arc with specs, and its strongest opinion on `instanceable` is true.
pub(super) fn is_instanceable(graph: &Graph, is_part: bool) -> bool {
    let nodes = &graph.nodes;
    // The quick answer for nearly all prims.
    if !nodes
        .iter()
        .any(|n| !n.ancestral && n.kind != ArcKind::Root && !n.culled)
    {
        return false;
    }
    let mut any = false;
    walk_instanceable(nodes, is_part, |_, is_shared| {
        any |= is_shared;
        !any
    });
    if !any {
        return false;
    }
    let mut value = None;
    graph.walk(0, |at| {
        let node = &nodes[at];
        if value.is_none() && node.has_specs && node.contributes() {
            let mut specs = node
                .stack
                .layers
                .iter()
                .filter_map(|l| l.layer.spec(&node.path));
            value = specs.find_map(|s| s.get(field::INSTANCEABLE).cloned());
        }
        value.is_none()
    });
    matches!(value, Some(Value::Bool(true)))
}
