//! The faces of a mesh on the GPU, which do not change over time.

use std::collections::BTreeMap;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::buffers::filled;
use super::material::Materials;
use sinew::error::Invalid;
use sinew::mesh::{RenderInputs, RenderMesh};
use sinew::scene::DrawnMesh;

/// A render vertex, in the layout of surface.wgsl.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Vertex {
    /// Index of its point in the mesh's points.
    pub point: u32,
    /// Index of its normal in the mesh's normals ([`NormalsOf`]).
    pub normal: u32,
    pub uv: Vec2,
    /// Linear colour and opacity, 8 bits each.
    pub color: [u8; 4],
}

/// Which normals a mesh is drawn with, and so how [`Vertex::normal`] numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NormalsOf {
    /// The deformed normals of the skin, one per point or per face corner.
    Skin,
    /// Normals computed from the points, one per point; or none.
    Points,
    /// The authored normals of a mesh without a skin, one per render vertex.
    Vertices,
}

/// Triangles that share a material.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Section {
    /// Range of the index buffer.
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
    /// The two points of each authored edge.
    pub edges: Vec<[u32; 2]>,
    /// One normal per render vertex, for [`NormalsOf::Vertices`].
    pub normals: Option<Vec<Vec3>>,
    points: u32,
}

/// The buffers of a mesh.
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
    /// Computes the render vertices, and the triangles sorted by material.
    ///
    /// # Errors
    /// Those of [`RenderMesh::new`].
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
        let render_mesh = RenderMesh::new(&mesh.path, &mesh.topology, &inputs)?;
        let vertex = |v: usize| {
            let color = render_mesh.colors.as_ref().map_or(Vec3::ONE, |c| c[v]);
            let opacity = render_mesh.opacities.as_ref().map_or(1.0, |o| o[v]);
            Vertex {
                point: render_mesh.points[v],
                normal: match normals {
                    NormalsOf::Skin => match &render_mesh.skin_normals {
                        Some(normals) => normals[v],
                        None => render_mesh.points[v],
                    },
                    NormalsOf::Points => render_mesh.points[v],
                    NormalsOf::Vertices => v as u32,
                },
                uv: render_mesh.uvs.as_ref().map_or(Vec2::ZERO, |uv| uv[v]),
                color: color.extend(opacity).to_array().map(eight_bits),
            }
        };
        let mut out = Self {
            vertices: (0..render_mesh.points.len()).map(vertex).collect(),
            points: mesh.point_count() as u32,
            ..Self::default()
        };
        // Sort by material, so that each is drawn with one call.
        let mut by_material: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        let of_faces = face_materials(mesh, materials);
        let faces = &render_mesh.face_of_triangle;
        for (triangle, face) in render_mesh.triangles.iter().zip(faces) {
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
        out.edges = render_mesh
            .edges
            .iter()
            .map(|e| e.map(|v| render_mesh.points[v as usize]))
            .collect();
        out.normals = render_mesh
            .normals
            .filter(|_| normals == NormalsOf::Vertices);
        Ok(out)
    }

    /// Creates the buffers.
    pub fn upload(&self, device: &wgpu::Device) -> MeshBuffers {
        use wgpu::BufferUsages;
        let create = |label, bytes: &[u8], usage| filled(device, label, bytes, usage);
        MeshBuffers {
            vertices: create(
                "render.vertices",
                bytemuck::cast_slice(&self.vertices),
                BufferUsages::VERTEX,
            ),
            vertex_count: self.vertices.len() as u32,
            indices: create(
                "render.indices",
                bytemuck::cast_slice(&self.indices),
                BufferUsages::INDEX,
            ),
            edges: create(
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

/// A value from 0 to 1 as 8 bits.
fn eight_bits(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// For each face, the index of its material in [`Materials`].
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
