//! Decodes texture images to a bounded size, with mip levels.

use std::collections::HashMap;
use std::io::Cursor;

use image::{DynamicImage, ImageReader, Limits, imageops};
use rayon::prelude::*;

use sinew::error::Warning;
use sinew::scene::{Geometry, TextureUse};

/// Largest width and height of a texture, in texels. Larger images are halved until they fit;
/// pictures of characters need no more detail.
const LARGEST: u32 = 2048;

/// Largest width and height of an image that is decoded, in texels.
const LARGEST_DECODED: u32 = 16384;

/// Largest memory for decoding one image, in bytes.
const DECODING_BYTES: u64 = 1 << 30;

/// Largest memory of all decoded images of one stage, in bytes.
const ALL_BYTES: u64 = 1 << 30;

/// Number of images that are decoded in parallel.
const AT_ONCE: usize = 8;

/// A decoded texture image with four channels of 8 bits.
#[derive(Debug)]
pub(super) struct TextureImage {
    /// Whether `sourceColorSpace = auto` means sRGB: the image has three or four channels of 8
    /// bits.
    pub looks_srgb: bool,
    /// The smallest value of each channel.
    pub least: [u8; 4],
    /// Mip levels: the image, and each following level half as large, down to one texel.
    pub levels: Vec<image::RgbaImage>,
}

/// Decodes the images that materials use, by the index of their texture in
/// [`Geometry::textures`]. `None` for images that cannot be decoded; a warning then says why.
pub(super) fn decode(
    geometry: &Geometry,
    warnings: &mut Vec<Warning>,
) -> Vec<Option<TextureImage>> {
    // For each used texture, whether all uses read it as linear.
    let mut used_as_linear: HashMap<usize, bool> = HashMap::new();
    let materials = geometry.materials.iter();
    for used in materials.flat_map(|m| m.textures()) {
        let linear = used.srgb == Some(false);
        *used_as_linear.entry(used.texture).or_insert(linear) &= linear;
    }
    let mut bytes = 0;
    let mut out = Vec::with_capacity(geometry.textures.len());
    // In batches, so that at most one batch is decoded beyond the limit of memory.
    for (b, batch) in geometry.textures.chunks(AT_ONCE).enumerate() {
        let full = bytes > ALL_BYTES;
        let decoded: Vec<_> = batch
            .par_iter()
            .enumerate()
            .map(|(i, texture)| {
                let linear = *used_as_linear.get(&(b * AT_ONCE + i))?;
                // The reader has warned of textures without bytes.
                (!texture.bytes.is_empty()).then(|| match full {
                    true => Err(too_much()),
                    false => decode_one(&texture.bytes, linear),
                })
            })
            .collect();
        for (texture, decoded) in batch.iter().zip(decoded) {
            let reason = match decoded {
                None => None,
                Some(Ok(image)) => {
                    bytes += image.levels.iter().map(|l| l.len() as u64).sum::<u64>();
                    if bytes <= ALL_BYTES {
                        out.push(Some(image));
                        continue;
                    }
                    Some(too_much())
                }
                Some(Err(reason)) => Some(reason),
            };
            warnings.extend(reason.map(|reason| {
                let message = format!("the picture cannot be drawn: {reason}");
                Warning::new("texture-left-out", &texture.asset, message)
            }));
            out.push(None);
        }
    }
    out
}

fn too_much() -> String {
    format!("all textures together take more than {ALL_BYTES} bytes")
}

/// Whether a use of a texture reads its texels as sRGB.
pub(super) fn is_srgb(used: &TextureUse, image: &TextureImage) -> bool {
    used.srgb.unwrap_or(image.looks_srgb)
}

/// Decodes one image. `linear` says that its texels are linear and not sRGB, for the mip levels.
fn decode_one(bytes: &[u8], linear: bool) -> Result<TextureImage, String> {
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
    let mut largest = decoded.into_rgba8();
    while largest.width().max(largest.height()) > LARGEST {
        largest = half(&largest, linear);
    }
    let mut least = [255; 4];
    for pixel in largest.pixels() {
        for (least, value) in least.iter_mut().zip(pixel.0) {
            *least = value.min(*least);
        }
    }
    Ok(TextureImage {
        looks_srgb,
        least,
        levels: with_levels(largest, linear),
    })
}

/// An image with all its mip levels.
fn with_levels(image: image::RgbaImage, linear: bool) -> Vec<image::RgbaImage> {
    let mut levels = vec![image];
    while let Some(last) = levels.last().filter(|l| l.width().max(l.height()) > 1) {
        levels.push(half(last, linear));
    }
    levels
}

/// The picture that stands for one that cannot be read: eight by eight squares in two greys.
pub(super) fn checker() -> Vec<image::RgbaImage> {
    let image = image::RgbaImage::from_fn(64, 64, |x, y| {
        let grey = match (x / 8 + y / 8) % 2 {
            0 => 105,
            _ => 165,
        };
        image::Rgba([grey, grey, grey, 255])
    });
    with_levels(image, false)
}

/// An image of half the size. Each texel is the mean of four; for sRGB texels it is the mean of
/// their light.
fn half(image: &image::RgbaImage, linear: bool) -> image::RgbaImage {
    let (width, height) = ((image.width() / 2).max(1), (image.height() / 2).max(1));
    if linear {
        return imageops::thumbnail(image, width, height);
    }
    // A square is close enough to the sRGB curve for a mean.
    image::RgbaImage::from_fn(width, height, |x, y| {
        let mut sum = [0u32; 4];
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let at = |v: u32, d: u32, size: u32| (v * 2 + d).min(size - 1);
            let p = image
                .get_pixel(at(x, dx, image.width()), at(y, dy, image.height()))
                .0;
            for c in 0..3 {
                sum[c] += u32::from(p[c]).pow(2);
            }
            sum[3] += u32::from(p[3]);
        }
        let mean = |s: u32| f64::from(s / 4).sqrt().round() as u8;
        image::Rgba([mean(sum[0]), mean(sum[1]), mean(sum[2]), (sum[3] / 4) as u8])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(image: &image::RgbaImage) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn levels_halve_down_to_one_texel() {
        let image = image::RgbaImage::from_pixel(5, 3, image::Rgba([200, 100, 0, 255]));
        let decoded = decode_one(&png(&image), false).unwrap();
        let sizes: Vec<_> = decoded.levels.iter().map(|l| l.dimensions()).collect();
        assert_eq!(sizes, [(5, 3), (2, 1), (1, 1)]);
        assert_eq!(decoded.levels[2].get_pixel(0, 0).0, [200, 100, 0, 255]);
        assert!(decoded.looks_srgb);
        assert_eq!(decoded.least, [200, 100, 0, 255]);
    }

    #[test]
    fn other_data_and_images_too_large_are_refused() {
        assert!(decode_one(b"no image", false).is_err());
        let wide = image::RgbaImage::new(LARGEST_DECODED + 1, 1);
        assert!(decode_one(&png(&wide), false).is_err());
    }
}
