//! The fields of metadata that usd-core 26.11 knows: `SdfSchema` and the `SdfMetadata` of its
//! plugins.

use super::types::Scalar;
use crate::layer::SpecKind;

/// The type of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldType {
    Scalar(Scalar),
    Array(Scalar),
    Dictionary,
    TokenListOp,
    StringListOp,
    Int64ListOp,
}

const LAYER: u8 = 1;
/// Prims and variants.
const PRIM: u8 = 2;
const ATTRIBUTE: u8 = 4;
const RELATIONSHIP: u8 = 8;
const PROPERTY: u8 = ATTRIBUTE | RELATIONSHIP;
const OBJECT: u8 = PRIM | PROPERTY;

/// Name, type and the specs that may have it. Fields with a syntax of their own (references, `doc`,
/// `kind`, variants and the like) are read in `metadata.rs` and `arcs.rs`.
#[rustfmt::skip]
const FIELDS: &[(&str, FieldType, u8)] = {
    use FieldType as F;
    use Scalar as S;
    &[
        ("active", F::Scalar(S::Bool), PRIM),
        ("allowedTokens", F::Array(S::Token), ATTRIBUTE),
        ("apiSchemas", F::TokenListOp, PRIM),
        ("arraySizeConstraint", F::Scalar(S::Int64), ATTRIBUTE),
        ("assetInfo", F::Dictionary, OBJECT),
        ("bindMaterialAs", F::Scalar(S::Token), RELATIONSHIP),
        ("clipSets", F::StringListOp, PRIM),
        ("clips", F::Dictionary, PRIM),
        ("colorConfiguration", F::Scalar(S::AssetPath), LAYER),
        ("colorManagementSystem", F::Scalar(S::Token), LAYER),
        ("colorSpace", F::Scalar(S::Token), ATTRIBUTE),
        ("connectability", F::Scalar(S::Token), ATTRIBUTE),
        ("constraintTargetIdentifier", F::Scalar(S::Token), ATTRIBUTE),
        ("customData", F::Dictionary, OBJECT),
        ("customLayerData", F::Dictionary, LAYER),
        ("defaultPrim", F::Scalar(S::Token), LAYER),
        ("displayGroup", F::Scalar(S::String), PROPERTY),
        ("displayGroupOrder", F::Array(S::String), PRIM),
        ("displayName", F::Scalar(S::String), OBJECT),
        ("documentation", F::Scalar(S::String), LAYER | OBJECT),
        ("elementSize", F::Scalar(S::Int), ATTRIBUTE),
        ("endFrame", F::Scalar(S::Double), LAYER),
        ("endTimeCode", F::Scalar(S::Double), LAYER),
        ("expressionVariables", F::Dictionary, LAYER),
        ("fallbackPrimTypes", F::Dictionary, LAYER),
        ("framePrecision", F::Scalar(S::Int), LAYER),
        ("framesPerSecond", F::Scalar(S::Double), LAYER),
        ("hasOwnedSubLayers", F::Scalar(S::Bool), LAYER),
        ("hidden", F::Scalar(S::Bool), OBJECT),
        ("inactiveIds", F::Int64ListOp, PRIM),
        ("instanceable", F::Scalar(S::Bool), PRIM),
        ("interpolation", F::Scalar(S::Token), ATTRIBUTE),
        ("kilogramsPerUnit", F::Scalar(S::Double), LAYER),
        ("kind", F::Scalar(S::Token), PRIM),
        ("limits", F::Dictionary, ATTRIBUTE),
        ("metersPerUnit", F::Scalar(S::Double), LAYER),
        ("noLoadHint", F::Scalar(S::Bool), RELATIONSHIP),
        ("outputName", F::Scalar(S::Token), RELATIONSHIP),
        ("owner", F::Scalar(S::String), LAYER),
        ("payloadAssetDependencies", F::Array(S::AssetPath), PRIM),
        ("prefix", F::Scalar(S::String), OBJECT),
        ("prefixSubstitutions", F::Dictionary, PRIM),
        ("renderSettingsPrimPath", F::Scalar(S::String), LAYER),
        ("renderType", F::Scalar(S::Token), PROPERTY),
        ("sdrMetadata", F::Dictionary, PRIM | ATTRIBUTE),
        ("sessionOwner", F::Scalar(S::String), LAYER),
        ("startFrame", F::Scalar(S::Double), LAYER),
        ("startTimeCode", F::Scalar(S::Double), LAYER),
        ("suffix", F::Scalar(S::String), OBJECT),
        ("suffixSubstitutions", F::Dictionary, PRIM),
        ("symmetricPeer", F::Scalar(S::String), OBJECT),
        ("symmetryArguments", F::Dictionary, OBJECT),
        ("symmetryFunction", F::Scalar(S::Token), OBJECT),
        ("timeCodesPerSecond", F::Scalar(S::Double), LAYER),
        ("typeName", F::Scalar(S::Token), PRIM),
        ("uiHints", F::Dictionary, OBJECT),
        ("unauthoredValuesIndex", F::Scalar(S::Int), ATTRIBUTE),
        ("upAxis", F::Scalar(S::Token), LAYER),
        ("weight", F::Scalar(S::Float), ATTRIBUTE),
    ]
};

/// Fields that have a place of their own in the text, so that they cannot be the key of other
/// metadata.
const RESERVED: &[(&str, u8)] = &[
    ("specifier", PRIM),
    ("primOrder", LAYER | PRIM),
    ("propertyOrder", PRIM),
    ("inheritPaths", PRIM),
    ("variantSelection", PRIM),
    ("variantSetNames", PRIM),
    ("comment", LAYER | OBJECT),
    ("custom", PROPERTY),
    ("variability", PROPERTY),
    ("typeName", ATTRIBUTE),
    ("targetPaths", RELATIONSHIP),
    ("connectionPaths", ATTRIBUTE),
    ("subLayerOffsets", LAYER),
    ("layerRelocates", LAYER),
];

fn bit(kind: SpecKind) -> u8 {
    match kind {
        SpecKind::Root => LAYER,
        SpecKind::Prim | SpecKind::Variant | SpecKind::VariantSet => PRIM,
        SpecKind::Attribute => ATTRIBUTE,
        SpecKind::Relationship => RELATIONSHIP,
    }
}

/// The type of a field on a spec; none if usd-core does not know it there.
pub(super) fn field_type(kind: SpecKind, name: &str) -> Option<FieldType> {
    let at = FIELDS.binary_search_by(|(n, ..)| (*n).cmp(name)).ok()?;
    let (_, field, specs) = FIELDS[at];
    (specs & bit(kind) != 0).then_some(field)
}

/// Whether a key of metadata is a field that has a place of its own in the text.
pub(super) fn is_reserved(kind: SpecKind, name: &str) -> bool {
    RESERVED
        .iter()
        .any(|(n, specs)| *n == name && specs & bit(kind) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(FIELDS.is_sorted_by_key(|(name, ..)| *name));
        let weight = field_type(SpecKind::Attribute, "weight");
        assert_eq!(weight, Some(FieldType::Scalar(Scalar::Float)));
        assert_eq!(field_type(SpecKind::Prim, "weight"), None);
    }
}
