//! Lists that stronger layers edit.

use std::collections::HashSet;
use std::hash::Hash;

/// An edit of a list: the whole list, or what to prepend, append, delete and reorder.
#[derive(Clone, Debug, PartialEq)]
pub struct ListOp<T> {
    /// Whether `explicit_items` is the whole list. The other lists are then empty.
    pub explicit: bool,
    pub explicit_items: Vec<T>,
    /// Items of the deprecated `add`, which are appended if they are not there.
    pub added: Vec<T>,
    pub prepended: Vec<T>,
    pub appended: Vec<T>,
    pub deleted: Vec<T>,
    /// The order of items that are there already.
    pub ordered: Vec<T>,
}

impl<T> Default for ListOp<T> {
    fn default() -> Self {
        Self {
            explicit: false,
            explicit_items: Vec::new(),
            added: Vec::new(),
            prepended: Vec::new(),
            appended: Vec::new(),
            deleted: Vec::new(),
            ordered: Vec::new(),
        }
    }
}

impl<T> ListOp<T> {
    /// A whole list.
    #[must_use]
    pub fn explicit(items: Vec<T>) -> Self {
        Self {
            explicit: true,
            explicit_items: items,
            ..Self::default()
        }
    }

    /// A list that is put in front of a weaker one.
    #[must_use]
    pub fn prepended(items: Vec<T>) -> Self {
        Self {
            prepended: items,
            ..Self::default()
        }
    }

    /// All lists with their names in usda text; the explicit list's is empty.
    pub fn lists(&self) -> [(&'static str, &Vec<T>); 6] {
        [
            ("", &self.explicit_items),
            ("delete", &self.deleted),
            ("add", &self.added),
            ("prepend", &self.prepended),
            ("append", &self.appended),
            ("reorder", &self.ordered),
        ]
    }

    /// This edit with each item replaced; items for which `f` gives nothing are left out.
    pub fn filter_map<U>(&self, mut f: impl FnMut(&T) -> Option<U>) -> ListOp<U> {
        let mut all = |items: &[T]| items.iter().filter_map(&mut f).collect();
        ListOp {
            explicit: self.explicit,
            explicit_items: all(&self.explicit_items),
            added: all(&self.added),
            prepended: all(&self.prepended),
            appended: all(&self.appended),
            deleted: all(&self.deleted),
            ordered: all(&self.ordered),
        }
    }
}

impl<T: Clone + Eq + Hash> ListOp<T> {
    /// Applies this edit to the list of the weaker opinions, as USD's `SdfListOp::ApplyOperations`: delete,
    /// add, prepend, append, reorder, in this order. An item that is there twice counts once.
    pub fn apply(&self, list: &mut Vec<T>) {
        if self.explicit {
            list.clear();
            let mut seen = HashSet::new();
            list.extend(
                self.explicit_items
                    .iter()
                    .filter(|i| seen.insert(*i))
                    .cloned(),
            );
            return;
        }
        if !self.deleted.is_empty() {
            let gone: HashSet<&T> = self.deleted.iter().collect();
            list.retain(|item| !gone.contains(item));
        }
        if !self.added.is_empty() {
            let mut seen: HashSet<T> = list.iter().cloned().collect();
            list.extend(
                self.added
                    .iter()
                    .filter(|i| seen.insert((*i).clone()))
                    .cloned(),
            );
        }
        if !self.prepended.is_empty() {
            let mut seen = HashSet::new();
            let mut out: Vec<T> = Vec::with_capacity(list.len() + self.prepended.len());
            out.extend(self.prepended.iter().filter(|i| seen.insert(*i)).cloned());
            out.extend(list.drain(..).filter(|i| !seen.contains(i)));
            *list = out;
        }
        if !self.appended.is_empty() {
            let items: HashSet<&T> = self.appended.iter().collect();
            list.retain(|i| !items.contains(i));
            // Of an item that is appended twice the last counts.
            let mut seen = HashSet::new();
            let mut tail: Vec<T> = self
                .appended
                .iter()
                .rev()
                .filter(|i| seen.insert(*i))
                .cloned()
                .collect();
            tail.reverse();
            list.extend(tail);
        }
        if !self.ordered.is_empty() {
            reorder(list, &self.ordered);
        }
    }
}

/// Puts the items of `order` that are in the list in this order. Each takes with it the items that follow
/// it and are not in `order`, as in USD's `SdfListOp`.
pub fn reorder<T: Clone + Eq + Hash>(list: &mut Vec<T>, order: &[T]) {
    let mut seen = HashSet::new();
    let order: Vec<&T> = order.iter().filter(|i| seen.insert(*i)).collect();
    let here: HashSet<&T> = list.iter().collect();
    let order: Vec<&T> = order.into_iter().filter(|i| here.contains(i)).collect();
    let first = list
        .iter()
        .position(|i| seen.contains(i))
        .unwrap_or(list.len());
    let mut runs: std::collections::HashMap<&T, Vec<T>> = std::collections::HashMap::new();
    let mut current: Option<&T> = None;
    for item in &list[first..] {
        if seen.contains(item) {
            current = Some(item);
        }
        if let Some(head) = current {
            runs.entry(head).or_default().push(item.clone());
        }
    }
    let mut out: Vec<T> = list[..first].to_vec();
    for item in order {
        out.extend(runs.remove(item).unwrap_or_default());
    }
    *list = out;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(op: &ListOp<i32>, list: &[i32]) -> Vec<i32> {
        let mut list = list.to_vec();
        op.apply(&mut list);
        list
    }

    #[test]
    fn edits_apply_in_usds_order() {
        let op = ListOp {
            deleted: vec![1, 2],
            added: vec![3, 9],
            prepended: vec![2, 4],
            appended: vec![3, 5],
            ..ListOp::default()
        };
        assert_eq!(applied(&op, &[1, 2, 3, 6]), [2, 4, 6, 9, 3, 5]);
        assert_eq!(applied(&ListOp::explicit(vec![3, 3, 1]), &[7]), [3, 1]);
        let op = ListOp {
            ordered: vec![5, 3],
            ..ListOp::default()
        };
        assert_eq!(applied(&op, &[0, 3, 4, 5, 6]), [0, 5, 6, 3, 4]);
    }
}
