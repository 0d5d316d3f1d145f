//! EXT_skeleton_humanoid: human bones by name, and animation channels on them.
//!
//! Source: the extension's text (draft). Where its JSON schema says otherwise (a single skeleton, no `chest`) the text
//! holds; the schema's layout is read too, with a warning.

mod channels;
mod reference_pose;
mod skeletons;

use std::fmt;

pub use reference_pose::reference_pose;
use serde_json::Value;
pub(super) use skeletons::misplaced;

use super::lookup;
use super::lookup::Tree;
use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{Asset, HumanoidSkeleton};

/// The extension's name.
pub const EXTENSION: &str = "EXT_skeleton_humanoid";

/// Holds a document to the extension's rules, skeletons first, then channels. Any JSON will do: what is wrong with the
/// rest of the document is not reported here.
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
    if let Some(error) = findings
        .iter()
        .find(|f| f.severity == FindingSeverity::Error)
    {
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

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingSeverity {
    /// Clips apply, but perhaps not as meant.
    Warning,
    /// The file breaks the extension's rules and is refused.
    Error,
}

/// One thing that is wrong or doubtful.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HumanoidFinding {
    /// Stable code, such as `NODE_REUSED`.
    pub code: &'static str,
    pub severity: FindingSeverity,
    /// Where in the JSON, such as `animations[0].channels[2].target.path`.
    pub location: String,
    /// What the rule asks for.
    pub expected: String,
    /// What was there.
    pub found: String,
}

impl HumanoidFinding {
    pub(super) fn error(
        code: &'static str,
        location: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity: FindingSeverity::Error,
            location: location.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }

    pub(super) fn warning(
        code: &'static str,
        location: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            severity: FindingSeverity::Warning,
            ..Self::error(code, location, expected, found)
        }
    }

    /// What was expected and what was found, without the location.
    #[must_use]
    pub fn message(&self) -> String {
        format!("expected {}, found {}", self.expected, self.found)
    }

    pub(super) fn invalid(&self) -> Invalid {
        Invalid::new(&self.location, "", &self.expected, &self.found).coded(self.code)
    }

    pub(super) fn as_warning(&self) -> Warning {
        Warning::new(self.code, &self.location, self.message())
    }
}

impl fmt::Display for HumanoidFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.location, self.message(), self.code)
    }
}
