//! Materials (UsdPreviewSurface), and the images that they use.

use std::sync::Arc;

use glam::{Mat3, Vec3, Vec4};

/// A UsdPreviewSurface, with the inputs and fallbacks of its specification. Colours are linear.
/// Values are those of the default time, or of the first sample if there is no default.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Prim path.
    pub path: String,
    pub diffuse_color: Input<Vec3>,
    /// Whether the diffuse colour comes from [`Material::diffuse_color`] or from the mesh.
    pub color_source: ColorSource,
    pub emissive_color: Input<Vec3>,
    pub opacity: Input<f32>,
    /// If above 0, faces are opaque where the opacity is at least this, and invisible elsewhere.
    pub opacity_threshold: f32,
    pub roughness: Input<f32>,
    pub metallic: Input<f32>,
    pub occlusion: Input<f32>,
    /// Index of refraction.
    pub ior: f32,
    /// Strength of a second, clear layer of reflections over the surface. Renderers here do not
    /// draw it.
    pub clearcoat: Input<f32>,
    /// Roughness of that layer.
    pub clearcoat_roughness: Input<f32>,
    /// Colour of reflections at normal incidence, in place of metalness and refraction
    /// (`useSpecularWorkflow`). Renderers here do not draw it.
    pub specular_color: Option<Input<Vec3>>,
    /// A tangent-space normal map.
    pub normal: Option<TextureUse>,
    /// Whether an image of the diffuse or the emissive colour cannot be read. There is a warning
    /// then, and pictures show a checker in its place.
    pub misses_image: bool,
    /// Two tones in place of smooth shading.
    pub toon: Option<Toon>,
}

/// Shading in two tones: the material's colour where the light is, and the shade's elsewhere
/// (VRMC_materials_mtoon). USD has no such surface; it is stored in the attributes `sinew:toon:*` of
/// the Material prim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Toon {
    /// Linear colour of what the light does not reach.
    pub shade_color: Vec3,
    /// Whether the image of the colour multiplies the shade too.
    pub shade_uses_image: bool,
    /// Added to the cosine between the normal and the light, -1 to 1.
    pub shift: f32,
    /// Sharpness of the edge between the tones, 0 to 1.
    pub toony: f32,
}

impl Material {
    /// A material with the fallback values of the specification.
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
            clearcoat: Input::of(0.0),
            clearcoat_roughness: Input::of(0.01),
            specular_color: None,
            normal: None,
            misses_image: false,
            toon: None,
        }
    }

    /// Every texture that renderers here draw it with.
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

    /// The texture of one of its inputs, if that is read at the same uvs as the first texture of the
    /// material. A mesh is drawn with one set of uvs ([`super::DrawnMesh::uvs`]), and readers warn of
    /// others (`uv-sets`).
    #[must_use]
    pub fn at_main_uvs<'a>(&self, texture: &'a Option<TextureUse>) -> Option<&'a TextureUse> {
        let main = self.textures().next()?;
        let used = texture.as_ref();
        used.filter(|used| used.uv_primvar == main.uv_primvar)
    }
}

/// Where the diffuse colour of a material comes from.
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
    /// The value if there is no texture, or if the texture's image cannot be read.
    pub value: T,
    pub texture: Option<TextureUse>,
}

impl<T> Input<T> {
    /// An input with a value and no texture.
    #[must_use]
    pub const fn of(value: T) -> Self {
        Self {
            value,
            texture: None,
        }
    }
}

/// How an input reads an image (UsdUVTexture): `channel(texel * scale + bias)`, with texels in
/// linear colours.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureUse {
    /// Index into [`super::Geometry::textures`].
    pub texture: usize,
    /// The primvar of the texture coordinates (UsdPrimvarReader_float2); `st` if none is named.
    pub uv_primvar: String,
    /// The matrix by which texture coordinates (u, v, 1) are multiplied (UsdTransform2d).
    pub transform: Mat3,
    pub wrap_s: TextureWrap,
    pub wrap_t: TextureWrap,
    /// The factor by which texels are multiplied, RGBA.
    pub scale: Vec4,
    /// The value that is added after that, RGBA.
    pub bias: Vec4,
    /// The channels that the input reads.
    pub channel: TextureChannel,
    /// Whether texels are sRGB (sourceColorSpace). `None` for `auto`: then images of 8 bits with
    /// three or four channels are sRGB.
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

/// The texels beyond the edges of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextureWrap {
    Repeat,
    Mirror,
    Clamp,
    /// Transparent black.
    Black,
    /// The setting in the metadata of the image; `Black` if there is none, which is the usual case.
    #[default]
    UseMetadata,
}

/// An encoded image: PNG, JPEG, or any other format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texture {
    /// The asset path as authored in the file.
    pub asset: String,
    /// The path or package entry where the asset was found.
    pub resolved: String,
    /// The bytes of the file. Empty if it could not be read; there is a warning then. v = 0 is the
    /// lower edge of the image.
    pub bytes: Arc<[u8]>,
}
