//! A mesh's faces on the GPU: what does not change with time.

use std::collections::BTreeMap;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::buffers::filled;
use super::material::Materials;
use sinew::error::Invalid;
use sinew::mesh::{RenderInputs, RenderMesh};
use sinew::scene::DrawnMesh;

/// A render vertex, as surface.wgsl takes it.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Vertex {
    /// Which point, and which normal, of those that lie in the mesh's buffers.
    pub point: u32,
    pub normal: u32,
    pub uv: Vec2,
    /// Linear, 8 bits.
    pub color: [u8; 4],
}

/// Where a mesh's normals come from, and so how they are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NormalsOf {
    /// The skin's rest normals, one per point or per face corner.
    Skin,
    /// Made from the points; or there are none.
    Points,
    /// The mesh's own, one per render vertex.
    Vertices,
}

/// Triangles that share a material.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Section {
    pub indices: Range<u32>,
    /// Index into [`Materials`].
    pub material: usize,
}

/// A mesh before it is uploaded.
#[derive(Debug, Default)]
pub(super) struct MeshData {
    pub vertices: Vec<Vertex>,
    pub indices: Vec<u32>,
    pub sections: Vec<Section>,
    /// Points at the ends of each authored edge.
    pub edges: Vec<[u32; 2]>,
    /// Of render vertices, where asked for.
    pub normals: Option<Vec<Vec3>>,
    points: u32,
}

/// Buffers of a mesh.
#[derive(Clone, Debug)]
pub(super) struct MeshBuffers {
    pub vertices: wgpu::Buffer,
    pub vertex_count: u32,
    pub indices: wgpu::Buffer,
    pub edges: wgpu::Buffer,
    pub edge_count: u32,
    pub sections: Vec<Section>,
    pub triangles: u32,
    pub points: u32,
}

impl MeshData {
    /// Render vertices and triangles by material.
    ///
    /// # Errors
    /// As [`RenderMesh::new`].
    pub fn new(
        mesh: &DrawnMesh,
        normals: NormalsOf,
        materials: &Materials,
    ) -> Result<Self, Invalid> {
        let points = mesh.points.first();
        let own_normals = mesh
            .normals
            .as_ref()
            .filter(|_| normals != NormalsOf::Points);
        let inputs = RenderInputs {
            points: points.map_or(&[], |p| p.as_slice()),
            normals: own_normals.and_then(|p| p.first()),
            uvs: mesh.uvs.as_ref().and_then(|p| p.first()),
            colors: mesh.display_color.as_ref().and_then(|p| p.first()),
            opacities: mesh.display_opacity.as_ref().and_then(|p| p.first()),
        };
        let made = RenderMesh::new(&mesh.path, &mesh.topology, &inputs)?;
        let vertex = |v: usize| {
            let color = made.colors.as_ref().map_or(Vec3::ONE, |c| c[v]);
            let opacity = made.opacities.as_ref().map_or(1.0, |o| o[v]);
            Vertex {
                point: made.points[v],
                normal: match normals {
                    NormalsOf::Skin => made.skin_normals.as_ref().map_or(made.points[v], |n| n[v]),
                    NormalsOf::Points => made.points[v],
                    NormalsOf::Vertices => v as u32,
                },
                uv: made.uvs.as_ref().map_or(Vec2::ZERO, |uv| uv[v]),
                color: color.extend(opacity).to_array().map(eight_bits),
            }
        };
        let mut out = Self {
            vertices: (0..made.points.len()).map(vertex).collect(),
            points: mesh.point_count() as u32,
            ..Self::default()
        };
        // By material, so that each is drawn at once.
        let mut by_material: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        let of_faces = face_materials(mesh, materials);
        for (triangle, face) in made.triangles.iter().zip(&made.face_of_triangle) {
            by_material
                .entry(of_faces[*face as usize])
                .or_default()
                .extend(triangle);
        }
        for (material, indices) in by_material {
            let first = out.indices.len() as u32;
            out.indices.extend(indices);
            out.sections.push(Section {
                indices: first..out.indices.len() as u32,
                material,
            });
        }
        out.edges = made
            .edges
            .iter()
            .map(|e| e.map(|v| made.points[v as usize]))
            .collect();
        out.normals = made.normals.filter(|_| normals == NormalsOf::Vertices);
        Ok(out)
    }

    pub fn upload(&self, device: &wgpu::Device) -> MeshBuffers {
        use wgpu::BufferUsages;
        let make = |label, bytes: &[u8], usage| filled(device, label, bytes, usage);
        MeshBuffers {
            vertices: make(
                "render.vertices",
                bytemuck::cast_slice(&self.vertices),
                BufferUsages::VERTEX,
            ),
            vertex_count: self.vertices.len() as u32,
            indices: make(
                "render.indices",
                bytemuck::cast_slice(&self.indices),
                BufferUsages::INDEX,
            ),
            edges: make(
                "render.edges",
                bytemuck::cast_slice(&self.edges),
                BufferUsages::VERTEX,
            ),
            edge_count: self.edges.len() as u32,
            sections: self.sections.clone(),
            triangles: self.indices.len() as u32 / 3,
            points: self.points,
        }
    }
}

fn eight_bits(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// The material of each face.
fn face_materials(mesh: &DrawnMesh, materials: &Materials) -> Vec<usize> {
    let without = match mesh.display_color {
        Some(_) => materials.colored(),
        None => materials.plain(),
    };
    let whole = mesh.material.unwrap_or(without);
    let mut of_faces = vec![whole; mesh.topology.face_count()];
    for subset in &mesh.subsets {
        for face in subset.faces.iter() {
            if let Some(of_face) = of_faces.get_mut(*face as usize) {
                *of_face = subset.material.unwrap_or(whole);
            }
        }
    }
    of_faces
}
