//! EXT_skeleton_humanoid: human bones by name, and animation channels on them.
//!
//! Source: the extension's text (draft). Where its JSON schema says otherwise (a single skeleton, no `chest`) the text
//! holds; the schema's layout is read too, with a warning.

mod channels;
mod finding;
mod reference_pose;
mod skeletons;

use serde_json::Value;

use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{Asset, HumanoidSkeleton};

use super::lookup;
use super::tree::Tree;

pub use finding::{HumanoidFinding, Severity};
pub use reference_pose::reference_pose;
pub(super) use skeletons::misplaced;

/// The extension's name.
pub const EXTENSION: &str = "EXT_skeleton_humanoid";

/// Holds a document to the extension's rules, skeletons first, then channels. Any JSON will do: what is wrong with the
/// rest of the document is not told here.
#[must_use]
pub fn validate(document: &Value) -> Vec<HumanoidFinding> {
    let mut findings = Vec::new();
    let root = lookup::root_extension(document, EXTENSION);
    let on_channels = channels::uses_extension(document);
    if (root.is_some() || on_channels) && !lookup::is_used(document, EXTENSION) {
        findings.push(HumanoidFinding::error(
            "NOT_IN_EXTENSIONS_USED",
            "extensionsUsed",
            format!("{EXTENSION}, which the file uses"),
            "a list without it",
        ));
    }
    if let Some(root) = root {
        let tree = Tree::of_document(document);
        skeletons::validate(document, root, &tree, &mut findings);
    }
    if on_channels {
        channels::validate(document, &mut findings);
    }
    findings
}

/// The humanoid skeletons of a document in which [`validate`] finds no errors; of another one whatever can be read.
#[must_use]
pub fn read(document: &Value) -> Vec<HumanoidSkeleton> {
    let root = lookup::root_extension(document, EXTENSION);
    root.map_or_else(Vec::new, skeletons::read)
}

/// What [`validate`] finds, if there is no error among it.
pub(super) fn check(document: &Value) -> Result<Vec<Warning>, Invalid> {
    let findings = validate(document);
    if let Some(error) = findings.iter().find(|f| f.severity == Severity::Error) {
        return Err(error.invalid());
    }
    Ok(findings.iter().map(HumanoidFinding::as_warning).collect())
}

/// The humanoid skeletons of a checked document to its asset.
pub(super) fn apply(document: &Value, asset: &mut Asset) {
    for skeleton in read(document) {
        let findings = reference_pose(asset, &skeleton);
        let warnings = findings.iter().map(HumanoidFinding::as_warning);
        asset.warnings.extend(warnings);
        asset.humanoids.push(skeleton);
    }
}
