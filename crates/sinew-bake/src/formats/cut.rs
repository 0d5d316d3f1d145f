//! Meshes as they are written: with names, the way their faces look, and cut into render vertices.

use super::names;
use super::prims::FramedPrim;
use super::surface::{NormalsFrom, NormalsOf, Surface};
use super::vat::VatPart;
use super::vat_mesh::MeshPart;
use sinew::error::Invalid;
use sinew::mesh::{RenderInputs, RenderMesh};
use sinew::scene::{DrawnMesh, Geometry};

/// What of a prim has to stay as it is at the first frame.
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
            made_normals: matches!(prim.normals, Some(NormalsFrom::Made(_))),
            mirrored: shape.mirrored,
        })
        .collect()
}

/// A surface cut into triangles and render vertices.
pub(super) fn vat_part(
    geometry: Option<&Geometry>,
    surface: &Surface<'_>,
) -> Result<VatPart, Invalid> {
    let mesh = surface.mesh;
    let rest = mesh.points.first().cloned().unwrap_or_default();
    let normals = mesh.normals.as_ref().filter(|_| !surface.made_normals);
    let inputs = RenderInputs {
        points: &rest,
        normals: normals.and_then(|n| n.first()),
        uvs: mesh.uvs.as_ref().and_then(|uvs| uvs.first()),
        colors: mesh
            .display_color
            .as_ref()
            .and_then(|colors| colors.first()),
        ..RenderInputs::default()
    };
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
        mesh: MeshPart {
            vertices: cut.points.len(),
            uvs: cut.uvs,
            colors: cut.colors,
            triangles,
        },
        points: cut.points,
    })
}
