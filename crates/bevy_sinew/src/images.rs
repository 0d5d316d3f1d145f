//! Images of UsdPreviewSurface inputs, with their channels where Bevy's standard material wants them.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;

use bevy::asset::RenderAssetUsages;
use bevy::image::{Image, ImageAddressMode, ImageSampler, ImageSamplerDescriptor};
use glam::Vec4;
use image::{DynamicImage, ImageReader, Limits, RgbaImage, imageops};
use sinew::scene::{Texture, TextureChannel, TextureUse, TextureWrap};
use wgpu::{Extent3d, TextureDimension, TextureFormat};

/// Largest width and height of an image that is decoded, in texels.
const LARGEST_DECODED: u32 = 16384;

/// Largest memory for decoding one image, in bytes.
const DECODING_BYTES: u64 = 1 << 30;

/// Largest memory of all decoded images of a file, and of all that are made of them, in bytes.
const ALL_BYTES: u64 = 1 << 30;

/// The images of a character: each is decoded once, and what materials bind is made once of them.
pub(crate) struct Images {
    decoded: HashMap<usize, Option<Arc<Decoded>>>,
    decoded_bytes: u64,
    made: HashMap<ImageKey, Option<Made>>,
    made_bytes: u64,
    /// Largest width and height of a texture of the device.
    largest: u32,
    /// What materials bind.
    pub all: Vec<Image>,
    /// Why images are not drawn.
    pub messages: Vec<String>,
}

/// An image that a material binds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    /// Index into [`Images::all`].
    pub index: usize,
    /// Whether the alpha of some texel is below 1.
    pub is_translucent: bool,
    /// What texels are to be multiplied with.
    pub factor: f32,
}

/// Where Bevy's standard material binds an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    /// Base colour, and opacity if there is a second image.
    BaseColor,
    /// Opacity alone.
    Opacity,
    Emissive,
    /// Roughness, and metalness if there is a second image.
    RoughnessMetallic,
    /// Metalness alone.
    Metallic,
    Occlusion,
    Normals,
}

/// What an image depends on.
#[derive(PartialEq, Eq, Hash)]
struct ImageKey {
    slot: Slot,
    first: SourceKey,
    second: Option<SourceKey>,
}

/// Texture, whether it is sRGB, wrap modes, channel, and the bits of scale and bias.
type SourceKey = (usize, bool, [u8; 3], [u32; 8]);

struct Decoded {
    texels: RgbaImage,
    /// Width and height in the file.
    original: [u32; 2],
    /// Whether `sourceColorSpace = auto` means sRGB.
    looks_srgb: bool,
}

/// How an input reads a decoded image.
pub(crate) struct Source {
    decoded: Arc<Decoded>,
    used: TextureUse,
    is_srgb: bool,
}

impl Images {
    /// None yet, for a device whose textures have at most `largest` texels a side.
    pub fn new(largest: u32) -> Self {
        Self {
            decoded: HashMap::new(),
            decoded_bytes: 0,
            made: HashMap::new(),
            made_bytes: 0,
            largest,
            all: Vec::new(),
            messages: Vec::new(),
        }
    }

    /// The image of an input; `None` if it has none, or if it cannot be decoded.
    pub fn source(&mut self, textures: &[Texture], used: Option<&TextureUse>) -> Option<Source> {
        let used = used?;
        let texture = textures.get(used.texture)?;
        if !self.decoded.contains_key(&used.texture) {
            let decoded = self.decoded(texture);
            self.decoded.insert(used.texture, decoded.map(Arc::new));
        }
        let decoded = Arc::clone(self.decoded.get(&used.texture)?.as_ref()?);
        Some(Source {
            is_srgb: used.srgb.unwrap_or(decoded.looks_srgb),
            decoded,
            used: used.clone(),
        })
    }

    fn decoded(&mut self, texture: &Texture) -> Option<Decoded> {
        // The reader has warned of images without bytes.
        if texture.bytes.is_empty() {
            return None;
        }
        let decoded = match self.decoded_bytes > ALL_BYTES {
            true => Err(too_much()),
            false => decode(&texture.bytes, self.largest),
        };
        let decoded = decoded.and_then(|decoded| {
            self.decoded_bytes += decoded.texels.len() as u64;
            match self.decoded_bytes > ALL_BYTES {
                true => Err(too_much()),
                false => Ok(decoded),
            }
        });
        match decoded {
            Ok(decoded) => {
                let drawn = [decoded.texels.width(), decoded.texels.height()];
                if drawn != decoded.original {
                    let [width, height] = decoded.original;
                    self.messages.push(format!(
                        "{}: drawn with {} x {} texels and not {width} x {height}: the device has \
                         textures of at most {} a side",
                        texture.asset, drawn[0], drawn[1], self.largest
                    ));
                }
                Some(decoded)
            }
            Err(reason) => {
                let asset = &texture.asset;
                self.messages
                    .push(format!("{asset}: texture not drawn: {reason}"));
                None
            }
        }
    }

    /// The image of a slot, made of one or two sources; `None` if all images take too much memory.
    pub fn made(&mut self, slot: Slot, first: &Source, second: Option<&Source>) -> Option<Made> {
        let key = ImageKey {
            slot,
            first: first.key(),
            second: second.map(Source::key),
        };
        if let Some(known) = self.made.get(&key) {
            return *known;
        }
        let [width, height] = first.with(second);
        // Levels of half the size take a third more.
        self.made_bytes += u64::from(width) * u64::from(height) * 4 * 4 / 3;
        let made = match self.made_bytes > ALL_BYTES {
            true => {
                let reason = too_much();
                self.messages
                    .push(format!("an image of a material is not drawn: {reason}"));
                None
            }
            false => {
                let (image, is_translucent, factor) = make(slot, first, second);
                self.all.push(image);
                Some(Made {
                    index: self.all.len() - 1,
                    is_translucent,
                    factor,
                })
            }
        };
        self.made.insert(key, made);
        made
    }
}

fn too_much() -> String {
    format!("all images together take more than {ALL_BYTES} bytes")
}

/// An image, whether its alpha is translucent, and the factor of its texels.
fn make(slot: Slot, first: &Source, second: Option<&Source>) -> (Image, bool, f32) {
    let plain = |image| (image, false, 1.0);
    let alpha = |(image, is_translucent)| (image, is_translucent, 1.0);
    match slot {
        Slot::BaseColor => alpha(base_color(first, second)),
        Slot::Opacity => alpha(opacity_only(first)),
        Slot::Emissive => {
            let (image, factor) = emissive(first);
            (image, false, factor)
        }
        Slot::RoughnessMetallic => plain(roughness_metallic(first, Some(first), second)),
        Slot::Metallic => plain(roughness_metallic(first, None, Some(first))),
        Slot::Occlusion => plain(occlusion(first)),
        Slot::Normals => plain(normals(first)),
    }
}

/// Decodes an image, and halves it until no side is longer than `largest`.
fn decode(bytes: &[u8], largest: u32) -> Result<Decoded, String> {
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|e| e.to_string())?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(LARGEST_DECODED);
    limits.max_image_height = Some(LARGEST_DECODED);
    limits.max_alloc = Some(DECODING_BYTES);
    reader.limits(limits);
    let decoded = reader.decode().map_err(|e| e.to_string())?;
    let looks_srgb = matches!(
        decoded,
        DynamicImage::ImageRgb8(_) | DynamicImage::ImageRgba8(_)
    );
    let mut texels = decoded.into_rgba8();
    let original = [texels.width(), texels.height()];
    while texels.width().max(texels.height()) > largest.max(1) {
        let half = half_of(&texels);
        texels = imageops::thumbnail(&texels, half[0], half[1]);
    }
    Ok(Decoded {
        texels,
        original,
        looks_srgb,
    })
}

/// Adds levels of half the size, down to one texel, so that images do not flicker from afar.
fn add_mip_levels(image: &mut Image) {
    let Some(texels) = image.data.take() else {
        return;
    };
    let Some(mut level) = RgbaImage::from_raw(image.width(), image.height(), texels) else {
        return;
    };
    let mut all = level.as_raw().clone();
    let mut count = 1;
    while level.width().max(level.height()) > 1 {
        let half = half_of(&level);
        level = imageops::thumbnail(&level, half[0], half[1]);
        all.extend_from_slice(level.as_raw());
        count += 1;
    }
    image.data = Some(all);
    image.texture_descriptor.mip_level_count = count;
}

/// Half of the width and height.
fn half_of(image: &RgbaImage) -> [u32; 2] {
    [image.width(), image.height()].map(|side| (side / 2).max(1))
}

impl Source {
    pub fn used(&self) -> &TextureUse {
        &self.used
    }

    fn key(&self) -> SourceKey {
        let used = &self.used;
        let modes = [used.wrap_s as u8, used.wrap_t as u8, used.channel as u8];
        let mut numbers = [0; 8];
        let values = used.scale.to_array().into_iter();
        for (to, value) in numbers.iter_mut().zip(values.chain(used.bias.to_array())) {
            *to = value.to_bits();
        }
        (used.texture, self.is_srgb, modes, numbers)
    }

    /// The size of an image of this source and another one: that of the one with more texels.
    fn with(&self, other: Option<&Self>) -> [u32; 2] {
        let texels = |size: [u32; 2]| u64::from(size[0]) * u64::from(size[1]);
        let own = self.size();
        let other = other.map_or(own, Self::size);
        match texels(other) > texels(own) {
            true => other,
            false => own,
        }
    }

    fn size(&self) -> [u32; 2] {
        [self.decoded.texels.width(), self.decoded.texels.height()]
    }

    /// The linear value of a texel of an image of `size` texels, scaled and biased: RGBA.
    fn at(&self, x: u32, y: u32, size: [u32; 2]) -> Vec4 {
        let own = self.size();
        let place = |at: u32, axis: usize| {
            (u64::from(at) * u64::from(own[axis]) / u64::from(size[axis])) as u32
        };
        let texel = self.decoded.texels.get_pixel(place(x, 0), place(y, 1)).0;
        let texel = Vec4::from_array(texel.map(|c| f32::from(c) / 255.0));
        let linear = match self.is_srgb {
            true => texel.truncate().map(linear).extend(texel.w),
            false => texel,
        };
        linear * self.used.scale + self.used.bias
    }

    /// The number that an input of one channel reads.
    fn number(&self, x: u32, y: u32, size: [u32; 2]) -> f32 {
        let value = self.at(x, y, size);
        match self.used.channel {
            TextureChannel::R | TextureChannel::Rgb => value.x,
            TextureChannel::G => value.y,
            TextureChannel::B => value.z,
            TextureChannel::A => value.w,
        }
    }

    /// Whether texels are the input's values as they are.
    fn is_plain(&self) -> bool {
        self.used.scale == Vec4::ONE
            && self.used.bias == Vec4::ZERO
            && self.used.channel == TextureChannel::Rgb
    }

    fn image(&self, size: [u32; 2], format: TextureFormat, texels: Vec<u8>) -> Image {
        let [width, height] = size;
        let mut image = Image::new(
            Extent3d {
                width,
                height,
                depth_or_array_layers: 1,
            },
            TextureDimension::D2,
            texels,
            format,
            RenderAssetUsages::RENDER_WORLD,
        );
        add_mip_levels(&mut image);
        let mode = |wrap: TextureWrap| match wrap {
            TextureWrap::Repeat => ImageAddressMode::Repeat,
            TextureWrap::Mirror => ImageAddressMode::MirrorRepeat,
            // As `sinew render` draws them.
            TextureWrap::Clamp | TextureWrap::Black | TextureWrap::UseMetadata => {
                ImageAddressMode::ClampToEdge
            }
        };
        image.sampler = ImageSampler::Descriptor(ImageSamplerDescriptor {
            address_mode_u: mode(self.used.wrap_s),
            address_mode_v: mode(self.used.wrap_t),
            ..ImageSamplerDescriptor::linear()
        });
        image
    }
}

/// Base colour, and the opacity in its alpha, as sRGB. Without an image of the opacity it is 1. The
/// flag says whether any texel is translucent.
fn base_color(color: &Source, opacity: Option<&Source>) -> (Image, bool) {
    let size = color.with(opacity);
    let is_plain = color.is_plain() && color.is_srgb && size == color.size();
    let texels = texels(size, |x, y| {
        let alpha = opacity.map_or(1.0, |o| o.number(x, y, size));
        if is_plain {
            let [r, g, b, _] = color.decoded.texels.get_pixel(x, y).0;
            return [r, g, b, byte(alpha)];
        }
        let color = color.at(x, y, size);
        let [r, g, b] = [color.x, color.y, color.z].map(|c| byte(encoded(c)));
        [r, g, b, byte(alpha)]
    });
    let is_translucent = texels.iter().skip(3).step_by(4).any(|alpha| *alpha < 250);
    let image = color.image(size, TextureFormat::Rgba8UnormSrgb, texels);
    (image, is_translucent)
}

/// White, with the opacity in its alpha.
fn opacity_only(opacity: &Source) -> (Image, bool) {
    let size = opacity.size();
    let texels = texels(size, |x, y| {
        [255, 255, 255, byte(opacity.number(x, y, size))]
    });
    let is_translucent = texels.iter().skip(3).step_by(4).any(|alpha| *alpha < 250);
    let image = opacity.image(size, TextureFormat::Rgba8UnormSrgb, texels);
    (image, is_translucent)
}

/// Light of the surface itself, as sRGB, in parts of the largest value if that is above 1. The number
/// is that value, or 1.
fn emissive(source: &Source) -> (Image, f32) {
    let size = source.size();
    let brightest = |most: f32, [x, y]: [u32; 2]| {
        let light = source.at(x, y, size).truncate().max_element();
        if light.is_finite() {
            most.max(light)
        } else {
            most
        }
    };
    let factor = places(size).fold(1.0, brightest);
    let texels = texels(size, |x, y| {
        let c = source.at(x, y, size) / factor;
        let [r, g, b] = [c.x, c.y, c.z].map(|c| byte(encoded(c)));
        [r, g, b, 255]
    });
    let image = source.image(size, TextureFormat::Rgba8UnormSrgb, texels);
    (image, factor)
}

/// Roughness in G and metalness in B; 1 for one without an image. `first` is one of both.
fn roughness_metallic(
    first: &Source,
    roughness: Option<&Source>,
    metallic: Option<&Source>,
) -> Image {
    let size = first.with(metallic);
    let of = |source: Option<&Source>, x, y| {
        byte(source.map_or(1.0, |source| source.number(x, y, size)))
    };
    let texels = texels(size, |x, y| {
        [255, of(roughness, x, y), of(metallic, x, y), 255]
    });
    first.image(size, TextureFormat::Rgba8Unorm, texels)
}

/// Occlusion in R.
fn occlusion(source: &Source) -> Image {
    let size = source.size();
    let texels = texels(size, |x, y| [byte(source.number(x, y, size)), 0, 0, 255]);
    source.image(size, TextureFormat::Rgba8Unorm, texels)
}

/// A normal map with 0.5 for 0.
fn normals(source: &Source) -> Image {
    let size = source.size();
    let texels = texels(size, |x, y| {
        let n = source.at(x, y, size);
        let [x, y, z] = [n.x, n.y, n.z].map(|c| byte(c * 0.5 + 0.5));
        [x, y, z, 255]
    });
    source.image(size, TextureFormat::Rgba8Unorm, texels)
}

/// The places of all texels, row by row.
fn places([width, height]: [u32; 2]) -> impl Iterator<Item = [u32; 2]> {
    (0..height).flat_map(move |y| (0..width).map(move |x| [x, y]))
}

fn texels(size: [u32; 2], texel: impl Fn(u32, u32) -> [u8; 4]) -> Vec<u8> {
    let mut out = Vec::with_capacity(size[0] as usize * size[1] as usize * 4);
    for [x, y] in places(size) {
        out.extend(texel(x, y));
    }
    out
}

fn byte(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

fn linear(srgb: f32) -> f32 {
    match srgb {
        c if c <= 0.040_45 => c / 12.92,
        c => ((c + 0.055) / 1.055).powf(2.4),
    }
}

fn encoded(light: f32) -> f32 {
    match light {
        l if l <= 0.003_130_8 => l * 12.92,
        l => 1.055 * l.powf(1.0 / 2.4) - 0.055,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(texel: [u8; 4], channel: TextureChannel, is_srgb: bool) -> Source {
        Source {
            decoded: Arc::new(Decoded {
                texels: RgbaImage::from_pixel(2, 1, image::Rgba(texel)),
                original: [2, 1],
                looks_srgb: is_srgb,
            }),
            used: TextureUse {
                texture: 0,
                uv_primvar: "st".into(),
                transform: glam::Mat3::IDENTITY,
                wrap_s: TextureWrap::Repeat,
                wrap_t: TextureWrap::Clamp,
                scale: Vec4::ONE,
                bias: Vec4::ZERO,
                channel,
                srgb: None,
            },
            is_srgb,
        }
    }

    fn first(image: &Image) -> &[u8] {
        &image.data.as_ref().unwrap()[..4]
    }

    #[test]
    fn channels_go_where_bevy_reads_them() {
        let rough = source([10, 20, 30, 40], TextureChannel::R, false);
        let metal = source([10, 20, 30, 40], TextureChannel::A, false);
        let both = make(Slot::RoughnessMetallic, &rough, Some(&metal)).0;
        assert_eq!(first(&both), [255, 10, 40, 255]);
        assert_eq!(
            first(&make(Slot::Metallic, &metal, None).0),
            [255, 255, 40, 255]
        );
        let green = source([10, 20, 30, 40], TextureChannel::G, false);
        assert_eq!(first(&occlusion(&green)), [20, 0, 0, 255]);
    }

    #[test]
    fn base_colors_keep_their_bytes_and_take_the_opacity() {
        let color = source([10, 20, 30, 40], TextureChannel::Rgb, true);
        let (plain, is_translucent) = base_color(&color, None);
        assert_eq!(
            (first(&plain), is_translucent),
            (&[10, 20, 30, 255][..], false)
        );
        let opacity = source([0, 0, 0, 40], TextureChannel::A, false);
        let (image, is_translucent) = base_color(&color, Some(&opacity));
        assert_eq!(
            (first(&image), is_translucent),
            (&[10, 20, 30, 40][..], true)
        );
        // Half of the light, and not half of the byte.
        let mut half = source([255, 255, 255, 255], TextureChannel::Rgb, true);
        half.used.scale = Vec4::splat(0.5);
        assert_eq!(first(&base_color(&half, None).0), [188, 188, 188, 255]);
        // Linear texels are encoded.
        let linear = source([55, 55, 55, 255], TextureChannel::Rgb, false);
        assert_eq!(first(&base_color(&linear, None).0)[0], 128);
    }

    #[test]
    fn normals_are_stored_around_a_half() {
        let mut map = source([128, 128, 255, 255], TextureChannel::Rgb, false);
        (map.used.scale, map.used.bias) = (Vec4::splat(2.0), Vec4::splat(-1.0));
        assert_eq!(first(&normals(&map)), [128, 128, 255, 255]);
    }

    #[test]
    fn what_is_no_image_is_said() {
        let texture = Texture {
            asset: "skin.png".into(),
            bytes: Arc::from(&b"no image"[..]),
            ..Texture::default()
        };
        let used = source([0; 4], TextureChannel::Rgb, true).used;
        let mut images = Images::new(16);
        for _ in 0..2 {
            assert!(
                images
                    .source(std::slice::from_ref(&texture), Some(&used))
                    .is_none()
            );
        }
        assert_eq!(images.messages.len(), 1);
        assert!(images.messages[0].starts_with("skin.png: texture not drawn: "));
    }

    fn png(image: &RgbaImage) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn images_fit_the_device() {
        let wide = RgbaImage::from_pixel(64, 4, image::Rgba([9, 8, 7, 255]));
        let texture = Texture {
            asset: "wide.png".into(),
            bytes: png(&wide).into(),
            ..Texture::default()
        };
        let used = source([0; 4], TextureChannel::Rgb, true).used;
        let mut images = Images::new(16);
        let fits = images.source(&[texture], Some(&used)).unwrap();
        assert_eq!(fits.size(), [16, 1]);
        assert_eq!(images.messages.len(), 1, "{:?}", images.messages);
        let none = RgbaImage::new(LARGEST_DECODED + 1, 1);
        assert!(decode(&png(&none), 16).is_err());
    }

    /// The sides of a colour and an opacity may differ: the result is as large as one of them.
    #[test]
    fn images_of_two_are_as_large_as_one_of_them() {
        let of = |width, height| {
            let mut out = source([0; 4], TextureChannel::A, false);
            let texels = RgbaImage::new(width, height);
            out.decoded = Arc::new(Decoded {
                texels,
                original: [width, height],
                looks_srgb: false,
            });
            out
        };
        let (image, _) = base_color(&of(512, 1), Some(&of(1, 1024)));
        assert_eq!((image.width(), image.height()), (1, 1024));
    }

    #[test]
    fn all_images_together_have_a_limit() {
        let texture = Texture {
            asset: "one.png".into(),
            bytes: png(&RgbaImage::new(2, 1)).into(),
            ..Texture::default()
        };
        let used = source([0; 4], TextureChannel::Rgb, true).used;
        let mut images = Images::new(16);
        images.decoded_bytes = ALL_BYTES - 8;
        let textures = [texture.clone(), texture];
        let first = images.source(&textures, Some(&used)).unwrap();
        let second = TextureUse { texture: 1, ..used };
        assert!(images.source(&textures, Some(&second)).is_none());
        assert_eq!(images.messages.len(), 1);
        images.made_bytes = ALL_BYTES - 10;
        assert!(images.made(Slot::BaseColor, &first, None).is_some());
        assert!(images.made(Slot::Occlusion, &first, None).is_none());
        assert_eq!((images.all.len(), images.messages.len()), (1, 2));
    }

    #[test]
    fn images_of_the_same_use_are_made_once() {
        let first = source([10, 20, 30, 40], TextureChannel::Rgb, true);
        let mut images = Images::new(16);
        let one = images.made(Slot::BaseColor, &first, None).unwrap();
        let same = images.made(Slot::BaseColor, &first, None).unwrap();
        assert_eq!((one.index, same.index, images.all.len()), (0, 0, 1));
        let mut scaled = source([10, 20, 30, 40], TextureChannel::Rgb, true);
        scaled.used.scale = Vec4::splat(0.5);
        let other = images.made(Slot::BaseColor, &scaled, None).unwrap();
        let emissive = images.made(Slot::Emissive, &first, None).unwrap();
        assert_eq!((other.index, emissive.index), (1, 2));
    }

    #[test]
    fn levels_halve_down_to_one_texel() {
        let mut large = source([0; 4], TextureChannel::Rgb, true);
        large.decoded = Arc::new(Decoded {
            texels: RgbaImage::from_pixel(5, 3, image::Rgba([200, 100, 0, 255])),
            original: [5, 3],
            looks_srgb: true,
        });
        let (image, _) = base_color(&large, None);
        assert_eq!(image.texture_descriptor.mip_level_count, 3);
        let data = image.data.unwrap();
        assert_eq!(data.len(), (5 * 3 + 2 + 1) * 4);
        assert!(
            data.chunks_exact(4)
                .all(|texel| texel == [200, 100, 0, 255])
        );
    }

    #[test]
    fn light_above_one_is_a_factor() {
        let mut glow = source([255, 188, 0, 255], TextureChannel::Rgb, true);
        let (image, factor) = emissive(&glow);
        assert_eq!((first(&image), factor), (&[255, 188, 0, 255][..], 1.0));
        glow.used.scale = Vec4::splat(10.0);
        let (image, factor) = emissive(&glow);
        assert_eq!((first(&image), factor), (&[255, 188, 0, 255][..], 10.0));
        glow.used.scale = Vec4::splat(0.5);
        let (image, factor) = emissive(&glow);
        assert_eq!((first(&image), factor), (&[188, 137, 0, 255][..], 1.0));
    }
}
