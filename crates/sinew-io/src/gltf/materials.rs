//! Materials, as far as UsdPreviewSurface can express them, with their textures and images.

use std::collections::HashSet;

use glam::{Mat3, Vec2, Vec3, Vec4};

use super::document::Document;
use super::json::Json;
use super::uri;
use super::uri::Source;
use crate::pictures::{FileNames, LARGEST, as_png, extension_of, is_webp, plain_stem, size_of};
use sinew::error::Invalid;
use sinew_animate::asset::{AlphaMode, AssetMaterial, Image, TextureRef, Wrap};

pub(super) fn read(document: &Document) -> Result<Vec<AssetMaterial>, Invalid> {
    let list = document.list_for::<AssetMaterial>("materials")?;
    list.iter().map(|m| read_material(document, m)).collect()
}

/// Names of the variants (KHR_materials_variants).
pub(super) fn read_variants(document: &Document) -> Result<Vec<String>, Invalid> {
    let Some(extension) = document.json().extension("KHR_materials_variants")? else {
        return Ok(Vec::new());
    };
    let variants = extension.list("variants")?;
    variants.iter().map(|v| v.text("name")).collect()
}

/// The material of a primitive in each variant that its mappings name.
pub(super) fn variant_materials(
    document: &Document,
    primitive: &Json<'_>,
) -> Result<Vec<(usize, usize)>, Invalid> {
    let Some(extension) = primitive.extension("KHR_materials_variants")? else {
        return Ok(Vec::new());
    };
    let variants = match document.json().extension("KHR_materials_variants")? {
        Some(variants) => variants.count("variants")?,
        None => 0,
    };
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for mapping in extension.list("mappings")? {
        let material = mapping.need("material")?;
        let (material, _) = document.follow(&material, "materials", "a material")?;
        for variant in mapping.list("variants")? {
            let index = variant.index("a variant", variants)?;
            if !seen.insert(index) {
                let found = format!("variant {index} twice");
                return Err(variant.error("each variant once", found));
            }
            out.push((index, material));
        }
    }
    Ok(out)
}

fn read_material(document: &Document, json: &Json<'_>) -> Result<AssetMaterial, Invalid> {
    let mut material = AssetMaterial {
        name: json.text("name")?,
        double_sided: json.boolean_or("doubleSided", false)?,
        unlit: json.extension("KHR_materials_unlit")?.is_some(),
        emissive: Vec3::from(
            json.numbers_or("emissiveFactor", [0.0; 3])?
                .map(|n| n as f32),
        ),
        emissive_texture: texture(document, json, "emissiveTexture")?,
        extras: json.extras()?,
        ..AssetMaterial::default()
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
    extensions(document, json, &mut material)?;
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

/// Extensions that change the look of the surface.
fn extensions(
    document: &Document,
    json: &Json<'_>,
    material: &mut AssetMaterial,
) -> Result<(), Invalid> {
    if let Some(coat) = json.extension("KHR_materials_clearcoat")? {
        material.clearcoat = share(document, &coat, "clearcoatFactor", 0.0)?;
        material.clearcoat_texture = texture(document, &coat, "clearcoatTexture")?;
        material.clearcoat_roughness = share(document, &coat, "clearcoatRoughnessFactor", 0.0)?;
        material.clearcoat_roughness_texture =
            texture(document, &coat, "clearcoatRoughnessTexture")?;
        if let Some(normal) = coat.get("clearcoatNormalTexture")? {
            let message = "normals of the clear coat: they are left out";
            document.warn("gltf-material-ignored", normal.at(), message);
        }
    }
    if let Some(extension) = json.extension("KHR_materials_ior")?
        && let Some(ior) = extension.get("ior")?
    {
        let value = ior.number()?;
        // 0 stands for a surface that reflects everything.
        if value != 0.0 && !(1.0..=f64::from(f32::MAX)).contains(&value) {
            return Err(ior.wrong("0, or a number from 1 up"));
        }
        material.ior = value as f32;
    }
    if let Some(transmission) = json.extension("KHR_materials_transmission")? {
        material.transmission = share(document, &transmission, "transmissionFactor", 0.0)?;
        material.transmission_texture = texture(document, &transmission, "transmissionTexture")?;
    }
    if let Some(specular) = json.extension("KHR_materials_specular")? {
        material.specular = share(document, &specular, "specularFactor", 1.0)?;
        material.specular_texture = texture(document, &specular, "specularTexture")?;
        material.specular_color = color(&specular, "specularColorFactor")?;
        material.specular_color_texture = texture(document, &specular, "specularColorTexture")?;
    }
    if let Some(gloss) = json.extension("KHR_materials_pbrSpecularGlossiness")? {
        let diffuse: [f64; 4] = gloss.numbers_or("diffuseFactor", [1.0; 4])?;
        material.base_color = Vec4::from(diffuse.map(|n| n as f32));
        material.base_color_texture = texture(document, &gloss, "diffuseTexture")?;
        material.metallic = 0.0;
        material.roughness = 1.0 - share(document, &gloss, "glossinessFactor", 1.0)?;
        material.metallic_roughness_texture = None;
        // A dielectric with an index of refraction of 1.5 reflects this share.
        material.specular_color = color(&gloss, "specularFactor")? / 0.04;
        material.specular_color_texture = texture(document, &gloss, "specularGlossinessTexture")?;
        if let Some(texture) = gloss.get("specularGlossinessTexture")? {
            let message = "the glossiness in a texture's alpha is left out: its factor is used";
            document.warn("gltf-material-ignored", texture.at(), message);
        }
    }
    Ok(())
}

/// A factor from 0 to 1; one outside is brought inside, with a warning.
fn share(document: &Document, json: &Json<'_>, key: &str, default: f64) -> Result<f32, Invalid> {
    let Some(factor) = json.get(key)? else {
        return Ok(default as f32);
    };
    let value = factor.number()?;
    let inside = value.clamp(0.0, 1.0);
    if inside != value {
        let message = format!("expected a factor from 0 to 1, found {value}: {inside} is used");
        document.warn("gltf-material-range", factor.at(), message);
    }
    Ok(inside as f32)
}

/// Linear RGB; white where it is absent.
fn color(json: &Json<'_>, key: &str) -> Result<Vec3, Invalid> {
    let Some(color) = json.get(key)? else {
        return Ok(Vec3::ONE);
    };
    let numbers = color.numbers::<3>()?;
    if numbers.iter().any(|n| !(0.0..=1e9).contains(n)) {
        return Err(color.error("numbers from 0 up", format!("{numbers:?}")));
    }
    Ok(Vec3::from(numbers.map(|n| n as f32)))
}

/// A texture that a material names; `None`, with a warning, where only formats stand behind it that
/// USD lacks.
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
        None => {
            let mut found = None;
            for name in ["EXT_texture_webp", "EXT_texture_avif"] {
                if let (None, Some(extension)) = (&found, texture.extension(name)?) {
                    found = extension.get("source")?;
                }
            }
            found
        }
    };
    let Some(image) = image else {
        let message = "no image in a format that USD can show: the texture is not used";
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

/// All images. One that cannot be read, or is in no format that USD shows, is left empty with a
/// warning.
pub(super) fn read_images(document: &Document) -> Result<Vec<Image>, Invalid> {
    let mut names = FileNames::default();
    let mut files = HashSet::new();
    let list = document.list_for::<Image>("images")?;
    let mut images = Vec::with_capacity(list.len());
    for (i, json) in list.iter().enumerate() {
        let mut bytes = bytes(document, json, &mut files)?;
        if let Some(webp) = bytes.as_deref().filter(|b| is_webp(b)) {
            bytes = png_of_webp(document, json, webp)?;
        }
        let format = bytes.as_deref().map(extension_of);
        let extension = match format {
            Some(Some(extension)) => extension,
            Some(None) => {
                let message = "expected PNG, JPEG, EXR, AVIF or WebP: the image is not used";
                document.warn("gltf-image-format", json.at(), message);
                "png"
            }
            None => ending_of_name(json.text("uri")?),
        };
        let stem = stem(json)?.unwrap_or_else(|| format!("image{i}"));
        let bytes = bytes.filter(|_| format.flatten().is_some());
        images.push(Image {
            file_name: names.unique(&stem, extension),
            bytes: bytes.unwrap_or_default(),
        });
    }
    Ok(images)
}

/// A WebP picture as PNG, which USD shows; `None`, with a warning, where it cannot be decoded.
fn png_of_webp(
    document: &Document,
    json: &Json<'_>,
    webp: &[u8],
) -> Result<Option<Vec<u8>>, Invalid> {
    let (width, height) = size_of(webp).unwrap_or_default();
    let pixels = (width as usize).saturating_mul(height as usize);
    document.charge(pixels, 4, json.at())?;
    let png = as_png(webp);
    if let Err(reason) = &png {
        let message = format!("the WebP image cannot be decoded ({reason}): it is not used");
        document.warn("gltf-image-format", json.at(), message);
    }
    Ok(png.ok())
}

/// `None`, with a warning, where a file is not to be had.
fn bytes(
    document: &Document,
    json: &Json<'_>,
    files: &mut HashSet<std::path::PathBuf>,
) -> Result<Option<Vec<u8>>, Invalid> {
    if let Some(view) = json.get("bufferView")? {
        let view = document.view(&view)?;
        document.charge(view.bytes.len(), 1, json.at())?;
        return Ok(Some(view.bytes.to_vec()));
    }
    let uri = json.need("uri")?;
    let unreadable = |found: String| {
        document.warn(
            "gltf-image-unreadable",
            uri.at(),
            format!("cannot read {found}"),
        );
        Ok(None)
    };
    match uri::resolve(uri.string()?, document.folder()) {
        Ok(Source::Data(bytes)) => Ok(Some(bytes)),
        Ok(Source::File(path)) => match uri::read_file(&document.files, &path, LARGEST) {
            Ok(bytes) => {
                if !files.insert(path) {
                    document.charge(bytes.len(), 1, uri.at())?;
                }
                Ok(Some(bytes))
            }
            Err(found) => unreadable(found),
        },
        Err(found) => unreadable(format!("{found}: expected {}", uri::EXPECTED)),
    }
}

/// The extension that a missing file would have.
fn ending_of_name(uri: String) -> &'static str {
    let uri = uri.to_ascii_lowercase();
    if uri.ends_with(".jpg") || uri.ends_with(".jpeg") {
        "jpg"
    } else {
        "png"
    }
}

/// A file name without its extension, from the image's name or its file, of letters that every file
/// system takes.
fn stem(json: &Json<'_>) -> Result<Option<String>, Invalid> {
    let name = json.text("name")?;
    let uri = json.text("uri")?;
    let from = if !name.is_empty() {
        &name
    } else if uri
        .get(..5)
        .is_some_and(|s| s.eq_ignore_ascii_case("data:"))
    {
        return Ok(None);
    } else {
        &uri
    };
    let from = from.rsplit(['/', '\\']).next().unwrap_or_default();
    let from = match from.rsplit_once('.') {
        Some((stem, extension))
            if ["png", "jpg", "jpeg", "exr", "avif", "webp"]
                .contains(&&*extension.to_ascii_lowercase()) =>
        {
            stem
        }
        _ => from,
    };
    Ok(plain_stem(from))
}
