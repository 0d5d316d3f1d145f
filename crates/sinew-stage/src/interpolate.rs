//! Values between two samples, to the bit as usd-core has them.
//!
//! Scales in half precision have three digits, so another order of the same operations would show.

use half::f16;
use sinew_layer::value::{Array, Duration, LayerOffset, Quat, TimeCode};
use sinew_layer::{TimeSamples, Value};

use crate::error::Result;

/// The value at a time of the stage of samples, whose times `offset` leads to the stage. A block is given as such if
/// `blocks`, else as none.
pub(crate) fn sampled(
    samples: &TimeSamples,
    time: f64,
    offset: &LayerOffset,
    blocks: bool,
) -> Result<Option<Value>> {
    let Some((lower, upper)) = samples.bracket(offset.inverse().apply(time)) else {
        return Ok(None);
    };
    let load = |i| -> Result<Value> { Ok(in_stage(samples.load(i)?, offset)) };
    let a = load(lower)?;
    let [from, to] = [lower, upper].map(|i| offset.apply(samples.times()[i]));
    if matches!(a, Value::Block | Value::AnimationBlock) {
        return Ok(Some(a).filter(|_| blocks));
    }
    if lower == upper || (from - to).abs() < 1e-6 || !is_linear(&a) {
        return Ok(Some(a));
    }
    let b = load(upper)?;
    Ok(Some(lerp(&a, &b, (time - from) / (to - from)).unwrap_or(a)))
}

/// A value with its times, if it is of times, moved to the stage.
fn in_stage(mut value: Value, offset: &LayerOffset) -> Value {
    match &mut value {
        Value::TimeCode(time) => time.0 = offset.apply(time.0),
        Value::TimeCodeArray(times) if !offset.is_identity() => {
            *times = times.iter().map(|t| TimeCode(offset.apply(t.0))).collect();
        }
        Value::Duration(length) => length.0 *= offset.scale,
        Value::DurationArray(lengths) if !offset.is_identity() => {
            *lengths = lengths
                .iter()
                .map(|l| Duration(offset.scale * l.0))
                .collect();
        }
        _ => {}
    }
    value
}

/// Whether values of this type are interpolated; others hold until the next sample.
pub(crate) fn is_linear(value: &Value) -> bool {
    use Value as V;
    matches!(
        value,
        V::Half(_)
            | V::Float(_)
            | V::Double(_)
            | V::TimeCode(_)
            | V::Duration(_)
            | V::Matrix2d(_)
            | V::Matrix3d(_)
            | V::Matrix4d(_)
            | V::Vec2d(_)
            | V::Vec2f(_)
            | V::Vec2h(_)
            | V::Vec3d(_)
            | V::Vec3f(_)
            | V::Vec3h(_)
            | V::Vec4d(_)
            | V::Vec4f(_)
            | V::Vec4h(_)
            | V::Quatd(_)
            | V::Quatf(_)
            | V::Quath(_)
            | V::HalfArray(_)
            | V::FloatArray(_)
            | V::DoubleArray(_)
            | V::TimeCodeArray(_)
            | V::DurationArray(_)
            | V::Matrix2dArray(_)
            | V::Matrix3dArray(_)
            | V::Matrix4dArray(_)
            | V::Vec2dArray(_)
            | V::Vec2fArray(_)
            | V::Vec2hArray(_)
            | V::Vec3dArray(_)
            | V::Vec3fArray(_)
            | V::Vec3hArray(_)
            | V::Vec4dArray(_)
            | V::Vec4fArray(_)
            | V::Vec4hArray(_)
            | V::QuatdArray(_)
            | V::QuatfArray(_)
            | V::QuathArray(_)
    )
}

/// The value at `alpha` between `a` (at 0) and `b` (at 1). None where the earlier one holds: the types differ or are not
/// interpolated, or arrays have different lengths.
pub(crate) fn lerp(a: &Value, b: &Value, alpha: f64) -> Option<Value> {
    macro_rules! each {
        ($($scalar:ident, $array:ident;)*) => {
            match (a, b) {
                $(
                    (Value::$scalar(a), Value::$scalar(b)) => Value::$scalar(a.lerp(b, alpha)),
                    (Value::$array(a), Value::$array(b)) => Value::$array(array(a, b, alpha)?),
                )*
                _ => return None,
            }
        };
    }
    Some(each! {
        Half, HalfArray;
        Float, FloatArray;
        Double, DoubleArray;
        TimeCode, TimeCodeArray;
        Duration, DurationArray;
        Matrix2d, Matrix2dArray;
        Matrix3d, Matrix3dArray;
        Matrix4d, Matrix4dArray;
        Vec2d, Vec2dArray;
        Vec2f, Vec2fArray;
        Vec2h, Vec2hArray;
        Vec3d, Vec3dArray;
        Vec3f, Vec3fArray;
        Vec3h, Vec3hArray;
        Vec4d, Vec4dArray;
        Vec4f, Vec4fArray;
        Vec4h, Vec4hArray;
        Quatd, QuatdArray;
        Quatf, QuatfArray;
        Quath, QuathArray;
    })
}

fn array<T: Lerp + Clone>(a: &Array<T>, b: &Array<T>, alpha: f64) -> Option<Array<T>> {
    if a.len() != b.len() {
        return None;
    }
    if alpha == 0.0 || a.is_same(b) && alpha == 1.0 {
        return Some(a.clone());
    }
    Some(a.iter().zip(b).map(|(a, b)| a.lerp(b, alpha)).collect())
}

/// A value that has others between itself and another of its type.
trait Lerp {
    fn lerp(&self, to: &Self, alpha: f64) -> Self;
}

impl Lerp for f64 {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        (1.0 - alpha) * self + alpha * to
    }
}

impl Lerp for TimeCode {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        Self(self.0.lerp(&to.0, alpha))
    }
}

impl Lerp for Duration {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        Self(self.0.lerp(&to.0, alpha))
    }
}

/// One number is computed in double precision and rounded once.
impl Lerp for f32 {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        f64::from(*self).lerp(&f64::from(*to), alpha) as f32
    }
}

impl Lerp for f16 {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        // Half precision is only made from single precision.
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

/// The factors of USD's spherical interpolation. It goes the short way round, does not normalize, and is linear for
/// rotations that are nearly the same. `acos` and `sine` have the precision of the quaternion.
fn slerp_factors(
    cos_theta: f64,
    alpha: f64,
    acos: impl Fn(f64) -> f64,
    sine: impl Fn(f64) -> f64,
) -> (f64, f64) {
    let (cos_theta, sign) = match cos_theta < 0.0 {
        true => (-cos_theta, -1.0),
        false => (cos_theta, 1.0),
    };
    if 1.0 - cos_theta > 0.000_01 {
        let theta = acos(cos_theta);
        let sine = sine(theta);
        let factor = |part: f64| (part * theta).sin() / sine;
        (factor(1.0 - alpha), factor(alpha) * sign)
    } else {
        (1.0 - alpha, alpha * sign)
    }
}

impl Lerp for Quat<f64> {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        let (p, q) = (self.0, to.0);
        let cos_theta = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
        let (s0, s1) = slerp_factors(cos_theta, alpha, f64::acos, f64::sin);
        Self(std::array::from_fn(|i| s0 * p[i] + s1 * q[i]))
    }
}

impl Lerp for Quat<f32> {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        let (p, q) = (self.0, to.0);
        let cos_theta = f64::from(p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]);
        let (s0, s1) = slerp_factors(
            cos_theta,
            alpha,
            |x| (x as f32).acos().into(),
            |x| (x as f32).sin().into(),
        );
        let (s0, s1) = (s0 as f32, s1 as f32);
        Self(std::array::from_fn(|i| s0 * p[i] + s1 * q[i]))
    }
}

/// Every step rounds where USD's does: the dot product of the imaginary parts, the angle, its sine, the factors and each
/// term.
impl Lerp for Quat<f16> {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        let half = |x: f32| f16::from_f32(x).to_f32();
        let round = |x: f64| f64::from(half(x as f32));
        let (p, q) = (self.0.map(f16::to_f32), to.0.map(f16::to_f32));
        let cos_theta = half(p[0] * q[0] + p[1] * q[1] + p[2] * q[2]) + p[3] * q[3];
        let (s0, s1) = slerp_factors(
            cos_theta.into(),
            alpha,
            |x| round(x.acos()),
            |x| round(x.sin()),
        );
        let (s0, s1) = (half(s0 as f32), half(s1 as f32));
        Self(std::array::from_fn(|i| {
            f16::from_f32(half(s0 * p[i]) + half(s1 * q[i]))
        }))
    }
}
