//! Extensions for characters: humanoid skeletons, expressions, and clips of human bones.
//!
//! Errors of EXT_skeleton_humanoid have their own codes, see [`humanoid`]. Those of VRM 0.x, VRM 1.0
//! and VRM Animation have codes `vrm-*`. Spring bones, constraints, gaze control are
//! ignored, with a warning.

pub mod humanoid;
mod lookup;
mod vrm;

use std::path::Path;

use serde_json::Value;

use sinew::error::Invalid;
use sinew_animate::asset::Asset;

pub use humanoid::{FindingSeverity, HumanoidFinding};

/// The findings of [`humanoid::validate`] in a file, even if the file has other errors. Empty if it
/// is not a glTF file.
#[must_use]
pub fn humanoid_findings(path: &Path) -> Vec<HumanoidFinding> {
    let bytes = crate::read_bytes(&sinew_layer::Files::on_disk(), path).unwrap_or_default();
    let parts = super::container::split(&bytes).ok();
    let document = parts.and_then(|p| serde_json::from_slice(p.json).ok());
    document.map_or_else(Vec::new, |document: Value| humanoid::validate(&document))
}

/// Adds humanoids, expressions, their clips and what is to be warned about to the asset of a
/// checked document; its nodes, meshes, skins and clips have the document's own indices.
///
/// # Errors
/// The first error of VRM, with its JSON location and mostly a code.
pub(super) fn apply(document: &Value, asset: &mut Asset) -> Result<(), Invalid> {
    humanoid::apply(document, asset);
    vrm::apply(document, asset)
}
