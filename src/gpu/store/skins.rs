//! The skins of a crowd: split into slices that fit a binding, and copied to pages.

use std::sync::Arc;

use super::skin_pages::{OwnedRanges, SkinPages};
use super::slots::{Slots, new_id};
use super::target::{NORMALS, TANGENTS};
use crate::gpu::device::error::GpuError;
use crate::gpu::device::skinner::Skinner;
use crate::kernel::encoded_skin::{self, SliceOffsets, TooLarge};
use crate::kernel::{BlendIndex, NONE, PackedSkin};

new_id! {
    /// Identifies a skin of a [`crate::gpu::Crowd`]. After the skin is removed the id is refused,
    /// whatever is added later. So is an id of another crowd.
    SkinId, "a skin"
}

/// A run of a skin's results whose static data lies in one page.
#[derive(Clone, Debug)]
pub struct Slice {
    pub page: usize,
    /// Index of its first result: a point, a render vertex or a faceVarying normal.
    pub first: usize,
    /// Where its arrays begin in the page.
    pub offsets: SliceOffsets,
    /// The flags of its items that depend on its data.
    pub flags: u32,
    /// Its blend entries, for building lists of some of them.
    pub blend: Option<Arc<BlendIndex>>,
}

impl Slice {
    /// False for a run of faceVarying normals.
    pub fn has_points(&self) -> bool {
        self.offsets.points != NONE
    }

    /// Whether it has normals, either skinned rest normals or computed ones.
    pub fn has_normals(&self) -> bool {
        self.offsets.normals != NONE || self.computes_normals()
    }

    pub fn computes_normals(&self) -> bool {
        self.offsets.neighbor_rows != NONE
    }

    pub fn has_tangents(&self) -> bool {
        self.offsets.tangents != NONE
    }

    /// Whether it has results of a kind.
    pub fn has(&self, kind: usize) -> bool {
        match kind {
            NORMALS => self.has_normals(),
            TANGENTS => self.has_tangents(),
            _ => self.has_points(),
        }
    }
}

/// Where the tables of a skin's blend shapes lie, for the weights kernel.
#[derive(Clone, Copy, Debug)]
pub struct ShapeTables {
    pub page: usize,
    /// First word of the table of channels: first sub-shape and number of sub-shapes of each.
    pub channels: u32,
    /// First word of the weights at which sub-shapes apply fully.
    pub positions: u32,
    pub channel_count: u32,
    pub sub_shape_count: u32,
}

/// A skin, and where it lies on the GPU.
#[derive(Clone, Debug)]
pub struct ResidentSkin {
    pub packed: Arc<PackedSkin>,
    ranges: OwnedRanges,
    pub slices: Vec<Slice>,
    /// Tables of its blend shapes, if it has some.
    pub shapes: Option<ShapeTables>,
}

impl ResidentSkin {
    /// Runs of slices whose results lie side by side: all slices together if normals are computed
    /// from the positions of neighbours, else each slice alone.
    pub fn units(&self) -> std::slice::Chunks<'_, Slice> {
        let together = self.slices.iter().any(Slice::computes_normals);
        self.slices
            .chunks(if together { self.slices.len() } else { 1 })
    }

    /// Uploads a skin, into new pages if needed. After an error, no room is taken.
    fn upload(
        skinner: &Skinner,
        pages: &mut SkinPages,
        packed: Arc<PackedSkin>,
    ) -> Result<Self, GpuError> {
        let ((slices, shapes), ranges) = pages.owning(|pages| place(skinner, pages, &packed))?;
        Ok(Self {
            packed,
            ranges,
            slices,
            shapes,
        })
    }
}

/// The skins of a crowd.
pub type SkinStore = Slots<SkinId, ResidentSkin>;

impl SkinStore {
    /// Uploads a skin.
    pub fn add(
        &mut self,
        skinner: &Skinner,
        pages: &mut SkinPages,
        skin: Arc<PackedSkin>,
    ) -> Result<SkinId, GpuError> {
        Ok(self.insert(ResidentSkin::upload(skinner, pages, skin)?))
    }

    /// Removes a skin that no instance uses, and frees its room.
    pub fn free(&mut self, pages: &mut SkinPages, id: SkinId) -> Result<(), GpuError> {
        let name = |skin: &ResidentSkin| format!("the skin of {}", skin.packed.prim());
        let gone = self.remove_unused(id, "instances", name)?;
        pages.give_back(gone.ranges);
        Ok(())
    }

    /// Uploads the same skins under the same ids, with the same numbers of users.
    pub fn rebuild(&self, skinner: &Skinner, pages: &mut SkinPages) -> Result<Self, GpuError> {
        let mut out = self.clone();
        for skin in out.values_mut() {
            *skin = ResidentSkin::upload(skinner, pages, Arc::clone(&skin.packed))?;
        }
        Ok(out)
    }
}

/// Encodes a skin slice by slice and appends each slice to a page.
fn place(
    skinner: &Skinner,
    pages: &mut SkinPages,
    skin: &PackedSkin,
) -> Result<(Vec<Slice>, Option<ShapeTables>), GpuError> {
    let limit = skinner.limits.binding_bytes;
    let mut slices = Vec::new();
    for slice in encoded_skin::encode(skin, limit) {
        let slice = slice?;
        let (page, at) = pages.append(skinner, &[bytemuck::cast_slice(&slice.words)])?;
        slices.push(Slice {
            page,
            first: slice.first,
            offsets: slice.offsets.moved_by(at),
            flags: slice.flags,
            blend: slice.blend,
        });
    }
    let Some(shapes) = encoded_skin::encode_shapes(skin, limit)? else {
        return Ok((slices, None));
    };
    let (page, channels) = pages.append(skinner, &[bytemuck::cast_slice(&shapes.words)])?;
    let tables = ShapeTables {
        page,
        channels,
        positions: channels + shapes.positions(),
        channel_count: shapes.channel_count,
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
