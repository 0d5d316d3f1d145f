//! The names of a prim's children.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use sinew_layer::layer::field;
use sinew_layer::value::{Value, reorder};
use sinew_layer::{Path, Token};

use super::graph::walk_instanceable;
use super::index::{Node, PrimIndex};
use super::{relocates, site};

/// Names in their order, without duplicates.
#[derive(Default)]
struct Names {
    order: Vec<Token>,
    set: HashSet<Token>,
    /// Names that cannot be: prims that were moved away.
    prohibited: HashSet<Token>,
}

impl Names {
    fn extend<'a>(&mut self, names: impl IntoIterator<Item = &'a Token>) {
        for name in names {
            if self.set.insert(name.clone()) {
                self.order.push(name.clone());
            }
        }
    }

    /// Puts the children of a node over those of weaker nodes.
    fn enter(&mut self, node: &Node) {
        if node.stack.has_relocates() {
            self.relocate(node);
        }
        if !node.has_specs {
            return;
        }
        for layer in node.stack.layers.iter().rev() {
            let Some(spec) = layer.layer.spec(&node.path) else {
                continue;
            };
            self.extend(spec.children());
            let order = site::get(spec, field::PRIM_ORDER);
            if let Some(Value::TokenVector(order)) = order.as_deref() {
                reorder(&mut self.order, order);
            }
        }
    }

    /// Applies the relocates of a node's layers to the names so far.
    fn relocate(&mut self, node: &Node) {
        let is_child = |p: &Path| p.parent().is_some_and(|p| p == node.path);
        let mut renamed: BTreeMap<Token, Option<Token>> = BTreeMap::new();
        for (from, to) in relocates::below(&node.stack.moved_to, &node.path) {
            if is_child(from) {
                let new = is_child(to).then(|| Token::from(to.name()));
                renamed.insert(from.name().into(), new);
                self.prohibited.insert(from.name().into());
            }
        }
        let mut added: BTreeSet<Token> = BTreeSet::new();
        for (to, from) in relocates::below(&node.stack.moved_from, &node.path) {
            if is_child(to) && !is_child(from) && !self.set.contains(to.name()) {
                added.insert(to.name().into());
            }
        }
        if !renamed.is_empty() {
            for name in std::mem::take(&mut self.order) {
                let name = match renamed.get(&name) {
                    None => Some(name),
                    Some(new) => {
                        self.set.remove(&name);
                        new.clone().filter(|n| self.set.insert(n.clone()))
                    }
                };
                self.order.extend(name);
            }
        }
        self.extend(&added);
    }
}

impl PrimIndex {
    /// Names of the child prims, in the composed order. Those of an instance are its prototype's.
    #[must_use]
    pub fn child_names(&self) -> Vec<Token> {
        let mut names = Names::default();
        if self.instanceable {
            let mut shared = Vec::new();
            walk_instanceable(&self.nodes, false, |at, is_shared| {
                if is_shared {
                    shared.push(at);
                }
                true
            });
            for at in shared.into_iter().rev() {
                if self.nodes[at].contributes() {
                    names.enter(&self.nodes[at]);
                }
            }
        } else {
            let with_children =
                |n: &Node| n.contributes() && (n.has_specs || n.stack.has_relocates());
            let mut nodes = self.nodes.iter().filter(|n| with_children(n));
            // The common case: one layer has all children.
            if let (Some(only), None) = (nodes.next(), nodes.next())
                && let [layer] = &only.stack.layers[..]
                && !only.stack.has_relocates()
                && let Some(spec) = layer.layer.spec(&only.path)
                && spec.get(field::PRIM_ORDER).is_none()
            {
                return spec.children().to_vec();
            }
            for node in self.nodes.iter().rev().filter(|n| with_children(n)) {
                names.enter(node);
            }
        }
        if !names.prohibited.is_empty() {
            let prohibited = names.prohibited;
            names.order.retain(|n| !prohibited.contains(n));
        }
        names.order
    }
}
