//! Properties of materials, cameras and lights of a glTF file, one by one, so that those of two files can be compared.

use std::collections::BTreeMap;

use gltf::buffer::{self, Data};
use gltf::image;
use serde_json::{Value, json};

use crate::eval::{Document, index, list};

/// A value of a property; pictures are their pixels.
#[derive(Clone, Debug, PartialEq)]
pub enum Property {
    Value(Value),
    Picture(Vec<u8>),
}

/// Properties by name. Those that have their default value are left out.
pub type Properties = BTreeMap<String, Property>;

/// What a property is if it is not there.
const DEFAULTS: &str = r#"{
    "baseColorFactor": [1, 1, 1, 1], "metallicFactor": 1, "roughnessFactor": 1, "emissive": [0, 0, 0],
    "alphaMode": "OPAQUE", "alphaCutoff": 0.5, "doubleSided": false,
    "normalTexture.scale": 1, "clearcoatNormalTexture.scale": 1, "strength": 1,
    "texCoord": 0, "wrapS": 10497, "wrapT": 10497, "offset": [0, 0], "rotation": 0, "scale": [1, 1],
    "ior": 1.5, "clearcoatFactor": 0, "clearcoatRoughnessFactor": 0, "transmissionFactor": 0,
    "color": [1, 1, 1], "intensity": 1, "innerConeAngle": 0, "outerConeAngle": 0.7853981633974483
}"#;

/// Numbers that are as near as f32 keeps them through a few conversions.
const SAME: f64 = 1e-5;

/// Properties of a material, without its name and extras. Emissive strength is in `emissive`.
pub fn of_material(document: &Document, material: &Value) -> Properties {
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
    let mut out = of_item(document, &plain);
    if material["extensions"]["KHR_materials_unlit"].is_object() {
        out.insert("unlit".to_owned(), Property::Value(json!(true)));
    }
    out
}

/// Properties of a camera or a light, without its name and extras.
pub fn of_item(document: &Document, item: &Value) -> Properties {
    let mut flat = Flat {
        document,
        defaults: serde_json::from_str(DEFAULTS).expect("JSON"),
        out: Properties::new(),
    };
    flat.value("", item);
    flat.out
}

struct Flat<'a> {
    document: &'a Document,
    defaults: BTreeMap<String, Value>,
    out: Properties,
}

impl Flat<'_> {
    fn value(&mut self, name: &str, value: &Value) {
        let Some(object) = value.as_object() else {
            let is_of = |of: &str| name == of || name.ends_with(&format!(".{of}"));
            let mut defaults = self.defaults.iter();
            let default = defaults.find(|(of, _)| is_of(of));
            if default.is_none_or(|(_, default)| !same_json(default, value)) {
                self.out
                    .insert(name.to_owned(), Property::Value(value.clone()));
            }
            return;
        };
        for (key, value) in object {
            match key.as_str() {
                "name" | "extras" => {}
                "extensions" => {
                    for (extension, value) in value.as_object().into_iter().flatten() {
                        let short = extension.trim_start_matches("KHR_materials_");
                        let of = match extension.as_str() {
                            "KHR_texture_transform" => format!("{name}.transform"),
                            _ if name.is_empty() => short.to_owned(),
                            _ => format!("{name}.{short}"),
                        };
                        self.value(&of, value);
                    }
                }
                "index" if name.ends_with("Texture") => self.texture(name, value),
                _ if name.is_empty() => self.value(key, value),
                // What is an extension in one file may be at another place in the next.
                _ if key.starts_with("KHR_") => self.value(name, value),
                _ => self.value(&format!("{name}.{key}"), value),
            }
        }
    }

    fn texture(&mut self, name: &str, number: &Value) {
        let document = self.document;
        let item = |of: &str, number: &Value| document.list(of).get(index(number)?);
        let Some(texture) = item("textures", number) else {
            return;
        };
        let images = index(&texture["source"]).map(|n| document.gltf.images().nth(n));
        if let Some(image) = images.flatten() {
            let pixels = pixels(document, &image);
            // A file that is not there can survive nothing.
            if pixels.is_empty() {
                return;
            }
            self.out.insert(name.to_owned(), Property::Picture(pixels));
        }
        if let Some(sampler) = item("samplers", &texture["sampler"]) {
            self.value(&format!("{name}.sampler"), sampler);
        }
    }
}

/// Size and pixels of a picture; the bytes of one that cannot be decoded.
fn pixels(document: &Document, picture: &gltf::Image<'_>) -> Vec<u8> {
    let bytes = match picture.source() {
        image::Source::View { view, .. } => {
            let bytes = &document.buffers[view.buffer().index()];
            bytes[view.offset()..view.offset() + view.length()].to_vec()
        }
        image::Source::Uri { uri, .. } => {
            let uri = buffer::Source::Uri(uri);
            Data::from_source(uri, Some(&document.folder)).map_or(Vec::new(), |data| data.0)
        }
    };
    let Ok(image) = ::image::load_from_memory(&bytes) else {
        return bytes;
    };
    let image = image.into_rgba8();
    let size = [image.width(), image.height()];
    let mut out: Vec<u8> = size.iter().flat_map(|s| s.to_le_bytes()).collect();
    out.extend(image.into_raw());
    out
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

impl std::fmt::Display for Property {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Picture(pixels) => write!(f, "a picture of {} bytes", pixels.len()),
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
