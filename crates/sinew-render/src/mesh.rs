//! The faces of a mesh on the GPU, which do not change over time.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::blended::BlendedPart;
use super::buffers::filled;
use super::curves::{Piece, pieces};
use super::material::{Alpha, Materials};
use sinew::error::Invalid;
use sinew::mesh::RenderMesh;
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
    /// The triangles of blended materials, which are sorted for each picture.
    blended: Vec<BlendedPart>,
    /// Pieces of curves, and their material.
    pieces: Vec<Piece>,
    curve_material: usize,
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
    /// The triangles of blended materials.
    pub blended: Arc<Vec<BlendedPart>>,
    /// The pieces of curves.
    pub pieces: wgpu::Buffer,
    pub piece_count: u32,
    /// The material of curves: index into [`Materials`].
    pub curve_material: usize,
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
        let curves = Self {
            points: mesh.point_count() as u32,
            pieces: pieces(mesh),
            curve_material: mesh_material(mesh, materials),
            ..Self::default()
        };
        if mesh.curves.is_some() {
            return Ok(curves);
        }
        let mut inputs = mesh.render_inputs();
        inputs.normals = inputs.normals.filter(|_| normals != NormalsOf::Points);
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
            ..curves
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
            let blends = materials.get(material).map(|m| m.alpha) == Some(Alpha::Blended);
            if blends {
                let vertices: Vec<[u32; 3]> = indices.as_chunks().0.to_vec();
                let point = |v: u32| render_mesh.points[v as usize];
                out.blended.push(BlendedPart {
                    material,
                    points: vertices.iter().map(|t| t.map(point)).collect(),
                    vertices,
                });
            }
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
            blended: Arc::new(self.blended.clone()),
            pieces: create(
                "render.curves",
                bytemuck::cast_slice(&self.pieces),
                BufferUsages::VERTEX,
            ),
            piece_count: self.pieces.len() as u32,
            curve_material: self.curve_material,
        }
    }
}

impl MeshBuffers {
    /// Whether there are faces or curves to draw.
    pub fn draws(&self) -> bool {
        self.triangles > 0 || self.piece_count > 0
    }
}

/// A value from 0 to 1 as 8 bits.
pub(super) fn eight_bits(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// The index in [`Materials`] of the material of faces without a subset.
fn mesh_material(mesh: &DrawnMesh, materials: &Materials) -> usize {
    let opacities = mesh.display_opacity.iter().flat_map(|o| o.values.values());
    let is_translucent = opacities.flat_map(|o| o.iter()).any(|o| *o < 0.999);
    let without = match (&mesh.display_color, is_translucent) {
        (_, true) => materials.translucent(),
        (Some(_), false) => materials.colored(),
        (None, false) => materials.plain(),
    };
    mesh.material.unwrap_or(without)
}

/// For each face, the index of its material in [`Materials`].
fn face_materials(mesh: &DrawnMesh, materials: &Materials) -> Vec<usize> {
    let whole = mesh_material(mesh, materials);
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
