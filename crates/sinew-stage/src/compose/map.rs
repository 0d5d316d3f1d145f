//! How paths and times of a node become paths and times of the stage.

use std::sync::Arc;

use sinew_layer::Path;
use sinew_layer::value::LayerOffset;

use super::paths::{elements, replace};

/// Maps paths and times from one namespace to another. The map is one to one: a path whose image would map back to another
/// path has no image. The identity owns no memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map(Option<Arc<Pairs>>);

/// The content of a map that is not the identity.
#[derive(Debug, PartialEq)]
struct Pairs {
    /// Sources and targets, ordered by the length of the source. An empty target says that the source has no image.
    pairs: Vec<(Path, Path)>,
    /// Whether paths that no pair maps stay as they are.
    root: bool,
    offset: LayerOffset,
}

impl Map {
    /// A map that changes nothing.
    pub const IDENTITY: Self = Self(None);

    /// A map of these pairs. With `root`, all other paths stay as they are.
    pub(super) fn new(mut pairs: Vec<(Path, Path)>, root: bool, offset: LayerOffset) -> Self {
        if root {
            pairs.push((Path::root(), Path::root()));
        }
        if pairs.len() > 1 {
            pairs.sort_by_cached_key(|(source, _)| (elements(source), source.clone()));
            let mut i = 0;
            while i < pairs.len() {
                match is_redundant(i, &pairs) {
                    true => drop(pairs.remove(i)),
                    false => i += 1,
                }
            }
        }
        let is_root = |(s, t): &(Path, Path)| s.is_root() && t.is_root();
        let root = pairs.first().is_some_and(is_root);
        if root {
            pairs.remove(0);
        }
        if root && pairs.is_empty() && offset.is_identity() {
            return Self::IDENTITY;
        }
        Self(Some(Arc::new(Pairs {
            pairs,
            root,
            offset,
        })))
    }

    /// Whether this map changes nothing.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.0.is_none()
    }

    /// About how many bytes of memory it takes; the texts of its paths are the nodes'.
    pub(super) fn memory(&self) -> usize {
        let of_pairs = |p: &Arc<Pairs>| size_of::<Pairs>() + size_of_val(&p.pairs[..]) + 64;
        self.0.as_ref().map_or(0, of_pairs)
    }

    /// Source time to target time.
    #[must_use]
    pub fn offset(&self) -> LayerOffset {
        self.0.as_ref().map_or(LayerOffset::IDENTITY, |p| p.offset)
    }

    /// The image of a path. None if the map does not reach it.
    #[must_use]
    pub fn to_target(&self, path: &Path) -> Option<Path> {
        let Some(map) = &self.0 else {
            return Some(path.clone());
        };
        let best = best_source(path, &map.pairs, 0);
        let image = match best {
            Some(i) if map.pairs[i].1.is_empty() => return None,
            Some(i) => replace(path, &map.pairs[i].0, &map.pairs[i].1),
            None if map.root => path.clone(),
            None => return None,
        };
        let least = best.map_or(0, |i| elements(&map.pairs[i].1));
        let back = best_target(&image, &map.pairs, least);
        (back.is_none() || back == best).then_some(image)
    }

    /// The path whose image is this path. None if there is none.
    #[must_use]
    pub fn to_source(&self, path: &Path) -> Option<Path> {
        let Some(map) = &self.0 else {
            return Some(path.clone());
        };
        let best = best_target(path, &map.pairs, 0);
        let image = match best {
            Some(i) => replace(path, &map.pairs[i].1, &map.pairs[i].0),
            None if map.root => path.clone(),
            None => return None,
        };
        let least = best.map_or(0, |i| elements(&map.pairs[i].0));
        let back = best_source(&image, &map.pairs, least);
        (back.is_none() || back == best).then_some(image)
    }

    /// First `inner`, then this map.
    pub(super) fn after(&self, inner: &Self) -> Self {
        let (Some(outer_map), Some(inner_map)) = (&self.0, &inner.0) else {
            return if self.is_identity() { inner } else { self }.clone();
        };
        // All places where the composed map can differ from that of the place above.
        let mut sources: Vec<Path> = inner_map.pairs.iter().map(|(s, _)| s.clone()).collect();
        sources.extend(
            outer_map
                .pairs
                .iter()
                .filter_map(|(s, _)| inner.to_source(s)),
        );
        // Maps with relocates have more pairs, and leave their targets as they are.
        if inner_map.root && inner_map.pairs.len() < 2 && outer_map.pairs.len() < 2 {
            let ends = inner_map.pairs.iter().map(|(_, t)| t);
            sources.extend(ends.filter(|t| !t.is_empty()).cloned());
        }
        sources.sort_unstable();
        sources.dedup();
        let image = |path: &Path| self.to_target(&inner.to_target(path)?);
        let pairs = sources
            .into_iter()
            .map(|source| {
                let target = image(&source).unwrap_or_default();
                (source, target)
            })
            .collect();
        let root = outer_map.root && inner_map.root;
        Self::new(pairs, root, outer_map.offset.after(&inner_map.offset))
    }

    /// The map back.
    pub(super) fn inverse(&self) -> Self {
        let Some(map) = &self.0 else {
            return Self::IDENTITY;
        };
        let pairs = map.pairs.iter().filter(|(_, t)| !t.is_empty());
        let pairs = pairs.map(|(s, t)| (t.clone(), s.clone())).collect();
        Self::new(pairs, map.root, map.offset.inverse())
    }

    /// This map, with all paths that it does not map staying as they are.
    pub(super) fn with_root_identity(&self) -> Self {
        match &self.0 {
            Some(map) if !map.root => Self::new(map.pairs.clone(), true, map.offset),
            _ => self.clone(),
        }
    }
}

/// The pair with the longest source that is a prefix of a path, if that source has at least `least` elements.
fn best_source(path: &Path, pairs: &[(Path, Path)], least: usize) -> Option<usize> {
    let (i, (source, _)) = pairs
        .iter()
        .enumerate()
        .rev()
        .find(|(_, (source, _))| path.has_prefix(source))?;
    (least == 0 || elements(source) >= least).then_some(i)
}

/// The pair with the longest target that is a prefix of a path, if that target has at least `least` elements.
fn best_target(path: &Path, pairs: &[(Path, Path)], least: usize) -> Option<usize> {
    let mut best = None;
    let mut longest = least;
    for (i, (_, target)) in pairs.iter().enumerate() {
        if !target.is_empty() && path.has_prefix(target) {
            let len = elements(target);
            if len >= longest {
                longest = len;
                best = Some(i);
            }
        }
    }
    best
}

/// Whether the map would be the same without a pair.
fn is_redundant(at: usize, pairs: &[(Path, Path)]) -> bool {
    let (source, target) = &pairs[at];
    let Some(above) = source.parent() else {
        return false;
    };
    let best = best_source(&above, pairs, 0);
    let better = |image: &Path| {
        let least = best.map_or(0, |i: usize| elements(&pairs[i].1));
        let back = best_target(image, pairs, least);
        back.is_some() && back != best
    };
    match best {
        None => target.is_empty(),
        Some(i) if pairs[i].1.is_empty() => target.is_empty(),
        Some(i) => {
            let image = replace(source, &pairs[i].0, &pairs[i].1);
            if target.is_empty() {
                return better(&image);
            }
            image == *target && !better(&target.parent().unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    fn map(pairs: &[(&str, &str)], root: bool) -> Map {
        let pairs = pairs.iter().map(|(s, t)| (path(s), path(t))).collect();
        Map::new(pairs, root, LayerOffset::IDENTITY)
    }

    #[test]
    fn maps_are_one_to_one() {
        let class = map(&[("/_class", "/Model")], true);
        assert_eq!(class.to_target(&path("/_class/A")), Some(path("/Model/A")));
        assert_eq!(class.to_target(&path("/Model")), None);
        assert_eq!(class.to_target(&path("/Other.x")), Some(path("/Other.x")));
        assert_eq!(class.to_source(&path("/Model")), Some(path("/_class")));
        let nested = map(&[("/A", "/A/B")], false);
        assert_eq!(nested.to_target(&path("/A/B")), Some(path("/A/B/B")));
        assert_eq!(nested.to_target(&path("/C")), None);
    }

    #[test]
    fn composed_maps_apply_one_after_the_other() {
        let reference = map(&[("/Char", "/World/C1")], false);
        let inner = map(&[("/Lib/Rig", "/Char/Rig")], true);
        let both = reference.after(&inner);
        let image = both.to_target(&path("/Lib/Rig/x"));
        assert_eq!(image, Some(path("/World/C1/Rig/x")));
        assert_eq!(both.to_target(&path("/Else")), None);
        let back = both.inverse();
        assert_eq!(
            back.to_target(&path("/World/C1/Rig")),
            Some(path("/Lib/Rig"))
        );
        assert!(Map::new(Vec::new(), true, LayerOffset::IDENTITY).is_identity());
        // A pair that the root identity implies is no pair.
        assert!(map(&[("/A", "/A")], true).is_identity());
    }
}
