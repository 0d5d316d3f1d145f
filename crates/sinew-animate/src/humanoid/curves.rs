//! Linear maps of curves, applied to each key, and products of rotation curves.

use glam::{DMat3, DQuat, DVec3};

use crate::asset::{Curve, CurveInterpolation, Keys};

/// The rotation `left * q * right` for the values q of a curve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turned<'a> {
    pub left: DQuat,
    pub curve: &'a Curve,
    pub right: DQuat,
}

/// The largest angle between two samples of a product: 10 degrees.
const FINEST_TURN: f64 = std::f64::consts::PI / 18.0;
/// The largest number of intervals between two keys of a product; it limits [`FINEST_TURN`].
const MOST_BETWEEN: usize = 16;

/// Maps each key of a translation or scale curve by `value`, and each tangent of a spline by
/// `tangent`, which has to be the linear part of `value`. `None` for other curves.
fn map_vectors(
    curve: &Curve,
    value: impl Fn(DVec3) -> DVec3,
    tangent: impl Fn(DVec3) -> DVec3,
) -> Option<Curve> {
    let is_value = |i: usize| curve.interpolation != CurveInterpolation::CubicSpline || i % 3 == 1;
    let map = |keys: &[DVec3]| {
        let mapped = keys
            .iter()
            .enumerate()
            .map(|(i, v)| if is_value(i) { value(*v) } else { tangent(*v) });
        mapped.collect()
    };
    let keys = match &curve.keys {
        Keys::Translation(keys) => Keys::Translation(map(keys)),
        Keys::Scale(keys) => Keys::Scale(map(keys)),
        Keys::Rotation(_) | Keys::Weights { .. } => return None,
    };
    Some(with_keys(curve, keys))
}

/// A curve with the times and the interpolation of another one.
fn with_keys(curve: &Curve, keys: Keys) -> Curve {
    Curve {
        times: curve.times.clone(),
        interpolation: curve.interpolation,
        keys,
    }
}

/// Maps every key to `offset + linear * v`, and every tangent to `linear * v`.
pub(super) fn move_by(curve: &Curve, offset: DVec3, linear: DMat3) -> Option<Curve> {
    map_vectors(curve, |v| offset + linear * v, |v| linear * v)
}

/// Maps every key and tangent to `factor * v`, component by component.
pub(super) fn scale_by(curve: &Curve, factor: DVec3) -> Option<Curve> {
    map_vectors(curve, |v| factor * v, |v| factor * v)
}

/// The curve `left * (product of all parts, in their order) * right`. A single part is mapped key
/// by key. Several parts are sampled at the union of their keys, and also between keys that are far
/// apart in angle. `None` if there is no part, or if a part has no rotations.
pub(super) fn product(left: DQuat, parts: &[Turned], right: DQuat) -> Option<Curve> {
    if let [only] = parts {
        let Keys::Rotation(keys) = &only.curve.keys else {
            return None;
        };
        // Linear in keys and tangents, so it also holds between keys.
        let (left, right) = (left * only.left, only.right * right);
        let keys = keys.iter().map(|q| left * *q * right).collect();
        return Some(with_keys(only.curve, Keys::Rotation(keys)));
    }
    let all_step = parts
        .iter()
        .all(|p| p.curve.interpolation == CurveInterpolation::Step);
    let times = sample_times(parts, all_step)?;
    let mut keys = Vec::with_capacity(times.len());
    for time in &times {
        let mut q = left;
        for part in parts {
            q = q * part.left * part.curve.rotation(*time)? * part.right;
        }
        let q = (q * right).normalize();
        keys.push(match keys.last() {
            Some(last) if q.dot(*last) < 0.0 => -q,
            _ => q,
        });
    }
    let interpolation = if all_step {
        CurveInterpolation::Step
    } else {
        CurveInterpolation::Linear
    };
    Some(Curve {
        times,
        interpolation,
        keys: Keys::Rotation(keys),
    })
}

/// The times of all keys. Unless all curves are step curves, also times between keys that are far
/// apart in angle, and a time just before each step.
fn sample_times(parts: &[Turned], all_step: bool) -> Option<Vec<f64>> {
    let mut keys: Vec<f64> = parts.iter().flat_map(|p| &p.curve.times).copied().collect();
    keys.sort_by(f64::total_cmp);
    keys.dedup();
    if all_step || keys.is_empty() {
        return (!keys.is_empty()).then_some(keys);
    }
    let mut times = vec![keys[0]];
    for pair in keys.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let mut turned = 0.0;
        let mut held_until_here = false;
        for part in parts {
            let [a, b] = [from, to].map(|t| part.curve.rotation(t));
            match part.curve.interpolation {
                CurveInterpolation::Step => held_until_here |= a? != b?,
                CurveInterpolation::Linear => turned += a?.angle_between(b?),
                // Tangents may swing beyond both ends.
                CurveInterpolation::CubicSpline => turned = f64::INFINITY,
            }
        }
        let steps = (turned / FINEST_TURN)
            .ceil()
            .clamp(1.0, MOST_BETWEEN as f64) as usize;
        let between = (1..steps).map(|i| from + (to - from) * i as f64 / steps as f64);
        times.extend(between.filter(|t| *t > from && *t < to));
        let before = to - (to.abs() * 1e-6).max(1e-5);
        if held_until_here && times.last().is_some_and(|last| before > *last) {
            times.push(before);
        }
        times.push(to);
    }
    times.dedup();
    Some(times)
}
