//! Cameras (glTF 2.0, 3.10) and punctual lights (KHR_lights_punctual).

use glam::Vec3;

use super::document::Document;
use super::json::Json;
use sinew::error::Invalid;
use sinew_animate::asset::{AssetCamera, AssetLight, CameraProjection, LightKind};

pub(super) fn read(document: &Document) -> Result<Vec<AssetCamera>, Invalid> {
    let list = document.list_for::<AssetCamera>("cameras")?;
    list.iter().map(|c| read_camera(document, c)).collect()
}

fn read_camera(document: &Document, json: &Json<'_>) -> Result<AssetCamera, Invalid> {
    let kind = json.need("type")?;
    let projection = match kind.string()? {
        "perspective" => perspective(&json.need("perspective")?)?,
        "orthographic" => orthographic(document, &json.need("orthographic")?)?,
        _ => return Err(kind.wrong("perspective or orthographic")),
    };
    Ok(AssetCamera {
        name: json.text("name")?,
        projection,
        extras: json.extras()?,
    })
}

/// A number within the range of f32 that passes a test.
fn number(json: &Json<'_>, is_right: impl Fn(f64) -> bool, expected: &str) -> Result<f64, Invalid> {
    let number = json.number()?;
    if number.abs() <= f64::from(f32::MAX) && is_right(number) {
        return Ok(number);
    }
    Err(json.wrong(expected))
}

fn above_zero(json: &Json<'_>) -> Result<f64, Invalid> {
    number(json, |n| n > 0.0, "a number above 0")
}

fn perspective(json: &Json<'_>) -> Result<CameraProjection, Invalid> {
    let half_turn = |n| n > 0.0 && n < std::f64::consts::PI;
    let y_fov = number(
        &json.need("yfov")?,
        half_turn,
        "an angle above 0 and below pi",
    )?;
    let aspect_ratio = match json.get("aspectRatio")? {
        Some(ratio) => Some(above_zero(&ratio)?),
        None => None,
    };
    let z_near = above_zero(&json.need("znear")?)?;
    let z_far = match json.get("zfar")? {
        Some(far) => Some(number(&far, |f| f > z_near, "a number above znear")?),
        None => None,
    };
    Ok(CameraProjection::Perspective {
        y_fov,
        aspect_ratio,
        z_near,
        z_far,
    })
}

fn orthographic(document: &Document, json: &Json<'_>) -> Result<CameraProjection, Invalid> {
    let size = |key: &str| {
        let json = json.need(key)?;
        let size = number(&json, |n| n != 0.0, "a number other than 0")?;
        if size < 0.0 {
            let message = format!("expected a size above 0, found {size}: {} is used", -size);
            document.warn("gltf-camera-size", json.at(), message);
        }
        Ok(size.abs())
    };
    let (x_mag, y_mag) = (size("xmag")?, size("ymag")?);
    let z_near = number(&json.need("znear")?, |n| n >= 0.0, "a number from 0 up")?;
    let z_far = number(&json.need("zfar")?, |f| f > z_near, "a number above znear")?;
    Ok(CameraProjection::Orthographic {
        x_mag,
        y_mag,
        z_near,
        z_far,
    })
}

/// The lights of the document, which nodes name by their index.
pub(super) fn read_lights(document: &Document) -> Result<Vec<AssetLight>, Invalid> {
    let Some(extension) = document.json().extension("KHR_lights_punctual")? else {
        return Ok(Vec::new());
    };
    let count = extension.count("lights")?;
    document.charge(count, size_of::<AssetLight>(), extension.at())?;
    let lights = extension.list("lights")?;
    lights.iter().map(read_light).collect()
}

fn read_light(json: &Json<'_>) -> Result<AssetLight, Invalid> {
    let kind = json.need("type")?;
    let kind = match kind.string()? {
        "directional" => LightKind::Directional,
        "point" => LightKind::Point,
        "spot" => spot(json)?,
        _ => return Err(kind.wrong("directional, point or spot")),
    };
    let from_zero = |json: &Json<'_>| number(json, |n| n >= 0.0, "a number from 0 up");
    let color = match json.get("color")? {
        None => Vec3::ONE,
        Some(color) => {
            let numbers = color.numbers::<3>()?;
            color
                .elements()?
                .try_for_each(|n| from_zero(&n).map(drop))?;
            Vec3::from(numbers.map(|n| n as f32))
        }
    };
    let range = match json.get("range")? {
        // A light from infinitely far away has none.
        Some(range) if kind != LightKind::Directional => Some(above_zero(&range)?),
        _ => None,
    };
    Ok(AssetLight {
        name: json.text("name")?,
        color,
        intensity: json.get("intensity")?.map_or(Ok(1.0), |i| from_zero(&i))?,
        range,
        kind,
        extras: json.extras()?,
    })
}

/// Rounding of single precision that an angle of a quarter turn may have.
const ROUNDING: f64 = 1e-6;

fn spot(light: &Json<'_>) -> Result<LightKind, Invalid> {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
    let spot = light.need("spot")?;
    let outer = match spot.get("outerConeAngle")? {
        Some(angle) => {
            let is_right = |a| a > 0.0 && a <= FRAC_PI_2 + ROUNDING;
            number(&angle, is_right, "an angle above 0, at most pi / 2")?
        }
        None => FRAC_PI_4,
    };
    let inner = match spot.get("innerConeAngle")? {
        Some(angle) => {
            let is_right = |a| a >= 0.0 && a < outer;
            number(&angle, is_right, "an angle from 0 to below outerConeAngle")?
        }
        None => 0.0,
    };
    Ok(LightKind::Spot {
        inner_cone_angle: inner,
        outer_cone_angle: outer,
    })
}
