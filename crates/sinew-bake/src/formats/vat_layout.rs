//! The layout of a vertex animation texture: the texel of each vertex in each frame.
//!
//! A frame is a row, and a vertex is a column. If the vertices do not fit into one row, they
//! continue in the rows below. Every frame starts a new row. Row 0 is the top of the image.

/// The largest width and height of a texture: the limit of Direct3D 11 and of most Vulkan devices.
pub const MAX_SIDE: u32 = 16_384;

/// The shape of a vertex animation texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VatLayout {
    pub vertices: u32,
    pub frames: u32,
    pub width: u32,
    pub height: u32,
    pub rows_per_frame: u32,
}

impl VatLayout {
    /// The layout for these numbers of vertices and frames. The texture is at most `max_width`
    /// texels wide, which has to be 1 to [`MAX_SIDE`].
    ///
    /// # Errors
    /// The texture would be higher than [`MAX_SIDE`]; the message says what would fit.
    pub fn new(vertices: usize, frames: usize, max_width: u32) -> Result<Self, String> {
        let max_width = max_width.clamp(1, MAX_SIDE);
        let rows = (vertices as u64).div_ceil(u64::from(max_width)).max(1);
        let height = rows * frames as u64;
        if height > u64::from(MAX_SIDE) {
            let widest = (vertices as u64).div_ceil(u64::from(MAX_SIDE)).max(1);
            let fit = u64::from(MAX_SIDE) / widest;
            let wider = match max_width < MAX_SIDE && widest < rows {
                true => format!(", and {fit} frames in one {MAX_SIDE} wide"),
                false => String::new(),
            };
            return Err(format!(
                "{vertices} vertices in {frames} frames need {height} rows, but a texture has at most {MAX_SIDE}, which is {} \
                 frames in one {max_width} wide{wider}: bake fewer frames or fewer prims",
                u64::from(MAX_SIDE) / rows
            ));
        }
        // As narrow as this number of rows allows.
        let width = (vertices as u64).div_ceil(rows).max(1);
        Ok(Self {
            vertices: vertices as u32,
            frames: frames as u32,
            width: width as u32,
            height: height as u32,
            rows_per_frame: rows as u32,
        })
    }

    /// Column and row of a vertex in a frame.
    #[must_use]
    pub fn texel(&self, frame: u32, vertex: u32) -> (u32, u32) {
        let row = frame * self.rows_per_frame + vertex / self.width;
        (vertex % self.width, row)
    }

    /// The index of a texel's vertex in an array of all frames, one after the other; `None` for an
    /// unused texel.
    #[must_use]
    pub fn at(&self, column: u32, row: u32) -> Option<usize> {
        let (frame, row) = (row / self.rows_per_frame, row % self.rows_per_frame);
        let vertex = row * self.width + column;
        let in_frame = vertex < self.vertices && column < self.width;
        in_frame.then_some(frame as usize * self.vertices as usize + vertex as usize)
    }

    /// The centre of a vertex's texel in the first frame, with v pointing down from the top.
    #[must_use]
    pub fn uv(&self, vertex: u32) -> [f32; 2] {
        let (column, row) = self.texel(0, vertex);
        let middle = |at: u32, of: u32| ((f64::from(at) + 0.5) / f64::from(of)) as f32;
        [middle(column, self.width), middle(row, self.height)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_for_each_frame() {
        let layout = VatLayout::new(100, 24, 8192).unwrap();
        assert_eq!(
            (layout.width, layout.height, layout.rows_per_frame),
            (100, 24, 1)
        );
        assert_eq!(layout.texel(3, 7), (7, 3));
        assert_eq!(layout.uv(0), [0.005, 0.5 / 24.0]);
    }

    #[test]
    fn wide_frames_go_on_below() {
        let layout = VatLayout::new(10, 3, 4).unwrap();
        assert_eq!(
            (layout.width, layout.height, layout.rows_per_frame),
            (4, 9, 3)
        );
        assert_eq!(layout.texel(2, 9), (1, 8));
        let mut seen = [0; 30];
        for row in 0..layout.height {
            for column in 0..layout.width {
                if let Some(at) = layout.at(column, row) {
                    seen[at] += 1;
                    assert_eq!(layout.texel(at as u32 / 10, at as u32 % 10), (column, row));
                }
            }
        }
        assert!(seen.iter().all(|n| *n == 1));
        // 3 rows could be 4 wide; 9 vertices need but 3.
        assert_eq!(VatLayout::new(9, 1, 4).unwrap().width, 3);
    }

    #[test]
    fn what_fits_no_texture_is_told() {
        let text = VatLayout::new(100_000, 5_000, 8192).unwrap_err();
        for word in [
            "100000 vertices",
            "65000 rows",
            "1260 frames",
            "2340 frames in one 16384 wide",
        ] {
            assert!(text.contains(word), "{text} should say {word}");
        }
        assert!(VatLayout::new(usize::MAX / 4, 1, 8192).is_err());
        assert_eq!(VatLayout::new(0, 1, 1).unwrap().width, 1);
    }
}
