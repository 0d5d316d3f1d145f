//! Paths of prims as text.

use std::collections::HashSet;

/// Whether a prim is another one or below it.
pub(super) fn is_below(path: &str, top: &str) -> bool {
    let rest = path.strip_prefix(top.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a path is one of `tops` or below one of them.
pub(super) fn is_below_any(path: &str, tops: &HashSet<&str>) -> bool {
    let ends = path.match_indices('/').map(|(i, _)| i).skip(1);
    let mut above = ends.map(|i| &path[..i]).chain([path]);
    above.any(|p| tops.contains(p))
}
