//! Properties of materials, cameras, lights and extras of a glTF file, one by one, so that those of two files can be compared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use common::gltf_eval::file::{File, base64, index, list};

/// The JSON of a file with its buffers, and where it lies.
pub struct Contents {
    pub file: File,
    folder: PathBuf,
}

/// A value of a property; pictures are their pixels.
#[derive(Clone, Debug, PartialEq)]
pub enum Property {
    Value(Value),
    Picture(Vec<u8>),
}

/// Properties by name. Those that have their default value are left out.
pub type Properties = BTreeMap<String, Property>;

/// What a property is if it is not there.
const DEFAULTS: &[(&str, &str)] = &[
    ("baseColorFactor", "[1,1,1,1]"),
    ("metallicFactor", "1"),
    ("roughnessFactor", "1"),
    ("emissive", "[0,0,0]"),
    ("alphaMode", "\"OPAQUE\""),
    ("alphaCutoff", "0.5"),
    ("doubleSided", "false"),
    ("normalTexture.scale", "1"),
    ("clearcoatNormalTexture.scale", "1"),
    ("strength", "1"),
    ("texCoord", "0"),
    ("wrapS", "10497"),
    ("wrapT", "10497"),
    ("offset", "[0,0]"),
    ("rotation", "0"),
    ("scale", "[1,1]"),
    ("ior", "1.5"),
    ("clearcoatFactor", "0"),
    ("clearcoatRoughnessFactor", "0"),
    ("transmissionFactor", "0"),
    ("color", "[1,1,1]"),
    ("intensity", "1"),
    ("innerConeAngle", "0"),
    ("outerConeAngle", "0.7853981633974483"),
];

/// Numbers that are as near as f32 keeps them through a few conversions.
const SAME: f64 = 1e-5;

impl Contents {
    pub fn open(path: &Path) -> Self {
        Self {
            file: File::open(path),
            folder: path.parent().expect("a folder").to_owned(),
        }
    }

    /// The items of a list of the document.
    pub fn list(&self, name: &str) -> &[Value] {
        list(&self.file.json[name])
    }

    /// Lights of KHR_lights_punctual.
    pub fn lights(&self) -> &[Value] {
        list(&self.file.json["extensions"]["KHR_lights_punctual"]["lights"])
    }

    /// Properties of a material, without its name and extras. Emissive strength is in `emissive`.
    pub fn material(&self, material: &Value) -> Properties {
        let mut plain = material.clone();
        let strength = &material["extensions"]["KHR_materials_emissive_strength"];
        let strength = strength["emissiveStrength"].as_f64().unwrap_or(1.0);
        let object = plain.as_object_mut().expect("an object");
        let factor = object.remove("emissiveFactor").unwrap_or(json!([0, 0, 0]));
        let factor = list(&factor).iter().filter_map(Value::as_f64);
        let emissive: Vec<f64> = factor.map(|f| f * strength).collect();
        object.insert("emissive".into(), json!(emissive));
        if let Some(extensions) = object.get_mut("extensions").and_then(Value::as_object_mut) {
            extensions.remove("KHR_materials_emissive_strength");
        }
        // A cutoff means nothing in other modes.
        if object.get("alphaMode") != Some(&json!("MASK")) {
            object.remove("alphaCutoff");
        }
        let mut out = Properties::new();
        self.flatten("", &plain, &mut out);
        out
    }

    /// Properties of a camera or a light, without its name and extras.
    pub fn plain(&self, item: &Value) -> Properties {
        let mut out = Properties::new();
        self.flatten("", item, &mut out);
        out
    }

    fn flatten(&self, name: &str, value: &Value, out: &mut Properties) {
        let Some(object) = value.as_object() else {
            let value = Property::Value(value.clone());
            let is_of = |of: &str| name == of || name.ends_with(&format!(".{of}"));
            let default = DEFAULTS.iter().find(|(of, _)| is_of(of));
            let default = default.and_then(|(_, text)| serde_json::from_str(text).ok());
            if default.map(Property::Value).is_none_or(|d| !d.same(&value)) {
                out.insert(name.to_owned(), value);
            }
            return;
        };
        for (key, value) in object {
            let below = match name {
                "" => key.clone(),
                // What is an extension in one file may be at another place in the next.
                _ if key == "extensions" => name.to_owned(),
                _ if key.starts_with("KHR_") => name.to_owned(),
                _ => format!("{name}.{key}"),
            };
            match key.as_str() {
                "name" | "extras" => {}
                "extensions" => {
                    for (extension, value) in value.as_object().into_iter().flatten() {
                        let of = extension.trim_start_matches("KHR_materials_");
                        let of = match extension.as_str() {
                            "KHR_texture_transform" => format!("{name}.transform"),
                            _ if name.is_empty() => of.to_owned(),
                            _ => format!("{name}.{of}"),
                        };
                        self.flatten(&of, value, out);
                    }
                }
                "index" if name.ends_with("Texture") => self.texture(name, value, out),
                _ => self.flatten(&below, value, out),
            }
        }
    }

    fn texture(&self, name: &str, number: &Value, out: &mut Properties) {
        let Some(texture) = index(number).and_then(|n| self.list("textures").get(n)) else {
            return;
        };
        if let Some(image) = index(&texture["source"]).and_then(|n| self.list("images").get(n)) {
            out.insert(name.to_owned(), Property::Picture(self.pixels(image)));
        }
        if let Some(sampler) = index(&texture["sampler"]).and_then(|n| self.list("samplers").get(n))
        {
            self.flatten(&format!("{name}.sampler"), sampler, out);
        }
    }

    /// Size and pixels of a picture; the bytes of one that cannot be decoded.
    fn pixels(&self, picture: &Value) -> Vec<u8> {
        let bytes = self.image_bytes(picture);
        match image::load_from_memory(&bytes) {
            Ok(image) => {
                let image = image.into_rgba8();
                let size = [image.width(), image.height()];
                let mut out: Vec<u8> = size.iter().flat_map(|s| s.to_le_bytes()).collect();
                out.extend(image.into_raw());
                out
            }
            Err(_) => bytes,
        }
    }

    fn image_bytes(&self, image: &Value) -> Vec<u8> {
        if let Some(view) = index(&image["bufferView"]) {
            let view = &self.list("bufferViews")[view];
            let start = index(&view["byteOffset"]).unwrap_or(0);
            let length = index(&view["byteLength"]).expect("a length");
            let buffer = index(&view["buffer"]).expect("a buffer");
            return self.file.buffers[buffer][start..start + length].to_vec();
        }
        let uri = image["uri"].as_str().unwrap_or_default();
        match uri.split_once(";base64,") {
            Some((_, text)) => base64(text),
            None => {
                let uri = common::gltf_eval::file::unescaped(uri);
                std::fs::read(self.folder.join(uri)).unwrap_or_default()
            }
        }
    }
}

impl Property {
    /// The same, with numbers as near as f32 keeps them.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Value(a), Self::Value(b)) => same_json(a, b),
            _ => self == other,
        }
    }
}

/// The same JSON, with numbers as near as f32 keeps them.
pub fn same_json(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(0.0), b.as_f64().unwrap_or(0.0));
            (a - b).abs() <= SAME * a.abs().max(b.abs()).max(1.0)
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_json(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |(key, a): (&String, &Value)| b.get(key).is_some_and(|b| same_json(a, b));
            a.len() == b.len() && a.iter().all(same)
        }
        _ => a == b,
    }
}
