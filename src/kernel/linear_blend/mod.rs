//! Linear blend skinning on the CPU: the loops over points and normals that mirror
//! `shaders/skin.wgsl`.
//!
//! A loop works on a chunk of points. It is unrolled for the common numbers of influences. Matrices
//! are kept by column, so f32x4 registers multiply them without shuffling; [`avx2`] holds two
//! columns in a register.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
pub(super) mod multi_pose_lbs;

use glam::{Vec3, Vec4};

#[cfg(target_arch = "x86_64")]
use super::cpu::Avx2Fma;
use super::influences::{Records, record_words};
use super::registry::SHORTEST;
use crate::math::Rows;

/// An affine matrix by columns.
pub(super) type Columns = [Vec4; 4];

pub(super) fn columns(m: &Rows) -> Columns {
    let t = glam::Mat4::from_cols(m[0], m[1], m[2], Vec4::W).transpose();
    [t.x_axis, t.y_axis, t.z_axis, t.w_axis]
}

/// The product `a * b` of affine matrices.
pub(super) fn product(a: &Columns, b: &Columns) -> Columns {
    let linear = |v: Vec4| a[0] * v.x + a[1] * v.y + a[2] * v.z;
    [
        linear(b[0]),
        linear(b[1]),
        linear(b[2]),
        linear(b[3]) + a[3],
    ]
}

pub(super) fn transform_point(m: &Columns, p: Vec3) -> Vec3 {
    (m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3]).truncate()
}

pub(super) fn transform_vector(m: &[Vec4], v: Vec3) -> Vec3 {
    (m[0] * v.x + m[1] * v.y + m[2] * v.z).truncate()
}

/// The square of a length between these bounds neither overflows nor underflows.
pub(super) const SQUARES: (f32, f32) = (4e-20, 1e30);

/// Scales a vector to unit length; zero stays zero. A vector of extreme length is scaled down or up
/// first; the shader does that to every vector.
pub(super) fn normalized(v: Vec3) -> Vec3 {
    let square = v.length_squared();
    if square > SQUARES.0 && square < SQUARES.1 {
        return v * (1.0 / square.sqrt());
    }
    let largest = v.abs().max_element();
    if largest > SHORTEST {
        (v / largest).normalize()
    } else {
        v / SHORTEST
    }
}

/// Skins a chunk. `matrices` has one matrix of `N` columns per palette index. The result of a value
/// is `apply(sum, value)`, where `sum` is `start` plus the weighted matrices.
fn skin_chunk<const N: usize>(
    records: Records<'_>,
    matrices: &[[Vec4; N]],
    start: [Vec4; N],
    values: &[Vec3],
    out: &mut [Vec3],
    apply: impl Fn(&[Vec4; N], Vec3) -> Vec3,
) {
    let Records { words, count, .. } = records;
    if records.constant {
        let m = blend_matrices(words, count, matrices, start);
        for (to, from) in out.iter_mut().zip(values) {
            *to = apply(&m, *from);
        }
        return;
    }
    match count {
        1 => unrolled::<N, 1, 2>(words, matrices, start, values, out, apply),
        2 => unrolled::<N, 2, 3>(words, matrices, start, values, out, apply),
        3 => unrolled::<N, 3, 5>(words, matrices, start, values, out, apply),
        4 => unrolled::<N, 4, 6>(words, matrices, start, values, out, apply),
        5 => unrolled::<N, 5, 8>(words, matrices, start, values, out, apply),
        6 => unrolled::<N, 6, 9>(words, matrices, start, values, out, apply),
        7 => unrolled::<N, 7, 11>(words, matrices, start, values, out, apply),
        8 => unrolled::<N, 8, 12>(words, matrices, start, values, out, apply),
        count => {
            let records = words.chunks_exact(record_words(count));
            for ((record, from), to) in records.zip(values).zip(out) {
                *to = apply(&blend_matrices(record, count, matrices, start), *from);
            }
        }
    }
}

/// The loop for `K` influences in records of `W` words.
fn unrolled<const N: usize, const K: usize, const W: usize>(
    records: &[u32],
    matrices: &[[Vec4; N]],
    start: [Vec4; N],
    values: &[Vec3],
    out: &mut [Vec3],
    apply: impl Fn(&[Vec4; N], Vec3) -> Vec3,
) {
    for ((record, from), to) in records.as_chunks::<W>().0.iter().zip(values).zip(out) {
        let mut m = start;
        for k in 0..K {
            add_scaled(
                &mut m,
                &matrices[palette_index(record, k)],
                f32::from_bits(record[K.div_ceil(2) + k]),
            );
        }
        *to = apply(&m, *from);
    }
}

fn blend_matrices<const N: usize>(
    record: &[u32],
    count: usize,
    matrices: &[[Vec4; N]],
    start: [Vec4; N],
) -> [Vec4; N] {
    let mut m = start;
    for k in 0..count {
        add_scaled(
            &mut m,
            &matrices[palette_index(record, k)],
            f32::from_bits(record[count.div_ceil(2) + k]),
        );
    }
    m
}

#[inline(always)]
pub(super) fn palette_index(record: &[u32], k: usize) -> usize {
    (record[k / 2] >> (k % 2 * 16) & 0xffff) as usize
}

#[inline(always)]
fn add_scaled<const N: usize>(m: &mut [Vec4; N], joint: &[Vec4; N], weight: f32) {
    for (sum, column) in m.iter_mut().zip(joint) {
        *sum += *column * weight;
    }
}

/// Normalises all vectors of a chunk, to the bits of [`normalized`].
pub(super) fn normalize(vectors: &mut [Vec3]) {
    #[cfg(target_arch = "x86_64")]
    if Avx2Fma::detect().is_some() {
        // SAFETY: the machine has AVX2 and FMA.
        unsafe { avx2::normalize(vectors) };
        return;
    }
    for vector in vectors {
        *vector = normalized(*vector);
    }
}

/// Calls the loop of [`avx2`] for this number of influences if it is at most twelve, else `$many`.
#[cfg(target_arch = "x86_64")]
macro_rules! by_count {
    ($count:expr, $loop:ident $arguments:tt, $many:expr) => {
        match $count {
            1 => $loop::<1, 2> $arguments,
            2 => $loop::<2, 3> $arguments,
            3 => $loop::<3, 5> $arguments,
            4 => $loop::<4, 6> $arguments,
            5 => $loop::<5, 8> $arguments,
            6 => $loop::<6, 9> $arguments,
            7 => $loop::<7, 11> $arguments,
            8 => $loop::<8, 12> $arguments,
            9 => $loop::<9, 14> $arguments,
            10 => $loop::<10, 15> $arguments,
            11 => $loop::<11, 17> $arguments,
            12 => $loop::<12, 18> $arguments,
            _ => $many,
        }
    };
}

/// Skins the points of a chunk. Each sum of `matrices` begins with `start`.
pub(super) fn skin_points(
    records: Records<'_>,
    matrices: &[Columns],
    start: Columns,
    values: &[Vec3],
    out: &mut [Vec3],
) {
    #[cfg(target_arch = "x86_64")]
    if let Some(words) = wide_records(records) {
        use avx2::{points, points_of_many};
        let count = records.count;
        // SAFETY: wide_records gives records only where AVX2 and FMA are there.
        unsafe {
            by_count!(
                count,
                points(words, matrices, &start, values, out),
                points_of_many(words, count, matrices, &start, values, out)
            );
        }
        return;
    }
    skin_chunk(records, matrices, start, values, out, transform_point);
}

/// Skins the normals of a chunk, without normalising them.
pub(super) fn skin_normals(
    records: Records<'_>,
    matrices: &[[Vec4; 3]],
    values: &[Vec3],
    out: &mut [Vec3],
) {
    #[cfg(target_arch = "x86_64")]
    if let Some(words) = wide_records(records) {
        use avx2::{normals, normals_of_many};
        let count = records.count;
        // SAFETY: wide_records gives records only where AVX2 and FMA are there.
        unsafe {
            by_count!(
                count,
                normals(words, matrices, values, out),
                normals_of_many(words, count, matrices, values, out)
            );
        }
        return;
    }
    let apply = |m: &[Vec4; 3], n: Vec3| transform_vector(m, n);
    skin_chunk(records, matrices, [Vec4::ZERO; 3], values, out, apply);
}

/// Does [`skin_points`] and [`skin_normals`] in one loop. In pairs, points come first.
pub(super) fn skin_points_and_normals(
    records: Records<'_>,
    matrices: (&[Columns], &[[Vec4; 3]]),
    start: Columns,
    values: (&[Vec3], &[Vec3]),
    out: (&mut [Vec3], &mut [Vec3]),
) {
    #[cfg(target_arch = "x86_64")]
    if let Some(words) = wide_records(records).filter(|_| records.count <= 12) {
        use avx2::points_and_normals;
        // SAFETY: wide_records gives records only where AVX2 and FMA are there.
        unsafe {
            by_count!(
                records.count,
                points_and_normals(words, matrices, &start, values, out),
                unreachable!("up to twelve")
            );
        }
        return;
    }
    skin_points(records, matrices.0, start, values.0, out.0);
    skin_normals(records, matrices.1, values.1, out.1);
}

/// The words of the records, if the loops of [`avx2`] can take them: the machine has AVX2 and FMA,
/// and records are not constant.
#[cfg(target_arch = "x86_64")]
fn wide_records(records: Records<'_>) -> Option<&[u32]> {
    (!records.constant && Avx2Fma::detect().is_some()).then_some(records.words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_normalize_to_the_bits_of_single_vectors() {
        let mut vectors: Vec<Vec3> = (0..77)
            .map(|i| Vec3::new(0.3, -1.7, 0.9) * i as f32 + Vec3::new(-5.0, 1.0, 1e-3 * i as f32))
            .collect();
        // Extreme vectors among ordinary ones, so that both branches are taken.
        vectors[9] = Vec3::ZERO;
        vectors[21] = Vec3::new(0.0, 3e-20, 0.0);
        vectors[22] = Vec3::new(0.0, 3e-12, 0.0);
        vectors[35] = Vec3::splat(1e25);
        vectors[50] = Vec3::new(f32::MAX, 0.0, 0.0);
        vectors[76] = Vec3::ZERO;
        let alone: Vec<Vec3> = vectors.iter().map(|v| normalized(*v)).collect();
        for count in [77, 76, 72, 8, 7, 0] {
            let mut together = vectors[..count].to_vec();
            normalize(&mut together);
            let bits = |v: &[Vec3]| {
                v.iter()
                    .map(|v| v.to_array().map(f32::to_bits))
                    .collect::<Vec<_>>()
            };
            assert_eq!(bits(&together), bits(&alone[..count]));
        }
        assert!((alone[35].length() - 1.0).abs() < 1e-6 && alone[9] == Vec3::ZERO);
    }
}
