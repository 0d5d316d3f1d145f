//! How paths and times of a node become paths and times of the stage.

use std::collections::HashMap;
use std::sync::Arc;

use sinew_layer::value::LayerOffset;
use sinew_layer::{Path, Token};

use super::paths::{elements, replace};

/// Maps paths and times from one namespace to another. The map is one to one: a path whose image would map back to another
/// path has no image. The identity owns no memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map(Option<Arc<Pairs>>);

/// The content of a map that is not the identity.
#[derive(Debug, PartialEq)]
struct Pairs {
    pairs: List,
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
            pairs = List::new(pairs).without_redundant();
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
            pairs: List::new(pairs),
            root,
            offset,
        })))
    }

    /// Whether this map changes nothing.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.0.is_none()
    }

    /// About how many bytes of memory it takes, shared by those who have it; the texts of its paths are the nodes'.
    pub(super) fn memory(&self) -> usize {
        self.0.as_ref().map_or(0, |map| {
            let list = &map.pairs;
            let index = list.index.as_ref().map_or(0, |_| list.all.len() * 128);
            let bytes = size_of::<Pairs>() + size_of_val(&list.all[..]) + index + 64;
            bytes / Arc::strong_count(map)
        })
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
        let best = map.pairs.best_source(path, 0);
        let image = match best {
            Some(i) if map.pairs.all[i].1.is_empty() => return None,
            Some(i) => replace(path, &map.pairs.all[i].0, &map.pairs.all[i].1),
            None if map.root => path.clone(),
            None => return None,
        };
        let least = best.map_or(0, |i| elements(&map.pairs.all[i].1));
        let back = map.pairs.best_target(&image, least);
        (back.is_none() || back == best).then_some(image)
    }

    /// The path whose image is this path. None if there is none.
    #[must_use]
    pub fn to_source(&self, path: &Path) -> Option<Path> {
        let Some(map) = &self.0 else {
            return Some(path.clone());
        };
        let best = map.pairs.best_target(path, 0);
        let image = match best {
            Some(i) => replace(path, &map.pairs.all[i].1, &map.pairs.all[i].0),
            None if map.root => path.clone(),
            None => return None,
        };
        let least = best.map_or(0, |i| elements(&map.pairs.all[i].0));
        let back = map.pairs.best_source(&image, least);
        (back.is_none() || back == best).then_some(image)
    }

    /// First `inner`, then this map.
    pub(super) fn after(&self, inner: &Self) -> Self {
        let (Some(outer_map), Some(inner_map)) = (&self.0, &inner.0) else {
            return if self.is_identity() { inner } else { self }.clone();
        };
        // All places where the composed map can differ from that of the place above.
        let mut sources: Vec<Path> = inner_map.pairs.all.iter().map(|(s, _)| s.clone()).collect();
        sources.extend(
            outer_map
                .pairs
                .all
                .iter()
                .filter_map(|(s, _)| inner.to_source(s)),
        );
        // Maps with relocates have more pairs, and leave their targets as they are.
        if inner_map.root && inner_map.pairs.all.len() < 2 && outer_map.pairs.all.len() < 2 {
            let ends = inner_map.pairs.all.iter().map(|(_, t)| t);
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
        let pairs = map.pairs.all.iter().filter(|(_, t)| !t.is_empty());
        let pairs = pairs.map(|(s, t)| (t.clone(), s.clone())).collect();
        Self::new(pairs, map.root, map.offset.inverse())
    }

    /// This map, with all paths that it does not map staying as they are.
    pub(super) fn with_root_identity(&self) -> Self {
        match &self.0 {
            Some(map) if !map.root => Self::new(map.pairs.all.clone(), true, map.offset),
            _ => self.clone(),
        }
    }
}

/// Sources and targets, ordered by the length of the source. An empty target says that the source has no image.
#[derive(Debug, PartialEq)]
struct List {
    all: Vec<(Path, Path)>,
    index: Option<Box<Index>>,
}

/// Where each source and each target is in a list of many pairs of prims, which relocates make.
#[derive(Debug, Default, PartialEq)]
struct Index {
    sources: HashMap<Token, Vec<usize>>,
    targets: HashMap<Token, Vec<usize>>,
}

/// Up to this many pairs are compared one by one.
const FEW: usize = 16;

impl List {
    fn new(all: Vec<(Path, Path)>) -> Self {
        let is_plain = |path: &Path| !path.as_str().contains(['.', '[']);
        let many = all.len() > FEW && all.iter().all(|(s, t)| is_plain(s) && is_plain(t));
        let index = many.then(|| {
            let mut index = Index::default();
            for (at, (source, target)) in all.iter().enumerate() {
                let source = index.sources.entry(source.as_str().into());
                source.or_default().push(at);
                let target = index.targets.entry(target.as_str().into());
                target.or_default().push(at);
            }
            Box::new(index)
        });
        Self { all, index }
    }

    /// The pairs without those that change nothing.
    fn without_redundant(mut self) -> Vec<(Path, Path)> {
        if self.index.is_none() {
            let mut at = 0;
            while at < self.all.len() {
                match self.is_redundant(at) {
                    true => drop(self.all.remove(at)),
                    false => at += 1,
                }
            }
            return self.all;
        }
        let mut kept = Vec::with_capacity(self.all.len());
        for at in 0..self.all.len() {
            let redundant = self.is_redundant(at);
            if redundant {
                self.forget(at);
            }
            kept.push(!redundant);
        }
        let mut kept = kept.into_iter();
        self.all.retain(|_| kept.next() == Some(true));
        self.all
    }

    /// Takes a pair out of the index.
    fn forget(&mut self, at: usize) {
        let (source, target) = &self.all[at];
        if let Some(index) = &mut self.index {
            let sources = index.sources.get_mut(source.as_str());
            let targets = index.targets.get_mut(target.as_str());
            for places in [sources, targets].into_iter().flatten() {
                places.retain(|other| *other != at);
            }
        }
    }

    /// The pair with the longest source that is a prefix of a path, if that source has at least `least` elements.
    fn best_source(&self, path: &Path, least: usize) -> Option<usize> {
        let best = match &self.index {
            Some(index) => longest(path, &index.sources),
            None => self.all.iter().rposition(|(s, _)| path.has_prefix(s)),
        };
        best.filter(|at| least == 0 || elements(&self.all[*at].0) >= least)
    }

    /// The pair with the longest target that is a prefix of a path, if that target has at least `least` elements.
    fn best_target(&self, path: &Path, least: usize) -> Option<usize> {
        if let Some(index) = &self.index {
            let best = longest(path, &index.targets);
            return best.filter(|at| elements(&self.all[*at].1) >= least);
        }
        let mut best = None;
        let mut longest = least;
        for (i, (_, target)) in self.all.iter().enumerate() {
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
    fn is_redundant(&self, at: usize) -> bool {
        let (source, target) = &self.all[at];
        let Some(above) = source.parent() else {
            return false;
        };
        let best = self.best_source(&above, 0);
        let better = |image: &Path| {
            let least = best.map_or(0, |i: usize| elements(&self.all[i].1));
            let back = self.best_target(image, least);
            back.is_some() && back != best
        };
        match best {
            None => target.is_empty(),
            Some(i) if self.all[i].1.is_empty() => target.is_empty(),
            Some(i) => {
                let image = replace(source, &self.all[i].0, &self.all[i].1);
                if target.is_empty() {
                    return better(&image);
                }
                image == *target && !better(&target.parent().unwrap_or_default())
            }
        }
    }
}

/// The last place of the longest prefix of a path that has a place: what [`Path::has_prefix`] takes for one.
fn longest(path: &Path, places: &HashMap<Token, Vec<usize>>) -> Option<usize> {
    let text = path.as_str();
    let bytes = text.as_bytes();
    let is_end = |at: &usize| {
        let next = bytes.get(*at);
        next.is_none_or(|b| b"/.{[".contains(b)) || bytes[at - 1] == b'}'
    };
    let prefixes = (1..=bytes.len()).rev().filter(is_end).map(|at| &text[..at]);
    let root = path.is_absolute().then_some("/");
    prefixes
        .chain(root)
        .find_map(|prefix| places.get(prefix)?.last().copied())
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
    fn many_pairs_are_found_as_few_are() {
        let mut random = 1u32;
        let mut next = |below: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 16) % below
        };
        let names = ["/A", "/B", "/AB", "{v=x}", "{v=y}C"];
        for _ in 0..300 {
            let mut any = || {
                let first = names[next(3) as usize].to_owned();
                let parts = (0..next(4)).map(|_| next(5) as usize);
                let text = parts.fold(first, |text, n| match (n, text.ends_with('}')) {
                    (0..3, true) => format!("{text}{}", &names[n][1..]),
                    _ => text + names[n],
                });
                path(&text)
            };
            let mut pairs: Vec<(Path, Path)> = (0..40).map(|_| (any(), any())).collect();
            pairs.push((any(), Path::default()));
            pairs.push((Path::root(), Path::root()));
            pairs.sort_by_cached_key(|(source, _)| (elements(source), source.clone()));
            let many = List::new(pairs.clone());
            assert!(many.index.is_some());
            let few = |all| List { all, index: None };
            let one_by_one = few(pairs.clone());
            for _ in 0..20 {
                let (path, least) = (any(), elements(&any()));
                let source = one_by_one.best_source(&path, least);
                assert_eq!(many.best_source(&path, least), source, "{path}, {pairs:?}");
                let target = one_by_one.best_target(&path, least);
                assert_eq!(many.best_target(&path, least), target, "{path}, {pairs:?}");
            }
            let reduced = one_by_one.without_redundant();
            assert!(reduced.len() > FEW);
            assert_eq!(many.without_redundant(), reduced);
        }
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
