//! Walks of lists, as the kernel has them, and blocks on the CPU give the same bits.

use std::sync::Arc;

use glam::Vec3;

use super::index::BLOCK;
use super::*;
use crate::kernel::PackedSkin;
use crate::kernel::testing::{Rng, shape};
use crate::skel::{BlendShape, RestNormals};

/// Random shapes whose point indices are in no order, some twice. Every third shape has
/// three in-betweens, and some channels are empty.
fn skin(rng: &mut Rng, points: usize, shapes: usize, normals: bool) -> PackedSkin {
    skin_of(rng, points, shapes, normals, |_| 1)
}

/// The same over stretches of consecutive points. `stretch` returns their length for the index of a
/// shape.
fn skin_of(
    rng: &mut Rng,
    points: usize,
    shapes: usize,
    normals: bool,
    stretch: impl Fn(usize) -> usize,
) -> PackedSkin {
    let rest: Vec<Vec3> = (0..points).map(|_| rng.vector()).collect();
    let shapes = (0..shapes).map(|number| {
        let count = rng.below(points.div_ceil(4)) + 2;
        let is_there = number % 7 != 6;
        is_there.then(|| shape(rng, points, number, count, stretch(number), normals))
    });
    let shapes = shapes.collect();
    let values = Arc::new(rest.iter().map(|p| p.normalize_or(Vec3::X)).collect());
    let normals = normals.then(|| RestNormals::per_point(values));
    let skin = Skin::new("/P", Arc::new(rest), normals, None, None, 0, shapes).expect("valid");
    PackedSkin::pack("/P", &skin).expect("packs")
}

fn weights(rng: &mut Rng, blend: &PackedBlend, active: usize) -> Vec<f32> {
    let mut weights = vec![0.0; blend.sub_shape_ranges().len()];
    for _ in 0..active {
        weights[rng.below(blend.sub_shape_ranges().len())] = rng.unit() * 3.0 - 1.0;
    }
    weights
}

/// Blends a point from a list by the steps of the shader.
fn walk(
    blend: &PackedBlend,
    sub_shapes: &[u32],
    sub_weights: &[f32],
    offsets: &[Vec3],
    values: &[Vec3],
) -> Vec<Vec3> {
    let mut list = vec![u32::MAX; blend.index.list_words(sub_shapes)];
    let put = |at: usize, words: &[u32]| list[at..at + words.len()].copy_from_slice(words);
    let bits = blend.index.list(sub_shapes, put);
    let (entry_bits, block_bits) = (bits & 0xff, bits >> 8);
    // The words as they are uploaded.
    let order = blend.index.by_blocks().into_iter();
    let offsets: Vec<Vec3> = order.map(|e| offsets[e as usize]).collect();
    let walk_point = |(point, value): (usize, &Vec3)| {
        let first = blend.index.blocks[point >> block_bits] as usize;
        let mut sum = *value;
        for at in list[point]..list[point + 1] {
            let entry = list[at as usize];
            let weight = sub_weights[(entry >> entry_bits) as usize];
            if weight != 0.0 {
                sum += weight * offsets[first + (entry & ((1 << entry_bits) - 1)) as usize];
            }
        }
        sum
    };
    assert_eq!(list[values.len()] as usize, list.len());
    values.iter().enumerate().map(walk_point).collect()
}

fn by_blocks(blend: &PackedBlend, channels: &[f32], values: &[Vec3]) -> Vec<Vec3> {
    let active = Active::new(blend, channels);
    let mut out = vec![Vec3::NAN; values.len()];
    let chunks = values.chunks(BLOCK).zip(out.chunks_mut(BLOCK));
    for (i, (rest, out)) in chunks.enumerate() {
        blend.blend_chunk(&active, i * BLOCK, rest, out);
    }
    for (point, (rest, out)) in values.iter().zip(&out).enumerate().step_by(13) {
        assert_eq!(
            blend.blend_point(&active, point, *rest),
            *out,
            "point {point}"
        );
    }
    out
}

fn bits(values: &[Vec3]) -> Vec<[u32; 3]> {
    values
        .iter()
        .map(|v| v.to_array().map(f32::to_bits))
        .collect()
}

/// Checks that all lists with the active sub-shapes agree with the CPU. Returns whether anything
/// moved.
fn agree(rng: &mut Rng, blend: &PackedBlend, values: &[Vec3], active: usize) -> bool {
    let channels = weights(rng, blend, active);
    let mut sub_weights = vec![0.0; blend.positions().len()];
    crate::kernel::sub_shape_weights(blend, &channels, &mut sub_weights);
    let want = bits(&by_blocks(blend, &channels, values));
    let all: Vec<u32> = (0..sub_weights.len() as u32).collect();
    let weighted = |s: &u32| sub_weights[*s as usize] != 0.0;
    let exact: Vec<u32> = all.iter().copied().filter(weighted).collect();
    let more = all
        .iter()
        .copied()
        .filter(|s| weighted(s) || rng.below(3) == 0);
    let more: Vec<u32> = more.collect();
    for list in [&all, &exact, &more] {
        let got = walk(blend, list, &sub_weights, blend.offsets(), values);
        assert_eq!(bits(&got), want, "{} sub-shapes", list.len());
    }
    want != bits(values)
}

#[test]
fn lists_and_blocks_agree_to_the_bit() {
    let rng = &mut Rng(3);
    for (points, shapes) in [(1, 1), (2, 3), (700, 20), (2048, 9), (2049, 40), (5000, 64)] {
        let packed = skin(rng, points, shapes, false);
        let blend = packed.blend().expect("has shapes");
        let entries: u32 = blend.entry_counts().iter().sum();
        assert_eq!(entries as usize, blend.offsets().len());
        for active in [0, 1, 3, shapes] {
            let moved = agree(rng, blend, packed.points(), active);
            assert!(
                moved || active < 3 || points < 3,
                "{points} points, {active} of {shapes}"
            );
        }
    }
}

/// Blocks that are added stretch by stretch, and blocks that are added entry by entry.
#[test]
fn patches_of_points_agree_to_the_bit() {
    let rng = &mut Rng(9);
    for (each, mostly) in [(1, true), (5, false)] {
        let lengths = |number: usize| if number.is_multiple_of(each) { 60 } else { 1 };
        let packed = skin_of(rng, 4000, 50, true, lengths);
        let blend = packed.blend().expect("has shapes");
        let all = (0..blend.positions().len() as u32).map(|s| (s, 0.0));
        let chosen = blend.index.choose(all);
        let blocks = || (0..blend.index.block_count()).flat_map(|b| chosen.of(b));
        let blocks = || blocks().map(|chosen| chosen.run);
        let stretched = blocks().filter(|run| run.has_stretches()).count();
        assert_eq!(stretched * 2 > blocks().count(), mostly, "every {each}");
        assert!((1..blocks().count()).contains(&stretched), "every {each}");
        for active in [1, 5, 50] {
            assert!(agree(rng, blend, packed.points(), active));
        }
    }
}

#[test]
fn some_points_in_another_order() {
    let rng = &mut Rng(4);
    let packed = skin(rng, 3000, 30, true);
    let blend = packed.blend().expect("has shapes");
    let all: Vec<u32> = (0..3000).collect();
    assert!(matches!(blend.of_points(&all), Cow::Borrowed(_)));
    for points in [
        (0..3000).map(|i| i * 7 % 3000).collect::<Vec<u32>>(),
        (0..1200).map(|i| 2999 - i * 2).collect(),
        vec![5],
        vec![],
    ] {
        let some = blend.of_points(&points);
        let channels = weights(rng, blend, 10);
        let pick =
            |values: &[Vec3]| -> Vec<Vec3> { points.iter().map(|p| values[*p as usize]).collect() };
        let want = pick(&by_blocks(blend, &channels, packed.points()));
        let got = by_blocks(&some, &channels, &pick(packed.points()));
        assert_eq!(bits(&got), bits(&want));
        agree(rng, &some, &pick(packed.points()), 12);
        // Normal offsets come after the point offsets.
        let mut normal = blend.clone();
        normal.offsets = blend.normal_offsets.clone().expect("has normals");
        let mut some_normal = some.into_owned();
        some_normal.offsets = some_normal.normal_offsets.clone().expect("has normals");
        let want = pick(&by_blocks(&normal, &channels, packed.points()));
        let got = by_blocks(&some_normal, &channels, &pick(packed.points()));
        assert_eq!(bits(&got), bits(&want));
    }
}

/// Blocks have fewer points, down to one, if words could not hold a block's entries.
#[test]
fn many_shapes_make_small_blocks() {
    let all_on_one = |points: usize, shapes: usize| {
        let shapes = (0..shapes).map(|_| {
            let offsets = vec![Vec3::X; 1];
            let shape =
                BlendShape::new("/S", Some(&[0]), offsets, None, vec![], points, &mut vec![]);
            Some(Arc::new(shape))
        });
        let (rest, shapes) = (Arc::new(vec![Vec3::ZERO; points]), shapes.collect());
        let skin = Skin::new("/P", rest, None, None, None, 0, shapes).expect("valid");
        PackedSkin::pack("/P", &skin).expect("packs")
    };
    for (shapes, block_points) in [(1000, 2048), (1 << 12, 256), (1 << 16, 1)] {
        let packed = all_on_one(40, shapes);
        let blend = packed.blend().expect("has shapes");
        assert_eq!(blend.index.block_points(), block_points, "{shapes} shapes");
        assert!(agree(&mut Rng(5), blend, packed.points(), 50));
    }
    // No word can hold these entries, but the CPU still blends them.
    let packed = all_on_one(3, (1 << 16) + 1);
    let blend = packed.blend().expect("has shapes");
    assert!(!blend.index.has_lists());
    let moved = by_blocks(blend, &vec![0.5; (1 << 16) + 1], packed.points());
    assert_eq!(moved, [Vec3::X * 32_768.5, Vec3::ZERO, Vec3::ZERO]);
}
