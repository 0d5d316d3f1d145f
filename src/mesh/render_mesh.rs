//! Splits meshes into triangles and into the vertices that renderers need.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use glam::{Vec2, Vec3};

use super::triangulate::triangulate;
use crate::error::Invalid;
use crate::skel::{MeshTopology, PrimvarInterpolation, PrimvarSlice};

/// The rest values of a mesh from which a [`RenderMesh`] is built.
#[derive(Clone, Copy, Debug, Default)]
pub struct RenderInputs<'a> {
    /// Rest points in prim space. They decide how faces that are not convex are triangulated.
    pub points: &'a [Vec3],
    /// Rest normals in prim space, of any interpolation.
    pub normals: Option<PrimvarSlice<'a, Vec3>>,
    /// Texture coordinates.
    pub uvs: Option<PrimvarSlice<'a, Vec2>>,
    /// Linear colours.
    pub colors: Option<PrimvarSlice<'a, Vec3>>,
    /// Opacities; 1 is opaque.
    pub opacities: Option<PrimvarSlice<'a, f32>>,
}

/// A mesh as GPUs draw it: triangles, and vertices. A point has several vertices if normals,
/// texture coordinates, colours or opacities differ between its face corners.
///
/// ```
/// use glam::{Vec2, Vec3};
/// use sinew::mesh::{RenderInputs, RenderMesh};
/// use sinew::skel::{MeshTopology, PrimvarInterpolation, PrimvarSlice};
///
/// // Two squares with an edge in common, and a UV seam there.
/// let points = [0.0, 1.0, 2.0].map(|x| [Vec3::new(x, 0.0, 0.0), Vec3::new(x, 1.0, 0.0)]).concat();
/// let faces = MeshTopology::new("/Mesh", &[4, 4], &[0, 2, 3, 1, 2, 4, 5, 3], false, points.len())?;
/// let square = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
/// let uvs = [square, square].concat();
/// let mesh = RenderMesh::new(
///     "/Mesh",
///     &faces,
///     &RenderInputs {
///         points: &points,
///         uvs: Some(PrimvarSlice::new(PrimvarInterpolation::FaceVarying, &uvs)),
///         ..Default::default()
///     },
/// )?;
/// assert_eq!((mesh.points.len(), mesh.triangles.len(), mesh.edges.len()), (8, 4, 7));
/// # Ok::<(), sinew::Invalid>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RenderMesh {
    /// The point of each vertex. Vertices are in the order in which triangles first use them. A
    /// point that no triangle uses has no vertex.
    pub points: Vec<u32>,
    /// The rest normal of each vertex, as an index into the normals of the skin: that of a point,
    /// or of a face corner. `None` if there are no normals, or if there is one per face or one for
    /// the whole mesh: skinning does not change those.
    pub skin_normals: Option<Vec<u32>>,
    /// The first face corner that each vertex was created for.
    pub corners: Vec<u32>,
    /// Rest normals of vertices in prim space.
    pub normals: Option<Vec<Vec3>>,
    /// Texture coordinates of vertices.
    pub uvs: Option<Vec<Vec2>>,
    /// Linear colours of vertices.
    pub colors: Option<Vec<Vec3>>,
    /// Opacities of vertices.
    pub opacities: Option<Vec<f32>>,
    /// The vertices of each triangle, in the order of the faces. They are counter-clockwise as seen
    /// from outside, also for a left-handed mesh.
    pub triangles: Vec<[u32; 3]>,
    /// The face of each triangle; ascending.
    pub face_of_triangle: Vec<u32>,
    /// The sides of faces, as pairs of vertices. Each pair of points is listed once, even if the
    /// points have several vertices.
    pub edges: Vec<[u32; 2]>,
}

impl RenderMesh {
    /// Splits faces into triangles, and points into vertices. Holes and faces of fewer than three
    /// corners are left out. `prim` is the path of the mesh, for messages. The same input gives the
    /// same output.
    ///
    /// The time is proportional to the number of corners, except for faces that are not convex.
    ///
    /// # Errors
    /// Faces that refer to points that do not exist; points that are not finite; primvars of the
    /// wrong length.
    pub fn new(
        prim: &str,
        topology: &MeshTopology,
        inputs: &RenderInputs<'_>,
    ) -> Result<Self, Invalid> {
        inputs.check(prim, topology)?;
        let mut out = Builder::new(topology, inputs);
        each_face(topology, inputs.points, |face, triangles| {
            for triangle in triangles {
                let vertices = triangle.map(|corner| out.vertex(face, corner));
                out.mesh.triangles.push(vertices);
                out.mesh.face_of_triangle.push(face as u32);
            }
            if !triangles.is_empty() {
                out.sides(face, topology.corners(face));
            }
        });
        Ok(out.finish())
    }
}

impl RenderMesh {
    /// The triangles sorted by something that faces have, such as a material, so that each can be
    /// drawn with one call: all indices, and the range of them for each value, in the order of the
    /// values. Triangles of one value stay in order. A face beyond the end of `of_face` counts as
    /// one with the default value.
    ///
    /// ```
    /// use sinew::mesh::RenderMesh;
    ///
    /// let mut mesh = RenderMesh::default();
    /// mesh.triangles = vec![[0, 1, 2], [2, 1, 3], [3, 1, 4]];
    /// mesh.face_of_triangle = vec![0, 1, 2];
    /// let (indices, sections) = mesh.sections(&["skin", "cloth", "skin"]);
    /// assert_eq!(indices, [2, 1, 3, 0, 1, 2, 3, 1, 4]);
    /// assert_eq!(sections, [("cloth", 0..3), ("skin", 3..9)]);
    /// ```
    #[must_use]
    pub fn sections<T: Copy + Default + Ord>(
        &self,
        of_face: &[T],
    ) -> (Vec<u32>, Vec<(T, Range<u32>)>) {
        let mut by_value: BTreeMap<T, Vec<u32>> = BTreeMap::new();
        for (triangle, face) in self.triangles.iter().zip(&self.face_of_triangle) {
            let value = of_face.get(*face as usize).copied().unwrap_or_default();
            by_value.entry(value).or_default().extend(triangle);
        }
        let (mut indices, mut sections) = (Vec::new(), Vec::new());
        for (value, own) in by_value {
            let first = indices.len() as u32;
            indices.extend(own);
            sections.push((value, first..indices.len() as u32));
        }
        (indices, sections)
    }
}

/// Calls `each` with every face that is not a hole, and the face corners of its triangles. They are
/// counter-clockwise as seen from outside, also for a left-handed mesh.
fn each_face(topology: &MeshTopology, points: &[Vec3], mut each: impl FnMut(usize, &[[usize; 3]])) {
    let mut triangles = Vec::new();
    let mut face_points = Vec::new();
    let mut holes = topology.holes().iter().peekable();
    for face in 0..topology.face_count() {
        if holes.next_if(|h| **h as usize == face).is_some() {
            continue;
        }
        let corners = topology.corners(face);
        let of_face = &topology.corner_points()[corners.clone()];
        face_points.clear();
        face_points.extend(of_face.iter().map(|p| points[*p as usize]));
        triangulate(&face_points, &mut triangles);
        for triangle in &mut triangles {
            if topology.is_left_handed() {
                triangle.swap(1, 2);
            }
            *triangle = triangle.map(|i| corners.start + i);
        }
        each(face, &triangles);
    }
}

/// The triangles of a mesh as face corners.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaceTriangles {
    /// The face corners of each triangle, in the order of the faces. They are counter-clockwise as
    /// seen from outside, also for a left-handed mesh.
    pub corners: Vec<[u32; 3]>,
    /// The face of each triangle; ascending.
    pub faces: Vec<u32>,
}

impl FaceTriangles {
    /// Splits faces into the triangles that [`RenderMesh`] has, without vertices. Holes and faces
    /// of fewer than three corners are left out. `points` are the rest points in prim space, one
    /// for each point of the topology; `prim` is the path of the mesh, for messages.
    ///
    /// # Errors
    /// Faces that refer to points that do not exist; points that are not finite.
    pub fn new(prim: &str, topology: &MeshTopology, points: &[Vec3]) -> Result<Self, Invalid> {
        let inputs = RenderInputs {
            points,
            ..RenderInputs::default()
        };
        inputs.check(prim, topology)?;
        let mut out = Self::default();
        each_face(topology, points, |face, triangles| {
            for triangle in triangles {
                out.corners.push(triangle.map(|corner| corner as u32));
                out.faces.push(face as u32);
            }
        });
        Ok(out)
    }
}

impl RenderInputs<'_> {
    fn check(&self, prim: &str, topology: &MeshTopology) -> Result<(), Invalid> {
        let count = self.points.len();
        if let Some(point) = topology
            .corner_points()
            .iter()
            .find(|p| **p as usize >= count)
        {
            let found = format!("a corner at point {point}");
            return Err(
                Invalid::new(prim, "points", format!("corners of {count} points"), found)
                    .coded("mesh-topology"),
            );
        }
        if let Some(at) = self.points.iter().position(|p| !p.is_finite()) {
            let found = format!("{} at {at}", self.points[at]);
            return Err(
                Invalid::new(prim, "points", "finite points", found).coded("points-not-drawn")
            );
        }
        if let Some(normals) = &self.normals {
            normals.check(prim, "normals", topology, count)?;
        }
        if let Some(uvs) = &self.uvs {
            uvs.check(prim, "uvs", topology, count)?;
        }
        if let Some(colors) = &self.colors {
            colors.check(prim, "colors", topology, count)?;
        }
        if let Some(opacities) = &self.opacities {
            opacities.check(prim, "opacities", topology, count)?;
        }
        Ok(())
    }
}

/// The bits of all values of a face corner. Corners of one point share a vertex if these are equal.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Look([u32; 9]);

struct Builder<'a> {
    topology: &'a MeshTopology,
    inputs: &'a RenderInputs<'a>,
    mesh: RenderMesh,
    /// The first vertex of each point that has one, and its look. Most corners look like it.
    first: Vec<Option<(u32, Look)>>,
    /// The other vertices.
    others: HashMap<(u32, Look), u32>,
    /// The points of the edges found so far, the lower first.
    sides: HashSet<[u32; 2]>,
    /// Whether values can differ between the corners of a point.
    splits: bool,
}

impl<'a> Builder<'a> {
    fn new(topology: &'a MeshTopology, inputs: &'a RenderInputs<'a>) -> Self {
        let splits = |i: PrimvarInterpolation| {
            matches!(
                i,
                PrimvarInterpolation::FaceVarying | PrimvarInterpolation::Uniform
            )
        };
        let interpolations = [
            inputs.normals.map(|v| v.interpolation),
            inputs.uvs.map(|v| v.interpolation),
            inputs.colors.map(|v| v.interpolation),
            inputs.opacities.map(|v| v.interpolation),
        ];
        Self {
            topology,
            inputs,
            mesh: RenderMesh::default(),
            first: vec![None; inputs.points.len()],
            others: HashMap::new(),
            sides: HashSet::new(),
            splits: interpolations.into_iter().flatten().any(splits),
        }
    }

    /// The vertex of a face corner.
    fn vertex(&mut self, face: usize, corner: usize) -> u32 {
        let point = self.topology.corner_points()[corner];
        let look = match self.splits {
            true => self.look(face, corner, point),
            false => Look::default(),
        };
        let next = self.mesh.points.len() as u32;
        let vertex = match self.first[point as usize].get_or_insert((next, look)) {
            (vertex, first) if !self.splits || *first == look => *vertex,
            _ => *self.others.entry((point, look)).or_insert(next),
        };
        if vertex == next {
            self.mesh.points.push(point);
            self.mesh.corners.push(corner as u32);
            let inputs = self.inputs;
            put(&mut self.mesh.normals, inputs.normals, face, corner, point);
            put(&mut self.mesh.uvs, inputs.uvs, face, corner, point);
            put(&mut self.mesh.colors, inputs.colors, face, corner, point);
            put(
                &mut self.mesh.opacities,
                inputs.opacities,
                face,
                corner,
                point,
            );
        }
        vertex
    }

    fn look(&self, face: usize, corner: usize, point: u32) -> Look {
        let mut look = Look::default();
        let mut write = |from: usize, values: &[f32]| {
            for (to, value) in look.0[from..].iter_mut().zip(values) {
                // -0 and 0 count as equal.
                *to = (value + 0.0).to_bits();
            }
        };
        if let Some(v) = &self.inputs.normals {
            write(0, &v.values[v.index(face, corner, point)].to_array());
        }
        if let Some(v) = &self.inputs.uvs {
            write(3, &v.values[v.index(face, corner, point)].to_array());
        }
        if let Some(v) = &self.inputs.colors {
            write(5, &v.values[v.index(face, corner, point)].to_array());
        }
        if let Some(v) = &self.inputs.opacities {
            write(8, &[v.values[v.index(face, corner, point)]]);
        }
        look
    }

    /// Adds the sides of a face that no earlier face has.
    fn sides(&mut self, face: usize, corners: std::ops::Range<usize>) {
        for corner in corners.clone() {
            let next = match corner + 1 == corners.end {
                true => corners.start,
                false => corner + 1,
            };
            let points = self.topology.corner_points();
            let (a, b) = (points[corner], points[next]);
            if a != b && self.sides.insert([a.min(b), a.max(b)]) {
                let side = [self.vertex(face, corner), self.vertex(face, next)];
                self.mesh.edges.push(side);
            }
        }
    }

    fn finish(self) -> RenderMesh {
        let mut mesh = self.mesh;
        mesh.skin_normals = match self.inputs.normals.map(|n| n.interpolation) {
            Some(PrimvarInterpolation::Vertex) => Some(mesh.points.clone()),
            Some(PrimvarInterpolation::FaceVarying) => Some(mesh.corners.clone()),
            _ => None,
        };
        // A mesh without faces still has the requested arrays; they are empty.
        let inputs = self.inputs;
        mesh.normals = inputs.normals.map(|_| mesh.normals.unwrap_or_default());
        mesh.uvs = inputs.uvs.map(|_| mesh.uvs.unwrap_or_default());
        mesh.colors = inputs.colors.map(|_| mesh.colors.unwrap_or_default());
        mesh.opacities = inputs.opacities.map(|_| mesh.opacities.unwrap_or_default());
        mesh
    }
}

fn put<T: Copy>(
    to: &mut Option<Vec<T>>,
    from: Option<PrimvarSlice<'_, T>>,
    face: usize,
    corner: usize,
    point: u32,
) {
    if let Some(from) = from {
        let value = from.values[from.index(face, corner, point)];
        to.get_or_insert_default().push(value);
    }
}

#[cfg(test)]
mod tests;
