//! Cameras and punctual lights. Both look down the -Z axis of their node, and +Y is up.

use glam::Vec3;
use serde_json::Value;

/// A camera (glTF 2.0, 3.10). The node that shows it gives its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssetCamera {
    /// Name in the file. It may be empty, and several cameras may have the same name.
    pub name: String,
    /// What the camera sees.
    pub projection: CameraProjection,
    /// Data of the application that wrote the file.
    pub extras: Option<Value>,
}

/// How a camera projects. Distances are in the asset's units and positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CameraProjection {
    /// A perspective camera.
    Perspective {
        /// Vertical field of view in radians, above 0 and below pi.
        y_fov: f64,
        /// Width by height of what the camera sees; `None` for that of the viewport.
        aspect_ratio: Option<f64>,
        /// Distance of the near clipping plane, above 0.
        z_near: f64,
        /// Distance of the far clipping plane, above `z_near`; `None` if there is none.
        z_far: Option<f64>,
    },
    /// An orthographic camera.
    Orthographic {
        /// Half of the width that the camera sees; not 0.
        x_mag: f64,
        /// Half of the height that the camera sees; not 0.
        y_mag: f64,
        /// Distance of the near clipping plane; it may be 0.
        z_near: f64,
        /// Distance of the far clipping plane, above `z_near`.
        z_far: f64,
    },
}

impl Default for CameraProjection {
    /// USD's default camera: 50 mm behind an aperture of 20.955 mm by 15.2908 mm.
    fn default() -> Self {
        Self::Perspective {
            y_fov: 2.0 * (15.2908_f64 / 100.0).atan(),
            aspect_ratio: Some(20.955 / 15.2908),
            z_near: 1.0,
            z_far: Some(1e6),
        }
    }
}

/// A punctual light (KHR_lights_punctual). The node that shows it gives its place.
#[derive(Clone, Debug, PartialEq)]
pub struct AssetLight {
    /// Name in the file. It may be empty, and several lights may have the same name.
    pub name: String,
    /// Linear RGB.
    pub color: Vec3,
    /// Brightness: lux (lm/m²) for a directional light, candela (lm/sr) for the others.
    pub intensity: f64,
    /// Distance in the asset's units beyond which a point or spot light has no effect; `None` if
    /// there is no such distance.
    pub range: Option<f64>,
    /// Where the light shines.
    pub kind: LightKind,
    /// Data of the application that wrote the file.
    pub extras: Option<Value>,
}

impl Default for AssetLight {
    /// A white point light of 1 candela.
    fn default() -> Self {
        Self {
            name: String::new(),
            color: Vec3::ONE,
            intensity: 1.0,
            range: None,
            kind: LightKind::Point,
            extras: None,
        }
    }
}

/// Where a punctual light shines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LightKind {
    /// Parallel light along -Z, from infinitely far away.
    Directional,
    /// In all directions.
    #[default]
    Point,
    /// In a cone around -Z.
    Spot {
        /// Angle from the axis at which the light starts to fall off, in radians, from 0 to below
        /// `outer_cone_angle`.
        inner_cone_angle: f64,
        /// Angle from the axis at which the light ends, in radians, at most pi / 2.
        outer_cone_angle: f64,
    },
}
