//! Recognises the human bones of a rig by the names, the hierarchy and the positions of its joints.

pub(super) mod anatomy;
mod body;
mod fingers;
mod limbs;
mod shape;
mod tree;
mod words;

use std::collections::BTreeMap;

use super::{Bone, Rig};
use tree::Tree;

/// Joints with the name of a bone, in places where the bone cannot be.
pub(super) type Misplaced = Vec<(Bone, usize)>;

/// The human bones that names and hierarchy show.
pub(super) fn by_names(rig: &Rig) -> (BTreeMap<Bone, usize>, Misplaced) {
    body::find(&Tree::new(rig))
}

/// The human bones that the shape alone shows; see [`shape`].
pub(super) use shape::by_shape;

/// Whether the name of a joint says that it is none of the body's bones, such as a twist joint, an
/// end, a control, hair or cloth.
pub(super) fn helpers(rig: &Rig) -> Vec<bool> {
    let clues = words::clues(rig.names());
    clues.iter().map(|c| c.is_helper).collect()
}
