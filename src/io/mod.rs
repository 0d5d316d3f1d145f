//! File formats. Nothing else names a file-format crate.

pub mod gltf;
pub mod bvh;
mod rigs;
pub mod usd;

pub use rigs::{placement, rig, shape_names, skeletons};
