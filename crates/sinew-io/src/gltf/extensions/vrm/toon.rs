//! MToon: VRMC_materials_mtoon of VRM 1.0 and the materialProperties of VRM 0.x. The two tones are
//! read; outlines, rim light, matcaps and moving textures are not.

use glam::Vec3;
use serde_json::Value;

use super::super::lookup::list;
use super::having;
use crate::gltf::json::Json;
use sinew::error::{Invalid, Warning};
use sinew::scene::Toon;
use sinew_animate::asset::{Asset, AssetMaterial};

/// The sharpness of the edge between the tones if a file does not say it.
const TOONY: f64 = 0.9;

/// Sets the two tones of all materials that have them, with one warning.
///
/// # Errors
/// Numbers that are none.
pub fn apply(document: &Value, asset: &mut Asset) -> Result<(), Invalid> {
    let of_1 = having(document, "materials", "VRMC_materials_mtoon");
    let materials = list(document, "materials");
    for &i in &of_1 {
        let at = format!("materials[{i}].extensions.VRMC_materials_mtoon");
        let toon = &materials[i]["extensions"]["VRMC_materials_mtoon"];
        let toon = of_vrm_1(&Json::located(toon, at))?;
        if let Some(material) = asset.materials.get_mut(i) {
            set(material, toon);
        }
    }
    if let Some(first) = of_1.first() {
        let at = format!("materials[{first}].extensions.VRMC_materials_mtoon");
        asset.warnings.push(warning(&at, of_1.len()));
    }
    let Some(vrm) = super::root_extension(document, "VRM") else {
        return Ok(());
    };
    let at = "extensions.VRM.materialProperties";
    let mut count = 0;
    for (i, properties) in list(vrm, "materialProperties").iter().enumerate() {
        if properties.get("shader").is_none_or(|s| s != "VRM/MToon") {
            continue;
        }
        count += 1;
        let toon = of_vrm_0(&Json::located(properties, format!("{at}[{i}]")))?;
        if let Some(material) = asset.materials.get_mut(i) {
            set(material, toon);
        }
    }
    if count > 0 {
        asset.warnings.push(warning(at, count));
    }
    Ok(())
}

fn warning(at: &str, count: usize) -> Warning {
    let message = format!(
        "only the two tones of MToon are drawn (count: {count}): outlines, rim light, matcaps and the shade's own images are left out"
    );
    Warning::new("mtoon-simplified", at, message)
}

/// A material of two tones is lit, and reflects nothing: glTF's own numbers are for viewers that do
/// not know MToon.
fn set(material: &mut AssetMaterial, toon: Toon) {
    material.unlit = false;
    material.metallic = 0.0;
    material.roughness = 1.0;
    material.metallic_roughness_texture = None;
    material.toon = Some(toon);
}

fn of_vrm_1(json: &Json) -> Result<Toon, Invalid> {
    let shade: [f64; 3] = json.numbers_or("shadeColorFactor", [0.0; 3])?;
    Ok(Toon {
        shade_color: Vec3::from(shade.map(|n| n as f32)).max(Vec3::ZERO),
        shade_uses_image: json.get("shadeMultiplyTexture")?.is_some(),
        shift: json.number_or("shadingShiftFactor", 0.0)?.clamp(-1.0, 1.0) as f32,
        toony: json.number_or("shadingToonyFactor", TOONY)?.clamp(0.0, 1.0) as f32,
    })
}

/// The names of VRM 0.x. Its colours are sRGB, and its edge is between two thresholds.
fn of_vrm_0(json: &Json) -> Result<Toon, Invalid> {
    let linear = |c: f64| match c {
        c if c <= 0.04045 => c / 12.92,
        c => ((c + 0.055) / 1.055).powf(2.4),
    };
    let mut toon = Toon {
        // The default of the shader is a light pink.
        shade_color: Vec3::from([0.97, 0.81, 0.86].map(|c| linear(c) as f32)),
        shade_uses_image: false,
        shift: 0.0,
        toony: TOONY as f32,
    };
    if let Some(vectors) = json.get("vectorProperties")?
        && let Some(shade) = vectors.get("_ShadeColor")?
    {
        let [r, g, b, _]: [f64; 4] = shade.numbers()?;
        toon.shade_color = Vec3::from([r, g, b].map(|c| linear(c.clamp(0.0, 1.0)) as f32));
    }
    if let Some(floats) = json.get("floatProperties")? {
        let number = |key, default| floats.number_or(key, default);
        // The cosines at which the light begins and is whole.
        let begin = number("_ShadeShift", 0.0)?.clamp(-1.0, 1.0);
        let whole = begin + (1.0 - begin) * (1.0 - number("_ShadeToony", TOONY)?.clamp(0.0, 1.0));
        toon.shift = (-0.5 * (begin + whole)) as f32;
        toon.toony = (1.0 - 0.5 * (whole - begin)) as f32;
    }
    if let Some(textures) = json.get("textureProperties")? {
        toon.shade_uses_image = textures.get("_ShadeTexture")?.is_some();
    }
    Ok(toon)
}
