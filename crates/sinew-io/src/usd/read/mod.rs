//! A stage read into plain data.

pub(crate) mod authored;
pub(crate) mod bounds;
pub(crate) mod scene;
pub(crate) mod shapes;
pub(crate) mod skeletons;
pub(crate) mod skinned_prims;
pub(crate) mod tree;
pub(crate) mod values;
pub(crate) mod xforms;
