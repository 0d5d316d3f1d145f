//! Images as glTF reads them: those that fit are copied, others are put together anew.
//!
//! UsdPreviewSurface reads any channel of any image for each input, with a scale and a bias. glTF
//! has fixed channels: colour in RGB (as sRGB) and opacity in A, roughness in G and metalness in B,
//! occlusion in R. What is stored otherwise becomes a new PNG of 8 bits.

use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::sync::Arc;

use glam::{Mat3, Vec4};
use image::{ColorType, DynamicImage, ImageFormat, Rgba32FImage, imageops};

use crate::pictures::{decode, upside_down};
use sinew::error::Warning;
use sinew::scene::{Geometry, TextureChannel, TextureUse, TextureWrap};
use sinew_animate::asset::{Image, TextureRef, Wrap};

/// What one channel of an image is made of.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Channel {
    /// A number for all texels.
    Constant(f32),
    /// Part 0 to 3 of what a texture gives, after its scale and bias.
    Of(TextureUse, usize),
}

impl Channel {
    /// Part 0 to 3 of what a texture gives; `value` without a texture.
    pub fn new(texture: &Option<TextureUse>, part: usize, value: f32) -> Self {
        match texture {
            Some(texture) => Self::Of(texture.clone(), part),
            None => Self::Constant(value),
        }
    }
}

/// An image with a part of its texels for each channel.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// R, G, B and A, in linear colours.
    pub channels: [Channel; 4],
    /// Whether glTF takes RGB as sRGB.
    pub srgb: bool,
    /// What follows the name of the first image in the name of the new one.
    pub suffix: &'static str,
}

impl Wanted {
    /// An image of colours, which glTF takes as sRGB, with opacity.
    pub fn color([r, g, b]: [Channel; 3], alpha: Channel, suffix: &'static str) -> Self {
        Self {
            channels: [r, g, b, alpha],
            srgb: true,
            suffix,
        }
    }

    /// An opaque image of numbers that are no colours.
    pub fn data([r, g, b]: [Channel; 3], suffix: &'static str) -> Self {
        Self {
            channels: [r, g, b, Channel::Constant(1.0)],
            srgb: false,
            suffix,
        }
    }
}

/// Images while they are collected.
pub(super) struct Images<'a> {
    geometry: &'a Geometry,
    pub images: Vec<Image>,
    pub warnings: Vec<Warning>,
    copied: HashMap<usize, usize>,
    made: HashMap<String, Option<usize>>,
    names: HashSet<String>,
    decoded: HashMap<usize, Option<Arc<Decoded>>>,
}

/// An image in memory.
struct Decoded {
    texels: Rgba32FImage,
    color: ColorType,
}

impl<'a> Images<'a> {
    pub fn new(geometry: &'a Geometry) -> Self {
        Self {
            geometry,
            images: Vec::new(),
            warnings: Vec::new(),
            copied: HashMap::new(),
            made: HashMap::new(),
            names: HashSet::new(),
            decoded: HashMap::new(),
        }
    }

    /// A texture of an image as it is.
    pub fn copy(&mut self, texture: &TextureUse, uv_names: &mut Vec<String>) -> TextureRef {
        let index = match self.copied.get(&texture.texture) {
            Some(index) => *index,
            None => {
                let source = &self.geometry.textures[texture.texture];
                let name = self.unique(&source.resolved, "");
                self.images.push(Image {
                    file_name: name,
                    bytes: source.bytes.to_vec(),
                });
                self.copied.insert(texture.texture, self.images.len() - 1);
                self.images.len() - 1
            }
        };
        self.reference(index, texture, uv_names)
    }

    /// A texture of an image made of others; `None`, with a warning, if they cannot be decoded.
    pub fn make(&mut self, wanted: &Wanted, uv_names: &mut Vec<String>) -> Option<TextureRef> {
        let uses: Vec<&TextureUse> = wanted
            .channels
            .iter()
            .filter_map(|c| match c {
                Channel::Of(texture, _) => Some(texture),
                Channel::Constant(_) => None,
            })
            .collect();
        let first = (*uses.first()?).clone();
        let place = |t: &TextureUse| (t.uv_primvar.clone(), t.transform, t.wrap_s, t.wrap_t);
        if uses.iter().any(|t| place(t) != place(&first)) {
            let message =
                "images that glTF has in one are placed differently: all are placed like the first";
            self.warn("texture-placement", &first, message);
        }
        let key = format!("{wanted:?}");
        let index = match self.made.get(&key) {
            Some(known) => *known,
            None => {
                let made = self.compose(wanted, &first);
                self.made.insert(key, made);
                made
            }
        };
        Some(self.reference(index?, &first, uv_names))
    }

    /// Whether texels of a texture are sRGB; `auto` depends on the image.
    pub fn is_srgb(&mut self, texture: &TextureUse) -> bool {
        texture.srgb.unwrap_or_else(|| {
            let decoded = self.decoded(texture.texture);
            decoded.is_some_and(|d| matches!(d.color, ColorType::Rgb8 | ColorType::Rgba8))
        })
    }

    /// Whether an image has texels that are not opaque.
    pub fn has_alpha(&mut self, texture: &TextureUse) -> bool {
        let decoded = self.decoded(texture.texture);
        decoded.is_some_and(|d| d.color.has_alpha() && d.texels.pixels().any(|p| p.0[3] < 1.0))
    }

    pub fn warn(&mut self, code: &'static str, texture: &TextureUse, message: impl Into<String>) {
        let name = &self.geometry.textures[texture.texture].asset;
        let warning = Warning::new(code, name, message);
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    fn decoded(&mut self, texture: usize) -> Option<Arc<Decoded>> {
        if let Some(known) = self.decoded.get(&texture) {
            return known.clone();
        }
        let made = match decode(&self.geometry.textures[texture].bytes) {
            Ok(image) => Some(Arc::new(Decoded {
                color: image.color(),
                texels: image.into_rgba32f(),
            })),
            Err(reason) => {
                let name = &self.geometry.textures[texture].asset;
                let message = format!("the image cannot be decoded: {reason}");
                self.warnings
                    .push(Warning::new("texture-left-out", name, message));
                None
            }
        };
        // One large image at a time is enough for memory.
        if self.decoded.len() > 4 {
            self.decoded.clear();
        }
        self.decoded.insert(texture, made.clone());
        made
    }

    fn compose(&mut self, wanted: &Wanted, first: &TextureUse) -> Option<usize> {
        let mut sources: Vec<Option<(Arc<Decoded>, bool)>> = Vec::new();
        for channel in &wanted.channels {
            sources.push(match channel {
                Channel::Constant(_) => None,
                Channel::Of(texture, _) => {
                    let srgb = self.is_srgb(texture);
                    Some((self.decoded(texture.texture)?, srgb))
                }
            });
        }
        let sizes = sources.iter().flatten().map(|(d, _)| d.texels.dimensions());
        let (width, height) = sizes.fold((1, 1), |a, b| (a.0.max(b.0), a.1.max(b.1)));
        let mut out = image::RgbaImage::new(width, height);
        for (at, channel) in wanted.channels.iter().enumerate() {
            let encode = wanted.srgb && at < 3;
            match (channel, &sources[at]) {
                (Channel::Of(texture, part), Some((decoded, srgb))) => {
                    let fits = decoded.texels.dimensions() == (width, height);
                    let resized;
                    let texels = match fits {
                        true => &decoded.texels,
                        false => {
                            let filter = imageops::FilterType::Triangle;
                            resized = imageops::resize(&decoded.texels, width, height, filter);
                            &resized
                        }
                    };
                    for (to, from) in out.pixels_mut().zip(texels.pixels()) {
                        to.0[at] = stored(value(Vec4::from(from.0), *srgb, texture)[*part], encode);
                    }
                }
                (Channel::Constant(number), _) => {
                    let number = stored(*number, encode);
                    out.pixels_mut().for_each(|p| p.0[at] = number);
                }
                (Channel::Of(..), None) => return None,
            }
        }
        let opaque = out.pixels().all(|p| p.0[3] == 255);
        let image = match opaque {
            true => DynamicImage::ImageRgb8(DynamicImage::ImageRgba8(out).into_rgb8()),
            false => DynamicImage::ImageRgba8(out),
        };
        let mut bytes = Vec::new();
        if let Err(e) = image.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png) {
            self.warn(
                "texture-left-out",
                first,
                format!("a new image cannot be written: {e}"),
            );
            return None;
        }
        let resolved = self.geometry.textures[first.texture].resolved.clone();
        let file_name = self.unique(&resolved, wanted.suffix);
        let stem = file_name
            .rsplit_once('.')
            .map_or(&*file_name, |(stem, _)| stem);
        self.images.push(Image {
            file_name: format!("{stem}.png"),
            bytes,
        });
        Some(self.images.len() - 1)
    }

    fn reference(
        &mut self,
        image: usize,
        texture: &TextureUse,
        uv_names: &mut Vec<String>,
    ) -> TextureRef {
        let known = uv_names.iter().position(|name| *name == texture.uv_primvar);
        let uv_set = known.unwrap_or_else(|| {
            uv_names.push(texture.uv_primvar.clone());
            uv_names.len() - 1
        });
        let is_black = |wrap| matches!(wrap, TextureWrap::Black);
        if is_black(texture.wrap_s) || is_black(texture.wrap_t) {
            let message =
                "it is black around its edges, which glTF cannot express: its edge continues";
            self.warn("texture-wrap", texture, message);
        }
        let wrap = |wrap| match wrap {
            TextureWrap::Repeat | TextureWrap::UseMetadata => Wrap::Repeat,
            TextureWrap::Mirror => Wrap::Mirror,
            TextureWrap::Clamp | TextureWrap::Black => Wrap::Clamp,
        };
        TextureRef {
            image,
            uv_set,
            wrap_s: wrap(texture.wrap_s),
            wrap_t: wrap(texture.wrap_t),
            transform: (texture.transform != Mat3::IDENTITY)
                .then(|| upside_down(texture.transform)),
        }
    }

    /// A file name for an image, of letters that every file system and URI takes.
    fn unique(&mut self, resolved: &str, suffix: &str) -> String {
        let own = resolved
            .trim_end_matches(']')
            .rsplit(['/', '\\', '['])
            .next();
        let own = own.unwrap_or_default();
        let (stem, extension) = own.rsplit_once('.').unwrap_or((own, "png"));
        let plain = |c: char| {
            if c.is_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '_'
            }
        };
        let stem: String = stem.chars().take(80).map(plain).collect();
        let stem = if stem.is_empty() { "image" } else { &stem };
        let numbered = (2..).map(|n: u32| format!("{stem}{suffix}_{n}"));
        let mut stems = std::iter::once(format!("{stem}{suffix}")).chain(numbered);
        // The extension may change, and file systems that know no case exist.
        let free = stems.find(|s| self.names.insert(s.to_lowercase()));
        format!("{}.{extension}", free.unwrap_or_default())
    }
}

/// What a texture gives for a texel: colours are linear, a single channel is in all parts.
fn value(texel: Vec4, srgb: bool, texture: &TextureUse) -> Vec4 {
    let linear = match srgb {
        true => Vec4::new(
            from_srgb(texel.x),
            from_srgb(texel.y),
            from_srgb(texel.z),
            texel.w,
        ),
        false => texel,
    };
    let v = linear * texture.scale + texture.bias;
    match texture.channel {
        TextureChannel::Rgb => v,
        TextureChannel::R => Vec4::splat(v.x),
        TextureChannel::G => Vec4::splat(v.y),
        TextureChannel::B => Vec4::splat(v.z),
        TextureChannel::A => Vec4::splat(v.w),
    }
}

fn from_srgb(v: f32) -> f32 {
    match v <= 0.040_45 {
        true => v / 12.92,
        false => ((v + 0.055) / 1.055).powf(2.4),
    }
}

fn to_srgb(v: f32) -> f32 {
    match v <= 0.003_130_8 {
        true => v * 12.92,
        false => 1.055 * v.powf(1.0 / 2.4) - 0.055,
    }
}

/// A number from 0 to 1 as a byte.
fn stored(v: f32, srgb: bool) -> u8 {
    let v = v.clamp(0.0, 1.0);
    let v = if srgb { to_srgb(v) } else { v };
    (v * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use sinew::scene::Texture;

    use super::*;

    fn png(image: DynamicImage) -> Arc<[u8]> {
        let mut bytes = Vec::new();
        image
            .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)
            .unwrap();
        bytes.into()
    }

    fn geometry() -> Geometry {
        let gray =
            image::GrayImage::from_fn(2, 1, |x, _| image::Luma([if x == 0 { 0 } else { 255 }]));
        let rgb = image::RgbImage::from_pixel(1, 1, image::Rgb([188, 0, 255]));
        let texture = |name: &str, bytes| Texture {
            asset: format!("./{name}"),
            resolved: format!("/a/{name}"),
            bytes,
        };
        Geometry {
            textures: vec![
                texture("rough.png", png(DynamicImage::ImageLuma8(gray))),
                texture("color.png", png(DynamicImage::ImageRgb8(rgb))),
            ],
            ..Geometry::default()
        }
    }

    fn reads(texture: usize, channel: TextureChannel) -> TextureUse {
        TextureUse {
            texture,
            uv_primvar: "st".into(),
            transform: Mat3::IDENTITY,
            wrap_s: TextureWrap::Repeat,
            wrap_t: TextureWrap::Repeat,
            scale: Vec4::ONE,
            bias: Vec4::ZERO,
            channel,
            srgb: None,
        }
    }

    #[test]
    fn channels_of_several_images_become_one() {
        let geometry = geometry();
        let mut images = Images::new(&geometry);
        let mut uvs = Vec::new();
        let metal = TextureUse {
            scale: Vec4::splat(0.5),
            srgb: Some(true),
            ..reads(1, TextureChannel::R)
        };
        let wanted = Wanted {
            channels: [
                Channel::Constant(1.0),
                Channel::Of(reads(0, TextureChannel::R), 0),
                Channel::Of(metal, 0),
                Channel::Constant(1.0),
            ],
            srgb: false,
            suffix: "_metallicRoughness",
        };
        let made = images.make(&wanted, &mut uvs).unwrap();
        assert_eq!(
            images.make(&wanted, &mut uvs).unwrap().image,
            made.image,
            "made once"
        );
        let image = &images.images[made.image];
        assert_eq!(image.file_name, "rough_metallicRoughness.png");
        let texels = decode(&image.bytes).unwrap().into_rgb8();
        // 188 is 0.5 as sRGB.
        assert_eq!(texels.get_pixel(0, 0).0, [255, 0, 64]);
        assert_eq!(texels.get_pixel(1, 0).0, [255, 255, 64]);
        assert_eq!(uvs, ["st"]);
    }

    #[test]
    fn auto_is_srgb_for_three_channels_of_8_bits() {
        let geometry = geometry();
        let mut images = Images::new(&geometry);
        let found = [0, 1].map(|t| images.is_srgb(&reads(t, TextureChannel::Rgb)));
        assert_eq!(found, [false, true]);
    }
}
