//! From USD's values to sinew's: typed reads, time samples, row vectors to column vectors.

use glam::{DMat4, DQuat, DVec3, Quat, Vec2, Vec3, Vec4};
use half::f16;
use sinew_layer::Value;
use sinew_layer::layer::field;
use sinew_layer::value::{Array, Extrapolation, Spline};
use sinew_stage::{Attribute, Stage};

use sinew::sampled::{Half3, Interpolation, Lerp, Sampled};

/// A value that an attribute may hold. Reads are typed as usd-core's are: another type is no
/// value, except where real files are known to carry an older one.
pub(crate) trait FromUsd: Sized {
    fn from_usd(value: Value) -> Option<Self>;
}

/// A single token.
pub(crate) struct Token(pub String);

/// A single `float3`, kept as an array of one so that it interpolates in float.
pub(crate) struct OneVec3(pub Vec<Vec3>);

/// A single number in whatever precision.
pub(crate) struct Number(pub f64);

impl Lerp for Number {
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
        f64::lerp(&a.0, &b.0, alpha).map(Self)
    }
}

/// For each type, the values of USD that it is read from.
macro_rules! from_usd {
    ($($type:ty { $($kind:ident($v:pat) => $read:expr,)+ })+) => {$(
        impl FromUsd for $type {
            fn from_usd(value: Value) -> Option<Self> {
                match value {
                    $(Value::$kind($v) => Some($read),)+
                    _ => None,
                }
            }
        }
    )+};
}

from_usd! {
    bool { Bool(v) => v, }
    i32 { Int(v) => v, }
    f32 { Float(v) => v, }
    f64 { Double(v) => v, }
    Vec2 { Vec2f(v) => Self::from_array(v), }
    Vec4 { Vec4f(v) => Self::from_array(v), }
    DVec3 { Vec3d(v) => Self::from_array(v), }
    DQuat { Quatd(q) => Self::from_array(q.0), }
    DMat4 { Matrix4d(m) => matrix(&m), }
    Token { Token(t) => Self(t.into()), }
    OneVec3 { Vec3f(v) => Self(vec![Vec3::from_array(v)]), }
    Number {
        Double(v) => Self(v),
        Float(v) => Self(v.into()),
        Half(v) => Self(v.into()),
    }
    Vec<i32> { IntArray(v) => v.into_vec(), }
    // pointIndices: `int[]`, or the `uint[]` of older files (rule 18).
    Vec<i64> {
        IntArray(v) => v.iter().map(|i| i64::from(*i)).collect(),
        UIntArray(v) => v.iter().map(|i| i64::from(*i)).collect(),
    }
    Vec<f32> {
        FloatArray(v) => v.into_vec(),
        Float(v) => vec![v],
    }
    Vec<f16> { Half(v) => vec![v], }
    Vec<[f16; 4]> { Quath(q) => vec![q.0], }
    Vec<Half3> {
        Vec3hArray(v) => v.into_vec(),
        Vec3h(v) => vec![v],
    }
    // Texture coordinates in whatever precision (texCoord2h, texCoord2f, texCoord2d, and the same of float2).
    Vec<Vec2> {
        Vec2fArray(v) => cast(v),
        Vec2hArray(v) => v.iter().map(|v| Vec2::from_array(v.map(f16::to_f32))).collect(),
        Vec2dArray(v) => v.iter().map(|v| Vec2::from_array(v.map(|x| x as f32))).collect(),
    }
    Vec<Vec3> { Vec3fArray(v) => cast(v), }
    Vec<Quat> {
        QuatfArray(v) => v.iter().map(|q| Quat::from_array(q.0)).collect(),
        Quatf(q) => vec![Quat::from_array(q.0)],
    }
    Vec<DMat4> { Matrix4dArray(v) => v.iter().map(matrix).collect(), }
    Vec<String> { TokenArray(v) => v.iter().map(|t| t.as_str().to_owned()).collect(), }
}

/// Elements as others of the same bytes.
fn cast<A: bytemuck::Pod, B: bytemuck::Pod>(array: Array<A>) -> Vec<B> {
    bytemuck::cast_slice(&array).to_vec()
}

/// A row-vector matrix in row-major order is a column-vector one in column-major order: the same
/// sixteen numbers. This is the only place where the two conventions meet.
fn matrix(m: &[f64; 16]) -> DMat4 {
    DMat4::from_cols_array(m)
}

/// The way back.
pub(crate) fn matrix4d(m: DMat4) -> Value {
    Value::Matrix4d(Box::new(m.to_cols_array()))
}

/// The way back, of several.
pub(crate) fn matrices(m: &[DMat4]) -> Value {
    Value::Matrix4dArray(m.iter().map(DMat4::to_cols_array).collect())
}

/// A `vector3f[]`, or any other array of three floats.
pub(crate) fn vectors(v: &[Vec3]) -> Value {
    let v: &[[f32; 3]] = bytemuck::cast_slice(v);
    Value::Vec3fArray(v.to_vec().into())
}

/// The default value of an attribute, of the wanted type.
pub(crate) fn read<T: FromUsd>(
    attribute: &Attribute<'_, '_>,
) -> Result<Option<T>, sinew_stage::Error> {
    Ok(attribute.default()?.and_then(T::from_usd))
}

/// A uniform attribute's value: its default, or its first sample where a file authored samples.
pub(crate) fn read_uniform<T: FromUsd>(
    attribute: &Attribute<'_, '_>,
) -> Result<Option<T>, sinew_stage::Error> {
    if let Some(value) = read(attribute)? {
        return Ok(Some(value));
    }
    let Some(samples) = attribute.samples()? else {
        return Ok(None);
    };
    for sample in 0..samples.len() {
        if let Some(value) = T::from_usd(samples.load(sample)?) {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Metadata of an attribute, of the wanted type.
pub(crate) fn read_metadata<T: FromUsd>(
    attribute: &Attribute<'_, '_>,
    key: &str,
) -> Result<Option<T>, sinew_stage::Error> {
    Ok(attribute.metadata(key)?.and_then(T::from_usd))
}

/// Whether the value of an attribute is `None`, by which a stage switches it off.
pub(crate) fn is_blocked(attribute: &Attribute<'_, '_>) -> bool {
    let is_block = |value: Option<&Value>| matches!(value, Some(Value::Block));
    !attribute.has_authored_value()
        && attribute
            .opinions()
            .any(|o| is_block(o.spec.get(field::DEFAULT)))
}

/// The times of a spline's knots, and the ends of the stage if it goes on beyond them.
fn keys(spline: &Spline, stage: &Stage) -> Vec<f64> {
    let ends = [spline.pre_extrapolation, spline.post_extrapolation];
    let holds = |end| matches!(end, Extrapolation::Held | Extrapolation::Block);
    let goes_on = spline.inner_loop.is_some() || !ends.into_iter().all(holds);
    let range = stage
        .start_time_code()
        .into_iter()
        .chain(stage.end_time_code());
    let knots = spline.knots.iter().map(|knot| knot.time);
    knots.chain(range.filter(|_| goes_on)).collect()
}

/// An attribute with its time samples. Blocked samples, and those of another type, are no value at
/// their time. Interpolation is left to [`Sampled`].
pub(crate) fn read_sampled<T: FromUsd>(
    attribute: &Attribute<'_, '_>,
    interpolation: Interpolation,
) -> Result<Sampled<T>, sinew_stage::Error> {
    let default = read(attribute)?;
    if let Some(spline) = attribute.spline() {
        // Of a spline of another type there is no value.
        let is_value = T::from_usd(spline.value_type.value(0.0)).is_some();
        return Ok(match is_value {
            true => {
                let keys = keys(&spline, attribute.prim().stage());
                Sampled::from_curve(default, keys, move |time| T::from_usd(spline.value(time)?))
            }
            false => Sampled::new(default, Vec::new(), interpolation),
        });
    }
    let mut values: Vec<(f64, Option<T>)> = Vec::new();
    if let Some(samples) = attribute.samples()? {
        for (sample, time) in samples.times().iter().enumerate() {
            values.push((*time, T::from_usd(samples.load(sample)?)));
        }
    }
    Ok(Sampled::new(default, values, interpolation))
}
