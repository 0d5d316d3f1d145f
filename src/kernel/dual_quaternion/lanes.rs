//! Arithmetic on `N` points at once, one per lane, so that each line of the shader stays one line
//! of Rust. `lanes_avx2` has eight lanes to a register; four work on any machine.

use glam::{Mat4, Vec3, Vec4};

use crate::kernel::registry::SHORTEST;

/// An f32 of each of `N` points.
pub(in crate::kernel) trait Lanes<const N: usize>: Copy {
    /// The result of a comparison, for each lane.
    type Mask: Copy;
    /// Proof that the machine has the instructions of these lanes. Creating a value takes one, so a
    /// value is proof too.
    type Cpu: Copy;

    /// The proof that this value was created with.
    fn cpu(self) -> Self::Cpu;
    fn splat(cpu: Self::Cpu, value: f32) -> Self;
    fn to_array(self) -> [f32; N];
    /// Columns of `N` rows.
    fn transposed(cpu: Self::Cpu, rows: [Vec4; N]) -> [Self; 4];
    fn from_points(cpu: Self::Cpu, points: &[Vec3; N]) -> [Self; 3];
    fn to_points(lanes: [Self; 3], points: &mut [Vec3; N]);
    fn add(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    fn div(self, b: Self) -> Self;
    /// `self * b + c`, fused if the machine does that at no cost.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `c - self * b`.
    fn mul_sub_from(self, b: Self, c: Self) -> Self;
    fn sqrt(self) -> Self;
    fn abs(self) -> Self;
    fn max(self, b: Self) -> Self;
    fn less(self, b: Self) -> Self::Mask;
    /// Selects bits: lanes may hold any bits, not only numbers.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// `-self` in the lanes of the mask.
    fn negated_where(self, mask: Self::Mask) -> Self;
}

impl Lanes<4> for Vec4 {
    type Mask = glam::BVec4A;
    type Cpu = ();

    #[inline(always)]
    fn cpu(self) {}
    #[inline(always)]
    fn splat((): (), value: f32) -> Self {
        Vec4::splat(value)
    }
    #[inline(always)]
    fn to_array(self) -> [f32; 4] {
        Vec4::to_array(&self)
    }
    #[inline(always)]
    fn transposed((): (), rows: [Vec4; 4]) -> [Self; 4] {
        let t = Mat4::from_cols(rows[0], rows[1], rows[2], rows[3]).transpose();
        [t.x_axis, t.y_axis, t.z_axis, t.w_axis]
    }
    #[inline(always)]
    fn from_points((): (), points: &[Vec3; 4]) -> [Self; 3] {
        let [x, y, z, _] = Self::transposed((), points.map(|p| p.extend(0.0)));
        [x, y, z]
    }
    #[inline(always)]
    fn to_points([x, y, z]: [Self; 3], points: &mut [Vec3; 4]) {
        *points = Self::transposed((), [x, y, z, Vec4::ZERO]).map(Vec4::truncate);
    }
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        self + b
    }
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        self * b
    }
    #[inline(always)]
    fn div(self, b: Self) -> Self {
        self / b
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        self * b + c
    }
    #[inline(always)]
    fn mul_sub_from(self, b: Self, c: Self) -> Self {
        c - self * b
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Vec4::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Vec4::abs(self)
    }
    #[inline(always)]
    fn max(self, b: Self) -> Self {
        Vec4::max(self, b)
    }
    #[inline(always)]
    fn less(self, b: Self) -> Self::Mask {
        self.cmplt(b)
    }
    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        Vec4::select(mask, yes, no)
    }
    #[inline(always)]
    fn negated_where(self, mask: Self::Mask) -> Self {
        Vec4::select(mask, -self, self)
    }
}

/// An array of `f(lane)`. It is a plain loop so that the compiler inlines all of it; a remaining
/// call would cost more than the lanes gain.
#[inline(always)]
pub(super) fn lanes<T: Copy + Default, const N: usize>(f: impl Fn(usize) -> T) -> [T; N] {
    let mut out = [T::default(); N];
    for (i, out) in out.iter_mut().enumerate() {
        *out = f(i);
    }
    out
}

/// One vector per point.
pub(in crate::kernel) type Vectors<L> = [L; 3];

#[inline(always)]
pub(super) fn cross<const N: usize, L: Lanes<N>>(a: Vectors<L>, b: Vectors<L>) -> Vectors<L> {
    let at = |i: usize, j: usize| a[j].mul_sub_from(b[i], a[i].mul(b[j]));
    [at(1, 2), at(2, 0), at(0, 1)]
}

/// `a * b + c`, element by element.
#[inline(always)]
pub(super) fn scaled_add<const N: usize, L: Lanes<N>>(
    a: Vectors<L>,
    b: L,
    c: Vectors<L>,
) -> Vectors<L> {
    [
        a[0].mul_add(b, c[0]),
        a[1].mul_add(b, c[1]),
        a[2].mul_add(b, c[2]),
    ]
}

/// The product of one matrix with the vector of each point, plus the fourth column of the matrix.
#[inline(always)]
pub(super) fn transformed<const N: usize, L: Lanes<N>>(m: &[Vec4; 4], v: Vectors<L>) -> Vectors<L> {
    let row = |r: usize| {
        let at = |c: usize| L::splat(v[0].cpu(), m[c][r]);
        let sum = v[0].mul_add(at(0), at(3));
        v[2].mul_add(at(2), v[1].mul_add(at(1), sum))
    };
    [row(0), row(1), row(2)]
}

/// Scales vectors to unit length; zero stays zero. Vectors are scaled to a largest element of 1
/// first, as in the shader.
#[inline(always)]
pub(super) fn normalized<const N: usize, L: Lanes<N>>(v: Vectors<L>) -> Vectors<L> {
    let cpu = v[0].cpu();
    let (one, shortest) = (L::splat(cpu, 1.0), L::splat(cpu, SHORTEST));
    let largest = v[0].abs().max(v[1].abs()).max(v[2].abs());
    let divisor = largest.max(shortest);
    let v = [v[0].div(divisor), v[1].div(divisor), v[2].div(divisor)];
    let square = v[0].mul_add(v[0], v[1].mul_add(v[1], v[2].mul(v[2])));
    let inverse = L::select(shortest.less(largest), one.div(square.sqrt()), one);
    [v[0].mul(inverse), v[1].mul(inverse), v[2].mul(inverse)]
}
