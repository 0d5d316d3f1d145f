//! Classes that follow from others: of a referenced prim's classes for the prim that references it, and specialized classes
//! as the weakest of all.

use sinew_layer::Path;

use super::graph::{Graph, Link};
use super::index::{ArcKind, Node};
use super::indexer::{Indexer, Options, Task};
use super::map::Map;
use super::paths::namespace_depth;
use crate::error::Result;

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
    pub fn start_of_implied_classes(&self, class: usize) -> usize {
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
        if self.graph.is_moved_specialize(at) || !self.graph.has_child(at, Node::is_class) {
            return Ok(());
        }
        let transfer = node.to_parent.with_root_identity();
        self.transfer_classes(parent, at, transfer, true)
    }

    fn transfer_classes(
        &mut self,
        to: usize,
        from: usize,
        transfer: Map,
        is_start: bool,
    ) -> Result<()> {
        let target = &self.graph.nodes[to];
        if target.kind == ArcKind::Relocate
            && let Some(parent) = target.parent
        {
            let transfer = target.to_parent.with_root_identity().after(&transfer);
            self.transfer_classes(parent, from, transfer, is_start)?;
            self.add_task(Task::ImpliedClasses, to);
            return Ok(());
        }
        let children: Vec<usize> = self.graph.children(from).collect();
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
            let map = transferred(&transfer, &node.to_parent);
            let existing = self.graph.children(to).find(|c| {
                let c = &self.graph.nodes[*c];
                c.origin == Some(child) && c.to_parent == map
            });
            let made = match existing {
                Some(made) => Some(made),
                None => {
                    let (stack, path) = (node.stack.clone(), node.path.clone());
                    let mut link = self.link(node.kind, to, map.clone(), node.sibling as usize);
                    link.origin = child;
                    self.add_class(link, Some((&stack, &path)))?
                }
            };
            if let Some(made) = made
                && self.graph.has_child(child, Node::is_class)
            {
                let below = &self.graph.nodes[child].to_parent;
                let transfer = map.inverse().after(&transfer.after(below));
                self.transfer_classes(made, child, transfer, false)?;
            }
        }
        Ok(())
    }

    /// Moves specialized classes to the root; if they are there, what was added below them goes back to where they are from.
    pub fn eval_implied_specializes(&mut self, at: usize) -> Result<()> {
        if self.graph.nodes[at].parent.is_none() {
            return Ok(());
        }
        if !self.graph.is_moved_specialize(at) {
            return self.move_specializes(at);
        }
        let Some(origin) = self.graph.nodes[at].origin else {
            return Ok(());
        };
        let children: Vec<usize> = self.graph.children(at).collect();
        for child in children {
            let map = self.graph.nodes[child].to_parent.clone();
            self.copy_tree(origin, child, map, at, false)?;
        }
        Ok(())
    }

    fn move_specializes(&mut self, at: usize) -> Result<()> {
        if self.graph.is_relocate_placeholder(at) {
            return Ok(());
        }
        let node = &mut self.graph.nodes[at];
        if node.kind == ArcKind::Specialize {
            // One that is at the root already, and inert, is so for good: its prim cannot have opinions.
            let was_inert = (node.inert || node.culled) && node.parent != Some(0);
            let restricted = node.restricted;
            if was_inert {
                node.set_inert(false);
            }
            let map = node.map.clone();
            self.copy_tree(0, at, map, at, true)?;
            if was_inert {
                self.graph.nodes[at].restricted = restricted;
            }
        }
        let children: Vec<usize> = self.graph.children(at).collect();
        for child in children {
            self.move_specializes(child)?;
        }
        Ok(())
    }

    /// Copies a node with what is below it to another parent. The copies count instead of the originals. `to_root` leaves out
    /// the specialized classes below it, which are moved for themselves.
    fn copy_tree(
        &mut self,
        parent: usize,
        source: usize,
        map: Map,
        tree: usize,
        to_root: bool,
    ) -> Result<()> {
        let Some(copy) = self.copy_node(parent, source, map, tree, to_root)? else {
            return Ok(());
        };
        let children: Vec<usize> = self.graph.children(source).collect();
        for child in children {
            let node = &self.graph.nodes[child];
            if !to_root || node.kind != ArcKind::Specialize {
                let map = node.to_parent.clone();
                self.copy_tree(copy, child, map, tree, to_root)?;
            }
        }
        Ok(())
    }

    fn copy_node(
        &mut self,
        parent: usize,
        source: usize,
        map: Map,
        tree: usize,
        to_root: bool,
    ) -> Result<Option<usize>> {
        let node = &self.graph.nodes[source];
        if node.parent == Some(parent) {
            return Ok(Some(source));
        }
        let (stack, path) = (node.stack.clone(), node.path.clone());
        let is_inert = node.inert || node.culled;
        let is_implied = self.graph.is_implied_class(source);
        let depth = self.graph.depth_below(source);
        let link = Link {
            kind: node.kind,
            parent,
            origin: match source == tree || is_implied {
                true => source,
                false => parent,
            },
            to_parent: map,
            sibling: node.sibling as usize,
            depth: match source == tree {
                true => namespace_depth(&self.graph.nodes[parent].path),
                false => node.depth,
            },
        };
        let kind = self.graph.nodes[parent].kind;
        let mut copy = self.matching_child(&link, kind, &stack, &path, depth);
        if copy.is_none() {
            let origin = node.origin;
            let is_inside = origin.is_some_and(|o| self.graph.ancestors(o).any(|n| n == tree));
            // Implied classes of the subtree itself come again with their origins.
            if !is_implied || !is_inside {
                let options = Options {
                    contributes: !is_inert,
                    skip_implied_specializes: to_root,
                    skip_expressed: !to_root,
                    ..Options::default()
                };
                copy = self.add_arc(&link, &stack, &path, options)?;
            }
        }
        let Some(copy) = copy else {
            self.graph.set_subtree_inert(source);
            return Ok(None);
        };
        let restricted = self.graph.nodes[copy].restricted;
        self.graph.nodes[copy].set_inert(is_inert);
        self.graph.nodes[source].set_inert(true);
        if restricted != 0 {
            self.graph.nodes[source].restricted = restricted;
        }
        Ok(Some(copy))
    }
}
