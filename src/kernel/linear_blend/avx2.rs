//! The loops of the parent module for x86-64 machines with AVX2 and FMA: two matrix columns per
//! register. Code without these target features needs an [`Avx2Fma`](crate::kernel::cpu::Avx2Fma)
//! to call them.

use std::arch::x86_64::*;

use glam::{Vec3, Vec4};

use super::shared::SameLength;
use super::{Columns, Joint, Order, SQUARES, normalized};
use crate::kernel::influences::{Records, record_words};

#[inline]
#[target_feature(enable = "avx2,fma")]
fn both(low: Vec4, high: Vec4) -> __m256 {
    _mm256_set_m128(high.into(), low.into())
}

/// The low and the high half.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn halves(v: __m256) -> [__m128; 2] {
    [_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v)]
}

/// Calls `add` with each palette index and weight of a record. Indices lie two to a word; the loop
/// tests nothing per influence.
#[inline(always)]
fn for_each_influence(record: &[u32], count: usize, mut add: impl FnMut(usize, f32)) {
    let (indices, weights) = record.split_at(count.div_ceil(2));
    let (pairs, last) = weights.as_chunks();
    for (word, [a, b]) in indices.iter().zip(pairs) {
        add((word & 0xffff) as usize, f32::from_bits(*a));
        add((word >> 16) as usize, f32::from_bits(*b));
    }
    if let ([weight], Some(word)) = (last, indices.last()) {
        add((word & 0xffff) as usize, f32::from_bits(*weight));
    }
}

/// The sum of a record's matrices times weights, plus `start`.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn sum_of(record: &[u32], count: usize, matrices: &[Joint<4>], start: [__m256; 2]) -> [__m256; 2] {
    let [mut xy, mut zw] = start;
    for_each_influence(record, count, |index, weight| {
        let (Joint(joint), weight) = (&matrices[index], _mm256_set1_ps(weight));
        xy = _mm256_fmadd_ps(both(joint[0], joint[1]), weight, xy);
        zw = _mm256_fmadd_ps(both(joint[2], joint[3]), weight, zw);
    });
    [xy, zw]
}

/// The same for matrices of normals.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn sum_of_linear(record: &[u32], count: usize, matrices: &[Joint<3>]) -> (__m256, __m128) {
    let (mut xy, mut z) = (_mm256_setzero_ps(), _mm_setzero_ps());
    for_each_influence(record, count, |index, weight| {
        let (Joint(joint), weight) = (&matrices[index], _mm256_set1_ps(weight));
        xy = _mm256_fmadd_ps(both(joint[0], joint[1]), weight, xy);
        z = _mm_fmadd_ps(joint[2].into(), _mm256_castps256_ps128(weight), z);
    });
    (xy, z)
}

/// A matrix times a point. Its columns are taken apart first: to multiply two at once would take the
/// coordinates of the point to halves of a register, by shuffles that cost more than they save.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn moved([xy, zw]: [__m256; 2], p: Vec3) -> Vec3 {
    let ([x, y], [z, w]) = (halves(xy), halves(zw));
    let xz = _mm_fmadd_ps(x, _mm_set1_ps(p.x), _mm_mul_ps(z, _mm_set1_ps(p.z)));
    let yw = _mm_fmadd_ps(y, _mm_set1_ps(p.y), w);
    Vec4::from(_mm_add_ps(xz, yw)).truncate()
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn turned((xy, z): (__m256, __m128), n: Vec3) -> Vec3 {
    let [x, y] = halves(xy);
    let (x, y) = (
        _mm_mul_ps(x, _mm_set1_ps(n.x)),
        _mm_mul_ps(y, _mm_set1_ps(n.y)),
    );
    Vec4::from(_mm_fmadd_ps(z, _mm_set1_ps(n.z), _mm_add_ps(x, y))).truncate()
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn pairs(start: &Columns) -> [__m256; 2] {
    [both(start[0], start[1]), both(start[2], start[3])]
}

/// [`super::skin_points`] in an order.
#[target_feature(enable = "avx2,fma")]
pub(super) fn skin_points(
    records: Records<'_>,
    order: impl Order,
    matrices: &[Joint<4>],
    start: &Columns,
    values: &[Vec3],
    out: &mut [Vec3],
) {
    let Records { words, count, .. } = records;
    by_count!(count, points(words, order, matrices, start, values, out), {
        let start = pairs(start);
        let records = words.chunks_exact(record_words(count));
        order.each(records, values, out, |record, value| {
            moved(sum_of(record, count, matrices, start), value)
        });
    });
}

/// The loop for `K` influences in records of `W` words.
#[target_feature(enable = "avx2,fma")]
fn points<const K: usize, const W: usize>(
    records: &[u32],
    order: impl Order,
    matrices: &[Joint<4>],
    start: &Columns,
    values: &[Vec3],
    out: &mut [Vec3],
) {
    let start = pairs(start);
    let records = records.as_chunks::<W>().0.iter();
    order.each(records, values, out, |record, value| {
        moved(sum_of(record, K, matrices, start), value)
    });
}

/// [`super::skin_normals`] in an order.
#[target_feature(enable = "avx2,fma")]
pub(super) fn skin_normals(
    records: Records<'_>,
    order: impl Order,
    matrices: &[Joint<3>],
    values: &[Vec3],
    out: &mut [Vec3],
) {
    let Records { words, count, .. } = records;
    by_count!(count, normals(words, order, matrices, values, out), {
        let records = words.chunks_exact(record_words(count));
        order.each(records, values, out, |record, value| {
            turned(sum_of_linear(record, count, matrices), value)
        });
    });
}

#[target_feature(enable = "avx2,fma")]
fn normals<const K: usize, const W: usize>(
    records: &[u32],
    order: impl Order,
    matrices: &[Joint<3>],
    values: &[Vec3],
    out: &mut [Vec3],
) {
    let records = records.as_chunks::<W>().0.iter();
    order.each(records, values, out, |record, value| {
        turned(sum_of_linear(record, K, matrices), value)
    });
}

/// [`super::skin_points_and_normals`] in an order. Records are read once.
#[target_feature(enable = "avx2,fma")]
pub(super) fn skin_both(
    records: Records<'_>,
    order: impl Order,
    matrices: (&[Joint<4>], &[Joint<3>]),
    start: &Columns,
    values: (&[Vec3], &[Vec3]),
    out: (&mut [Vec3], &mut [Vec3]),
) {
    by_count!(
        records.count,
        points_and_normals(records.words, order, matrices, start, values, out),
        {
            skin_points(records, order, matrices.0, start, values.0, out.0);
            skin_normals(records, order, matrices.1, values.1, out.1);
        }
    );
}

#[target_feature(enable = "avx2,fma")]
fn points_and_normals<const K: usize, const W: usize>(
    records: &[u32],
    order: impl Order,
    matrices: (&[Joint<4>], &[Joint<3>]),
    start: &Columns,
    values: (&[Vec3], &[Vec3]),
    out: (&mut [Vec3], &mut [Vec3]),
) {
    let start = pairs(start);
    let records = records.as_chunks::<W>().0.iter();
    order.each_pair(records, values, out, |record, p, n| {
        let [mut xy, mut zw] = start;
        let (mut normal_xy, mut normal_z) = (_mm256_setzero_ps(), _mm_setzero_ps());
        for_each_influence(record, K, |index, weight| {
            let (Joint(joint), Joint(normal)) = (&matrices.0[index], &matrices.1[index]);
            let weight = _mm256_set1_ps(weight);
            xy = _mm256_fmadd_ps(both(joint[0], joint[1]), weight, xy);
            zw = _mm256_fmadd_ps(both(joint[2], joint[3]), weight, zw);
            normal_xy = _mm256_fmadd_ps(both(normal[0], normal[1]), weight, normal_xy);
            normal_z = _mm_fmadd_ps(normal[2].into(), _mm256_castps256_ps128(weight), normal_z);
        });
        (moved([xy, zw], p), turned((normal_xy, normal_z), n))
    });
}

/// The sums of normal matrices of some points, for `count` influences or any number.
#[target_feature(enable = "avx2,fma")]
pub(super) fn blend_normals(
    count: usize,
    points: SameLength<'_>,
    matrices: &[Joint<3>],
    out: &mut [Joint<3>],
) {
    by_count!(count, blend_of(points, matrices, out), {
        points.each(|place, count, record| {
            out[place] = stored(sum_of_linear(record, count, matrices));
        });
    });
}

#[target_feature(enable = "avx2,fma")]
fn blend_of<const K: usize, const W: usize>(
    points: SameLength<'_>,
    matrices: &[Joint<3>],
    out: &mut [Joint<3>],
) {
    points.each_of::<W>(|place, record| {
        out[place] = stored(sum_of_linear(record, K, matrices));
    });
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn stored((xy, z): (__m256, __m128)) -> Joint<3> {
    let [x, y] = halves(xy);
    Joint([x, y, z].map(Vec4::from))
}

/// Multiplies each value by the matrix at its place.
#[target_feature(enable = "avx2,fma")]
pub(super) fn turn_each(matrices: &[Joint<3>], places: &[u16], values: &[Vec3], out: &mut [Vec3]) {
    for ((to, value), place) in out.iter_mut().zip(values).zip(places) {
        let Joint([x, y, z]) = matrices[usize::from(*place)];
        *to = turned((both(x, y), z.into()), *value);
    }
}

/// Normalises eight vectors at a time, to the same bits as [`normalized`]: square root and division
/// are exact on every machine (a reciprocal estimate is not, and differs between makers of
/// processors). It is a separate pass over a chunk in the first cache: inside the sums above, the
/// root and the division of one point would delay the next points.
#[target_feature(enable = "avx2,fma")]
pub(super) fn normalize(vectors: &mut [Vec3]) {
    let (eights, rest) = vectors.as_chunks_mut::<8>();
    for eight in eights {
        let (shortest, longest) = SQUARES;
        let floats: &mut [f32; 24] = bytemuck::cast_mut(eight);
        let at = floats.as_mut_ptr();
        // SAFETY: 24 floats.
        let [a, b, c] = unsafe { [0, 8, 16].map(|i| _mm256_loadu_ps(at.add(i))) };
        let [aa, bb, cc] = [
            _mm256_mul_ps(a, a),
            _mm256_mul_ps(b, b),
            _mm256_mul_ps(c, c),
        ];
        // Vectors 0 to 3 in the low half, 4 to 7 in the high one: x0 y0 z0 x1, y1 z1 x2 y2, z2 x3 y3 z3.
        let first = _mm256_blend_ps::<0b1111_0000>(aa, bb);
        let second = _mm256_permute2f128_ps::<0x21>(aa, cc);
        let third = _mm256_blend_ps::<0b1111_0000>(bb, cc);
        let xy = _mm256_shuffle_ps::<0b10_01_11_10>(second, third); // x2 y2 x3 y3
        let yz = _mm256_shuffle_ps::<0b01_00_10_01>(first, second); // y0 z0 y1 z1
        let x = _mm256_shuffle_ps::<0b10_00_11_00>(first, xy);
        let y = _mm256_shuffle_ps::<0b11_01_10_00>(yz, xy);
        let z = _mm256_shuffle_ps::<0b11_00_11_01>(yz, third);
        let square = _mm256_add_ps(_mm256_add_ps(x, y), z);
        let ordinary = _mm256_and_ps(
            _mm256_cmp_ps::<_CMP_GT_OQ>(square, _mm256_set1_ps(shortest)),
            _mm256_cmp_ps::<_CMP_LT_OQ>(square, _mm256_set1_ps(longest)),
        );
        if _mm256_movemask_ps(ordinary) != 0xff {
            for vector in eight {
                *vector = normalized(*vector);
            }
            continue;
        }
        let scale = _mm256_div_ps(_mm256_set1_ps(1.0), _mm256_sqrt_ps(square));
        // 0 0 0 1, 1 1 2 2, 2 3 3 3 in each half.
        let first = _mm256_permute_ps::<0b01_00_00_00>(scale);
        let second = _mm256_permute_ps::<0b10_10_01_01>(scale);
        let third = _mm256_permute_ps::<0b11_11_11_10>(scale);
        let a = _mm256_mul_ps(a, _mm256_permute2f128_ps::<0x20>(first, second));
        let b = _mm256_mul_ps(b, _mm256_blend_ps::<0b1111_0000>(third, first));
        let c = _mm256_mul_ps(c, _mm256_permute2f128_ps::<0x31>(second, third));
        // SAFETY: the same 24 floats.
        unsafe {
            _mm256_storeu_ps(at, a);
            _mm256_storeu_ps(at.add(8), b);
            _mm256_storeu_ps(at.add(16), c);
        }
    }
    for vector in rest {
        *vector = normalized(*vector);
    }
}
