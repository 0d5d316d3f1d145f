//! The layout of a bone texture: the texels of each joint in each frame.
//!
//! A frame is a row, and a joint is a few texels of it. If the joints do not fit into one row, they
//! continue in the rows below. If the frames do not fit into one column of frames, they continue in
//! a column to the right of it. Row 0 is the top of the image.

use serde::Serialize;

use super::super::vat_layout::MAX_SIDE;

/// The shape of a bone texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BoneLayout {
    pub width: u32,
    pub height: u32,
    pub joints: u32,
    pub frames: u32,
    pub texels_per_joint: u32,
    pub joints_per_row: u32,
    pub rows_per_frame: u32,
    pub frames_per_column: u32,
    /// Width of a column of frames, in texels.
    pub column_width: u32,
}

impl BoneLayout {
    /// The layout for these numbers of joints and frames. The texture is at most `max_width` texels
    /// wide, which has to be from `texels_per_joint` to [`MAX_SIDE`].
    ///
    /// # Errors
    /// No texture is large enough; the message says how many frames would fit.
    pub fn new(
        joints: usize,
        frames: usize,
        texels_per_joint: u32,
        max_width: u32,
    ) -> Result<Self, String> {
        let joints_at_most = u64::from(max_width / texels_per_joint).max(1);
        let rows = (joints as u64).div_ceil(joints_at_most).max(1);
        // As narrow as this number of rows allows.
        let joints_per_row = (joints as u64).div_ceil(rows).max(1);
        let column_width = joints_per_row * u64::from(texels_per_joint);
        let frames_at_most = u64::from(MAX_SIDE) / rows;
        let columns_at_most = (u64::from(max_width) / column_width).max(1);
        let fit = frames_at_most * columns_at_most;
        if frames as u64 > fit {
            return Err(format!(
                "{joints} joints in {frames} frames do not fit into a texture of {max_width} by {MAX_SIDE} texels, which has room for {fit} frames: bake fewer clips or frames"
            ));
        }
        let columns = (frames as u64).div_ceil(frames_at_most.max(1)).max(1);
        let frames_per_column = (frames as u64).div_ceil(columns).max(1);
        Ok(Self {
            width: (columns * column_width) as u32,
            height: (frames_per_column * rows) as u32,
            joints: joints as u32,
            frames: frames as u32,
            texels_per_joint,
            joints_per_row: joints_per_row as u32,
            rows_per_frame: rows as u32,
            frames_per_column: frames_per_column as u32,
            column_width: column_width as u32,
        })
    }

    /// The place of a texel in an array of all texels: frame by frame, joint by joint. `None` for
    /// an unused texel.
    #[must_use]
    pub fn at(&self, x: u32, y: u32) -> Option<usize> {
        let frame = x / self.column_width * self.frames_per_column + y / self.rows_per_frame;
        let in_row = x % self.column_width;
        let joint = y % self.rows_per_frame * self.joints_per_row + in_row / self.texels_per_joint;
        let texel = in_row % self.texels_per_joint;
        let is_used = frame < self.frames && joint < self.joints;
        is_used.then(|| {
            let of_frame = frame as usize * self.joints as usize + joint as usize;
            of_frame * self.texels_per_joint as usize + texel as usize
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Column and row of a texel, as `OUT.bones.json` tells a shader to compute them.
    fn texel(of: &BoneLayout, frame: u32, joint: u32, texel: u32) -> (u32, u32) {
        let x = frame / of.frames_per_column * of.column_width
            + joint % of.joints_per_row * of.texels_per_joint
            + texel;
        let y = frame % of.frames_per_column * of.rows_per_frame + joint / of.joints_per_row;
        (x, y)
    }

    fn is_whole(of: &BoneLayout) {
        let mut seen = vec![false; (of.frames * of.joints * of.texels_per_joint) as usize];
        for y in 0..of.height {
            for x in 0..of.width {
                let Some(at) = of.at(x, y) else { continue };
                let (joint, part) = (
                    at as u32 / of.texels_per_joint,
                    at as u32 % of.texels_per_joint,
                );
                let place = texel(of, joint / of.joints, joint % of.joints, part);
                assert_eq!(place, (x, y));
                assert!(!std::mem::replace(&mut seen[at], true));
            }
        }
        assert!(seen.iter().all(|s| *s));
    }

    #[test]
    fn a_row_for_each_frame() {
        let layout = BoneLayout::new(21, 24, 3, 8192).unwrap();
        assert_eq!((layout.width, layout.height), (63, 24));
        assert_eq!(texel(&layout, 3, 7, 2), (23, 3));
        is_whole(&layout);
    }

    #[test]
    fn joints_go_on_below_and_frames_to_the_right() {
        let layout = BoneLayout::new(7, 5, 3, 12).unwrap();
        assert_eq!(
            (layout.width, layout.height, layout.rows_per_frame),
            (12, 10, 2)
        );
        is_whole(&layout);
        let layout = BoneLayout::new(2, 40_000, 2, 64).unwrap();
        assert_eq!((layout.width, layout.frames_per_column), (12, 13_334));
        is_whole(&layout);
    }

    #[test]
    fn what_fits_no_texture_is_told() {
        let text = BoneLayout::new(100, 1_000_000, 3, 8192).unwrap_err();
        assert!(text.contains("442368 frames"), "{text}");
        assert!(BoneLayout::new(usize::MAX / 8, 1, 3, 8192).is_err());
    }
}
