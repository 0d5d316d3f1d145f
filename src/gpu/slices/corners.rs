//! faceVarying normals on the GPU: runs of face corners, each with the influences of its points.

use std::collections::HashMap;

use glam::Vec3;

use super::{Need, SkinPage, Slice, empty_item};
use crate::gpu::GpuError;
use crate::gpu::skinner::Skinner;
use crate::kernel::{PackedInfluences, PackedSkin, SkinItem};

/// A run of corners, and the points that they refer to, in the order of first use.
struct Run {
    count: usize,
    points: Vec<u32>,
    /// Place of each corner's point among `points`.
    records: Vec<u32>,
}

/// The longest run from corner `first` on that fits `limit` bytes of each kind. Corners refer to any
/// points, so a run brings their influence records with it.
fn longest_run(skin: &PackedSkin, points: &[u32], first: usize, limit: u64) -> Run {
    let record_words = table_influences(skin).map(|i| u64::from(i.record_words()));
    let mut run = Run {
        count: 0,
        points: Vec::new(),
        records: Vec::new(),
    };
    let mut places: HashMap<u32, u32> = HashMap::new();
    for &point in &points[first..] {
        let is_new = record_words.is_some() && !places.contains_key(&point);
        let needed = need(skin, run.count + 1, run.points.len() + usize::from(is_new));
        if needed.largest() > limit {
            break;
        }
        if record_words.is_some() {
            let next = places.len() as u32;
            let place = *places.entry(point).or_insert(next);
            if is_new {
                run.points.push(point);
            }
            run.records.push(place);
        }
        run.count += 1;
    }
    run
}

/// Influences that corners look up; constant ones need no table.
fn table_influences(skin: &PackedSkin) -> Option<&PackedInfluences> {
    skin.influences().filter(|i| !i.is_constant())
}

fn need(skin: &PackedSkin, corners: usize, points: usize) -> Need {
    let words = match (table_influences(skin), skin.influences()) {
        (Some(i), _) => points as u64 * u64::from(i.record_words()) + corners as u64,
        (None, Some(i)) => u64::from(i.record_words()),
        (None, None) => 0,
    };
    Need {
        rest: corners as u64 * 12,
        influences: words * 4,
        blend: 0,
    }
}

/// Uploads a skin's faceVarying normals behind its points.
pub(super) fn upload(
    skinner: &Skinner,
    pages: &mut Vec<SkinPage>,
    skin: &PackedSkin,
    normals: &[Vec3],
    points: &[u32],
    slices: &mut Vec<Slice>,
) -> Result<(), GpuError> {
    let limit = skinner.limits.binding_bytes;
    let mut first = 0;
    while first < normals.len() {
        let run = longest_run(skin, points, first, limit);
        if run.count == 0 {
            return Err(GpuError::Limit {
                what: format!("{}: bytes of normal {first}", skin.prim()),
                asked: need(skin, 1, 1).largest(),
                limit,
            });
        }
        let page = SkinPage::with_room(skinner, pages, &need(skin, run.count, run.points.len()))?;
        let values = &normals[first..first + run.count];
        let item = upload_run(skinner, &mut pages[page], skin, values, &run)?;
        slices.push(Slice { page, first, item });
        first += run.count;
    }
    Ok(())
}

fn upload_run(
    skinner: &Skinner,
    page: &mut SkinPage,
    skin: &PackedSkin,
    values: &[Vec3],
    run: &Run,
) -> Result<SkinItem, GpuError> {
    // Pages hold less than 4 GiB, so a count of words fits u32.
    let word = |byte: u64| (byte / 4) as u32;
    let rest = page.rest.append(skinner, &[bytemuck::cast_slice(values)])?;
    let mut item = SkinItem {
        count: run.count as u32,
        rest_normals: word(rest),
        ..empty_item()
    };
    let Some(influences) = skin.influences() else {
        return Ok(item);
    };
    item.influence_stride = influences.stride();
    item.influence_count = influences.count();
    let words = influences.record_words() as usize;
    let mut records = Vec::with_capacity(run.points.len() * words);
    match table_influences(skin) {
        Some(_) => {
            for point in &run.points {
                let at = *point as usize * words;
                records.extend_from_slice(&influences.words()[at..at + words]);
            }
        }
        None => records.extend_from_slice(influences.words()),
    }
    let at = page.influences.append(
        skinner,
        &[
            bytemuck::cast_slice(&records),
            bytemuck::cast_slice(&run.records),
        ],
    )?;
    item.influences = word(at);
    if table_influences(skin).is_some() {
        item.normal_records = item.influences + records.len() as u32;
    }
    Ok(item)
}
