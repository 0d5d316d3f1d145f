//! The mesh of vertex animation textures, as binary glTF: one mesh, with one primitive per prim and
//! material. Its second UV set is the position of each vertex's texel in the first frame.

use glam::{Vec2, Vec3};
use serde_json::{Value, json};

use super::vat_layout::VatLayout;

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// Vertices of one prim, in the order of its texels.
pub(super) struct MeshPart {
    pub vertices: usize,
    /// Texture coordinates with v pointing up, as in USD.
    pub uvs: Option<Vec<Vec2>>,
    /// Linear colours.
    pub colors: Option<Vec<Vec3>>,
    /// For each material its name and its triangles, as vertices of this part, counter-clockwise
    /// seen from outside.
    pub triangles: Vec<(Option<String>, Vec<[u32; 3]>)>,
}

/// A complete .glb file. `positions` and `normals` are those of all parts, one after the other, in
/// glTF's space.
///
/// # Errors
/// The file would be larger than 4 GiB, the limit of glTF.
pub(super) fn glb(
    name: &str,
    parts: &[&MeshPart],
    positions: &[Vec3],
    normals: &[Vec3],
    layout: &VatLayout,
) -> Result<Vec<u8>, String> {
    let mut file = Builder::default();
    let mut materials: Vec<&str> = Vec::new();
    let mut primitives = Vec::new();
    let mut first = 0;
    for part in parts {
        let vertices = first..first + part.vertices;
        first = vertices.end;
        let positions = &positions[vertices.clone()];
        // glTF requires unit vectors, but points without faces have no normal.
        let unit = |n: &Vec3| n.try_normalize().unwrap_or(Vec3::Y).to_array();
        let texel = |v: usize| layout.uv(v as u32);
        let mut attributes = json!({
            "POSITION": file.positions(positions),
            "NORMAL": file.vectors("VEC3", normals[vertices.clone()].iter().map(unit)),
            "TEXCOORD_1": file.vectors("VEC2", vertices.clone().map(texel)),
        });
        // A second set without a first is not allowed.
        let uv = |v: usize| part.uvs.as_ref().map_or(Vec2::ZERO, |uvs| uvs[v]);
        let uvs = (0..part.vertices).map(|v| [uv(v).x, 1.0 - uv(v).y]);
        attributes["TEXCOORD_0"] = file.vectors("VEC2", uvs).into();
        if let Some(colors) = &part.colors {
            let colors = colors.iter().map(Vec3::to_array);
            attributes["COLOR_0"] = file.vectors("VEC3", colors).into();
        }
        for (material, triangles) in &part.triangles {
            let mut primitive = json!({
                "attributes": attributes,
                "indices": file.indices(triangles),
            });
            if let Some(material) = material {
                let known = materials.iter().position(|m| m == material);
                let index = known.unwrap_or_else(|| {
                    materials.push(material);
                    materials.len() - 1
                });
                primitive["material"] = index.into();
            }
            primitives.push(primitive);
        }
    }
    let mut root = json!({
        "asset": { "version": "2.0", "generator": concat!("sinew ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "name": name, "mesh": 0 }],
        "meshes": [{ "name": name, "primitives": primitives }],
        "accessors": file.accessors,
        "bufferViews": file.views,
        "buffers": [{ "byteLength": file.bytes.len() }],
    });
    if !materials.is_empty() {
        root["materials"] = materials
            .iter()
            .map(|name| json!({ "name": name }))
            .collect();
    }
    file.finish(&root).map_err(|e| e.to_string())
}

#[derive(Default)]
struct Builder {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Builder {
    fn positions(&mut self, positions: &[Vec3]) -> usize {
        let accessor = self.vectors("VEC3", positions.iter().map(Vec3::to_array));
        let all = || positions.iter().copied();
        let low = all().reduce(Vec3::min).unwrap_or_default();
        let high = all().reduce(Vec3::max).unwrap_or_default();
        self.accessors[accessor]["min"] = json!(low.to_array());
        self.accessors[accessor]["max"] = json!(high.to_array());
        accessor
    }

    fn vectors<const N: usize>(
        &mut self,
        kind: &str,
        vectors: impl Iterator<Item = [f32; N]>,
    ) -> usize {
        let start = self.bytes.len();
        let mut count = 0;
        for number in vectors.inspect(|_| count += 1).flatten() {
            self.bytes.extend(number.to_le_bytes());
        }
        self.accessor(start, ARRAY_BUFFER, FLOAT, kind, count)
    }

    fn indices(&mut self, triangles: &[[u32; 3]]) -> usize {
        let start = self.bytes.len();
        self.bytes
            .extend(triangles.iter().flatten().flat_map(|i| i.to_le_bytes()));
        let count = triangles.len() * 3;
        self.accessor(start, ELEMENT_ARRAY_BUFFER, UNSIGNED_INT, "SCALAR", count)
    }

    fn accessor(
        &mut self,
        start: usize,
        target: u32,
        component: u32,
        kind: &str,
        count: usize,
    ) -> usize {
        self.views.push(json!({
            "buffer": 0,
            "byteOffset": start,
            "byteLength": self.bytes.len() - start,
            "target": target,
        }));
        self.accessors.push(json!({
            "bufferView": self.views.len() - 1,
            "componentType": component,
            "count": count,
            "type": kind,
        }));
        self.accessors.len() - 1
    }

    /// The file of a document that has the collected bytes as its first buffer.
    fn finish(self, root: &Value) -> std::io::Result<Vec<u8>> {
        let mut out = Vec::new();
        sinew_io::gltf::write_glb(&mut out, serde_json::to_vec(root)?, Some(self.bytes))?;
        Ok(out)
    }
}
