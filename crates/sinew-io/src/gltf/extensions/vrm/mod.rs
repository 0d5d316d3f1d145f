//! VRM 1.0 (`VRMC_vrm`), VRM 0.x (`VRM`) and VRM Animation (`VRMC_vrm_animation`).
//!
//! Source: the specifications of the VRM Consortium, vrm-c/vrm-specification.

mod animation;
mod human_bones;
mod toon;
mod v0;
mod v1;

use serde_json::Value;

use super::lookup;
use super::lookup::{list, root_extension};
use crate::gltf::json::Json;
use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{Asset, AssetFormat};

/// Humanoid, expressions and clips of whichever VRM the document has, and what is left out.
///
/// # Errors
/// What would leave the humanoid or an expression pointing to nothing.
pub fn apply(document: &Value, asset: &mut Asset) -> Result<(), Invalid> {
    let extension = |name| {
        let value = lookup::root_extension(document, name)?;
        Some(Json::located(value, format!("extensions.{name}")))
    };
    match (extension("VRMC_vrm"), extension("VRM")) {
        (Some(vrm), old) => {
            asset.format = AssetFormat::Vrm1;
            v1::apply(&vrm, asset)?;
            if let Some(old) = old {
                let message = "the file has VRM 0.x and VRM 1.0: VRM 0.x is ignored";
                asset.warn("vrm-version-twice", old.at(), message);
            }
        }
        (None, Some(vrm)) => {
            asset.format = AssetFormat::Vrm0;
            v0::apply(&vrm, asset)?;
        }
        (None, None) => {}
    }
    if let Some(animation) = extension("VRMC_vrm_animation") {
        if asset.format == AssetFormat::Gltf {
            asset.format = AssetFormat::Vrma;
        }
        animation::apply(&animation, asset)?;
    }
    warn(document, asset);
    toon::apply(document, asset)?;
    listed(document, asset);
    named(asset);
    Ok(())
}

/// Checks specVersion: 1.0 is read, drafts of it with a warning, no other.
fn spec_version(extension: &Json, asset: &mut Asset) -> Result<(), Invalid> {
    let given = extension.get("specVersion")?;
    let version = match &given {
        Some(given) => Some(given.string()?),
        None => None,
    };
    match version {
        Some("1.0") => return Ok(()),
        Some(draft) if draft.starts_with("1.0-") => {}
        None => {}
        Some(other) => {
            let at = extension.at_key("specVersion");
            return Err(
                Invalid::new(at, "", "'1.0'", format!("'{other}'")).coded("vrm-spec-version")
            );
        }
    }
    let found = version.map_or_else(|| "no version".to_owned(), |v| format!("'{v}'"));
    asset.warn(
        "vrm-spec-version-draft",
        extension.at_key("specVersion"),
        format!("expected '1.0', found {found}: it is read as 1.0"),
    );
    Ok(())
}

/// Extensions that are there have to be listed.
fn listed(document: &Value, asset: &mut Asset) {
    for name in ["VRMC_vrm", "VRM", "VRMC_vrm_animation"] {
        if lookup::root_extension(document, name).is_some() && !lookup::is_used(document, name) {
            asset.warn(
                "vrm-not-in-extensions-used",
                "extensionsUsed",
                format!("{name} is used but not listed"),
            );
        }
    }
}

/// Files that are named VRM should be VRM.
fn named(asset: &mut Asset) {
    let lacking = match crate::extension(&asset.file).as_str() {
        "vrm" if !matches!(asset.format, AssetFormat::Vrm0 | AssetFormat::Vrm1) => {
            "neither VRMC_vrm nor VRM"
        }
        "vrma" if asset.format != AssetFormat::Vrma => "no VRMC_vrm_animation",
        _ => return,
    };
    let message = format!("{lacking}: it is read as plain glTF");
    asset.warn("vrm-extension-missing", "extensions", message);
}

fn springs(at: &str, count: usize) -> Warning {
    let message = format!("spring bones are ignored (count: {count}): they keep their rest pose");
    Warning::new("spring-bones-ignored", at, message)
}

pub fn look_at(at: &str) -> Warning {
    let message = "gaze control (lookAt) is ignored: eyes move only by tracks of their bones";
    Warning::new("look-at-ignored", at, message)
}

fn first_person(at: &str) -> Warning {
    let message = "first-person visibility is ignored: every mesh is shown";
    Warning::new("first-person-ignored", at, message)
}

/// Adds one warning for each part of VRM that is ignored.
pub fn warn(document: &Value, asset: &mut Asset) {
    let warnings = &mut asset.warnings;
    if let Some(vrm) = root_extension(document, "VRM") {
        of_vrm_0(vrm, warnings);
    }
    if let Some(vrm) = root_extension(document, "VRMC_vrm") {
        let has_content = |name: &str| {
            let part = vrm.get(name).and_then(Value::as_object);
            part.is_some_and(|p| !p.is_empty())
        };
        if has_content("firstPerson") {
            warnings.push(first_person("extensions.VRMC_vrm.firstPerson"));
        }
        if has_content("lookAt") {
            warnings.push(look_at("extensions.VRMC_vrm.lookAt"));
        }
    }
    if let Some(bones) = root_extension(document, "VRMC_springBone") {
        let count = list(bones, "springs").len();
        if count > 0 {
            warnings.push(springs("extensions.VRMC_springBone.springs", count));
        }
    }
    let constrained = having(document, "nodes", "VRMC_node_constraint");
    if let Some(first) = constrained.first() {
        let count = constrained.len();
        warnings.push(Warning::new(
            "node-constraints-ignored",
            format!("nodes[{first}].extensions.VRMC_node_constraint"),
            format!("node constraints are ignored (count: {count}): nodes keep their own tracks"),
        ));
    }
}

/// Items of a list of the document that have an extension.
fn having(document: &Value, name: &str, extension: &str) -> Vec<usize> {
    let has = |v: &Value| {
        v.get("extensions")
            .is_some_and(|e| e.get(extension).is_some())
    };
    let items = list(document, name).iter().enumerate();
    items.filter(|(_, v)| has(v)).map(|(i, _)| i).collect()
}

fn of_vrm_0(vrm: &Value, warnings: &mut Vec<Warning>) {
    let count = |part: &str, name: &str| vrm.get(part).map_or(0, |p| list(p, name).len());
    let chains = count("secondaryAnimation", "boneGroups");
    if chains > 0 {
        let at = "extensions.VRM.secondaryAnimation.boneGroups";
        warnings.push(springs(at, chains));
    }
    if count("firstPerson", "meshAnnotations") > 0 {
        warnings.push(first_person("extensions.VRM.firstPerson.meshAnnotations"));
    }
    let gaze = vrm.get("firstPerson").and_then(|f| f.get("lookAtTypeName"));
    if gaze.is_some() {
        warnings.push(look_at("extensions.VRM.firstPerson.lookAtTypeName"));
    }
}
