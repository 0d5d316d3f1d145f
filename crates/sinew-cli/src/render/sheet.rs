//! Contact sheets: pictures side by side, with the time of each.

use image::RgbaImage;

use super::lettering::{self, LINE, write};

/// A sheet of equal cells. It is at most as large as asked for: whole pixels of cells, and no rest
/// at the right and the bottom.
pub struct Sheet {
    picture: RgbaImage,
    columns: u32,
    cell: [u32; 2],
}

/// Smallest width and height of a cell, in pixels.
pub const LEAST_CELL: u32 = 16;

impl Sheet {
    /// A sheet of at most `size` pixels with `cells` columns and rows; `None` if a cell would be
    /// smaller than [`LEAST_CELL`].
    pub fn new(size: [u32; 2], cells: [u32; 2]) -> Option<Self> {
        let cell = [size[0] / cells[0], size[1] / cells[1]];
        (cell.iter().all(|edge| *edge >= LEAST_CELL)).then(|| Self {
            // As large as all cells together, so that no strip of another colour remains.
            picture: RgbaImage::new(cell[0] * cells[0], cell[1] * cells[1]),
            columns: cells[0],
            cell,
        })
    }

    /// Width and height of one cell, in pixels.
    pub fn cell(&self) -> [u32; 2] {
        self.cell
    }

    /// Puts a picture of a cell's size into cell `number`, counted row by row from 0, with a label
    /// in its lower left corner.
    pub fn put(&mut self, number: u32, picture: &RgbaImage, label: &str) {
        let [width, height] = self.cell;
        let (left, top) = (
            number % self.columns * width,
            number / self.columns * height,
        );
        for (x, y, pixel) in picture.enumerate_pixels() {
            if x < width && y < height {
                self.picture.put_pixel(left + x, top + y, *pixel);
            }
        }
        let scale = (height / 160).clamp(1, 8);
        let width_of_label = lettering::width(label, scale);
        // Leave the label out if it would cover a third of the cell's height or be wider than the
        // cell.
        if height >= 24 * scale && width_of_label + 8 * scale <= width {
            let at = [left + 4 * scale, top + height - LINE * scale];
            write(&mut self.picture, label, at, scale);
        }
    }

    /// The whole sheet.
    pub fn finish(self) -> RgbaImage {
        self.picture
    }
}

#[cfg(test)]
mod tests {
    use image::Rgba;

    use super::*;

    #[test]
    fn cells_fill_the_sheet_row_by_row() {
        assert!(Sheet::new([64, 64], [5, 1]).is_none());
        let mut sheet = Sheet::new([130, 64], [2, 2]).unwrap();
        assert_eq!(sheet.cell(), [65, 32]);
        for i in 0..4u8 {
            let picture = RgbaImage::from_pixel(65, 32, Rgba([i * 10, 0, 0, 255]));
            sheet.put(u32::from(i), &picture, "7");
        }
        let picture = sheet.finish();
        assert_eq!(picture.dimensions(), (130, 64));
        let corners = [(0, 0), (129, 0), (0, 63), (129, 63)];
        assert_eq!(
            corners.map(|(x, y)| picture.get_pixel(x, y).0[0]),
            [0, 10, 20, 30]
        );
        let white = |x0: u32, y0: u32| {
            let cell = (0..65 * 32).map(|i| picture.get_pixel(x0 + i % 65, y0 + i / 65));
            cell.filter(|p| p.0 == [255; 4]).count()
        };
        assert_eq!(
            [white(0, 0), white(65, 32)],
            [white(65, 0); 2],
            "the same label in each"
        );
        assert!(white(0, 0) > 10);
    }
}
