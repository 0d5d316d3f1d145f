//! From the graph of a prim to its index: nodes without opinions go, the others are put in the order of their strength.

use std::collections::HashSet;
use std::sync::Arc;

use sinew_layer::Path;

use super::graph::{Graph, NONE, is_instanceable};
use super::index::{ArcKind, PrimIndex};
use super::paths::namespace_depth;

/// A place: the address of a layer stack, and a path.
type Site = (usize, Path);

impl PrimIndex {
    /// The graph again, to go on with a child.
    pub(super) fn to_graph(&self) -> Graph {
        Graph {
            nodes: self.nodes.to_vec(),
            has_payloads: self.has_payloads,
        }
    }
}

impl Graph {
    /// Whether a node is a specialized class that was moved to the root, where it is weaker than all else.
    pub fn is_moved_specialize(&self, node: usize) -> bool {
        let node = &self.nodes[node];
        node.kind == ArcKind::Specialize
            && node.parent == Some(0)
            && node
                .origin
                .is_some_and(|o| node.is_at(&self.nodes[o].stack, &self.nodes[o].path))
            && node.origin != Some(0)
    }

    fn can_be_culled(&self, at: usize) -> bool {
        let node = &self.nodes[at];
        if node.culled {
            return true;
        }
        if at == 0 || self.depth_below(at) == 0 || node.has_specs && node.contributes() {
            return false;
        }
        // Classes that are no root prims stay: prims of the stage can be at their place.
        if node.kind == ArcKind::Inherit && Arc::ptr_eq(&node.stack, &self.nodes[0].stack) {
            let mut origin = at;
            while self.nodes[origin].origin != self.nodes[origin].parent
                && let Some(next) = self.nodes[origin].origin
            {
                origin = next;
            }
            if namespace_depth(&self.path_at_introduction(origin)) != 1 {
                return false;
            }
        }
        self.children(at).all(|c| self.nodes[c].culled)
    }

    /// Culls what has no opinions at and below a node, but for specialized classes below it.
    fn cull_below(&mut self, node: usize, mut culled: Option<&mut HashSet<Site>>) {
        let mut all = Vec::new();
        self.walk(node, |n| {
            let enter = n == node || self.nodes[n].kind != ArcKind::Specialize;
            if enter {
                all.push(n);
            }
            enter
        });
        for n in all.into_iter().rev() {
            if self.can_be_culled(n) {
                self.nodes[n].culled = true;
                if let Some(culled) = &mut culled {
                    let node = &self.nodes[n];
                    culled.insert((Arc::as_ptr(&node.stack) as usize, node.path.clone()));
                }
            }
        }
    }

    /// Culls what has no opinions. Specialized classes are there twice, and are culled at both places.
    fn cull(&mut self) {
        let children: Vec<usize> = self.children(0).collect();
        for &child in children.iter().rev() {
            if !self.is_moved_specialize(child) {
                continue;
            }
            let mut culled = HashSet::new();
            self.cull_below(child, Some(&mut culled));
            let origin = self.nodes[child].origin.unwrap_or(0);
            for n in self.subtree(origin).into_iter().rev() {
                let node = &self.nodes[n];
                let site = (Arc::as_ptr(&node.stack) as usize, node.path.clone());
                if culled.contains(&site) && self.children(n).all(|c| self.nodes[c].culled) {
                    self.nodes[n].culled = true;
                }
            }
        }
        for child in children {
            if !self.is_moved_specialize(child) {
                self.cull_below(child, None);
            }
        }
    }

    /// The index of the prim.
    pub fn finish(mut self) -> PrimIndex {
        if self.nodes.len() > 1 {
            self.cull();
        }
        let mut order = Vec::with_capacity(self.nodes.len());
        self.walk(0, |n| {
            let stays = !self.nodes[n].culled || n == 0;
            if stays {
                order.push(n);
            }
            stays
        });
        let is_sorted =
            order.len() == self.nodes.len() && order.iter().enumerate().all(|(i, n)| i == *n);
        if !is_sorted {
            self.reorder(&order);
        }
        PrimIndex {
            path: self.nodes[0].path.clone(),
            instanceable: is_instanceable(&self),
            has_payloads: self.has_payloads,
            nodes: self.nodes.into_boxed_slice(),
        }
    }

    /// Keeps the nodes of `order`, in this order: each before its children, which are sorted.
    fn reorder(&mut self, order: &[usize]) {
        let mut place = vec![NONE; self.nodes.len()];
        for (to, from) in order.iter().enumerate() {
            place[*from] = to as u32;
        }
        let moved = |old: Option<usize>| {
            old.map(|o| place[o])
                .filter(|p| *p != NONE)
                .map(|p| p as usize)
        };
        let mut nodes: Vec<_> = order.iter().map(|n| self.nodes[*n].clone()).collect();
        for node in &mut nodes {
            node.parent = moved(node.parent);
            node.origin = moved(node.origin);
            (node.first, node.last, node.next) = (NONE, NONE, NONE);
        }
        for at in 1..nodes.len() {
            let parent = nodes[at].parent.unwrap_or(0);
            match nodes[parent].last {
                NONE => nodes[parent].first = at as u32,
                last => nodes[last as usize].next = at as u32,
            }
            nodes[parent].last = at as u32;
        }
        self.nodes = nodes;
    }
}
