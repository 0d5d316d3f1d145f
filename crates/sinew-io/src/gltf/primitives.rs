//! Primitives: points, faces and what each point carries (glTF 2.0, 3.7.2; KHR_mesh_quantization).

use glam::{Vec2, Vec3, Vec4};

use super::accessor::Accessor;
use super::document::Document;
use super::element::{Component, Shape};
use super::json::Json;
use super::meshes::SkinLimit;
use super::triangles::{self, Mode};
use super::{influences, morph};
use sinew::error::Invalid;
use sinew_animate::asset::{Faces, MorphTarget, Primitive};

/// Component types that KHR_mesh_quantization adds, and whether normalised.
pub(super) const QUANTIZED_POSITION: &[(Component, bool)] = &[
    (Component::I8, false),
    (Component::I8, true),
    (Component::U8, false),
    (Component::U8, true),
    (Component::I16, false),
    (Component::I16, true),
    (Component::U16, false),
    (Component::U16, true),
];
/// The same for normals and tangents.
pub(super) const QUANTIZED_UNIT: &[(Component, bool)] =
    &[(Component::I8, true), (Component::I16, true)];
const NORMALIZED: &[(Component, bool)] = &[(Component::U8, true), (Component::U16, true)];

/// A primitive; `None`, with a warning, where there are no triangles to make.
pub(super) fn read(
    document: &Document,
    json: &Json<'_>,
    limit: Option<SkinLimit>,
) -> Result<Option<Primitive>, Invalid> {
    let attributes = json.need("attributes")?;
    let Some(mode) = Mode::parse(json)? else {
        let message = "points or lines; they are left out";
        document.warn("gltf-primitive-mode", json.at(), message);
        return Ok(None);
    };
    let vec3 = &[Shape::vector(3)];
    let position = attribute(
        document,
        &attributes,
        "POSITION",
        vec3,
        &[],
        QUANTIZED_POSITION,
    )?;
    let Some(position) = position else {
        let message = "no POSITION; the primitive is left out";
        document.warn("gltf-no-position", json.at(), message);
        return Ok(None);
    };
    if position.is_empty() && json.extension("KHR_draco_mesh_compression")?.is_some() {
        let expected = "data that is not in KHR_draco_mesh_compression alone";
        return Err(position.misused(expected));
    }
    let count = position.count;
    let points = position.read(vec3_of)?;
    let per_point = |name: &str, shapes: &[Shape], core: &[_], quantized: &[_]| {
        let Some(accessor) = attribute(document, &attributes, name, shapes, core, quantized)?
        else {
            return Ok(None);
        };
        accessor.expect_count(count, "one per point").map(Some)
    };
    let normals = soft(
        document,
        per_point("NORMAL", vec3, &[], QUANTIZED_UNIT)?,
        vec3_of,
    )?;
    let tangent = per_point("TANGENT", &[Shape::vector(4)], &[], QUANTIZED_UNIT)?;
    let tangents = soft(document, tangent, vec4_of)?;
    let color_shapes = &[Shape::vector(3), Shape::vector(4)];
    let colors = match per_point("COLOR_0", color_shapes, NORMALIZED, &[])? {
        Some(a) if a.shape == Shape::vector(3) => {
            soft(document, Some(a), |c| vec3_of(c).extend(1.0))?
        }
        accessor => soft(document, accessor, vec4_of)?,
    };
    let mut uvs = Vec::new();
    // Sets are numbered without gaps.
    while let Some(accessor) = per_point(
        &format!("TEXCOORD_{}", uvs.len()),
        &[Shape::vector(2)],
        NORMALIZED,
        QUANTIZED_POSITION,
    )? {
        uvs.push(soft(document, Some(accessor), |[u, v]: [f64; 2]| {
            Vec2::new(u as f32, v as f32)
        })?);
    }
    let influences = influences::read(document, &attributes, count, limit)?;
    let indices = triangles::read(document, json, mode, count)?;
    let mut material = None;
    let mut double_sided = false;
    if let Some(reference) = json.get("material")? {
        let (index, json) = document.follow(&reference, "materials", "a material")?;
        material = Some(index);
        double_sided = json.boolean_or("doubleSided", false)?;
    }
    let targets = json.list("targets")?;
    let targets = targets.iter().map(|t| morph::read(document, t, count));
    let targets: Vec<MorphTarget> = targets.collect::<Result<_, _>>()?;
    Ok(Some(Primitive {
        points,
        normals,
        tangents,
        uvs,
        colors,
        corner_data: false,
        faces: Faces {
            counts: None,
            indices,
        },
        influences: influences.each,
        joints: influences.joints,
        weights: influences.weights,
        targets,
        material,
        double_sided,
    }))
}

fn vec3_of([x, y, z]: [f64; 3]) -> Vec3 {
    Vec3::new(x as f32, y as f32, z as f32)
}

fn vec4_of([x, y, z, w]: [f64; 4]) -> Vec4 {
    Vec4::new(x as f32, y as f32, z as f32, w as f32)
}

/// The accessor of an attribute, of one of the shapes, and FLOAT, of a `core` type or of a `quantized` one.
pub(super) fn attribute<'d>(
    document: &'d Document,
    attributes: &Json<'_>,
    name: &str,
    shapes: &[Shape],
    core: &[(Component, bool)],
    quantized: &[(Component, bool)],
) -> Result<Option<Accessor<'d>>, Invalid> {
    let Some(reference) = attributes.get(name)? else {
        return Ok(None);
    };
    let accessor = document.accessor(&reference)?;
    let kind = (accessor.component, accessor.normalized);
    if !shapes.contains(&accessor.shape) {
        let names: Vec<String> = shapes.iter().map(|s| format!("VEC{}", s.rows)).collect();
        return Err(accessor.misused(names.join(" or ")));
    }
    if accessor.component == Component::F32 || core.contains(&kind) {
        return Ok(Some(accessor));
    }
    if !quantized.contains(&kind) {
        return Err(accessor.misused("a component type that this attribute may have"));
    }
    if !document.uses("KHR_mesh_quantization") {
        let message = "small integers without KHR_mesh_quantization among the extensions used";
        document.warn("gltf-quantization-undeclared", reference.at(), message);
    }
    Ok(Some(accessor))
}

/// Values that only colour or shade: left out, with a warning, where some are not finite. Exporters write such
/// tangents where texture coordinates are degenerate.
fn soft<const N: usize, T: Clone>(
    document: &Document,
    accessor: Option<Accessor<'_>>,
    make: impl Fn([f64; N]) -> T,
) -> Result<Vec<T>, Invalid> {
    let Some(accessor) = accessor else {
        return Ok(Vec::new());
    };
    match accessor.read(make) {
        Err(e) if e.code == Some("gltf-not-finite") => {
            let message = format!("left out: {} has {}", e.prim, e.found);
            document.warn("gltf-not-finite", &accessor.used_at, message);
            Ok(Vec::new())
        }
        other => other,
    }
}
