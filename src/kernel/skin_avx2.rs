//! The CPU mirror's loops for x86-64 machines with AVX2 and FMA, chosen at run time: two matrix
//! columns to a register.

use std::arch::x86_64::*;
use std::sync::LazyLock;

use glam::{Vec3, Vec4};

use super::skin::{Columns, slot};

/// Whether this machine has what the functions of this module need. `SINEW_CPU=baseline` says no, so
/// that the loops of other machines can be tested and timed on this one.
pub(super) fn is_available() -> bool {
    static AVAILABLE: LazyLock<bool> = LazyLock::new(|| {
        let baseline = std::env::var("SINEW_CPU").is_ok_and(|v| v == "baseline");
        !baseline && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
    });
    *AVAILABLE
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn both(low: Vec4, high: Vec4) -> __m256 {
    _mm256_set_m128(high.into(), low.into())
}

/// `low` in the low half, `high` in the high one.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn halves(low: f32, high: f32) -> __m256 {
    _mm256_blend_ps::<0b1111_0000>(_mm256_set1_ps(low), _mm256_set1_ps(high))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn sum_of_halves(v: __m256) -> __m128 {
    _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v))
}

/// [`super::skin::skin_chunk`] of points, for `K` influences in records of `W` words.
#[target_feature(enable = "avx2,fma")]
pub(super) fn points<const K: usize, const W: usize>(
    records: &[u32],
    matrices: &[Columns],
    start: &Columns,
    values: &[Vec3],
    out: &mut [Vec3],
) {
    let start = [both(start[0], start[1]), both(start[2], start[3])];
    for ((record, p), to) in records.as_chunks::<W>().0.iter().zip(values).zip(out) {
        let [mut xy, mut zw] = start;
        for k in 0..K {
            let joint = &matrices[slot(record, k)];
            let weight = _mm256_set1_ps(f32::from_bits(record[K.div_ceil(2) + k]));
            xy = _mm256_fmadd_ps(both(joint[0], joint[1]), weight, xy);
            zw = _mm256_fmadd_ps(both(joint[2], joint[3]), weight, zw);
        }
        let sum = _mm256_fmadd_ps(xy, halves(p.x, p.y), _mm256_mul_ps(zw, halves(p.z, 1.0)));
        *to = Vec4::from(sum_of_halves(sum)).truncate();
    }
}

/// Sums of normal matrices times normals, not normalised yet.
#[target_feature(enable = "avx2,fma")]
pub(super) fn normals<const K: usize, const W: usize>(
    records: &[u32],
    matrices: &[[Vec4; 3]],
    values: &[Vec3],
    out: &mut [Vec3],
    apply: impl Fn(Vec3) -> Vec3,
) {
    for ((record, n), to) in records.as_chunks::<W>().0.iter().zip(values).zip(out) {
        let (mut xy, mut z) = (_mm256_setzero_ps(), _mm_setzero_ps());
        for k in 0..K {
            let joint = &matrices[slot(record, k)];
            let weight = _mm256_set1_ps(f32::from_bits(record[K.div_ceil(2) + k]));
            xy = _mm256_fmadd_ps(both(joint[0], joint[1]), weight, xy);
            z = _mm_fmadd_ps(joint[2].into(), _mm256_castps256_ps128(weight), z);
        }
        let sum = sum_of_halves(_mm256_mul_ps(xy, halves(n.x, n.y)));
        let sum = _mm_fmadd_ps(z, _mm_set1_ps(n.z), sum);
        *to = apply(Vec4::from(sum).truncate());
    }
}
