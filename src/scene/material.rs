//! Materials as UsdPreviewSurface has them, and the pictures that they name.

use std::sync::Arc;

use glam::{Mat3, Vec3, Vec4};

/// A UsdPreviewSurface (the spec's inputs, with its fallbacks). Colours are linear.
///
/// Values are those of the default time, or else of the first sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Prim path.
    pub path: String,
    pub diffuse_color: Input<Vec3>,
    /// Where [`Material::diffuse_color`] comes from besides.
    pub color_source: ColorSource,
    pub emissive_color: Input<Vec3>,
    pub opacity: Input<f32>,
    /// Above 0: opaque from this opacity up, invisible below.
    pub opacity_threshold: f32,
    pub roughness: Input<f32>,
    pub metallic: Input<f32>,
    pub occlusion: Input<f32>,
    /// Index of refraction.
    pub ior: f32,
    /// A tangent-space normal map.
    pub normal: Option<TextureUse>,
}

impl Material {
    /// The spec's fallbacks.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            diffuse_color: Input::of(Vec3::splat(0.18)),
            color_source: ColorSource::Material,
            emissive_color: Input::of(Vec3::ZERO),
            opacity: Input::of(1.0),
            opacity_threshold: 0.0,
            roughness: Input::of(0.5),
            metallic: Input::of(0.0),
            occlusion: Input::of(1.0),
            ior: 1.5,
            normal: None,
        }
    }

    /// Every texture that it uses.
    pub fn textures(&self) -> impl Iterator<Item = &TextureUse> {
        let colors = [&self.diffuse_color, &self.emissive_color];
        let numbers = [
            &self.opacity,
            &self.roughness,
            &self.metallic,
            &self.occlusion,
        ];
        let of_colors = colors.into_iter().filter_map(|c| c.texture.as_ref());
        let of_numbers = numbers.into_iter().filter_map(|n| n.texture.as_ref());
        of_colors.chain(of_numbers).chain(&self.normal)
    }
}

/// What gives a material's diffuse colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorSource {
    /// The material's own value or texture.
    #[default]
    Material,
    /// The mesh's displayColor (a UsdPrimvarReader_float3 of that name).
    DisplayColor,
}

/// An input of a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Input<T> {
    /// What counts without a texture, and where its picture cannot be read.
    pub value: T,
    pub texture: Option<TextureUse>,
}

impl<T> Input<T> {
    /// An input that is the same everywhere.
    #[must_use]
    pub const fn of(value: T) -> Self {
        Self {
            value,
            texture: None,
        }
    }
}

/// A picture as an input reads it (UsdUVTexture): `channel(texel * scale + bias)`, with texels in linear colours.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureUse {
    /// Index into [`super::Geometry::textures`].
    pub texture: usize,
    /// The primvar of its uvs (UsdPrimvarReader_float2), `st` where none is named.
    pub uv_primvar: String,
    /// What the uvs are multiplied with, as (u, v, 1) (UsdTransform2d).
    pub transform: Mat3,
    pub wrap_s: TextureWrap,
    pub wrap_t: TextureWrap,
    /// What texels are multiplied with, RGBA.
    pub scale: Vec4,
    /// What is added to them then.
    pub bias: Vec4,
    /// Which of its channels.
    pub channel: TextureChannel,
    /// Whether texels are sRGB (sourceColorSpace); `None` for `auto`: a picture of 8 bits and three or four channels is.
    pub srgb: Option<bool>,
}

/// An output of UsdUVTexture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextureChannel {
    #[default]
    Rgb,
    R,
    G,
    B,
    A,
}

/// What is beyond a picture's edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextureWrap {
    Repeat,
    Mirror,
    Clamp,
    /// Transparent black.
    Black,
    /// As the picture's own metadata has it; few have any, and `Black` is meant then.
    #[default]
    UseMetadata,
}

/// An encoded picture: PNG, JPEG, or whatever the file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texture {
    /// The asset path as the file has it.
    pub asset: String,
    /// Where that was found.
    pub resolved: String,
    /// The picture's bytes, v upward from its lower edge; empty where they could not be read, which is warned about.
    pub bytes: Arc<[u8]>,
}
