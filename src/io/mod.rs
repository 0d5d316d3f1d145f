//! File formats. Nothing else names a file-format crate.

pub mod gltf;
pub mod bvh;
pub mod usd;
