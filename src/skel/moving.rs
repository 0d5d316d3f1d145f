//! Joint transforms with their rates of change.

use std::ops::Mul;

use glam::{DMat4, DQuat, DVec3};

use super::{SkelAnimation, SkeletonInstance};
use crate::error::Invalid;
use crate::math;
use crate::sampled::Time;

/// Step along a rate for the slope of a smooth function of components.
pub(crate) const STEP: f64 = 1e-5;

/// A transform at a time with the change of its elements per time code.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moving {
    /// The transform.
    pub at: DMat4,
    /// The rate of each element.
    pub rate: DMat4,
}

impl Moving {
    /// The identity, which does not change.
    pub const IDENTITY: Self = Self::still(DMat4::IDENTITY);

    /// A transform that does not change.
    #[must_use]
    pub const fn still(at: DMat4) -> Self {
        Self {
            at,
            rate: DMat4::ZERO,
        }
    }

    /// The transform that a function makes of components that change by `rate`.
    pub(crate) fn of(value: &[f64], rate: &[f64], f: impl Fn(&[f64]) -> DMat4) -> Self {
        let at = f(value);
        if rate.iter().all(|r| *r == 0.0) {
            return Self::still(at);
        }
        let moved = |step: f64| -> Vec<f64> {
            let pairs = value.iter().zip(rate);
            pairs.map(|(v, r)| v + r * step).collect()
        };
        let change = f(&moved(STEP)) - f(&moved(-STEP));
        Self {
            at,
            rate: change * (0.5 / STEP),
        }
    }

    /// The inverse; `None` if the transform is singular.
    #[must_use]
    pub fn try_inverse(&self) -> Option<Self> {
        let at = math::try_inverse(self.at)?;
        Some(Self {
            at,
            rate: (at * self.rate * at) * -1.0,
        })
    }

    /// The transform that a step of time along the rate leads to.
    #[must_use]
    pub fn after(&self, step: f64) -> DMat4 {
        self.at + self.rate * step
    }
}

impl Mul for Moving {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self {
            at: self.at * other.at,
            rate: self.rate * other.at + self.at * other.rate,
        }
    }
}

impl SkelAnimation {
    /// As [`SkelAnimation::joint_local_transforms`], interpolated without rounding and with rates.
    #[must_use]
    pub fn moving_joints(&self, time: Time) -> Option<Vec<Moving>> {
        // It says whether the animation counts at this time.
        let count = self.joint_local_transforms(time)?.len();
        let (t, r) = (self.translations.jet(time)?, self.rotations.jet(time)?);
        let s = match &self.float_scales {
            Some(scales) => scales.jet(time)?,
            None => self.scales.jet(time)?,
        };
        let transform = |v: &[f64]| {
            let translation = DVec3::new(v[0], v[1], v[2]);
            let rotation = DQuat::from_xyzw(v[3], v[4], v[5], v[6]);
            math::make_transform(translation, rotation, DVec3::new(v[7], v[8], v[9]))
        };
        let mut out = Vec::with_capacity(count);
        for joint in 0..count {
            let (three, four) = (joint * 3..joint * 3 + 3, joint * 4..joint * 4 + 4);
            let pick = |t: &[f64], r: &[f64], s: &[f64]| -> Option<[f64; 10]> {
                let all = [
                    t.get(three.clone())?,
                    r.get(four.clone())?,
                    s.get(three.clone())?,
                ];
                all.concat().try_into().ok()
            };
            let value = pick(&t.value, &r.value, &s.value)?;
            let rate = pick(&t.rate, &r.rate, &s.rate)?;
            out.push(Moving::of(&value, &rate, transform));
        }
        Some(out)
    }
}

impl SkeletonInstance {
    /// As [`SkeletonInstance::skinning_transforms`], interpolated without rounding and with rates.
    ///
    /// # Errors
    /// As [`SkeletonInstance::skinning_transforms`].
    pub fn moving_skinning(&self, time: Time) -> Result<Vec<Moving>, Invalid> {
        let skeleton = self.skeleton();
        let inverse_bind = skeleton.inverse_bind()?;
        let locals = self.joint_local_transforms(time)?;
        let mut local: Vec<Moving> = locals.into_iter().map(Moving::still).collect();
        if let Some((animation, mapper)) = self.driver()
            && !mapper.reaches_nothing()
            && let Some(moving) = animation.moving_joints(time)
        {
            mapper.remap(&moving, &mut local);
        }
        let mut out: Vec<Moving> = Vec::with_capacity(local.len());
        for (parent, local) in skeleton.topology().parents().zip(&local) {
            out.push(match parent {
                // Parents come first.
                Some(parent) => out[parent] * *local,
                None => *local,
            });
        }
        for (joint, inverse_bind) in out.iter_mut().zip(inverse_bind) {
            *joint = *joint * Moving::still(*inverse_bind);
        }
        Ok(out)
    }
}
