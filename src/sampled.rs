//! Values over time: finds the two samples around a time and interpolates between them, as usd-core
//! does.
//!
//! Source: UsdStage value resolution, checked against usd-core 26.11. The numbers are `sinew_lerp`'s.

mod jet;

use std::sync::Arc;

use glam::{DMat4, DQuat, DVec3, Quat, Vec2, Vec3};
use half::f16;
use sinew_lerp::{Lerp as _, Slerp as _};

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

/// Types that are interpolated by themselves and in arrays.
macro_rules! lerps {
    ($($value:ty: $lerp:expr;)*) => {$(
        impl Lerp for $value {
            fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
                let lerp: fn(&Self, &Self, f64) -> Self = $lerp;
                Some(lerp(a, b, alpha))
            }
        }
        impl Lerp for Vec<$value> {
            fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
                let lerp: fn(&$value, &$value, f64) -> $value = $lerp;
                lerp_array(a, b, |a, b| lerp(a, b, alpha))
            }
        }
    )*};
}

lerps! {
    f64: |a, b, alpha| a.lerp(b, alpha);
    f32: |a, b, alpha| a.lerp(b, alpha);
    f16: |a, b, alpha| a.lerp(b, alpha);
    Half3: |a, b, alpha| a.lerp(b, alpha);
    Vec2: |a, b, alpha| a.to_array().lerp(&b.to_array(), alpha).into();
    Vec3: |a, b, alpha| a.to_array().lerp(&b.to_array(), alpha).into();
    DVec3: |a, b, alpha| a.to_array().lerp(&b.to_array(), alpha).into();
    DMat4: |a, b, alpha| *a * (1.0 - alpha) + *b * alpha;
    [f16; 4]: |a, b, alpha| a.slerp(b, alpha);
    Quat: |a, b, alpha| Quat::from_array(a.to_array().slerp(&b.to_array(), alpha));
    DQuat: |a, b, alpha| DQuat::from_array(a.to_array().slerp(&b.to_array(), alpha));
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
struct Curve<T> {
    of: Arc<dyn Fn(f64) -> Option<T> + Send + Sync>,
    keys: Vec<f64>,
}

impl<T> Clone for Curve<T> {
    fn clone(&self) -> Self {
        Self {
            of: self.of.clone(),
            keys: self.keys.clone(),
        }
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
    /// in usd-core: [`Sampled::times`] gives none. `default` is the value at the default time. `keys`
    /// are the times between which it is followed, for [`Sampled::keys`].
    pub fn from_curve(
        default: Option<T>,
        keys: Vec<f64>,
        curve: impl Fn(f64) -> Option<T> + Send + Sync + 'static,
    ) -> Self {
        let of = Arc::new(curve);
        Self {
            default: default.map(Arc::new),
            curve: Some(Curve { of, keys }),
            ..Self::default()
        }
    }

    /// Sample times, ascending.
    pub fn times(&self) -> impl Iterator<Item = f64> + '_ {
        self.samples.iter().map(|(t, _)| *t)
    }

    /// Sample times, or the keys of a function of time.
    pub fn keys(&self) -> impl Iterator<Item = f64> + '_ {
        let of_curve = self.curve.iter().flat_map(|c| c.keys.iter().copied());
        self.times().chain(of_curve)
    }

    /// Whether there is more than one sample, or a function of time, so that the value may change
    /// over time.
    #[must_use]
    pub fn is_animated(&self) -> bool {
        self.samples.len() > 1 || self.curve.is_some()
    }

    /// Whether it is a function of time ([`Sampled::from_curve`]).
    #[must_use]
    pub fn is_curve(&self) -> bool {
        self.curve.is_some()
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
                return self.curve.as_ref().and_then(|c| (c.of)(t)).map(Arc::new);
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
        let s = Sampled::from_curve(Some(1.0), vec![3.0], |t| (t >= 0.0).then_some(2.0 * t));
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
}
