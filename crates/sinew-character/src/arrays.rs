//! Meshes as hosts with vertex buffers of their own hold them: one material each.

use std::collections::HashMap;
use std::ops::Range;

use glam::{Vec2, Vec3, Vec4};
use sinew::mesh::RenderMesh;
use sinew::skel::MeshTopology;

/// What does not change of a mesh, on the CPU: see [`Character::arrays`](crate::Character::arrays).
/// There is one value per vertex, and results have the same order.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MeshArrays {
    /// Triangles, counter-clockwise as seen from outside.
    pub indices: Vec<u32>,
    /// Texture coordinates, as in USD: v = 0 is the lower edge of an image. Zeros if the mesh has
    /// none.
    pub uvs: Vec<Vec2>,
    /// Linear colour and opacity of the mesh itself. White if the mesh has none.
    pub colors: Vec<Vec4>,
    /// Rest tangents in prim space, with the handedness in `w`, if the material has a normal map and
    /// the mesh has texture coordinates. The crowd then computes tangents too. They point to where
    /// u grows, and the bitangent to where v grows.
    pub tangents: Option<Vec<Vec4>>,
    /// Index into [`Character::materials`](crate::Character::materials).
    pub material: Option<usize>,
    /// Whether back faces are visible.
    pub double_sided: bool,
}

/// A mesh, or the part of one that has one material.
pub(crate) struct MeshPart {
    pub render: RenderMesh,
    pub indices: Vec<u32>,
    /// Ranges of the indices, with the index of the material of each.
    pub sections: Vec<(Option<usize>, Range<u32>)>,
}

impl MeshPart {
    pub fn uvs(&self) -> Vec<Vec2> {
        let none = || vec![Vec2::ZERO; self.render.points.len()];
        self.render.uvs.clone().unwrap_or_else(none)
    }

    pub fn colors(&self) -> Vec<Vec4> {
        let render = &self.render;
        let of_vertex = |v: usize| {
            let color = render.colors.as_ref().map_or(Vec3::ONE, |c| c[v]);
            color.extend(render.opacities.as_ref().map_or(1.0, |o| o[v]))
        };
        (0..render.points.len()).map(of_vertex).collect()
    }

    /// The arrays of a part, whose `points` are those of the prim at rest.
    pub fn arrays(&self, points: &[Vec3], wants_tangents: bool, double_sided: bool) -> MeshArrays {
        let uvs = self.render.uvs.as_ref().filter(|_| wants_tangents);
        let position = |v: usize| points[self.render.points[v] as usize];
        MeshArrays {
            indices: self.indices.clone(),
            uvs: self.uvs(),
            colors: self.colors(),
            tangents: uvs.map(|uvs| tangents(&self.indices, position, uvs)),
            material: self.sections.first().and_then(|(material, _)| *material),
            double_sided,
        }
    }
}

/// Splits a mesh into one part for each section. Behind the vertices that a part draws it has one of
/// each further point of their faces, because smooth normals are computed from those.
pub(crate) fn by_material(
    render: &RenderMesh,
    topology: &MeshTopology,
    indices: &[u32],
    sections: &[(Option<usize>, Range<u32>)],
) -> Vec<MeshPart> {
    let any_vertex: HashMap<u32, u32> = (0u32..)
        .zip(&render.points)
        .map(|(vertex, point)| (*point, vertex))
        .collect();
    let all_points = topology.corner_points().iter();
    let point_count = all_points.max().map_or(0, |last| *last as usize + 1);
    let mut out = Vec::with_capacity(sections.len());
    for (material, range) in sections {
        let mut new_index: HashMap<u32, u32> = HashMap::new();
        let mut kept = Vec::new();
        let mut keep = |vertex: u32| {
            *new_index.entry(vertex).or_insert_with(|| {
                kept.push(vertex);
                kept.len() as u32 - 1
            })
        };
        let drawn = &indices[range.start as usize..range.end as usize];
        let part_indices: Vec<u32> = drawn.iter().map(|vertex| keep(*vertex)).collect();
        if sections.len() > 1 {
            let mut is_drawn = vec![false; point_count];
            for vertex in drawn {
                is_drawn[render.points[*vertex as usize] as usize] = true;
            }
            let mut has_point = is_drawn.clone();
            for face in 0..topology.face_count() {
                let corners = &topology.corner_points()[topology.corners(face)];
                if !corners.iter().any(|point| is_drawn[*point as usize]) {
                    continue;
                }
                for point in corners {
                    let has = &mut has_point[*point as usize];
                    if let (false, Some(vertex)) = (*has, any_vertex.get(point)) {
                        keep(*vertex);
                        *has = true;
                    }
                }
            }
        }
        let whole = 0..part_indices.len() as u32;
        out.push(MeshPart {
            render: of_vertices(render, &kept),
            indices: part_indices,
            sections: vec![(*material, whole)],
        });
    }
    out
}

/// Some vertices of a mesh, without its triangles.
fn of_vertices(render: &RenderMesh, vertices: &[u32]) -> RenderMesh {
    fn some<T: Copy>(all: &[T], vertices: &[u32]) -> Vec<T> {
        vertices.iter().map(|v| all[*v as usize]).collect()
    }
    RenderMesh {
        points: some(&render.points, vertices),
        skin_normals: render.skin_normals.as_ref().map(|n| some(n, vertices)),
        corners: some(&render.corners, vertices),
        normals: render.normals.as_ref().map(|n| some(n, vertices)),
        uvs: render.uvs.as_ref().map(|n| some(n, vertices)),
        colors: render.colors.as_ref().map(|n| some(n, vertices)),
        opacities: render.opacities.as_ref().map(|n| some(n, vertices)),
        ..RenderMesh::default()
    }
}

/// The direction in which u grows at each vertex, perpendicular to the mean normal of its triangles,
/// with the handedness in `w`. A vertex without one gets any direction.
fn tangents(indices: &[u32], position: impl Fn(usize) -> Vec3, uvs: &[Vec2]) -> Vec<Vec4> {
    let mut sums = vec![[Vec3::ZERO; 3]; uvs.len()];
    for triangle in indices.chunks_exact(3) {
        let [a, b, c] = [0, 1, 2].map(|i| triangle[i] as usize);
        let (p, q) = (position(b) - position(a), position(c) - position(a));
        let (s, t) = (uvs[b] - uvs[a], uvs[c] - uvs[a]);
        // Twice the areas: of the triangle in the image, whose sign is the handedness.
        let area = s.perp_dot(t);
        let normal = p.cross(q);
        let (along_u, along_v) = (p * t.y - q * s.y, q * s.x - p * t.x);
        let unit = |v: Vec3| v.normalize_or_zero() * normal.length() * area.signum();
        for vertex in [a, b, c] {
            let [n, u, v] = &mut sums[vertex];
            *n += normal;
            *u += unit(along_u);
            *v += unit(along_v);
        }
    }
    let tangent = |[n, u, v]: &[Vec3; 3]| {
        let n = n.normalize_or(Vec3::Z);
        let tangent = (u - n * n.dot(*u)).try_normalize();
        let tangent = tangent.unwrap_or_else(|| n.any_orthonormal_vector());
        let sign = if n.cross(tangent).dot(*v) < 0.0 {
            -1.0
        } else {
            1.0
        };
        tangent.extend(sign)
    };
    sums.iter().map(tangent).collect()
}
