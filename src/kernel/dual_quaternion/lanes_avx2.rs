//! Eight lanes to a register, for x86-64 machines with AVX2 and FMA.

use std::arch::x86_64::*;

use glam::{Vec3, Vec4};

use super::lanes::Lanes;
use crate::kernel::cpu::Avx2Fma;

/// Eight lanes. A value proves that the machine has AVX2 and FMA, because creating one takes an
/// [`Avx2Fma`] or another value; every `unsafe` below relies on that. Methods are inlined into
/// callers with these target features, so the intrinsics become instructions.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct Wide(__m256, Avx2Fma);

/// Two lanes of one register's halves, then two of the other's.
macro_rules! shuffled {
    ($a:expr, $b:expr, $i:literal, $j:literal, $k:literal, $l:literal) => {
        unsafe { _mm256_shuffle_ps::<{ $i | $j << 2 | $k << 4 | $l << 6 }>($a, $b) }
    };
}

#[inline(always)]
fn both(_: Avx2Fma, low: Vec4, high: Vec4) -> __m256 {
    // SAFETY: the machine has AVX2.
    unsafe { _mm256_set_m128(high.into(), low.into()) }
}

impl Lanes<8> for Wide {
    type Mask = __m256;
    type Cpu = Avx2Fma;

    #[inline(always)]
    fn cpu(self) -> Avx2Fma {
        self.1
    }

    #[inline(always)]
    fn splat(cpu: Avx2Fma, value: f32) -> Self {
        Self(unsafe { _mm256_set1_ps(value) }, cpu)
    }

    #[inline(always)]
    fn to_array(self) -> [f32; 8] {
        let mut out = [0.0; 8];
        unsafe { _mm256_storeu_ps(out.as_mut_ptr(), self.0) };
        out
    }

    #[inline(always)]
    fn transposed(cpu: Avx2Fma, rows: [Vec4; 8]) -> [Self; 4] {
        // Row i beside row i + 4: each half is then a 4 x 4 of its own.
        let r = [
            both(cpu, rows[0], rows[4]),
            both(cpu, rows[1], rows[5]),
            both(cpu, rows[2], rows[6]),
            both(cpu, rows[3], rows[7]),
        ];
        let (xy01, zw01) = unsafe {
            (
                _mm256_unpacklo_ps(r[0], r[1]),
                _mm256_unpackhi_ps(r[0], r[1]),
            )
        };
        let (xy23, zw23) = unsafe {
            (
                _mm256_unpacklo_ps(r[2], r[3]),
                _mm256_unpackhi_ps(r[2], r[3]),
            )
        };
        [
            Self(shuffled!(xy01, xy23, 0, 1, 0, 1), cpu),
            Self(shuffled!(xy01, xy23, 2, 3, 2, 3), cpu),
            Self(shuffled!(zw01, zw23, 0, 1, 0, 1), cpu),
            Self(shuffled!(zw01, zw23, 2, 3, 2, 3), cpu),
        ]
    }

    #[inline(always)]
    fn from_points(cpu: Avx2Fma, points: &[Vec3; 8]) -> [Self; 3] {
        let floats: &[f32; 24] = bytemuck::cast_ref(points);
        let at = |i: usize| Vec4::from_slice(&floats[i..i + 4]);
        // x0 y0 z0 x1, y1 z1 x2 y2, z2 x3 y3 z3; points 4 to 7 in the high halves.
        let a = both(cpu, at(0), at(12));
        let b = both(cpu, at(4), at(16));
        let c = both(cpu, at(8), at(20));
        let xy_23 = shuffled!(b, c, 2, 3, 1, 2);
        let yz_01 = shuffled!(a, b, 1, 2, 0, 1);
        [
            Self(shuffled!(a, xy_23, 0, 3, 0, 2), cpu),
            Self(shuffled!(yz_01, xy_23, 0, 2, 1, 3), cpu),
            Self(shuffled!(yz_01, c, 1, 3, 0, 3), cpu),
        ]
    }

    #[inline(always)]
    fn to_points([x, y, z]: [Self; 3], points: &mut [Vec3; 8]) {
        let xy_02 = shuffled!(x.0, y.0, 0, 2, 0, 2);
        let yz_13 = shuffled!(y.0, z.0, 1, 3, 1, 3);
        let zx_02_13 = shuffled!(z.0, x.0, 0, 2, 1, 3);
        let parts = [
            shuffled!(xy_02, zx_02_13, 0, 2, 0, 2),
            shuffled!(yz_13, xy_02, 0, 2, 1, 3),
            shuffled!(zx_02_13, yz_13, 1, 3, 1, 3),
        ];
        let floats: &mut [f32; 24] = bytemuck::cast_mut(points);
        for (i, part) in parts.into_iter().enumerate() {
            let (low, high) = unsafe {
                (
                    _mm256_castps256_ps128(part),
                    _mm256_extractf128_ps::<1>(part),
                )
            };
            Vec4::from(low).write_to_slice(&mut floats[i * 4..i * 4 + 4]);
            Vec4::from(high).write_to_slice(&mut floats[i * 4 + 12..i * 4 + 16]);
        }
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self(unsafe { _mm256_add_ps(self.0, b.0) }, self.1)
    }
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self(unsafe { _mm256_mul_ps(self.0, b.0) }, self.1)
    }
    #[inline(always)]
    fn div(self, b: Self) -> Self {
        Self(unsafe { _mm256_div_ps(self.0, b.0) }, self.1)
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self(unsafe { _mm256_fmadd_ps(self.0, b.0, c.0) }, self.1)
    }
    #[inline(always)]
    fn mul_sub_from(self, b: Self, c: Self) -> Self {
        Self(unsafe { _mm256_fnmadd_ps(self.0, b.0, c.0) }, self.1)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(unsafe { _mm256_sqrt_ps(self.0) }, self.1)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(
            unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0) },
            self.1,
        )
    }
    #[inline(always)]
    fn max(self, b: Self) -> Self {
        Self(unsafe { _mm256_max_ps(self.0, b.0) }, self.1)
    }
    #[inline(always)]
    fn less(self, b: Self) -> Self::Mask {
        unsafe { _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, b.0) }
    }
    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        Self(unsafe { _mm256_blendv_ps(no.0, yes.0, mask) }, yes.1)
    }
    #[inline(always)]
    fn negated_where(self, mask: Self::Mask) -> Self {
        Self(
            unsafe { _mm256_xor_ps(self.0, _mm256_and_ps(mask, _mm256_set1_ps(-0.0))) },
            self.1,
        )
    }
}
