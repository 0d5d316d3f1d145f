//! EXT_skeleton_humanoid written into a document.

use serde_json::{Value, json};

use super::super::extensions::Severity;
use super::super::extensions::humanoid::{EXTENSION, validate};
use super::GltfEdit;
use sinew::error::{Error, Invalid, Result};
use sinew_animate::asset::HumanoidSkeleton;

impl GltfEdit {
    /// Adds a humanoid skeleton, and the extension to extensionsUsed.
    ///
    /// # Errors
    /// A document that has the extension already; a skeleton that breaks its rules, by the rule.
    pub fn describe(&mut self, skeleton: &HumanoidSkeleton) -> Result<()> {
        let described = self.json.get("extensions").and_then(|e| e.get(EXTENSION));
        if described.is_some() {
            return Err(Error::Request(format!(
                "{}: has {EXTENSION} already",
                self.file.display()
            )));
        }
        let extension = described_as(skeleton);
        self.object("extensions")?
            .insert(EXTENSION.to_owned(), extension);
        self.use_extension(EXTENSION)?;
        let findings = validate(&self.json);
        match findings.iter().find(|f| f.severity == Severity::Error) {
            Some(e) => Err(Invalid::new(&e.location, "", &e.expected, &e.found)
                .coded(e.code)
                .in_file(&self.file)
                .into()),
            None => Ok(()),
        }
    }
}

/// The extension's JSON for one skeleton.
#[must_use]
pub fn described_as(skeleton: &HumanoidSkeleton) -> Value {
    let bones: serde_json::Map<String, Value> = skeleton
        .bones
        .iter()
        .map(|(b, n)| (b.name().to_owned(), json!(n)))
        .collect();
    let mut one = json!({ "humanoidBones": bones });
    if let Some(root) = skeleton.root {
        one["rootNode"] = json!(root);
    }
    json!({ "humanoidSkeletons": [one] })
}
