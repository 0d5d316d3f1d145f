//! Bone textures, read as a vertex shader reads them.

use std::path::Path;

use glam::{Quat, Vec3, Vec4};
use serde_json::Value;
use sinew_animate::asset::{Asset, Primitive};

/// A texture with its mesh.
pub struct Bones {
    pub json: Value,
    pub width: u32,
    texels: Vec<Vec4>,
    pub mesh: Asset,
}

impl Bones {
    /// The texture, and the mesh and the JSON file beside it.
    pub fn read(texture: &Path) -> Self {
        let json = std::fs::read(texture.with_extension("json")).unwrap();
        let json: Value = serde_json::from_slice(&json).unwrap();
        let image::DynamicImage::ImageRgba32F(picture) = image::open(texture).unwrap() else {
            panic!("{}: no floats", texture.display());
        };
        let size = [picture.width(), picture.height()].map(f64::from);
        assert_eq!(size, [number(&json, "width"), number(&json, "height")]);
        let mesh = texture.with_file_name(json["mesh"].as_str().unwrap());
        Self {
            width: picture.width(),
            texels: picture.pixels().map(|p| Vec4::from_array(p.0)).collect(),
            mesh: sinew_io::gltf::read(&mesh).unwrap(),
            json,
        }
    }

    pub fn whole(&self, key: &str) -> u32 {
        number(&self.json, key) as u32
    }

    /// As the JSON file says where a texel is.
    pub fn fetch(&self, frame: u32, joint: u32, texel: u32) -> Vec4 {
        let column = frame / self.whole("framesPerColumn");
        let x = column * self.whole("columnWidth")
            + joint % self.whole("jointsPerRow") * self.whole("texelsPerJoint")
            + texel;
        let in_column = frame - column * self.whole("framesPerColumn");
        let y = in_column * self.whole("rowsPerFrame") + joint / self.whole("jointsPerRow");
        self.texels[(y * self.width + x) as usize]
    }

    /// A vertex of a primitive in a frame, in metres.
    pub fn placed(&self, frame: u32, primitive: &Primitive, vertex: usize) -> Vec3 {
        let row = vertex * primitive.influences..(vertex + 1) * primitive.influences;
        let joints = primitive.joints[row.clone()].iter().copied();
        let weights = primitive.weights[row].iter().copied();
        let influences: Vec<(u32, f32)> = joints.zip(weights).collect();
        self.shade(frame, &influences, primitive.points[vertex])
    }

    /// The vertex shader.
    fn shade(&self, frame: u32, influences: &[(u32, f32)], vertex: Vec3) -> Vec3 {
        if self.json["texture"]["values"] == "matrix" {
            let p = vertex.extend(1.0);
            let row = |j: u32, k: u32| self.fetch(frame, j, k).dot(p);
            let moved = |&(j, w): &(u32, f32)| w * Vec3::new(row(j, 0), row(j, 1), row(j, 2));
            return influences.iter().map(moved).sum();
        }
        let heaviest = influences
            .iter()
            .fold((0, -1.0f32), |a, b| if b.1 > a.1 { *b } else { a });
        let pivot = self.fetch(frame, heaviest.0, 0);
        let (mut real, mut dual) = (Vec4::ZERO, Vec4::ZERO);
        for &(j, w) in influences {
            let sign = if self.fetch(frame, j, 0).dot(pivot) < 0.0 {
                -w
            } else {
                w
            };
            real += sign * self.fetch(frame, j, 0);
            dual += sign * self.fetch(frame, j, 1);
        }
        let (r, d) = (real / real.length(), dual / real.length());
        let shift =
            2.0 * (r.w * d.truncate() - d.w * r.truncate() + r.truncate().cross(d.truncate()));
        Quat::from_vec4(r) * vertex + shift
    }
}

pub fn number(json: &Value, key: &str) -> f64 {
    json[key].as_f64().unwrap_or_else(|| panic!("{key}"))
}
