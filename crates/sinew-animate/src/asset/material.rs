//! Metallic-roughness materials, as far as UsdPreviewSurface can say them.

use glam::{Mat3, Vec3, Vec4};

/// A simple PBR material (glTF 2.0, 3.9). Colours are linear.
#[derive(Clone, Debug, PartialEq)]
pub struct AssetMaterial {
    /// As in the file; may be empty, and need not be unique.
    pub name: String,
    /// RGBA, times the texture's.
    pub base_color: Vec4,
    pub base_color_texture: Option<TextureRef>,
    pub metallic: f32,
    pub roughness: f32,
    /// Roughness in G, metalness in B.
    pub metallic_roughness_texture: Option<TextureRef>,
    pub normal_texture: Option<TextureRef>,
    pub normal_scale: f32,
    /// Occlusion in R.
    pub occlusion_texture: Option<TextureRef>,
    pub occlusion_strength: f32,
    pub emissive: Vec3,
    pub emissive_texture: Option<TextureRef>,
    pub alpha_mode: AlphaMode,
    pub double_sided: bool,
    /// No lighting (KHR_materials_unlit).
    pub unlit: bool,
}

impl Default for AssetMaterial {
    /// glTF's default material.
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: Vec4::ONE,
            base_color_texture: None,
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
            occlusion_texture: None,
            occlusion_strength: 1.0,
            emissive: Vec3::ZERO,
            emissive_texture: None,
            alpha_mode: AlphaMode::Opaque,
            double_sided: false,
            unlit: false,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AlphaMode {
    #[default]
    Opaque,
    /// Opaque from this alpha up, invisible below.
    Mask(f32),
    Blend,
}

/// A texture as a material uses it.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureRef {
    /// Index into the asset's images.
    pub image: usize,
    /// Which of the primitive's uv sets.
    pub uv_set: usize,
    pub wrap_s: Wrap,
    pub wrap_t: Wrap,
    /// KHR_texture_transform: uv' = transform * (u, v, 1), in glTF's uv with its origin at the upper left.
    pub transform: Option<Mat3>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrap {
    #[default]
    Repeat,
    Mirror,
    Clamp,
}

/// An encoded picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Image {
    /// A file name for it, with the right ending and unique in the asset, such as `skin.png`.
    pub file_name: String,
    /// The file's bytes; empty where it could not be read, which is warned about.
    pub bytes: Vec<u8>,
}
