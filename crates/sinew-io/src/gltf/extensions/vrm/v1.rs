//! VRM 1.0: humanoid.md and expressions.md of the specification.

use super::super::super::json::Json;
use super::human_bones::{Collected, PRESETS};
use super::{human_bones, spec_version};
use sinew::error::Invalid;
use sinew_animate::asset::{Asset, Expression};
use sinew_animate::retarget::Bone;

pub fn apply(vrm: &Json, asset: &mut Asset) -> Result<(), Invalid> {
    spec_version(vrm, asset)?;
    humanoid(vrm, asset)?;
    let Some(all) = vrm.get("expressions")? else {
        return Ok(());
    };
    let mut collected = Collected::default();
    for group in ["preset", "custom"] {
        let Some(members) = all.get(group)? else {
            continue;
        };
        for (name, value) in members.members()? {
            if (group == "preset") != PRESETS.contains(&name) {
                let message = match group {
                    "preset" => "not a preset of VRM 1.0: it is read as a custom expression",
                    _ => "a custom expression with the name of a preset",
                };
                asset.warn("expression-name", value.at(), message);
            }
            let expression = expression(name, &value, asset, &mut collected)?;
            collected.add(expression, value.at(), asset);
        }
    }
    collected.warn(all.at(), asset);
    Ok(())
}

/// Reads `humanoid.humanBones`, an object by bone name. Returns whether it has a bone.
pub fn humanoid(vrm: &Json, asset: &mut Asset) -> Result<bool, Invalid> {
    let entries = match human_bones::find(vrm)? {
        Some(bones) => human_bones::by_name(&bones, &mut asset.warnings)?,
        None => Vec::new(),
    };
    human_bones::add(&entries, vrm, &[&Bone::MAIN], asset)
}

fn expression(
    name: &str,
    value: &Json,
    asset: &mut Asset,
    collected: &mut Collected,
) -> Result<Expression, Invalid> {
    let mut expression = Expression {
        name: name.to_owned(),
        is_binary: value.boolean_or("isBinary", false)?,
        binds: Vec::new(),
    };
    for bind in value.list("morphTargetBinds")? {
        let given = bind.need("node")?;
        let node = given.index("a node", asset.nodes.len());
        let node = node.map_err(|e| e.coded("expression-target-range"))?;
        let Some(mesh) = asset.nodes[node].mesh else {
            let message = format!("node {node} has no mesh, so the bind moves nothing");
            asset.warn("expression-node-no-mesh", given.at(), message);
            continue;
        };
        let bind = human_bones::bind(&bind, mesh, 1.0, asset)?;
        expression.binds.push(bind);
    }
    if value.count("materialColorBinds")? + value.count("textureTransformBinds")? > 0 {
        collected.materials.push(name.to_owned());
    }
    let overrides = ["overrideBlink", "overrideLookAt", "overrideMouth"];
    let given = |key: &&str| value.value().get(*key).is_some_and(|v| v != "none");
    if overrides.iter().any(given) {
        collected.overrides.push(name.to_owned());
    }
    Ok(expression)
}
