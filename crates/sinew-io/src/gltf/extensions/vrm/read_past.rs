//! What a VRM file has that no UsdSkel character can keep, said once each.

use serde_json::Value;

use sinew::error::Warning;
use sinew_animate::asset::Asset;

use super::super::lookup::{list, root_extension};

fn springs(at: &str, count: usize) -> Warning {
    let message = format!("spring bones are read past ({count} in all): they keep their rest pose");
    Warning::new("spring-bones-ignored", at, message)
}

fn mtoon(at: &str, count: usize) -> Warning {
    let message =
        format!("MToon shading is read past ({count} in all): the plain glTF material counts");
    Warning::new("mtoon-ignored", at, message)
}

pub fn look_at(at: &str) -> Warning {
    let message = "gaze control is read past: eyes move by tracks of their bones only";
    Warning::new("look-at-ignored", at, message)
}

fn first_person(at: &str) -> Warning {
    let message = "first-person visibility is read past: every mesh is shown";
    Warning::new("first-person-ignored", at, message)
}

/// One warning for each kind of thing that is left out.
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
            format!("node constraints are read past ({count} in all): nodes keep their own tracks"),
        ));
    }
    let toon = having(document, "materials", "VRMC_materials_mtoon");
    if let Some(first) = toon.first() {
        let at = format!("materials[{first}].extensions.VRMC_materials_mtoon");
        warnings.push(mtoon(&at, toon.len()));
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
    let is_mtoon = |m: &&Value| m.get("shader").is_some_and(|s| s == "VRM/MToon");
    let toon = list(vrm, "materialProperties").iter().filter(is_mtoon);
    let toon = toon.count();
    if toon > 0 {
        warnings.push(mtoon("extensions.VRM.materialProperties", toon));
    }
}
