//! Curves to samples that interpolate straight, as USD's do.

use glam::{DQuat, DVec3};

use sinew_animate::asset::{Curve, CurveInterpolation, Keys};

/// Time codes between a stepped key and the sample before it that holds the old value. usd-core takes
/// samples within 1e-6 of each other for one.
const STEP_GAP: f64 = 1.0 / 1024.0;

/// Halvings of a cubic segment.
const MAX_HALVINGS: u32 = 10;

/// Values of one component that are authored for all times together.
const MAX_VALUES: usize = 1 << 23;

/// A curve and how far samples may stray from it: scene units, radians, a factor or a weight.
pub(super) type Tolerated<'a> = (&'a Curve, f64);

/// Times at which an array of `width` elements has to be sampled so that straight lines between them follow every
/// curve: all keys, a time just before each step, and cubic segments halved until they are within tolerance. Where there
/// are cubic ones, `keys`, those of the whole clip, are among them: it is exact there. The second value is true where
/// these are so many that whole time codes take their place.
pub(super) fn sample_times(
    curves: &[Tolerated<'_>],
    width: usize,
    keys: &[f64],
) -> (Vec<f64>, bool) {
    let limit = (MAX_VALUES / width.max(1)).max(2);
    let mut times: Vec<f64> = Vec::new();
    let mut over = false;
    let mut keyed = false;
    for (curve, tolerance) in curves {
        times.extend(&curve.times);
        match curve.interpolation {
            CurveInterpolation::Linear => {}
            CurveInterpolation::Step => times.extend(before_steps(curve)),
            CurveInterpolation::CubicSpline => {
                if !keyed {
                    times.extend(keys);
                    keyed = true;
                }
                over |= !halve(curve, *tolerance, limit, &mut times);
            }
        }
        // Curves mostly share their keys.
        if times.len() > limit || over {
            sort(&mut times);
            over |= times.len() > limit;
        }
        if over {
            break;
        }
    }
    sort(&mut times);
    if !over {
        return (times, false);
    }
    let all = || curves.iter().flat_map(|(c, _)| &c.times);
    let first = all().copied().fold(f64::INFINITY, f64::min);
    let last = all().copied().fold(f64::NEG_INFINITY, f64::max);
    let stride = ((last - first) / (limit - 1) as f64).ceil().max(1.0);
    let count = ((last - first) / stride).floor() as usize;
    let mut times: Vec<f64> = (0..=count).map(|i| first + stride * i as f64).collect();
    times.push(last);
    sort(&mut times);
    (times, true)
}

fn sort(times: &mut Vec<f64>) {
    times.sort_by(f64::total_cmp);
    times.dedup();
}

/// A time just before each key whose value differs from the one before.
fn before_steps(curve: &Curve) -> impl Iterator<Item = f64> + '_ {
    let changes = |i: usize| match &curve.keys {
        Keys::Translation(v) | Keys::Scale(v) => v[i] != v[i - 1],
        Keys::Rotation(v) => v[i] != v[i - 1],
        Keys::Weights { count, values } => {
            values[i * count..(i + 1) * count] != values[(i - 1) * count..i * count]
        }
    };
    let keys = (1..curve.times.len()).filter(move |i| changes(*i));
    keys.map(|i| {
        let (last, key) = (curve.times[i - 1], curve.times[i]);
        (key - STEP_GAP).max(0.5 * (last + key))
    })
}

/// Adds the times that a cubic curve needs. False where they are more than `limit`.
fn halve(curve: &Curve, tolerance: f64, limit: usize, out: &mut Vec<f64>) -> bool {
    let mut added = 0;
    let mut open = Vec::new();
    for w in curve.times.windows(2) {
        open.push((w[0], w[1], 0));
        while let Some((a, b, halvings)) = open.pop() {
            if halvings == MAX_HALVINGS || strays(curve, a, b) <= tolerance {
                continue;
            }
            let middle = 0.5 * (a + b);
            out.push(middle);
            added += 1;
            if added > limit {
                return false;
            }
            open.push((a, middle, halvings + 1));
            open.push((middle, b, halvings + 1));
        }
    }
    true
}

/// How far the curve is from the straight way between two times.
fn strays(curve: &Curve, a: f64, b: f64) -> f64 {
    let worst = |distance: &dyn Fn(f64) -> f64| {
        let alphas = [0.25, 0.5, 0.75].into_iter();
        alphas.map(distance).fold(0.0, f64::max)
    };
    let time = |alpha: f64| a + (b - a) * alpha;
    match &curve.keys {
        Keys::Translation(_) | Keys::Scale(_) => {
            let at = |t| curve.vector(t).unwrap_or_default();
            let (from, to) = (at(a), at(b));
            worst(&|alpha| at(time(alpha)).distance(from.lerp(to, alpha)))
        }
        Keys::Rotation(_) => {
            let at = |t| curve.rotation(t).unwrap_or_default();
            let (from, to) = (at(a), at(b));
            worst(&|alpha| angle(at(time(alpha)), from.slerp(to, alpha)))
        }
        Keys::Weights { count, .. } => {
            let at = |i, t| curve.weight(i, t).unwrap_or_default();
            let each = (0..*count).map(|i| {
                let (from, to) = (at(i, a), at(i, b));
                worst(&|alpha| (at(i, time(alpha)) - (from + (to - from) * alpha)).abs())
            });
            each.fold(0.0, f64::max)
        }
    }
}

/// Radians between two rotations; unlike an arc cosine it is exact where they are close.
pub(super) fn angle(a: DQuat, b: DQuat) -> f64 {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    4.0 * (0.5 * (a - b).length()).min(1.0).asin()
}

/// One array over time: a value without a time where it never changes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Samples<T> {
    Constant(T),
    Varying(Vec<(f64, T)>),
}

impl<T: PartialEq> Samples<T> {
    pub fn new(mut samples: Vec<(f64, T)>, fallback: impl FnOnce() -> T) -> Self {
        let same = samples.windows(2).all(|w| w[0].1 == w[1].1);
        match samples.len() {
            0 => Self::Constant(fallback()),
            _ if same => Self::Constant(samples.swap_remove(0).1),
            _ => Self::Varying(samples),
        }
    }

    pub fn map<U>(self, f: impl Fn(T) -> U) -> Samples<U> {
        match self {
            Self::Constant(v) => Samples::Constant(f(v)),
            Self::Varying(v) => Samples::Varying(v.into_iter().map(|(t, v)| (t, f(v))).collect()),
        }
    }
}

/// Vectors of several parts over time: `rest`, and curves for some of them, times a factor each.
pub(super) fn vectors(
    rest: &[DVec3],
    curves: &[(usize, &Curve, f64)],
    times: &[f64],
) -> Samples<Vec<DVec3>> {
    let samples = times.iter().map(|t| {
        let mut all = rest.to_vec();
        for (i, curve, factor) in curves {
            if let Some(v) = curve.vector(*t) {
                all[*i] = v * *factor;
            }
        }
        (*t, all)
    });
    Samples::new(samples.collect(), || rest.to_vec())
}

/// Rotations of several parts over time, each on the hemisphere of the sample before; factors do not count.
pub(super) fn rotations(
    rest: &[DQuat],
    curves: &[(usize, &Curve, f64)],
    times: &[f64],
) -> Samples<Vec<DQuat>> {
    let mut last = rest.to_vec();
    let samples = times.iter().map(|t| {
        for (i, curve, _) in curves {
            if let Some(q) = curve.rotation(*t) {
                last[*i] = if q.dot(last[*i]) < 0.0 { -q } else { q };
            }
        }
        (*t, last.clone())
    });
    Samples::new(samples.collect(), || rest.to_vec())
}
