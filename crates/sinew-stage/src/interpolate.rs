//! Values between two samples.

use std::sync::Arc;

use sinew_layer::value::{Array, Duration, LayerOffset, TimeCode};
use sinew_layer::{TimeSamples, Value};
use sinew_lerp::Lerp;

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
        Value::ArrayEdit(edit) if !offset.is_identity() => {
            let edit = Arc::make_mut(edit);
            edit.literals = in_stage(std::mem::replace(&mut edit.literals, Value::Block), offset);
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
