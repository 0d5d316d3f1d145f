//! Which of two nodes is stronger.

use std::cmp::Ordering;
use std::sync::Arc;

use super::graph::Graph;
use super::implied::{arcs_above, place_of};
use super::index::ArcKind;

impl Graph {
    /// Compares two nodes: less is stronger.
    pub fn compare(&self, a: usize, b: usize) -> Ordering {
        // One that is above the other is stronger.
        self.compare_chains(a, b, usize::cmp)
    }

    /// The order in which classes are transferred: less comes first. The stronger branch comes first, but a node after all
    /// that is below it, whose classes it gets.
    pub fn compare_transfers(&self, a: usize, b: usize) -> Ordering {
        self.compare_chains(a, b, |a, b| b.cmp(a))
    }

    /// Compares the branches of two nodes, or their distances from the root if one is above the other.
    fn compare_chains(
        &self,
        a: usize,
        b: usize,
        nested: fn(&usize, &usize) -> Ordering,
    ) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let (a, b) = (self.chain(a), self.chain(b));
        match a.iter().zip(&b).find(|(a, b)| a != b) {
            Some((a, b)) => self.compare_siblings(*a, *b),
            None => nested(&a.len(), &b.len()),
        }
    }

    /// The nodes from the root to a node.
    fn chain(&self, node: usize) -> Vec<usize> {
        let mut nodes: Vec<usize> = self.ancestors(node).collect();
        nodes.reverse();
        self.count(nodes.len());
        nodes
    }

    /// Counts nodes that a comparison has looked at.
    fn count(&self, nodes: usize) {
        self.compared.set(self.compared.get().saturating_add(nodes));
    }

    /// Compares two children of one node: less is stronger.
    pub fn compare_siblings(&self, a: usize, b: usize) -> Ordering {
        self.count(1);
        let (na, nb) = (&self.nodes[a], &self.nodes[b]);
        let by_kind = na.kind.cmp(&nb.kind);
        if a == b || by_kind.is_ne() {
            return by_kind;
        }
        let by_sibling = na.sibling.cmp(&nb.sibling);
        if na.kind == ArcKind::Specialize {
            return self.compare_specializes(a, b).then(by_sibling);
        }
        // Deeper arcs are stronger.
        let by_depth = nb.depth.cmp(&na.depth);
        if by_depth.is_ne() {
            return by_depth;
        }
        match (na.origin, nb.origin) {
            (Some(oa), Some(ob)) if oa != ob => self.compare_places(oa, ob).then(by_sibling),
            _ => by_sibling,
        }
    }

    /// Specializes of all depths are children of the root, so their origins decide.
    fn compare_specializes(&self, a: usize, b: usize) -> Ordering {
        let (na, nb) = (&self.nodes[a], &self.nodes[b]);
        let ((root_a, steps_a), (root_b, steps_b)) = (self.origin_root(a), self.origin_root(b));
        let arcs = [root_a, root_b].map(|n| usize::from(self.nodes[n].arcs));
        self.count(arcs[0] + steps_a + arcs[1] + steps_b);
        let is_above =
            |above: usize, below: usize| arcs_above(&self.nodes, below).any(|n| n == above);
        // What a specialized prim specializes is weaker than it, at any depth.
        if !is_above(root_a, root_b) && !is_above(root_b, root_a) {
            let by_depth = nb.depth.cmp(&na.depth);
            if by_depth.is_ne() {
                return by_depth;
            }
        }
        let (Some(oa), Some(ob)) = (na.origin, nb.origin) else {
            return Ordering::Equal;
        };
        let (authored_a, authored_b) = (na.origin == na.parent, nb.origin == nb.parent);
        // An implied node is at a place of its own; one that was moved to the root is at its origin's.
        let implied = |node: usize, origin: usize| {
            let origin = &self.nodes[origin];
            !self.nodes[node].is_at(&origin.stack, &origin.path)
        };
        let by_implied = || implied(b, ob).cmp(&implied(a, oa));
        if oa == ob {
            return match authored_a || authored_b {
                true => Ordering::Equal,
                false => by_implied(),
            };
        }
        if root_a != root_b {
            return self.compare_places(root_a, root_b);
        }
        let depth = |authored: bool, origin: usize| match authored {
            true => 0,
            false => self.class_hierarchy_depth(origin),
        };
        let by_hierarchy = depth(authored_a, oa).cmp(&depth(authored_b, ob));
        // The longer the way from the origin, the more local.
        let by_steps = by_hierarchy.then(steps_b.cmp(&steps_a));
        if by_steps.is_ne() {
            return by_steps;
        }
        let local = |node: usize| Arc::ptr_eq(&self.nodes[node].stack, &self.nodes[0].stack);
        if local(a) && local(b) && !authored_a && !authored_b && by_implied().is_ne() {
            return by_implied();
        }
        self.compare_places(oa, ob)
    }

    /// Which of two nodes comes first in the tree.
    fn compare_places(&self, a: usize, b: usize) -> Ordering {
        let (ca, cb) = (self.chain(a), self.chain(b));
        let Some(fork) = (0..ca.len().min(cb.len())).find(|i| ca[*i] != cb[*i]) else {
            return ca.len().cmp(&cb.len());
        };
        // Siblings are linked in their order.
        let above = ca[fork.saturating_sub(1)];
        let first = self
            .children(above)
            .inspect(|_| self.count(1))
            .find(|c| *c == ca[fork] || *c == cb[fork]);
        match first {
            Some(c) if c == ca[fork] => Ordering::Less,
            Some(_) => Ordering::Greater,
            None => Ordering::Equal,
        }
    }

    /// Where the chain of a node's origins begins, and how long it is.
    fn origin_root(&self, node: usize) -> (usize, usize) {
        let (mut at, mut steps) = (node, 0);
        while let Some(origin) = self.nodes[at].origin
            && self.nodes[at].origin != self.nodes[at].parent
            && steps < self.nodes.len()
        {
            at = origin;
            steps += 1;
        }
        (at, steps)
    }

    /// The class that inherits (or specializes) a class in the same hierarchy of classes.
    pub fn class_above(&self, class: usize) -> Option<usize> {
        let place = |n: usize| place_of(&self.nodes, n).unwrap_or(n);
        let class = place(class);
        let above = place(self.nodes[class].parent?);
        let same =
            |n: usize| self.nodes[n].is_class() && self.depth_below(n) == self.depth_below(class);
        (same(class) && same(above)).then_some(above)
    }

    /// The node that inherits (or specializes) the hierarchy of classes that a class is in, and the hierarchy's first class.
    pub fn class_hierarchy(&self, class: usize) -> (usize, usize) {
        let place = |n: usize| place_of(&self.nodes, n).unwrap_or(n);
        let mut instance = place(class);
        let mut first = instance;
        let depth = self.depth_below(instance);
        while self.nodes[instance].is_class() && self.depth_below(instance) == depth {
            first = instance;
            instance = place(self.nodes[instance].parent.unwrap_or(0));
        }
        (instance, first)
    }

    /// How deep the arc of the node is that inherits the hierarchy of a class.
    fn class_hierarchy_depth(&self, class: usize) -> usize {
        let (mut instance, _) = self.class_hierarchy(class);
        while self.nodes[instance].kind == ArcKind::Relocate {
            instance = self.nodes[instance].parent.unwrap_or(0);
        }
        self.nodes[instance].depth
    }
}
