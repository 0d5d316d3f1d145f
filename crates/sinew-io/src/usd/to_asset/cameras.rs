//! Cameras and lights: the inverse of `from_asset::cameras`.

use glam::{DVec2, Vec3};
use sinew_stage::Prim;

use super::extras::{extras, source_data};
use super::nodes::display_name;
use crate::usd::read::values::{FromUsd, read_uniform};
use sinew::error::Warning;
use sinew::sampled::Time;
use sinew::scene::StageCamera;
use sinew_animate::asset::{AssetCamera, AssetLight, CameraProjection, LightKind};

/// Parts of a camera's size that are no shift of its film back.
const CENTRED: f64 = 1e-4;

/// A camera at one time. What glTF cannot hold of it is warned of.
pub(super) fn camera(
    prim: Prim<'_>,
    camera: &StageCamera,
    time: Time,
    warnings: &mut Vec<Warning>,
) -> Result<AssetCamera, sinew_stage::Error> {
    let frustum = camera.frustum(time);
    let [low, high] = frustum.window;
    let size = (high - low).abs();
    let mut warn = |code, message: String| {
        warnings.push(Warning::new(code, &camera.path, message));
    };
    if (low + high).abs().max_element() > CENTRED * size.max_element() {
        let message =
            "its film back is shifted, which glTF cannot express: the camera looks straight ahead";
        warn("camera-offset", message.to_owned());
    }
    let moves = [
        &camera.focal_length,
        &camera.horizontal_aperture,
        &camera.vertical_aperture,
    ];
    if moves.into_iter().any(|s| s.is_animated()) || camera.clipping_range.is_animated() {
        let message = "its lens changes over time, which glTF cannot express: the lens of the first frame is used";
        warn("camera-animated", message.to_owned());
    }
    // glTF asks for more than nothing.
    let size = size.max(DVec2::splat(1e-9));
    let near = frustum.near_far.x;
    let far = frustum.near_far.y;
    let projection = match frustum.perspective {
        true => {
            let near = if near > 0.0 {
                near
            } else {
                far.abs().max(1.0) * 1e-6
            };
            CameraProjection::Perspective {
                y_fov: 2.0 * (0.5 * size.y).atan(),
                aspect_ratio: Some(size.x / size.y),
                z_near: near,
                z_far: (far > near).then_some(far),
            }
        }
        false => {
            let near = near.max(0.0);
            CameraProjection::Orthographic {
                x_mag: 0.5 * size.x,
                y_mag: 0.5 * size.y,
                z_near: near,
                z_far: if far > near { far } else { near + 1e6 },
            }
        }
    };
    Ok(AssetCamera {
        name: display_name(prim)?,
        projection,
        extras: extras(prim)?,
    })
}

/// A light as a punctual one; `None`, with a warning, if it is none of those. Intensities keep their
/// numbers.
pub(super) fn light(
    prim: Prim<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Option<AssetLight>, sinew_stage::Error> {
    let path = prim.path();
    let path = path.as_str();
    fn input<T: FromUsd>(prim: Prim<'_>, name: &str) -> Result<Option<T>, sinew_stage::Error> {
        read_uniform(&prim.attribute(name))
    }
    let number = |name: &str, fallback: f32| -> Result<f64, sinew_stage::Error> {
        Ok(f64::from(input::<f32>(prim, name)?.unwrap_or(fallback)))
    };
    let mut approximate = |what: &str| {
        let message = format!("{what}: glTF's punctual lights cannot express it");
        warnings.push(Warning::new("light-approximated", path, message));
    };
    let cone = match prim.has_api("ShapingAPI") {
        true => number("inputs:shaping:cone:angle", 90.0)?,
        false => 90.0,
    };
    let kind = if prim.is_a("DistantLight") {
        LightKind::Directional
    } else if prim.is_a("SphereLight") {
        let is_point: Option<bool> = input(prim, "treatAsPoint")?;
        let radius = number("inputs:radius", 0.5)?;
        if radius > 0.0 && is_point != Some(true) {
            approximate("its sphere becomes a point");
        }
        match cone < 90.0 {
            false => LightKind::Point,
            true => {
                let softness = number("inputs:shaping:cone:softness", 0.0)?;
                let outer = cone.max(1e-3).to_radians();
                // The inner angle is below the outer one.
                let inner = outer * (1.0 - softness.clamp(1e-6, 1.0));
                LightKind::Spot {
                    inner_cone_angle: inner,
                    outer_cone_angle: outer,
                }
            }
        }
    } else {
        let message = format!(
            "a {}, which is not a punctual light: left out",
            prim.type_name()
        );
        warnings.push(Warning::new("light-left-out", path, message));
        return Ok(None);
    };
    let exposure = number("inputs:exposure", 0.0)?;
    let intensity = number("inputs:intensity", intensity_fallback(kind))? * exposure.exp2();
    let color: Option<OneColor> = input(prim, "inputs:color")?;
    let color = color.map_or(Vec3::ONE, |c| c.0).max(Vec3::ZERO);
    let enabled: Option<bool> = input(prim, "inputs:enableColorTemperature")?;
    if enabled == Some(true) {
        approximate("its colour temperature is left out");
    }
    let range = source_data(prim, "range")?.and_then(|r| r.as_f64());
    Ok(Some(AssetLight {
        name: display_name(prim)?,
        color: if color.is_finite() { color } else { Vec3::ONE },
        intensity: if intensity.is_finite() {
            intensity.max(0.0)
        } else {
            0.0
        },
        range: range.filter(|r| *r > 0.0 && r.is_finite()),
        kind,
        extras: extras(prim)?,
    }))
}

/// UsdLux's own fallbacks.
fn intensity_fallback(kind: LightKind) -> f32 {
    match kind {
        LightKind::Directional => 50_000.0,
        _ => 1.0,
    }
}

/// A colour, of whichever precision.
struct OneColor(Vec3);

impl FromUsd for OneColor {
    fn from_usd(value: sinew_layer::Value) -> Option<Self> {
        let one = crate::usd::read::values::OneVec3::from_usd(value)?;
        one.0.first().copied().map(Self)
    }
}
