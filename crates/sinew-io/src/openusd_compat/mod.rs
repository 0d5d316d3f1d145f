//! What openusd 0.8 does not do, or does wrong, and what is done about it here: one file for each.

pub(crate) mod class_arcs;
pub(crate) mod clips;
pub(crate) mod crate_arrays;
pub(crate) mod crate_bytes;
pub(crate) mod crate_file;
pub(crate) mod crate_paths;
pub(crate) mod crate_values;
pub(crate) mod crate_version;
pub(crate) mod hazards;
pub(crate) mod layer_view;
pub(crate) mod prototypes;
pub(crate) mod text;
pub(crate) mod udim;
