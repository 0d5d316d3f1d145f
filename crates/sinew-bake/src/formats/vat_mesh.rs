//! The mesh of vertex animation textures: one mesh, with one primitive per prim and material. Its
//! second UV set is the position of each vertex's texel in the first frame.

use glam::{Vec2, Vec3};

use super::layout::TextureLayout;
use super::surface::VatPart;
use sinew_animate::asset::{Asset, AssetMaterial, Axis, Faces, Mesh, Node, Primitive};

/// The mesh as an asset. `positions` and `normals` are those of all parts, one after the other, in
/// glTF's space.
pub(super) fn asset(
    name: &str,
    parts: &[VatPart],
    positions: &[Vec3],
    normals: &[Vec3],
    layout: &TextureLayout,
) -> Asset {
    let mut asset = Asset {
        up_axis: Axis::Y,
        meters_per_unit: 1.0,
        nodes: vec![Node {
            name: name.to_owned(),
            mesh: Some(0),
            ..Node::default()
        }],
        roots: vec![0],
        ..Asset::default()
    };
    let mut mesh = Mesh {
        name: name.to_owned(),
        ..Mesh::default()
    };
    let mut first = 0;
    for part in parts {
        for (material, triangles) in &part.triangles {
            let primitive = Primitive {
                material: material.as_ref().map(|m| index_of(&mut asset.materials, m)),
                ..primitive(part, triangles, first, (positions, normals), layout)
            };
            mesh.primitives.push(primitive);
        }
        first += part.points.len();
    }
    asset.meshes.push(mesh);
    asset
}

fn index_of(materials: &mut Vec<AssetMaterial>, name: &str) -> usize {
    let known = materials.iter().position(|m| m.name == name);
    known.unwrap_or_else(|| {
        materials.push(AssetMaterial {
            name: name.to_owned(),
            ..AssetMaterial::default()
        });
        materials.len() - 1
    })
}

/// The triangles of a part that have one material, with the vertices that they use. `first` is the
/// number of the part's first vertex.
fn primitive(
    part: &VatPart,
    triangles: &[[u32; 3]],
    first: usize,
    (positions, normals): (&[Vec3], &[Vec3]),
    layout: &TextureLayout,
) -> Primitive {
    // In the order of the texture.
    let mut vertices = triangles.as_flattened().to_vec();
    vertices.sort_unstable();
    vertices.dedup();
    let of_part = triangles.as_flattened().iter();
    let indices = of_part.map(|v| vertices.partition_point(|before| before < v) as u32);
    let indices = indices.collect();
    let all = || vertices.iter().map(|v| *v as usize);
    // v points down in glTF, and a second set without a first is not allowed.
    let uv = |v: usize| part.uvs.as_ref().map_or(Vec2::ZERO, |uvs| uvs[v]);
    let uvs = all().map(|v| Vec2::new(uv(v).x, 1.0 - uv(v).y)).collect();
    let texels = all()
        .map(|v| layout.uv((first + v) as u32).into())
        .collect();
    let colors = part
        .colors
        .iter()
        .flat_map(|c| all().map(|v| c[v].extend(1.0)));
    Primitive {
        points: all().map(|v| positions[first + v]).collect(),
        normals: all().map(|v| normals[first + v]).collect(),
        uvs: vec![uvs, texels],
        colors: colors.collect(),
        faces: Faces {
            counts: None,
            indices,
        },
        ..Primitive::default()
    }
}
