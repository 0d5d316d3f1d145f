//! Cameras as UsdGeomCamera, and punctual lights as UsdLux lights, below the Xform of their node.
//! All of them look down -Z in glTF and in USD.

use sinew_layer::Value;

use super::layer::{LayerBuilder, PrimId};
use crate::error::Result;
use sinew::error::Warning;
use sinew_animate::asset::{Asset, CameraProjection, LightKind};

/// Height of what a perspective camera's light falls on, in metres: that of 35 mm film. Only its
/// ratio to the focal length shows in pictures.
const FILM_HEIGHT: f64 = 0.024;

/// Width by height, where a camera takes that of the viewport.
const ASPECT_RATIO: f64 = 16.0 / 9.0;

/// Distance of the far clipping plane of a camera that has none: USD's default.
const FAR: f64 = 1e6;

/// A scene unit in the units of apertures and focal lengths.
const TENTHS: f64 = 10.0;

/// Authors a Camera prim below `parent`.
pub(super) fn author_camera(
    layer: &mut LayerBuilder,
    parent: PrimId,
    asset: &Asset,
    index: usize,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    let camera = &asset.cameras[index];
    let prim = layer.define(parent, &[&camera.name, "Camera"], "Camera")?;
    layer.display_name(prim, &camera.name);
    layer.extras(prim, camera.extras.as_ref())?;
    let mut warn = |code, message: String| {
        let path = layer.path(prim).as_str();
        warnings.push(Warning::new(code, path, message));
    };
    let (kind, width, height, focal, near, far) = match camera.projection {
        CameraProjection::Perspective {
            y_fov,
            aspect_ratio,
            z_near,
            z_far,
        } => {
            if aspect_ratio.is_none() {
                let message = "it has the viewport's aspect ratio, which UsdGeomCamera cannot express: \
                               16:9 is used";
                warn("camera-aspect", message.to_owned());
            }
            let far = z_far.unwrap_or_else(|| FAR.max(z_near * FAR));
            if z_far.is_none() {
                warn(
                    "camera-far",
                    format!("it has no far clipping plane: {far} is used"),
                );
            }
            let height = FILM_HEIGHT / asset.meters_per_unit * TENTHS;
            let focal = 0.5 * height / (0.5 * y_fov).tan();
            let width = height * aspect_ratio.unwrap_or(ASPECT_RATIO);
            ("perspective", width, height, Some(focal), z_near, far)
        }
        CameraProjection::Orthographic {
            x_mag,
            y_mag,
            z_near,
            z_far,
        } => {
            let (width, height) = (2.0 * x_mag * TENTHS, 2.0 * y_mag * TENTHS);
            ("orthographic", width, height, None, z_near, z_far)
        }
    };
    layer.set(prim, "projection", "token", Value::token(kind))?;
    for (name, value) in [
        ("horizontalAperture", Some(width)),
        ("verticalAperture", Some(height)),
        ("focalLength", focal),
    ] {
        if let Some(value) = value {
            let value = Value::Float(value as f32);
            layer.set(prim, name, "float", value)?;
        }
    }
    let range = Value::Vec2f([near as f32, far as f32]);
    layer.set(prim, "clippingRange", "float2", range)
}

/// Authors a light below `parent`.
///
/// Intensities keep their numbers, as most converters have it. A DistantLight's is the illuminance
/// in lux, since `normalize` is on; a SphereLight's is the candela of a point, which `treatAsPoint`
/// and a radius of 0 say it is.
pub(super) fn author_light(
    layer: &mut LayerBuilder,
    parent: PrimId,
    asset: &Asset,
    index: usize,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    let light = &asset.lights[index];
    let type_name = match light.kind {
        LightKind::Directional => "DistantLight",
        LightKind::Point | LightKind::Spot { .. } => "SphereLight",
    };
    let prim = layer.define(parent, &[&light.name, "Light"], type_name)?;
    layer.display_name(prim, &light.name);
    layer.extras(prim, light.extras.as_ref())?;
    let mut input = |name: &str, type_name: &str, value: Value| -> Result<()> {
        layer.set(prim, name, type_name, value)
    };
    input(
        "inputs:color",
        "color3f",
        Value::Vec3f(light.color.to_array()),
    )?;
    let float = |x: f64| Value::Float(x as f32);
    input("inputs:intensity", "float", float(light.intensity))?;
    input("inputs:normalize", "bool", Value::Bool(true))?;
    match light.kind {
        LightKind::Directional => input("inputs:angle", "float", float(0.0))?,
        LightKind::Point | LightKind::Spot { .. } => {
            input("inputs:radius", "float", float(0.0))?;
            input("treatAsPoint", "bool", Value::Bool(true))?;
        }
    }
    if let LightKind::Spot {
        inner_cone_angle: inner,
        outer_cone_angle: outer,
    } = light.kind
    {
        input(
            "inputs:shaping:cone:angle",
            "float",
            float(outer.to_degrees()),
        )?;
        // UsdLux softens between the angle and its part that is not soft.
        let softness = float(1.0 - inner / outer);
        input("inputs:shaping:cone:softness", "float", softness)?;
        layer.apply(prim, "ShapingAPI");
    }
    if let Some(range) = light.range {
        layer.source_data(prim, "range", Value::Double(range))?;
        let path = layer.path(prim).as_str();
        let message = format!("UsdLux lights have no range: its range of {range} is left out");
        warnings.push(Warning::new("light-range", path, message));
    }
    Ok(())
}
