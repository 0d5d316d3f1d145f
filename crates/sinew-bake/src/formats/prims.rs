//! The prims of frames, and the kind of their normals.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use glam::{DMat4, Vec3};

use crate::plan::Plan;
use crate::report::BakeReport;
use crate::sink::PrimSample;
use crate::stream::leave_prim_space;
use sinew::error::{Invalid, Warning};
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, DrawnMesh, Geometry, OutSpace, Scene, SkinPart};
use sinew::skel::{MeshTopology, PrimvarInterpolation};

/// One prim at one frame: points and normals in the space of the output.
pub(super) struct PrimFrame {
    pub points: Vec<Vec3>,
    /// Normals of unit length, or zero, one per point or per face corner; `None` if none are
    /// needed.
    pub normals: Option<Vec<Vec3>>,
}

/// A prim of frames.
#[derive(Clone, Debug)]
pub(crate) struct FramedPrim {
    /// Index into [`Scene::bindings`].
    pub(super) binding: usize,
    /// Index into [`Geometry::meshes`], if faces are needed.
    pub(super) mesh: Option<usize>,
    pub(super) normals: Option<NormalsFrom>,
}

/// Which normals of a frame a face corner uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NormalsOf {
    Points,
    Corners,
}

/// The source of the normals of a mesh.
#[derive(Clone, Debug)]
pub(super) enum NormalsFrom {
    /// Authored normals, deformed if something deforms them; the value is an index into the
    /// binding's normals.
    Authored(usize, NormalsOf),
    /// Computed from the deformed points, because there are no authored normals, or only those that
    /// nothing deforms (constant and uniform ones).
    Smooth(Arc<MeshTopology>),
}

impl NormalsFrom {
    pub fn of(mesh: &DrawnMesh) -> Self {
        let kind = mesh.normals.as_ref().and_then(|n| match n.interpolation {
            PrimvarInterpolation::Vertex => Some(NormalsOf::Points),
            PrimvarInterpolation::FaceVarying => Some(NormalsOf::Corners),
            _ => None,
        });
        match (kind, mesh.skin_normals) {
            (Some(kind), Some(normals)) => Self::Authored(normals, kind),
            _ => Self::Smooth(mesh.topology.clone()),
        }
    }

    pub fn kind(&self) -> NormalsOf {
        match self {
            Self::Authored(_, kind) => *kind,
            Self::Smooth(_) => NormalsOf::Points,
        }
    }
}

/// The chosen bindings that have points and, if a geometry is given, faces. The others become
/// warnings.
pub(crate) fn framed_prims(
    scene: &Scene,
    geometry: Option<&Geometry>,
    chosen: &[usize],
    warnings: &mut Vec<Warning>,
) -> Vec<FramedPrim> {
    let meshes = geometry.iter().flat_map(|g| g.meshes.iter().enumerate());
    let mesh_of: HashMap<usize, usize> =
        meshes.filter_map(|(i, m)| Some((m.binding?, i))).collect();
    let mut out = Vec::new();
    for &b in chosen {
        let binding = &scene.bindings[b];
        let mut leave =
            |message: &str| warnings.push(Warning::new("left-out", &binding.path, message));
        if binding.is_shape || !binding.points.has_value() {
            leave("the prim has no points, and only its transform moves: it is not in the output");
            continue;
        }
        let Some(geometry) = geometry else {
            out.push(FramedPrim {
                binding: b,
                mesh: None,
                normals: None,
            });
            continue;
        };
        let Some(&mesh) = mesh_of.get(&b) else {
            let reported = geometry.errors.iter().any(|e| e.prim == binding.path);
            if !reported {
                leave(
                    "the prim is not a mesh that is drawn (curves, points, or purpose proxy or guide): it is not in the output",
                );
            }
            continue;
        };
        out.push(FramedPrim {
            binding: b,
            mesh: Some(mesh),
            normals: Some(NormalsFrom::of(&geometry.meshes[mesh])),
        });
    }
    out
}

/// Adds the errors and warnings of the geometry of the chosen prims to the report.
pub(super) fn tell_geometry(
    scene: &Scene,
    geometry: &Geometry,
    chosen: &[usize],
    report: &mut BakeReport,
) {
    let chosen: HashSet<&str> = chosen
        .iter()
        .map(|b| scene.bindings[*b].path.as_str())
        .collect();
    let errors = geometry.errors.iter();
    let errors = errors.filter(|e| chosen.contains(e.prim.as_str()));
    report.errors.extend(errors.cloned());
    let warnings = geometry.warnings.iter();
    // Prims that are not in the output are reported already.
    let warnings = warnings.filter(|w| chosen.contains(w.path.as_str()) && w.code != "not-drawn");
    report.warnings.extend(warnings.cloned());
}

/// Removes meshes that are invisible at every one of these times, and those without faces.
pub(super) fn keep_drawn(
    geometry: &Geometry,
    prims: &mut Vec<FramedPrim>,
    times: &[Time],
    warnings: &mut Vec<Warning>,
) {
    prims.retain(|prim| {
        let Some(mesh) = prim.mesh.map(|m| &geometry.meshes[m]) else {
            return true;
        };
        let reason = if !times.iter().any(|t| mesh.visible(*t)) {
            "the mesh is invisible at every frame: it is not in the output"
        } else if mesh.topology.corner_count() == 0 {
            "the mesh has no faces: it is not in the output"
        } else {
            return true;
        };
        warnings.push(Warning::new("left-out", &mesh.path, reason));
        false
    });
}

/// The work to compute the points of every prim, with one skin each.
pub(crate) fn points_of(space: OutSpace, prims: &[FramedPrim]) -> Plan {
    let parts = prims.iter().map(|prim| {
        let (normals, smooth) = match &prim.normals {
            Some(NormalsFrom::Authored(normals, _)) => (*normals, None),
            Some(NormalsFrom::Smooth(topology)) => (0, Some(topology.clone())),
            None => (0, None),
        };
        let part = SkinPart {
            blend_only: false,
            normals,
        };
        (prim.binding, part, smooth)
    });
    Plan::of_points(space, parts)
}

/// Makes a frame of the prim from a sample.
///
/// # Errors
/// The number of points or normals does not fit the faces.
pub(super) fn frame_of(
    sample: &mut PrimSample,
    bound: BoundSkin<'_>,
    mesh: Option<(&DrawnMesh, &NormalsFrom)>,
    space: OutSpace,
    time: Time,
) -> Result<PrimFrame, Invalid> {
    let found = sample.points.len();
    let mut take_points = || std::mem::take(&mut sample.points);
    let Some((mesh, from)) = mesh else {
        return Ok(PrimFrame {
            points: take_points(),
            normals: None,
        });
    };
    let deformed = sample.normals.first_mut().and_then(Option::take);
    let points = mesh.point_count();
    let normals = match (from, deformed) {
        (_, Some(normals)) => normals,
        // Nothing deforms them (rule 20).
        (NormalsFrom::Authored(..), None) => {
            let out_from_prim = bound.scene().at(time, space).out_from_prim(bound)?;
            authored(mesh, time, out_from_prim.unwrap_or(DMat4::IDENTITY))
        }
        (NormalsFrom::Smooth(_), None) => Vec::new(),
    };
    let wanted = match from.kind() {
        NormalsOf::Points => points,
        NormalsOf::Corners => mesh.topology.corner_count(),
    };
    for (property, wanted, found) in [
        ("points", points, found),
        ("normals", wanted, normals.len()),
    ] {
        if wanted != found {
            let expected = format!("{wanted} at every time, as the faces need");
            return Err(Invalid::new(
                &mesh.path,
                property,
                expected,
                format!("{found} at time {time}"),
            ));
        }
    }
    Ok(PrimFrame {
        points: take_points(),
        normals: Some(normals.into_iter().map(Vec3::normalize_or_zero).collect()),
    })
}

fn authored(mesh: &DrawnMesh, time: Time, out_from_prim: DMat4) -> Vec<Vec3> {
    let Some(primvar) = &mesh.normals else {
        return Vec::new();
    };
    let values = primvar.at(time).unwrap_or_default();
    let mut normals: Vec<Vec3> = match &primvar.indices {
        Some(indices) => indices
            .iter()
            .filter_map(|i| values.get(*i as usize).copied())
            .collect(),
        None => values.to_vec(),
    };
    leave_prim_space(&mut [], Some(&mut normals), out_from_prim);
    normals
}
