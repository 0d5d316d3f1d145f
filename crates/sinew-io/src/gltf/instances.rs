//! Instances of a node's mesh (EXT_mesh_gpu_instancing).

use glam::{DQuat, DVec3};

use super::accessor::{Component, Shape};
use super::document::Document;
use super::json::Json;
use sinew::error::Invalid;
use sinew_animate::asset::Trs;

/// Component types of each attribute, and whether normalised.
const FLOATS: &[(Component, bool)] = &[(Component::F32, false)];
const ROTATIONS: &[(Component, bool)] = &[
    (Component::F32, false),
    (Component::I8, true),
    (Component::I16, true),
];

/// The transforms of all instances. Attributes other than TRANSLATION, ROTATION and SCALE are left
/// out with a warning.
pub(super) fn read(document: &Document, extension: &Json<'_>) -> Result<Vec<Trs>, Invalid> {
    let attributes = extension.need("attributes")?;
    let mut count: Option<usize> = None;
    let mut translations = None;
    let mut rotations: Option<Vec<DQuat>> = None;
    let mut scales = None;
    for (name, reference) in attributes.members()? {
        let (shape, kinds, expected) = match name {
            "TRANSLATION" | "SCALE" => (Shape::vector(3), FLOATS, "FLOAT VEC3"),
            "ROTATION" => (
                Shape::vector(4),
                ROTATIONS,
                "FLOAT or normalized BYTE or SHORT, VEC4",
            ),
            _ => {
                let message = "an attribute of instances that is not read: it is left out";
                document.warn("gltf-attribute-ignored", reference.at(), message);
                continue;
            }
        };
        let mut accessor = document
            .accessor(&reference)?
            .expect(shape, kinds, expected)?;
        if let Some(count) = count {
            accessor = accessor.expect_count(count, "one per instance")?;
        }
        count = Some(accessor.count);
        document.charge(accessor.count, size_of::<Trs>(), reference.at())?;
        match name {
            "TRANSLATION" => translations = Some(accessor.read(DVec3::from_array)?),
            "SCALE" => scales = Some(accessor.read(DVec3::from_array)?),
            _ => {
                let read: Vec<DQuat> = accessor.read(DQuat::from_array)?;
                if let Some(i) = read.iter().position(|q| q.length() < 1e-9) {
                    let found = format!("length 0 as element {i} of {}", accessor.at);
                    return Err(reference.error("rotations of length 1", found));
                }
                rotations = Some(read.iter().map(|q| q.normalize()).collect());
            }
        }
    }
    let instance = |i: usize| Trs {
        translation: translations.as_ref().map_or(DVec3::ZERO, |t| t[i]),
        rotation: rotations.as_ref().map_or(DQuat::IDENTITY, |r| r[i]),
        scale: scales.as_ref().map_or(DVec3::ONE, |s| s[i]),
    };
    Ok((0..count.unwrap_or(0)).map(instance).collect())
}
