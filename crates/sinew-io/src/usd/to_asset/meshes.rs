//! Meshes: points, normals, texture coordinates and colours as values of vertices.

use std::sync::Arc;

use glam::{Vec2, Vec3, Vec4};

use crate::gltf::normals_of_triangles;
use crate::vertices::{SplitVertices, bits};
use sinew::error::{Invalid, Warning};
use sinew::mesh::FaceTriangles;
use sinew::sampled::{Lerp, Time};
use sinew::scene::{DrawnMesh, Primvar};
use sinew::skel::{BlendShape, InbetweenDef, PrimvarInterpolation, PrimvarSlice};
use sinew_animate::asset::{Faces, Mesh, MorphTarget, Primitive};

/// The influences of the points of a mesh on the joints of its skin.
#[derive(Clone, Debug, Default)]
pub(super) struct PointInfluences {
    /// Influences per point.
    pub each: usize,
    pub joints: Vec<u32>,
    pub weights: Vec<f32>,
}

/// What a mesh is made from beside its faces.
pub(super) struct MeshInputs<'a> {
    pub mesh: &'a DrawnMesh,
    /// The time of everything that does not move in glTF.
    pub time: Time,
    pub influences: Option<&'a PointInfluences>,
    /// Channels: their tokens and shapes.
    pub shapes: &'a [(String, Arc<BlendShape>)],
    /// The parts of the mesh, one per material.
    pub parts: Vec<Part>,
    /// Whether triangles turn the other way.
    pub turned: bool,
}

/// Faces of a mesh with one material.
pub(super) struct Part {
    /// Ascending face indices; `None` for all faces in no other part.
    pub faces: Option<Arc<Vec<u32>>>,
    /// Index into the asset's materials.
    pub material: Option<usize>,
    /// Primvars of texture coordinates that the material reads, in the order of its sets.
    pub uv_names: Vec<String>,
    /// Whether vertices have colours.
    pub colored: bool,
}

/// A mesh, with the point and the first face corner of each vertex of its primitives.
pub(super) struct MadeMesh {
    pub mesh: Mesh,
    pub points: Vec<Vec<u32>>,
    pub corners: Vec<Vec<u32>>,
}

/// A primvar at the time of the mesh.
struct Values<'a, T> {
    primvar: &'a Primvar<T>,
    values: Arc<Vec<T>>,
}

impl<'a, T: Copy> Values<'a, T>
where
    Vec<T>: Lerp,
{
    /// `None` if the primvar has no values then.
    fn of(primvar: Option<&'a Primvar<T>>, time: Time) -> Option<Self> {
        let primvar = primvar?;
        let first = || primvar.values.first().cloned();
        let values = primvar.at(time).or_else(first)?;
        Some(Self { primvar, values })
    }

    fn slice(&self) -> PrimvarSlice<'_, T> {
        self.primvar.slice(&self.values)
    }

    fn at(&self, face: u32, corner: u32, point: u32) -> T {
        let slice = self.slice();
        slice.values[slice.index(face as usize, corner as usize, point)]
    }

    /// Whether the corners of a point can have different values.
    fn splits(&self) -> bool {
        use PrimvarInterpolation::{FaceVarying, Uniform};
        matches!(self.primvar.interpolation, FaceVarying | Uniform)
    }

    /// The values of all vertices.
    fn of_vertices(&self, vertices: &SplitVertices) -> Vec<T> {
        let corners = vertices.faces.iter().zip(&vertices.corners);
        let all = corners.zip(&vertices.points);
        all.map(|((face, corner), point)| self.at(*face, *corner, *point))
            .collect()
    }
}

/// Makes the mesh of a prim. A part without triangles is left out.
///
/// # Errors
/// Faces or points that make no triangles.
pub(super) fn make(
    inputs: &MeshInputs<'_>,
    name: &str,
    warnings: &mut Vec<Warning>,
) -> Result<MadeMesh, Invalid> {
    let mesh = inputs.mesh;
    let points = mesh
        .points
        .at(inputs.time)
        .or_else(|| mesh.points.first().cloned());
    let points = points.unwrap_or_default();
    let triangles = FaceTriangles::new(&mesh.path, &mesh.topology, &points)?;
    let mut taken = vec![false; mesh.topology.face_count()];
    for faces in inputs.parts.iter().filter_map(|p| p.faces.as_ref()) {
        for face in faces.iter() {
            taken[*face as usize] = true;
        }
    }
    let mut out = MadeMesh {
        mesh: Mesh {
            name: name.to_owned(),
            target_names: inputs
                .shapes
                .iter()
                .map(|(token, _)| token.clone())
                .collect(),
            weights: vec![0.0; inputs.shapes.len()],
            ..Mesh::default()
        },
        points: Vec::new(),
        corners: Vec::new(),
    };
    let maker = Maker {
        inputs,
        points: &points,
        triangles: &triangles,
        normals: Values::of(mesh.normals.as_ref(), inputs.time),
        colors: Values::of(mesh.display_color.as_ref(), inputs.time),
        opacities: Values::of(mesh.display_opacity.as_ref(), inputs.time),
        taken: &taken,
    };
    for part in &inputs.parts {
        if let Some((primitive, points, corners)) = maker.primitive(part) {
            out.mesh.primitives.push(primitive);
            out.points.push(points);
            out.corners.push(corners);
        }
    }
    if mesh.subdivided && maker.normals.is_some() {
        // Files that author normals mean the faces as they are.
    } else if mesh.subdivided {
        let message = "a subdivision surface: its faces are written, with smooth normals";
        warnings.push(Warning::new("subdivision-left-out", &mesh.path, message));
    }
    Ok(out)
}

struct Maker<'a> {
    inputs: &'a MeshInputs<'a>,
    points: &'a [Vec3],
    triangles: &'a FaceTriangles,
    normals: Option<Values<'a, Vec3>>,
    colors: Option<Values<'a, Vec3>>,
    opacities: Option<Values<'a, f32>>,
    /// Faces that a subset has.
    taken: &'a [bool],
}

impl Maker<'_> {
    /// The primitive of a part, with the point and the corner of each vertex.
    fn primitive(&self, part: &Part) -> Option<(Primitive, Vec<u32>, Vec<u32>)> {
        let mesh = self.inputs.mesh;
        let corner_points = mesh.topology.corner_points();
        let uvs = self.uv_sets(part);
        let colors = self.colors.as_ref().filter(|_| part.colored);
        let opacities = self.opacities.as_ref().filter(|_| part.colored);
        let chosen = |face: u32| match &part.faces {
            Some(faces) => faces.binary_search(&face).is_ok(),
            None => !self.taken[face as usize],
        };
        let look = |face: u32, corner: u32, key: &mut Vec<u32>| {
            let point = corner_points[corner as usize];
            if let Some(v) = self.normals.as_ref().filter(|v| v.splits()) {
                bits(&v.at(face, corner, point).to_array(), key);
            }
            for v in uvs.iter().flatten().filter(|v| v.splits()) {
                bits(&v.at(face, corner, point).to_array(), key);
            }
            if let Some(v) = colors.filter(|v| v.splits()) {
                bits(&v.at(face, corner, point).to_array(), key);
            }
            if let Some(v) = opacities.filter(|v| v.splits()) {
                bits(&[v.at(face, corner, point)], key);
            }
        };
        let mut vertices = SplitVertices::new(self.triangles, corner_points, chosen, look);
        if self.inputs.turned {
            let triangles = vertices.indices.chunks_exact_mut(3);
            triangles.for_each(|triangle| triangle.swap(1, 2));
        }
        if vertices.indices.is_empty() {
            return None;
        }
        let of_points = |values: &[Vec3]| -> Vec<Vec3> {
            vertices
                .points
                .iter()
                .map(|p| values[*p as usize])
                .collect()
        };
        let normals = match &self.normals {
            Some(normals) => normals.of_vertices(&vertices),
            // Renderers of glTF would show faces flat.
            None if mesh.subdivided => of_points(&self.smooth_normals()),
            None => Vec::new(),
        };
        let colors = self.colors_of(&vertices, colors, opacities);
        let (joints, weights, influences) = match self.inputs.influences {
            Some(from) => {
                let rows = |p: &u32| {
                    let at = *p as usize * from.each;
                    at..at + from.each
                };
                let points = &vertices.points;
                let joints = points.iter().flat_map(|p| &from.joints[rows(p)]);
                let weights = points.iter().flat_map(|p| &from.weights[rows(p)]);
                (
                    joints.copied().collect(),
                    weights.copied().collect(),
                    from.each,
                )
            }
            None => (Vec::new(), Vec::new(), 0),
        };
        // UsdSkel's shapes change normals only where there is one per point.
        let blends_normals = self.normals.as_ref().is_some_and(|n| {
            n.primvar.interpolation == PrimvarInterpolation::Vertex && n.primvar.indices.is_none()
        });
        let shapes = self.inputs.shapes.iter();
        let targets = shapes.map(|(_, shape)| target(shape, &vertices.points, blends_normals));
        let flip = |uvs: Vec<Vec2>| uvs.iter().map(|uv| Vec2::new(uv.x, 1.0 - uv.y)).collect();
        let primitive = Primitive {
            points: of_points(self.points),
            normals,
            uvs: uvs
                .iter()
                .map(|set| {
                    set.as_ref()
                        .map_or_else(Vec::new, |v| flip(v.of_vertices(&vertices)))
                })
                .collect(),
            colors,
            faces: Faces {
                counts: None,
                indices: vertices.indices,
            },
            influences,
            joints,
            weights,
            targets: targets.collect(),
            material: part.material,
            double_sided: mesh.double_sided,
            ..Primitive::default()
        };
        Some((primitive, vertices.points, vertices.corners))
    }

    /// The sets that the part's material reads, then all others of the mesh.
    fn uv_sets(&self, part: &Part) -> Vec<Option<Values<'_, Vec2>>> {
        let mesh = self.inputs.mesh;
        let all: Vec<&Primvar<Vec2>> = mesh.uvs.iter().chain(&mesh.other_uvs).collect();
        let property = |name: &String| format!("primvars:{name}");
        let named: Vec<String> = part.uv_names.iter().map(property).collect();
        let find = |name: &String| all.iter().find(|uvs| uvs.name == *name).copied();
        let wanted = named.iter().map(find);
        let mut others: Vec<_> = all
            .iter()
            .filter(|uvs| !named.contains(&uvs.name))
            .collect();
        others.sort_by(|a, b| a.name.cmp(&b.name));
        let others = others.into_iter().map(|uvs| Some(*uvs));
        let sets = wanted.chain(others);
        sets.map(|uvs| Values::of(uvs, self.inputs.time)).collect()
    }

    fn colors_of(
        &self,
        vertices: &SplitVertices,
        colors: Option<&Values<'_, Vec3>>,
        opacities: Option<&Values<'_, f32>>,
    ) -> Vec<Vec4> {
        if colors.is_none() && opacities.is_none() {
            return Vec::new();
        }
        let rgb = colors.map(|v| v.of_vertices(vertices));
        let alpha = opacities.map(|v| v.of_vertices(vertices));
        (0..vertices.points.len())
            .map(|i| {
                let rgb = rgb.as_ref().map_or(Vec3::ONE, |rgb| rgb[i]);
                rgb.extend(alpha.as_ref().map_or(1.0, |alpha| alpha[i]))
            })
            .collect()
    }

    fn smooth_normals(&self) -> Vec<Vec3> {
        let corner_points = self.inputs.mesh.topology.corner_points();
        let corners = self.triangles.corners.iter().flatten();
        let indices: Vec<u32> = corners.map(|c| corner_points[*c as usize]).collect();
        normals_of_triangles(self.points, &indices)
    }
}

/// A shape as offsets of vertices. In-betweens have the offsets of the same vertices.
fn target(shape: &BlendShape, points: &[u32], blends_normals: bool) -> MorphTarget {
    let count = points.iter().max().map_or(0, |p| *p as usize + 1);
    let entries = shape
        .sub_shapes()
        .iter()
        .map(|s| s.offsets.len())
        .max()
        .unwrap_or(0);
    let mut touched = vec![false; count];
    for point in (0..entries).map(|entry| shape.point_of(entry)) {
        if let Some(touched) = touched.get_mut(point) {
            *touched = true;
        }
    }
    let vertices = 0..points.len() as u32;
    let vertices: Vec<u32> = vertices
        .filter(|v| touched[points[*v as usize] as usize])
        .collect();
    let pick = |values: &[Vec3]| -> Vec<Vec3> {
        // A point may be listed more than once: its offsets add up.
        let mut sums = vec![Vec3::ZERO; count];
        for (entry, value) in values.iter().enumerate() {
            if let Some(sum) = sums.get_mut(shape.point_of(entry)) {
                *sum += *value;
            }
        }
        vertices
            .iter()
            .map(|v| sums[points[*v as usize] as usize])
            .collect()
    };
    let normals = |values: &Option<Vec<Vec3>>| match values {
        Some(values) if blends_normals => Some(pick(values)),
        _ => None,
    };
    let mut out = MorphTarget::default();
    for sub in shape.sub_shapes() {
        // The shape itself is at 1, which no in-between can be.
        if sub.weight == 1.0 {
            out.offsets = pick(&sub.offsets);
            out.normal_offsets = normals(&sub.normal_offsets).unwrap_or_default();
        } else {
            out.inbetweens.push(InbetweenDef {
                name: format!("{}", sub.weight),
                weight: sub.weight,
                offsets: pick(&sub.offsets),
                normal_offsets: normals(&sub.normal_offsets),
            });
        }
    }
    out.point_indices = Some(vertices);
    out
}
