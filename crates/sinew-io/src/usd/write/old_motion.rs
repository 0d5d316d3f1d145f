//! Velocities and accelerations of points that a bake replaces: the output has no values for them.
//!
//! They describe how the points of the input move. Beside baked points, motion blur would smear the
//! mesh along the old motion, so they are blocked.

use sinew_layer::{Layer, Path, Token, Value};
use sinew_stage::{Attribute, Prim, Stage};

use crate::usd::write::edits::{BakedPrim, author};
use sinew::error::Warning;
use sinew::sampled::Time;

/// The attributes of UsdGeomPointBased, and the primvars that exporters write in their place.
const NAMES: [&str; 8] = [
    "velocities",
    "accelerations",
    "primvars:velocity",
    "primvars:velocities",
    "primvars:acceleration",
    "primvars:accelerations",
    "primvars:v",
    "primvars:accel",
];

/// The types of a vector for each point. A `primvars:v` of another type is something else.
const VECTORS: [&str; 6] = [
    "vector3f[]",
    "vector3d[]",
    "vector3h[]",
    "float3[]",
    "double3[]",
    "half3[]",
];

/// An attribute that has no value in the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedAttribute {
    /// Path of the prim.
    pub prim: String,
    /// Name of the attribute.
    pub name: Token,
    /// Its type, such as `vector3f[]`.
    pub type_name: Token,
}

/// Finds what describes the motion of points that are replaced, with a warning for each prim.
/// `is_written` says whether the bake writes a property of a prim.
pub(super) fn find(
    stage: &Stage,
    prims: &[BakedPrim],
    is_written: impl Fn(&BakedPrim, &str) -> bool,
) -> (Vec<BlockedAttribute>, Vec<Warning>) {
    let mut blocked = Vec::new();
    let mut warnings = Vec::new();
    for baked in prims.iter().filter(|p| is_written(p, "points")) {
        let mut names: Vec<Token> = Vec::new();
        for place in baked.places() {
            let path = Path::parse(place).unwrap_or_default();
            let Some(prim) = stage.prim(&path) else {
                continue;
            };
            let old = of_prim(prim).filter(|a| !is_written(baked, a.name()));
            for attribute in old {
                let name = Token::new(attribute.name());
                if !names.contains(&name) {
                    names.push(name.clone());
                }
                blocked.push(BlockedAttribute {
                    prim: place.to_owned(),
                    name,
                    type_name: attribute.type_name(),
                });
            }
        }
        if !names.is_empty() {
            let names: Vec<&str> = names.iter().map(Token::as_str).collect();
            let message = format!(
                "the {} of the input belong to its points, not to the baked ones: the output has no values for them",
                names.join(", ")
            );
            warnings.push(Warning::new("old-motion", &baked.path, message));
        }
    }
    (blocked, warnings)
}

fn of_prim(prim: Prim<'_>) -> impl Iterator<Item = Attribute<'_, 'static>> {
    let attributes = NAMES.iter().map(move |name| prim.attribute(name));
    attributes.filter(|a| a.has_authored_value() && VECTORS.contains(&a.type_name().as_str()))
}

/// Blocks attributes in a layer.
pub(super) fn block(layer: &mut Layer, blocked: &[BlockedAttribute]) {
    for attribute in blocked {
        let none = vec![(Time::Default, Value::Block)];
        let BlockedAttribute {
            prim,
            name,
            type_name,
        } = attribute;
        author(layer, prim, name.as_str(), type_name.as_str(), none);
    }
}
