//! Guesses the human bones of a rig whose names follow no convention, as a start for a map.

mod shape;
mod words;

use std::collections::BTreeMap;

use super::{Bone, Rig};

/// If names suggest at least this many main bones, the shape is not used.
const ENOUGH_WORDS: usize = 6;

/// The bones that the words in the names suggest or, if these are few, the shape of the skeleton.
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
