//! VRM 0.x: the `VRM` extension (specification/0.0).

use super::super::super::json::Json;
use super::human_bones;
use super::human_bones::{Collected, PRESETS_OF_0, REQUIRED_IN_0};
use sinew::error::Invalid;
use sinew_animate::asset::{Asset, Expression};
use sinew_animate::retarget::Bone;

pub fn apply(vrm: &Json, asset: &mut Asset) -> Result<(), Invalid> {
    humanoid(vrm, asset)?;
    let Some(master) = vrm.get("blendShapeMaster")? else {
        return Ok(());
    };
    let mut collected = Collected::default();
    for group in master.list("blendShapeGroups")? {
        let expression = expression(&group, asset, &mut collected)?;
        collected.add(expression, group.at(), asset);
    }
    collected.warn(master.at(), asset);
    Ok(())
}

/// `humanoid.humanBones`, a list of bones with their names.
fn humanoid(vrm: &Json, asset: &mut Asset) -> Result<bool, Invalid> {
    let bones = human_bones::find(vrm)?;
    let listed = bones.as_ref().map(Json::elements).transpose()?;
    let mut entries = Vec::new();
    for value in listed.into_iter().flatten() {
        let name = value.need("bone")?.string()?;
        match bone(name) {
            Some(bone) => entries.push((bone, value)),
            None => asset.warnings.push(human_bones::unknown(value.at(), name)),
        }
    }
    human_bones::add(&entries, vrm, &[&Bone::MAIN, REQUIRED_IN_0], asset)
}

/// A bone by its name in VRM 0.x, where the thumb's are called like the other fingers'.
fn bone(name: &str) -> Option<Bone> {
    match name {
        "leftThumbProximal" => Some(Bone::LeftThumbMetacarpal),
        "leftThumbIntermediate" => Some(Bone::LeftThumbProximal),
        "rightThumbProximal" => Some(Bone::RightThumbMetacarpal),
        "rightThumbIntermediate" => Some(Bone::RightThumbProximal),
        // Names of VRM 1.0 only.
        "leftThumbMetacarpal" | "rightThumbMetacarpal" => None,
        _ => name.parse().ok(),
    }
}

/// The name in VRM 1.0: a preset's, or the group's own.
fn name(group: &Json) -> Result<String, Invalid> {
    let preset = group.text("presetName")?.to_ascii_lowercase();
    if let Some((_, name)) = PRESETS_OF_0.iter().find(|(old, _)| *old == preset) {
        return Ok((*name).to_owned());
    }
    let name = group.text("name")?;
    if name.is_empty() {
        return Err(Invalid::new(
            group.at_key("name"),
            "",
            "a name, or one of VRM's presets",
            "neither",
        ));
    }
    Ok(name)
}

fn expression(
    group: &Json,
    asset: &Asset,
    collected: &mut Collected,
) -> Result<Expression, Invalid> {
    let mut expression = Expression {
        name: name(group)?,
        is_binary: group.boolean_or("isBinary", false)?,
        binds: Vec::new(),
    };
    for bind in group.list("binds")? {
        let mesh = bind.need("mesh")?.index("a mesh", asset.meshes.len());
        let mesh = mesh.map_err(|e| e.coded("expression-target-range"))?;
        // Weights are percentages.
        let bind = human_bones::bind(&bind, mesh, 100.0, asset)?;
        expression.binds.push(bind);
    }
    if group.count("materialValues")? > 0 {
        collected.materials.push(expression.name.clone());
    }
    Ok(expression)
}
