//! Metallic-roughness materials, as far as UsdPreviewSurface can express them.

use glam::{Mat3, Vec3, Vec4};
use serde_json::Value;
use sinew::scene::Toon;

/// A metallic-roughness material (glTF 2.0, 3.9). Colours are linear.
#[derive(Clone, Debug, PartialEq)]
pub struct AssetMaterial {
    /// Name in the file. It may be empty, and several materials may have the same name.
    pub name: String,
    /// RGBA; multiplied by the texture.
    pub base_color: Vec4,
    /// RGBA.
    pub base_color_texture: Option<TextureRef>,
    /// 0 to 1; multiplied by the texture.
    pub metallic: f32,
    /// 0 to 1; multiplied by the texture.
    pub roughness: f32,
    /// Roughness in G, metalness in B.
    pub metallic_roughness_texture: Option<TextureRef>,
    /// Tangent-space normals.
    pub normal_texture: Option<TextureRef>,
    /// Factor for x and y of the normals in the texture.
    pub normal_scale: f32,
    /// Occlusion in R.
    pub occlusion_texture: Option<TextureRef>,
    /// Strength of the occlusion texture, 0 to 1.
    pub occlusion_strength: f32,
    /// RGB; multiplied by the texture. It may exceed 1, since the strength of
    /// KHR_materials_emissive_strength is in it.
    pub emissive: Vec3,
    /// RGB.
    pub emissive_texture: Option<TextureRef>,
    /// What alpha means.
    pub alpha_mode: AlphaMode,
    /// Whether back faces are drawn.
    pub double_sided: bool,
    /// Whether the material is drawn without lighting (KHR_materials_unlit).
    pub unlit: bool,
    /// Two tones in place of smooth shading (VRMC_materials_mtoon).
    pub toon: Option<Toon>,
    /// Strength of a clear coat over the surface, 0 to 1 (KHR_materials_clearcoat).
    pub clearcoat: f32,
    /// Factor of the coat's strength in R.
    pub clearcoat_texture: Option<TextureRef>,
    /// Roughness of the clear coat, 0 to 1.
    pub clearcoat_roughness: f32,
    /// Factor of the coat's roughness in G.
    pub clearcoat_roughness_texture: Option<TextureRef>,
    /// Index of refraction, 1 or more (KHR_materials_ior).
    pub ior: f32,
    /// Share of the light that passes through the surface instead of being diffused, 0 to 1
    /// (KHR_materials_transmission).
    pub transmission: f32,
    /// Factor of the transmission in R.
    pub transmission_texture: Option<TextureRef>,
    /// Strength of the reflections of a dielectric, 0 to 1 (KHR_materials_specular).
    pub specular: f32,
    /// Factor of the strength of reflections in A.
    pub specular_texture: Option<TextureRef>,
    /// RGB of the reflections of a dielectric at normal incidence, a factor of what the index of
    /// refraction gives. It may exceed 1.
    pub specular_color: Vec3,
    /// Factor of the colour of reflections in RGB.
    pub specular_color_texture: Option<TextureRef>,
    /// Data of the application that wrote the file.
    pub extras: Option<Value>,
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
            toon: None,
            clearcoat: 0.0,
            clearcoat_texture: None,
            clearcoat_roughness: 0.0,
            clearcoat_roughness_texture: None,
            ior: 1.5,
            transmission: 0.0,
            transmission_texture: None,
            specular: 1.0,
            specular_texture: None,
            specular_color: Vec3::ONE,
            specular_color_texture: None,
            extras: None,
        }
    }
}

/// What the alpha of a material means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AlphaMode {
    /// Alpha is ignored.
    #[default]
    Opaque,
    /// Opaque if alpha is at least this value, otherwise invisible.
    Mask(f32),
    /// Blended with what is behind it.
    Blend,
}

/// A texture as a material uses it.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureRef {
    /// Index into the asset's images.
    pub image: usize,
    /// Index into [`Primitive::uvs`](super::Primitive::uvs).
    pub uv_set: usize,
    /// Wrapping along u.
    pub wrap_s: Wrap,
    /// Wrapping along v.
    pub wrap_t: Wrap,
    /// KHR_texture_transform: uv' = transform * (u, v, 1), in glTF's uv space with the origin at
    /// the upper left.
    pub transform: Option<Mat3>,
}

/// How a texture continues outside 0..1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// The texture repeats.
    #[default]
    Repeat,
    /// The texture repeats, every second time mirrored.
    Mirror,
    /// The edge of the texture continues.
    Clamp,
}

/// An encoded image, such as the bytes of a PNG file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Image {
    /// A file name, such as `skin.png`. It is unique in the asset, and its extension fits the
    /// format.
    pub file_name: String,
    /// The encoded bytes; empty if the image could not be read, which
    /// [`Asset::warnings`](super::Asset::warnings) says.
    pub bytes: Vec<u8>,
}
