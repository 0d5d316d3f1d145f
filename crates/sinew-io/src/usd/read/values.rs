//! From openusd's values to sinew's: typed reads, time samples, row vectors to column vectors.

use glam::{DMat4, DQuat, DVec3, Quat, Vec2, Vec3, Vec4};
use half::f16;
use openusd::{gf, sdf, usd};

use crate::openusd_compat::flatten_clips::clip_samples;
use crate::openusd_compat::hidden_blocks::is_blocked_at_all_times;
use sinew::sampled::{Half3, Interpolation, Sampled};

/// A value that an attribute may hold. Reads are typed as usd-core's are: another type is no
/// value, except where real files are known to carry an older one.
pub(crate) trait FromUsd: Sized {
    fn from_usd(value: sdf::Value) -> Option<Self>;
}

impl FromUsd for Vec<Vec3> {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Vec3fVec(v) => Some(bytemuck::cast_vec(v)),
            _ => None,
        }
    }
}

impl FromUsd for Vec<f32> {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::FloatVec(v) => Some(v),
            sdf::Value::Float(v) => Some(vec![v]),
            _ => None,
        }
    }
}

impl FromUsd for Vec<i32> {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::IntVec(v) => Some(v),
            _ => None,
        }
    }
}

/// pointIndices: `int[]`, or the `uint[]` of older files (rule 18).
impl FromUsd for Vec<i64> {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::IntVec(v) => Some(v.into_iter().map(i64::from).collect()),
            sdf::Value::UintVec(v) => Some(v.into_iter().map(i64::from).collect()),
            _ => None,
        }
    }
}

impl FromUsd for Vec<Half3> {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Vec3hVec(v) => Some(v.into_iter().map(|v| [v.x, v.y, v.z]).collect()),
            sdf::Value::Vec3h(v) => Some(vec![[v.x, v.y, v.z]]),
            _ => None,
        }
    }
}

fn quat(q: gf::Quatf) -> Quat {
    Quat::from_xyzw(q.x, q.y, q.z, q.w)
}

impl FromUsd for Vec<Quat> {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::QuatfVec(v) => Some(v.into_iter().map(quat).collect()),
            sdf::Value::Quatf(v) => Some(vec![quat(v)]),
            _ => None,
        }
    }
}

/// A single token.
pub(crate) struct Token(pub String);

impl FromUsd for Token {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Token(t) => Some(Self(t.as_str().to_owned())),
            _ => None,
        }
    }
}

impl FromUsd for Vec<String> {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::TokenVec(v) => Some(v.into_iter().map(|t| t.as_str().to_owned()).collect()),
            _ => None,
        }
    }
}

/// A row-vector matrix in row-major order is a column-vector one in column-major order: the same
/// sixteen numbers. This is the only place where the two conventions meet.
fn matrix(m: gf::Matrix4d) -> DMat4 {
    DMat4::from_cols_array(&m.0)
}

/// The way back.
pub(crate) fn matrix4d(m: DMat4) -> gf::Matrix4d {
    gf::Matrix4d(m.to_cols_array())
}

/// A `vector3f[]`, or any other array of three floats.
pub(crate) fn vectors(v: &[glam::Vec3]) -> sdf::Value {
    sdf::Value::Vec3fVec(bytemuck::cast_slice(v).to_vec())
}

impl FromUsd for DMat4 {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Matrix4d(m) => Some(matrix(m)),
            _ => None,
        }
    }
}

impl FromUsd for Vec<DMat4> {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Matrix4dVec(v) => Some(v.into_iter().map(matrix).collect()),
            _ => None,
        }
    }
}

impl FromUsd for DVec3 {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Vec3d(v) => Some(DVec3::new(v.x, v.y, v.z)),
            _ => None,
        }
    }
}

/// A single `float3`, kept as an array of one so that it interpolates in float.
pub(crate) struct OneVec3(pub Vec<Vec3>);

impl FromUsd for OneVec3 {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Vec3f(v) => Some(Self(vec![Vec3::new(v.x, v.y, v.z)])),
            _ => None,
        }
    }
}

impl FromUsd for Vec<f16> {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Half(v) => Some(vec![v]),
            _ => None,
        }
    }
}

impl FromUsd for Vec<[f16; 4]> {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Quath(q) => Some(vec![[q.x, q.y, q.z, q.w]]),
            _ => None,
        }
    }
}

impl FromUsd for f64 {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Double(v) => Some(v),
            _ => None,
        }
    }
}

impl FromUsd for DQuat {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Quatd(q) => Some(DQuat::from_xyzw(q.x, q.y, q.z, q.w)),
            _ => None,
        }
    }
}

impl FromUsd for bool {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Bool(v) => Some(v),
            _ => None,
        }
    }
}

impl FromUsd for f32 {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Float(v) => Some(v),
            _ => None,
        }
    }
}

impl FromUsd for Vec2 {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Vec2f(v) => Some(Vec2::new(v.x, v.y)),
            _ => None,
        }
    }
}

impl FromUsd for Vec4 {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Vec4f(v) => Some(Vec4::new(v.x, v.y, v.z, v.w)),
            _ => None,
        }
    }
}

/// Texture coordinates in whatever precision (texCoord2h, texCoord2f, texCoord2d, and the same of float2).
impl FromUsd for Vec<Vec2> {
    fn from_usd(value: sdf::Value) -> Option<Self> {
        match value {
            sdf::Value::Vec2fVec(v) => Some(bytemuck::cast_vec(v)),
            sdf::Value::Vec2hVec(v) => {
                let wide = |v: gf::Vec2h| Vec2::new(v.x.to_f32(), v.y.to_f32());
                Some(v.into_iter().map(wide).collect())
            }
            sdf::Value::Vec2dVec(v) => {
                let narrow = |v: gf::Vec2d| Vec2::new(v.x as f32, v.y as f32);
                Some(v.into_iter().map(narrow).collect())
            }
            _ => None,
        }
    }
}

/// How the stage interpolates between samples.
pub(crate) fn stage_interpolation(stage: &usd::Stage) -> Interpolation {
    match stage.interpolation_type() {
        usd::InterpolationType::Held => Interpolation::Held,
        usd::InterpolationType::Linear => Interpolation::Linear,
    }
}

/// The default value of an attribute, of the wanted type.
pub(crate) fn read<T: FromUsd>(attribute: &usd::Attribute) -> Result<Option<T>, openusd::Error> {
    Ok(attribute.get::<sdf::Value>()?.and_then(T::from_usd))
}

/// A uniform attribute's value: its default, or its first sample where a file authored samples.
pub(crate) fn read_uniform<T: FromUsd>(
    attribute: &usd::Attribute,
) -> Result<Option<T>, openusd::Error> {
    if let Some(value) = read(attribute)? {
        return Ok(Some(value));
    }
    let samples = attribute.time_samples()?.unwrap_or_default();
    Ok(samples.into_iter().find_map(|(_, v)| T::from_usd(v)))
}

/// An attribute with its time samples. Blocked samples, and those of another type, are no value at
/// their time. Interpolation is left to [`Sampled`].
pub(crate) fn read_sampled<T: FromUsd>(
    attribute: &usd::Attribute,
    interpolation: Interpolation,
) -> Result<Sampled<T>, openusd::Error> {
    let default = read(attribute)?;
    let samples: Vec<(f64, Option<T>)> = match attribute.time_samples()? {
        Some(samples) => samples
            .into_iter()
            .map(|(t, v)| (t, T::from_usd(v)))
            .collect(),
        None => clip_samples(attribute)?
            .unwrap_or_default()
            .into_iter()
            .map(|(t, v)| (t, v.and_then(T::from_usd)))
            .collect(),
    };
    let hidden = samples.is_empty() && default.is_some() && is_blocked_at_all_times(attribute)?;
    let sampled = Sampled::new(default, samples, interpolation);
    Ok(if hidden {
        sampled.blocked_at_time_codes()
    } else {
        sampled
    })
}
