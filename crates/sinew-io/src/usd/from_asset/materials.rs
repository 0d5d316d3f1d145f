//! Materials as UsdPreviewSurface networks, with their textures.

use glam::{Vec3, Vec4};
use sinew_layer::value::AssetPath;
use sinew_layer::{Path, Value};

use super::convert::picture_path;
use super::layer::{LayerBuilder, PrimId};
use super::meshes::uv_name;
use crate::error::Result;
use crate::pictures::{UvParts, upside_down};
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
struct Network<'a> {
    layer: &'a mut LayerBuilder,
    material: PrimId,
    surface: PrimId,
    asset: &'a Asset,
    /// Readers of uv sets, by name.
    readers: Vec<(usize, Path)>,
    /// Pictures that it names: asset path and image.
    images: Vec<(String, usize)>,
    warnings: &'a mut Vec<Warning>,
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

fn author_id(layer: &mut LayerBuilder, shader: PrimId, id: &str) -> Result<()> {
    let id = Value::token(id);
    layer.uniform(shader, "info:id", "token", id)?;
    Ok(())
}

fn output_path(layer: &LayerBuilder, shader: PrimId, output: &str) -> Path {
    layer.path(shader).property(&format!("outputs:{output}"))
}

fn color(v: Vec4) -> Value {
    Value::Vec3f(v.truncate().to_array())
}

impl Network<'_> {
    fn input(&mut self, name: &str, type_name: &str, value: Value) -> Result<()> {
        let name = format!("inputs:{name}");
        self.layer.set(self.surface, &name, type_name, value)
    }

    fn connect(&mut self, name: &str, type_name: &str, source: Path) -> Result<()> {
        let name = format!("inputs:{name}");
        self.layer
            .attribute(self.surface, &name, type_name)?
            .connect(source);
        Ok(())
    }

    /// Authors an input that reads an output of a texture. Without a texture it has `value`; without
    /// both it is not authored.
    fn author(
        &mut self,
        (name, type_name): (&str, &str),
        (texture, output): (Option<PrimId>, &str),
        value: Option<Value>,
    ) -> Result<()> {
        match (texture, value) {
            (Some(texture), _) => {
                let source = output_path(self.layer, texture, output);
                self.connect(name, type_name, source)
            }
            (None, Some(value)) => self.input(name, type_name, value),
            (None, None) => Ok(()),
        }
    }

    fn warn(&mut self, code: &'static str, message: impl Into<String>) {
        let path = self.layer.path(self.material).as_str();
        self.warnings.push(Warning::new(code, path, message));
    }

    /// Base colour and opacity; without lighting the surface glows in its colour and reflects nothing.
    fn author_base(&mut self, source: &AssetMaterial) -> Result<()> {
        let name = match source.unlit {
            true => "emissiveColor",
            false => "diffuseColor",
        };
        let passing = self.passing(source);
        let alpha = match source.alpha_mode {
            AlphaMode::Opaque => source.base_color.w,
            AlphaMode::Mask(_) | AlphaMode::Blend => source.base_color.w * (1.0 - passing),
        };
        let scale = source.base_color.truncate().extend(alpha);
        let sampling = Sampling::color("BaseColor", scale);
        let texture = self.texture(&source.base_color_texture, &sampling, &["rgb", "a"])?;
        match texture {
            None if self.misses_image(&source.base_color_texture) => {
                self.author_missing(&sampling, name)?;
            }
            _ => {
                let value = color(source.base_color);
                self.author((name, "color3f"), (texture, "rgb"), Some(value))?;
            }
        }
        if source.alpha_mode != AlphaMode::Opaque {
            let alpha = Value::Float(alpha);
            self.author(("opacity", "float"), (texture, "a"), Some(alpha))?;
        } else if passing > 0.0 {
            self.author_passing(source, passing)?;
        }
        if let AlphaMode::Mask(threshold) = source.alpha_mode {
            let threshold = Value::Float(threshold);
            self.input("opacityThreshold", "float", threshold)?;
        }
        if source.unlit {
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
        let sampling = Sampling::data("Transmission", Vec4::splat(-passing), Vec4::ONE);
        let texture = self.texture(&source.transmission_texture, &sampling, &["r"])?;
        let value = Value::Float(1.0 - passing);
        self.author(("opacity", "float"), (texture, "r"), Some(value))
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
            let reflected = (tint * plain).min(Vec3::ONE).extend(1.0);
            let sampling = Sampling::color("Specular", reflected);
            let texture = self.texture(&source.specular_color_texture, &sampling, &["rgb"])?;
            let value = Some(color(reflected));
            self.author(("specularColor", "color3f"), (texture, "rgb"), value)?;
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
        let (coat, rough) = (source.clearcoat, source.clearcoat_roughness);
        let rough_texture = &source.clearcoat_roughness_texture;
        for (input, shader, channel, factor, texture) in [
            (
                "clearcoat",
                "Clearcoat",
                "r",
                coat,
                &source.clearcoat_texture,
            ),
            (
                "clearcoatRoughness",
                "ClearcoatRoughness",
                "g",
                rough,
                rough_texture,
            ),
        ] {
            let sampling = Sampling::data(shader, Vec4::splat(factor), Vec4::ZERO);
            let texture = self.texture(texture, &sampling, &[channel])?;
            let value = Value::Float(factor);
            self.author((input, "float"), (texture, channel), Some(value))?;
        }
        Ok(())
    }

    fn author_metal(&mut self, source: &AssetMaterial) -> Result<()> {
        let scale = Vec4::new(1.0, source.roughness, source.metallic, 1.0);
        let sampling = Sampling::data("MetallicRoughness", scale, Vec4::ZERO);
        let texture = self.texture(&source.metallic_roughness_texture, &sampling, &["g", "b"])?;
        let (roughness, metallic) = (
            Value::Float(source.roughness),
            Value::Float(source.metallic),
        );
        self.author(("roughness", "float"), (texture, "g"), Some(roughness))?;
        self.author(("metallic", "float"), (texture, "b"), Some(metallic))
    }

    fn author_details(&mut self, source: &AssetMaterial) -> Result<()> {
        // A scale would go into the texture's, where UsdValidation takes nothing but these.
        let normal = Sampling::data(
            "Normal",
            Vec4::new(2.0, 2.0, 2.0, 1.0),
            Vec4::new(-1.0, -1.0, -1.0, 0.0),
        );
        if source.normal_texture.is_some() && source.normal_scale != 1.0 {
            let message = format!("its normals' scale of {} is left out", source.normal_scale);
            self.warn("normal-scale", message);
        }
        let texture = self.texture(&source.normal_texture, &normal, &["rgb"])?;
        self.author(("normal", "normal3f"), (texture, "rgb"), None)?;

        let s = source.occlusion_strength;
        let occlusion = Sampling::data(
            "Occlusion",
            Vec4::new(s, s, s, 1.0),
            Vec4::new(1.0 - s, 1.0 - s, 1.0 - s, 0.0),
        );
        let texture = self.texture(&source.occlusion_texture, &occlusion, &["r"])?;
        self.author(("occlusion", "float"), (texture, "r"), None)?;

        let scale = source.emissive.extend(1.0);
        let emissive = Sampling::color("Emissive", scale);
        let texture = self.texture(&source.emissive_texture, &emissive, &["rgb"])?;
        // Without the picture that says where, nothing glows.
        let glows = source.emissive_texture.is_none() && source.emissive.length_squared() > 0.0;
        let value = glows.then(|| color(scale));
        self.author(("emissiveColor", "color3f"), (texture, "rgb"), value)
    }
}

/// Endings of pictures that USD renderers read.
const READABLE: [&str; 5] = ["png", "jpg", "jpeg", "exr", "avif"];

/// How a texture's channels become an input.
struct Sampling {
    name: &'static str,
    scale: Vec4,
    bias: Vec4,
    color_space: &'static str,
}

impl Sampling {
    /// Colours, which images hold as sRGB.
    fn color(name: &'static str, scale: Vec4) -> Self {
        Self {
            name,
            scale,
            bias: Vec4::ZERO,
            color_space: "sRGB",
        }
    }

    /// Numbers that are no colours.
    fn data(name: &'static str, scale: Vec4, bias: Vec4) -> Self {
        Self {
            name,
            scale,
            bias,
            color_space: "raw",
        }
    }
}

impl Network<'_> {
    /// A UsdUVTexture; none where there is no picture that renderers read.
    fn texture(
        &mut self,
        texture: &Option<TextureRef>,
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
                    "{} is not an image that USD renderers read: left out",
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
        layer.set(shader, "inputs:file", "asset", file)?;
        layer.attribute(shader, "inputs:st", "float2")?.connect(st);
        for (name, wrap) in [
            ("inputs:wrapS", texture.wrap_s),
            ("inputs:wrapT", texture.wrap_t),
        ] {
            let wrap = match wrap {
                Wrap::Repeat => "repeat",
                Wrap::Mirror => "mirror",
                Wrap::Clamp => "clamp",
            };
            layer.set(shader, name, "token", Value::token(wrap))?;
        }
        let color_space = Value::token(sampling.color_space);
        layer.set(shader, "inputs:sourceColorSpace", "token", color_space)?;
        for (name, value, plain) in [
            ("inputs:scale", sampling.scale, Vec4::ONE),
            ("inputs:bias", sampling.bias, Vec4::ZERO),
        ] {
            if value != plain {
                layer.set(shader, name, "float4", float4(value))?;
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
    fn misses_image(&self, texture: &Option<TextureRef>) -> bool {
        let image = texture.as_ref().map(|t| self.asset.images.get(t.image));
        image.is_some_and(|image| image.is_none_or(|i| i.bytes.is_empty()))
    }

    /// A UsdUVTexture without a file: renderers take its fallback, which is the colour's factor.
    fn author_missing(&mut self, sampling: &Sampling, input: &str) -> Result<()> {
        let layer = &mut *self.layer;
        let shader = layer.define(self.material, &[sampling.name], "Shader")?;
        author_id(layer, shader, "UsdUVTexture")?;
        let fallback = float4(sampling.scale);
        layer.set(shader, "inputs:fallback", "float4", fallback)?;
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
                    .set(shader, "inputs:varname", "string", varname)?;
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
        let parts = UvParts::of(upside_down(transform));
        let degrees = Value::Float(parts.angle.to_degrees());
        let translation = Value::Vec2f(parts.translation);
        for (name, type_name, value) in [
            ("inputs:rotation", "float", degrees),
            ("inputs:scale", "float2", Value::Vec2f(parts.scale)),
            ("inputs:translation", "float2", translation),
        ] {
            self.layer.set(shader, name, type_name, value)?;
        }
        self.layer.attribute(shader, "outputs:result", "float2")?;
        Ok(output_path(self.layer, shader, "result"))
    }
}

fn float4(v: Vec4) -> Value {
    Value::Vec4f(v.to_array())
}
