//! Materials of UsdPreviewSurface, and the shader connections (UsdShade) that lead to their values.

use std::collections::HashMap;

use glam::{Mat3, Vec2, Vec3, Vec4};
use sinew_layer::path::is_property_name;
use sinew_layer::{Path, Value};
use sinew_stage::{Attribute, Prim, ResolvedAsset, Stage};

use super::textures::TextureReader;
use crate::usd::from_asset::materials::{SHADE_COLOR, SHADE_SHIFT, SHADE_TOONY, SHADE_USES_IMAGE};
use crate::usd::read::values::{FromUsd, OneVec3, Token, read_uniform};
use sinew::error::Warning;
use sinew::scene::{ColorSource, Input, Material, TextureChannel, TextureUse, TextureWrap, Toon};

/// What makes a normal from -1 to 1 of a texel from 0 to 1 (UsdPreviewSurface).
const NORMAL_SCALE: Vec4 = Vec4::new(2.0, 2.0, 2.0, 1.0);

/// Added to the scaled texel of a normal map.
const NORMAL_BIAS: Vec4 = Vec4::new(-1.0, -1.0, -1.0, 0.0);

/// Transforms of uvs one behind the other; networks may run in circles.
const MOST_TRANSFORMS: usize = 8;

/// Reads each material once, instances of one prototype taken for one.
pub(super) struct MaterialReader<'a> {
    pub stage: &'a Stage,
    pub textures: TextureReader<'a>,
    pub materials: Vec<Material>,
    /// None for those that are of other kinds of surfaces.
    known: HashMap<Path, Option<usize>>,
}

impl<'a> MaterialReader<'a> {
    pub fn new(stage: &'a Stage, textures: TextureReader<'a>) -> Self {
        Self {
            stage,
            textures,
            materials: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// The index of a Material prim; none where it is not there, or its surface is no UsdPreviewSurface. Both are warned
    /// about.
    pub fn material(
        &mut self,
        path: &Path,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<usize>, sinew_stage::Error> {
        if let Some(known) = self.known.get(path) {
            return Ok(*known);
        }
        let prim = self.stage.prim(path);
        let shared = prim.and_then(|prim| prim.prim_in_prototype());
        let shared = shared.map_or_else(|| path.clone(), |prim| prim.path());
        let index = match self.known.get(&shared) {
            Some(known) => *known,
            None => {
                let read = self.read(path, prim, warnings)?;
                read.map(|material| {
                    self.materials.push(material);
                    self.materials.len() - 1
                })
            }
        };
        self.known.insert(shared, index);
        self.known.insert(path.clone(), index);
        Ok(index)
    }

    fn read(
        &mut self,
        path: &Path,
        prim: Option<Prim<'a>>,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<Material>, sinew_stage::Error> {
        let mut unsupported = |what: String| {
            let message =
                format!("{what}: prims that are bound to it are drawn in their displayColor");
            warnings.push(Warning::new("material-unsupported", path.as_str(), message));
            Ok(None)
        };
        let Some(prim) = prim.filter(|prim| prim.is_active() && prim.is_a("Material")) else {
            return unsupported("no active Material is here".into());
        };
        let surface = match source(prim, "outputs:surface")? {
            Source::Shader { prim, id, .. } if id == "UsdPreviewSurface" => prim,
            Source::Shader { id, .. } => return unsupported(format!("its surface is {id}")),
            Source::Value { .. } => return unsupported("it has no universal surface".into()),
        };
        let mut out = Material::new(path.as_str());
        let mut inputs = InputReader {
            surface,
            textures: &mut self.textures,
            warnings,
            misses_image: false,
        };
        let color = |v: Vec4| v.truncate();
        let first = |v: Vec4| v.x;
        if inputs.reads_display_color("diffuseColor")? {
            out.color_source = ColorSource::DisplayColor;
        } else {
            out.diffuse_color =
                inputs.read::<One, _>("diffuseColor", out.diffuse_color.value, color)?;
        }
        let glow = out.emissive_color.value;
        out.emissive_color = inputs.read::<One, _>("emissiveColor", glow, color)?;
        out.misses_image = inputs.misses_image;
        out.opacity = inputs.read::<f32, _>("opacity", out.opacity.value, first)?;
        out.roughness = inputs.read::<f32, _>("roughness", out.roughness.value, first)?;
        out.metallic = inputs.read::<f32, _>("metallic", out.metallic.value, first)?;
        out.occlusion = inputs.read::<f32, _>("occlusion", out.occlusion.value, first)?;
        out.normal = inputs.normal_map()?;
        out.clearcoat = inputs.read::<f32, _>("clearcoat", out.clearcoat.value, first)?;
        let rough = out.clearcoat_roughness.value;
        out.clearcoat_roughness = inputs.read::<f32, _>("clearcoatRoughness", rough, first)?;
        if value::<i32>(inputs.surface, "useSpecularWorkflow")? == Some(1) {
            out.specular_color = Some(inputs.read::<One, _>("specularColor", Vec3::ZERO, color)?);
        }
        let number = |name| value::<f32>(inputs.surface, name);
        out.opacity_threshold = number("opacityThreshold")?.unwrap_or(out.opacity_threshold);
        out.ior = number("ior")?.unwrap_or(out.ior);
        out.toon = toon(prim)?;
        Ok(Some(out))
    }
}

/// The two tones of a Material prim, if it has them.
fn toon(material: Prim<'_>) -> Result<Option<Toon>, sinew_stage::Error> {
    let shade: Option<One> = read_uniform(&material.attribute(SHADE_COLOR))?;
    let Some(shade_color) = shade.and_then(One::get) else {
        return Ok(None);
    };
    let number = |name| -> Result<f32, sinew_stage::Error> {
        let number: Option<f32> = read_uniform(&material.attribute(name))?;
        Ok(number.and_then(f32::get).unwrap_or_default())
    };
    Ok(Some(Toon {
        shade_color: shade_color.max(Vec3::ZERO),
        shade_uses_image: read_uniform(&material.attribute(SHADE_USES_IMAGE))?.unwrap_or(false),
        shift: number(SHADE_SHIFT)?.clamp(-1.0, 1.0),
        toony: number(SHADE_TOONY)?.clamp(0.0, 1.0),
    }))
}

/// A value of an input, as it is authored.
trait Authored<T>: FromUsd {
    fn get(self) -> Option<T>;
}

struct One(OneVec3);

impl FromUsd for One {
    fn from_usd(value: Value) -> Option<Self> {
        OneVec3::from_usd(value).map(Self)
    }
}

impl Authored<Vec3> for One {
    fn get(self) -> Option<Vec3> {
        self.0.0.first().copied().filter(|v| v.is_finite())
    }
}

impl Authored<f32> for f32 {
    fn get(self) -> Option<f32> {
        Some(self).filter(|v| v.is_finite())
    }
}

struct InputReader<'a, 's> {
    surface: Prim<'s>,
    textures: &'a mut TextureReader<'s>,
    warnings: &'a mut Vec<Warning>,
    /// Whether an image of an input so far cannot be read.
    misses_image: bool,
}

impl InputReader<'_, '_> {
    /// A surface's input. `of_texel` makes one of a texture's fallback.
    fn read<A: Authored<T>, T>(
        &mut self,
        name: &str,
        fallback: T,
        of_texel: impl Fn(Vec4) -> T,
    ) -> Result<Input<T>, sinew_stage::Error> {
        let own = value::<A>(self.surface, name)?.and_then(A::get);
        let input = Input::of(own.unwrap_or(fallback));
        let (prim, id, output) = match source(self.surface, &format!("inputs:{name}"))? {
            Source::Shader { prim, id, output } => (prim, id, output),
            Source::Value { .. } => return Ok(input),
        };
        if id != "UsdUVTexture" {
            let message = format!("inputs:{name} comes from a {id}: its own value is drawn");
            let path = self.surface.path();
            self.warnings
                .push(Warning::new("material-unsupported", path.as_str(), message));
            return Ok(input);
        }
        let texture = self.texture(prim, &output)?;
        self.misses_image |= texture.is_none();
        let texel = value::<Vec4>(prim, "fallback")?.filter(|v| v.is_finite());
        let channel = channel(&output);
        let value = texel.map_or(input.value, |t| of_texel(channel_of(t, channel)));
        Ok(Input { value, texture })
    }

    /// The normal map. Without an authored scale and bias its texels are taken as 2 and -1 make
    /// them normals, with a warning: nearly every image stores normals from 0 to 1.
    fn normal_map(&mut self) -> Result<Option<TextureUse>, sinew_stage::Error> {
        let read = |v: Vec4| v.truncate();
        let map = self.read::<One, _>("normal", Vec3::Z, read)?.texture;
        let Some(mut map) = map else {
            return Ok(None);
        };
        if map.scale == Vec4::ONE && map.bias == Vec4::ZERO {
            map.scale = NORMAL_SCALE;
            map.bias = NORMAL_BIAS;
            let path = self.surface.path();
            let message = "its normal map has neither scale nor bias: a scale of 2 and a bias of \
                           -1 are used";
            let warning = Warning::new("normal-map-range", path.as_str(), message);
            self.warnings.push(warning.on("inputs:normal"));
        }
        Ok(Some(map))
    }

    fn reads_display_color(&self, name: &str) -> Result<bool, sinew_stage::Error> {
        let source = source(self.surface, &format!("inputs:{name}"))?;
        let Source::Shader { prim, id, .. } = source else {
            return Ok(false);
        };
        let varname = value::<Text>(prim, "varname")?;
        Ok(id == "UsdPrimvarReader_float3" && varname.is_some_and(|v| v.0 == "displayColor"))
    }

    fn texture(
        &mut self,
        shader: Prim<'_>,
        output: &str,
    ) -> Result<Option<TextureUse>, sinew_stage::Error> {
        let path = shader.path();
        let asset = asset(shader, "file")?;
        let Some(asset) = asset.filter(|asset| !asset.evaluated.is_empty()) else {
            let message = "it names no image, so it is left out";
            let warning = Warning::new("texture-left-out", path.as_str(), message);
            self.warnings.push(warning.on("inputs:file"));
            return Ok(None);
        };
        let texture = self.textures.texture(path.as_str(), &asset, self.warnings);
        let Some(texture) = texture else {
            return Ok(None);
        };
        let (uv_primvar, transform) = self.uvs(shader)?;
        let wrap = |name| -> Result<TextureWrap, sinew_stage::Error> {
            let token = value::<Token>(shader, name)?;
            Ok(match token.as_ref().map(|t| t.0.as_str()) {
                Some("repeat") => TextureWrap::Repeat,
                Some("mirror") => TextureWrap::Mirror,
                Some("clamp") => TextureWrap::Clamp,
                Some("black") => TextureWrap::Black,
                _ => TextureWrap::UseMetadata,
            })
        };
        let finite = |v: Option<Vec4>| v.filter(|v| v.is_finite());
        let color_space = value::<Token>(shader, "sourceColorSpace")?;
        Ok(Some(TextureUse {
            texture,
            uv_primvar,
            transform,
            wrap_s: wrap("wrapS")?,
            wrap_t: wrap("wrapT")?,
            scale: finite(value(shader, "scale")?).unwrap_or(Vec4::ONE),
            bias: finite(value(shader, "bias")?).unwrap_or(Vec4::ZERO),
            channel: channel(output),
            srgb: match color_space.as_ref().map(|t| t.0.as_str()) {
                Some("sRGB") => Some(true),
                Some("raw") => Some(false),
                _ => None,
            },
        }))
    }

    /// The primvar that a texture's uvs come from, and what they are multiplied with.
    fn uvs(&mut self, texture: Prim<'_>) -> Result<(String, Mat3), sinew_stage::Error> {
        let mut transform = Mat3::IDENTITY;
        let (mut shader, mut input) = (texture, "inputs:st");
        for _ in 0..MOST_TRANSFORMS {
            let Source::Shader { prim, id, .. } = source(shader, input)? else {
                break;
            };
            match id.as_str() {
                "UsdPrimvarReader_float2" => {
                    let varname = value::<Text>(prim, "varname")?;
                    let named = varname.map(|v| v.0).filter(|v| !v.is_empty());
                    return Ok((named.unwrap_or_else(|| "st".to_owned()), transform));
                }
                "UsdTransform2d" => {
                    transform *= transform_2d(prim)?;
                    (shader, input) = (prim, "inputs:in");
                }
                _ => {
                    let message = format!("its uvs come from a {id}: st is taken");
                    let path = texture.path();
                    self.warnings.push(Warning::new(
                        "material-unsupported",
                        path.as_str(),
                        message,
                    ));
                    break;
                }
            }
        }
        Ok(("st".to_owned(), transform))
    }
}

/// UsdTransform2d: scaled, then turned counter-clockwise by degrees, then moved.
fn transform_2d(shader: Prim<'_>) -> Result<Mat3, sinew_stage::Error> {
    let degrees: f32 = value(shader, "rotation")?.unwrap_or(0.0);
    let scale: Vec2 = value(shader, "scale")?.unwrap_or(Vec2::ONE);
    let moved: Vec2 = value(shader, "translation")?.unwrap_or(Vec2::ZERO);
    let transform = Mat3::from_scale_angle_translation(scale, degrees.to_radians(), moved);
    Ok(match transform.is_finite() {
        true => transform,
        false => Mat3::IDENTITY,
    })
}

fn channel(output: &str) -> TextureChannel {
    match output {
        "r" => TextureChannel::R,
        "g" => TextureChannel::G,
        "b" => TextureChannel::B,
        "a" => TextureChannel::A,
        _ => TextureChannel::Rgb,
    }
}

/// A texel as an output has it: a number is in x.
fn channel_of(texel: Vec4, channel: TextureChannel) -> Vec4 {
    match channel {
        TextureChannel::Rgb => texel,
        TextureChannel::R => Vec4::splat(texel.x),
        TextureChannel::G => Vec4::splat(texel.y),
        TextureChannel::B => Vec4::splat(texel.z),
        TextureChannel::A => Vec4::splat(texel.w),
    }
}

/// Interfaces of node graphs within node graphs; networks may run in circles.
const MOST_CONNECTIONS: usize = 32;

/// What gives an input its value.
enum Source<'s> {
    /// A shader, its `info:id`, and which of its outputs, without `outputs:`.
    Shader {
        prim: Prim<'s>,
        id: String,
        output: String,
    },
    /// The input itself, or one of an interface around it.
    Value { prim: Prim<'s>, name: String },
}

/// Follows an attribute's connection, through the interfaces of materials and node graphs.
fn source<'s>(prim: Prim<'s>, name: &str) -> Result<Source<'s>, sinew_stage::Error> {
    let (mut prim, mut name) = (prim, name.to_owned());
    for _ in 0..MOST_CONNECTIONS {
        let Some(target) = prim.attribute(&name).connections().into_iter().next() else {
            break;
        };
        // A target inside brackets is no attribute.
        let property = target.split_property();
        let Some((owner, property)) = property.filter(|(_, name)| is_property_name(name)) else {
            break;
        };
        let Some(owner) = prim.stage().prim(&owner) else {
            break;
        };
        if let Some(output) = property.strip_prefix("outputs:")
            && owner.is_a("Shader")
        {
            let id = read_uniform::<Token>(&owner.attribute("info:id"))?;
            return Ok(Source::Shader {
                id: id.map_or_else(String::new, |t| t.0),
                output: output.to_owned(),
                prim: owner,
            });
        }
        (prim, name) = (owner, property.to_owned());
    }
    Ok(Source::Value { prim, name })
}

/// A shader's input, wherever its value comes from; none where a shader computes it.
fn value<T: FromUsd>(shader: Prim<'_>, input: &str) -> Result<Option<T>, sinew_stage::Error> {
    input_value(shader, input, |attribute| read_uniform(&attribute))
}

/// The same for an asset path.
fn asset(shader: Prim<'_>, input: &str) -> Result<Option<ResolvedAsset>, sinew_stage::Error> {
    input_value(shader, input, |attribute| {
        if let Some(asset) = attribute.asset(None)? {
            return Ok(Some(asset));
        }
        for time in attribute.times()? {
            if let Some(asset) = attribute.asset(Some(time))? {
                return Ok(Some(asset));
            }
        }
        Ok(None)
    })
}

fn input_value<T>(
    shader: Prim<'_>,
    input: &str,
    read: impl Fn(Attribute<'_, '_>) -> Result<Option<T>, sinew_stage::Error>,
) -> Result<Option<T>, sinew_stage::Error> {
    let input = format!("inputs:{input}");
    if let Source::Value { prim, name } = source(shader, &input)?
        && let Some(value) = read(prim.attribute(&name))?
    {
        return Ok(Some(value));
    }
    // A connection that gives nothing leaves the input's own value.
    read(shader.attribute(&input))
}

/// A string or a token, as varname is either.
struct Text(String);

impl FromUsd for Text {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Token(text) | Value::String(text) => Some(Self(text.into())),
            _ => None,
        }
    }
}
