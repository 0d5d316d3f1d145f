//! Helpers for JSON that nothing has checked yet: lookups that skip what is odd, and which node stands below which.

use serde_json::Value;

use crate::gltf::json::{Json, describe};

/// An extension of the whole document.
pub fn root_extension<'a>(document: &'a Value, name: &str) -> Option<&'a Value> {
    document.get("extensions")?.get(name)
}

/// The items of a list; none where it is not there or no list.
pub fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    let list = value.get(name).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// `extensionsUsed` has it.
pub fn is_used(document: &Value, name: &str) -> bool {
    list(document, "extensionsUsed").iter().any(|v| v == name)
}

/// An index, as everywhere in the document.
pub fn index(value: &Value) -> Option<usize> {
    Json::root(value).integer().ok()
}

/// A value in few words.
pub fn found(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), describe)
}

/// Intervals of a depth-first walk: a node's holds those of all nodes below it.
pub struct Tree {
    /// First and one past the last step of the walk; `None` where nodes run in a circle.
    spans: Vec<Option<(usize, usize)>>,
}

impl Tree {
    /// Of a document's nodes. Children that are no nodes are left out, and so is every parent but the first: the
    /// reader refuses both.
    pub fn of_document(document: &Value) -> Self {
        let nodes = list(document, "nodes");
        let mut parents = vec![None; nodes.len()];
        for (i, node) in nodes.iter().enumerate() {
            for child in list(node, "children") {
                if let Some(parent) = index(child).and_then(|c| parents.get_mut(c)) {
                    parent.get_or_insert(i);
                }
            }
        }
        Self::new(&parents)
    }

    /// Of nodes with these parents.
    pub fn new(parents: &[Option<usize>]) -> Self {
        let mut children = vec![Vec::new(); parents.len()];
        let mut open = Vec::new();
        for (i, parent) in parents.iter().enumerate() {
            match parent {
                Some(parent) => children[*parent].push(i),
                None => open.push((i, false)),
            }
        }
        let mut spans = vec![None; parents.len()];
        let mut step = 0;
        while let Some((node, left)) = open.pop() {
            if left {
                if let Some((_, end)) = &mut spans[node] {
                    *end = step;
                }
                continue;
            }
            spans[node] = Some((step, step + 1));
            step += 1;
            open.push((node, true));
            open.extend(children[node].iter().map(|c| (*c, false)));
        }
        Self { spans }
    }

    /// Whether `above` is `node` or one of its ancestors.
    pub fn is_at_or_above(&self, above: usize, node: usize) -> bool {
        let span = |n: usize| self.spans.get(n).copied().flatten();
        match (span(above), span(node)) {
            (Some((start, end)), Some((at, _))) => (start..end).contains(&at),
            _ => above == node,
        }
    }

    /// The nearest of `candidates` above a node, which itself is left out.
    pub fn nearest_above(
        &self,
        node: usize,
        candidates: impl Iterator<Item = usize>,
    ) -> Option<usize> {
        candidates
            .filter(|c| *c != node && self.is_at_or_above(*c, node))
            .reduce(|a, b| if self.is_at_or_above(a, b) { b } else { a })
    }
}
