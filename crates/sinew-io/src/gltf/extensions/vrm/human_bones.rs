//! Maps from human bones to nodes, in whichever form a VRM version has them.

use std::collections::BTreeMap;

use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{Asset, HumanoidSkeleton};
use sinew_animate::retarget::Bone;

use super::super::super::json::Json;
use super::super::humanoid::misplaced;
use super::super::tree::Tree;

/// Bones that VRM 0.x requires besides.
pub const REQUIRED_IN_0: &[Bone] = &[Bone::Chest, Bone::Neck];

/// `humanoid.humanBones` of an extension.
///
/// # Errors
/// It is not there.
pub fn find<'a>(extension: &Json<'a>) -> Result<Json<'a>, Invalid> {
    let humanoid = extension.get("humanoid")?;
    let bones = match &humanoid {
        Some(humanoid) => humanoid.get("humanBones")?,
        None => None,
    };
    bones.ok_or_else(|| missing(&format!("{}.humanoid.humanBones", extension.at())))
}

fn missing(at: &str) -> Invalid {
    Invalid::new(at, "", "nodes of human bones", "none").coded("vrm-humanoid-missing")
}

/// Bones of an object with their names as keys (VRM 1.0). Unknown names are warned about.
pub fn by_name<'a>(
    bones: &Json<'a>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<(Bone, Json<'a>)>, Invalid> {
    let mut out = Vec::new();
    for (name, value) in bones.members()? {
        match name.parse() {
            Ok(bone) => out.push((bone, value)),
            Err(_) => warnings.push(unknown(value.at(), name)),
        }
    }
    // In the order of the hierarchy, so that of two bones on one node the lower one is reported.
    out.sort_by_key(|(bone, _)| *bone);
    Ok(out)
}

/// The warning about a name that is no bone's.
pub fn unknown(at: &str, name: &str) -> Warning {
    let message = format!("'{name}' is no human bone: left out");
    Warning::new("vrm-bone-unknown", at, message)
}

/// Adds the skeleton that bones make; each comes with the object that has its `node`.
///
/// # Errors
/// A node that is none, that serves two bones, or a bone that is there twice; no bone at all.
pub fn add(
    entries: &[(Bone, Json)],
    at: &str,
    required: &[&[Bone]],
    asset: &mut Asset,
) -> Result<(), Invalid> {
    let mut bones: BTreeMap<Bone, usize> = BTreeMap::new();
    for (bone, entry) in entries {
        let given = entry.need("node")?;
        let node = given
            .index("a node", asset.nodes.len())
            .map_err(|e| e.coded("vrm-node-range"))?;
        if bones.contains_key(bone) {
            let twice = entry.error("each bone once", format!("{bone} again"));
            return Err(twice.coded("vrm-bone-twice"));
        }
        if let Some((other, _)) = bones.iter().find(|(_, n)| **n == node) {
            let found = format!("node {node}, which is {other} already");
            let reused = given.error("a node for each bone", found);
            return Err(reused.coded("vrm-node-reused"));
        }
        bones.insert(*bone, node);
    }
    if bones.is_empty() {
        return Err(missing(at));
    }
    let required = required.iter().copied().flatten();
    let absent: Vec<&str> = required
        .filter(|b| !bones.contains_key(b))
        .map(|b| b.name())
        .collect();
    if !absent.is_empty() {
        let message = format!("no {}, which VRM requires", absent.join(", "));
        let warning = Warning::new("vrm-bone-required", at, message);
        asset.warnings.push(warning);
    }
    let parents: Vec<_> = asset.nodes.iter().map(|n| n.parent).collect();
    for (bone, expected, found) in misplaced(&bones, &Tree::new(&parents)) {
        let name = |b: Option<Bone>| b.map_or("no bone", Bone::name);
        let message = format!(
            "{bone} stands below {} in place of {}",
            name(found),
            name(expected)
        );
        let warning = Warning::new("vrm-hierarchy", format!("{at}.{bone}"), message);
        asset.warnings.push(warning);
    }
    asset.humanoids.push(HumanoidSkeleton {
        location: at.to_owned(),
        root: None,
        bones,
    });
    Ok(())
}
