//! Mapping of per-joint (or per-channel) values from one order to another (UsdSkelAnimMapper).

use std::collections::HashMap;

/// Where each element of a source order goes in a target order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnimMapper {
    /// Source index -> target index; a source element that the target lacks has none.
    target_of: Vec<Option<u32>>,
    target_len: usize,
    identity: bool,
}

impl AnimMapper {
    /// Matches elements by their whole token (rule 11), never by the last name alone. Where the
    /// target lists a token twice the last one is filled, as in usd-core.
    #[must_use]
    pub fn new<S: AsRef<str>, T: AsRef<str>>(source: &[S], target: &[T]) -> Self {
        let mut index: HashMap<&str, u32> = HashMap::with_capacity(target.len());
        for (i, t) in target.iter().enumerate() {
            index.insert(t.as_ref(), i as u32);
        }
        let target_of: Vec<_> = source
            .iter()
            .map(|s| index.get(s.as_ref()).copied())
            .collect();
        let identity = source.len() == target.len()
            && target_of
                .iter()
                .enumerate()
                .all(|(i, t)| *t == Some(i as u32));
        Self {
            target_of,
            target_len: target.len(),
            identity,
        }
    }

    /// Nothing of the source reaches the target.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.target_of.iter().all(Option::is_none)
    }

    /// Source and target are the same order.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.identity
    }

    /// Some element of the target is not filled by the source.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        let mut filled = vec![false; self.target_len];
        for t in self.target_of.iter().flatten() {
            filled[*t as usize] = true;
        }
        filled.contains(&false)
    }

    /// Number of source elements.
    #[must_use]
    pub fn source_len(&self) -> usize {
        self.target_of.len()
    }

    /// Number of target elements.
    #[must_use]
    pub fn target_len(&self) -> usize {
        self.target_len
    }

    /// Target index of each source element.
    pub fn targets(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.target_of.iter().map(|t| t.map(|t| t as usize))
    }

    /// Copies `source` into its places in `target`; what the source does not reach keeps the value
    /// it has (rule 11). A source shorter than the order fills what it can.
    ///
    /// # Panics
    /// Where `target` is shorter than the target order.
    pub fn remap<V: Clone>(&self, source: &[V], target: &mut [V]) {
        assert!(
            target.len() >= self.target_len,
            "target must hold the whole target order"
        );
        for (value, to) in source.iter().zip(&self.target_of) {
            if let Some(to) = to {
                target[*to as usize] = value.clone();
            }
        }
    }
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
        assert!(m.is_sparse() && !m.is_null() && !m.is_identity());
    }

    #[test]
    fn null_and_identity() {
        assert!(AnimMapper::new(&["x"], &["a"]).is_null());
        assert!(AnimMapper::new(&["a", "b"], &["a", "b"]).is_identity());
        assert!(AnimMapper::new::<&str, _>(&[], &["a"]).is_null());
    }

    #[test]
    fn the_last_of_equal_tokens_is_filled() {
        let mut out = [0; 3];
        AnimMapper::new(&["a", "b"], &["a", "a", "b"]).remap(&[1, 2], &mut out);
        assert_eq!(out, [0, 1, 2]);
    }

    #[test]
    fn whole_paths_only() {
        assert!(AnimMapper::new(&["Root/Arm"], &["Arm"]).is_null());
    }
}
