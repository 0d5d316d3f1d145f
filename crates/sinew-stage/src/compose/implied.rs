//! Classes that follow from others: of a referenced prim's classes for the prim that references it, and specialized classes
//! as the weakest of all.
//!
//! A specialized class is there twice. Where its arc is, an inert node holds its place: from there it is transferred to other
//! nodes. Its opinions, and all arcs below it, are at a copy that is a child of the root, weaker than all else.

use std::sync::Arc;

use sinew_layer::Path;

use super::graph::{Graph, Link};
use super::index::{ArcKind, Node};
use super::indexer::{Indexer, Options};
use super::map::Map;
use super::paths::namespace_depth;
use super::stack::LayerStack;
use crate::error::Result;

/// The node that holds the place of a specialized class, if a node is its copy at the root.
pub(super) fn place_of(nodes: &[Node], at: usize) -> Option<usize> {
    let node = &nodes[at];
    if node.kind != ArcKind::Specialize || node.parent != Some(0) || node.origin == Some(0) {
        return None;
    }
    let origin = node.origin?;
    node.is_at(&nodes[origin].stack, &nodes[origin].path)
        .then_some(origin)
}

/// A node with the nodes whose arcs lead to it, up to the root. The copy of a specialized class is where its place is.
pub(super) fn arcs_above(nodes: &[Node], at: usize) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(Some(at), |n| place_of(nodes, *n).or(nodes[*n].parent))
}

impl Graph {
    /// Whether a node is only there so that classes below it can be transferred on.
    fn is_relocate_placeholder(&self, at: usize) -> bool {
        let node = &self.nodes[at];
        node.parent != node.origin
            && node.parent.is_some_and(|p| {
                let parent = &self.nodes[p];
                parent.kind == ArcKind::Relocate && parent.is_at(&node.stack, &node.path)
            })
    }

    /// Whether a node is the copy of a specialized class at the root.
    pub fn is_moved_specialize(&self, node: usize) -> bool {
        place_of(&self.nodes, node).is_some()
    }

    /// The node that has the arcs of a node: the copy at the root for one that only holds a place, else the node itself.
    fn with_arcs(&self, node: usize) -> usize {
        if self.nodes[node].kind != ArcKind::Specialize || self.nodes[node].parent == Some(0) {
            return node;
        }
        let mut moved = self
            .children(0)
            .filter(|c| self.nodes[*c].origin == Some(node) && self.is_moved_specialize(*c));
        moved.next().unwrap_or(node)
    }

    /// Whether a node has classes.
    pub fn has_classes(&self, node: usize) -> bool {
        self.has_child(self.with_arcs(node), Node::is_class)
    }

    /// Whether a node or any below it is a specialized class.
    pub fn has_specializes(&self, node: usize) -> bool {
        let mut any = false;
        self.walk(node, |n| {
            any |= self.nodes[n].kind == ArcKind::Specialize;
            !any
        });
        any
    }
}

/// The map of a class, transferred to another node.
fn transferred(transfer: &Map, class: &Map) -> Map {
    match transfer.is_identity() {
        true => class.clone(),
        false => transfer
            .after(&class.after(&transfer.inverse()))
            .with_root_identity(),
    }
}

impl Indexer<'_> {
    /// The node whose classes are transferred when a class is added: classes of classes go together.
    pub fn start_of_implied_classes(&mut self, class: usize) -> usize {
        // Most classes are added to one that was added before.
        let start = match self
            .graph
            .class_above(class)
            .and_then(|above| self.starts.get(&above))
        {
            Some(start) => *start,
            None => self.find_start_of_implied_classes(class),
        };
        self.starts.insert(class, start);
        start
    }

    fn find_start_of_implied_classes(&self, class: usize) -> usize {
        let mut start = class;
        while self.graph.nodes[start].is_class() {
            let (instance, first) = self.graph.class_hierarchy(start);
            start = instance;
            if self.graph.nodes[instance].is_class() {
                let ancestral: Path = self.graph.path_at_introduction(instance);
                if self.graph.nodes[first].path.has_prefix(&ancestral) {
                    break;
                }
            }
        }
        start
    }

    /// Transfers the classes of a node to its parent.
    pub fn eval_implied_classes(&mut self, at: usize) -> Result<()> {
        let node = &self.graph.nodes[at];
        let Some(parent) = node.parent else {
            return Ok(());
        };
        if !self.graph.has_classes(at) {
            return Ok(());
        }
        let transfer = node.to_parent.with_root_identity();
        self.transfer_classes(parent, at, &transfer, true)
    }

    fn transfer_classes(
        &mut self,
        to: usize,
        from: usize,
        transfer: &Map,
        is_start: bool,
    ) -> Result<()> {
        let target = &self.graph.nodes[to];
        if target.kind == ArcKind::Relocate
            && let Some(parent) = target.parent
        {
            let transfer = target.to_parent.with_root_identity().after(transfer);
            self.transfer_classes(parent, from, &transfer, is_start)?;
            self.add_transfer(to);
            return Ok(());
        }
        let children: Vec<usize> = self.graph.children(self.graph.with_arcs(from)).collect();
        for child in children {
            self.work.steps(1)?;
            let node = &self.graph.nodes[child];
            if !node.is_class() {
                continue;
            }
            // The class of a class is no class of its instance.
            if is_start
                && self.graph.nodes[from].is_class()
                && self.graph.depth_below(from) == self.graph.depth_below(child)
            {
                continue;
            }
            let Some(path) = transfer.to_target(&node.path) else {
                continue;
            };
            let map = transferred(transfer, &node.to_parent);
            let existing = self.graph.children(to).find(|at| {
                let c = &self.graph.nodes[*at];
                let is_it = c.origin == Some(child) && c.to_parent == map;
                is_it && !self.graph.is_moved_specialize(*at)
            });
            let made = match existing {
                Some(made) => Some(made),
                None => {
                    let (stack, source) = (node.stack.clone(), node.path.clone());
                    let mut link = self.link(node.kind, to, map, node.sibling as usize);
                    link.origin = child;
                    self.add_class(&link, &path, Some((&stack, &source)))?
                }
            };
            if let Some(made) = made
                && self.graph.has_classes(child)
            {
                let made = self.graph.with_arcs(made);
                self.transfer_classes(made, child, transfer, false)?;
            }
        }
        Ok(())
    }

    /// Adds a specialized class: an inert node at its place, and the copy at the root. Gives the node that has its arcs.
    pub fn add_specialize(
        &mut self,
        link: &Link,
        stack: &Arc<LayerStack>,
        path: &Path,
    ) -> Result<Option<usize>> {
        let options = Options {
            contributes: false,
            ..Options::default()
        };
        let Some(place) = self.add_arc(link, stack, path, options)? else {
            return Ok(None);
        };
        // A graph that will be a part of another has no root of the prim: the other moves its classes.
        match self.frame.is_some() || self.graph.is_relocate_placeholder(place) {
            true => Ok(Some(place)),
            false => self.move_specialize(place),
        }
    }

    /// Moves the specialized classes at and below a node to the root.
    pub fn move_specializes(&mut self, at: usize) -> Result<()> {
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            if self.graph.is_relocate_placeholder(at) {
                continue;
            }
            if self.graph.nodes[at].kind == ArcKind::Specialize {
                self.move_specialize(at)?;
            }
            let below = open.len();
            open.extend(self.graph.children(at));
            open[below..].reverse();
        }
        Ok(())
    }

    /// Adds the copy of a specialized class at the root. Gives the node that is there, also if it was there already.
    fn move_specialize(&mut self, place: usize) -> Result<Option<usize>> {
        let node = &self.graph.nodes[place];
        let (stack, path) = (node.stack.clone(), node.path.clone());
        let is_ancestral = node.ancestral;
        let link = Link {
            kind: ArcKind::Specialize,
            parent: 0,
            origin: place,
            to_parent: node.map.clone(),
            sibling: node.sibling as usize,
            depth: namespace_depth(&self.graph.nodes[0].path),
            is_copy: true,
        };
        let depth = self.graph.depth_below(place);
        let existing = self.matching_child(&link, ArcKind::Root, &stack, &path, depth);
        if existing.is_some() {
            return Ok(existing);
        }
        let options = Options {
            skip_duplicates: true,
            with_ancestors: namespace_depth(&path) != 1,
            ..Options::default()
        };
        let copy = self.add_arc(&link, &stack, &path, options)?;
        if let Some(copy) = copy {
            self.graph.nodes[copy].ancestral = is_ancestral;
        }
        Ok(copy)
    }
}
