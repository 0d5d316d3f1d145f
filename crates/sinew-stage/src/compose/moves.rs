//! Prims that were moved from other places.

use std::sync::Arc;

use super::index::ArcKind;
use super::indexer::{Indexer, Options};
use super::map::Map;
use super::site;
use crate::error::Result;

impl Indexer<'_> {
    /// Whether the prim is at a place that it was moved away from; then nothing counts.
    pub fn elide_if_moved_away(&mut self) -> bool {
        let mut source = None;
        self.graph.walk(0, |n| {
            let node = &self.graph.nodes[n];
            let is_moved = !node.inert && node.stack.moved_to.contains_key(&node.path);
            if is_moved && !node.culled && source.is_none() {
                source = Some(n);
            }
            !node.culled
        });
        let Some(source) = source else {
            return false;
        };
        if self.frame.is_some() {
            let path = &self.graph.nodes[source].path;
            let text = format!("an arc leads to <{path}>, which was moved away");
            self.work.report("arc-to-moved-prim", text);
        }
        self.graph.nodes[0].set_inert();
        let children: Vec<usize> = self.graph.children(0).collect();
        for child in children {
            self.graph.elide(child);
        }
        true
    }

    /// Adds an arc to the place that a prim was moved from.
    pub fn eval_relocates(&mut self, at: usize) -> Result<()> {
        let node = &self.graph.nodes[at];
        if !node.contributes() {
            return Ok(());
        }
        let stack = node.stack.clone();
        let Some(source) = stack.moved_from.get(&node.path) else {
            return Ok(());
        };
        // What was at the new place across other arcs does not count.
        let children: Vec<usize> = self.graph.children(at).collect();
        for child in children {
            if self.graph.nodes[child].kind != ArcKind::Variant {
                self.graph.elide(child);
            }
        }
        let options = Options {
            contributes: false,
            with_ancestors: true,
            ..Options::default()
        };
        let link = self.link(ArcKind::Relocate, at, Map::IDENTITY, 0);
        let Some(new) = self.add_arc(&link, &stack, source, options)? else {
            return Ok(());
        };
        if site::has_specs(&stack, source) {
            let text = format!("opinions at <{source}> do not count: it was moved");
            self.work.report("opinion-at-moved-prim", text);
        }
        self.elide_moved_below(new);
        Ok(())
    }

    /// Takes out what other relocates move to other prims.
    fn elide_moved_below(&mut self, at: usize) {
        let mut moved = Vec::new();
        self.graph.walk(at, |n| {
            if n == at {
                return true;
            }
            let node = &self.graph.nodes[n];
            if node.kind == ArcKind::Relocate {
                return false;
            }
            let is_moved = node.contributes() && node.stack.moved_to.contains_key(&node.path);
            if is_moved {
                moved.push(n);
            }
            !is_moved
        });
        for node in moved {
            self.graph.elide(node);
        }
    }

    /// Transfers a relocate to the node above the parent, for the classes there.
    pub fn eval_implied_relocates(&mut self, at: usize) -> Result<()> {
        let node = &self.graph.nodes[at];
        if node.ancestral {
            return Ok(());
        }
        let Some(parent) = node.parent.map(|p| &self.graph.nodes[p]) else {
            return Ok(());
        };
        let (Some(above), Some(source)) = (parent.parent, parent.to_parent.to_target(&node.path))
        else {
            return Ok(());
        };
        let is_there = self
            .graph
            .has_child(above, |n| n.path == source && n.kind == ArcKind::Relocate);
        if is_there {
            return Ok(());
        }
        let stack = Arc::clone(&self.graph.nodes[above].stack);
        let mut link = self.link(ArcKind::Relocate, above, Map::IDENTITY, 0);
        link.origin = at;
        let options = Options {
            contributes: false,
            ..Options::default()
        };
        self.add_arc(&link, &stack, &source, options).map(drop)
    }
}
