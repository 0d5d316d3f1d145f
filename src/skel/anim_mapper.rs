//! Maps values per joint (or per channel) from one order of tokens to another (UsdSkelAnimMapper).
//!
//! As in Pixar's code, a mapper is of one of two kinds. They differ if a token is listed twice, or
//! if there are more values than source tokens:
//!
//! - *Ordered*: the target order contains the whole source order in one piece, which begins where
//!   the first source token first occurs. Values are copied there as one block. Values after the
//!   source order are copied too, as far as the target order reaches.
//! - *Indexed*: every other case. A source token maps to the *last* equal token of the target. Of
//!   equal source tokens, the last one gives the value. Values after the source order are dropped.
//!
//! Tokens are compared as a whole, never by the last name of a path (rule 11).

use std::collections::HashMap;

use glam::DMat4;

use super::utils::UtilError;

/// Maps the elements of a source order to those of a target order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnimMapper {
    source_len: usize,
    target_len: usize,
    map: Map,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Map {
    /// One of the orders is empty.
    Null,
    /// The source order is the part of the target order that starts here.
    Ordered { offset: usize },
    /// Target index of each source element; `None` if the target lacks it.
    Indexed(Vec<Option<u32>>),
}

impl AnimMapper {
    /// Creates the mapper from `source` order to `target` order.
    #[must_use]
    pub fn new<S: AsRef<str>, T: AsRef<str>>(source: &[S], target: &[T]) -> Self {
        let (source_len, target_len) = (source.len(), target.len());
        let map = match ordered_offset(source, target) {
            _ if source.is_empty() || target.is_empty() => Map::Null,
            Some(offset) => Map::Ordered { offset },
            None => {
                let index: HashMap<&str, u32> = target.iter().map(AsRef::as_ref).zip(0..).collect();
                let target_of = |s: &S| index.get(s.as_ref()).copied();
                Map::Indexed(source.iter().map(target_of).collect())
            }
        };
        Self {
            source_len,
            target_len,
            map,
        }
    }

    /// The mapper of an order of `len` elements to itself, also if `len` is 0.
    #[must_use]
    pub fn identity(len: usize) -> Self {
        Self {
            source_len: len,
            target_len: len,
            map: Map::Ordered { offset: 0 },
        }
    }

    /// Whether one of the orders is empty, so that nothing is mapped. If two orders have no common
    /// token, their mapper is *not* null, as in Pixar's code (but unlike its documentation): see
    /// [`AnimMapper::reaches_nothing`].
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.map == Map::Null
    }

    /// Whether no source element has a place in the target: the mapper is null, or the orders have
    /// no common token. Pixar's mapper has no such method.
    #[must_use]
    pub fn reaches_nothing(&self) -> bool {
        self.targets().all(|t| t.is_none())
    }

    /// Whether source and target are the same order, so that values can be used as they are.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.map == Map::Ordered { offset: 0 } && self.source_len == self.target_len
    }

    /// Whether some target element has no source element. True for every null mapper, also if the
    /// target is empty.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        match &self.map {
            Map::Null => true,
            Map::Ordered { .. } => !self.is_identity(),
            Map::Indexed(_) => {
                let mut filled = vec![false; self.target_len];
                for t in self.targets().flatten() {
                    filled[t] = true;
                }
                filled.contains(&false)
            }
        }
    }

    /// Number of source elements.
    #[must_use]
    pub fn source_len(&self) -> usize {
        self.source_len
    }

    /// Number of target elements (Pixar's `size`).
    #[must_use]
    pub fn target_len(&self) -> usize {
        self.target_len
    }

    /// Target index of each source element; `None` if the target lacks it.
    pub fn targets(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        (0..self.source_len).map(|i| match &self.map {
            Map::Null => None,
            Map::Ordered { offset } => Some(offset + i),
            Map::Indexed(target_of) => target_of[i].map(|t| t as usize),
        })
    }

    /// Copies `source` to its places in `target`. Other elements of `target` keep their values
    /// (rule 11). `source` may be shorter than the source order. If `target` is shorter than the
    /// target order, values beyond its end are dropped.
    pub fn remap<V: Clone>(&self, source: &[V], target: &mut [V]) {
        let count = self.target_len.min(target.len());
        self.copy(source, &mut target[..count], 1);
    }

    /// Pixar's Remap: as [`AnimMapper::remap`], with `element_size` values per token. It first
    /// resizes `target` to the target order and fills new elements with `default`. If the mapper is
    /// an identity and `source` is as long as the order, `source` replaces `target`.
    ///
    /// # Errors
    /// An `element_size` of 0.
    pub fn remap_resized<V: Clone>(
        &self,
        source: &[V],
        target: &mut Vec<V>,
        element_size: usize,
        default: &V,
    ) -> Result<(), UtilError> {
        if element_size == 0 {
            return Err(UtilError::ElementSize);
        }
        target.resize(self.target_len * element_size, default.clone());
        self.copy(source, target, element_size);
        Ok(())
    }

    /// Pixar's RemapTransforms: [`AnimMapper::remap_resized`], with the identity for transforms
    /// that are added.
    ///
    /// # Errors
    /// An `element_size` of 0.
    pub fn remap_transforms(
        &self,
        source: &[DMat4],
        target: &mut Vec<DMat4>,
        element_size: usize,
    ) -> Result<(), UtilError> {
        self.remap_resized(source, target, element_size, &DMat4::IDENTITY)
    }

    /// Copies values to `target`, which has `element_size` values per token of the target order.
    /// Values beyond its end are dropped.
    fn copy<V: Clone>(&self, source: &[V], target: &mut [V], element_size: usize) {
        match &self.map {
            Map::Null => {}
            Map::Ordered { offset } => {
                let target = target.get_mut(offset * element_size..).unwrap_or_default();
                let n = source.len().min(target.len());
                target[..n].clone_from_slice(&source[..n]);
            }
            Map::Indexed(target_of) => {
                for (values, to) in source.chunks_exact(element_size).zip(target_of) {
                    if let Some(to) = to {
                        let start = *to as usize * element_size;
                        if let Some(to) = target.get_mut(start..start + element_size) {
                            to.clone_from_slice(values);
                        }
                    }
                }
            }
        }
    }
}

/// The place where the target contains the whole source order in one piece, if that piece begins
/// where the first source token first occurs.
fn ordered_offset<S: AsRef<str>, T: AsRef<str>>(source: &[S], target: &[T]) -> Option<usize> {
    let first = source.first()?.as_ref();
    let offset = target.iter().position(|t| t.as_ref() == first)?;
    let part = target[offset..].get(..source.len())?;
    let same = part
        .iter()
        .zip(source)
        .all(|(t, s)| t.as_ref() == s.as_ref());
    same.then_some(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaps_and_keeps() {
        let m = AnimMapper::new(&["c", "x", "a"], &["a", "b", "c"]);
        let mut out = [10, 20, 30];
        m.remap(&[1, 2, 3], &mut out);
        assert_eq!(out, [3, 20, 1]);
        let mut short = [10];
        m.remap(&[1, 2, 3], &mut short);
        assert_eq!(short, [3]);
        assert!(m.is_sparse() && !m.is_null() && !m.is_identity());
    }

    #[test]
    fn null_and_identity() {
        let foreign = AnimMapper::new(&["x"], &["a"]);
        assert!(!foreign.is_null() && foreign.reaches_nothing());
        assert!(AnimMapper::new(&["a", "b"], &["a", "b"]).is_identity());
        assert!(AnimMapper::new::<&str, _>(&[], &["a"]).is_null());
        assert!(AnimMapper::identity(0).is_identity() && !AnimMapper::identity(0).is_null());
    }

    #[test]
    fn the_last_of_equal_tokens_is_filled() {
        let mut out = [0; 3];
        AnimMapper::new(&["a", "b"], &["a", "a", "b"]).remap(&[1, 2], &mut out);
        assert_eq!(out, [0, 1, 2]);
    }

    #[test]
    fn whole_paths_only() {
        assert!(AnimMapper::new(&["Root/Arm"], &["Arm"]).reaches_nothing());
    }
}
