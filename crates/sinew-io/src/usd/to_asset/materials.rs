//! UsdPreviewSurface as metallic-roughness materials.

use std::collections::HashMap;

use glam::{Vec3, Vec4};

use super::skeletons::name_of;
use super::textures::{Channel, Images, Wanted};
use sinew::error::Warning;
use sinew::scene::{ColorSource, DrawnMesh, Geometry, Input, Material, TextureChannel, TextureUse};
use sinew::skel::PrimvarInterpolation;
use sinew_animate::asset::{AlphaMode, AssetMaterial, TextureRef};

/// Materials and images while they are made, each once.
pub(super) struct MaterialTable<'a> {
    geometry: &'a Geometry,
    pub materials: Vec<AssetMaterial>,
    /// The prim of each material.
    pub paths: Vec<Option<String>>,
    pub images: Images<'a>,
    known: HashMap<(Option<usize>, Coloring), Made>,
}

/// A material as parts of meshes use it.
#[derive(Clone, Debug, Default)]
pub(super) struct Made {
    /// Index into the materials.
    pub material: Option<usize>,
    /// The primvars that its textures read, by set.
    pub uv_names: Vec<String>,
    /// Whether vertices have colours.
    pub colored: bool,
}

/// How displayColor and displayOpacity of a mesh are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Coloring {
    /// Not at all.
    #[default]
    None,
    /// One value, as bits of RGBA.
    Constant([u32; 4]),
    /// A value per vertex.
    Vertex { translucent: bool },
}

impl<'a> MaterialTable<'a> {
    pub fn new(geometry: &'a Geometry) -> Self {
        Self {
            geometry,
            materials: Vec::new(),
            paths: Vec::new(),
            images: Images::new(geometry),
            known: HashMap::new(),
        }
    }

    /// The material of a part of a mesh.
    pub fn of(&mut self, mesh: &DrawnMesh, material: Option<usize>) -> Made {
        let source = material.map(|m| &self.geometry.materials[m]);
        let reads_color = source.is_none_or(|s| s.color_source == ColorSource::DisplayColor);
        let coloring = match reads_color {
            true => coloring(mesh),
            false => Coloring::None,
        };
        if let Some(known) = self.known.get(&(material, coloring)) {
            return known.clone();
        }
        let made = self.make(source, coloring);
        self.known.insert((material, coloring), made.clone());
        made
    }

    fn make(&mut self, source: Option<&Material>, coloring: Coloring) -> Made {
        let mut made = Made {
            colored: matches!(coloring, Coloring::Vertex { .. }),
            ..Made::default()
        };
        let mut out = match source {
            Some(source) => self.surface(source, &mut made.uv_names),
            // Without a material and colours there is nothing to say.
            None if coloring == Coloring::None => return made,
            None => AssetMaterial {
                name: "displayColor".into(),
                metallic: 0.0,
                roughness: 0.5,
                ..AssetMaterial::default()
            },
        };
        match coloring {
            Coloring::None => {}
            Coloring::Constant(bits) => {
                let color = Vec4::from(bits.map(f32::from_bits));
                out.base_color = color.truncate().extend(out.base_color.w * color.w);
                if out.base_color.w < 1.0 && out.alpha_mode == AlphaMode::Opaque {
                    out.alpha_mode = AlphaMode::Blend;
                }
            }
            Coloring::Vertex { translucent } => {
                out.base_color = Vec4::new(1.0, 1.0, 1.0, out.base_color.w);
                if translucent && out.alpha_mode == AlphaMode::Opaque {
                    out.alpha_mode = AlphaMode::Blend;
                }
            }
        }
        self.materials.push(out);
        self.paths.push(source.map(|s| s.path.clone()));
        made.material = Some(self.materials.len() - 1);
        made
    }

    fn surface(&mut self, source: &Material, uv_names: &mut Vec<String>) -> AssetMaterial {
        let mut out = AssetMaterial {
            name: name_of(&source.path).to_owned(),
            ior: source.ior,
            toon: source.toon,
            ..AssetMaterial::default()
        };
        let mut surface = Surface {
            source,
            images: &mut self.images,
            uv_names,
        };
        surface.base_color(&mut out);
        surface.metal(&mut out);
        surface.normal(&mut out);
        surface.occlusion(&mut out);
        surface.emission(&mut out);
        surface.coat(&mut out);
        surface.reflection(&mut out);
        out
    }
}

/// A UsdPreviewSurface on its way to a material.
struct Surface<'a, 'g> {
    source: &'a Material,
    images: &'a mut Images<'g>,
    uv_names: &'a mut Vec<String>,
}

impl Surface<'_, '_> {
    fn warn(&mut self, code: &'static str, message: impl Into<String>) {
        let warning = Warning::new(code, &self.source.path, message);
        self.images.warnings.push(warning);
    }

    /// Diffuse colour in RGB and opacity in A, which are one image in glTF.
    fn base_color(&mut self, out: &mut AssetMaterial) {
        let (color, opacity) = (&self.source.diffuse_color, &self.source.opacity);
        let is_opaque = opacity.texture.is_none() && opacity.value >= 1.0;
        out.alpha_mode = match () {
            () if self.source.opacity_threshold > 0.0 => {
                AlphaMode::Mask(self.source.opacity_threshold)
            }
            () if is_opaque => AlphaMode::Opaque,
            () => AlphaMode::Blend,
        };
        if color.texture.is_none() && opacity.texture.is_none() {
            out.base_color = color.value.extend(opacity.value);
            return;
        }
        if let Some(texture) = &color.texture
            && let Some(alpha) = self.alpha_as_it_is(texture, is_opaque)
            && self.is_plain(texture, TextureChannel::Rgb, true)
        {
            out.base_color = texture.scale.truncate().extend(alpha);
            out.base_color_texture = Some(self.images.copy(texture, self.uv_names));
            return;
        }
        let rgb = |part: usize| Channel::new(&color.texture, part, color.value[part]);
        // A texture of opacity whose own channel is RGB gives R.
        let alpha = Channel::new(&opacity.texture, 0, opacity.value);
        let wanted = Wanted::color([rgb(0), rgb(1), rgb(2)], alpha, "_baseColor");
        out.base_color_texture = self.images.make(&wanted, self.uv_names);
        if out.base_color_texture.is_none() {
            out.base_color = color.value.extend(opacity.value);
        }
    }

    /// The factor of A if the image of the colour has the right opacity in it.
    fn alpha_as_it_is(&mut self, color: &TextureUse, is_opaque: bool) -> Option<f32> {
        if is_opaque {
            return Some(1.0);
        }
        let Some(opacity) = &self.source.opacity.texture else {
            let value = self.source.opacity.value;
            return (!self.images.has_alpha(color)).then_some(value);
        };
        let same = opacity.texture == color.texture
            && opacity.uv_primvar == color.uv_primvar
            && opacity.transform == color.transform;
        let is_alpha = opacity.channel == TextureChannel::A && opacity.bias.w == 0.0;
        (same && is_alpha).then_some(opacity.scale.w)
    }

    /// Whether glTF reads an image as the surface does: the channel is where it belongs, texels are
    /// in the right colour space, and there is no bias.
    fn is_plain(&mut self, texture: &TextureUse, channel: TextureChannel, srgb: bool) -> bool {
        let bias = match channel {
            TextureChannel::Rgb => texture.bias.truncate(),
            _ => Vec3::splat(part(texture.bias, channel)),
        };
        texture.channel == channel
            && bias == Vec3::ZERO
            && (channel == TextureChannel::A || self.images.is_srgb(texture) == srgb)
    }

    /// Roughness in G and metalness in B.
    fn metal(&mut self, out: &mut AssetMaterial) {
        let source = self.source;
        let (rough, metal) = (&source.roughness, &source.metallic);
        let metal = match source.specular_color {
            Some(_) => &Input::of(0.0),
            None => metal,
        };
        let (r, m) = (rough.texture.as_ref(), metal.texture.as_ref());
        let Some(first) = r.or(m) else {
            (out.roughness, out.metallic) = (rough.value, metal.value);
            return;
        };
        for texture in [r, m].into_iter().flatten() {
            self.say_color_space(texture);
        }
        let g = self.channel_factor(r, rough.value, TextureChannel::G);
        let b = self.channel_factor(m, metal.value, TextureChannel::B);
        let place = |t: &TextureUse| (t.texture, t.uv_primvar.clone(), t.transform);
        let together = [r, m]
            .into_iter()
            .flatten()
            .all(|t| place(t) == place(first));
        if let (Some(roughness), Some(metallic), true) = (g, b, together) {
            (out.roughness, out.metallic) = (roughness, metallic);
            let texture = self.images.copy(first, self.uv_names);
            out.metallic_roughness_texture = Some(texture);
            return;
        }
        let channels = [
            Channel::Constant(1.0),
            Channel::new(&rough.texture, 0, rough.value),
            Channel::new(&metal.texture, 0, metal.value),
        ];
        let wanted = Wanted::data(channels, "_metallicRoughness");
        match self.images.make(&wanted, self.uv_names) {
            Some(texture) => out.metallic_roughness_texture = Some(texture),
            None => (out.roughness, out.metallic) = (rough.value, metal.value),
        }
    }

    /// The factor of a channel of an image that is used as it is; `None` if the image does not have
    /// the value there. A constant 0 needs no image.
    fn channel_factor(
        &mut self,
        texture: Option<&TextureUse>,
        value: f32,
        channel: TextureChannel,
    ) -> Option<f32> {
        match texture {
            None => (value == 0.0).then_some(0.0),
            Some(texture) => {
                let plain = self.is_plain(texture, channel, false);
                plain
                    .then(|| part(texture.scale, channel))
                    .filter(|f| (0.0..=1.0).contains(f))
            }
        }
    }

    /// Says if it is not certain that the numbers of an image are no colours.
    fn say_color_space(&mut self, texture: &TextureUse) {
        if texture.srgb.is_none() && self.images.is_srgb(texture) {
            let message = "sourceColorSpace does not say that its numbers are no colours: they are decoded as sRGB, as UsdUVTexture says of 8 bits with three channels";
            self.images.warn("texture-color-space", texture, message);
        }
    }

    fn normal(&mut self, out: &mut AssetMaterial) {
        let Some(texture) = &self.source.normal else {
            return;
        };
        if texture.srgb != Some(false) && self.images.is_srgb(texture) {
            let message = "a normal map that is not raw: it is taken as raw, as glTF does";
            self.images.warn("texture-color-space", texture, message);
        }
        let (scale, bias) = (texture.scale, texture.bias);
        // Stored from 0 to 1, as glTF stores normals; their x and y may be scaled.
        let strength = scale.x / 2.0;
        let near = |a: f32, b: f32| (a - b).abs() < 1e-4;
        let plain = near(scale.y, scale.x)
            && near(bias.x, -strength)
            && near(bias.y, -strength)
            && near(scale.z, 2.0)
            && near(bias.z, -1.0);
        match plain {
            true => out.normal_scale = strength,
            false => self.warn(
                "normal-scale",
                format!(
                    "its normals have the scale {scale} and the bias {bias}: glTF takes 2 and -1"
                ),
            ),
        }
        out.normal_texture = Some(self.images.copy(texture, self.uv_names));
    }

    fn occlusion(&mut self, out: &mut AssetMaterial) {
        let occlusion = &self.source.occlusion;
        let Some(texture) = &occlusion.texture else {
            if occlusion.value < 1.0 {
                let value = occlusion.value;
                let message =
                    format!("glTF has no occlusion without a texture: {value} is left out");
                self.warn("occlusion-left-out", message);
            }
            return;
        };
        self.say_color_space(texture);
        // 1 + strength * (texel - 1)
        let (scale, bias) = (texture.scale.x, texture.bias.x);
        let plain = texture.channel == TextureChannel::R
            && !self.images.is_srgb(texture)
            && (scale + bias - 1.0).abs() < 1e-4
            && (0.0..=1.0).contains(&scale);
        if plain {
            out.occlusion_strength = scale;
            out.occlusion_texture = Some(self.images.copy(texture, self.uv_names));
            return;
        }
        let red = Channel::Of(texture.clone(), 0);
        let one = || Channel::Constant(1.0);
        let wanted = Wanted::data([red, one(), one()], "_occlusion");
        out.occlusion_texture = self.images.make(&wanted, self.uv_names);
    }

    /// A colour with a texture: factor and image.
    fn color(&mut self, input: &Input<Vec3>, suffix: &'static str) -> (Vec3, Option<TextureRef>) {
        let Some(texture) = &input.texture else {
            return (input.value, None);
        };
        if self.is_plain(texture, TextureChannel::Rgb, true) {
            let factor = texture.scale.truncate();
            return (factor, Some(self.images.copy(texture, self.uv_names)));
        }
        let channel = |part| Channel::Of(texture.clone(), part);
        let channels = [channel(0), channel(1), channel(2)];
        let wanted = Wanted::color(channels, Channel::Constant(1.0), suffix);
        match self.images.make(&wanted, self.uv_names) {
            Some(made) => (Vec3::ONE, Some(made)),
            None => (input.value, None),
        }
    }

    fn emission(&mut self, out: &mut AssetMaterial) {
        let (factor, texture) = self.color(&self.source.emissive_color.clone(), "_emissive");
        (out.emissive, out.emissive_texture) = (factor, texture);
    }

    /// A number with a texture in one channel: factor and image.
    fn number(
        &mut self,
        input: &Input<f32>,
        channel: TextureChannel,
        suffix: &'static str,
    ) -> (f32, Option<TextureRef>) {
        let Some(texture) = &input.texture else {
            return (input.value, None);
        };
        self.say_color_space(texture);
        if let Some(factor) = self.channel_factor(Some(texture), 0.0, channel) {
            return (factor, Some(self.images.copy(texture, self.uv_names)));
        }
        let all = || Channel::Of(texture.clone(), 0);
        let wanted = Wanted::data([all(), all(), all()], suffix);
        match self.images.make(&wanted, self.uv_names) {
            Some(made) => (1.0, Some(made)),
            None => (input.value, None),
        }
    }

    fn coat(&mut self, out: &mut AssetMaterial) {
        let (coat, rough) = (&self.source.clearcoat, &self.source.clearcoat_roughness);
        if coat.texture.is_none() && coat.value <= 0.0 {
            return;
        }
        (out.clearcoat, out.clearcoat_texture) = self.number(coat, TextureChannel::R, "_clearcoat");
        (out.clearcoat_roughness, out.clearcoat_roughness_texture) =
            self.number(rough, TextureChannel::G, "_clearcoatRoughness");
    }

    /// The specular workflow: reflections of a colour, without metal.
    fn reflection(&mut self, out: &mut AssetMaterial) {
        let Some(color) = self.source.specular_color.clone() else {
            return;
        };
        // glTF gives the colour as a factor of what the refraction reflects.
        let root = (out.ior - 1.0) / (out.ior + 1.0);
        let plain = root * root;
        if plain <= 0.0 {
            let message =
                "its reflections have a colour, but its refraction reflects nothing: left out";
            self.warn("material-specular", message);
            return;
        }
        let (factor, texture) = self.color(&color, "_specular");
        (out.specular_color, out.specular_color_texture) = (factor / plain, texture);
    }
}

/// The part of a texel that a channel is; the first for RGB.
fn part(v: Vec4, channel: TextureChannel) -> f32 {
    match channel {
        TextureChannel::Rgb | TextureChannel::R => v.x,
        TextureChannel::G => v.y,
        TextureChannel::B => v.z,
        TextureChannel::A => v.w,
    }
}

/// How a mesh is coloured if its material does not say.
fn coloring(mesh: &DrawnMesh) -> Coloring {
    let (color, opacity) = (&mesh.display_color, &mesh.display_opacity);
    let is_constant = |i: PrimvarInterpolation| i == PrimvarInterpolation::Constant;
    let varies = color
        .as_ref()
        .is_some_and(|c| !is_constant(c.interpolation))
        || opacity
            .as_ref()
            .is_some_and(|o| !is_constant(o.interpolation));
    let first_opacity = opacity.as_ref().and_then(|o| o.values.first());
    if varies {
        let below_1 = |values: &std::sync::Arc<Vec<f32>>| values.iter().any(|o| *o < 1.0);
        return Coloring::Vertex {
            translucent: first_opacity.is_some_and(below_1),
        };
    }
    if color.is_none() && opacity.is_none() {
        return Coloring::None;
    }
    let rgb = color.as_ref().and_then(|c| c.values.first());
    let rgb = rgb
        .and_then(|c| c.first().copied())
        .unwrap_or(Vec3::splat(0.18));
    let alpha = first_opacity
        .and_then(|o| o.first().copied())
        .unwrap_or(1.0);
    Coloring::Constant(rgb.extend(alpha).to_array().map(f32::to_bits))
}
