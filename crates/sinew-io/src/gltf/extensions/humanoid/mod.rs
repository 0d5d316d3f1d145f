//! EXT_skeleton_humanoid: human bones by name, and animation channels on them.
//!
//! Source: the text of the extension (draft). If its JSON schema differs (a single skeleton, no
//! `chest`), the text is followed. The layout of the schema is read too, with a warning.

mod channels;
mod reference_pose;
mod skeletons;

pub use reference_pose::reference_pose;
use serde_json::Value;
pub(super) use skeletons::misplaced;

use super::lookup;
use super::lookup::Tree;
use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{Asset, HumanoidSkeleton};

/// The extension's name.
pub const EXTENSION: &str = "EXT_skeleton_humanoid";

/// Checks the rules of the extension: first those of skeletons, then those of channels. `document`
/// may be any JSON; errors in the rest of the document are not reported.
#[must_use]
pub fn validate(document: &Value) -> Vec<HumanoidFinding> {
    let mut findings = Findings::default();
    let root = lookup::root_extension(document, EXTENSION);
    let on_channels = channels::uses_extension(document);
    if (root.is_some() || on_channels) && !lookup::is_used(document, EXTENSION) {
        findings.error(
            "NOT_IN_EXTENSIONS_USED",
            "extensionsUsed",
            format!("{EXTENSION}, which the file uses"),
            "a list without it",
        );
    }
    if let Some(root) = root {
        let tree = Tree::of_document(document);
        skeletons::validate(document, root, &tree, &mut findings);
    }
    if on_channels {
        channels::validate(document, &mut findings);
    }
    findings.0
}

/// The humanoid skeletons of a document. If [`validate`] finds errors in it, they may be
/// incomplete.
#[must_use]
pub fn read(document: &Value) -> Vec<HumanoidSkeleton> {
    let root = lookup::root_extension(document, EXTENSION);
    root.map_or_else(Vec::new, skeletons::read)
}

/// What [`validate`] warns of.
///
/// # Errors
/// The first error, with its JSON location and code.
pub(in crate::gltf) fn check(document: &Value) -> Result<Vec<Warning>, Invalid> {
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

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingSeverity {
    /// Clips can be applied, but perhaps not as intended.
    Warning,
    /// The file breaks a rule of the extension and is not read.
    Error,
}

/// An error or a doubtful part of the extension's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HumanoidFinding {
    /// Stable code, such as `NODE_REUSED`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: FindingSeverity,
    /// Location in the JSON, such as `animations[0].channels[2].target.path`.
    pub location: String,
    /// What the rule asks for, such as `a node for each bone`.
    pub expected: String,
    /// What the file has.
    pub found: String,
}

/// Findings while they are collected.
#[derive(Default)]
struct Findings(Vec<HumanoidFinding>);

impl Findings {
    fn error(
        &mut self,
        code: &'static str,
        location: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) {
        self.0.push(HumanoidFinding {
            code,
            severity: FindingSeverity::Error,
            location: location.into(),
            expected: expected.into(),
            found: found.into(),
        });
    }

    fn warning(
        &mut self,
        code: &'static str,
        location: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) {
        self.error(code, location, expected, found);
        if let Some(last) = self.0.last_mut() {
            last.severity = FindingSeverity::Warning;
        }
    }
}

impl HumanoidFinding {
    /// The message `expected ..., found ...`, without the location.
    #[must_use]
    pub fn message(&self) -> String {
        format!("expected {}, found {}", self.expected, self.found)
    }

    fn invalid(&self) -> Invalid {
        Invalid::new(&self.location, "", &self.expected, &self.found).coded(self.code)
    }

    fn as_warning(&self) -> Warning {
        Warning::new(self.code, &self.location, self.message())
    }
}
