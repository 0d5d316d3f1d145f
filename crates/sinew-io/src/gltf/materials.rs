//! Materials, as far as UsdPreviewSurface can say them, and the textures they use.

use glam::{Mat3, Vec2, Vec3, Vec4};

use super::document::Document;
use super::json::Json;
use sinew::error::Invalid;
use sinew_animate::asset::{AlphaMode, Material, TextureRef, Wrap};

pub(super) fn read(document: &Document) -> Result<Vec<Material>, Invalid> {
    let list = document.list_for::<Material>("materials")?;
    list.iter().map(|m| read_material(document, m)).collect()
}

fn read_material(document: &Document, json: &Json<'_>) -> Result<Material, Invalid> {
    let mut material = Material {
        name: json.text("name")?,
        double_sided: json.boolean_or("doubleSided", false)?,
        unlit: json.extension("KHR_materials_unlit")?.is_some(),
        emissive: Vec3::from(
            json.numbers_or("emissiveFactor", [0.0; 3])?
                .map(|n| n as f32),
        ),
        emissive_texture: texture(document, json, "emissiveTexture")?,
        ..Material::default()
    };
    if let Some(strength) = json.extension("KHR_materials_emissive_strength")? {
        material.emissive *= strength.number_or("emissiveStrength", 1.0)? as f32;
    }
    if let Some(pbr) = json.get("pbrMetallicRoughness")? {
        let color: [f64; 4] = pbr.numbers_or("baseColorFactor", [1.0; 4])?;
        material.base_color = Vec4::from(color.map(|n| n as f32));
        material.base_color_texture = texture(document, &pbr, "baseColorTexture")?;
        material.metallic = pbr.number_or("metallicFactor", 1.0)? as f32;
        material.roughness = pbr.number_or("roughnessFactor", 1.0)? as f32;
        material.metallic_roughness_texture = texture(document, &pbr, "metallicRoughnessTexture")?;
    }
    if let Some(gloss) = json.extension("KHR_materials_pbrSpecularGlossiness")? {
        let color: [f64; 4] = gloss.numbers_or("diffuseFactor", [1.0; 4])?;
        material.base_color = Vec4::from(color.map(|n| n as f32));
        material.base_color_texture = texture(document, &gloss, "diffuseTexture")?;
        material.metallic = 0.0;
        material.roughness = 1.0 - gloss.number_or("glossinessFactor", 1.0)? as f32;
        material.metallic_roughness_texture = None;
    }
    if let Some(normal) = json.get("normalTexture")? {
        material.normal_texture = texture(document, json, "normalTexture")?;
        material.normal_scale = normal.number_or("scale", 1.0)? as f32;
    }
    if let Some(occlusion) = json.get("occlusionTexture")? {
        material.occlusion_texture = texture(document, json, "occlusionTexture")?;
        material.occlusion_strength = occlusion.number_or("strength", 1.0)? as f32;
    }
    if let Some(mode) = json.get("alphaMode")? {
        material.alpha_mode = match mode.string()? {
            "OPAQUE" => AlphaMode::Opaque,
            "MASK" => AlphaMode::Mask(json.number_or("alphaCutoff", 0.5)? as f32),
            "BLEND" => AlphaMode::Blend,
            _ => return Err(mode.wrong("OPAQUE, MASK or BLEND")),
        };
    }
    Ok(material)
}

/// A texture that a material names; `None`, with a warning, where only formats stand behind it that USD lacks.
fn texture(
    document: &Document,
    owner: &Json<'_>,
    key: &str,
) -> Result<Option<TextureRef>, Invalid> {
    let Some(info) = owner.get(key)? else {
        return Ok(None);
    };
    let (_, texture) = document.follow(&info.need("index")?, "textures", "a texture")?;
    let image = match texture.get("source")? {
        Some(source) => Some(source),
        None => match texture.extension("EXT_texture_avif")? {
            Some(avif) => avif.get("source")?,
            None => None,
        },
    };
    let Some(image) = image else {
        let message = "no image that USD could show; the texture is left out";
        document.warn("gltf-texture-format", texture.at(), message);
        return Ok(None);
    };
    let (image, _) = document.follow(&image, "images", "an image")?;
    let (wrap_s, wrap_t) = match texture.get("sampler")? {
        Some(sampler) => {
            let (_, sampler) = document.follow(&sampler, "samplers", "a sampler")?;
            (wrap(&sampler, "wrapS")?, wrap(&sampler, "wrapT")?)
        }
        None => Default::default(),
    };
    let mut uv_set = info.integer_or("texCoord", 0)?;
    let mut transform = None;
    if let Some(extension) = info.extension("KHR_texture_transform")? {
        uv_set = extension.integer_or("texCoord", uv_set)?;
        transform = Some(uv_transform(&extension)?);
    }
    Ok(Some(TextureRef {
        image,
        uv_set,
        wrap_s,
        wrap_t,
        transform,
    }))
}

fn wrap(sampler: &Json<'_>, key: &str) -> Result<Wrap, Invalid> {
    let Some(wrap) = sampler.get(key)? else {
        return Ok(Wrap::Repeat);
    };
    Ok(match wrap.integer()? {
        10497 => Wrap::Repeat,
        33071 => Wrap::Clamp,
        33648 => Wrap::Mirror,
        _ => return Err(wrap.wrong("10497, 33071 or 33648")),
    })
}

/// KHR_texture_transform: scale, then rotate, then move.
fn uv_transform(json: &Json<'_>) -> Result<Mat3, Invalid> {
    let pair = |key: &str, default: f64| {
        let numbers = json.numbers_or(key, [default; 2])?;
        Ok(Vec2::from(numbers.map(|n| n as f32)))
    };
    // Counter-clockwise as one sees it, in coordinates whose v runs down.
    let angle = -json.number_or("rotation", 0.0)? as f32;
    Ok(Mat3::from_scale_angle_translation(
        pair("scale", 1.0)?,
        angle,
        pair("offset", 0.0)?,
    ))
}
