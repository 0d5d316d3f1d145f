//! What a game engine does with vertex animation textures.

use std::path::Path;

use glam::{Vec2, Vec3};
use image::ColorType;
use serde_json::Value;
use sinew_animate::asset::{Asset, Primitive};

pub struct Vat {
    pub json: Value,
    pub position: Texture,
    pub normal: Texture,
    mesh: Asset,
}

/// A texture with its texels as an engine samples them: floats, or 0 to 1.
pub struct Texture {
    texels: image::Rgb32FImage,
    /// Bits of a channel; of a half float those that a value has.
    pub bits: u32,
    json: Value,
}

impl Vat {
    pub fn read(metadata: &Path) -> Self {
        let json: Value = serde_json::from_slice(&std::fs::read(metadata).unwrap()).unwrap();
        let beside = |key: &Value| metadata.with_file_name(key.as_str().unwrap());
        let texture = |json: &Value| Texture::read(&beside(&json["file"]), json);
        let vat = Self {
            position: texture(&json["position"]),
            normal: texture(&json["normal"]),
            mesh: sinew_io::gltf::read(&beside(&json["mesh"])).unwrap(),
            json,
        };
        for texture in [&vat.position, &vat.normal] {
            let (width, height) = texture.texels.dimensions();
            let size = [vat.number("width"), vat.number("height")];
            assert_eq!([f64::from(width), f64::from(height)], size);
        }
        vat
    }

    pub fn number(&self, key: &str) -> f64 {
        self.json[key].as_f64().unwrap_or_else(|| panic!("{key}"))
    }

    pub fn frames(&self) -> usize {
        self.number("frames") as usize
    }

    pub fn primitives(&self) -> &[Primitive] {
        &self.mesh.meshes[0].primitives
    }

    pub fn material(&self, primitive: &Primitive) -> Option<&str> {
        let material = &self.mesh.materials[primitive.material?];
        Some(&material.name)
    }

    /// The vertex shader: where a vertex of the mesh file is in a frame, and its normal.
    pub fn shade(&self, frame: usize, primitive: &Primitive, vertex: usize) -> (Vec3, Vec3) {
        let row = self.number("rowsPerFrame") / self.number("height");
        let uv = primitive.uvs[1][vertex] + Vec2::new(0.0, (frame as f64 * row) as f32);
        let mut position = self.position.sample(uv);
        if self.json["position"]["values"] == "offset" {
            position += primitive.points[vertex];
        } else {
            assert_eq!(self.json["position"]["values"], "position");
        }
        (position, self.normal.sample(uv))
    }

    /// The least and the greatest point of all frames.
    pub fn bounds(&self) -> [Vec3; 2] {
        [0, 1].map(|i| vector(&self.json["bounds"][i]))
    }

    /// The largest coordinate of a clip.
    pub fn largest(&self) -> f32 {
        let [low, high] = self.bounds();
        low.abs().max(high.abs()).max_element()
    }
}

fn vector(json: &Value) -> Vec3 {
    let at = |i: usize| json[i].as_f64().unwrap() as f32;
    Vec3::new(at(0), at(1), at(2))
}

impl Texture {
    fn read(file: &Path, json: &Value) -> Self {
        let picture = image::open(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let (bits, color) = match json["encoding"].as_str().unwrap() {
            "float16" => (11, ColorType::Rgb32F),
            "float32" => (32, ColorType::Rgb32F),
            "unorm16" => (16, ColorType::Rgb16),
            "unorm8" => (8, ColorType::Rgb8),
            other => panic!("{other}"),
        };
        assert_eq!(picture.color(), color, "{}", file.display());
        Self {
            texels: picture.into_rgb32f(),
            bits,
            json: json.clone(),
        }
    }

    /// Nearest texel, v downward.
    fn sample(&self, uv: Vec2) -> Vec3 {
        let (width, height) = self.texels.dimensions();
        let at = uv * Vec2::new(width as f32, height as f32);
        // Near an edge of the texel, other engines' rounding would meet its neighbour.
        assert!((at.fract() - 0.5).abs().max_element() < 0.1, "{uv}");
        let (x, y) = (at.x.floor() as u32, at.y.floor() as u32);
        let texel = Vec3::from_array(self.texels.get_pixel(x, y).0);
        if !matches!(self.bits, 16 | 8) {
            return texel;
        }
        let (low, high) = (vector(&self.json["min"]), vector(&self.json["max"]));
        low + texel * (high - low)
    }

    /// The step between two values along each axis; 0 for floats.
    pub fn step(&self) -> Vec3 {
        let steps = match self.bits {
            16 => 65535.0,
            8 => 255.0,
            _ => return Vec3::ZERO,
        };
        (vector(&self.json["max"]) - vector(&self.json["min"])) / steps
    }
}
