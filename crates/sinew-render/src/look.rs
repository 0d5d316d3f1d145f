//! The pose of a stage and the look of a picture, as the caller controls them.

use std::collections::BTreeMap;

use sinew::skel::SkinningMethod;

/// Where meshes are deformed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DrawBackend {
    /// By the compute kernels on the GPU; nothing is read back.
    #[default]
    Gpu,
    /// By the CPU mirrors of the kernels; the results are uploaded.
    Cpu,
}

/// One joint of a [`super::Stage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JointId {
    /// Index into [`super::Stage::skeletons`].
    pub skeleton: usize,
    /// Index into [`super::StageSkeleton::joints`] of that skeleton.
    pub joint: usize,
}

/// Settings that change how a stage is posed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Control {
    /// Skinning method of all prims; `None` for each prim's own.
    pub method: Option<SkinningMethod>,
    /// Where meshes are deformed.
    pub backend: DrawBackend,
    /// Weights of blend shape channels by name. They replace the animation's.
    pub weights: BTreeMap<String, f32>,
    /// The joint whose weights are shown as colours.
    pub heat: Option<JointId>,
}

/// Background of a picture. Colours are sRGB from 0 to 1, as in CSS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Background {
    /// A gradient, darker towards the corners.
    Gradient {
        /// Colour at the top.
        top: [f32; 3],
        /// Colour at the bottom.
        bottom: [f32; 3],
    },
    /// One colour.
    Color([f32; 3]),
    /// No background: pixels that nothing covers have alpha 0. A [`super::Renderer`] writes
    /// premultiplied colours, an [`super::Offscreen`] straight ones.
    Transparent,
}

impl Background {
    /// A neutral grey, light enough for dark characters and dark enough for light ones.
    pub const GREY: Self = Self::Gradient {
        top: [0.36, 0.39, 0.43],
        bottom: [0.60, 0.61, 0.62],
    };
}

/// The lights of a picture: a key, a fill and a rim light, and light from above and below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Light {
    /// Whether the lights turn around the up axis with the camera, so that a character is lit the
    /// same from every side. Otherwise they stand still in the world: as they are for a camera
    /// that looks at the front.
    pub follows_camera: bool,
    /// Angle by which all lights are turned around the up axis, in radians.
    pub turn: f64,
    /// Factor of the brightness of all lights, in linear light. 1 is the brightness that materials
    /// are shown in by default.
    pub intensity: f64,
}

impl Default for Light {
    fn default() -> Self {
        Self {
            follows_camera: true,
            turn: 0.0,
            intensity: 1.0,
        }
    }
}

/// The parts of a stage that are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Background of the picture.
    pub background: Background,
    /// Direction and brightness of the lights.
    pub light: Light,
    /// Lines on the ground, and the character's shadow. For a character as large as a person the
    /// lines are a tenth of a metre apart.
    pub grid: bool,
    /// The lines of `grid`. Without them, only the shadow is drawn on the ground.
    pub grid_lines: bool,
    /// Faces.
    pub surface: bool,
    /// Edges of the authored faces.
    pub wireframe: bool,
    /// A line along each normal.
    pub normals: bool,
    /// Joints and bones, over everything else.
    pub joints: bool,
    /// A box around each mesh.
    pub bounds: bool,
    /// The joint that is highlighted.
    pub chosen: Option<JointId>,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            background: Background::GREY,
            light: Light::default(),
            grid: true,
            grid_lines: true,
            surface: true,
            wireframe: false,
            normals: false,
            joints: false,
            bounds: false,
            chosen: None,
        }
    }
}
