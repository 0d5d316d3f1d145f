//! File formats. Nothing else names a file-format crate.

pub mod bvh;
pub mod gltf;
mod output;
pub mod usd;
