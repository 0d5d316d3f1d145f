//! Materials as UsdPreviewSurface networks.

use glam::Vec4;
use openusd::{gf, sdf};

use super::layer::{LayerBuilder, PrimId};
use super::textures::Sampling;
use sinew::error::{Result, Warning};
use sinew_animate::asset::{AlphaMode, Asset, Material};

/// The network of one material while it is built.
pub(super) struct Network<'a> {
    pub layer: &'a mut LayerBuilder,
    pub material: PrimId,
    surface: PrimId,
    pub asset: &'a Asset,
    /// Readers of uv sets, by name.
    pub readers: Vec<(usize, sdf::Path)>,
    /// Pictures that it names: asset path and image.
    pub images: Vec<(String, usize)>,
    pub warnings: &'a mut Vec<Warning>,
}

/// Authors a Material with its shaders. Gives the pictures that it names, as asset path and image.
pub(super) fn author_material(
    layer: &mut LayerBuilder,
    scope: PrimId,
    asset: &Asset,
    index: usize,
    warnings: &mut Vec<Warning>,
) -> Result<(PrimId, Vec<(String, usize)>)> {
    let source = &asset.materials[index];
    let material = layer.define(scope, &[&source.name, "Material"], "Material")?;
    let surface = layer.define(material, &["Surface"], "Shader")?;
    author_id(layer, surface, "UsdPreviewSurface")?;
    let output = output_path(layer, surface, "surface")?;
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
    }
    let images = network.images;
    layer.attribute(surface, "outputs:surface", "token")?;
    Ok((material, images))
}

pub(super) fn author_id(layer: &mut LayerBuilder, shader: PrimId, id: &str) -> Result<()> {
    let id = sdf::Value::token(id);
    layer.uniform(shader, "info:id", "token", id)?;
    Ok(())
}

pub(super) fn output_path(layer: &LayerBuilder, shader: PrimId, output: &str) -> Result<sdf::Path> {
    let path = layer
        .path(shader)
        .append_property(format!("outputs:{output}"));
    path.map_err(|e| sinew::error::Error::Request(format!("no path in a layer: {e}")))
}

fn color(v: Vec4) -> sdf::Value {
    sdf::Value::Vec3f(gf::vec3f(v.x, v.y, v.z))
}

impl Network<'_> {
    fn input(&mut self, name: &str, type_name: &str, value: sdf::Value) -> Result<()> {
        let name = format!("inputs:{name}");
        self.layer
            .attribute(self.surface, &name, type_name)?
            .value(value);
        Ok(())
    }

    fn connect(&mut self, name: &str, type_name: &str, source: sdf::Path) -> Result<()> {
        let name = format!("inputs:{name}");
        self.layer
            .attribute(self.surface, &name, type_name)?
            .connect(source);
        Ok(())
    }

    /// Base colour and opacity; without lighting the surface glows in its colour and reflects nothing.
    fn author_base(&mut self, source: &Material) -> Result<()> {
        let (name, dark) = match source.unlit {
            true => ("emissiveColor", true),
            false => ("diffuseColor", false),
        };
        let sampling = Sampling {
            name: "BaseColor",
            scale: source.base_color,
            bias: Vec4::ZERO,
            color_space: "sRGB",
        };
        let texture = self.texture(source.base_color_texture.as_ref(), &sampling, &["rgb", "a"])?;
        match texture {
            Some(texture) => {
                let rgb = output_path(self.layer, texture, "rgb")?;
                self.connect(name, "color3f", rgb)?;
                if source.alpha_mode != AlphaMode::Opaque {
                    let alpha = output_path(self.layer, texture, "a")?;
                    self.connect("opacity", "float", alpha)?;
                }
            }
            None => {
                self.input(name, "color3f", color(source.base_color))?;
                if source.alpha_mode != AlphaMode::Opaque {
                    let alpha = sdf::Value::Float(source.base_color.w);
                    self.input("opacity", "float", alpha)?;
                }
            }
        }
        if let AlphaMode::Mask(threshold) = source.alpha_mode {
            let threshold = sdf::Value::Float(threshold);
            self.input("opacityThreshold", "float", threshold)?;
        }
        if dark {
            self.input("diffuseColor", "color3f", color(Vec4::ZERO))?;
            self.input("metallic", "float", sdf::Value::Float(0.0))?;
            self.input("roughness", "float", sdf::Value::Float(1.0))?;
            // A refraction of 1 reflects nothing.
            self.input("ior", "float", sdf::Value::Float(1.0))?;
        }
        Ok(())
    }

    fn author_metal(&mut self, source: &Material) -> Result<()> {
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
                    let channel = output_path(self.layer, texture, channel)?;
                    self.connect(name, "float", channel)?;
                }
                None => self.input(name, "float", sdf::Value::Float(factor))?,
            }
        }
        Ok(())
    }

    fn author_details(&mut self, source: &Material) -> Result<()> {
        let normal = Sampling {
            name: "Normal",
            scale: Vec4::new(2.0, 2.0, 2.0, 1.0),
            bias: Vec4::new(-1.0, -1.0, -1.0, 0.0),
            color_space: "raw",
        };
        // A scale would go into the texture's, where UsdValidation takes nothing but these.
        if source.normal_texture.is_some() && source.normal_scale != 1.0 {
            let path = self.layer.path(self.material).as_str();
            let message = format!("its normals' scale of {} is left out", source.normal_scale);
            self.warnings
                .push(Warning::new("normal-scale", path, message));
        }
        if let Some(texture) = self.texture(source.normal_texture.as_ref(), &normal, &["rgb"])? {
            let rgb = output_path(self.layer, texture, "rgb")?;
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
            let r = output_path(self.layer, texture, "r")?;
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
                let rgb = output_path(self.layer, texture, "rgb")?;
                self.connect("emissiveColor", "color3f", rgb)
            }
            // Without the picture that is to tell where, nothing glows.
            None if source.emissive_texture.is_none() && source.emissive.length_squared() > 0.0 => {
                self.input("emissiveColor", "color3f", color(emissive.scale))
            }
            None => Ok(()),
        }
    }
}
