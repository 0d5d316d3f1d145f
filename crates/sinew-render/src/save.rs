//! Writes pictures to files.

use std::io::Write;
use std::path::Path;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder, RgbaImage};

use super::error::Result;
use sinew_io::output;

/// A tenth of the time that the best compression takes, for 3 % more bytes (benches/NOTES.md).
const COMPRESSION: CompressionType = CompressionType::Level(4);

/// Neighbours in a row are alike in pictures of characters; the others compress less well.
const FILTER: FilterType = FilterType::Sub;

/// Writes a picture as PNG; without alpha, if all pixels are opaque. The file gets its name only
/// when it is complete.
///
/// # Errors
/// [`super::Error::Io`] if the folder cannot be written to, or the disk is full.
pub fn save_png(file: impl AsRef<Path>, picture: &RgbaImage) -> Result<()> {
    output::replace(file.as_ref(), |sink| {
        write_png(sink, picture).map_err(|e| e.to_string())
    })?;
    Ok(())
}

/// Writes the bytes of the PNG file that [`save_png`] saves.
///
/// # Errors
/// Those of `sink`.
pub fn write_png(sink: impl Write, picture: &RgbaImage) -> std::io::Result<()> {
    let encoder = PngEncoder::new_with_quality(sink, COMPRESSION, FILTER);
    let (width, height) = picture.dimensions();
    let written = match picture.pixels().all(|p| p.0[3] == 255) {
        true => {
            let rgb: Vec<u8> = picture
                .pixels()
                .flat_map(|p| [p.0[0], p.0[1], p.0[2]])
                .collect();
            encoder.write_image(&rgb, width, height, ExtendedColorType::Rgb8)
        }
        false => encoder.write_image(picture.as_raw(), width, height, ExtendedColorType::Rgba8),
    };
    written.map_err(std::io::Error::other)
}
