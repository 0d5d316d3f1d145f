//! The words of a run of results, as the kernels read them.

use std::sync::Arc;

use glam::Vec3;

use super::run::{Results, Run};
use crate::kernel::{BlendIndex, NONE, PackedBlend, PackedSkin, SkinItem};

/// An item that has nothing.
const EMPTY: SkinItem = SkinItem {
    first_workgroup: 0,
    count: 0,
    sources: NONE,
    rest_points: NONE,
    rest_normals: NONE,
    rest_tangents: NONE,
    influences: NONE,
    influence_stride: 0,
    influence_count: 0,
    palette: 0,
    normal_palette: 0,
    motions: NONE,
    bind: NONE,
    normal_bind: NONE,
    post: 0,
    blend_list: NONE,
    blend_bits: 0,
    blend_offsets: NONE,
    blend_normal_offsets: NONE,
    sub_weights: 0,
    neighbor_rows: NONE,
    neighbors: NONE,
    first_point: 0,
    out_points: 0,
    points_stride: 3,
    out_normals: 0,
    normals_stride: 3,
    out_tangents: 0,
    tangents_stride: 4,
    out_previous: NONE,
    previous_stride: 3,
    flags: 0,
};

/// A result that shows each point, for made normals, which read neighbours' results. [`NONE`] for points
/// without any; empty where results are points.
pub(super) fn shown_by(skin: &PackedSkin) -> Vec<u32> {
    let (Some(_), Some(vertices)) = (skin.smooth_normals(), skin.vertices()) else {
        return Vec::new();
    };
    let mut shown = vec![NONE; skin.point_count()];
    for (vertex, point) in vertices.points().iter().enumerate().rev() {
        shown[*point as usize] = vertex as u32;
    }
    shown
}

/// A run's words, its item with offsets that count from the first of them, and which blend entries it has.
pub(super) fn pack(
    skin: &PackedSkin,
    results: Results<'_>,
    run: &Run,
    shown_by: &[u32],
) -> (Vec<u32>, SkinItem, Option<Arc<BlendIndex>>) {
    let mut words: Vec<u32> = Vec::with_capacity(run.words as usize);
    let range = run.first..run.first + run.count;
    let stored = skin.value_layout();
    let mut item = SkinItem {
        count: run.count as u32,
        ..EMPTY
    };
    if !run.sources.is_empty() {
        item.sources = put(&mut words, run.sources.iter().copied());
    }
    if let (Some(_), true) = (skin.normals(), results.has_rest_normals(skin)) {
        // Those of render vertices lie in their order.
        let vertices = skin.vertices();
        let numbers = vertices.map(|v| v.normals().unwrap_or(v.points()));
        let number = |result: usize| numbers.map_or(result, |n| n[result] as usize);
        item.rest_normals = words.len() as u32;
        for result in range.clone() {
            skin.encode_normal(number(result), &mut words);
        }
    }
    if let (Some(tangents), true) = (skin.tangents(), results.has_points()) {
        let values = tangents[range].iter().flat_map(|t| t.to_array());
        item.rest_tangents = put(&mut words, values.map(f32::to_bits));
    }
    if let Some(influences) = skin.influences() {
        item.influences = words.len() as u32;
        item.influence_count = influences.count();
        if influences.is_constant() {
            skin.encode_record(0, &mut words);
        } else {
            item.influence_stride = stored.record_words;
            for point in &run.points {
                skin.encode_record(*point as usize, &mut words);
            }
        }
        if stored.narrow {
            item.flags |= SkinItem::NARROW_JOINTS;
        }
    }
    let mut index = None;
    if results.has_points() {
        index = put_points(skin, run, shown_by, &mut words, &mut item);
    }
    debug_assert_eq!(words.len() as u64, run.words);
    (words, item, index)
}

/// What a run has of each of its points; which blend entries that are.
fn put_points(
    skin: &PackedSkin,
    run: &Run,
    shown_by: &[u32],
    words: &mut Vec<u32>,
    item: &mut SkinItem,
) -> Option<Arc<BlendIndex>> {
    let points = || run.points.iter().map(|p| *p as usize);
    // Where packed records hold them, their place says that they are there.
    item.rest_points = words.len() as u32;
    points().for_each(|p| skin.encode_point(p, words));
    let mut index = None;
    if let Some(blend) = skin.blend() {
        let blend = blend.of_points(&run.points);
        put_blend(&blend, words, item);
        index = Some(Arc::clone(blend.index()));
    }
    if let Some(made) = skin.smooth_normals() {
        item.neighbor_rows = put_rows(words, made.rows(), points());
        let result = |point: u32| shown_by.get(point as usize).copied().unwrap_or(point);
        let pairs = points().flat_map(|p| &made.neighbors()[entries_of(made.rows(), p)]);
        item.neighbors = put(words, pairs.flat_map(|pair| pair.map(result)));
    }
    index
}

/// The list of all entries, where each block's offsets begin, and the offsets.
fn put_blend(blend: &PackedBlend, words: &mut Vec<u32>, item: &mut SkinItem) {
    let index = blend.index();
    let all: Vec<u32> = (0..blend.positions().len() as u32).collect();
    let mut list = Vec::new();
    item.blend_bits = index.list(&all, &mut list);
    item.blend_list = put(words, list.into_iter());
    let blocks = index.block_count() as u32;
    let first = |block| blocks + index.first_of(block as usize) * 3;
    let order = index.by_blocks();
    item.blend_offsets = put(words, (0..blocks).map(first));
    let by_blocks = |offsets: &[Vec3], words: &mut Vec<u32>| {
        put(words, order.iter().flat_map(|e| bits(offsets[*e as usize])));
    };
    by_blocks(blend.offsets(), words);
    if let Some(offsets) = blend.normal_offsets() {
        // The same table serves both.
        item.blend_normal_offsets = words.len() as u32 - blocks;
        by_blocks(offsets, words);
    }
}

fn entries_of(rows: &[u32], point: usize) -> std::ops::Range<usize> {
    rows[point] as usize..rows[point + 1] as usize
}

/// Appends words and returns the number of the first.
fn put(words: &mut Vec<u32>, values: impl Iterator<Item = u32>) -> u32 {
    let first = words.len() as u32;
    words.extend(values);
    first
}

/// Appends the rows of some points, counted from the first one's first entry.
fn put_rows(words: &mut Vec<u32>, rows: &[u32], points: impl Iterator<Item = usize>) -> u32 {
    let mut end = 0;
    let first = put(words, std::iter::once(0));
    put(
        words,
        points.map(|p| {
            end += rows[p + 1] - rows[p];
            end
        }),
    );
    first
}

fn bits(v: Vec3) -> [u32; 3] {
    v.to_array().map(f32::to_bits)
}

/// Counts an item's offsets from the first word of a page.
pub(super) fn rebase(item: &mut SkinItem, at: u32) {
    for offset in [
        &mut item.sources,
        &mut item.rest_points,
        &mut item.rest_normals,
        &mut item.rest_tangents,
        &mut item.influences,
        &mut item.blend_list,
        &mut item.blend_offsets,
        &mut item.blend_normal_offsets,
        &mut item.neighbor_rows,
        &mut item.neighbors,
    ] {
        if *offset != NONE {
            *offset += at;
        }
    }
}
