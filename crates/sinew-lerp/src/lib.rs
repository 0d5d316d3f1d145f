//! Values between two samples, to the bit as usd-core 26.11 interpolates them.
//!
//! Each step is rounded where usd-core rounds it. Scales in half precision have three digits, so another order of the same
//! operations would show in skinned points. The tests of sinew-stage compare random values with usd-core's.
//!
//! Source: UsdStage's `GfLerp` and `GfSlerp` (pxr/usd/usd/interpolators.h, pxr/base/gf).

#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

use half::f16;

/// A number, vector or matrix that is interpolated linearly.
pub trait Lerp {
    /// The value at `alpha` between `self` (at 0) and `to` (at 1).
    #[must_use]
    fn lerp(&self, to: &Self, alpha: f64) -> Self;
}

impl Lerp for f64 {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        (1.0 - alpha) * self + alpha * to
    }
}

/// One number is computed in double precision and rounded once.
impl Lerp for f32 {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        f64::from(*self).lerp(&f64::from(*to), alpha) as f32
    }
}

/// USD makes half precision from single precision only.
impl Lerp for f16 {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        f16::from_f32(f64::from(*self).lerp(&f64::from(*to), alpha) as f32)
    }
}

/// Vectors and matrices of doubles.
impl<const N: usize> Lerp for [f64; N] {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        std::array::from_fn(|i| self[i] * (1.0 - alpha) + to[i] * alpha)
    }
}

/// Vectors round each term, then the sum.
impl<const N: usize> Lerp for [f32; N] {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        let term = |x: f32, s: f64| (f64::from(x) * s) as f32;
        std::array::from_fn(|i| term(self[i], 1.0 - alpha) + term(to[i], alpha))
    }
}

/// Vectors round each term, then the sum.
impl<const N: usize> Lerp for [f16; N] {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        let term = |x: f16, s: f64| f16::from_f32(x.to_f32() * s as f32).to_f32();
        std::array::from_fn(|i| f16::from_f32(term(self[i], 1.0 - alpha) + term(to[i], alpha)))
    }
}

impl<T: Lerp> Lerp for Box<T> {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        Self::new((**self).lerp(to, alpha))
    }
}

/// A rotation, its real part last, that is interpolated spherically: the short way round, without normalizing the result, and
/// linearly between rotations that are nearly the same.
pub trait Slerp {
    /// The rotation at `alpha` between `self` (at 0) and `to` (at 1).
    #[must_use]
    fn slerp(&self, to: &Self, alpha: f64) -> Self;
}

/// The factors of both rotations. `angle` is the arc cosine and `sine` the sine, in the precision of the rotation.
fn factors(
    cos_theta: f64,
    alpha: f64,
    angle: impl Fn(f64) -> f64,
    sine: impl Fn(f64) -> f64,
) -> (f64, f64) {
    let (cos_theta, sign) = match cos_theta < 0.0 {
        true => (-cos_theta, -1.0),
        false => (cos_theta, 1.0),
    };
    if 1.0 - cos_theta > 0.000_01 {
        let theta = angle(cos_theta);
        let sine = sine(theta);
        let factor = |part: f64| (part * theta).sin() / sine;
        (factor(1.0 - alpha), factor(alpha) * sign)
    } else {
        (1.0 - alpha, alpha * sign)
    }
}

impl Slerp for [f64; 4] {
    fn slerp(&self, to: &Self, alpha: f64) -> Self {
        let (p, q) = (self, to);
        let cos_theta = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
        let (s0, s1) = factors(cos_theta, alpha, f64::acos, f64::sin);
        std::array::from_fn(|i| s0 * p[i] + s1 * q[i])
    }
}

/// The angle is computed in double precision and rounded, its sine in single precision.
impl Slerp for [f32; 4] {
    fn slerp(&self, to: &Self, alpha: f64) -> Self {
        let (p, q) = (self, to);
        let cos_theta = f64::from(p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]);
        let angle = |x: f64| f64::from(x.acos() as f32);
        let (s0, s1) = factors(cos_theta, alpha, angle, |x| f64::from((x as f32).sin()));
        let (s0, s1) = (s0 as f32, s1 as f32);
        std::array::from_fn(|i| s0 * p[i] + s1 * q[i])
    }
}

/// Rounds the dot product of the imaginary parts, the angle, its sine, the factors and each term.
impl Slerp for [f16; 4] {
    fn slerp(&self, to: &Self, alpha: f64) -> Self {
        let half = |x: f32| f16::from_f32(x).to_f32();
        let round = |x: f64| f64::from(half(x as f32));
        let (p, q) = (self.map(f16::to_f32), to.map(f16::to_f32));
        let cos_theta = half(p[0] * q[0] + p[1] * q[1] + p[2] * q[2]) + p[3] * q[3];
        let sine = |x: f64| f64::from(half((x as f32).sin()));
        let (s0, s1) = factors(cos_theta.into(), alpha, |x| round(x.acos()), sine);
        let (s0, s1) = (half(s0 as f32), half(s1 as f32));
        std::array::from_fn(|i| f16::from_f32(half(s0 * p[i]) + half(s1 * q[i])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that usd-core 26.11 interpolates between two samples of a quath attribute, to the
    /// bit.
    #[test]
    fn half_quaternions_round_as_pixars() {
        type Case = ([f64; 4], [f64; 4], f64, [f64; 4]);
        #[rustfmt::skip]
        let cases: [Case; 6] = [
            ([-0.4541015625, -0.4423828125, 0.2578125, 0.72900390625],
             [0.107177734375, -0.01001739501953125, 0.00531768798828125, 0.994140625], 0.5,
             [-0.18896484375, -0.24658203125, 0.1434326171875, 0.9384765625]),
            ([0.39404296875, 0.53515625, -0.263427734375, 0.69921875],
             [-0.48974609375, 0.83837890625, 0.2364501953125, 0.04119873046875], 0.5,
             [-0.061279296875, 0.87841796875, -0.0172119140625, 0.4736328125]),
            ([-0.4228515625, 0.275390625, 0.53173828125, 0.68017578125],
             [0.08074951171875, -0.1370849609375, -0.0665283203125, 0.98486328125], 0.5,
             [-0.1934814453125, 0.0782470703125, 0.26318359375, 0.94140625]),
            ([0.99462890625, 0.0110931396484375, 0.08624267578125, 0.055206298828125],
             [0.62744140625, 0.53515625, -0.552734375, 0.1207275390625], 0.85,
             [0.73046875, 0.47705078125, -0.4755859375, 0.1168212890625]),
            ([-0.457275390625, 0.450927734375, -0.50146484375, 0.57958984375],
             [-0.9228515625, -0.3701171875, 0.08251953125, 0.06768798828125], 0.7,
             [-0.94091796875, -0.1253662109375, -0.13134765625, 0.285888671875]),
            ([0.09393310546875, 0.1610107421875, 0.258056640625, 0.94775390625],
             [-0.10650634765625, -0.4755859375, -0.01010894775390625, 0.873046875], 0.3,
             [0.0341796875, -0.03717041015625, 0.1861572265625, 0.98095703125]),
        ];
        for (a, b, alpha, want) in cases {
            let got = a.map(f16::from_f64).slerp(&b.map(f16::from_f64), alpha);
            assert_eq!(got.map(f64::from), want);
        }
    }

    #[test]
    fn rotations_take_the_short_way() {
        let about_z = |angle: f64| [0.0, 0.0, (0.5 * angle).sin(), (0.5 * angle).cos()];
        let got = about_z(0.2).slerp(&about_z(1.0).map(|x| -x), 0.5);
        for (got, want) in got.iter().zip(about_z(0.6)) {
            assert!((got - want).abs() < 1e-12, "{got} {want}");
        }
    }
}
