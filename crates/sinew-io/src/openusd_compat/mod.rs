//! Workarounds for openusd 0.8, one file each. The head of each file says what it works around, how to see the fault,
//! which test holds it, and when the file can go.
//!
//! | stage | files |
//! |---|---|
//! | before openusd reads a layer | `text`, `crate_version`, `crate_paths`, `crate_values`, `class_arcs` |
//! | values of a composed stage | `hazards`, `hidden_blocks`, `flatten_clips` |
//! | a flattened layer | `flatten_clips`, `flatten_prototypes`, `schema_order`, `empty_targets`, `udim_paths` |
//! | a written file | `crate_first_token`, `crate_arrays`, `inherits_keyword` |
//!
//! `crate_bytes` and `layer_view` are tools of these files.
//!
//! Outside this folder openusd is named only by `usd`, which reads and writes stages and layers through it: `file`,
//! `resolver`, `variants`, `read`, `geometry`, `write`, and of `from_asset` the files that make prims. No other room of this
//! crate names it.

pub(crate) mod class_arcs;
pub(crate) mod crate_arrays;
mod crate_bytes;
pub(crate) mod crate_first_token;
pub(crate) mod crate_paths;
pub(crate) mod crate_values;
pub(crate) mod crate_version;
pub(crate) mod empty_targets;
pub(crate) mod flatten_clips;
pub(crate) mod flatten_prototypes;
pub(crate) mod hazards;
pub(crate) mod hidden_blocks;
mod inherits_keyword;
mod layer_view;
pub(crate) mod schema_order;
pub(crate) mod text;
pub(crate) mod udim_paths;
