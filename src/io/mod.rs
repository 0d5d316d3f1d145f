//! File formats. Nothing else names a file-format crate.

pub mod bvh;
pub mod gltf;
mod rigs;
pub mod usd;

pub use rigs::{placement, rig, shape_names, skeletons};
