//! Small questions about paths of sites.

use sinew_layer::Path;

/// How many elements a path has: prims and variants.
pub(super) fn elements(path: &Path) -> usize {
    let text = path.as_str();
    namespace_depth(path) + text.bytes().filter(|b| *b == b'{').count()
}

/// How many prims lead to a path. Variants do not count.
pub(super) fn namespace_depth(path: &Path) -> usize {
    let text = path.as_str().as_bytes();
    if text.len() < 2 {
        return 0;
    }
    let mut depth = 0;
    for (i, b) in text.iter().enumerate() {
        let next = text.get(i + 1);
        depth += match b {
            b'/' => 1,
            // A prim inside a variant has no slash.
            b'}' => usize::from(next.is_some_and(|n| !b"/{.".contains(n))),
            _ => 0,
        };
    }
    depth
}

/// A path without the variants at its end: the prim that they are variants of.
pub(super) fn without_last_variants(path: &Path) -> Path {
    let mut at = path.clone();
    while at.is_variant() {
        at = at.parent().unwrap_or_default();
    }
    at
}

/// The ancestor that is `levels` prims above a path. Its own variants stay, those between are left out.
pub(super) fn up(path: &Path, levels: usize) -> Path {
    let mut at = path.clone();
    for _ in 0..levels {
        at = without_last_variants(&at);
        at = at.parent().unwrap_or_default();
    }
    at
}

/// `path` with its prefix replaced; itself if it does not begin with `old`.
pub(super) fn replace(path: &Path, old: &Path, new: &Path) -> Path {
    path.replace_prefix(old, new)
        .unwrap_or_else(|| path.clone())
}
