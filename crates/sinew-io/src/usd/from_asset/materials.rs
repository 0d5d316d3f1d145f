//! Materials as UsdPreviewSurface networks, with their textures.

use glam::{Mat3, Vec3, Vec4};
use sinew_layer::value::AssetPath;
use sinew_layer::{Path, Value};

use super::convert::picture_path;
use super::layer::{LayerBuilder, PrimId};
use super::meshes::uv_name;
use crate::error::Result;
use sinew::error::Warning;
use sinew::scene::Toon;
use sinew_animate::asset::{AlphaMode, Asset, AssetMaterial, TextureRef, Wrap};

/// The index of refraction of glTF and of UsdPreviewSurface where none is given.
const DEFAULT_IOR: f32 = 1.5;

/// Difference of a colour's parts, relative to the largest, at which it counts as grey.
const GREY: f32 = 1e-3;

/// Attributes of a Material prim for the two tones of [`Toon`]. Other renderers ignore them.
pub(in crate::usd) const SHADE_COLOR: &str = "sinew:toon:shadeColor";
pub(in crate::usd) const SHADE_USES_IMAGE: &str = "sinew:toon:shadeUsesImage";
pub(in crate::usd) const SHADE_SHIFT: &str = "sinew:toon:shift";
pub(in crate::usd) const SHADE_TOONY: &str = "sinew:toon:toony";

/// The network of one material while it is built.
pub(super) struct Network<'a> {
    pub layer: &'a mut LayerBuilder,
    pub material: PrimId,
    surface: PrimId,
    pub asset: &'a Asset,
    /// Readers of uv sets, by name.
    pub readers: Vec<(usize, Path)>,
    /// Pictures that it names: asset path and image.
    pub images: Vec<(String, usize)>,
    pub warnings: &'a mut Vec<Warning>,
}

/// Authors a Material prim with its shaders. Gives the pictures that it names, as asset path and image.
pub(super) fn author_material(
    layer: &mut LayerBuilder,
    scope: PrimId,
    asset: &Asset,
    index: usize,
    warnings: &mut Vec<Warning>,
) -> Result<(PrimId, Vec<(String, usize)>)> {
    let source = &asset.materials[index];
    let material = layer.define(scope, &[&source.name, "Material"], "Material")?;
    layer.display_name(material, &source.name);
    layer.extras(material, source.extras.as_ref())?;
    let surface = layer.define(material, &["Surface"], "Shader")?;
    author_id(layer, surface, "UsdPreviewSurface")?;
    let output = output_path(layer, surface, "surface");
    layer
        .attribute(material, "outputs:surface", "token")?
        .connect(output);
    let mut network = Network {
        layer,
        material,
        surface,
        asset,
        readers: Vec::new(),
        images: Vec::new(),
        warnings,
    };
    network.author_base(source)?;
    if !source.unlit {
        network.author_metal(source)?;
        network.author_details(source)?;
        network.author_reflection(source)?;
        network.author_coat(source)?;
    }
    let images = network.images;
    layer.attribute(surface, "outputs:surface", "token")?;
    if let Some(toon) = &source.toon {
        author_toon(layer, material, toon)?;
    }
    Ok((material, images))
}

fn author_toon(layer: &mut LayerBuilder, material: PrimId, toon: &Toon) -> Result<()> {
    for (name, type_name, value) in [
        (
            SHADE_COLOR,
            "color3f",
            Value::Vec3f(toon.shade_color.to_array()),
        ),
        (SHADE_USES_IMAGE, "bool", Value::Bool(toon.shade_uses_image)),
        (SHADE_SHIFT, "float", Value::Float(toon.shift)),
        (SHADE_TOONY, "float", Value::Float(toon.toony)),
    ] {
        layer.uniform(material, name, type_name, value)?;
    }
    Ok(())
}

pub(super) fn author_id(layer: &mut LayerBuilder, shader: PrimId, id: &str) -> Result<()> {
    let id = Value::token(id);
    layer.uniform(shader, "info:id", "token", id)?;
    Ok(())
}

pub(super) fn output_path(layer: &LayerBuilder, shader: PrimId, output: &str) -> Path {
    layer.path(shader).property(&format!("outputs:{output}"))
}

fn color(v: Vec4) -> Value {
    Value::Vec3f(v.truncate().to_array())
}

impl Network<'_> {
    fn input(&mut self, name: &str, type_name: &str, value: Value) -> Result<()> {
        let name = format!("inputs:{name}");
        self.layer
            .attribute(self.surface, &name, type_name)?
            .value(value);
        Ok(())
    }

    fn connect(&mut self, name: &str, type_name: &str, source: Path) -> Result<()> {
        let name = format!("inputs:{name}");
        self.layer
            .attribute(self.surface, &name, type_name)?
            .connect(source);
        Ok(())
    }

    fn warn(&mut self, code: &'static str, message: impl Into<String>) {
        let path = self.layer.path(self.material).as_str();
        self.warnings.push(Warning::new(code, path, message));
    }

    /// Base colour and opacity; without lighting the surface glows in its colour and reflects nothing.
    fn author_base(&mut self, source: &AssetMaterial) -> Result<()> {
        let (name, dark) = match source.unlit {
            true => ("emissiveColor", true),
            false => ("diffuseColor", false),
        };
        let passing = self.passing(source);
        let alpha = match source.alpha_mode {
            AlphaMode::Opaque => source.base_color.w,
            AlphaMode::Mask(_) | AlphaMode::Blend => source.base_color.w * (1.0 - passing),
        };
        let sampling = Sampling {
            name: "BaseColor",
            scale: source.base_color.truncate().extend(alpha),
            bias: Vec4::ZERO,
            color_space: "sRGB",
        };
        let texture = self.texture(source.base_color_texture.as_ref(), &sampling, &["rgb", "a"])?;
        match texture {
            Some(texture) => {
                let rgb = output_path(self.layer, texture, "rgb");
                self.connect(name, "color3f", rgb)?;
                if source.alpha_mode != AlphaMode::Opaque {
                    let alpha = output_path(self.layer, texture, "a");
                    self.connect("opacity", "float", alpha)?;
                }
            }
            None if self.misses_image(source.base_color_texture.as_ref()) => {
                self.author_missing(&sampling, name)?;
                if source.alpha_mode != AlphaMode::Opaque {
                    let alpha = Value::Float(sampling.scale.w);
                    self.input("opacity", "float", alpha)?;
                }
            }
            None => {
                self.input(name, "color3f", color(source.base_color))?;
                if source.alpha_mode != AlphaMode::Opaque {
                    let alpha = Value::Float(sampling.scale.w);
                    self.input("opacity", "float", alpha)?;
                }
            }
        }
        if source.alpha_mode == AlphaMode::Opaque && passing > 0.0 {
            self.author_passing(source, passing)?;
        }
        if let AlphaMode::Mask(threshold) = source.alpha_mode {
            let threshold = Value::Float(threshold);
            self.input("opacityThreshold", "float", threshold)?;
        }
        if dark {
            self.input("diffuseColor", "color3f", color(Vec4::ZERO))?;
            self.input("metallic", "float", Value::Float(0.0))?;
            self.input("roughness", "float", Value::Float(1.0))?;
            // A refraction of 1 reflects nothing.
            self.input("ior", "float", Value::Float(1.0))?;
        }
        Ok(())
    }

    /// The share of light that a transmissive surface lets through, as far as opacity can say so.
    fn passing(&mut self, source: &AssetMaterial) -> f32 {
        // Metal lets nothing through.
        let metallic = match source.metallic_roughness_texture {
            Some(_) => 0.0,
            None => source.metallic,
        };
        let passing = source.transmission * (1.0 - metallic);
        if source.unlit || passing <= 0.0 {
            return 0.0;
        }
        let is_textured = source.transmission_texture.is_some();
        let message = match source.alpha_mode {
            AlphaMode::Mask(_) => "its transmission is left out, since its alpha is a mask",
            AlphaMode::Blend if is_textured => {
                "its transmission is part of its opacity, without refraction and without the texture"
            }
            _ => "its transmission is part of its opacity, without refraction",
        };
        self.warn("material-transmission", message);
        match source.alpha_mode {
            AlphaMode::Mask(_) => 0.0,
            _ => passing,
        }
    }

    /// Opacity of an opaque material that lets light through.
    fn author_passing(&mut self, source: &AssetMaterial, passing: f32) -> Result<()> {
        let sampling = Sampling {
            name: "Transmission",
            scale: Vec4::splat(-passing),
            bias: Vec4::ONE,
            color_space: "raw",
        };
        let texture = source.transmission_texture.as_ref();
        match self.texture(texture, &sampling, &["r"])? {
            Some(texture) => {
                let r = output_path(self.layer, texture, "r");
                self.connect("opacity", "float", r)
            }
            None => self.input("opacity", "float", Value::Float(1.0 - passing)),
        }
    }

    /// How much a dielectric reflects: the index of refraction, with the strength of reflections in
    /// it. Only coloured reflections need the specular workflow, which has no metal.
    fn author_reflection(&mut self, source: &AssetMaterial) -> Result<()> {
        let tint = source.specular_color * source.specular;
        let is_grey = tint.max_element() - tint.min_element() <= GREY * tint.max_element();
        let is_metal = source.metallic > 0.0;
        let has_texture = source.specular_color_texture.is_some();
        if source.specular_texture.is_some() || (is_metal && (has_texture || !is_grey)) {
            let message = "parts of its reflections are left out: UsdPreviewSurface has no texture \
                           of their strength, and no colour of them beside metal";
            self.warn("material-specular", message);
        }
        // The share of light that is reflected at normal incidence.
        let root = (source.ior - 1.0) / (source.ior + 1.0);
        let plain = root * root;
        if !is_metal && (has_texture || !is_grey) {
            let reflected = (tint * plain).min(Vec3::ONE);
            let sampling = Sampling {
                name: "Specular",
                scale: reflected.extend(1.0),
                bias: Vec4::ZERO,
                color_space: "sRGB",
            };
            let texture = source.specular_color_texture.as_ref();
            match self.texture(texture, &sampling, &["rgb"])? {
                Some(texture) => {
                    let rgb = output_path(self.layer, texture, "rgb");
                    self.connect("specularColor", "color3f", rgb)?;
                }
                None => self.input("specularColor", "color3f", color(sampling.scale))?,
            }
            return self.input("useSpecularWorkflow", "int", Value::Int(1));
        }
        let strength = tint.element_sum() / 3.0;
        if strength == 1.0 && source.ior == DEFAULT_IOR {
            return Ok(());
        }
        let ior = match strength == 1.0 {
            true => source.ior,
            false => {
                let root = (plain * strength).sqrt().min(0.99);
                (1.0 + root) / (1.0 - root)
            }
        };
        self.input("ior", "float", Value::Float(ior))
    }

    fn author_coat(&mut self, source: &AssetMaterial) -> Result<()> {
        if source.clearcoat <= 0.0 {
            return Ok(());
        }
        let roughness = source.clearcoat_roughness;
        for (input, shader, channel, factor, texture) in [
            (
                "clearcoat",
                "Clearcoat",
                "r",
                source.clearcoat,
                &source.clearcoat_texture,
            ),
            (
                "clearcoatRoughness",
                "ClearcoatRoughness",
                "g",
                roughness,
                &source.clearcoat_roughness_texture,
            ),
        ] {
            let sampling = Sampling {
                name: shader,
                scale: Vec4::splat(factor),
                bias: Vec4::ZERO,
                color_space: "raw",
            };
            match self.texture(texture.as_ref(), &sampling, &[channel])? {
                Some(texture) => {
                    let channel = output_path(self.layer, texture, channel);
                    self.connect(input, "float", channel)?;
                }
                None => self.input(input, "float", Value::Float(factor))?,
            }
        }
        Ok(())
    }

    fn author_metal(&mut self, source: &AssetMaterial) -> Result<()> {
        let sampling = Sampling {
            name: "MetallicRoughness",
            scale: Vec4::new(1.0, source.roughness, source.metallic, 1.0),
            bias: Vec4::ZERO,
            color_space: "raw",
        };
        let texture = source.metallic_roughness_texture.as_ref();
        let texture = self.texture(texture, &sampling, &["g", "b"])?;
        let parts = [
            ("roughness", "g", source.roughness),
            ("metallic", "b", source.metallic),
        ];
        for (name, channel, factor) in parts {
            match texture {
                Some(texture) => {
                    let channel = output_path(self.layer, texture, channel);
                    self.connect(name, "float", channel)?;
                }
                None => self.input(name, "float", Value::Float(factor))?,
            }
        }
        Ok(())
    }

    fn author_details(&mut self, source: &AssetMaterial) -> Result<()> {
        let normal = Sampling {
            name: "Normal",
            scale: Vec4::new(2.0, 2.0, 2.0, 1.0),
            bias: Vec4::new(-1.0, -1.0, -1.0, 0.0),
            color_space: "raw",
        };
        // A scale would go into the texture's, where UsdValidation takes nothing but these.
        if source.normal_texture.is_some() && source.normal_scale != 1.0 {
            let message = format!("its normals' scale of {} is left out", source.normal_scale);
            self.warn("normal-scale", message);
        }
        if let Some(texture) = self.texture(source.normal_texture.as_ref(), &normal, &["rgb"])? {
            let rgb = output_path(self.layer, texture, "rgb");
            self.connect("normal", "normal3f", rgb)?;
        }
        let s = source.occlusion_strength;
        let occlusion = Sampling {
            name: "Occlusion",
            scale: Vec4::new(s, s, s, 1.0),
            bias: Vec4::new(1.0 - s, 1.0 - s, 1.0 - s, 0.0),
            color_space: "raw",
        };
        if let Some(texture) =
            self.texture(source.occlusion_texture.as_ref(), &occlusion, &["r"])?
        {
            let r = output_path(self.layer, texture, "r");
            self.connect("occlusion", "float", r)?;
        }
        let emissive = Sampling {
            name: "Emissive",
            scale: source.emissive.extend(1.0),
            bias: Vec4::ZERO,
            color_space: "sRGB",
        };
        match self.texture(source.emissive_texture.as_ref(), &emissive, &["rgb"])? {
            Some(texture) => {
                let rgb = output_path(self.layer, texture, "rgb");
                self.connect("emissiveColor", "color3f", rgb)
            }
            // Without the picture that says where, nothing glows.
            None if source.emissive_texture.is_none() && source.emissive.length_squared() > 0.0 => {
                self.input("emissiveColor", "color3f", color(emissive.scale))
            }
            None => Ok(()),
        }
    }
}

/// Endings of pictures that USD renderers read.
const READABLE: [&str; 5] = ["png", "jpg", "jpeg", "exr", "avif"];

/// How a texture's channels become an input.
pub(super) struct Sampling {
    pub name: &'static str,
    pub scale: Vec4,
    pub bias: Vec4,
    pub color_space: &'static str,
}

impl Network<'_> {
    /// A UsdUVTexture; none where there is no picture that renderers read.
    pub(super) fn texture(
        &mut self,
        texture: Option<&TextureRef>,
        sampling: &Sampling,
        outputs: &[&str],
    ) -> Result<Option<PrimId>> {
        let Some(texture) = texture else {
            return Ok(None);
        };
        let Some(image) = self.asset.images.get(texture.image) else {
            return Ok(None);
        };
        if image.bytes.is_empty() {
            return Ok(None);
        }
        let (_, extension) = image.file_name.rsplit_once('.').unwrap_or_default();
        if !READABLE.iter().any(|r| extension.eq_ignore_ascii_case(r)) {
            self.warnings.push(Warning::new(
                "texture-format",
                self.layer.path(self.material).as_str(),
                format!(
                    "{} is no picture that USD renderers read: left out",
                    image.file_name
                ),
            ));
            return Ok(None);
        }
        let st = self.uv_source(texture, sampling.name)?;
        let path = picture_path(&image.file_name);
        let layer = &mut *self.layer;
        let shader = layer.define(self.material, &[sampling.name], "Shader")?;
        author_id(layer, shader, "UsdUVTexture")?;
        let file = Value::AssetPath(AssetPath(path.as_str().into()));
        layer.attribute(shader, "inputs:file", "asset")?.value(file);
        layer.attribute(shader, "inputs:st", "float2")?.connect(st);
        for (name, wrap) in [("wrapS", texture.wrap_s), ("wrapT", texture.wrap_t)] {
            let wrap = match wrap {
                Wrap::Repeat => "repeat",
                Wrap::Mirror => "mirror",
                Wrap::Clamp => "clamp",
            };
            layer
                .attribute(shader, &format!("inputs:{name}"), "token")?
                .value(Value::token(wrap));
        }
        let color_space = Value::token(sampling.color_space);
        layer
            .attribute(shader, "inputs:sourceColorSpace", "token")?
            .value(color_space);
        for (name, value, plain) in [
            ("inputs:scale", sampling.scale, Vec4::ONE),
            ("inputs:bias", sampling.bias, Vec4::ZERO),
        ] {
            if value != plain {
                layer
                    .attribute(shader, name, "float4")?
                    .value(float4(value));
            }
        }
        for output in outputs {
            let type_name = if *output == "rgb" { "float3" } else { "float" };
            layer.attribute(shader, &format!("outputs:{output}"), type_name)?;
        }
        self.images.push((path, texture.image));
        Ok(Some(shader))
    }

    /// Whether a material refers to an image that could not be read. The reader has warned of it.
    fn misses_image(&self, texture: Option<&TextureRef>) -> bool {
        let image = texture.map(|t| self.asset.images.get(t.image));
        image.is_some_and(|image| image.is_none_or(|i| i.bytes.is_empty()))
    }

    /// A UsdUVTexture without a file: renderers take its fallback, which is the colour's factor.
    fn author_missing(&mut self, sampling: &Sampling, input: &str) -> Result<()> {
        let layer = &mut *self.layer;
        let shader = layer.define(self.material, &[sampling.name], "Shader")?;
        author_id(layer, shader, "UsdUVTexture")?;
        let fallback = float4(sampling.scale);
        layer
            .attribute(shader, "inputs:fallback", "float4")?
            .value(fallback);
        layer.attribute(shader, "outputs:rgb", "float3")?;
        let rgb = output_path(layer, shader, "rgb");
        self.connect(input, "color3f", rgb)
    }

    /// What gives the texture's uvs: the reader of its set, or a transform behind that.
    fn uv_source(&mut self, texture: &TextureRef, name: &str) -> Result<Path> {
        let known = self.readers.iter().find(|(set, _)| *set == texture.uv_set);
        let reader = match known {
            Some((_, path)) => path.clone(),
            None => {
                let varname = uv_name(texture.uv_set);
                let name = format!("Reader_{varname}");
                let shader = self.layer.define(self.material, &[&name], "Shader")?;
                author_id(self.layer, shader, "UsdPrimvarReader_float2")?;
                let varname = Value::string(varname);
                self.layer
                    .attribute(shader, "inputs:varname", "string")?
                    .value(varname);
                self.layer.attribute(shader, "outputs:result", "float2")?;
                let path = output_path(self.layer, shader, "result");
                self.readers.push((texture.uv_set, path.clone()));
                path
            }
        };
        let Some(transform) = texture.transform else {
            return Ok(reader);
        };
        let shader = self
            .layer
            .define(self.material, &[&format!("{name}Transform")], "Shader")?;
        author_id(self.layer, shader, "UsdTransform2d")?;
        self.layer
            .attribute(shader, "inputs:in", "float2")?
            .connect(reader);
        let parts = uv_parts(transform);
        for (name, type_name, value) in [
            ("inputs:rotation", "float", Value::Float(parts.degrees)),
            ("inputs:scale", "float2", Value::Vec2f(parts.scale)),
            (
                "inputs:translation",
                "float2",
                Value::Vec2f(parts.translation),
            ),
        ] {
            self.layer.attribute(shader, name, type_name)?.value(value);
        }
        self.layer.attribute(shader, "outputs:result", "float2")?;
        Ok(output_path(self.layer, shader, "result"))
    }
}

fn float4(v: Vec4) -> Value {
    Value::Vec4f(v.to_array())
}

/// A transform of uvs: scaled, then turned counter-clockwise, then moved.
#[derive(Debug)]
struct UvParts {
    degrees: f32,
    scale: [f32; 2],
    translation: [f32; 2],
}

/// A transform of glTF's uvs, v downward, as one of USD's, v upward.
fn uv_parts(transform: Mat3) -> UvParts {
    let flip = Mat3::from_cols_array(&[1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 1.0, 1.0]);
    let m = flip * transform * flip;
    let (u, v) = (m.x_axis.truncate(), m.y_axis.truncate());
    let width = u.length();
    let angle = if width > 0.0 {
        u.y.atan2(u.x)
    } else {
        (-v.x).atan2(v.y)
    };
    let (sin, cos) = angle.sin_cos();
    UvParts {
        degrees: angle.to_degrees(),
        scale: [width, cos * v.y - sin * v.x],
        translation: [m.z_axis.x, m.z_axis.y],
    }
}

#[cfg(test)]
mod tests {
    use glam::{Mat2, Vec2};

    use super::*;

    #[test]
    fn uv_transforms_are_the_same_after_the_flip() {
        let flip = |uv: Vec2| Vec2::new(uv.x, 1.0 - uv.y);
        // KHR_texture_transform: offset, counter-clockwise rotation, scale.
        let (offset, angle, scale) = (Vec2::new(0.3, -0.2), 0.7f32, Vec2::new(2.0, -0.5));
        let (s, c) = angle.sin_cos();
        let linear = Mat2::from_cols_array(&[c, -s, s, c]) * Mat2::from_diagonal(scale);
        let transform = Mat3::from_cols(
            linear.x_axis.extend(0.0),
            linear.y_axis.extend(0.0),
            offset.extend(1.0),
        );
        let parts = uv_parts(transform);
        for uv in [Vec2::ZERO, Vec2::X, Vec2::new(0.2, 0.9)] {
            let want = flip(transform.transform_point2(uv));
            let scaled = flip(uv) * Vec2::from(parts.scale);
            let turned = Mat2::from_angle(parts.degrees.to_radians()) * scaled;
            let got = turned + Vec2::from(parts.translation);
            assert!(got.abs_diff_eq(want, 1e-5), "{got} for {want}");
        }
    }
}
