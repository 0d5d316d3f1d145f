//! Skins on the GPU: their slices, appended to pages.

use std::ops::Range;
use std::sync::Arc;

use super::GpuError;
use super::arena::Arena;
use super::blend_lists::SkinLists;
use super::skinner::Skinner;
use crate::kernel::encoded_skin::{self, MultiPoseValues, SliceOffsets, TooLarge};
use crate::kernel::{BlendIndex, NONE, PackedSkin};

/// A run of results whose static data lies in one page, which is what one bind group holds of it.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub page: usize,
    /// Number of its first result.
    pub first: usize,
    /// Where its arrays begin in the page.
    pub item: SliceOffsets,
    /// What items' flags say of its data.
    pub flags: u32,
    /// Its blend entries, for lists of some of them.
    pub blend: Option<Arc<BlendIndex>>,
    /// How its values are encoded, if a kernel of its own skins it in several poses.
    pub plain: Option<MultiPoseValues>,
}

impl Slice {
    /// False for a run of faceVarying normals.
    pub fn has_points(&self) -> bool {
        self.item.points != NONE
    }

    /// From rest normals, or made ones.
    pub fn has_normals(&self) -> bool {
        self.item.normals != NONE || self.makes_normals()
    }

    pub fn makes_normals(&self) -> bool {
        self.item.neighbor_rows != NONE
    }

    pub fn has_tangents(&self) -> bool {
        self.item.tangents != NONE
    }
}

/// Where the shape tables of a skin lie, for the weights kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShapeTables {
    pub page: usize,
    /// First word of the slots, two each.
    pub slots: u32,
    /// First word of the positions.
    pub positions: u32,
    pub slot_count: u32,
    pub sub_shape_count: u32,
}

/// A skin's place on the GPU.
#[derive(Clone, Debug)]
pub(super) struct GpuSkin {
    pub held: Held,
    pub slices: Vec<Slice>,
    pub shapes: Option<ShapeTables>,
    pub lists: SkinLists,
}

/// What a skin holds of the pages: of each of them, these bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Held(Vec<(usize, Range<u64>)>);

impl Held {
    /// What was appended to any page since this was called last.
    fn collect(pages: &mut [Arena]) -> Self {
        let mut out = Vec::new();
        for (number, page) in pages.iter_mut().enumerate() {
            out.extend(page.take_appended().into_iter().map(|r| (number, r)));
        }
        Self(out)
    }

    /// Adds bytes that were taken for it.
    pub fn hold(&mut self, page: usize, bytes: Range<u64>) {
        self.0.push((page, bytes));
    }

    /// Makes room for other skins.
    pub fn give_back(self, pages: &mut [Arena]) {
        for (page, range) in self.0 {
            pages[page].give_back(range.start, range.end - range.start);
        }
    }
}

/// Uploads a skin, opening pages as needed. Where that fails, the pages have the room that they had.
pub(super) fn upload(
    skinner: &Skinner,
    pages: &mut Vec<Arena>,
    skin: &PackedSkin,
) -> Result<GpuSkin, GpuError> {
    let placed = place(skinner, pages, skin);
    let held = Held::collect(pages);
    match placed {
        Ok((slices, shapes)) => Ok(GpuSkin {
            held,
            slices,
            shapes,
            lists: skin.blend().map(SkinLists::new).unwrap_or_default(),
        }),
        Err(error) => {
            held.give_back(pages);
            Err(error)
        }
    }
}

fn place(
    skinner: &Skinner,
    pages: &mut Vec<Arena>,
    skin: &PackedSkin,
) -> Result<(Vec<Slice>, Option<ShapeTables>), GpuError> {
    let limit = skinner.limits.binding_bytes;
    let mut slices = Vec::new();
    for slice in encoded_skin::encode(skin, limit) {
        let slice = slice?;
        let (page, at) = append(skinner, pages, &[bytemuck::cast_slice(&slice.words)])?;
        slices.push(Slice {
            page,
            first: slice.first,
            item: slice.offsets.moved_by(at),
            flags: slice.flags,
            blend: slice.blend,
            plain: slice.multi_pose,
        });
    }
    let Some(shapes) = encoded_skin::encode_shapes(skin, limit)? else {
        return Ok((slices, None));
    };
    let (page, slots) = append(skinner, pages, &[bytemuck::cast_slice(&shapes.words)])?;
    let tables = ShapeTables {
        page,
        slots,
        positions: slots + shapes.positions(),
        slot_count: shapes.slot_count,
        sub_shape_count: shapes.sub_shape_count,
    };
    Ok((slices, Some(tables)))
}

impl From<TooLarge> for GpuError {
    fn from(error: TooLarge) -> Self {
        let TooLarge { what, asked, limit } = error;
        Self::Limit { what, asked, limit }
    }
}

/// Puts words into the first page with room for them; their page, first word, and what is held by them.
pub(super) fn append_words(
    skinner: &Skinner,
    pages: &mut Vec<Arena>,
    parts: &[&[u32]; 4],
) -> Result<(usize, u32, Held), GpuError> {
    let placed = append(skinner, pages, &parts.map(bytemuck::cast_slice));
    let held = Held::collect(pages);
    match placed {
        Ok((page, first)) => Ok((page, first, held)),
        Err(error) => {
            held.give_back(pages);
            Err(error)
        }
    }
}

/// Puts data into the first page with room for it; its page and first word.
fn append(
    skinner: &Skinner,
    pages: &mut Vec<Arena>,
    parts: &[&[u8]],
) -> Result<(usize, u32), GpuError> {
    let bytes = parts.iter().map(|p| p.len() as u64).sum();
    let page = match pages.iter_mut().position(|page| page.has_room(bytes)) {
        Some(page) => page,
        None => {
            let (storage, limit) = (wgpu::BufferUsages::STORAGE, skinner.limits.binding_bytes);
            pages.push(Arena::new(skinner, "skin.skins", storage, limit)?);
            pages.len() - 1
        }
    };
    // Pages hold less than 4 GiB, so a count of words fits u32.
    Ok((page, (pages[page].append(skinner, parts)? / 4) as u32))
}
