//! Dual quaternion skinning on the CPU: blends the rigid motions of the joints of each point (rules
//! 25 to 27). Residual scale and shear are applied before. It mirrors the second half of
//! `shaders/skin.wgsl`.
//!
//! The loops work on several points at a time, one per lane. Quaternions are loaded as they lie in
//! memory and then transposed. The shader divides a sum of quaternions by its length and rotates by
//! it; this code divides the rotated vector by the square of the length instead.

use glam::{Vec3, Vec4};

#[cfg(target_arch = "x86_64")]
use super::cpu::Avx2Fma;
use super::influences::{Records, record_words};
use super::lanes::{Lanes, Vectors, cross, lanes, normalized, scaled_add, transformed};
#[cfg(target_arch = "x86_64")]
use super::lanes_avx2::Wide;
use super::linear_blend::Columns;
use super::registry::{CANCELLED, SHORTEST};

/// Moves the points of a chunk by their rigid motions, and then by `post`. `scale` applies scale to
/// them before. If no joint has scale, `bind` is applied to the points at rest instead.
pub(super) fn move_points(
    records: Records<'_>,
    motions: &[[Vec4; 3]],
    bind: Option<&Columns>,
    post: &Columns,
    rest: &[Vec3],
    points: &mut [Vec3],
    scale: impl FnOnce(&mut [Vec3]),
) {
    match bind {
        Some(_) => points.copy_from_slice(rest),
        None => scale(points),
    }
    run(&Points(motions, bind, post), records, points);
}

/// The same for normals, which it normalises before it applies `post`.
pub(super) fn turn_normals(
    records: Records<'_>,
    motions: &[[Vec4; 3]],
    bind: Option<&Columns>,
    post: &Columns,
    rest: &[Vec3],
    normals: &mut [Vec3],
    scale: impl FnOnce(&mut [Vec3]),
) {
    match bind {
        Some(_) => normals.copy_from_slice(rest),
        None => scale(normals),
    }
    run(&Normals(motions, bind, post), records, normals);
}

/// The work on `N` values and their records. Each record has `K` influences. If `K` is 0, the
/// records contain the number.
trait Apply {
    fn apply<const N: usize, const K: usize, const W: usize, L: Lanes<N>>(
        &self,
        records: &Block<'_, N, K, W, L>,
        values: Vectors<L>,
    ) -> Vectors<L>;
}

/// Motions, a matrix to apply before if no joint has scale, and one to apply afterwards.
struct Points<'a>(&'a [[Vec4; 3]], Option<&'a Columns>, &'a Columns);
struct Normals<'a>(&'a [[Vec4; 3]], Option<&'a Columns>, &'a Columns);

impl Apply for Points<'_> {
    #[inline(always)]
    fn apply<const N: usize, const K: usize, const W: usize, L: Lanes<N>>(
        &self,
        records: &Block<'_, N, K, W, L>,
        mut p: Vectors<L>,
    ) -> Vectors<L> {
        let Self(motions, bind, post) = *self;
        if let Some(bind) = bind {
            p = transformed(bind, p);
        }
        let cpu = records.cpu;
        let weights = records.weights();
        let pivot = records.pivot(&weights);
        let pivot = L::transposed(cpu, lanes(|i| motions[pivot[i]][0]));
        let zero = L::splat(cpu, 0.0);
        let (mut real, mut dual, mut sum) = ([zero; 4], [zero; 4], zero);
        for k in 0..records.count() {
            let indices = records.palette_indices(k);
            let weight = records.weight(&weights, k);
            let r = L::transposed(cpu, lanes(|i| motions[indices[i]][0]));
            let d = L::transposed(cpu, lanes(|i| motions[indices[i]][1]));
            let signed = weight.negated_where(dot(r, pivot).less(zero));
            real = weighted(r, signed, real);
            dual = weighted(d, signed, dual);
            sum = sum.add(weight.abs());
        }
        // With r and d for the sums' vectors: v + 2 (r x (r x v + w v) + w d - dw r + r x d) / |real|^2.
        let [rx, ry, rz, w] = real;
        let [dx, dy, dz, dw] = dual;
        let (r, d) = ([rx, ry, rz], [dx, dy, dz]);
        let inner = scaled_add(p, w, cross(r, p));
        let inner = [inner[0].add(d[0]), inner[1].add(d[1]), inner[2].add(d[2])];
        let outer = scaled_add(d, w, cross(r, inner));
        let outer = [
            dw.mul_sub_from(rx, outer[0]),
            dw.mul_sub_from(ry, outer[1]),
            dw.mul_sub_from(rz, outer[2]),
        ];
        transformed(post, scaled_add(outer, two_over_square(real, sum), p))
    }
}

impl Apply for Normals<'_> {
    #[inline(always)]
    fn apply<const N: usize, const K: usize, const W: usize, L: Lanes<N>>(
        &self,
        records: &Block<'_, N, K, W, L>,
        mut n: Vectors<L>,
    ) -> Vectors<L> {
        let Self(motions, bind, post) = *self;
        if let Some(bind) = bind {
            n = transformed(bind, n);
        }
        let cpu = records.cpu;
        let weights = records.weights();
        let pivot = records.pivot(&weights);
        let pivot = L::transposed(cpu, lanes(|i| motions[pivot[i]][2]));
        let zero = L::splat(cpu, 0.0);
        let (mut real, mut sum) = ([zero; 4], zero);
        for k in 0..records.count() {
            let indices = records.palette_indices(k);
            let weight = records.weight(&weights, k);
            let r = L::transposed(cpu, lanes(|i| motions[indices[i]][2]));
            let signed = weight.negated_where(dot(r, pivot).less(zero));
            real = weighted(r, signed, real);
            sum = sum.add(weight.abs());
        }
        let [rx, ry, rz, w] = real;
        let r = [rx, ry, rz];
        let outer = cross(r, scaled_add(n, w, cross(r, n)));
        let turned = scaled_add(outer, two_over_square(real, sum), n);
        transformed(post, normalized(turned))
    }
}

#[inline(always)]
fn dot<const N: usize, L: Lanes<N>>(a: [L; 4], b: [L; 4]) -> L {
    let xy = a[0].mul_add(b[0], a[1].mul(b[1]));
    a[3].mul_add(b[3], a[2].mul_add(b[2], xy))
}

#[inline(always)]
fn weighted<const N: usize, L: Lanes<N>>(q: [L; 4], weight: L, sum: [L; 4]) -> [L; 4] {
    [
        q[0].mul_add(weight, sum[0]),
        q[1].mul_add(weight, sum[1]),
        q[2].mul_add(weight, sum[2]),
        q[3].mul_add(weight, sum[3]),
    ]
}

/// `2 / |real|^2`, or 0 if the sum of quaternions is so short that it has no direction. It then
/// moves nothing.
#[inline(always)]
fn two_over_square<const N: usize, L: Lanes<N>>(real: [L; 4], weights: L) -> L {
    let cpu = weights.cpu();
    let square = dot(real, real);
    let shortest = weights
        .mul(L::splat(cpu, CANCELLED))
        .max(L::splat(cpu, SHORTEST));
    let says_something = shortest.less(square.sqrt());
    L::select(
        says_something,
        L::splat(cpu, 2.0).div(square),
        L::splat(cpu, 0.0),
    )
}

/// The records of `N` values. A record has `K` influences in `W` words; if `K` is 0, it has `count`
/// influences.
struct Block<'a, const N: usize, const K: usize, const W: usize, L: Lanes<N>> {
    cpu: L::Cpu,
    records: &'a [[u32; W]; N],
    of_any_count: [&'a [u32]; N],
    count: usize,
}

impl<const N: usize, const K: usize, const W: usize, L: Lanes<N>> Block<'_, N, K, W, L> {
    #[inline(always)]
    fn count(&self) -> usize {
        if K == 0 { self.count } else { K }
    }

    #[inline(always)]
    fn record(&self, lane: usize) -> &[u32] {
        match K {
            0 => self.of_any_count[lane],
            _ => &self.records[lane],
        }
    }

    /// All weights; only for `K` above 0.
    #[inline(always)]
    fn weights(&self) -> [L; K] {
        let mut out = [L::splat(self.cpu, 0.0); K];
        for first in (0..K).step_by(4) {
            let mut rows = [Vec4::ZERO; N];
            for (row, record) in rows.iter_mut().zip(self.records) {
                let of = &record[K.div_ceil(2) + first..];
                *row = match of {
                    [x, y, z, w, ..] => bits([*x, *y, *z, *w]),
                    [x, y, z] => bits([*x, *y, *z, 0]),
                    [x, y] => bits([*x, *y, 0, 0]),
                    [x] => bits([*x, 0, 0, 0]),
                    [] => Vec4::ZERO,
                };
            }
            let four = L::transposed(self.cpu, rows);
            for (out, weights) in out[first..].iter_mut().zip(four) {
                *out = weights;
            }
        }
        out
    }

    /// One of [`Block::weights`], or for `K` = 0 a weight from the records.
    #[inline(always)]
    fn weight(&self, weights: &[L; K], k: usize) -> L {
        if K != 0 {
            return weights[k];
        }
        let of = |lane: usize| self.record(lane)[self.count.div_ceil(2) + k];
        L::transposed(self.cpu, lanes(|lane| bits([of(lane), 0, 0, 0])))[0]
    }

    /// The palette index of the `k`-th influence of each value.
    #[inline(always)]
    fn palette_indices(&self, k: usize) -> [usize; N] {
        lanes(|lane| half(self.record(lane), k))
    }

    /// The palette index of the largest weight, the first of equal ones. Its quaternion chooses the
    /// hemisphere.
    #[inline(always)]
    fn pivot(&self, weights: &[L; K]) -> [usize; N] {
        let mut largest = self.weight(weights, 0);
        // Influence numbers as the bits of f32 lanes; `select` does not change them.
        let mut pivot = L::splat(self.cpu, f32::from_bits(0));
        for k in 1..self.count() {
            let weight = self.weight(weights, k);
            let more = largest.less(weight);
            largest = L::select(more, weight, largest);
            pivot = L::select(more, L::splat(self.cpu, f32::from_bits(k as u32)), pivot);
        }
        let pivot = pivot.to_array();
        lanes(|lane| half(self.record(lane), pivot[lane].to_bits() as usize))
    }
}

#[inline(always)]
fn bits(words: [u32; 4]) -> Vec4 {
    Vec4::from_array(words.map(f32::from_bits))
}

/// As `palette_index` of `linear_blend`, for a `k` that is not constant, with a single load.
#[inline(always)]
fn half(record: &[u32], k: usize) -> usize {
    let halves: &[u16] = bytemuck::cast_slice(record);
    let k = if cfg!(target_endian = "big") {
        k ^ 1
    } else {
        k
    };
    halves[k].into()
}

fn run(work: &impl Apply, records: Records<'_>, values: &mut [Vec3]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = Avx2Fma::detect() {
        // SAFETY: the machine has AVX2 and FMA.
        unsafe { run_wide(cpu, work, records, values) };
        return;
    }
    by_count::<4, Vec4>((), work, records, values);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_wide(cpu: Avx2Fma, work: &impl Apply, records: Records<'_>, values: &mut [Vec3]) {
    by_count::<8, Wide>(cpu, work, records, values);
}

#[inline(always)]
fn by_count<const N: usize, L: Lanes<N>>(
    cpu: L::Cpu,
    work: &impl Apply,
    records: Records<'_>,
    values: &mut [Vec3],
) {
    match records.count {
        1 => blocks::<N, 1, 2, L>(cpu, work, records, values),
        2 => blocks::<N, 2, 3, L>(cpu, work, records, values),
        3 => blocks::<N, 3, 5, L>(cpu, work, records, values),
        4 => blocks::<N, 4, 6, L>(cpu, work, records, values),
        8 => blocks::<N, 8, 12, L>(cpu, work, records, values),
        _ => blocks_of_any_count::<N, L>(cpu, work, records, values),
    }
}

#[inline(always)]
fn blocks<const N: usize, const K: usize, const W: usize, L: Lanes<N>>(
    cpu: L::Cpu,
    work: &impl Apply,
    records: Records<'_>,
    values: &mut [Vec3],
) {
    let all = records.words.as_chunks::<W>().0;
    let Some(last) = all.last() else {
        return;
    };
    // For values after the last whole block, and if one record serves all values.
    let mut padded = [*last; N];
    let rest = &all[all.len() / N * N..];
    padded[..rest.len()].copy_from_slice(rest);
    each_block(values, |first, values| {
        let whole = all.get(first..first + N).and_then(<[_]>::as_array);
        let block = Block::<N, K, W, L> {
            cpu,
            records: whole.unwrap_or(&padded),
            of_any_count: [&[]; N],
            count: K,
        };
        L::to_points(work.apply(&block, L::from_points(cpu, values)), values);
    });
}

#[inline(always)]
fn blocks_of_any_count<const N: usize, L: Lanes<N>>(
    cpu: L::Cpu,
    work: &impl Apply,
    records: Records<'_>,
    values: &mut [Vec3],
) {
    let words = record_words(records.count);
    let Some(last) = (records.words.len() / words).checked_sub(1) else {
        return;
    };
    each_block(values, |first, values| {
        let of_any_count = lanes(|lane| {
            let at = (first + lane).min(last) * words;
            &records.words[at..at + words]
        });
        let block = Block::<N, 0, 0, L> {
            cpu,
            records: &[[]; N],
            of_any_count,
            count: records.count,
        };
        L::to_points(work.apply(&block, L::from_points(cpu, values)), values);
    });
}

/// Calls `each` with every `N` values and the index of the first. Lanes after the last value hold
/// zeros. `each` is called in one place only, so that its long code is inlined once.
#[inline(always)]
fn each_block<const N: usize>(values: &mut [Vec3], mut each: impl FnMut(usize, &mut [Vec3; N])) {
    let whole_len = values.len() / N * N;
    let (whole, rest) = values.split_at_mut(whole_len);
    let mut padded = [Vec3::ZERO; N];
    padded[..rest.len()].copy_from_slice(rest);
    let padded_len = rest.len().div_ceil(N) * N;
    for (first, values) in [(0, whole), (whole_len, &mut padded[..padded_len])] {
        for (i, values) in values.as_chunks_mut::<N>().0.iter_mut().enumerate() {
            each(first + i * N, values);
        }
    }
    rest.copy_from_slice(&padded[..rest.len()]);
}
