//! Guesses at human bones, to begin a map with where names follow no convention.

mod shape;
mod words;

use std::collections::BTreeMap;

use super::{Bone, Rig};

/// So many main bones are enough to go by names alone.
const ENOUGH_WORDS: usize = 6;

/// What the words in the names suggest, and where they say little, what the shape of the skeleton does.
pub(super) fn guess(rig: &Rig) -> BTreeMap<Bone, usize> {
    let words = words::by_words(rig);
    if words.len() >= ENOUGH_WORDS {
        return words;
    }
    let shape = shape::by_shape(rig);
    if shape.len() > words.len() {
        shape
    } else {
        words
    }
}
