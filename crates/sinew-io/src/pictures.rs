//! Pictures of materials: their formats and file names, and transforms of texture coordinates.

use std::collections::{HashMap, HashSet};
use std::io::Cursor;

use glam::{Mat3, Vec2};
use image::{ImageFormat, ImageReader, Limits};

/// The largest picture file that is read, in bytes.
pub(crate) const LARGEST: u64 = 1 << 30;

/// Memory that decoding one picture may take.
const MOST_DECODED: u64 = 1 << 30;

/// The largest number of characters of a picture's name that are kept.
const LONGEST_NAME: usize = 80;

/// The extension that fits a picture's first bytes; `None` if it is in no format that USD shows.
/// Files often claim a wrong one.
pub(crate) fn extension_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("jpg"),
        [0x76, 0x2F, 0x31, 0x01, ..] => Some("exr"),
        [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', ..] => Some("avif"),
        _ => None,
    }
}

/// Decodes a picture within limits of memory.
pub(crate) fn decode(bytes: &[u8]) -> Result<image::DynamicImage, String> {
    let mut reader = ImageReader::new(Cursor::new(bytes));
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST_DECODED);
    reader.limits(limits);
    let reader = reader.with_guessed_format().map_err(|e| e.to_string())?;
    reader.decode().map_err(|e| e.to_string())
}

/// Whether a picture is WebP, which USD does not show.
pub(crate) fn is_webp(bytes: &[u8]) -> bool {
    matches!(image::guess_format(bytes), Ok(ImageFormat::WebP))
}

/// The width and the height of a picture, in pixels.
pub(crate) fn size_of(bytes: &[u8]) -> Option<(u32, u32)> {
    let reader = ImageReader::new(Cursor::new(bytes));
    reader.with_guessed_format().ok()?.into_dimensions().ok()
}

/// A picture of any format that can be decoded, as PNG.
pub(crate) fn as_png(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut out = Cursor::new(Vec::new());
    let written = decode(bytes)?.write_to(&mut out, ImageFormat::Png);
    written.map_err(|e| e.to_string())?;
    Ok(out.into_inner())
}

/// A name of letters that every file system accepts; `None` if nothing of it is left.
pub(crate) fn plain_stem(name: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let kept = name.chars().take(LONGEST_NAME);
    let stem: String = kept.map(|c| if is_plain(c) { c } else { '_' }).collect();
    (!stem.trim_matches('_').is_empty()).then_some(stem)
}

/// File names that are taken. File systems that know no case exist.
#[derive(Default)]
pub(crate) struct FileNames {
    taken: HashSet<String>,
    /// The number that the next file of a name is tried with.
    next: HashMap<String, usize>,
}

impl FileNames {
    /// A file name that is free, and taken from now on. It is numbered if the plain one is taken.
    pub(crate) fn unique(&mut self, stem: &str, extension: &str) -> String {
        let mut file_name = format!("{stem}.{extension}");
        let next = self.next.entry(file_name.to_ascii_lowercase()).or_insert(2);
        while !self.taken.insert(file_name.to_ascii_lowercase()) {
            file_name = format!("{stem}_{next}.{extension}");
            *next += 1;
        }
        file_name
    }
}

/// A transform of texture coordinates whose v runs downward (glTF), as one of coordinates whose v
/// runs upward (USD, FBX), and the other way.
pub(crate) fn upside_down(transform: Mat3) -> Mat3 {
    let flip = Mat3::from_cols_array(&[1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 1.0, 1.0]);
    flip * transform * flip
}

/// A transform of texture coordinates in parts: scale, then a turn from u to v, then a move.
#[derive(Debug)]
pub(crate) struct UvParts {
    /// In radians.
    pub angle: f32,
    pub scale: [f32; 2],
    pub translation: [f32; 2],
}

impl UvParts {
    /// The parts of a transform. Shear is dropped.
    pub(crate) fn of(m: Mat3) -> Self {
        let (u, v) = (m.x_axis.truncate(), m.y_axis.truncate());
        let width = u.length();
        let angle = match width > 0.0 {
            true => u.y.atan2(u.x),
            false => (-v.x).atan2(v.y),
        };
        let (sin, cos) = angle.sin_cos();
        Self {
            angle,
            scale: [width, cos * v.y - sin * v.x],
            translation: m.z_axis.truncate().to_array(),
        }
    }

    /// Whether these parts are all of a transform.
    pub(crate) fn is_all_of(&self, m: Mat3) -> bool {
        let (scale, moved) = (Vec2::from(self.scale), Vec2::from(self.translation));
        let again = Mat3::from_scale_angle_translation(scale, self.angle, moved);
        let size = scale.x.max(m.y_axis.truncate().length());
        again.abs_diff_eq(m, 1e-5 * (1.0 + size))
    }
}

#[cfg(test)]
mod tests {
    use glam::Mat2;

    use super::*;

    #[test]
    fn names_are_plain_and_unique() {
        assert_eq!(plain_stem("Haut 1.2"), Some("Haut_1_2".to_owned()));
        assert_eq!(plain_stem("日本"), None);
        let mut names = FileNames::default();
        let made = ["skin", "Skin", "skin"].map(|stem| names.unique(stem, "png"));
        assert_eq!(made, ["skin.png", "Skin_2.png", "skin_3.png"]);
    }

    #[test]
    fn uv_transforms_are_the_same_after_the_flip() {
        let flip = |uv: Vec2| Vec2::new(uv.x, 1.0 - uv.y);
        // KHR_texture_transform: offset, counter-clockwise rotation, scale.
        let (offset, angle, scale) = (Vec2::new(0.3, -0.2), 0.7f32, Vec2::new(2.0, -0.5));
        let (s, c) = angle.sin_cos();
        let linear = Mat2::from_cols_array(&[c, -s, s, c]) * Mat2::from_diagonal(scale);
        let transform = Mat3::from_cols(
            linear.x_axis.extend(0.0),
            linear.y_axis.extend(0.0),
            offset.extend(1.0),
        );
        let parts = UvParts::of(upside_down(transform));
        for uv in [Vec2::ZERO, Vec2::X, Vec2::new(0.2, 0.9)] {
            let want = flip(transform.transform_point2(uv));
            let scaled = flip(uv) * Vec2::from(parts.scale);
            let turned = Mat2::from_angle(parts.angle) * scaled;
            let got = turned + Vec2::from(parts.translation);
            assert!(got.abs_diff_eq(want, 1e-5), "{got} for {want}");
            let whole = upside_down(transform).transform_point2(flip(uv));
            assert!(whole.abs_diff_eq(want, 1e-5), "{whole} for {want}");
        }
    }
}
