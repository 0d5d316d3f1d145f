//! The faces of one material, with their points and what belongs to those.

use glam::{Vec2, Vec3, Vec4};

use super::budget::Budget;
use super::convert::{uv, vec3, vec4};
use super::shapes::Channel;
use super::skins::MeshSkin;
use sinew::error::Invalid;
use sinew_animate::asset::{Faces, Primitive};

/// What the primitives of a mesh share.
pub struct Source<'a> {
    pub mesh: &'a ufbx::Mesh,
    pub skin: Option<&'a MeshSkin<'a>>,
    pub channels: &'a [Channel<'a>],
    /// By vertex: the primitive's point, `u32::MAX` where it has none. Always all `u32::MAX` between primitives.
    pub local: Vec<u32>,
}

/// Faces, and where in the mesh they come from.
struct Corners {
    counts: Vec<u32>,
    /// Points of the primitive.
    indices: Vec<u32>,
    /// Corners of the mesh.
    corners: Vec<u32>,
    /// Vertices of the mesh, one per point.
    vertices: Vec<u32>,
}

impl Source<'_> {
    /// `None` where no face has three corners.
    pub fn primitive(
        &mut self,
        part: &ufbx::MeshPart,
        budget: &mut Budget,
    ) -> Result<Option<Primitive>, Invalid> {
        let corners = self.corners(part);
        if corners.counts.is_empty() {
            return Ok(None);
        }
        let result = self.fill(&corners, budget);
        for vertex in &corners.vertices {
            self.local[*vertex as usize] = u32::MAX;
        }
        result.map(Some)
    }

    fn corners(&mut self, part: &ufbx::MeshPart) -> Corners {
        let mut out = Corners {
            counts: Vec::new(),
            indices: Vec::new(),
            corners: Vec::new(),
            vertices: Vec::new(),
        };
        let faces = part.face_indices.iter();
        for face in faces.filter_map(|f| self.mesh.faces.get(*f as usize)) {
            let range =
                face.index_begin as usize..face.index_begin as usize + face.num_indices as usize;
            let Some(vertices) = self.mesh.vertex_indices.get(range) else {
                continue;
            };
            // Points and lines are faces to FBX.
            if vertices.len() < 3 || vertices.iter().any(|v| *v as usize >= self.local.len()) {
                continue;
            }
            out.counts.push(face.num_indices);
            for (corner, vertex) in (face.index_begin..).zip(vertices) {
                let point = &mut self.local[*vertex as usize];
                if *point == u32::MAX {
                    *point = out.vertices.len() as u32;
                    out.vertices.push(*vertex);
                }
                out.indices.push(*point);
                out.corners.push(corner);
            }
        }
        out
    }

    fn fill(&self, corners: &Corners, budget: &mut Budget) -> Result<Primitive, Invalid> {
        let mesh = self.mesh;
        let points = corners.vertices.iter();
        let mut primitive = Primitive {
            points: points.map(|v| vec3(mesh.vertices[*v as usize])).collect(),
            normals: normals(&mesh.vertex_normal, &corners.corners),
            colors: colors(&mesh.vertex_color, &corners.corners),
            corner_data: true,
            ..Primitive::default()
        };
        for set in &mesh.uv_sets {
            budget.spend::<Vec2>(corners.corners.len(), &mesh.element.name)?;
            primitive.uvs.push(uvs(&set.vertex_uv, &corners.corners));
        }
        self.fill_influences(corners, &mut primitive, budget)?;
        for channel in self.channels {
            primitive.targets.push(channel.target(&self.local, budget)?);
        }
        join_corners(&mut primitive, corners);
        primitive.faces = Faces {
            counts: corners
                .counts
                .iter()
                .any(|c| *c != 3)
                .then(|| corners.counts.clone()),
            indices: corners.indices.clone(),
        };
        Ok(primitive)
    }

    fn fill_influences(
        &self,
        corners: &Corners,
        primitive: &mut Primitive,
        budget: &mut Budget,
    ) -> Result<(), Invalid> {
        let Some(skin) = self.skin else {
            return Ok(());
        };
        let rows: Vec<Vec<(u32, f32)>> = corners
            .vertices
            .iter()
            .map(|v| {
                let row = skin.influences(*v);
                if row.is_empty() {
                    vec![(skin.rigid_joint(), 1.0)]
                } else {
                    row
                }
            })
            .collect();
        let width = rows.iter().map(Vec::len).max().unwrap_or(0);
        budget.spend::<(u32, f32)>(width * rows.len(), &self.mesh.element.name)?;
        primitive.influences = width;
        for row in rows {
            let padding = std::iter::repeat_n((0, 0.0), width - row.len());
            for (joint, weight) in row.into_iter().chain(padding) {
                primitive.joints.push(joint);
                primitive.weights.push(weight);
            }
        }
        Ok(())
    }
}

/// Values at corners; none where the mesh has none.
fn at_corners<T: Copy, U>(
    exists: bool,
    values: &[T],
    indices: &[u32],
    corners: &[u32],
    convert: impl Fn(T) -> U,
) -> Vec<U> {
    if !exists {
        return Vec::new();
    }
    let value = |corner: &u32| {
        values
            .get(*indices.get(*corner as usize)? as usize)
            .copied()
    };
    let found: Option<Vec<U>> = corners.iter().map(|c| value(c).map(&convert)).collect();
    found.unwrap_or_default()
}

fn normals(a: &ufbx::VertexVec3, corners: &[u32]) -> Vec<Vec3> {
    at_corners(a.exists, &a.values, &a.indices, corners, vec3)
}

fn uvs(a: &ufbx::VertexVec2, corners: &[u32]) -> Vec<Vec2> {
    at_corners(a.exists, &a.values, &a.indices, corners, uv)
}

fn colors(a: &ufbx::VertexVec4, corners: &[u32]) -> Vec<Vec4> {
    at_corners(a.exists, &a.values, &a.indices, corners, vec4)
}

/// FBX writes nearly all data per corner; where no point has two values, per point says the same.
fn join_corners(primitive: &mut Primitive, corners: &Corners) {
    // A corner for each point.
    let mut first = vec![usize::MAX; corners.vertices.len()];
    for (corner, point) in corners.indices.iter().enumerate() {
        let slot = &mut first[*point as usize];
        *slot = (*slot).min(corner);
    }
    let is_split = |corner: usize, point: usize| {
        let other = first[point];
        let differ = |v: &[Vec3]| v.get(corner) != v.get(other);
        differ(&primitive.normals)
            || primitive.colors.get(corner) != primitive.colors.get(other)
            || primitive
                .uvs
                .iter()
                .any(|uv| uv.get(corner) != uv.get(other))
    };
    let mut indices = corners.indices.iter().enumerate();
    if indices.any(|(corner, point)| is_split(corner, *point as usize)) {
        return;
    }
    fn pick<T: Copy>(values: &mut Vec<T>, first: &[usize]) {
        if !values.is_empty() {
            *values = first.iter().map(|corner| values[*corner]).collect();
        }
    }
    pick(&mut primitive.normals, &first);
    pick(&mut primitive.colors, &first);
    for uvs in &mut primitive.uvs {
        pick(uvs, &first);
    }
    primitive.corner_data = false;
}
