//! Linear blend skinning on the CPU: the loops over points and normals that mirror
//! `shaders/skin.wgsl`.
//!
//! A loop works on a chunk of points. It is unrolled for the common numbers of influences. Matrices
//! are kept by column, so f32x4 registers multiply them without shuffling; [`avx2`] holds two
//! columns in a register.

/// Calls a loop for this number of influences if it is at most twelve, else the loop for any number.
macro_rules! by_count {
    ($count:expr, $loop:ident $(<$n:ident>)? ($($argument:expr),*), $many:expr) => {
        match $count {
            1 => $loop::<1, 2 $(, $n)?>($($argument),*),
            2 => $loop::<2, 3 $(, $n)?>($($argument),*),
            3 => $loop::<3, 5 $(, $n)?>($($argument),*),
            4 => $loop::<4, 6 $(, $n)?>($($argument),*),
            5 => $loop::<5, 8 $(, $n)?>($($argument),*),
            6 => $loop::<6, 9 $(, $n)?>($($argument),*),
            7 => $loop::<7, 11 $(, $n)?>($($argument),*),
            8 => $loop::<8, 12 $(, $n)?>($($argument),*),
            9 => $loop::<9, 14 $(, $n)?>($($argument),*),
            10 => $loop::<10, 15 $(, $n)?>($($argument),*),
            11 => $loop::<11, 17 $(, $n)?>($($argument),*),
            12 => $loop::<12, 18 $(, $n)?>($($argument),*),
            _ => $many,
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
mod shared;

use glam::{Vec3, Vec4};

#[cfg(target_arch = "x86_64")]
use super::cpu::Avx2Fma;
use super::influences::{Records, record_words};
use super::lanes::Lanes;
use super::registry::SHORTEST;
use crate::math::Rows;

pub(super) use shared::{SHARED, SharedPoints};

/// An affine matrix by columns.
pub(super) type Columns = [Vec4; 4];

/// The columns of a matrix of a palette. The fourth values of the first three are the translation too,
/// so that a sum of matrices needs no fourth register. It begins with a line of the cache, so that no
/// load of two columns straddles two lines.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Joint(pub Columns);

/// A sum of the matrices of a palette.
type Sum = [Vec4; 3];

impl Joint {
    pub const ZERO: Self = Self([Vec4::ZERO; 4]);

    pub fn new([x, y, z, w]: Columns) -> Self {
        Self([x.with_w(w.x), y.with_w(w.y), z.with_w(w.z), w])
    }

    /// The sum of this matrix alone, with weight 1.
    pub fn after(self, start: Self) -> Self {
        Self(std::array::from_fn(|i| start.0[i] + self.0[i]))
    }

    fn sum(&self) -> Sum {
        let [x, y, z, _] = self.0;
        [x, y, z]
    }
}

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

fn transform_point([x, y, z]: &Sum, p: Vec3) -> Vec3 {
    // By shuffles: read one by one from memory, the fourth values would wait for three stores.
    let translation = glam::Mat4::from_cols(*x, *y, *z, *z).transpose().w_axis;
    (*x * p.x + *y * p.y + *z * p.z + translation).truncate()
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

/// Which value each record belongs to. Results get values by reference: a load behind the tests of
/// palette indices is one instruction with the broadcast of what it loads.
trait Order: Copy {
    /// Sets the result of each record's value.
    fn each<R>(
        self,
        records: impl Iterator<Item = R>,
        values: &[Vec3],
        out: &mut [Vec3],
        result: impl Fn(R, &Vec3) -> Vec3,
    );

    /// The same of two values, a point and a normal.
    fn each_pair<R>(
        self,
        records: impl Iterator<Item = R>,
        values: (&[Vec3], &[Vec3]),
        out: (&mut [Vec3], &mut [Vec3]),
        result: impl Fn(R, &Vec3, &Vec3) -> (Vec3, Vec3),
    );
}

/// Records have the order of values.
#[derive(Clone, Copy)]
struct SameOrder;

impl Order for SameOrder {
    #[inline(always)]
    fn each<R>(
        self,
        records: impl Iterator<Item = R>,
        values: &[Vec3],
        out: &mut [Vec3],
        result: impl Fn(R, &Vec3) -> Vec3,
    ) {
        for ((record, value), to) in records.zip(values).zip(out) {
            *to = result(record, value);
        }
    }

    #[inline(always)]
    fn each_pair<R>(
        self,
        records: impl Iterator<Item = R>,
        values: (&[Vec3], &[Vec3]),
        out: (&mut [Vec3], &mut [Vec3]),
        result: impl Fn(R, &Vec3, &Vec3) -> (Vec3, Vec3),
    ) {
        let values = values.0.iter().zip(values.1);
        let out = out.0.iter_mut().zip(out.1);
        for ((record, (p, n)), (to, to_normal)) in records.zip(values).zip(out) {
            (*to, *to_normal) = result(record, p, n);
        }
    }
}

/// The value of each record.
impl Order for &[u16] {
    #[inline(always)]
    fn each<R>(
        self,
        records: impl Iterator<Item = R>,
        values: &[Vec3],
        out: &mut [Vec3],
        result: impl Fn(R, &Vec3) -> Vec3,
    ) {
        for (record, at) in records.zip(self) {
            let at = usize::from(*at);
            out[at] = result(record, &values[at]);
        }
    }

    #[inline(always)]
    fn each_pair<R>(
        self,
        records: impl Iterator<Item = R>,
        values: (&[Vec3], &[Vec3]),
        out: (&mut [Vec3], &mut [Vec3]),
        result: impl Fn(R, &Vec3, &Vec3) -> (Vec3, Vec3),
    ) {
        for (record, at) in records.zip(self) {
            let at = usize::from(*at);
            (out.0[at], out.1[at]) = result(record, &values.0[at], &values.1[at]);
        }
    }
}

/// Skins the values of some records. `matrices` has one matrix per palette index.
/// The result of a value is `apply(sum, value)`, where `sum` is `start` plus the weighted matrices.
fn skin_chunk(
    records: Records<'_>,
    matrices: &[Joint],
    start: Sum,
    values: &[Vec3],
    out: &mut [Vec3],
    apply: impl Fn(&Sum, Vec3) -> Vec3,
) {
    match records.order {
        [] => skin_in_order(records, SameOrder, matrices, start, values, out, apply),
        order => skin_in_order(records, order, matrices, start, values, out, apply),
    }
}

fn skin_in_order(
    records: Records<'_>,
    order: impl Order,
    matrices: &[Joint],
    start: Sum,
    values: &[Vec3],
    out: &mut [Vec3],
    apply: impl Fn(&Sum, Vec3) -> Vec3,
) {
    let Records { words, count, .. } = records;
    if !records.single.is_empty() {
        return order.each(records.single.iter(), values, out, |index, value| {
            apply(&matrices[usize::from(*index)].sum(), *value)
        });
    }
    if records.constant {
        let m = blend_matrices(words, count, matrices, start);
        for (to, from) in out.iter_mut().zip(values) {
            *to = apply(&m, *from);
        }
        return;
    }
    by_count!(
        count,
        unrolled(words, order, matrices, start, values, out, apply),
        {
            let records = words.chunks_exact(record_words(count));
            order.each(records, values, out, |record, value| {
                apply(&blend_matrices(record, count, matrices, start), *value)
            });
        }
    );
}

/// The loop for `K` influences in records of `W` words.
fn unrolled<const K: usize, const W: usize>(
    records: &[u32],
    order: impl Order,
    matrices: &[Joint],
    start: Sum,
    values: &[Vec3],
    out: &mut [Vec3],
    apply: impl Fn(&Sum, Vec3) -> Vec3,
) {
    let records = records.as_chunks::<W>().0.iter();
    order.each(records, values, out, |record, value| {
        let mut m = start;
        for k in 0..K {
            add_scaled(
                &mut m,
                &matrices[palette_index(record, k)],
                f32::from_bits(record[K.div_ceil(2) + k]),
            );
        }
        apply(&m, *value)
    });
}

/// The loop of points and normals for `K` influences in records of `W` words, which are read once.
/// With `ALIKE`, the matrices of normals are those of points, so that one sum serves both.
fn unrolled_both<const K: usize, const W: usize, const ALIKE: bool>(
    records: &[u32],
    order: impl Order,
    matrices: (&[Joint], &[Joint]),
    start: Sum,
    values: (&[Vec3], &[Vec3]),
    out: (&mut [Vec3], &mut [Vec3]),
) {
    let records = records.as_chunks::<W>().0.iter();
    // Of the same length, so that an index is tested once.
    let of_normals = &matrices.1[..matrices.0.len()];
    order.each_pair(records, values, out, |record, p, n| {
        let (mut m, mut of_normal) = (start, Joint::ZERO.sum());
        for k in 0..K {
            let index = palette_index(record, k);
            let weight = f32::from_bits(record[K.div_ceil(2) + k]);
            add_scaled(&mut m, &matrices.0[index], weight);
            if !ALIKE {
                add_scaled(&mut of_normal, &of_normals[index], weight);
            }
        }
        let of_normal = if ALIKE { m } else { of_normal };
        (transform_point(&m, *p), transform_vector(&of_normal, *n))
    });
}

fn blend_matrices(record: &[u32], count: usize, matrices: &[Joint], start: Sum) -> Sum {
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
fn add_scaled(m: &mut Sum, Joint(joint): &Joint, weight: f32) {
    for (sum, column) in m.iter_mut().zip(joint) {
        *sum += *column * weight;
    }
}

/// Normalises all vectors of a chunk, to the bits of [`normalized`].
pub(super) fn normalize(vectors: &mut [Vec3]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the machine has AVX2 and FMA.
        unsafe { avx2::normalize(vectors) };
        return;
    }
    normalize_fours(vectors);
}

/// Four vectors at a time, as [`avx2::normalize`] does eight.
fn normalize_fours(vectors: &mut [Vec3]) {
    let (fours, rest) = vectors.as_chunks_mut::<4>();
    for four in fours {
        let [x, y, z] = Vec4::from_points((), four);
        let square = x * x + y * y + z * z;
        let (shortest, longest) = (Vec4::splat(SQUARES.0), Vec4::splat(SQUARES.1));
        if (square.cmpgt(shortest) & square.cmplt(longest)).all() {
            let scale = Vec4::ONE / Lanes::sqrt(square);
            Vec4::to_points([x * scale, y * scale, z * scale], four);
        } else {
            four.iter_mut().for_each(|v| *v = normalized(*v));
        }
    }
    for vector in rest {
        *vector = normalized(*vector);
    }
}

/// Skins the points of some records. Each sum of `matrices` begins with `start`.
pub(super) fn skin_points(
    records: Records<'_>,
    matrices: &[Joint],
    start: Joint,
    values: &[Vec3],
    out: &mut [Vec3],
) {
    #[cfg(target_arch = "x86_64")]
    if has_wide_loop(records) {
        // SAFETY: has_wide_loop says that AVX2 and FMA are there.
        unsafe {
            match records.order {
                [] => avx2::skin::<true>(records, SameOrder, matrices, &start, values, out),
                order => avx2::skin::<true>(records, order, matrices, &start, values, out),
            }
        }
        return;
    }
    skin_chunk(records, matrices, start.sum(), values, out, transform_point);
}

/// Skins the normals of some records, without normalising them.
pub(super) fn skin_normals(
    records: Records<'_>,
    matrices: &[Joint],
    values: &[Vec3],
    out: &mut [Vec3],
) {
    #[cfg(target_arch = "x86_64")]
    if has_wide_loop(records) {
        // SAFETY: has_wide_loop says that AVX2 and FMA are there.
        unsafe {
            match records.order {
                [] => avx2::skin::<false>(records, SameOrder, matrices, &Joint::ZERO, values, out),
                order => avx2::skin::<false>(records, order, matrices, &Joint::ZERO, values, out),
            }
        }
        return;
    }
    let apply = |m: &Sum, n: Vec3| transform_vector(m, n);
    skin_chunk(records, matrices, Joint::ZERO.sum(), values, out, apply);
}

/// Does [`skin_points`] and [`skin_normals`] in one loop. In pairs, points come first. Without
/// matrices of their own, those of points turn normals.
pub(super) fn skin_points_and_normals(
    records: Records<'_>,
    (points, normals): (&[Joint], Option<&[Joint]>),
    start: Joint,
    values: (&[Vec3], &[Vec3]),
    out: (&mut [Vec3], &mut [Vec3]),
) {
    match normals {
        Some(normals) => skin_pairs::<false>(records, (points, normals), start, values, out),
        None => skin_pairs::<true>(records, (points, points), start, values, out),
    }
}

fn skin_pairs<const ALIKE: bool>(
    records: Records<'_>,
    matrices: (&[Joint], &[Joint]),
    start: Joint,
    values: (&[Vec3], &[Vec3]),
    out: (&mut [Vec3], &mut [Vec3]),
) {
    #[cfg(target_arch = "x86_64")]
    if has_wide_loop(records) {
        // SAFETY: has_wide_loop says that AVX2 and FMA are there.
        unsafe {
            match records.order {
                [] => avx2::skin_both::<ALIKE>(records, SameOrder, matrices, &start, values, out),
                order => avx2::skin_both::<ALIKE>(records, order, matrices, &start, values, out),
            }
        }
        return;
    }
    match records.order {
        [] => skin_both::<ALIKE>(records, SameOrder, matrices, start, values, out),
        order => skin_both::<ALIKE>(records, order, matrices, start, values, out),
    }
}

fn skin_both<const ALIKE: bool>(
    records: Records<'_>,
    order: impl Order,
    matrices: (&[Joint], &[Joint]),
    start: Joint,
    values: (&[Vec3], &[Vec3]),
    out: (&mut [Vec3], &mut [Vec3]),
) {
    by_count!(
        match records.constant || !records.single.is_empty() {
            true => 0,
            false => records.count,
        },
        unrolled_both<ALIKE>(records.words, order, matrices, start.sum(), values, out),
        {
            skin_points(records, matrices.0, start, values.0, out.0);
            skin_normals(records, matrices.1, values.1, out.1);
        }
    );
}

/// Whether the loops of [`avx2`] can take the records: the machine has AVX2 and FMA, and records
/// are not constant.
#[cfg(target_arch = "x86_64")]
fn has_wide_loop(records: Records<'_>) -> bool {
    !records.constant && has_avx2()
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    Avx2Fma::detect().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::PackedInfluences;

    fn bits(v: &[Vec3]) -> Vec<[u32; 3]> {
        v.iter().map(|v| v.to_array().map(f32::to_bits)).collect()
    }

    /// From -1 to 1.
    fn vector(i: usize) -> Vec4 {
        let value = |i: usize| (i * 37 % 101) as f32 / 50.0 - 1.0;
        Vec4::new(value(i), value(i + 1), value(i + 2), value(i + 3))
    }

    fn joints(first: usize) -> Vec<Joint> {
        let joint = |j: usize| Joint::new(std::array::from_fn(|c| vector(first + j * 4 + c)));
        (0..30).map(joint).collect()
    }

    fn start() -> Joint {
        Joint::new([Vec4::ZERO, Vec4::ZERO, Vec4::ZERO, vector(9)])
    }

    /// Values of one influence of weight 1 are skinned without their records to the same bits.
    #[test]
    fn single_influences_have_the_bits_of_records() {
        let (mut matrices, count) = (joints(0), 99);
        matrices[3] = Joint([Vec4::splat(-0.0); 4]);
        let values: Vec<Vec3> = (0..count).map(|i| vector(i * 13).truncate()).collect();
        let indices: Vec<u16> = (0..count).map(|i| (i * 7 % 30) as u16).collect();
        let method = crate::skel::SkinningMethod::ClassicLinear;
        let packed = PackedInfluences::of_lists(1, &indices, &vec![1.0; count], method);
        let records = packed.chunk(0).next().expect("one group");
        assert_eq!(records.single, indices);
        let skinned = |single, matrices: [&[Joint]; 2], start: Joint| {
            let records = Records { single, ..records };
            let mut out: [Vec<Vec3>; 6] = std::array::from_fn(|_| vec![Vec3::ZERO; count]);
            let [a, b, c, d, e, f] = &mut out;
            let (both, values) = ((matrices[0], Some(matrices[1])), (&*values, &*values));
            skin_points(records, matrices[0], start, values.0, a);
            skin_normals(records, matrices[1], values.0, b);
            skin_points_and_normals(records, both, start, values, (c, d));
            skin_chunk(
                records,
                matrices[0],
                start.sum(),
                values.0,
                e,
                transform_point,
            );
            let turn = |m: &Sum, n: Vec3| transform_vector(m, n);
            skin_chunk(records, matrices[1], Joint::ZERO.sum(), values.0, f, turn);
            out.map(|out| bits(&out))
        };
        let after = |start| -> Vec<Joint> { matrices.iter().map(|m| m.after(start)).collect() };
        let (points, normals) = (after(start()), after(Joint::ZERO));
        let want = skinned(&[], [&matrices, &matrices], start());
        let nothing = Joint([Vec4::splat(-0.0); 4]);
        assert_eq!(skinned(records.single, [&points, &normals], nothing), want);
        // Records of some of the values have the bits too.
        assert_eq!(skinned(&[], [&points, &normals], nothing), want);
    }

    /// Points and normals in one loop have the bits of a loop for each, on any machine.
    #[test]
    fn loops_of_both_have_the_bits_of_one_for_each() {
        let (points, normals, start, count) = (joints(0), joints(50), start(), 99);
        let values: Vec<Vec3> = (0..count).map(|i| vector(i * 13).truncate()).collect();
        for size in 1..=12 {
            let indices: Vec<u16> = (0..count * size).map(|i| (i * 7 % 30) as u16).collect();
            let weights: Vec<f32> = (0..count * size).map(|i| vector(i).x + 1.5).collect();
            let method = crate::skel::SkinningMethod::ClassicLinear;
            let packed = PackedInfluences::of_lists(size, &indices, &weights, method);
            let reversed: Vec<u16> = (0..count as u16).rev().collect();
            for order in [&[][..], &reversed] {
                let mut out: [Vec<Vec3>; 8] = std::array::from_fn(|_| vec![Vec3::ZERO; count]);
                let [a, b, c, d, one, both, alone, apart] = &mut out;
                for records in packed.chunk(0) {
                    let records = Records { order, ..records };
                    skin_chunk(records, &points, start.sum(), &values, a, transform_point);
                    let turn = |m: &Sum, n: Vec3| transform_vector(m, n);
                    skin_chunk(records, &normals, Joint::ZERO.sum(), &values, b, turn);
                    let (pair, values) = ((&*points, &*normals), (&*values, &*values));
                    match order {
                        [] => skin_both::<false>(records, SameOrder, pair, start, values, (c, d)),
                        order => skin_both::<false>(records, order, pair, start, values, (c, d)),
                    }
                    // One sum for both, where the matrices are alike.
                    let alike = (&*points, None);
                    skin_points_and_normals(records, alike, start, values, (one, both));
                    skin_points(records, &points, start, values.0, alone);
                    skin_normals(records, &points, values.1, apart);
                }
                let [a, b, c, d, one, both, alone, apart] = out.map(|out| bits(&out));
                assert_eq!((a, b, one, both), (c, d, alone, apart));
            }
        }
    }

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
            let [mut together, mut by_fours] = [0, 1].map(|_| vectors[..count].to_vec());
            normalize(&mut together);
            normalize_fours(&mut by_fours);
            assert_eq!(bits(&together), bits(&alone[..count]));
            assert_eq!(bits(&by_fours), bits(&alone[..count]));
        }
        assert!((alone[35].length() - 1.0).abs() < 1e-6 && alone[9] == Vec3::ZERO);
    }
}
