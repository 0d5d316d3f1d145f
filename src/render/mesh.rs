//! A mesh's faces on the GPU: what does not change with time.

use std::collections::BTreeMap;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::buffers::filled;
use super::material::Materials;
use crate::scene::DrawnMesh;
use crate::skel::{MeshTopology, PrimvarInterpolation, PrimvarSlice};

/// A render vertex, as surface.wgsl takes it.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Vertex {
    /// Which point, and which normal, of those that the skinning wrote.
    pub point: u32,
    pub normal: u32,
    pub uv: Vec2,
    /// Linear, 8 bits.
    pub color: [u8; 4],
}

/// Which of a mesh's normals a face corner shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NormalsOf {
    Points,
    Corners,
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
    pub points: u32,
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
    pub fn new(mesh: &DrawnMesh, normals: NormalsOf, materials: &Materials) -> Self {
        let topology = &*mesh.topology;
        let uvs = mesh.uvs.as_ref().and_then(|p| p.first());
        let colors = mesh.display_color.as_ref().and_then(|p| p.first());
        let opacity = mesh.display_opacity.as_ref().and_then(|p| p.first());
        let vertex = |face: usize, corner: usize| {
            let point = topology.corner_points()[corner];
            let color: Vec3 = colors.map_or(Vec3::ONE, |c| c.values[c.index(face, corner, point)]);
            let alpha = opacity.map_or(1.0, |o| o.values[o.index(face, corner, point)]);
            Vertex {
                point,
                normal: match normals {
                    NormalsOf::Points => point,
                    NormalsOf::Corners => corner as u32,
                },
                uv: uvs.map_or(Vec2::ZERO, |u| u.values[u.index(face, corner, point)]),
                color: color
                    .extend(alpha)
                    .to_array()
                    .map(|c| (c.clamp(0.0, 1.0) * 255.0).round() as u8),
            }
        };

        let mut out = Self {
            points: mesh.point_count() as u32,
            ..Self::default()
        };
        let mut seen: BTreeMap<(u32, [u32; 2], [u8; 4]), u32> = BTreeMap::new();
        // By material, so that each is drawn at once.
        let mut by_material: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        let materials = face_materials(mesh, materials);
        let mut holes = topology.holes().iter().copied().peekable();
        for face in 0..topology.face_count() {
            if holes.next_if_eq(&(face as u32)).is_some() {
                continue;
            }
            let corners = topology.corners(face);
            let mut numbers = Vec::with_capacity(corners.len());
            for corner in corners.clone() {
                let v = vertex(face, corner);
                let key = match normals {
                    NormalsOf::Points => v.point,
                    NormalsOf::Corners => v.normal,
                };
                let number = *seen
                    .entry((key, v.uv.to_array().map(f32::to_bits), v.color))
                    .or_insert_with(|| {
                        out.vertices.push(v);
                        out.vertices.len() as u32 - 1
                    });
                numbers.push(number);
            }
            let indices = by_material.entry(materials(face)).or_default();
            for i in 1..numbers.len().saturating_sub(1) {
                indices.extend([numbers[0], numbers[i], numbers[i + 1]]);
            }
        }
        for (material, indices) in by_material {
            let first = out.indices.len() as u32;
            out.indices.extend(indices);
            out.sections.push(Section {
                indices: first..out.indices.len() as u32,
                material,
            });
        }
        out.edges = edges(topology);
        out
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

/// The material of each face.
fn face_materials<'a>(mesh: &DrawnMesh, materials: &'a Materials) -> impl Fn(usize) -> usize + 'a {
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
    move |face| of_faces[face]
}

/// Each edge once.
fn edges(topology: &MeshTopology) -> Vec<[u32; 2]> {
    let mut out = Vec::with_capacity(topology.corner_count());
    for face in 0..topology.face_count() {
        let corners = &topology.corner_points()[topology.corners(face)];
        for (i, a) in corners.iter().enumerate() {
            let b = corners[(i + 1) % corners.len()];
            out.push([*a.min(&b), *a.max(&b)]);
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// Normals of a mesh that nothing deforms, as a list that [`NormalsOf`] numbers.
pub(super) fn flattened(
    topology: &MeshTopology,
    normals: PrimvarSlice<'_, Vec3>,
) -> (NormalsOf, Vec<Vec3>) {
    if normals.interpolation == PrimvarInterpolation::Vertex && normals.indices.is_none() {
        return (NormalsOf::Points, normals.values.to_vec());
    }
    let mut out = Vec::with_capacity(topology.corner_count());
    for face in 0..topology.face_count() {
        for corner in topology.corners(face) {
            let point = topology.corner_points()[corner];
            out.push(normals.values[normals.index(face, corner, point)]);
        }
    }
    (NormalsOf::Corners, out)
}
