//! Values with their rates of change, interpolated in f64 without rounding.
//!
//! [`Sampled::at`] rounds as usd-core does, so its values are steps when looked at closely: scales
//! have 11 bits. Differences of such values at two near times say nothing about speed. A [`Jet`]
//! comes from the two samples around a time instead: its rate is the slope of the interpolation
//! between them.
//!
//! - At a sample the rate is the mean of the slopes before and after it, which is what a central
//!   difference tends to. At the first and at the last sample it is the slope inside.
//! - Where a value is held (a held interpolation, one sample, arrays of different lengths, before
//!   the first and after the last sample) the rate is 0.
//! - Two samples less than [`JUMP`] apart are a jump, which is no motion: their slope is left out.

use glam::{DMat4, DQuat, DVec3, Quat, Vec3};
use half::f16;

use sinew_lerp::Slerp;

use super::{Half3, Interpolation, Lerp, Sampled, Time};

/// Samples that are less than this number of time codes apart are a jump.
pub const JUMP: f64 = 1e-3;

/// Step of time for the slope of a function of time, in time codes.
const STEP: f64 = 1e-4;

/// A value at a time, as components in f64, with the change of each per time code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jet {
    /// The components of the value, for arrays element by element.
    pub value: Vec<f64>,
    /// The rate of each component.
    pub rate: Vec<f64>,
}

/// A value that consists of numbers.
pub trait Components {
    /// Whether the components are quaternions (x, y, z, w), which are interpolated on a sphere.
    const QUATERNIONS: bool = false;

    /// The numbers, in order.
    fn components(&self) -> Vec<f64>;
}

impl Components for f64 {
    fn components(&self) -> Vec<f64> {
        vec![*self]
    }
}
impl Components for DVec3 {
    fn components(&self) -> Vec<f64> {
        self.to_array().to_vec()
    }
}
impl Components for DMat4 {
    fn components(&self) -> Vec<f64> {
        self.to_cols_array().to_vec()
    }
}
impl Components for DQuat {
    const QUATERNIONS: bool = true;
    fn components(&self) -> Vec<f64> {
        self.to_array().to_vec()
    }
}
impl Components for Vec<f32> {
    fn components(&self) -> Vec<f64> {
        self.iter().map(|v| f64::from(*v)).collect()
    }
}
impl Components for Vec<f16> {
    fn components(&self) -> Vec<f64> {
        self.iter().map(|v| f64::from(*v)).collect()
    }
}
impl Components for Vec<Vec3> {
    fn components(&self) -> Vec<f64> {
        self.iter().flat_map(|v| v.as_dvec3().to_array()).collect()
    }
}
impl Components for Vec<Half3> {
    fn components(&self) -> Vec<f64> {
        self.iter().flatten().map(|v| f64::from(*v)).collect()
    }
}
impl Components for Vec<Quat> {
    const QUATERNIONS: bool = true;
    fn components(&self) -> Vec<f64> {
        self.iter().flat_map(|q| q.as_dquat().to_array()).collect()
    }
}
impl Components for Vec<[f16; 4]> {
    const QUATERNIONS: bool = true;
    fn components(&self) -> Vec<f64> {
        self.iter().flatten().map(|v| f64::from(*v)).collect()
    }
}

impl Jet {
    /// A value that does not change.
    #[must_use]
    pub fn still(value: Vec<f64>) -> Self {
        let rate = vec![0.0; value.len()];
        Self { value, rate }
    }
}

impl<T: Lerp + Components> Sampled<T> {
    /// The value at a time with its rate of change; `None` if [`Sampled::at`] has no value.
    #[must_use]
    pub fn jet(&self, time: Time) -> Option<Jet> {
        let at = |t: f64| self.at(Time::At(t)).map(|v| v.components());
        let value = self.at(time)?.components();
        let Time::At(t) = time else {
            return Some(Jet::still(value));
        };
        if self.curve.is_some() {
            return Some(slope_of_curve(value, t, at));
        }
        let upper = self.samples.partition_point(|(s, _)| *s <= t);
        if upper == 0 || self.interpolation == Interpolation::Held {
            return Some(Jet::still(value));
        }
        let is_sample = self.samples[upper - 1].0 == t;
        let after = self.span(upper - 1, upper, t);
        let before = match is_sample {
            true => upper
                .checked_sub(2)
                .and_then(|b| self.span(b, upper - 1, t)),
            false => None,
        };
        Some(match (before, after) {
            (Some(before), Some(after)) => {
                let rates = before.rate.iter().zip(&after.rate);
                Jet {
                    rate: rates.map(|(a, b)| (a + b) * 0.5).collect(),
                    value: after.value,
                }
            }
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => Jet::still(value),
        })
    }

    /// The interpolation between two samples at a time; `None` if nothing is interpolated there.
    fn span(&self, from: usize, to: usize, t: f64) -> Option<Jet> {
        let ((t0, a), (t1, b)) = (self.samples.get(from)?, self.samples.get(to)?);
        let (a, b) = (a.as_deref()?.components(), b.as_deref()?.components());
        let length = t1 - t0;
        if length < JUMP || a.len() != b.len() {
            return None;
        }
        let alpha = (t - t0) / length;
        let mut out = Jet {
            value: Vec::with_capacity(a.len()),
            rate: Vec::with_capacity(a.len()),
        };
        if !T::QUATERNIONS {
            for (a, b) in a.iter().zip(&b) {
                out.value.push(a * (1.0 - alpha) + b * alpha);
                out.rate.push((b - a) / length);
            }
            return Some(out);
        }
        for (a, b) in a.as_chunks::<4>().0.iter().zip(b.as_chunks().0) {
            out.value.extend(a.slerp(b, alpha));
            let cos: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            let (d0, d1) = slerp_rates(cos, alpha);
            let rates = a.iter().zip(b).map(|(a, b)| (a * d0 + b * d1) / length);
            out.rate.extend(rates);
        }
        Some(out)
    }
}

/// The derivatives by `alpha` of the factors of both rotations in [`Slerp`].
fn slerp_rates(cos_theta: f64, alpha: f64) -> (f64, f64) {
    let sign = if cos_theta < 0.0 { -1.0 } else { 1.0 };
    let cos_theta = cos_theta * sign;
    if 1.0 - cos_theta <= 0.000_01 {
        return (-1.0, sign);
    }
    let theta = cos_theta.acos();
    let scale = theta / theta.sin();
    (
        -((1.0 - alpha) * theta).cos() * scale,
        sign * (alpha * theta).cos() * scale,
    )
}

/// The slope of a function of time: the mean of both sides. The side before does not use the value
/// at the time, because the function may jump there.
fn slope_of_curve(value: Vec<f64>, t: f64, at: impl Fn(f64) -> Option<Vec<f64>>) -> Jet {
    let near = |steps: [f64; 3]| -> Option<[Vec<f64>; 3]> {
        let [a, b, c] = steps.map(|s| at(t + s * STEP));
        Some([a?, b?, c?])
    };
    let side = |values: Option<[Vec<f64>; 3]>, factors: [f64; 3]| -> Option<Vec<f64>> {
        let [a, b, c] = values?;
        let all = a.iter().zip(&b).zip(&c);
        let slope = |((a, b), c): ((&f64, &f64), &f64)| {
            (a * factors[0] + b * factors[1] + c * factors[2]) / STEP
        };
        Some(all.map(slope).collect())
    };
    let before = side(near([-1.0, -2.0, -3.0]), [2.5, -4.0, 1.5]);
    let after = side(near([0.0, 1.0, 2.0]), [-1.5, 2.0, -0.5]);
    let rate = match (before, after) {
        (Some(a), Some(b)) => a.iter().zip(&b).map(|(a, b)| (a + b) * 0.5).collect(),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => vec![0.0; value.len()],
    };
    Jet { value, rate }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(samples: &[(f64, f64)]) -> Sampled<f64> {
        let samples = samples.iter().map(|(t, v)| (*t, Some(*v))).collect();
        Sampled::new(None, samples, Interpolation::Linear)
    }

    fn rate(s: &Sampled<f64>, t: f64) -> f64 {
        s.jet(Time::At(t)).unwrap().rate[0]
    }

    #[test]
    fn a_sample_has_the_mean_of_both_slopes() {
        let s = keys(&[(1.0, 0.0), (2.0, 2.0), (4.0, 0.0)]);
        assert_eq!(
            [0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0].map(|t| rate(&s, t)),
            [0.0, 2.0, 2.0, 0.5, -1.0, -1.0, 0.0]
        );
        assert_eq!(s.jet(Time::At(3.0)).unwrap().value, [1.0]);
    }

    #[test]
    fn a_jump_is_no_motion() {
        let s = keys(&[(1.0, 0.0), (2.0, 1.0), (2.0 + 1e-6, 50.0), (3.0, 51.0)]);
        assert_eq!(rate(&s, 2.0), 1.0);
        assert!((rate(&s, 2.0 + 1e-6) - 1.0).abs() < 1e-5);
        let held = Sampled {
            interpolation: Interpolation::Held,
            ..keys(&[(1.0, 0.0), (2.0, 9.0)])
        };
        assert_eq!(rate(&held, 2.0), 0.0);
    }

    #[test]
    fn rotations_have_the_slope_of_slerp() {
        let turns = |a: f32| vec![Quat::from_rotation_y(a)];
        let samples = vec![(0.0, Some(turns(0.0))), (2.0, Some(turns(1.0)))];
        let s = Sampled::new(None, samples, Interpolation::Linear);
        let jet = s.jet(Time::At(0.5)).unwrap();
        // Half the angle of 0.25, at a rate of 0.25 per time code.
        let want = [0.0, 0.25 * 0.125f64.cos(), 0.0, -0.25 * 0.125f64.sin()];
        for (got, want) in jet.rate.iter().zip(want) {
            assert!((got - want).abs() < 1e-6, "{got} {want}");
        }
    }

    #[test]
    fn curves_have_slopes() {
        let s = Sampled::from_curve(None, Vec::new(), |t| {
            Some(if t < 1.0 { t * t } else { 100.0 - t })
        });
        assert!((rate(&s, 0.5) - 1.0).abs() < 1e-9);
        assert!((rate(&s, 1.0) - 0.5).abs() < 1e-6, "{}", rate(&s, 1.0));
    }
}
