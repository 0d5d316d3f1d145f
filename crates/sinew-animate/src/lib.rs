//! Animation between characters, without files and without a GPU.
//!
//! - [`asset`] is what glTF, VRM, FBX and BVH have in common before it becomes UsdSkel: nodes, skins, meshes, curves.
//! - [`humanoid`] puts clips on human bones onto the nodes of an asset.
//! - [`retarget`] moves poses from one rig to another, frame by frame, without allocating.

pub mod asset;
mod error;
pub mod humanoid;
pub mod retarget;

pub use error::{Error, Result};
