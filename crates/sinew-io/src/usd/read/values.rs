//! From USD's values to sinew's: typed reads, time samples, row vectors to column vectors.

use glam::{DMat4, DQuat, DVec3, Quat, Vec2, Vec3, Vec4};
use half::f16;
use sinew_layer::Value;
use sinew_layer::value::Array;
use sinew_stage::Attribute;

use sinew::sampled::{Half3, Interpolation, Lerp, Sampled};

/// A value that an attribute may hold. Reads are typed as usd-core's are: another type is no
/// value, except where real files are known to carry an older one.
pub(crate) trait FromUsd: Sized {
    fn from_usd(value: Value) -> Option<Self>;
}

/// Elements as others of the same bytes.
fn cast<A: bytemuck::Pod, B: bytemuck::Pod>(array: Array<A>) -> Vec<B> {
    bytemuck::cast_slice(&array).to_vec()
}

impl FromUsd for Vec<Vec3> {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Vec3fArray(v) => Some(cast(v)),
            _ => None,
        }
    }
}

impl FromUsd for Vec<f32> {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::FloatArray(v) => Some(v.into_vec()),
            Value::Float(v) => Some(vec![v]),
            _ => None,
        }
    }
}

impl FromUsd for Vec<i32> {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::IntArray(v) => Some(v.into_vec()),
            _ => None,
        }
    }
}

/// pointIndices: `int[]`, or the `uint[]` of older files (rule 18).
impl FromUsd for Vec<i64> {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::IntArray(v) => Some(v.iter().map(|i| i64::from(*i)).collect()),
            Value::UIntArray(v) => Some(v.iter().map(|i| i64::from(*i)).collect()),
            _ => None,
        }
    }
}

impl FromUsd for Vec<Half3> {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Vec3hArray(v) => Some(v.into_vec()),
            Value::Vec3h(v) => Some(vec![v]),
            _ => None,
        }
    }
}

impl FromUsd for Vec<Quat> {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::QuatfArray(v) => Some(v.iter().map(|q| Quat::from_array(q.0)).collect()),
            Value::Quatf(q) => Some(vec![Quat::from_array(q.0)]),
            _ => None,
        }
    }
}

/// A single token.
pub(crate) struct Token(pub String);

impl FromUsd for Token {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Token(t) => Some(Self(t.into())),
            _ => None,
        }
    }
}

impl FromUsd for Vec<String> {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::TokenArray(v) => Some(v.iter().map(|t| t.as_str().to_owned()).collect()),
            _ => None,
        }
    }
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

impl FromUsd for DMat4 {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Matrix4d(m) => Some(matrix(&m)),
            _ => None,
        }
    }
}

impl FromUsd for Vec<DMat4> {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Matrix4dArray(v) => Some(v.iter().map(matrix).collect()),
            _ => None,
        }
    }
}

impl FromUsd for DVec3 {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Vec3d(v) => Some(Self::from_array(v)),
            _ => None,
        }
    }
}

/// A single `float3`, kept as an array of one so that it interpolates in float.
pub(crate) struct OneVec3(pub Vec<Vec3>);

impl FromUsd for OneVec3 {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Vec3f(v) => Some(Self(vec![Vec3::from_array(v)])),
            _ => None,
        }
    }
}

impl FromUsd for Vec<f16> {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Half(v) => Some(vec![v]),
            _ => None,
        }
    }
}

impl FromUsd for Vec<[f16; 4]> {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Quath(q) => Some(vec![q.0]),
            _ => None,
        }
    }
}

impl FromUsd for f64 {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Double(v) => Some(v),
            _ => None,
        }
    }
}

/// A single number in whatever precision.
pub(crate) struct Number(pub f64);

impl FromUsd for Number {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Double(v) => Some(Self(v)),
            Value::Float(v) => Some(Self(v.into())),
            Value::Half(v) => Some(Self(v.into())),
            _ => None,
        }
    }
}

impl Lerp for Number {
    fn lerp(a: &Self, b: &Self, alpha: f64) -> Option<Self> {
        f64::lerp(&a.0, &b.0, alpha).map(Self)
    }
}

impl FromUsd for DQuat {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Quatd(q) => Some(Self::from_array(q.0)),
            _ => None,
        }
    }
}

impl FromUsd for bool {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Bool(v) => Some(v),
            _ => None,
        }
    }
}

impl FromUsd for i32 {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Int(v) => Some(v),
            _ => None,
        }
    }
}

impl FromUsd for f32 {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Float(v) => Some(v),
            _ => None,
        }
    }
}

impl FromUsd for Vec2 {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Vec2f(v) => Some(Self::from_array(v)),
            _ => None,
        }
    }
}

impl FromUsd for Vec4 {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Vec4f(v) => Some(Self::from_array(v)),
            _ => None,
        }
    }
}

/// Texture coordinates in whatever precision (texCoord2h, texCoord2f, texCoord2d, and the same of float2).
impl FromUsd for Vec<Vec2> {
    fn from_usd(value: Value) -> Option<Self> {
        match value {
            Value::Vec2fArray(v) => Some(cast(v)),
            Value::Vec2hArray(v) => Some(
                v.iter()
                    .map(|v| Vec2::new(v[0].to_f32(), v[1].to_f32()))
                    .collect(),
            ),
            Value::Vec2dArray(v) => Some(
                v.iter()
                    .map(|v| Vec2::new(v[0] as f32, v[1] as f32))
                    .collect(),
            ),
            _ => None,
        }
    }
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
            true => Sampled::from_curve(default, move |time| T::from_usd(spline.value(time)?)),
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
