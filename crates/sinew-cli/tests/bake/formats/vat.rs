//! What a game engine does with vertex animation textures.

use std::path::{Path, PathBuf};

use glam::{Vec2, Vec3};
use serde_json::Value;

pub struct Vat {
    pub json: Value,
    position: Texture,
    normal: Texture,
    pub mesh: Mesh,
}

/// A texture with its texels as an engine samples them: floats, or 0 to 1.
struct Texture {
    width: u32,
    height: u32,
    texels: Vec<[f32; 3]>,
    /// Bits of a channel.
    pub bits: u32,
    json: Value,
}

/// Primitives of the mesh, their vertices as the file has them.
pub struct Mesh {
    pub primitives: Vec<Primitive>,
}

pub struct Primitive {
    pub material: Option<String>,
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    pub uvs: Vec<Vec2>,
    pub colors: Option<Vec<Vec3>>,
    pub texels: Vec<Vec2>,
    pub triangles: Vec<[usize; 3]>,
}

impl Vat {
    pub fn read(metadata: &Path) -> Self {
        let json: Value = serde_json::from_slice(&std::fs::read(metadata).unwrap()).unwrap();
        let beside = |key: &Value| -> PathBuf { metadata.with_file_name(key.as_str().unwrap()) };
        let vat = Self {
            position: Texture::read(&beside(&json["position"]["file"]), &json["position"]),
            normal: Texture::read(&beside(&json["normal"]["file"]), &json["normal"]),
            mesh: Mesh::read(&beside(&json["mesh"])),
            json,
        };
        for texture in [&vat.position, &vat.normal] {
            let size = [vat.number("width") as u32, vat.number("height") as u32];
            assert_eq!([texture.width, texture.height], size);
        }
        vat
    }

    pub fn number(&self, key: &str) -> f64 {
        self.json[key].as_f64().unwrap_or_else(|| panic!("{key}"))
    }

    pub fn frames(&self) -> usize {
        self.number("frames") as usize
    }

    pub fn bits(&self) -> u32 {
        self.position.bits
    }

    /// The vertex shader: where a vertex of the mesh file is in a frame, and its normal.
    pub fn shade(&self, frame: usize, primitive: &Primitive, vertex: usize) -> (Vec3, Vec3) {
        let row = self.number("rowsPerFrame") / self.number("height");
        let uv = primitive.texels[vertex] + Vec2::new(0.0, (frame as f64 * row) as f32);
        let mut position = self.position.sample(uv);
        if self.json["position"]["values"] == "offset" {
            position += primitive.positions[vertex];
        } else {
            assert_eq!(self.json["position"]["values"], "position");
        }
        (position, self.normal.sample(uv))
    }

    /// The largest step between two texels' values along each axis; 0 for floats.
    pub fn step(&self) -> Vec3 {
        self.position.step()
    }

    pub fn normal_step(&self) -> Vec3 {
        self.normal.step()
    }
}

fn vector(json: &Value) -> Vec3 {
    let at = |i: usize| json[i].as_f64().unwrap() as f32;
    Vec3::new(at(0), at(1), at(2))
}

impl Texture {
    fn read(file: &Path, json: &Value) -> Self {
        let encoding = json["encoding"].as_str().unwrap();
        let picture = image::open(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let (width, height) = (picture.width(), picture.height());
        let (bits, texels): (u32, Vec<[f32; 3]>) = match &picture {
            image::DynamicImage::ImageRgb32F(p) => (
                if encoding == "float16" { 11 } else { 32 },
                p.pixels().map(|p| p.0).collect(),
            ),
            image::DynamicImage::ImageRgb16(p) => (
                16,
                p.pixels()
                    .map(|p| p.0.map(|c| f32::from(c) / 65535.0))
                    .collect(),
            ),
            image::DynamicImage::ImageRgb8(p) => (
                8,
                p.pixels()
                    .map(|p| p.0.map(|c| f32::from(c) / 255.0))
                    .collect(),
            ),
            other => panic!("{:?}", other.color()),
        };
        assert_eq!(
            encoding.starts_with("float"),
            matches!(picture, image::DynamicImage::ImageRgb32F(_))
        );
        Self {
            width,
            height,
            texels,
            bits,
            json: json.clone(),
        }
    }

    fn is_normalized(&self) -> bool {
        self.bits == 16 || self.bits == 8
    }

    /// Nearest texel, v downward.
    fn sample(&self, uv: Vec2) -> Vec3 {
        // Near an edge of the texel, other engines' rounding would meet its neighbour.
        let inside = (uv * Vec2::new(self.width as f32, self.height as f32)).fract();
        assert!((inside - 0.5).abs().max_element() < 0.1, "{uv}");
        let x = (uv.x * self.width as f32).floor() as u32;
        let y = (uv.y * self.height as f32).floor() as u32;
        assert!(x < self.width && y < self.height, "{uv} is no texel");
        let texel = Vec3::from_array(self.texels[(y * self.width + x) as usize]);
        match self.is_normalized() {
            true => {
                let (low, high) = (vector(&self.json["min"]), vector(&self.json["max"]));
                low + texel * (high - low)
            }
            false => texel,
        }
    }

    fn step(&self) -> Vec3 {
        let size = vector(&self.json["max"]) - vector(&self.json["min"]);
        match self.bits {
            16 => size / 65535.0,
            8 => size / 255.0,
            _ => Vec3::ZERO,
        }
    }
}

impl Mesh {
    pub fn read(file: &Path) -> Self {
        let bytes = std::fs::read(file).unwrap();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!(
            (&bytes[..4], word(4), word(8)),
            (&b"glTF"[..], 2, bytes.len())
        );
        let json_length = word(12);
        assert_eq!(&bytes[16..20], b"JSON");
        let json: Value = serde_json::from_slice(&bytes[20..20 + json_length]).unwrap();
        let binary = 20 + json_length;
        assert_eq!(
            (word(binary), &bytes[binary + 4..binary + 8]),
            (bytes.len() - binary - 8, &b"BIN\0"[..])
        );
        let data = &bytes[binary + 8..];
        let words = |accessor: &Value, wanted: (&str, usize)| -> Vec<[u8; 4]> {
            let accessor = &json["accessors"][accessor.as_u64().unwrap() as usize];
            assert_eq!(accessor["type"], wanted.0);
            let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
            let start = view["byteOffset"].as_u64().unwrap() as usize;
            let count = accessor["count"].as_u64().unwrap() as usize * wanted.1;
            assert_eq!(view["byteLength"].as_u64().unwrap() as usize, count * 4);
            data[start..start + count * 4]
                .chunks_exact(4)
                .map(|w| w.try_into().unwrap())
                .collect()
        };
        let floats = |accessor: &Value, wanted| -> Vec<f32> {
            words(accessor, wanted)
                .into_iter()
                .map(f32::from_le_bytes)
                .collect()
        };
        let vec3 = |accessor: &Value| -> Vec<Vec3> {
            floats(accessor, ("VEC3", 3))
                .chunks_exact(3)
                .map(Vec3::from_slice)
                .collect()
        };
        let vec2 = |accessor: &Value| -> Vec<Vec2> {
            floats(accessor, ("VEC2", 2))
                .chunks_exact(2)
                .map(Vec2::from_slice)
                .collect()
        };
        let primitive = |p: &Value| {
            let attributes = &p["attributes"];
            let indices = words(&p["indices"], ("SCALAR", 1));
            let indices: Vec<usize> = indices
                .into_iter()
                .map(|w| u32::from_le_bytes(w) as usize)
                .collect();
            let material = p["material"]
                .as_u64()
                .map(|m| &json["materials"][m as usize]["name"]);
            Primitive {
                material: material.map(|m| m.as_str().unwrap().to_owned()),
                positions: vec3(&attributes["POSITION"]),
                normals: vec3(&attributes["NORMAL"]),
                uvs: vec2(&attributes["TEXCOORD_0"]),
                colors: attributes.get("COLOR_0").map(vec3),
                texels: vec2(&attributes["TEXCOORD_1"]),
                triangles: indices
                    .chunks_exact(3)
                    .map(|t| [t[0], t[1], t[2]])
                    .collect(),
            }
        };
        Self {
            primitives: json["meshes"][0]["primitives"]
                .as_array()
                .unwrap()
                .iter()
                .map(primitive)
                .collect(),
        }
    }
}

impl Primitive {
    /// Signed volume, as of [`super::obj::Object::volume`].
    pub fn volume(&self) -> f64 {
        let at = |v: usize| self.positions[v].as_dvec3();
        let of = |t: &[usize; 3]| at(t[0]).dot(at(t[1]).cross(at(t[2])));
        self.triangles.iter().map(of).sum::<f64>() / 6.0
    }
}
