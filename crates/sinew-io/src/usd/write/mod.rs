//! A stage written: bakes, edits, fixes and copies.

pub(crate) mod animation;
pub(crate) mod bake_output;
pub(crate) mod blend_shapes;
pub(crate) mod clip_file;
pub(crate) mod edits;
pub(crate) mod extents;
pub(crate) mod fixes;
pub(crate) mod flatten;
pub(crate) mod instances;
pub(crate) mod old_motion;
pub(crate) mod package;
pub(crate) mod save;
pub(crate) mod sockets;
mod unbind;
pub(crate) mod value_clips;
