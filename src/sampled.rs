//! Values over time: finds the two samples around a time and interpolates between them, as usd-core
//! does.
//!
//! Source: UsdStage value resolution and pxr/usd/usd/interpolators.h, checked against usd-core
//! 26.11. Values are rounded in the same steps as in usd-core: scales in half precision have three
//! digits, so another order of operations would show in skinned points.

mod jet;

use std::sync::Arc;

use glam::{DMat4, DQuat, DVec3, Quat, Vec2, Vec3};
use half::f16;

pub use jet::{Components, JUMP, Jet};

/// A time code of the stage, or the default time, which has no time code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Time {
    /// `UsdTimeCode::Default()`: the value authored without a time.
    Default,
    /// A time code.
    At(f64),
}

impl Time {
    /// The time code, or `None` for the default time.
    #[must_use]
    pub fn code(self) -> Option<f64> {
        match self {
            Time::Default => None,
            Time::At(t) => Some(t),
        }
    }
}

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Time::Default => f.write_str("default"),
            Time::At(t) => write!(f, "{t}"),
        }
    }
}

/// How to find a value between two samples. A stage has one setting for all values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Linear, or slerp for quaternions.
    #[default]
    Linear,
    /// The value of the earlier sample.
    Held,
}

/// A type of value that may be interpolated. If [`Lerp::lerp`] returns `None`, the earlier sample
/// holds.
pub trait Lerp: Sized {
    /// The value at `alpha` between `a` (at 0) and `b` (at 1). `None` keeps `a`.
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self>;
}

/// A vector of three 16-bit floats (GfVec3h): the type of scales in a SkelAnimation. It stays in
/// half precision, because usd-core interpolates it in half precision.
pub type Half3 = [f16; 3];

fn lerp_array<T>(a: &[T], b: &[T], f: impl Fn(&T, &T) -> T) -> Option<Vec<T>> {
    // Arrays of different lengths are not interpolated (rule 8): the earlier one holds.
    (a.len() == b.len()).then(|| a.iter().zip(b).map(|(a, b)| f(a, b)).collect())
}

fn lerp_f32(a: f32, b: f32, alpha: f64) -> f32 {
    ((1.0 - alpha) * f64::from(a) + alpha * f64::from(b)) as f32
}

/// GfVec3f: multiplies each term in f64, rounds it, and adds in f32.
fn lerp_vec3(a: Vec3, b: Vec3, alpha: f64) -> Vec3 {
    let part = |x: f32, s: f64| (f64::from(x) * s) as f32;
    let term = |a: f32, b: f32| part(a, 1.0 - alpha) + part(b, alpha);
    Vec3::new(term(a.x, b.x), term(a.y, b.y), term(a.z, b.z))
}

fn lerp_vec2(a: Vec2, b: Vec2, alpha: f64) -> Vec2 {
    lerp_vec3(a.extend(0.0), b.extend(0.0), alpha).truncate()
}

/// GfVec3h: multiplies and adds in half precision, and rounds each step.
fn lerp_half3(a: &Half3, b: &Half3, alpha: f64) -> Half3 {
    let part = |x: f16, s: f64| f16::from_f32(x.to_f32() * s as f32);
    std::array::from_fn(|i| {
        let sum = part(a[i], 1.0 - alpha).to_f32() + part(b[i], alpha).to_f32();
        f16::from_f32(sum)
    })
}

/// The factors of GfSlerp. It goes the short way round, does not normalise, and is linear for
/// quaternions that are nearly parallel. `round` rounds the angle and its sine to the precision of
/// the quaternion.
fn slerp_factors(cos_theta: f64, alpha: f64, round: impl Fn(f64) -> f64) -> (f64, f64) {
    let (cos_theta, sign) = if cos_theta < 0.0 {
        (-cos_theta, -1.0)
    } else {
        (cos_theta, 1.0)
    };
    let (s0, s1) = if 1.0 - cos_theta > 0.000_01 {
        let theta = round(cos_theta.acos());
        let sin_theta = round(theta.sin());
        (
            ((1.0 - alpha) * theta).sin() / sin_theta,
            (alpha * theta).sin() / sin_theta,
        )
    } else {
        (1.0 - alpha, alpha)
    };
    (s0, s1 * sign)
}

fn slerp_quat(a: Quat, b: Quat, alpha: f64) -> Quat {
    let cos_theta = f64::from(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
    let (s0, s1) = slerp_factors(cos_theta, alpha, |x| f64::from(x as f32));
    let (s0, s1) = (s0 as f32, s1 as f32);
    Quat::from_xyzw(
        s0 * a.x + s1 * b.x,
        s0 * a.y + s1 * b.y,
        s0 * a.z + s1 * b.z,
        s0 * a.w + s1 * b.w,
    )
}

fn lerp_matrix(a: &DMat4, b: &DMat4, alpha: f64) -> DMat4 {
    *a * (1.0 - alpha) + *b * alpha
}

impl Lerp for Vec<f32> {
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
        lerp_array(a, b, |a, b| lerp_f32(*a, *b, alpha))
    }
}
impl Lerp for f32 {
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
        Some(lerp_f32(*a, *b, alpha))
    }
}
impl Lerp for Vec2 {
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
        Some(lerp_vec2(*a, *b, alpha))
    }
}
impl Lerp for Vec<Vec2> {
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
        lerp_array(a, b, |a, b| lerp_vec2(*a, *b, alpha))
    }
}
impl Lerp for Vec<Vec3> {
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
        lerp_array(a, b, |a, b| lerp_vec3(*a, *b, alpha))
    }
}
impl Lerp for Vec<Half3> {
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
        lerp_array(a, b, |a, b| lerp_half3(a, b, alpha))
    }
}
impl Lerp for Vec<f16> {
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
        lerp_array(a, b, |a, b| {
            f16::from_f64((1.0 - alpha) * f64::from(*a) + alpha * f64::from(*b))
        })
    }
}
/// Half quaternions as `[x, y, z, w]`; only xformOp:orient in half precision has them. Every step
/// rounds where GfSlerp rounds: the dot product of the imaginary parts, the angle, its sine, the
/// factors and each term.
impl Lerp for Vec<[f16; 4]> {
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
        let half = |x: f32| f16::from_f32(x).to_f32();
        lerp_array(a, b, |a, b| {
            let (p, q) = (a.map(f16::to_f32), b.map(f16::to_f32));
            let cos_theta = half(p[0] * q[0] + p[1] * q[1] + p[2] * q[2]) + p[3] * q[3];
            let (s0, s1) = slerp_factors(cos_theta.into(), alpha, |x| half(x as f32).into());
            let (s0, s1) = (half(s0 as f32), half(s1 as f32));
            std::array::from_fn(|i| f16::from_f32(half(s0 * p[i]) + half(s1 * q[i])))
        })
    }
}

impl Lerp for Vec<Quat> {
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
        lerp_array(a, b, |a, b| slerp_quat(*a, *b, alpha))
    }
}
impl Lerp for DMat4 {
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
        Some(lerp_matrix(a, b, alpha))
    }
}
impl Lerp for DVec3 {
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
        Some(*a * (1.0 - alpha) + *b * alpha)
    }
}
impl Lerp for f64 {
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
        Some(a * (1.0 - alpha) + b * alpha)
    }
}
impl Lerp for DQuat {
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
        let (s0, s1) = slerp_factors(a.dot(*b), alpha, |x| x);
        Some(*a * s0 + *b * s1)
    }
}
impl Lerp for Vec<i32> {
    // usd-core never interpolates integers.
    fn lerp(_: &Self, _: &Self, _: f64) -> Option<Self> {
        None
    }
}
impl Lerp for bool {
    // usd-core does not interpolate tokens either, and a bool is read from a token.
    fn lerp(_: &Self, _: &Self, _: f64) -> Option<Self> {
        None
    }
}

/// A function of the time code, such as a spline.
struct Curve<T>(Arc<dyn Fn(f64) -> Option<T> + Send + Sync>);

impl<T> Clone for Curve<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> std::fmt::Debug for Curve<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Curve")
    }
}

/// The values of an attribute over time, after composition. A default or a sample that is `None` is
/// a blocked value.
#[derive(Clone, Debug)]
pub struct Sampled<T> {
    default: Option<Arc<T>>,
    /// Strictly ascending times.
    samples: Vec<(f64, Option<Arc<T>>)>,
    interpolation: Interpolation,
    /// The value at every time code, in place of samples.
    curve: Option<Curve<T>>,
}

impl<T> Default for Sampled<T> {
    fn default() -> Self {
        Self {
            default: None,
            samples: Vec::new(),
            interpolation: Interpolation::Linear,
            curve: None,
        }
    }
}

impl<T> Sampled<T> {
    /// A value that never changes.
    pub fn constant(value: T) -> Self {
        Self {
            default: Some(Arc::new(value)),
            ..Self::default()
        }
    }

    /// A value with a default and with time samples, in any order. Of several samples at the same
    /// time the last one counts. Samples at a time that is NaN are dropped.
    pub fn new(
        default: Option<T>,
        samples: Vec<(f64, Option<T>)>,
        interpolation: Interpolation,
    ) -> Self {
        let mut samples: Vec<_> = samples
            .into_iter()
            .filter(|(t, _)| !t.is_nan())
            .map(|(t, v)| (t, v.map(Arc::new)))
            .collect();
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        samples.reverse();
        samples.dedup_by(|a, b| a.0 == b.0);
        samples.reverse();
        Self {
            default: default.map(Arc::new),
            samples,
            interpolation,
            curve: None,
        }
    }

    /// A value that a function computes at every time code, such as a spline. It has no samples, as
    /// in usd-core: [`Sampled::times`] gives none. `default` is the value at the default time.
    pub fn from_curve(
        default: Option<T>,
        curve: impl Fn(f64) -> Option<T> + Send + Sync + 'static,
    ) -> Self {
        Self {
            default: default.map(Arc::new),
            curve: Some(Curve(Arc::new(curve))),
            ..Self::default()
        }
    }

    /// Sample times, ascending.
    pub fn times(&self) -> impl Iterator<Item = f64> + '_ {
        self.samples.iter().map(|(t, _)| *t)
    }

    /// Whether there is more than one sample, or a function of time, so that the value may change
    /// over time.
    #[must_use]
    pub fn is_animated(&self) -> bool {
        self.samples.len() > 1 || self.curve.is_some()
    }

    /// Whether a sample holds until the next one, instead of being interpolated.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.interpolation == Interpolation::Held && self.curve.is_none()
    }

    /// Whether there is a value at some time.
    #[must_use]
    pub fn has_value(&self) -> bool {
        self.default.is_some()
            || self.curve.is_some()
            || self.samples.iter().any(|(_, v)| v.is_some())
    }

    /// The value of the earliest sample that is not blocked, or else the default. For checks of
    /// array sizes.
    #[must_use]
    pub fn first(&self) -> Option<&Arc<T>> {
        self.samples
            .iter()
            .find_map(|(_, v)| v.as_ref())
            .or(self.default.as_ref())
    }

    /// The same times with every value converted. A function of time ([`Sampled::from_curve`]) is not
    /// converted: only its default is. Single numbers alone have one, so read them as they are wanted.
    #[must_use]
    pub fn map<U>(&self, f: impl Fn(&T) -> U) -> Sampled<U> {
        Sampled {
            default: self.default.as_deref().map(|v| Arc::new(f(v))),
            samples: self
                .samples
                .iter()
                .map(|(t, v)| (*t, v.as_deref().map(|v| Arc::new(f(v)))))
                .collect(),
            interpolation: self.interpolation,
            curve: None,
        }
    }

    /// The same values at other times. The function must keep the order of times. A function of time
    /// ([`Sampled::from_curve`]) keeps its own times.
    #[must_use]
    pub fn map_times(&self, f: impl Fn(f64) -> f64) -> Self {
        Self {
            default: self.default.clone(),
            samples: self
                .samples
                .iter()
                .map(|(t, v)| (f(*t), v.clone()))
                .collect(),
            interpolation: self.interpolation,
            curve: self.curve.clone(),
        }
    }

    /// The default, if there is one, then every sample. A blocked sample is `None`.
    pub fn authored(&self) -> impl Iterator<Item = (Time, Option<&T>)> {
        let default = self.default.iter().map(|v| (Time::Default, Some(&**v)));
        let samples = self
            .samples
            .iter()
            .map(|(t, v)| (Time::At(*t), v.as_deref()));
        default.chain(samples)
    }

    /// Every value, default and samples.
    pub fn values(&self) -> impl Iterator<Item = &Arc<T>> {
        self.default
            .iter()
            .chain(self.samples.iter().filter_map(|(_, v)| v.as_ref()))
    }
}

impl<T: Lerp> Sampled<T> {
    /// The value at a time; `None` if there is none or if it is blocked.
    ///
    /// The default time reads only the default value. A time code reads the samples, or the default
    /// if there are no samples. Before the first sample and after the last one, the nearest sample
    /// holds. If the sample before the time is blocked, there is no value. If the sample after it
    /// is blocked, the one before it holds.
    #[must_use]
    pub fn at(&self, time: Time) -> Option<Arc<T>> {
        let t = match time {
            Time::At(t) if self.curve.is_some() => {
                return self.curve.as_ref().and_then(|c| c.0(t)).map(Arc::new);
            }
            Time::At(t) if !self.samples.is_empty() => t,
            _ => return self.default.clone(),
        };
        let upper = self.samples.partition_point(|(s, _)| *s <= t);
        if upper == 0 {
            return self.samples[0].1.clone();
        }
        let (t0, lower) = &self.samples[upper - 1];
        let Some((t1, next)) = self.samples.get(upper) else {
            return lower.clone();
        };
        let lower = lower.as_ref()?;
        if *t0 == t || self.interpolation == Interpolation::Held {
            return Some(lower.clone());
        }
        let Some(next) = next else {
            return Some(lower.clone());
        };
        let alpha = (t - t0) / (t1 - t0);
        Some(T::lerp(lower, next, alpha).map_or_else(|| lower.clone(), Arc::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: &Sampled<f64>, t: f64) -> Option<f64> {
        s.at(Time::At(t)).map(|v| *v)
    }

    #[test]
    fn brackets_and_holds() {
        let s = Sampled::new(
            Some(9.0),
            vec![(10.0, Some(4.0)), (0.0, Some(0.0))],
            Interpolation::Linear,
        );
        assert_eq!(at(&s, -5.0), Some(0.0));
        assert_eq!(at(&s, 2.5), Some(1.0));
        assert_eq!(at(&s, 11.0), Some(4.0));
        assert_eq!(s.at(Time::Default).map(|v| *v), Some(9.0));
        let held = Sampled {
            interpolation: Interpolation::Held,
            ..s
        };
        assert_eq!(at(&held, 9.9), Some(0.0));
    }

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
            let one = |q: [f64; 4]| vec![q.map(f16::from_f64)];
            let got = Vec::<[f16; 4]>::lerp(&one(a), &one(b), alpha).unwrap();
            assert_eq!(got[0].map(f64::from), want);
        }
    }

    #[test]
    fn blocked_samples() {
        let s = Sampled::new(
            None,
            vec![(0.0, Some(1.0)), (1.0, None), (2.0, Some(5.0))],
            Interpolation::Linear,
        );
        assert_eq!(
            at(&s, 0.5),
            Some(1.0),
            "a blocked upper sample holds the lower one"
        );
        assert_eq!(at(&s, 1.5), None, "a blocked lower sample is no value");
        assert_eq!(at(&s, 2.0), Some(5.0));
        assert_eq!(s.at(Time::Default), None);
    }

    #[test]
    fn curves_are_asked_at_every_time() {
        let s = Sampled::from_curve(Some(1.0), |t| (t >= 0.0).then_some(2.0 * t));
        assert_eq!(at(&s, 3.0), Some(6.0));
        assert_eq!(at(&s, -1.0), None);
        assert_eq!(s.at(Time::Default).map(|v| *v), Some(1.0));
        assert!(s.has_value() && s.is_animated() && s.times().next().is_none());
    }

    #[test]
    fn default_serves_times_without_samples() {
        assert_eq!(at(&Sampled::constant(3.0), 7.0), Some(3.0));
    }

    #[test]
    fn different_lengths_hold() {
        let s = Sampled::new(
            None,
            vec![(0.0, Some(vec![1.0f32])), (1.0, Some(vec![2.0, 3.0]))],
            Interpolation::Linear,
        );
        assert_eq!(*s.at(Time::At(0.5)).unwrap(), vec![1.0]);
    }

    #[test]
    fn half3_rounds_each_step() {
        let h = |x: f32| [f16::from_f32(x); 3];
        let got = lerp_half3(&h(0.1), &h(3.3), 0.3)[0];
        let part = |x: f32, s: f32| f16::from_f32(f16::from_f32(x).to_f32() * s);
        let want = f16::from_f32(part(0.1, 0.7).to_f32() + part(3.3, 0.3).to_f32());
        assert_eq!(got, want);
    }

    #[test]
    fn slerp_takes_the_short_way() {
        let a = Quat::from_rotation_z(0.2);
        let b = -Quat::from_rotation_z(1.0);
        let q = slerp_quat(a, b, 0.5);
        assert!(q.abs_diff_eq(Quat::from_rotation_z(0.6), 1e-6), "{q}");
    }
}
