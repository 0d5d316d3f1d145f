//! What a writer keeps in memory until a file is finished: tokens, strings, fields and sets of fields, each once.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

use foldhash::SharedSeed;
use smol_str::SmolStr;

use super::super::format::Rep;
use crate::layer::Fields;

pub(super) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// 128 bits that stand for a value's type and bytes.
pub(super) type Hash = [u64; 2];

/// Two hashes of 64 bits whose seeds are random and do not depend on each other. With a billion values the
/// probability that any two of them collide is below 10^-20, so equal hashes count as equal values.
pub(super) struct ContentHash {
    seeds: [(u64, SharedSeed); 2],
}

impl ContentHash {
    pub fn new() -> Self {
        let random = || std::hash::RandomState::new().build_hasher().finish();
        Self {
            seeds: [0; 2].map(|_| (random(), SharedSeed::from_u64(random()))),
        }
    }

    /// `tag` says what kind of value the bytes are.
    pub fn of(&self, tag: u8, bytes: &[u8]) -> Hash {
        [&self.seeds[0], &self.seeds[1]].map(|(seed, shared)| {
            let mut hasher = foldhash::quality::FoldHasher::with_seed(*seed, shared);
            hasher.write_u64((bytes.len() as u64) << 8 | u64::from(tag));
            hasher.write(bytes);
            hasher.finish()
        })
    }
}

/// Tokens, and the strings, which are tokens that have an index of their own.
pub(super) struct Tokens {
    /// The texts, each with a NUL behind it, as the section has them.
    pub text: Vec<u8>,
    index: Map<SmolStr, u32>,
    /// The token of each string.
    pub strings: Vec<u32>,
    string_of_token: Map<u32, u32>,
}

impl Tokens {
    pub fn new() -> Self {
        let mut tokens = Self {
            text: Vec::new(),
            index: Map::default(),
            strings: Vec::new(),
            string_of_token: Map::default(),
        };
        // The sign of a token's index says whether a path's element is a property, and 0 has none. So token 0 is a
        // text that no property can have; USD writes the same one.
        tokens.add(&SmolStr::new_static(";-)"));
        tokens
    }

    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// None if the text has a NUL, or if there are too many tokens.
    pub fn add(&mut self, token: &SmolStr) -> Option<u32> {
        if let Some(index) = self.index.get(token) {
            return Some(*index);
        }
        // Indices have a sign in the table of paths.
        let index = i32::try_from(self.index.len()).ok()? as u32;
        if token.as_bytes().contains(&0) {
            return None;
        }
        self.text.extend(token.as_bytes());
        self.text.push(0);
        self.index.insert(token.clone(), index);
        Some(index)
    }

    /// As [`Self::add`], for a text that is no `SmolStr` yet.
    pub fn add_text(&mut self, text: &str) -> Option<u32> {
        match self.index.get(text) {
            Some(index) => Some(*index),
            None => self.add(&SmolStr::new(text)),
        }
    }

    /// The index of a string.
    pub fn add_string(&mut self, text: &SmolStr) -> Option<u32> {
        let token = self.add(text)?;
        let next = self.strings.len() as u32;
        let index = *self.string_of_token.entry(token).or_insert(next);
        if index == next {
            self.strings.push(token);
        }
        Some(index)
    }

    /// All texts by index.
    pub fn all(&self) -> Vec<&[u8]> {
        let mut all: Vec<&[u8]> = self.text.split(|b| *b == 0).collect();
        // Nothing follows the last NUL.
        all.pop();
        all
    }
}

/// Fields (a token and a value) and sets of them.
#[derive(Default)]
pub(super) struct FieldTable {
    pub fields: Vec<(u32, Rep)>,
    index: Map<(u32, Rep), u32>,
    /// Runs of indices of fields, each with `END` behind it.
    pub sets: Vec<u32>,
    set_index: Map<Hash, u32>,
}

/// Ends a set of fields.
pub(super) const END: u32 = u32::MAX;

impl FieldTable {
    /// None if there are too many.
    pub fn add(&mut self, token: u32, rep: Rep) -> Option<u32> {
        let next = self.fields.len();
        if next >= i32::MAX as usize {
            return None;
        }
        let index = *self.index.entry((token, rep)).or_insert(next as u32);
        if index as usize == next {
            self.fields.push((token, rep));
        }
        Some(index)
    }

    /// Where a set of fields starts. None if there are too many.
    pub fn add_set(&mut self, fields: &[u32], hash: &ContentHash) -> Option<u32> {
        let next = i32::try_from(self.sets.len()).ok()? as u32;
        let key = hash.of(0, bytemuck::cast_slice(fields));
        let start = *self.set_index.entry(key).or_insert(next);
        if start == next {
            self.sets.extend(fields);
            self.sets.push(END);
        }
        Some(start)
    }
}

/// What was written for `Fields` that several specs share, by their address. A clone keeps each alive, so that its
/// address stays its own.
#[derive(Default)]
pub(super) struct SharedFields {
    known: Map<usize, (Fields, Box<[u32]>, u32)>,
    /// About how many bytes the clones keep alive.
    weight: u64,
}

impl SharedFields {
    /// When the clones keep more bytes alive than this, all are dropped: then what comes again is hashed again.
    const MAX_WEIGHT: u64 = 64 << 20;

    /// The indices of the fields, and where the set of just these starts.
    pub fn get(&self, fields: &Fields) -> Option<(&[u32], u32)> {
        let (_, indices, set) = self.known.get(&fields.address())?;
        Some((indices, *set))
    }

    /// `weight` is about how many bytes the values have.
    pub fn add(&mut self, fields: &Fields, indices: &[u32], set: u32, weight: u64) {
        self.weight += weight + 100 * (1 + fields.len() as u64);
        if self.weight > Self::MAX_WEIGHT {
            self.known.clear();
            self.weight = 0;
        }
        self.known
            .insert(fields.address(), (fields.clone(), indices.into(), set));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    #[test]
    fn everything_is_there_once() {
        let mut tokens = Tokens::new();
        assert_eq!(tokens.add_text("a"), Some(1));
        assert_eq!(tokens.add_text("b"), Some(2));
        assert_eq!(tokens.add(&"a".into()), Some(1));
        assert_eq!(tokens.add(&"a\0".into()), None);
        assert_eq!(tokens.add_string(&"b".into()), Some(0));
        assert_eq!(tokens.add_string(&"".into()), Some(1));
        assert_eq!(tokens.add_string(&"b".into()), Some(0));
        assert_eq!(tokens.strings, [2, 3]);
        assert_eq!(tokens.all(), [&b";-)"[..], b"a", b"b", b""]);

        let hash = ContentHash::new();
        assert_ne!(hash.of(1, b"x"), hash.of(2, b"x"));
        assert_ne!(hash.of(1, b""), hash.of(1, b"\0"));
        let mut table = FieldTable::default();
        assert_eq!(table.add(1, Rep(5)), Some(0));
        assert_eq!(table.add(1, Rep(6)), Some(1));
        assert_eq!(table.add(1, Rep(5)), Some(0));
        assert_eq!(table.add_set(&[0, 1], &hash), Some(0));
        assert_eq!(table.add_set(&[], &hash), Some(3));
        assert_eq!(table.add_set(&[0, 1], &hash), Some(0));
        assert_eq!(table.sets, [0, 1, END, END]);
    }

    #[test]
    fn shared_fields_are_dropped_when_they_weigh_too_much() {
        let mut shared = SharedFields::default();
        let fields: Fields = [("a".into(), Value::Int(1))].into_iter().collect();
        let other: Fields = [("b".into(), Value::Int(2))].into_iter().collect();
        shared.add(&fields, &[3], 7, 0);
        assert_eq!(shared.get(&fields), Some((&[3][..], 7)));
        assert_eq!(shared.get(&fields.clone()), Some((&[3][..], 7)));
        shared.add(&other, &[4], 9, SharedFields::MAX_WEIGHT);
        assert_eq!(shared.get(&fields), None);
        assert_eq!(shared.get(&other), Some((&[4][..], 9)));
    }
}
