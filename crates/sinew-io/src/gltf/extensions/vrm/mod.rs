//! VRM 1.0 (`VRMC_vrm`), VRM 0.x (`VRM`) and VRM Animation (`VRMC_vrm_animation`).
//!
//! Source: the specifications of the VRM Consortium, vrm-c/vrm-specification.

mod animation;
mod expressions;
mod human_bones;
mod read_past;
mod v0;
mod v1;

use serde_json::Value;

use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{Asset, Format};

use super::super::json::Json;
use super::lookup;

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
            asset.format = Format::Vrm1;
            v1::apply(&vrm, asset)?;
            if let Some(old) = old {
                let message = "VRM 0.x beside VRM 1.0: read past";
                let warning = Warning::new("vrm-version-twice", old.at(), message);
                asset.warnings.push(warning);
            }
        }
        (None, Some(vrm)) => {
            asset.format = Format::Vrm0;
            v0::apply(&vrm, asset)?;
        }
        (None, None) => {}
    }
    if let Some(animation) = extension("VRMC_vrm_animation") {
        if asset.format == Format::Gltf {
            asset.format = Format::Vrma;
        }
        animation::apply(&animation, asset)?;
    }
    read_past::warn(document, asset);
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
    asset.warnings.push(Warning::new(
        "vrm-spec-version-draft",
        extension.at_key("specVersion"),
        format!("{found} in place of '1.0': read as 1.0"),
    ));
    Ok(())
}

/// Extensions that are there have to be listed.
fn listed(document: &Value, asset: &mut Asset) {
    for name in ["VRMC_vrm", "VRM", "VRMC_vrm_animation"] {
        if lookup::root_extension(document, name).is_some() && !lookup::is_used(document, name) {
            asset.warnings.push(Warning::new(
                "vrm-not-in-extensions-used",
                "extensionsUsed",
                format!("{name} is there but not listed"),
            ));
        }
    }
}

/// Files that are named VRM should be VRM.
fn named(asset: &mut Asset) {
    let ending = asset.file.extension().and_then(|e| e.to_str());
    let lacking = match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("vrm") if !matches!(asset.format, Format::Vrm0 | Format::Vrm1) => {
            "neither VRMC_vrm nor VRM"
        }
        Some("vrma") if asset.format != Format::Vrma => "no VRMC_vrm_animation",
        _ => return,
    };
    let message = format!("{lacking}: read as plain glTF");
    let warning = Warning::new("vrm-extension-missing", "extensions", message);
    asset.warnings.push(warning);
}
