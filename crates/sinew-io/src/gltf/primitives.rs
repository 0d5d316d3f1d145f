//! Primitives: points, faces and what each point carries (glTF 2.0, 3.7.2; KHR_mesh_quantization);
//! lists, strips and fans of triangles (3.7.2.1); morph targets (3.7.2.2).

use glam::{Vec2, Vec3, Vec4};

use super::accessor::{Accessor, Component, Shape};
use super::document::Document;
use super::influences;
use super::json::Json;
use super::materials;
use super::meshes::SkinLimit;
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
        let message = "points or lines: they are ignored";
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
        let message = "no POSITION: the primitive is ignored";
        document.warn("gltf-no-position", json.at(), message);
        return Ok(None);
    };
    if position.is_empty() && json.extension("KHR_draco_mesh_compression")?.is_some() {
        let expected =
            "data outside KHR_draco_mesh_compression (`gltf-transform copy IN OUT` writes it so)";
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
    let indices = read_triangles(document, json, mode, count)?;
    let mut material = None;
    let mut double_sided = false;
    if let Some(reference) = json.get("material")? {
        let (index, json) = document.follow(&reference, "materials", "a material")?;
        material = Some(index);
        double_sided = json.boolean_or("doubleSided", false)?;
    }
    let targets = json.list("targets")?;
    let targets = targets.iter().map(|t| read_targets(document, t, count));
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
        variant_materials: materials::variant_materials(document, json)?,
        double_sided,
    }))
}

fn vec3_of([x, y, z]: [f64; 3]) -> Vec3 {
    Vec3::new(x as f32, y as f32, z as f32)
}

fn vec4_of([x, y, z, w]: [f64; 4]) -> Vec4 {
    Vec4::new(x as f32, y as f32, z as f32, w as f32)
}

/// The accessor of an attribute, of one of the shapes, and FLOAT, of a `core` type or of a
/// `quantized` one.
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
        let message = "small integers, but KHR_mesh_quantization is not in extensionsUsed";
        document.warn("gltf-quantization-undeclared", reference.at(), message);
    }
    Ok(Some(accessor))
}

/// Values that only colour or shade: left out, with a warning, where some are not finite. Exporters
/// write such tangents where texture coordinates are degenerate.
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

/// How indices make triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    List,
    Strip,
    Fan,
}

impl Mode {
    /// Of a primitive; `None` for points and lines.
    pub(super) fn parse(primitive: &Json<'_>) -> Result<Option<Self>, Invalid> {
        let Some(mode) = primitive.get("mode")? else {
            return Ok(Some(Self::List));
        };
        match mode.integer()? {
            0..=3 => Ok(None),
            4 => Ok(Some(Self::List)),
            5 => Ok(Some(Self::Strip)),
            6 => Ok(Some(Self::Fan)),
            _ => Err(mode.wrong("0 to 6")),
        }
    }
}

/// Three indices per triangle.
pub(super) fn read_triangles(
    document: &Document,
    primitive: &Json<'_>,
    mode: Mode,
    points: usize,
) -> Result<Vec<u32>, Invalid> {
    let listed = match primitive.get("indices")? {
        Some(reference) => {
            let accessor = document.accessor(&reference)?.expect(
                Shape::SCALAR,
                &[
                    (Component::U8, false),
                    (Component::U16, false),
                    (Component::U32, false),
                ],
                "UNSIGNED_BYTE, UNSIGNED_SHORT or UNSIGNED_INT SCALAR",
            )?;
            // Exact: whole numbers below 2^32.
            let indices = accessor.read(|[i]| i as u32)?;
            if let Some(high) = indices.iter().find(|i| **i as usize >= points) {
                return Err(reference.error(format!("points below {points}"), high.to_string()));
            }
            indices
        }
        None => {
            document.charge(points, 4, primitive.at())?;
            let points = u32::try_from(points)
                .map_err(|_| primitive.error("fewer than 2^32 points", points.to_string()))?;
            (0..points).collect()
        }
    };
    if mode == Mode::List {
        return Ok(list(document, primitive, listed));
    }
    document.charge(listed.len(), 12, primitive.at())?;
    let corners = |i: usize, [a, b, c]: [u32; 3]| match mode {
        // Every other triangle of a strip turns the other way.
        Mode::Strip if i % 2 == 1 => [a, c, b],
        Mode::Fan => [b, c, listed[0]],
        _ => [a, b, c],
    };
    let triangles = listed.windows(3).enumerate();
    Ok(triangles
        .map(|(i, w)| corners(i, [w[0], w[1], w[2]]))
        // Strips are sewn together with empty triangles.
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .flatten()
        .collect())
}

fn list(document: &Document, primitive: &Json<'_>, mut indices: Vec<u32>) -> Vec<u32> {
    let over = indices.len() % 3;
    if over > 0 {
        let message = format!("{over} indices after the last complete triangle: they are ignored");
        document.warn("gltf-triangle-incomplete", primitive.at(), message);
        indices.truncate(indices.len() - over);
    }
    indices
}

/// One target of a primitive with that many points.
pub(super) fn read_targets(
    document: &Document,
    target: &Json<'_>,
    points: usize,
) -> Result<MorphTarget, Invalid> {
    let get = |name: &str, quantized: &[(Component, bool)]| {
        let Some(accessor) =
            attribute(document, target, name, &[Shape::vector(3)], &[], quantized)?
        else {
            return Ok(None);
        };
        accessor.expect_count(points, "one per point").map(Some)
    };
    let position = get("POSITION", QUANTIZED_POSITION)?;
    let normal = get("NORMAL", QUANTIZED_UNIT)?;
    let tangent = get("TANGENT", QUANTIZED_UNIT)?;
    for (name, _) in target.members()? {
        if !["POSITION", "NORMAL", "TANGENT"].contains(&name) && !name.starts_with('_') {
            let message = format!("the morph target changes {name}, which is ignored");
            document.warn("gltf-morph-attribute", target.at(), message);
        }
    }
    let Some(point_indices) = touched([&position, &normal, &tangent]) else {
        return Ok(MorphTarget {
            offsets: dense(&position)?,
            normal_offsets: dense(&normal)?,
            tangent_offsets: dense(&tangent)?,
            ..MorphTarget::default()
        });
    };
    Ok(MorphTarget {
        offsets: gather(&position, &point_indices)?,
        normal_offsets: gather(&normal, &point_indices)?,
        tangent_offsets: gather(&tangent, &point_indices)?,
        point_indices: Some(point_indices),
        ..MorphTarget::default()
    })
}

fn vector([x, y, z]: [f64; 3]) -> Vec3 {
    Vec3::new(x as f32, y as f32, z as f32)
}

/// Points that any of the accessors moves, rising, where all of them are sparse.
fn touched(accessors: [&Option<Accessor<'_>>; 3]) -> Option<Vec<u32>> {
    let mut points = Vec::new();
    for accessor in accessors.into_iter().flatten() {
        points.extend(accessor.sparse_indices()?);
    }
    points.sort_unstable();
    points.dedup();
    Some(points)
}

fn dense(accessor: &Option<Accessor<'_>>) -> Result<Vec<Vec3>, Invalid> {
    accessor.as_ref().map_or(Ok(Vec::new()), |a| a.read(vector))
}

/// Offsets of those points, zero where the accessor is silent.
fn gather(accessor: &Option<Accessor<'_>>, points: &[u32]) -> Result<Vec<Vec3>, Invalid> {
    let Some(accessor) = accessor else {
        return Ok(Vec::new());
    };
    let values = accessor.read_sparse(vector)?;
    let indices = accessor.sparse_indices().unwrap_or_default();
    let mut out = vec![Vec3::ZERO; points.len()];
    for (index, value) in indices.iter().zip(values) {
        if let Ok(at) = points.binary_search(index) {
            out[at] = value;
        }
    }
    Ok(out)
}
