//! Vectors as texels: floats in EXR, or integers relative to a range in PNG.

use std::io::{Seek, Write};

use ::exr::prelude::{
    Encoding, GetPixel, Image, IntoSample, Layer, LayerAttributes, SpecificChannels, Vec2,
    WritableImage, f16,
};
use glam::Vec3;
use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};

use super::vat_layout::VatLayout;

/// The encoding of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum VatEncoding {
    /// EXR with the channels R, G and B as 32-bit floats, which are exact.
    #[serde(rename = "float32")]
    Float32,
    /// EXR with the channels R, G and B as 16-bit floats, with 11 bits of precision.
    #[serde(rename = "float16")]
    Float16,
    /// RGB PNG with 16 bits: 0 is the smallest value of the range, 65535 the largest.
    #[serde(rename = "unorm16")]
    Unorm16,
    /// RGB PNG with 8 bits: 0 is the smallest value of the range, 255 the largest.
    #[serde(rename = "unorm8")]
    Unorm8,
}

impl VatEncoding {
    /// Whether texels are relative to a range.
    #[must_use]
    pub fn is_normalized(self) -> bool {
        matches!(self, Self::Unorm16 | Self::Unorm8)
    }
}

/// Writes `values`, which are those of all frames, one after the other.
///
/// # Errors
/// The file cannot be written, or values are beyond 65,504 for 16-bit floats.
pub(super) fn write(
    sink: &mut (impl Write + Seek),
    encoding: VatEncoding,
    layout: &VatLayout,
    values: &[Vec3],
    [low, high]: [Vec3; 2],
) -> Result<(), String> {
    let at = |x: u32, y: u32| layout.at(x, y).map(|i| values[i]);
    match encoding {
        VatEncoding::Float32 => exr(sink, layout, |Vec2(x, y)| {
            let v = at(x as u32, y as u32).unwrap_or_default();
            (v.x, v.y, v.z)
        }),
        VatEncoding::Float16 => {
            if low.abs().max(high.abs()).max_element() > f16::MAX.to_f32() {
                return Err(format!(
                    "expected values up to {} for 16-bit floats, found {low} to {high}",
                    f16::MAX
                ));
            }
            exr(sink, layout, |Vec2(x, y)| {
                let v = at(x as u32, y as u32).unwrap_or_default();
                (f16::from_f32(v.x), f16::from_f32(v.y), f16::from_f32(v.z))
            })
        }
        VatEncoding::Unorm16 => {
            let texels = texels(layout, |x, y| {
                quantized(at(x, y), [low, high], 65_535.0).map(|q| q as u16)
            });
            png(
                sink,
                layout,
                bytemuck::cast_slice(&texels),
                ExtendedColorType::Rgb16,
            )
        }
        VatEncoding::Unorm8 => {
            let texels = texels(layout, |x, y| {
                quantized(at(x, y), [low, high], 255.0).map(|q| q as u8)
            });
            png(sink, layout, &texels, ExtendedColorType::Rgb8)
        }
    }
}

/// The nearest steps of the range; 0 if the range is empty.
fn quantized(value: Option<Vec3>, [low, high]: [Vec3; 2], steps: f64) -> [f64; 3] {
    let value = value.unwrap_or(low).as_dvec3();
    let (low, size) = (low.as_dvec3(), high.as_dvec3() - low.as_dvec3());
    std::array::from_fn(|i| match size[i] > 0.0 {
        true => ((value[i] - low[i]) / size[i] * steps)
            .round()
            .clamp(0.0, steps),
        false => 0.0,
    })
}

fn texels<T>(layout: &VatLayout, texel: impl Fn(u32, u32) -> [T; 3]) -> Vec<T> {
    let rows = 0..layout.height;
    let all = rows.flat_map(|y| (0..layout.width).map(move |x| (x, y)));
    all.flat_map(|(x, y)| texel(x, y)).collect()
}

fn png(
    sink: &mut impl Write,
    layout: &VatLayout,
    texels: &[u8],
    color: ExtendedColorType,
) -> Result<(), String> {
    PngEncoder::new(sink)
        .write_image(texels, layout.width, layout.height, color)
        .map_err(|e| e.to_string())
}

fn exr<T: IntoSample>(
    sink: &mut (impl Write + Seek),
    layout: &VatLayout,
    texel: impl GetPixel<Pixel = (T, T, T)>,
) -> Result<(), String> {
    let size = (layout.width as usize, layout.height as usize);
    let image = Image::from_layer(Layer::new(
        size,
        LayerAttributes::default(),
        Encoding::SMALL_LOSSLESS,
        SpecificChannels::rgb(texel),
    ));
    let written = image.write().to_buffered(sink);
    written.map_err(|e| e.to_string())
}

/// Writes texels of four channels.
///
/// # Errors
/// The file cannot be written.
pub(super) fn exr_rgba<T: IntoSample>(
    sink: &mut (impl Write + Seek),
    size: (usize, usize),
    texel: impl GetPixel<Pixel = (T, T, T, T)>,
) -> Result<(), String> {
    let image = Image::from_layer(Layer::new(
        size,
        LayerAttributes::default(),
        Encoding::SMALL_LOSSLESS,
        SpecificChannels::rgba(texel),
    ));
    let written = image.write().to_buffered(sink);
    written.map_err(|e| e.to_string())
}
