//! The layout of a texture of frames: the texels of each item, a vertex or a joint, in each frame.
//!
//! An item has one or several texels beside each other. A frame is a row of items. If the items do
//! not fit into one row, they continue in the rows below. Every frame starts a new row. If the
//! frames do not fit into one column of frames, they may continue in a column to the right of it.
//! Row 0 is the top of the image.

use serde::Serialize;

use crate::format::MAX_SIDE;

/// The shape of a texture of frames; serialized as that of a bone texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TextureLayout {
    pub width: u32,
    pub height: u32,
    #[serde(rename = "joints")]
    pub items: u32,
    pub frames: u32,
    #[serde(rename = "texelsPerJoint")]
    pub texels_per_item: u32,
    #[serde(rename = "jointsPerRow")]
    pub items_per_row: u32,
    pub rows_per_frame: u32,
    pub frames_per_column: u32,
    /// Width of a column of frames, in texels.
    pub column_width: u32,
}

impl TextureLayout {
    /// The layout of vertices, with one texel each and one column of frames. The texture is at most
    /// `max_width` texels wide, which has to be 1 to [`MAX_SIDE`].
    ///
    /// # Errors
    /// The texture would be higher than [`MAX_SIDE`]; the message says what would fit.
    pub fn of_vertices(vertices: usize, frames: usize, max_width: u32) -> Result<Self, String> {
        let layout = Self::new(vertices, frames, 1, (max_width, 1));
        layout.map_err(|fit| {
            let (rows, _) = rows(vertices, u64::from(max_width));
            let (widest, _) = self::rows(vertices, u64::from(MAX_SIDE));
            let wider = match max_width < MAX_SIDE && widest < rows {
                true => {
                    let fit = u64::from(MAX_SIDE) / widest;
                    format!(", and {fit} frames in one {MAX_SIDE} wide")
                }
                false => String::new(),
            };
            let height = rows * frames as u64;
            format!(
                "{vertices} vertices in {frames} frames need {height} rows, but a texture has at most {MAX_SIDE}, which is {fit} \
                 frames in one {max_width} wide{wider}: bake fewer frames or fewer prims"
            )
        })
    }

    /// The layout of joints, with as many columns of frames as fit into `max_width`, which has to
    /// be from `texels` to [`MAX_SIDE`].
    ///
    /// # Errors
    /// No texture is large enough; the message says how many frames would fit.
    pub fn of_joints(
        joints: usize,
        frames: usize,
        texels: u32,
        max_width: u32,
    ) -> Result<Self, String> {
        let layout = Self::new(joints, frames, texels, (max_width, u32::MAX));
        layout.map_err(|fit| {
            format!(
                "{joints} joints in {frames} frames do not fit into a texture of {max_width} by {MAX_SIDE} texels, which has room for {fit} frames: bake fewer clips or frames"
            )
        })
    }

    /// # Errors
    /// The number of frames that would fit.
    fn new(
        items: usize,
        frames: usize,
        texels_per_item: u32,
        (max_width, most_columns): (u32, u32),
    ) -> Result<Self, u64> {
        let (rows, items_per_row) = rows(items, u64::from(max_width / texels_per_item));
        let column_width = items_per_row * u64::from(texels_per_item);
        let frames_at_most = u64::from(MAX_SIDE) / rows;
        let columns_at_most = (u64::from(max_width) / column_width).max(1);
        let fit = frames_at_most * columns_at_most.min(u64::from(most_columns));
        if frames as u64 > fit {
            return Err(fit);
        }
        let columns = (frames as u64).div_ceil(frames_at_most.max(1)).max(1);
        let frames_per_column = (frames as u64).div_ceil(columns).max(1);
        Ok(Self {
            width: (columns * column_width) as u32,
            height: (frames_per_column * rows) as u32,
            items: items as u32,
            frames: frames as u32,
            texels_per_item,
            items_per_row: items_per_row as u32,
            rows_per_frame: rows as u32,
            frames_per_column: frames_per_column as u32,
            column_width: column_width as u32,
        })
    }

    /// The place of a texel in an array of all texels: frame by frame, item by item. `None` for an
    /// unused texel.
    #[must_use]
    pub fn at(&self, x: u32, y: u32) -> Option<usize> {
        let frame = x / self.column_width * self.frames_per_column + y / self.rows_per_frame;
        let in_row = x % self.column_width;
        let item = y % self.rows_per_frame * self.items_per_row + in_row / self.texels_per_item;
        let texel = in_row % self.texels_per_item;
        let is_used = frame < self.frames && item < self.items;
        is_used.then(|| {
            let of_frame = frame as usize * self.items as usize + item as usize;
            of_frame * self.texels_per_item as usize + texel as usize
        })
    }

    /// The centre of a vertex's texel in the first frame, with v pointing down from the top.
    #[must_use]
    pub fn uv(&self, vertex: u32) -> [f32; 2] {
        let (column, row) = (vertex % self.items_per_row, vertex / self.items_per_row);
        let middle = |at: u32, of: u32| ((f64::from(at) + 0.5) / f64::from(of)) as f32;
        [middle(column, self.width), middle(row, self.height)]
    }
}

/// Rows of a frame, and items of a row, as few as this number of rows allows.
fn rows(items: usize, items_at_most: u64) -> (u64, u64) {
    let rows = (items as u64).div_ceil(items_at_most.max(1)).max(1);
    (rows, (items as u64).div_ceil(rows).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Column and row of a texel, as `OUT.bones.json` tells a shader to compute them.
    fn texel(of: &TextureLayout, frame: u32, item: u32, texel: u32) -> (u32, u32) {
        let x = frame / of.frames_per_column * of.column_width
            + item % of.items_per_row * of.texels_per_item
            + texel;
        let y = frame % of.frames_per_column * of.rows_per_frame + item / of.items_per_row;
        (x, y)
    }

    /// Every texel of every item in every frame has one place. Returns width, height and rows.
    fn whole(of: &TextureLayout) -> (u32, u32, u32) {
        let mut seen = vec![false; (of.frames * of.items * of.texels_per_item) as usize];
        for (x, y) in (0..of.height).flat_map(|y| (0..of.width).map(move |x| (x, y))) {
            let Some(at) = of.at(x, y) else { continue };
            let (item, part) = (
                at as u32 / of.texels_per_item,
                at as u32 % of.texels_per_item,
            );
            let place = texel(of, item / of.items, item % of.items, part);
            assert_eq!(place, (x, y));
            assert!(!std::mem::replace(&mut seen[at], true));
        }
        assert!(seen.iter().all(|s| *s));
        (of.width, of.height, of.rows_per_frame)
    }

    #[test]
    fn vertices_are_columns_and_frames_rows() {
        let layout = TextureLayout::of_vertices(100, 24, 8192).unwrap();
        assert_eq!(whole(&layout), (100, 24, 1));
        assert_eq!(layout.uv(0), [0.005, 0.5 / 24.0]);
        let layout = TextureLayout::of_vertices(10, 3, 4).unwrap();
        assert_eq!(whole(&layout), (4, 9, 3));
        assert_eq!(layout.uv(9), [0.375, 2.5 / 9.0]);
        // 3 rows could be 4 wide; 9 vertices need but 3.
        assert_eq!(TextureLayout::of_vertices(9, 1, 4).unwrap().width, 3);
        assert_eq!(TextureLayout::of_vertices(0, 1, 1).unwrap().width, 1);
    }

    #[test]
    fn joints_go_on_below_and_frames_to_the_right() {
        let layout = TextureLayout::of_joints(21, 24, 3, 8192).unwrap();
        assert_eq!(whole(&layout), (63, 24, 1));
        assert_eq!(texel(&layout, 3, 7, 2), (23, 3));
        let layout = TextureLayout::of_joints(7, 5, 3, 12).unwrap();
        assert_eq!(whole(&layout), (12, 10, 2));
        let layout = TextureLayout::of_joints(2, 40_000, 2, 64).unwrap();
        assert_eq!((whole(&layout).0, layout.frames_per_column), (12, 13_334));
    }

    #[test]
    fn what_fits_no_texture_is_told() {
        let text = TextureLayout::of_vertices(100_000, 5_000, 8192).unwrap_err();
        for word in [
            "100000 vertices",
            "65000 rows",
            "1260 frames",
            "2340 frames in one 16384 wide",
        ] {
            assert!(text.contains(word), "{text} should say {word}");
        }
        assert!(TextureLayout::of_vertices(usize::MAX / 4, 1, 8192).is_err());
        let text = TextureLayout::of_joints(100, 1_000_000, 3, 8192).unwrap_err();
        assert!(text.contains("442368 frames"), "{text}");
        assert!(TextureLayout::of_joints(usize::MAX / 8, 1, 3, 8192).is_err());
    }
}
