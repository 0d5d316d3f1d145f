//! Textures decoded, of bounded size, with their mip maps.

use std::collections::HashMap;
use std::io::Cursor;

use image::{DynamicImage, ImageReader, Limits, imageops};
use rayon::prelude::*;

use sinew::scene::{Geometry, TextureUse};

/// Larger pictures are halved until they fit; what is drawn is smaller than that.
const LARGEST: u32 = 2048;

/// A picture wider or higher than this is not decoded at all.
const LARGEST_DECODED: u32 = 16384;

/// Bytes that decoding one picture may take.
const DECODING_BYTES: u64 = 1 << 30;

/// Decoded pictures of one stage together, in bytes.
const ALL_BYTES: u64 = 1 << 30;

/// Pictures decoded side by side.
const AT_ONCE: usize = 8;

/// A decoded picture of 8 bits and four channels.
#[derive(Debug)]
pub(super) struct Picture {
    /// Whether `auto` takes it for sRGB: it has three or four channels of 8 bits.
    pub looks_srgb: bool,
    /// Whether some texel is not opaque.
    pub translucent: bool,
    /// The picture and its halves, down to one texel.
    pub levels: Vec<image::RgbaImage>,
}

/// Decodes the pictures that base colours read; `None` for the others and for those that cannot be read.
pub(super) fn decode(geometry: &Geometry, messages: &mut Vec<String>) -> Vec<Option<Picture>> {
    let mut wanted: HashMap<usize, bool> = HashMap::new();
    let materials = geometry.materials.iter();
    for used in materials.filter_map(|m| m.diffuse_color.texture.as_ref()) {
        let linear = used.srgb == Some(false);
        *wanted.entry(used.texture).or_insert(linear) &= linear;
    }
    let wanted = |i| wanted.get(&i).copied();
    let mut bytes = 0;
    let mut out = Vec::with_capacity(geometry.textures.len());
    // A few at a time, so that no more than those are decoded beyond what all may take.
    for (b, batch) in geometry.textures.chunks(AT_ONCE).enumerate() {
        let full = bytes > ALL_BYTES;
        let decoded: Vec<_> = batch
            .par_iter()
            .enumerate()
            .map(|(i, texture)| {
                let linear = wanted(b * AT_ONCE + i)?;
                // What has no bytes was warned of by the reader.
                (!texture.bytes.is_empty()).then(|| match full {
                    true => Err(too_much()),
                    false => picture(&texture.bytes, linear),
                })
            })
            .collect();
        for (texture, decoded) in batch.iter().zip(decoded) {
            let reason = match decoded {
                None => None,
                Some(Ok(picture)) => {
                    bytes += picture.levels.iter().map(|l| l.len() as u64).sum::<u64>();
                    if bytes <= ALL_BYTES {
                        out.push(Some(picture));
                        continue;
                    }
                    Some(too_much())
                }
                Some(Err(reason)) => Some(reason),
            };
            messages.extend(reason.map(|reason| format!("{}: not drawn: {reason}", texture.asset)));
            out.push(None);
        }
    }
    out
}

fn too_much() -> String {
    format!("all pictures together take more than {ALL_BYTES} bytes")
}

/// Whether texels of a picture, as one use reads them, are sRGB.
pub(super) fn is_srgb(used: &TextureUse, picture: &Picture) -> bool {
    used.srgb.unwrap_or(picture.looks_srgb)
}

fn picture(bytes: &[u8], linear: bool) -> Result<Picture, String> {
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
    let translucent = largest.pixels().any(|p| p.0[3] < 250);
    let mut levels = vec![largest];
    while let Some(last) = levels.last().filter(|l| l.width().max(l.height()) > 1) {
        levels.push(half(last, linear));
    }
    Ok(Picture {
        looks_srgb,
        translucent,
        levels,
    })
}

/// A picture of half the size, each texel the mean of four; of sRGB ones the mean of their light.
fn half(picture: &image::RgbaImage, linear: bool) -> image::RgbaImage {
    let (width, height) = ((picture.width() / 2).max(1), (picture.height() / 2).max(1));
    if linear {
        return imageops::thumbnail(picture, width, height);
    }
    // A square is close to sRGB's curve, and a mean needs no more.
    image::RgbaImage::from_fn(width, height, |x, y| {
        let mut sum = [0u32; 4];
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let at = |v: u32, d: u32, size: u32| (v * 2 + d).min(size - 1);
            let p = picture
                .get_pixel(at(x, dx, picture.width()), at(y, dy, picture.height()))
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
        let picture = picture(&png(&image), false).unwrap();
        let sizes: Vec<_> = picture.levels.iter().map(|l| l.dimensions()).collect();
        assert_eq!(sizes, [(5, 3), (2, 1), (1, 1)]);
        assert_eq!(picture.levels[2].get_pixel(0, 0).0, [200, 100, 0, 255]);
        assert!(picture.looks_srgb && !picture.translucent);
    }

    #[test]
    fn what_is_no_picture_or_too_large_is_refused() {
        assert!(picture(b"no picture", false).is_err());
        let wide = image::RgbaImage::new(LARGEST_DECODED + 1, 1);
        assert!(picture(&png(&wide), false).is_err());
    }
}
