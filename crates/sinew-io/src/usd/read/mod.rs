//! A stage read into plain data.

pub(crate) mod animations;
pub(crate) mod authored;
pub(crate) mod extents;
pub(crate) mod model_bounds;
pub(crate) mod scene;
pub(crate) mod skel_prims;
pub(crate) mod skinned_prims;
pub(crate) mod tree;
pub(crate) mod values;
pub(crate) mod xforms;
