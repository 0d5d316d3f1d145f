//! The loops of the parent module for x86-64 machines with AVX2 and FMA: two matrix columns per
//! register. Code without these target features needs an [`Avx2Fma`](crate::kernel::cpu::Avx2Fma)
//! to call them.

use std::arch::x86_64::*;

use glam::{Vec3, Vec4};

use super::shared::SameLength;
use super::{Joint, Order, SQUARES, normalized};
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

/// The columns of a sum of matrices, two to a register.
type Sum = [__m256; 2];

#[inline]
#[target_feature(enable = "avx2,fma")]
fn wide(Joint([x, y, z, w]): &Joint) -> Sum {
    [both(*x, *y), both(*z, *w)]
}

/// Adds a matrix times a weight.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn add_scaled([xy, zw]: &mut Sum, joint: &Joint, weight: f32) {
    let (joint, weight) = (wide(joint), _mm256_set1_ps(weight));
    *xy = _mm256_fmadd_ps(joint[0], weight, *xy);
    *zw = _mm256_fmadd_ps(joint[1], weight, *zw);
}

/// The sum of a record's matrices times weights, plus `start`.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn sum_of(record: &[u32], count: usize, matrices: &[Joint], start: Sum) -> Sum {
    let mut sum = start;
    for_each_influence(record, count, |index, weight| {
        add_scaled(&mut sum, &matrices[index], weight);
    });
    sum
}

/// A matrix times a point. Its columns are taken apart first: to multiply two at once would take the
/// coordinates of the point to halves of a register, by shuffles that cost more than they save.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn moved([xy, zw]: Sum, p: &Vec3) -> Vec3 {
    let ([x, y], [z, w]) = (halves(xy), halves(zw));
    let xz = _mm_fmadd_ps(x, _mm_set1_ps(p.x), _mm_mul_ps(z, _mm_set1_ps(p.z)));
    let yw = _mm_fmadd_ps(y, _mm_set1_ps(p.y), w);
    Vec4::from(_mm_add_ps(xz, yw)).truncate()
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn turned([xy, zw]: Sum, n: &Vec3) -> Vec3 {
    let ([x, y], z) = (halves(xy), _mm256_castps256_ps128(zw));
    let (x, y) = (
        _mm_mul_ps(x, _mm_set1_ps(n.x)),
        _mm_mul_ps(y, _mm_set1_ps(n.y)),
    );
    Vec4::from(_mm_fmadd_ps(z, _mm_set1_ps(n.z), _mm_add_ps(x, y))).truncate()
}

/// [`super::skin_points`] in an order, or [`super::skin_normals`].
#[target_feature(enable = "avx2,fma")]
pub(super) fn skin<const POINTS: bool>(
    records: Records<'_>,
    order: impl Order,
    matrices: &[Joint],
    start: &Joint,
    values: &[Vec3],
    out: &mut [Vec3],
) {
    let Records { words, count, .. } = records;
    if !records.single.is_empty() {
        return order.each(records.single.iter(), values, out, |index, value| {
            applied::<POINTS>(wide(&matrices[usize::from(*index)]), value)
        });
    }
    by_count!(count, unrolled<POINTS>(words, order, matrices, start, values, out), {
        let start = wide(start);
        let records = words.chunks_exact(record_words(count));
        order.each(records, values, out, |record, value| {
            applied::<POINTS>(sum_of(record, count, matrices, start), value)
        });
    });
}

/// The loop for `K` influences in records of `W` words.
#[target_feature(enable = "avx2,fma")]
fn unrolled<const K: usize, const W: usize, const POINTS: bool>(
    records: &[u32],
    order: impl Order,
    matrices: &[Joint],
    start: &Joint,
    values: &[Vec3],
    out: &mut [Vec3],
) {
    let start = wide(start);
    let records = records.as_chunks::<W>().0.iter();
    order.each(records, values, out, |record, value| {
        applied::<POINTS>(sum_of(record, K, matrices, start), value)
    });
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn applied<const POINTS: bool>(sum: Sum, value: &Vec3) -> Vec3 {
    if POINTS {
        moved(sum, value)
    } else {
        turned(sum, value)
    }
}

/// [`super::skin_points_and_normals`] in an order. Records are read once.
#[target_feature(enable = "avx2,fma")]
pub(super) fn skin_both<const ALIKE: bool>(
    records: Records<'_>,
    order: impl Order,
    matrices: (&[Joint], &[Joint]),
    start: &Joint,
    values: (&[Vec3], &[Vec3]),
    out: (&mut [Vec3], &mut [Vec3]),
) {
    if !records.single.is_empty() {
        return order.each_pair(records.single.iter(), values, out, |index, p, n| {
            let index = usize::from(*index);
            let [of_point, of_normal] = [matrices.0, matrices.1].map(|m| &m[index]);
            (moved(wide(of_point), p), turned(wide(of_normal), n))
        });
    }
    by_count!(
        records.count,
        points_and_normals<ALIKE>(records.words, order, matrices, start, values, out),
        {
            skin::<true>(records, order, matrices.0, start, values.0, out.0);
            skin::<false>(records, order, matrices.1, &Joint::ZERO, values.1, out.1);
        }
    );
}

#[target_feature(enable = "avx2,fma")]
fn points_and_normals<const K: usize, const W: usize, const ALIKE: bool>(
    records: &[u32],
    order: impl Order,
    matrices: (&[Joint], &[Joint]),
    start: &Joint,
    values: (&[Vec3], &[Vec3]),
    out: (&mut [Vec3], &mut [Vec3]),
) {
    let (start, zero) = (wide(start), wide(&Joint::ZERO));
    let records = records.as_chunks::<W>().0.iter();
    // Of the same length, so that an index is tested once.
    let of_normals = &matrices.1[..matrices.0.len()];
    order.each_pair(records, values, out, |record, p, n| {
        let (mut of_point, mut of_normal) = (start, zero);
        for_each_influence(record, K, |index, weight| {
            add_scaled(&mut of_point, &matrices.0[index], weight);
            if !ALIKE {
                add_scaled(&mut of_normal, &of_normals[index], weight);
            }
        });
        let of_normal = if ALIKE { of_point } else { of_normal };
        (moved(of_point, p), turned(of_normal, n))
    });
}

/// The sums of normal matrices of some points, for `count` influences or any number.
#[target_feature(enable = "avx2,fma")]
pub(super) fn blend_normals(
    count: usize,
    points: SameLength<'_>,
    matrices: &[Joint],
    out: &mut [Joint],
) {
    let zero = wide(&Joint::ZERO);
    by_count!(count, blend_of(points, matrices, out), {
        points.each(|place, count, record| {
            out[place] = stored(sum_of(record, count, matrices, zero));
        });
    });
}

#[target_feature(enable = "avx2,fma")]
fn blend_of<const K: usize, const W: usize>(
    points: SameLength<'_>,
    matrices: &[Joint],
    out: &mut [Joint],
) {
    let zero = wide(&Joint::ZERO);
    points.each_of::<W>(|place, record| {
        out[place] = stored(sum_of(record, K, matrices, zero));
    });
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn stored([xy, zw]: Sum) -> Joint {
    let ([x, y], [z, w]) = (halves(xy), halves(zw));
    Joint([x, y, z, w].map(Vec4::from))
}

/// Multiplies each value by the matrix at its place.
#[target_feature(enable = "avx2,fma")]
pub(super) fn turn_each(matrices: &[Joint], places: &[u16], values: &[Vec3], out: &mut [Vec3]) {
    for ((to, value), place) in out.iter_mut().zip(values).zip(places) {
        *to = turned(wide(&matrices[usize::from(*place)]), value);
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
