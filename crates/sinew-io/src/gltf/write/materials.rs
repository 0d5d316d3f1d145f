//! Materials, textures and images (glTF 2.0, 3.8 and 3.9; KHR_materials_*; KHR_texture_transform).

use std::collections::{BTreeSet, HashMap};
use std::io::Cursor;

use glam::{Mat3, Vec3, Vec4};
use image::ImageFormat;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::nodes::named;
use crate::pictures::{UvParts, decode};
use sinew::error::Warning;
use sinew_animate::asset::{AlphaMode, Asset, AssetMaterial, TextureRef, Wrap};

/// An image as it is written.
pub(super) struct OutImage {
    /// Unique among the images.
    pub file_name: String,
    pub bytes: Vec<u8>,
    pub media_type: &'static str,
}

/// The materials of a document, with what they refer to.
#[derive(Default)]
pub(super) struct Materials {
    pub materials: Vec<Value>,
    /// The glTF material by the asset's, and whether back faces are drawn.
    pub index_of: HashMap<(Option<usize>, bool), usize>,
    pub textures: Vec<Value>,
    pub samplers: Vec<Value>,
    pub images: Vec<OutImage>,
    pub extensions: BTreeSet<&'static str>,
    /// By the asset's image; `None` for one that glTF cannot hold.
    image_of: HashMap<usize, Option<usize>>,
    texture_of: HashMap<(usize, Wrap, Wrap), usize>,
    /// By the asset's material: the number of uv sets that its textures need.
    pub uv_sets: HashMap<usize, usize>,
}

impl Materials {
    /// Makes the materials of the primitives of an asset, each as often as it is needed: once for
    /// faces with one side and once for faces with two.
    pub fn new(
        asset: &Asset,
        used: &BTreeSet<(Option<usize>, bool)>,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        let mut out = Self::default();
        for (material, double_sided) in used {
            if material.is_none() && !double_sided {
                continue;
            }
            let value = match material {
                Some(m) => out.material(asset, *m, *double_sided, warnings),
                None => json!({ "doubleSided": true }),
            };
            out.index_of
                .insert((*material, *double_sided), out.materials.len());
            out.materials.push(value);
        }
        out
    }

    fn material(
        &mut self,
        asset: &Asset,
        index: usize,
        double_sided: bool,
        warnings: &mut Vec<Warning>,
    ) -> Value {
        let source = &asset.materials[index];
        let mut writer = MaterialWriter {
            asset,
            index,
            to: self,
            warnings,
            clamped: Vec::new(),
        };
        let value = writer.write(source, double_sided);
        let clamped = std::mem::take(&mut writer.clamped);
        if !clamped.is_empty() {
            let message = format!(
                "values beyond what glTF allows become the nearest that it allows: {}",
                clamped.join(", ")
            );
            warnings.push(Warning::new("material-clamped", &source.name, message));
        }
        value
    }

    /// The index of an image, converted if its format is none of glTF's.
    fn image(&mut self, asset: &Asset, index: usize, warnings: &mut Vec<Warning>) -> Option<usize> {
        if let Some(known) = self.image_of.get(&index) {
            return *known;
        }
        let made = read_image(asset, index, warnings);
        let at = made.map(|image| {
            self.images.push(image);
            self.images.len() - 1
        });
        self.image_of.insert(index, at);
        at
    }

    fn texture(&mut self, image: usize, texture: &TextureRef) -> usize {
        let key = (image, texture.wrap_s, texture.wrap_t);
        if let Some(known) = self.texture_of.get(&key) {
            return *known;
        }
        let mut sampler = Map::new();
        for (name, wrap) in [("wrapS", texture.wrap_s), ("wrapT", texture.wrap_t)] {
            let wrap = match wrap {
                Wrap::Repeat => continue,
                Wrap::Clamp => 33071,
                Wrap::Mirror => 33648,
            };
            sampler.insert(name.into(), json!(wrap));
        }
        let mut value = json!({ "source": image });
        if !sampler.is_empty() {
            let sampler = Value::Object(sampler);
            let known = self.samplers.iter().position(|s| *s == sampler);
            let at = known.unwrap_or_else(|| {
                self.samplers.push(sampler);
                self.samplers.len() - 1
            });
            value["sampler"] = json!(at);
        }
        self.textures.push(value);
        self.texture_of.insert(key, self.textures.len() - 1);
        self.textures.len() - 1
    }
}

/// An image as PNG or JPEG; `None`, with a warning, if it cannot be decoded.
fn read_image(asset: &Asset, index: usize, warnings: &mut Vec<Warning>) -> Option<OutImage> {
    let image = asset.images.get(index)?;
    if image.bytes.is_empty() {
        // Its reader has said why.
        return None;
    }
    let stem = image
        .file_name
        .rsplit_once('.')
        .map_or(&*image.file_name, |(stem, _)| stem);
    let known = match image::guess_format(&image.bytes) {
        Ok(ImageFormat::Png) => Some(("png", "image/png")),
        Ok(ImageFormat::Jpeg) => Some(("jpg", "image/jpeg")),
        _ => None,
    };
    if let Some((extension, media_type)) = known {
        return Some(OutImage {
            file_name: format!("{stem}.{extension}"),
            bytes: image.bytes.clone(),
            media_type,
        });
    }
    match as_png(&image.bytes) {
        Ok(bytes) => {
            let message = "neither PNG nor JPEG: it is written as a PNG of 8 bits";
            warnings.push(Warning::new("image-converted", &image.file_name, message));
            Some(OutImage {
                file_name: format!("{stem}.png"),
                bytes,
                media_type: "image/png",
            })
        }
        Err(reason) => {
            let message = format!("neither PNG nor JPEG, and it cannot be converted: {reason}");
            warnings.push(Warning::new("texture-left-out", &image.file_name, message));
            None
        }
    }
}

fn as_png(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let image = decode(bytes)?;
    let mut out = Vec::new();
    let image = image::DynamicImage::ImageRgba8(image.to_rgba8());
    let written = image.write_to(&mut Cursor::new(&mut out), ImageFormat::Png);
    written.map_err(|e| e.to_string())?;
    Ok(out)
}

struct MaterialWriter<'a> {
    asset: &'a Asset,
    index: usize,
    to: &'a mut Materials,
    warnings: &'a mut Vec<Warning>,
    /// What did not fit.
    clamped: Vec<String>,
}

impl MaterialWriter<'_> {
    fn write(&mut self, source: &AssetMaterial, double_sided: bool) -> Value {
        let mut out = named(&source.name, source.extras.as_ref());
        let mut pbr = Map::new();
        let color = self.color4(source.base_color);
        set_unless(&mut pbr, "baseColorFactor", color, [1.0; 4]);
        self.set_texture(&mut pbr, "baseColorTexture", &source.base_color_texture);
        let metallic = self.unit("metallic", source.metallic);
        set_unless(&mut pbr, "metallicFactor", metallic, 1.0);
        let roughness = self.unit("roughness", source.roughness);
        set_unless(&mut pbr, "roughnessFactor", roughness, 1.0);
        let metal = &source.metallic_roughness_texture;
        self.set_texture(&mut pbr, "metallicRoughnessTexture", metal);
        if !pbr.is_empty() {
            out.insert("pbrMetallicRoughness".into(), Value::Object(pbr));
        }
        if let Some(mut normal) = self.texture(&source.normal_texture) {
            if source.normal_scale != 1.0 {
                normal["scale"] = json!(source.normal_scale);
            }
            out.insert("normalTexture".into(), normal);
        }
        if let Some(mut occlusion) = self.texture(&source.occlusion_texture) {
            let strength = self.unit("occlusion strength", source.occlusion_strength);
            if strength != 1.0 {
                occlusion["strength"] = json!(strength);
            }
            out.insert("occlusionTexture".into(), occlusion);
        }
        let mut extensions = Map::new();
        self.emissive(source, &mut out, &mut extensions);
        match source.alpha_mode {
            AlphaMode::Opaque => {}
            AlphaMode::Mask(cutoff) => {
                out.insert("alphaMode".into(), json!("MASK"));
                out.insert("alphaCutoff".into(), json!(cutoff.max(0.0)));
            }
            AlphaMode::Blend => {
                out.insert("alphaMode".into(), json!("BLEND"));
            }
        }
        set_unless(&mut out, "doubleSided", double_sided, false);
        self.extensions(source, &mut extensions);
        if !extensions.is_empty() {
            out.insert("extensions".into(), Value::Object(extensions));
        }
        Value::Object(out)
    }

    /// Emission, whose factor is at most 1: what is beyond it is its strength.
    fn emissive(
        &mut self,
        source: &AssetMaterial,
        out: &mut Map<String, Value>,
        extensions: &mut Map<String, Value>,
    ) {
        const STRENGTH: &str = "KHR_materials_emissive_strength";
        let color = source.emissive.max(Vec3::ZERO);
        let strength = color.max_element();
        let factor = match strength > 1.0 {
            true => {
                let value = json!({ "emissiveStrength": strength });
                self.extension(extensions, STRENGTH, value);
                color / strength
            }
            false => color,
        };
        set_unless(out, "emissiveFactor", factor.to_array(), [0.0; 3]);
        if color != Vec3::ZERO {
            self.set_texture(out, "emissiveTexture", &source.emissive_texture);
        }
    }

    fn extensions(&mut self, source: &AssetMaterial, out: &mut Map<String, Value>) {
        if source.unlit {
            self.extension(out, "KHR_materials_unlit", json!({}));
        }
        if let Some(toon) = &source.toon {
            let mut mtoon = Map::new();
            mtoon.insert("specVersion".into(), json!("1.0"));
            let shade = toon.shade_color.to_array();
            mtoon.insert("shadeColorFactor".into(), json!(shade));
            mtoon.insert("shadingShiftFactor".into(), json!(toon.shift));
            mtoon.insert("shadingToonyFactor".into(), json!(toon.toony));
            if toon.shade_uses_image {
                let image = &source.base_color_texture;
                self.set_texture(&mut mtoon, "shadeMultiplyTexture", image);
            }
            self.extension(out, "VRMC_materials_mtoon", Value::Object(mtoon));
        }
        if source.clearcoat > 0.0 {
            let mut coat = Map::new();
            let factor = self.unit("clearcoat", source.clearcoat);
            coat.insert("clearcoatFactor".into(), json!(factor));
            self.set_texture(&mut coat, "clearcoatTexture", &source.clearcoat_texture);
            let roughness = self.unit("clearcoat roughness", source.clearcoat_roughness);
            set_unless(&mut coat, "clearcoatRoughnessFactor", roughness, 0.0);
            let texture = &source.clearcoat_roughness_texture;
            self.set_texture(&mut coat, "clearcoatRoughnessTexture", texture);
            self.extension(out, "KHR_materials_clearcoat", Value::Object(coat));
        }
        if source.ior != 1.5 {
            let is_allowed = source.ior >= 1.0 || source.ior == 0.0;
            if !is_allowed {
                let what = format!("an index of refraction of {}", source.ior);
                self.clamped.push(what);
            }
            let ior = if is_allowed { source.ior } else { 1.0 };
            self.extension(out, "KHR_materials_ior", json!({ "ior": ior }));
        }
        if source.transmission > 0.0 {
            let mut glass = Map::new();
            let factor = self.unit("transmission", source.transmission);
            glass.insert("transmissionFactor".into(), json!(factor));
            let texture = &source.transmission_texture;
            self.set_texture(&mut glass, "transmissionTexture", texture);
            self.extension(out, "KHR_materials_transmission", Value::Object(glass));
        }
        let mut specular = Map::new();
        let factor = self.unit("specular", source.specular);
        set_unless(&mut specular, "specularFactor", factor, 1.0);
        self.set_texture(&mut specular, "specularTexture", &source.specular_texture);
        let color = source.specular_color.max(Vec3::ZERO).to_array();
        set_unless(&mut specular, "specularColorFactor", color, [1.0; 3]);
        let texture = &source.specular_color_texture;
        self.set_texture(&mut specular, "specularColorTexture", texture);
        if !specular.is_empty() {
            self.extension(out, "KHR_materials_specular", Value::Object(specular));
        }
    }

    fn extension(&mut self, out: &mut Map<String, Value>, name: &'static str, value: Value) {
        self.to.extensions.insert(name);
        out.insert(name.into(), value);
    }

    fn unit(&mut self, what: &str, value: f32) -> f32 {
        let inside = value.clamp(0.0, 1.0);
        if inside != value {
            self.clamped.push(format!("a {what} of {value}"));
        }
        if inside.is_nan() { 0.0 } else { inside }
    }

    fn color4(&mut self, color: Vec4) -> [f32; 4] {
        let inside = color.clamp(Vec4::ZERO, Vec4::ONE);
        if inside != color {
            self.clamped.push(format!("a base colour of {color}"));
        }
        inside.to_array()
    }

    fn set_texture(
        &mut self,
        out: &mut Map<String, Value>,
        name: &str,
        texture: &Option<TextureRef>,
    ) {
        if let Some(texture) = self.texture(texture) {
            out.insert(name.into(), texture);
        }
    }

    fn texture(&mut self, texture: &Option<TextureRef>) -> Option<Value> {
        let texture = texture.as_ref()?;
        let image = self.to.image(self.asset, texture.image, self.warnings)?;
        let index = self.to.texture(image, texture);
        let sets = self.to.uv_sets.entry(self.index).or_default();
        *sets = (*sets).max(texture.uv_set + 1);
        let mut out = json!({ "index": index });
        if texture.uv_set != 0 {
            out["texCoord"] = json!(texture.uv_set);
        }
        if let Some(transform) = texture.transform.filter(|t| *t != Mat3::IDENTITY) {
            const NAME: &str = "KHR_texture_transform";
            let parts = UvParts::of(transform);
            if !parts.is_all_of(transform) {
                let name = &self.asset.materials[self.index].name;
                let message = "a texture is transformed with shear, which glTF lacks: left out";
                self.warnings
                    .push(Warning::new("texture-shear", name, message));
            }
            out["extensions"] = json!({ NAME: uv_transform(&parts) });
            self.to.extensions.insert(NAME);
        }
        Some(out)
    }
}

/// Sets a member of an object, unless it has the value that glTF takes without it.
fn set_unless<T: Serialize + PartialEq>(
    out: &mut Map<String, Value>,
    key: &str,
    value: T,
    default: T,
) {
    if value != default {
        out.insert(key.into(), json!(value));
    }
}

/// A transform of texture coordinates as KHR_texture_transform has it.
fn uv_transform(parts: &UvParts) -> Value {
    let mut out = Map::new();
    set_unless(&mut out, "offset", parts.translation, [0.0; 2]);
    // Counter-clockwise as one sees it, in coordinates whose v runs down.
    set_unless(&mut out, "rotation", -parts.angle, 0.0);
    set_unless(&mut out, "scale", parts.scale, [1.0; 2]);
    Value::Object(out)
}
