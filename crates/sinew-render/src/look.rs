//! What a picture shows, and how.

use std::collections::BTreeMap;

use sinew::skel::SkinningMethod;

/// Who deforms what is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DrawBackend {
    /// The compute kernels; nothing is read back.
    #[default]
    Gpu,
    /// The kernels' CPU mirrors, whose results are uploaded.
    Cpu,
}

/// One joint of a [`super::Stage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JointId {
    /// Index into [`super::Stage::skeletons`].
    pub skeleton: usize,
    /// Joint of that skeleton.
    pub joint: usize,
}

/// What a stage is posed with, beside its file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Control {
    /// Skinning method of every prim, in place of its own.
    pub method: Option<SkinningMethod>,
    pub backend: DrawBackend,
    /// Weights of blend shapes by their channel's name, in place of the animation's.
    pub weights: BTreeMap<String, f32>,
    /// The joint whose weights are shown as colours.
    pub heat: Option<JointId>,
}

/// What lies behind the picture; colours are sRGB with straight alpha, as in CSS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Background {
    /// From top to bottom, darker towards the corners.
    Gradient {
        top: [f32; 3],
        bottom: [f32; 3],
    },
    Color([f32; 3]),
    /// Nothing: pixels that nothing covers keep an alpha of 0. Colours come premultiplied.
    Transparent,
}

impl Background {
    /// A neutral grey, light enough for dark characters and dark enough for light ones.
    pub const GREY: Self = Self::Gradient {
        top: [0.36, 0.39, 0.43],
        bottom: [0.60, 0.61, 0.62],
    };
}

/// What is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    pub background: Background,
    /// Lines on the ground, 10 to a metre and finer or coarser by what is framed, with the character's shadow.
    pub grid: bool,
    /// Faces.
    pub surface: bool,
    /// Edges of the authored faces.
    pub wireframe: bool,
    /// A line along each normal.
    pub normals: bool,
    /// Bones, over everything else.
    pub joints: bool,
    /// A box around each mesh.
    pub bounds: bool,
    /// The bone that stands out.
    pub chosen: Option<JointId>,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            background: Background::GREY,
            grid: true,
            surface: true,
            wireframe: false,
            normals: false,
            joints: false,
            bounds: false,
            chosen: None,
        }
    }
}
