//! Prims that a layer stack moves to other places.

use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;

use sinew_layer::Path;
use sinew_layer::layer::field;
use sinew_layer::value::Value;

use super::paths::{namespace_depth, replace};
use super::site;
use super::stack::LayerStack;
use super::work::Work;

/// The entries at and below a path.
pub(super) fn below<'a>(
    moves: &'a BTreeMap<Path, Path>,
    path: &'a Path,
) -> impl Iterator<Item = (&'a Path, &'a Path)> {
    let from = (Bound::Included(path), Bound::Unbounded);
    moves
        .range::<Path, _>(from)
        .take_while(move |(key, _)| key.has_prefix(path))
}

/// Fills in the relocates of a stack, from the metadata of its layers. Wrong ones are left out.
pub(super) fn compute(stack: &mut LayerStack, work: &Work<'_>) {
    let mut moves: BTreeMap<Path, Path> = BTreeMap::new();
    for layer in &stack.layers {
        let value = site::get(layer.layer.root(), field::LAYER_RELOCATES);
        let Some(Value::Relocates(all)) = value.as_deref() else {
            continue;
        };
        for (from, to) in all.iter() {
            let [from, to] = [from, to].map(|p| p.absolute(&Path::root()));
            match wrong(&from, &to) {
                None => drop(moves.entry(from).or_insert(to)),
                Some(reason) => {
                    let file = &layer.identifier;
                    work.report(
                        "bad-relocate",
                        format!("{file}: the relocate of <{from}> to <{to}> is ignored: {reason}"),
                    );
                }
            }
        }
    }
    if moves.is_empty() {
        return;
    }
    for from in conflicts(&moves) {
        let to = moves.remove(&from).unwrap_or_default();
        let text =
            format!("the relocate of <{from}> to <{to}> is ignored: it conflicts with another one");
        work.report("bad-relocate", text);
    }
    stack.moved_from = moves
        .iter()
        .filter(|(_, to)| !to.is_empty())
        .map(|(from, to)| (to.clone(), from.clone()))
        .collect();
    stack.origin_to = moves
        .iter()
        .map(|(from, to)| (origin(from, &stack.moved_from), to.clone()))
        .collect();
    stack.moved_to = moves;
}

/// Why a relocate cannot be.
fn wrong(from: &Path, to: &Path) -> Option<&'static str> {
    let is_prim = |p: &Path| p.is_prim() && !p.has_variants();
    if !is_prim(from) || !to.is_empty() && !is_prim(to) {
        return Some("expected the paths of prims");
    }
    if namespace_depth(from) == 1 {
        return Some("a root prim cannot be moved");
    }
    if to.is_empty() {
        return None;
    }
    (to.has_prefix(from) || from.has_prefix(to)).then_some("one path is above the other")
}

/// The sources of relocates that contradict others: two with one target, targets that are moved on, sources below sources.
fn conflicts(moves: &BTreeMap<Path, Path>) -> HashSet<Path> {
    let mut out = HashSet::new();
    let mut by_target: BTreeMap<&Path, &Path> = BTreeMap::new();
    let above = |path: &Path| std::iter::successors(path.parent(), Path::parent);
    for (from, to) in moves {
        if !to.is_empty() {
            if let Some(other) = by_target.insert(to, from) {
                out.extend([from.clone(), other.clone()]);
            }
            if let Some((other, _)) = moves.get_key_value(to) {
                out.extend([from.clone(), other.clone()]);
            }
            if above(to).any(|p| moves.contains_key(&p)) {
                out.insert(from.clone());
            }
        }
        if above(from).any(|p| moves.contains_key(&p)) {
            out.insert(from.clone());
        }
    }
    out
}

/// Where a source was before the relocates of its ancestors.
fn origin(from: &Path, moved_from: &BTreeMap<Path, Path>) -> Path {
    let mut at = from.clone();
    // Each step undoes one relocate; in a circle there would be more.
    for _ in 0..moved_from.len() {
        let above = std::iter::successors(Some(at.clone()), Path::parent);
        let Some((target, source)) = above.into_iter().find_map(|p| moved_from.get_key_value(&p))
        else {
            break;
        };
        at = replace(&at, target, source);
    }
    at
}
