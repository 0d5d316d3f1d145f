//! Vectors as texels: floats in EXR, or integers relative to a range in PNG.

use std::io::{Seek, Write};

use ::exr::prelude::{SpecificChannels, Vec2, f16};
use glam::Vec3;
use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};

use super::layout::TextureLayout;
use crate::format::VatEncoding;

/// Writes the channels of an EXR image of this size: `SpecificChannels`, whose type borrows.
macro_rules! exr {
    ($sink:expr, $size:expr, $channels:expr) => {{
        use ::exr::prelude::{Encoding, Image, Layer, LayerAttributes, WritableImage};
        let (width, height) = $size;
        let size = (width as usize, height as usize);
        let attributes = LayerAttributes::default();
        let layer = Layer::new(size, attributes, Encoding::SMALL_LOSSLESS, $channels);
        let written = Image::from_layer(layer).write().to_buffered($sink);
        written.map_err(|e| e.to_string())
    }};
}
pub(super) use exr;

/// Writes `values`, which are those of all frames, one after the other.
///
/// # Errors
/// The file cannot be written, or values are beyond 65,504 for 16-bit floats.
pub(super) fn write(
    sink: &mut (impl Write + Seek),
    encoding: VatEncoding,
    layout: &TextureLayout,
    values: &[Vec3],
    [low, high]: [Vec3; 2],
) -> Result<(), String> {
    let at = |x: u32, y: u32| layout.at(x, y).map(|i| values[i]);
    let size = (layout.width, layout.height);
    let texel = |x: usize, y: usize| at(x as u32, y as u32).unwrap_or_default();
    match encoding {
        VatEncoding::Float32 => {
            let texel = |Vec2(x, y)| <(f32, f32, f32)>::from(texel(x, y));
            exr!(sink, size, SpecificChannels::rgb(texel))
        }
        VatEncoding::Float16 => {
            if low.abs().max(high.abs()).max_element() > f16::MAX.to_f32() {
                return Err(format!(
                    "expected values up to {} for 16-bit floats, found {low} to {high}",
                    f16::MAX
                ));
            }
            let half =
                |Vec2(x, y)| <(f16, f16, f16)>::from(texel(x, y).to_array().map(f16::from_f32));
            exr!(sink, size, SpecificChannels::rgb(half))
        }
        VatEncoding::Unorm16 => {
            let texel = |x, y| quantized(at(x, y), [low, high], 65_535.0).map(|q| q as u16);
            let texels = texels(layout, texel);
            let bytes = bytemuck::cast_slice(&texels);
            png(sink, size, bytes, ExtendedColorType::Rgb16)
        }
        VatEncoding::Unorm8 => {
            let texel = |x, y| quantized(at(x, y), [low, high], 255.0).map(|q| q as u8);
            png(sink, size, &texels(layout, texel), ExtendedColorType::Rgb8)
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

fn texels<T>(layout: &TextureLayout, texel: impl Fn(u32, u32) -> [T; 3]) -> Vec<T> {
    let rows = 0..layout.height;
    let all = rows.flat_map(|y| (0..layout.width).map(move |x| (x, y)));
    all.flat_map(|(x, y)| texel(x, y)).collect()
}

fn png(
    sink: &mut impl Write,
    (width, height): (u32, u32),
    texels: &[u8],
    color: ExtendedColorType,
) -> Result<(), String> {
    PngEncoder::new(sink)
        .write_image(texels, width, height, color)
        .map_err(|e| e.to_string())
}
