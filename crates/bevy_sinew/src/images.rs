//! Images of UsdPreviewSurface inputs, with their channels where Bevy's standard material wants them.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;

use bevy::asset::RenderAssetUsages;
use bevy::image::{Image, ImageAddressMode, ImageSampler, ImageSamplerDescriptor};
use glam::Vec4;
use image::{DynamicImage, ImageReader, Limits, RgbaImage};
use sinew::scene::{Texture, TextureChannel, TextureUse, TextureWrap};
use wgpu::{Extent3d, TextureDimension, TextureFormat};

/// Largest width and height of an image that is decoded, in texels.
const LARGEST: u32 = 16384;

/// Largest memory for decoding one image, in bytes.
const DECODING_BYTES: u64 = 1 << 30;

/// The decoded images of a character, each decoded once.
#[derive(Default)]
pub(crate) struct Decoder {
    decoded: HashMap<usize, Option<Arc<Decoded>>>,
    /// Why images are not drawn.
    pub messages: Vec<String>,
}

struct Decoded {
    texels: RgbaImage,
    /// Whether `sourceColorSpace = auto` means sRGB.
    looks_srgb: bool,
}

/// How an input reads a decoded image.
pub(crate) struct Source {
    decoded: Arc<Decoded>,
    used: TextureUse,
    is_srgb: bool,
}

impl Decoder {
    /// The image of an input; `None` if it has none, or if it cannot be decoded.
    pub fn source(&mut self, textures: &[Texture], used: Option<&TextureUse>) -> Option<Source> {
        let used = used?;
        let texture = textures.get(used.texture)?;
        let messages = &mut self.messages;
        let decoded = self.decoded.entry(used.texture).or_insert_with(|| {
            // The reader has warned of images without bytes.
            if texture.bytes.is_empty() {
                return None;
            }
            match decode(&texture.bytes) {
                Ok(decoded) => Some(Arc::new(decoded)),
                Err(reason) => {
                    messages.push(format!("{}: texture not drawn: {reason}", texture.asset));
                    None
                }
            }
        });
        let decoded = Arc::clone(decoded.as_ref()?);
        Some(Source {
            is_srgb: used.srgb.unwrap_or(decoded.looks_srgb),
            decoded,
            used: used.clone(),
        })
    }
}

fn decode(bytes: &[u8]) -> Result<Decoded, String> {
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|e| e.to_string())?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(LARGEST);
    limits.max_image_height = Some(LARGEST);
    limits.max_alloc = Some(DECODING_BYTES);
    reader.limits(limits);
    let decoded = reader.decode().map_err(|e| e.to_string())?;
    let looks_srgb = matches!(
        decoded,
        DynamicImage::ImageRgb8(_) | DynamicImage::ImageRgba8(_)
    );
    Ok(Decoded {
        texels: decoded.into_rgba8(),
        looks_srgb,
    })
}

impl Source {
    pub fn used(&self) -> &TextureUse {
        &self.used
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
pub(crate) fn base_color(color: &Source, opacity: Option<&Source>) -> (Image, bool) {
    let of = |s: &Source| s.size();
    let size = largest(of(color), opacity.map(of));
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
pub(crate) fn opacity_only(opacity: &Source) -> (Image, bool) {
    let size = opacity.size();
    let texels = texels(size, |x, y| {
        [255, 255, 255, byte(opacity.number(x, y, size))]
    });
    let is_translucent = texels.iter().skip(3).step_by(4).any(|alpha| *alpha < 250);
    let image = opacity.image(size, TextureFormat::Rgba8UnormSrgb, texels);
    (image, is_translucent)
}

/// Light of the surface itself, as sRGB.
pub(crate) fn emissive(source: &Source) -> Image {
    let size = source.size();
    let texels = texels(size, |x, y| {
        let c = source.at(x, y, size);
        let [r, g, b] = [c.x, c.y, c.z].map(|c| byte(encoded(c)));
        [r, g, b, 255]
    });
    source.image(size, TextureFormat::Rgba8UnormSrgb, texels)
}

/// Roughness in G and metalness in B; 1 for one without an image. `None` if both have none.
pub(crate) fn roughness_metallic(
    roughness: Option<&Source>,
    metallic: Option<&Source>,
) -> Option<Image> {
    let first = roughness.or(metallic)?;
    let size = largest(first.size(), metallic.map(Source::size));
    let of = |source: Option<&Source>, x, y| {
        byte(source.map_or(1.0, |source| source.number(x, y, size)))
    };
    let texels = texels(size, |x, y| {
        [255, of(roughness, x, y), of(metallic, x, y), 255]
    });
    Some(first.image(size, TextureFormat::Rgba8Unorm, texels))
}

/// Occlusion in R.
pub(crate) fn occlusion(source: &Source) -> Image {
    let size = source.size();
    let texels = texels(size, |x, y| [byte(source.number(x, y, size)), 0, 0, 255]);
    source.image(size, TextureFormat::Rgba8Unorm, texels)
}

/// A normal map with 0.5 for 0.
pub(crate) fn normals(source: &Source) -> Image {
    let size = source.size();
    let texels = texels(size, |x, y| {
        let n = source.at(x, y, size);
        let [x, y, z] = [n.x, n.y, n.z].map(|c| byte(c * 0.5 + 0.5));
        [x, y, z, 255]
    });
    source.image(size, TextureFormat::Rgba8Unorm, texels)
}

fn largest(a: [u32; 2], b: Option<[u32; 2]>) -> [u32; 2] {
    let b = b.unwrap_or(a);
    [a[0].max(b[0]), a[1].max(b[1])]
}

fn texels([width, height]: [u32; 2], texel: impl Fn(u32, u32) -> [u8; 4]) -> Vec<u8> {
    let mut out = Vec::with_capacity(width as usize * height as usize * 4);
    for y in 0..height {
        for x in 0..width {
            out.extend(texel(x, y));
        }
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
        let both = roughness_metallic(Some(&rough), Some(&metal)).unwrap();
        assert_eq!(first(&both), [255, 10, 40, 255]);
        assert_eq!(
            first(&roughness_metallic(None, Some(&metal)).unwrap()),
            [255, 255, 40, 255]
        );
        assert!(roughness_metallic(None, None).is_none());
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
        let mut decoder = Decoder::default();
        for _ in 0..2 {
            assert!(
                decoder
                    .source(std::slice::from_ref(&texture), Some(&used))
                    .is_none()
            );
        }
        assert_eq!(decoder.messages.len(), 1);
        assert!(decoder.messages[0].starts_with("skin.png: texture not drawn: "));
    }
}
