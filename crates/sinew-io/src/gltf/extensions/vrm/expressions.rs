//! Expressions: sliders that move several morph targets.

use std::collections::HashSet;

use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{Asset, Expression, MorphBind};

use super::super::super::json::Json;

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

/// Expressions so far, and what they do besides morphing, which is told once for the whole file.
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
        let message = format!("a second expression '{}': left out", expression.name);
        let warning = Warning::new("expression-twice", at, message);
        asset.warnings.push(warning);
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
                let message = format!("{what} are read past: {}", names.join(", "));
                asset.warnings.push(Warning::new(code, at, message));
            }
        }
    }
}
