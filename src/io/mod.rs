//! File formats. Nothing else names a file-format crate.

pub mod bvh;
pub mod fbx;
pub mod usd;
