//! Skins on the GPU: cut into slices that fit a binding, and packed into pages.

mod corners;

use std::ops::Range;

use super::GpuError;
use super::arena::Arena;
use super::skinner::Skinner;
use crate::kernel::{NONE, PackedSkin, SkinItem};

/// One page of static data: what one bind group can hold of each kind.
#[derive(Debug)]
pub(super) struct SkinPage {
    pub rest: Arena,
    pub influences: Arena,
    pub blend: Arena,
    pub shapes: Arena,
}

/// A run of points, or of faceVarying normals, whose data lies in one page.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub page: usize,
    /// Number of its first point or faceVarying normal.
    pub first: usize,
    /// Everything of the item that does not depend on instance and pose.
    pub item: SkinItem,
}

impl Slice {
    /// False for a run of faceVarying normals.
    pub fn has_points(&self) -> bool {
        self.item.rest_points != NONE
    }

    pub fn has_normals(&self) -> bool {
        self.item.rest_normals != NONE
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
#[derive(Debug)]
pub(super) struct GpuSkin {
    pub held: Held,
    pub slices: Vec<Slice>,
    pub shapes: Option<ShapeTables>,
}

/// Bytes that a run of points or normals takes in a page.
struct Need {
    rest: u64,
    influences: u64,
    blend: u64,
}

/// What points `first..first + count` need.
fn need(skin: &PackedSkin, first: usize, count: usize) -> Need {
    let n = count as u64;
    let influences = skin.influences().map_or(0, |i| {
        let records = if i.is_constant() { 1 } else { n };
        records * u64::from(i.record_words()) * 4
    });
    let blend = skin.blend().map_or(0, |b| {
        let entries = u64::from(b.rows()[first + count] - b.rows()[first]);
        let floats = if b.normal_offsets().is_some() { 6 } else { 3 };
        (n + 1 + entries * (1 + floats)) * 4
    });
    Need {
        rest: n * if skin.has_point_normals() { 24 } else { 12 },
        influences,
        blend,
    }
}

impl Need {
    fn largest(&self) -> u64 {
        self.rest.max(self.influences).max(self.blend)
    }
}

/// Most points from `first` on whose data fits `limit` bytes of each kind.
fn most_points(skin: &PackedSkin, first: usize, limit: u64) -> usize {
    let left = skin.point_count() - first;
    if need(skin, first, left).largest() <= limit {
        return left;
    }
    // What a run needs only grows with it, so halving finds the longest that fits.
    let (mut fits, mut too_many) = (0, left);
    while too_many - fits > 1 {
        let middle = fits + (too_many - fits) / 2;
        if need(skin, first, middle).largest() <= limit {
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    fits
}

impl SkinPage {
    fn new(skinner: &Skinner) -> Result<Self, GpuError> {
        let limit = skinner.limits.binding_bytes;
        let storage = |label| Arena::new(skinner, label, wgpu::BufferUsages::STORAGE, limit);
        Ok(Self {
            rest: storage("skin.rest")?,
            influences: storage("skin.influences")?,
            blend: storage("skin.blend")?,
            shapes: storage("weights.shapes")?,
        })
    }

    /// The first page where it has room, else a new one.
    fn with_room(skinner: &Skinner, pages: &mut Vec<Self>, need: &Need) -> Result<usize, GpuError> {
        if let Some(page) = pages.iter_mut().position(|page| page.has_room(need)) {
            return Ok(page);
        }
        pages.push(Self::new(skinner)?);
        Ok(pages.len() - 1)
    }

    fn has_room(&mut self, need: &Need) -> bool {
        self.rest.has_room(need.rest)
            && self.influences.has_room(need.influences)
            && self.blend.has_room(need.blend)
    }

    pub fn buffer_bytes(&self) -> u64 {
        let arenas = [&self.rest, &self.influences, &self.blend, &self.shapes];
        arenas.map(|arena| arena.buffer().size()).iter().sum()
    }

    fn arenas(&mut self) -> [&mut Arena; 4] {
        [
            &mut self.rest,
            &mut self.influences,
            &mut self.blend,
            &mut self.shapes,
        ]
    }
}

/// What a skin holds of the pages: of each, of each of its arenas, these bytes.
#[derive(Debug, Default)]
pub(super) struct Held(Vec<(usize, usize, Range<u64>)>);

impl Held {
    /// What was appended to any page since this was called last.
    fn collect(pages: &mut [SkinPage]) -> Self {
        let mut out = Vec::new();
        for (number, page) in pages.iter_mut().enumerate() {
            for (kind, arena) in page.arenas().into_iter().enumerate() {
                out.extend(arena.take_appended().into_iter().map(|r| (number, kind, r)));
            }
        }
        Self(out)
    }

    /// Makes room for other skins.
    pub fn give_back(self, pages: &mut [SkinPage]) {
        for (page, kind, range) in self.0 {
            pages[page].arenas()[kind].give_back(range.start, range.end - range.start);
        }
    }
}

/// Uploads a skin, opening pages as needed. Where that fails, the pages have the room that they had.
pub(super) fn upload(
    skinner: &Skinner,
    pages: &mut Vec<SkinPage>,
    skin: &PackedSkin,
) -> Result<GpuSkin, GpuError> {
    let placed = place(skinner, pages, skin);
    let held = Held::collect(pages);
    match placed {
        Ok((slices, shapes)) => Ok(GpuSkin {
            held,
            slices,
            shapes,
        }),
        Err(error) => {
            held.give_back(pages);
            Err(error)
        }
    }
}

fn place(
    skinner: &Skinner,
    pages: &mut Vec<SkinPage>,
    skin: &PackedSkin,
) -> Result<(Vec<Slice>, Option<ShapeTables>), GpuError> {
    let limit = skinner.limits.binding_bytes;
    let mut slices = Vec::new();
    let mut first = 0;
    while first < skin.point_count() {
        let count = most_points(skin, first, limit);
        if count == 0 {
            let asked = need(skin, first, 1).largest();
            return Err(GpuError::Limit {
                what: format!("{}: bytes of point {first}", skin.prim()),
                asked,
                limit,
            });
        }
        let need = need(skin, first, count);
        let page = SkinPage::with_room(skinner, pages, &need)?;
        let item = upload_slice(skinner, &mut pages[page], skin, first, count)?;
        slices.push(Slice { page, first, item });
        first += count;
    }
    if let (Some(normals), Some(points)) = (skin.normals(), skin.normal_points()) {
        corners::upload(skinner, pages, skin, normals, points, &mut slices)?;
    }
    let shapes = skin
        .blend()
        .map(|_| upload_shapes(skinner, pages, skin))
        .transpose()?;
    Ok((slices, shapes))
}

/// An item that has nothing.
fn empty_item() -> SkinItem {
    SkinItem {
        rest_points: NONE,
        rest_normals: NONE,
        normal_records: NONE,
        motions: NONE,
        bind: NONE,
        normal_bind: NONE,
        blend_rows: NONE,
        blend_normal_offsets: NONE,
        ..SkinItem::default()
    }
}

fn upload_slice(
    skinner: &Skinner,
    page: &mut SkinPage,
    skin: &PackedSkin,
    first: usize,
    count: usize,
) -> Result<SkinItem, GpuError> {
    // Pages hold less than 4 GiB, so a count of words fits u32.
    let word = |byte: u64| (byte / 4) as u32;
    let range = first..first + count;
    let mut item = SkinItem {
        count: count as u32,
        rest_points: word(page.rest.append(
            skinner,
            &[bytemuck::cast_slice(&skin.points()[range.clone()])],
        )?),
        ..empty_item()
    };
    if let Some(normals) = skin.normals().filter(|_| skin.has_point_normals()) {
        item.rest_normals = word(
            page.rest
                .append(skinner, &[bytemuck::cast_slice(&normals[range.clone()])])?,
        );
    }
    if let Some(influences) = skin.influences() {
        let words = influences.record_words() as usize;
        let records = if influences.is_constant() {
            0..words
        } else {
            first * words..(first + count) * words
        };
        item.influences = word(page.influences.append(
            skinner,
            &[bytemuck::cast_slice(&influences.words()[records])],
        )?);
        item.influence_stride = influences.stride();
        item.influence_count = influences.count();
    }
    if let Some(blend) = skin.blend() {
        let rows = &blend.rows()[first..=first + count];
        let entries = rows[0] as usize..rows[count] as usize;
        // Rows count from the slice's own first entry.
        let own_rows: Vec<u32> = rows.iter().map(|row| row - rows[0]).collect();
        let normals = blend
            .normal_offsets()
            .map_or(&[][..], |n| &n[entries.clone()]);
        let at = word(page.blend.append(
            skinner,
            &[
                bytemuck::cast_slice(&own_rows),
                bytemuck::cast_slice(&blend.sub_shapes()[entries.clone()]),
                bytemuck::cast_slice(&blend.offsets()[entries.clone()]),
                bytemuck::cast_slice(normals),
            ],
        )?);
        item.blend_rows = at;
        // Sub-shape numbers follow the rows.
        item.blend_offsets = at + count as u32 + 1 + entries.len() as u32;
        if blend.normal_offsets().is_some() {
            item.blend_normal_offsets = item.blend_offsets + 3 * entries.len() as u32;
        }
    }
    Ok(item)
}

fn upload_shapes(
    skinner: &Skinner,
    pages: &mut Vec<SkinPage>,
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
    let page = match pages.iter_mut().position(|p| p.shapes.has_room(bytes)) {
        Some(page) => page,
        None => {
            pages.push(SkinPage::new(skinner)?);
            pages.len() - 1
        }
    };
    let parts: [&[u8]; 2] = [
        bytemuck::cast_slice(blend.slots()),
        bytemuck::cast_slice(blend.positions()),
    ];
    let slots = (pages[page].shapes.append(skinner, &parts)? / 4) as u32;
    Ok(ShapeTables {
        page,
        slots,
        positions: slots + 2 * blend.slots().len() as u32,
        slot_count: blend.slots().len() as u32,
        sub_shape_count: blend.positions().len() as u32,
    })
}
