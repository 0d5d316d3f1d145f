//! Letters in pictures: labels of sheets, and the legend of weights.

use font8x8::UnicodeFonts;
use image::{Rgba, RgbaImage};
use sinew_render::heat_color;

/// Width and height of a letter at scale 1, in pixels.
pub const LETTER: u32 = 8;

/// Writes white letters with a black edge, readable on every colour. `scale` is the size of a dot of
/// a letter in pixels.
pub fn write(picture: &mut RgbaImage, text: &str, [left, top]: [u32; 2], scale: u32) {
    let around = (0..9).filter(|i| *i != 4).map(|i| [i % 3, i / 3]);
    let edge = around.map(|shift| (shift, Rgba([0, 0, 0, 255])));
    for ([across, down], color) in edge.chain([([1, 1], Rgba([255; 4]))]) {
        for (i, letter) in text.chars().enumerate() {
            let rows = font8x8::BASIC_FONTS.get(letter).unwrap_or_default();
            for (y, row) in rows.into_iter().enumerate() {
                for x in (0..LETTER).filter(|x| row >> x & 1 == 1) {
                    let at = [
                        (left + (i as u32 * LETTER + x + across) * scale).saturating_sub(scale),
                        (top + (y as u32 + down) * scale).saturating_sub(scale),
                    ];
                    fill(picture, at, [scale; 2], color);
                }
            }
        }
    }
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
    let (width, height) = picture.dimensions();
    let scale = (height / 320).clamp(1, 8);
    let margin = 6 * scale;
    let bar = [96 * scale, 8 * scale];
    let letters = (width.saturating_sub(2 * margin) / (LETTER * scale)) as usize;
    if width < bar[0] + 2 * margin || height < 60 * scale {
        return;
    }
    let name: String = match joint.chars().count() > letters {
        // The end of a long name tells more than its beginning.
        true => {
            let skipped = joint.chars().count() - letters;
            joint.chars().skip(skipped).collect()
        }
        false => joint.to_owned(),
    };
    write(picture, &name, [margin, margin], scale);
    let top = margin + 11 * scale;
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
    let below = top + bar[1] + 3 * scale;
    write(picture, "0", [margin, below], scale);
    write(
        picture,
        "1",
        [margin + bar[0] - LETTER * scale, below],
        scale,
    );
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
}
