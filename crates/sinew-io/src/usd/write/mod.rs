//! A stage written: bakes, edits, fixes and copies.

pub(crate) mod author;
pub(crate) mod author_samples;
pub(crate) mod bake_output;
pub(crate) mod clip_file;
pub(crate) mod edits;
pub(crate) mod flatten;
pub(crate) mod instances;
pub(crate) mod layer_copy;
pub(crate) mod mend;
pub(crate) mod output;
pub(crate) mod package;
pub(crate) mod save;
pub(crate) mod set_animation;
pub(crate) mod value_clips;
