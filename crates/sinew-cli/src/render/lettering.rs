//! Letters in pictures: labels of sheets, and the legend of weights.

use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use image::{Rgba, RgbaImage};
use sinew_render::heat_color;

/// Height of a line of text at scale 1, in pixels.
pub const LINE: u32 = 15;
/// Factor of the share of a pixel that a letter covers: lines of small letters are about a pixel wide,
/// seldom on one pixel, and would be grey.
const BOLD: f32 = 2.0;

/// The font, whose letters are all of one width; `None` if the library's cannot be read.
fn font() -> Option<FontRef<'static>> {
    FontRef::try_from_slice(epaint_default_fonts::HACK_REGULAR).ok()
}

/// Width in pixels of a text at `scale`.
pub fn width(text: &str, scale: u32) -> u32 {
    let letter = font().map_or(0.0, |font| {
        let font = font.as_scaled(PxScale::from((LINE * scale) as f32));
        font.h_advance(font.glyph_id('0'))
    });
    (letter * text.chars().count() as f32).ceil() as u32
}

/// Writes white letters with a black edge, readable on every colour. They are [`LINE`] times `scale`
/// pixels high.
pub fn write(picture: &mut RgbaImage, text: &str, [left, top]: [u32; 2], scale: u32) {
    let Some(font) = font() else {
        return;
    };
    let size = PxScale::from((LINE * scale) as f32);
    let font = font.as_scaled(size);
    let around = (0..9).filter(|i| *i != 4).map(|i| [i % 3 - 1, i / 3 - 1]);
    let edge = around.map(|shift| (shift, Rgba([0, 0, 0, 255])));
    for (shift, color) in edge.chain([([0, 0], Rgba([255; 4]))]) {
        let [across, down] = shift.map(|n: i32| n as f32 * scale as f32);
        let mut x = left as f32 + across;
        let y = top as f32 + font.ascent() + down;
        for letter in text.chars() {
            let id = font.glyph_id(letter);
            if let Some(outline) = font.outline_glyph(id.with_scale_and_position(size, point(x, y)))
            {
                let corner = outline.px_bounds().min;
                outline.draw(|across, down, covered| {
                    let at = [
                        corner.x as i64 + i64::from(across),
                        corner.y as i64 + i64::from(down),
                    ];
                    cover(picture, at, color, covered * BOLD);
                });
            }
            x += font.h_advance(id);
        }
    }
}

/// Covers a part of a pixel, from 0 to 1, with an opaque colour. Pixels outside the picture are left out.
fn cover(picture: &mut RgbaImage, at: [i64; 2], color: Rgba<u8>, part: f32) {
    let [Ok(x), Ok(y)] = at.map(u32::try_from) else {
        return;
    };
    let Some(pixel) = picture.get_pixel_mut_checked(x, y) else {
        return;
    };
    let part = part.clamp(0.0, 1.0);
    let before = f32::from(pixel.0[3]) / 255.0 * (1.0 - part);
    let alpha = part + before;
    for (under, over) in pixel.0.iter_mut().zip(color.0).take(3) {
        let mixed = (f32::from(over) * part + f32::from(*under) * before) / alpha.max(1e-6);
        *under = mixed.round() as u8;
    }
    pixel.0[3] = (alpha * 255.0).round() as u8;
}

fn fill(
    picture: &mut RgbaImage,
    [left, top]: [u32; 2],
    [width, height]: [u32; 2],
    color: Rgba<u8>,
) {
    let (right, bottom) = picture.dimensions();
    for y in top..(top + height).min(bottom) {
        for x in left..(left + width).min(right) {
            picture.put_pixel(x, y, color);
        }
    }
}

/// Draws the colours of weights with their numbers and the name of the joint, in the upper left
/// corner. A picture that is too small for it gets none.
pub fn legend(picture: &mut RgbaImage, joint: &str) {
    let (across, height) = picture.dimensions();
    let scale = (height / 320).clamp(1, 8);
    let margin = 6 * scale;
    let bar = [96 * scale, 8 * scale];
    if across < bar[0] + 2 * margin || height < 60 * scale {
        return;
    }
    // The end of a long name tells more than its beginning.
    let room = across - 2 * margin;
    let mut name = joint;
    while width(name, scale) > room {
        let mut letters = name.chars();
        letters.next();
        name = letters.as_str();
    }
    write(picture, name, [margin, margin - 3 * scale], scale);
    let top = margin + 13 * scale;
    let border = [margin - scale, top - scale];
    let size = [bar[0] + 2 * scale, bar[1] + 2 * scale];
    fill(picture, border, size, Rgba([0, 0, 0, 255]));
    for x in 0..bar[0] {
        let color = heat_color(x as f32 / (bar[0] - 1) as f32);
        let [r, g, b] = color.map(|c| (c * 255.0).round() as u8);
        fill(
            picture,
            [margin + x, top],
            [1, bar[1]],
            Rgba([r, g, b, 255]),
        );
    }
    let below = top + bar[1] + scale;
    write(picture, "0", [margin, below], scale);
    let right = (margin + bar[0]).saturating_sub(width("1", scale));
    write(picture, "1", [right, below], scale);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_legend_goes_from_blue_to_yellow_and_needs_room() {
        let mut picture = RgbaImage::new(320, 200);
        legend(&mut picture, "LeftForeArm");
        let row = |x: u32| picture.get_pixel(x, 20).0;
        assert_eq!(row(6), [68, 1, 84, 255]);
        assert_eq!(row(6 + 95), [253, 231, 37, 255]);
        assert!(picture.pixels().any(|p| p.0 == [255; 4]));
        let mut small = RgbaImage::new(64, 48);
        legend(&mut small, "a");
        assert_eq!(small, RgbaImage::new(64, 48));
    }

    #[test]
    fn text_stays_in_its_width_and_in_the_picture() {
        let mut picture = RgbaImage::new(100, 30);
        write(&mut picture, "M8", [10, 5], 1);
        let right = 10 + width("M8", 1);
        let lit: Vec<_> = picture
            .enumerate_pixels()
            .filter(|(.., p)| p.0[3] > 0)
            .collect();
        assert!(lit.iter().any(|(.., p)| p.0 == [255; 4]));
        assert!(lit.iter().all(|(x, ..)| (9..=right).contains(x)), "{right}");
        write(&mut picture, "outside of it", [90, 25], 4);
    }
}
