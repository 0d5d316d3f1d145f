//! Meshes as hosts with vertex buffers of their own hold them: one material each.

use glam::{Vec2, Vec3, Vec4};

use crate::parts::MeshPart;

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

impl MeshArrays {
    /// Number of vertices, and of results.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.uvs.len()
    }
}

impl MeshPart {
    /// What a host's buffers hold.
    pub fn arrays(&self, wants_tangents: bool, double_sided: bool) -> MeshArrays {
        let uvs = self.render.uvs.as_ref().filter(|_| wants_tangents);
        let points = self.skin.points();
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
