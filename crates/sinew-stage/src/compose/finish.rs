//! From the graph of a prim to its index: nodes without opinions go, the others are put in the order of their strength.

use std::sync::{Arc, OnceLock};

use super::graph::{Graph, NONE, is_instanceable};
use super::index::{ArcKind, PrimIndex};
use super::paths::namespace_depth;

impl PrimIndex {
    /// The graph again, to go on with a child.
    pub(super) fn to_graph(&self) -> Graph {
        let mut graph = Graph::of(self.nodes.to_vec());
        graph.has_payloads = self.has_payloads;
        graph
    }
}

impl Graph {
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

    /// Culls what has no opinions at and below a node.
    fn cull_below(&mut self, node: usize) {
        for n in self.subtree(node).into_iter().rev() {
            if self.can_be_culled(n) {
                self.nodes[n].set_culled();
            }
        }
    }

    /// Which nodes stay: those that are not culled, and the origins that decide about the strength of others.
    fn kept(&self) -> Vec<bool> {
        let mut kept: Vec<bool> = self.nodes.iter().map(|n| !n.culled).collect();
        for start in 0..self.nodes.len() {
            if self.nodes[start].culled {
                continue;
            }
            let mut at = start;
            while self.nodes[at].origin != self.nodes[at].parent
                && let Some(origin) = self.nodes[at].origin
            {
                let mut above = Some(origin);
                while let Some(n) = above
                    && !kept[n]
                {
                    kept[n] = true;
                    above = self.nodes[n].parent;
                }
                at = origin;
            }
        }
        kept
    }

    /// The index of the prim.
    pub fn finish(mut self) -> PrimIndex {
        if self.nodes.len() > 1 {
            self.cull_below(0);
        }
        let kept = self.kept();
        let mut order = Vec::with_capacity(self.nodes.len());
        self.walk(0, |n| {
            if kept[n] {
                order.push(n);
            }
            kept[n]
        });
        let is_sorted =
            order.len() == self.nodes.len() && order.iter().enumerate().all(|(i, n)| i == *n);
        if !is_sorted {
            self.reorder(&order);
        }
        PrimIndex {
            path: self.nodes[0].path.clone(),
            instanceable: is_instanceable(&self, false),
            has_payloads: self.has_payloads,
            properties: OnceLock::new(),
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
