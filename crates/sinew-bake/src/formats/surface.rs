//! Meshes as they are written: names, orientation of faces, and render vertices.

use glam::{Vec2, Vec3};

use super::names;
use super::prims::{FramedPrim, NormalsFrom, NormalsOf};
use sinew::error::Invalid;
use sinew::mesh::RenderMesh;
use sinew::scene::{DrawnMesh, Geometry};

/// A mesh as it is written.
pub(super) struct Surface<'a> {
    /// The unique name of the prim.
    pub name: String,
    pub mesh: &'a DrawnMesh,
    pub normals: NormalsOf,
    /// Whether normals are computed, so that vertices are not split for authored normals.
    pub smooth_normals: bool,
    /// Whether the transform to the space of the output mirrors, so that faces have to be reversed.
    pub mirrored: bool,
}

impl Surface<'_> {
    /// All faces that are drawn, each once: first those without a subset, then subset by subset.
    pub fn faces_by_material(&self) -> Vec<(Option<usize>, Vec<usize>)> {
        let topology = &self.mesh.topology;
        let mut of_face: Vec<Option<usize>> = vec![None; topology.face_count()];
        for (s, subset) in self.mesh.subsets.iter().enumerate() {
            for face in subset.faces.iter() {
                if let Some(of_face) = of_face.get_mut(*face as usize) {
                    *of_face = Some(s);
                }
            }
        }
        let mut out = vec![(self.mesh.material, Vec::new())];
        out.extend(self.mesh.subsets.iter().map(|s| (s.material, Vec::new())));
        let mut holes = topology.holes().iter().peekable();
        for (face, subset) in of_face.into_iter().enumerate() {
            let is_hole = holes.next_if(|h| **h as usize == face).is_some();
            if !is_hole && topology.corners(face).len() >= 3 {
                out[subset.map_or(0, |s| s + 1)].1.push(face);
            }
        }
        out.retain(|(_, faces)| !faces.is_empty());
        out
    }

    /// The corners of a face, counter-clockwise seen from outside.
    pub fn for_each_corner(&self, face: usize, mut corner: impl FnMut(usize)) {
        let corners = self.mesh.topology.corners(face);
        match self.mesh.topology.is_left_handed() != self.mirrored {
            true => corners.rev().for_each(&mut corner),
            false => corners.for_each(&mut corner),
        }
    }
}

/// The mesh of a prim at the first frame.
pub(super) struct Shape {
    pub points: usize,
    pub mirrored: bool,
}

pub(super) fn mesh_of<'g>(
    geometry: Option<&'g Geometry>,
    prim: &FramedPrim,
) -> Option<&'g DrawnMesh> {
    geometry?.meshes.get(prim.mesh?)
}

pub(super) fn surfaces<'g>(
    geometry: Option<&'g Geometry>,
    prims: &[FramedPrim],
    shapes: &[Shape],
) -> Vec<Surface<'g>> {
    let meshes = prims.iter().filter_map(|p| mesh_of(geometry, p));
    let paths: Vec<&str> = meshes.clone().map(|m| m.path.as_str()).collect();
    let names = names::unique(&paths);
    let with_shapes = meshes.zip(prims).zip(shapes).zip(names);
    with_shapes
        .map(|(((mesh, prim), shape), name)| Surface {
            name,
            mesh,
            normals: prim
                .normals
                .as_ref()
                .map_or(NormalsOf::Points, |n| n.kind()),
            smooth_normals: matches!(prim.normals, Some(NormalsFrom::Smooth(_))),
            mirrored: shape.mirrored,
        })
        .collect()
}

/// Render vertices of one prim.
pub(super) struct VatPart {
    pub prim: String,
    /// Texture coordinates with v pointing up, as in USD.
    pub uvs: Option<Vec<Vec2>>,
    /// Linear colours.
    pub colors: Option<Vec<Vec3>>,
    /// For each material its name and its triangles, as vertices of this part, counter-clockwise
    /// seen from outside.
    pub triangles: Vec<(Option<String>, Vec<[u32; 3]>)>,
    /// Point of each vertex.
    pub points: Vec<u32>,
    /// Normal of each vertex.
    pub normals: Vec<u32>,
}

/// A surface as triangles and render vertices.
pub(super) fn vat_part(
    geometry: Option<&Geometry>,
    surface: &Surface<'_>,
) -> Result<VatPart, Invalid> {
    let mesh = surface.mesh;
    let mut inputs = mesh.render_inputs();
    inputs.normals = inputs.normals.filter(|_| !surface.smooth_normals);
    inputs.opacities = None;
    let cut = RenderMesh::new(&mesh.path, &mesh.topology, &inputs)?;
    let mut group_of_face = vec![0; mesh.topology.face_count()];
    let mut triangles = Vec::new();
    for (group, (material, faces)) in surface.faces_by_material().into_iter().enumerate() {
        let path = material
            .and_then(|m| geometry?.materials.get(m))
            .map(|m| &m.path);
        let name = path.map(|p| p.rsplit('/').next().unwrap_or_default().to_owned());
        triangles.push((name, Vec::new()));
        faces.into_iter().for_each(|f| group_of_face[f] = group);
    }
    for (triangle, face) in cut.triangles.iter().zip(&cut.face_of_triangle) {
        let [a, b, c] = *triangle;
        let outward = match surface.mirrored {
            true => [a, c, b],
            false => [a, b, c],
        };
        triangles[group_of_face[*face as usize]].1.push(outward);
    }
    triangles.retain(|(_, triangles)| !triangles.is_empty());
    Ok(VatPart {
        prim: mesh.path.clone(),
        normals: match surface.normals {
            NormalsOf::Points => cut.points.clone(),
            NormalsOf::Corners => cut.corners,
        },
        uvs: cut.uvs,
        colors: cut.colors,
        triangles,
        points: cut.points,
    })
}
