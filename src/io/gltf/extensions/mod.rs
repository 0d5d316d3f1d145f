//! What extensions add to a glTF document beyond its geometry: humanoid skeletons, expressions, clips on human bones.
//!
//! EXT_skeleton_humanoid is validated by its own codes ([`humanoid`]); VRM 0.x, VRM 1.0 and VRM Animation by `vrm-*` ones.
//! What a converter cannot keep (spring bones, constraints, MToon, gaze) is read past, and said to be.

pub mod humanoid;
mod lookup;
mod tree;
mod vrm;

use serde_json::Value;

use crate::asset::Asset;
use crate::error::Invalid;

pub use humanoid::{HumanoidFinding, Severity};

/// Adds humanoids, expressions, their clips and what is to be warned about to an asset whose nodes, meshes, skins and
/// clips have the document's own indices.
///
/// # Errors
/// The first error of EXT_skeleton_humanoid or of VRM, with its JSON location and code.
pub fn apply(json: &Value, asset: &mut Asset) -> Result<(), Invalid> {
    humanoid::apply(json, asset)?;
    vrm::apply(json, asset)
}
