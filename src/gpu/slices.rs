//! Skins on the GPU: cut into slices that fit a binding, and packed into pages.

mod run;
mod words;

use std::ops::Range;
use std::sync::Arc;

use super::GpuError;
use super::arena::Arena;
use super::blend_lists::SkinLists;
use super::frame::MOST_SHARED;
use super::skinner::Skinner;
use crate::kernel::{BlendIndex, Grid, NONE, PackedSkin, Packing, SkinItem, ValueLayout};
use run::{Results, Run, Sizes};

/// A run of results whose static data lies in one page, which is what one bind group holds of it.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub page: usize,
    /// Number of its first result.
    pub first: usize,
    /// Everything of the item that does not depend on instance and pose.
    pub item: SkinItem,
    /// Its blend entries, for lists of some of them.
    pub blend: Option<Arc<BlendIndex>>,
    /// Of a plain skin, which goes to a kernel of its own.
    pub plain: Option<Plain>,
}

/// How the values of a plain skin are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plain {
    pub stored: ValueLayout,
    pub grid: Grid,
}

impl Slice {
    /// False for a run of faceVarying normals.
    pub fn has_points(&self) -> bool {
        self.item.rest_points != NONE
    }

    /// From rest normals, or made ones.
    pub fn has_normals(&self) -> bool {
        self.item.rest_normals != NONE || self.makes_normals()
    }

    pub fn makes_normals(&self) -> bool {
        self.item.neighbor_rows != NONE
    }

    pub fn has_tangents(&self) -> bool {
        self.item.rest_tangents != NONE
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
    let mut slices = Vec::new();
    let results = match skin.vertices() {
        Some(vertices) => Results::Vertices(vertices.points()),
        None => Results::Points,
    };
    upload_runs(skinner, pages, skin, results, &mut slices)?;
    if let (None, Some(points)) = (skin.vertices(), skin.normal_points()) {
        upload_runs(skinner, pages, skin, Results::Corners(points), &mut slices)?;
    }
    let shapes = skin
        .blend()
        .map(|_| upload_shapes(skinner, pages, skin))
        .transpose()?;
    Ok((slices, shapes))
}

fn upload_runs(
    skinner: &Skinner,
    pages: &mut Vec<Arena>,
    skin: &PackedSkin,
    results: Results<'_>,
    slices: &mut Vec<Slice>,
) -> Result<(), GpuError> {
    let limit = skinner.limits.binding_bytes;
    if let Some(blend) = skin.blend().filter(|b| !b.index().has_lists()) {
        return Err(GpuError::Limit {
            what: format!("{}: sub-shapes that move one point", skin.prim()),
            asked: blend.positions().len() as u64,
            limit: 1 << 16,
        });
    }
    let sizes = Sizes::new(skin, results);
    let shown = words::shown_by(skin);
    let mut first = 0;
    while first < results.count(skin) {
        let run = Run::longest(skin, results, &sizes, first, limit);
        if run.count == 0 {
            return Err(GpuError::Limit {
                what: format!("{}: bytes of {} {first}", skin.prim(), results.name()),
                asked: sizes.of_one(skin, results, first),
                limit,
            });
        }
        let (words, mut item, blend) = words::pack(skin, results, &run, &shown);
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let (page, at) = append(skinner, pages, &[bytes])?;
        words::rebase(&mut item, at);
        // Small ones share workgroups instead; packed ones are for that kernel alone.
        let is_small = skin.point_count() <= MOST_SHARED as usize;
        let is_plain = skin.is_plain() && (!is_small || skin.packing() != Packing::Exact);
        let plain = is_plain.then(|| Plain {
            stored: skin.value_layout(),
            grid: skin.grid(),
        });
        slices.push(Slice {
            page,
            first,
            item,
            plain,
            blend,
        });
        first += run.count;
    }
    Ok(())
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

fn upload_shapes(
    skinner: &Skinner,
    pages: &mut Vec<Arena>,
    skin: &PackedSkin,
) -> Result<ShapeTables, GpuError> {
    let blend = skin.blend().expect("asked for only with shapes");
    let limit = skinner.limits.binding_bytes;
    let bytes = blend.slots().len() as u64 * 8 + blend.positions().len() as u64 * 4;
    if bytes > limit {
        return Err(GpuError::Limit {
            what: format!("{}: shape tables", skin.prim()),
            asked: bytes,
            limit,
        });
    }
    let parts: [&[u8]; 2] = [
        bytemuck::cast_slice(blend.slots()),
        bytemuck::cast_slice(blend.positions()),
    ];
    let (page, slots) = append(skinner, pages, &parts)?;
    Ok(ShapeTables {
        page,
        slots,
        positions: slots + 2 * blend.slots().len() as u32,
        slot_count: blend.slots().len() as u32,
        sub_shape_count: blend.positions().len() as u32,
    })
}
