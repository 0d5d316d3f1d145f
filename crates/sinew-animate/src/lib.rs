//! Animation between characters, without files and without a GPU.
//!
//! - [`asset`] holds a glTF, VRM, FBX or BVH file in memory, before it is converted to UsdSkel:
//!   nodes, skins, meshes, curves.
//! - [`humanoid`] applies clips of human bones to the nodes of an asset.
//! - [`retarget`] transfers poses from one rig to another, frame by frame, without allocating.

pub mod asset;
mod error;
pub mod humanoid;
pub mod retarget;

pub use error::{Error, Result};
