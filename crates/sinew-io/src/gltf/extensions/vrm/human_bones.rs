//! The common parts of both VRM versions: maps from human bones to nodes, and expressions.

use std::collections::{BTreeMap, HashSet};

use crate::gltf::extensions::humanoid::misplaced;
use crate::gltf::extensions::lookup::Tree;
use crate::gltf::json::Json;
use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{Asset, Expression, HumanoidSkeleton, MorphBind};
use sinew_animate::retarget::Bone;

/// Bones that VRM 0.x requires besides.
pub const REQUIRED_IN_0: &[Bone] = &[Bone::Chest, Bone::Neck];

/// `humanoid.humanBones` of an extension, if it is there.
pub fn find<'a>(extension: &Json<'a>) -> Result<Option<Json<'a>>, Invalid> {
    match extension.get("humanoid")? {
        Some(humanoid) => humanoid.get("humanBones"),
        None => Ok(None),
    }
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
    let message = format!("'{name}' is not the name of a human bone: it is ignored");
    Warning::new("vrm-bone-unknown", at, message)
}

/// Adds the skeleton that the bones of `extension` make, and returns whether there is one. Each
/// bone comes with the object that has its `node`. Without any bone the file is a model that no
/// humanoid clip moves: this is a warning, because everything else can be shown.
///
/// # Errors
/// A node that is none, that serves two bones, or a bone that is there twice.
pub fn add(
    entries: &[(Bone, Json)],
    extension: &Json,
    required: &[&[Bone]],
    asset: &mut Asset,
) -> Result<bool, Invalid> {
    let at = format!("{}.humanoid.humanBones", extension.at());
    let mut bones: BTreeMap<Bone, usize> = BTreeMap::new();
    for (bone, entry) in entries {
        let given = entry.need("node")?;
        let node = given
            .index("a node", asset.nodes.len())
            .map_err(|e| e.coded("vrm-node-range"))?;
        if bones.contains_key(bone) {
            let twice = entry.error("each bone once", format!("{bone} a second time"));
            return Err(twice.coded("vrm-bone-twice"));
        }
        if let Some((other, _)) = bones.iter().find(|(_, n)| **n == node) {
            let found = format!("node {node}, which is already the node of {other}");
            let reused = given.error("a node for each bone", found);
            return Err(reused.coded("vrm-node-reused"));
        }
        bones.insert(*bone, node);
    }
    if bones.is_empty() {
        let message = "no human bones, which VRM requires: humanoid clips cannot move the model";
        asset.warn("vrm-humanoid-missing", at, message);
        return Ok(false);
    }
    let required = required.iter().copied().flatten();
    let absent: Vec<&str> = required
        .filter(|b| !bones.contains_key(b))
        .map(|b| b.name())
        .collect();
    if !absent.is_empty() {
        let message = format!("no {}, which VRM requires", absent.join(", "));
        asset.warn("vrm-bone-required", &at, message);
    }
    let parents: Vec<_> = asset.nodes.iter().map(|n| n.parent).collect();
    for (bone, expected, found) in misplaced(&bones, &Tree::new(&parents)) {
        let name = |b: Option<Bone>| b.map_or("no bone", Bone::name);
        let message = format!(
            "{bone} is below {} instead of {}",
            name(found),
            name(expected)
        );
        asset.warn("vrm-hierarchy", format!("{at}.{bone}"), message);
    }
    asset.humanoids.push(HumanoidSkeleton {
        location: at,
        root: None,
        bones,
    });
    Ok(true)
}

/// VRM 1.0's presets.
pub const PRESETS: &[&str] = &[
    "happy",
    "angry",
    "sad",
    "relaxed",
    "surprised",
    "aa",
    "ih",
    "ou",
    "ee",
    "oh",
    "blink",
    "blinkLeft",
    "blinkRight",
    "lookUp",
    "lookDown",
    "lookLeft",
    "lookRight",
    "neutral",
];

/// VRM 0.x's presets, and what VRM 1.0 calls them.
pub const PRESETS_OF_0: &[(&str, &str)] = &[
    ("neutral", "neutral"),
    ("a", "aa"),
    ("i", "ih"),
    ("u", "ou"),
    ("e", "ee"),
    ("o", "oh"),
    ("blink", "blink"),
    ("blink_l", "blinkLeft"),
    ("blink_r", "blinkRight"),
    ("joy", "happy"),
    ("angry", "angry"),
    ("sorrow", "sad"),
    ("fun", "relaxed"),
    ("lookup", "lookUp"),
    ("lookdown", "lookDown"),
    ("lookleft", "lookLeft"),
    ("lookright", "lookRight"),
];

/// `index` and `weight` of a bind, as a morph target of a mesh.
///
/// # Errors
/// The index is none of the mesh's targets, or the weight no number.
pub fn bind(
    value: &Json,
    mesh: usize,
    full_weight: f64,
    asset: &Asset,
) -> Result<MorphBind, Invalid> {
    let targets = asset.meshes[mesh].target_names.len();
    let what = format!("a morph target of mesh {mesh}");
    let target = value.need("index")?.index(&what, targets);
    Ok(MorphBind {
        mesh,
        target: target.map_err(|e| e.coded("expression-target-range"))?,
        weight: (value.number_or("weight", full_weight)? / full_weight) as f32,
    })
}

/// Expressions so far, and what they do besides morphing, which is reported once for the whole
/// file.
#[derive(Default)]
pub struct Collected {
    names: HashSet<String>,
    /// Those that change materials.
    pub materials: Vec<String>,
    /// Those that hold back others.
    pub overrides: Vec<String>,
}

impl Collected {
    /// Adds an expression, unless one of that name is there already.
    pub fn add(&mut self, expression: Expression, at: &str, asset: &mut Asset) {
        if self.names.insert(expression.name.clone()) {
            asset.expressions.push(expression);
            return;
        }
        let message = format!("a second expression '{}': it is ignored", expression.name);
        asset.warn("expression-twice", at, message);
    }

    /// Says what is left out.
    pub fn warn(self, at: &str, asset: &mut Asset) {
        let parts = [
            (
                "expression-materials-ignored",
                "material colours and texture transforms",
                self.materials,
            ),
            (
                "expression-overrides-ignored",
                "overrides of blinking, gaze and mouth",
                self.overrides,
            ),
        ];
        for (code, what, names) in parts {
            if !names.is_empty() {
                let message = format!("{what} are ignored: {}", names.join(", "));
                asset.warn(code, at, message);
            }
        }
    }
}
