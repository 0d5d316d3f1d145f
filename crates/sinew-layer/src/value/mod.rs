//! Everything that a field can hold.

mod array;
mod array_edit;
mod list_op;
mod spline;
mod time_samples;

use std::collections::BTreeMap;
use std::sync::Arc;

use half::f16;
use sinew_lerp::{Lerp, Slerp};
use smol_str::SmolStr;

pub use array::Array;
pub use array_edit::{ArrayEdit, EditOp, EditSource};
pub use list_op::{ListOp, reorder};
pub use spline::{
    Extrapolation, Interpolation, Knot, LoopParams, Spline, SplineType, SplineValueType, Tangent,
    TangentAlgorithm,
};
pub use time_samples::TimeSamples;

use crate::error::Result;
use crate::path::Path;
use crate::usdc::{Placed, Stored};

/// A dictionary; its keys are in order.
pub type Dictionary = BTreeMap<SmolStr, Value>;

/// The path of an asset as a layer has it: not resolved, without its `@`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AssetPath(pub SmolStr);

/// The text of a path expression, such as `/World//Chars*`, not parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PathExpression(pub SmolStr);

/// A time that follows the offsets of layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct TimeCode(pub f64);

impl Lerp for TimeCode {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        Self(self.0.lerp(&to.0, alpha))
    }
}

/// A length of time. Layer offsets scale it and do not move it.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Duration(pub f64);

impl Lerp for Duration {
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        Self(self.0.lerp(&to.0, alpha))
    }
}

/// A rotation as (x, y, z, w): the real part is last, as in USD's memory; its text has it first.
pub type Quatf = Quat<f32>;

/// A rotation, its real part last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(transparent)]
pub struct Quat<T>(pub [T; 4]);

/// The interpolation of a rotation is spherical.
impl<T> Lerp for Quat<T>
where
    [T; 4]: Slerp,
{
    fn lerp(&self, to: &Self, alpha: f64) -> Self {
        Self(self.0.slerp(&to.0, alpha))
    }
}

// SAFETY: an array of plain data without padding, in a transparent struct.
unsafe impl<T: bytemuck::Zeroable> bytemuck::Zeroable for Quat<T> {}
// SAFETY: as above.
unsafe impl<T: bytemuck::Pod> bytemuck::Pod for Quat<T> {}

/// A time in a layer becomes `offset + scale * time` in the layer above it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerOffset {
    pub offset: f64,
    pub scale: f64,
}

impl LayerOffset {
    /// No change.
    pub const IDENTITY: Self = Self {
        offset: 0.0,
        scale: 1.0,
    };

    #[must_use]
    pub fn is_identity(&self) -> bool {
        *self == Self::IDENTITY
    }

    /// Applies the offset to a time.
    #[must_use]
    pub fn apply(&self, time: f64) -> f64 {
        time * self.scale + self.offset
    }

    /// First `inner`, then this one.
    #[must_use]
    pub fn after(&self, inner: &Self) -> Self {
        Self {
            offset: self.scale * inner.offset + self.offset,
            scale: self.scale * inner.scale,
        }
    }

    /// The way back. A scale of 0 has none: the result is not finite.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let scale = 1.0 / self.scale;
        Self {
            offset: -self.offset * scale,
            scale,
        }
    }
}

impl Default for LayerOffset {
    fn default() -> Self {
        Self::IDENTITY
    }
}

/// A reference to a prim of another layer, or with an empty asset of the same layer stack.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reference {
    pub asset: SmolStr,
    /// The prim; empty for the layer's default prim.
    pub prim: Path,
    pub offset: LayerOffset,
    pub custom_data: Dictionary,
}

/// A payload: a reference that may be left unloaded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Payload {
    pub asset: SmolStr,
    pub prim: Path,
    pub offset: LayerOffset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Specifier {
    Def,
    Over,
    Class,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variability {
    Varying,
    Uniform,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permission {
    Public,
    Private,
}

/// Calls a macro with all types that are there as a scalar and as an array: variant, variant of the array,
/// Rust type of an element, the type's number in crate files, the name in usda text.
macro_rules! for_each_element {
    ($macro:ident) => {
        $macro! {
            (Bool, BoolArray, bool, 1, "bool"),
            (UChar, UCharArray, u8, 2, "uchar"),
            (Int, IntArray, i32, 3, "int"),
            (UInt, UIntArray, u32, 4, "uint"),
            (Int64, Int64Array, i64, 5, "int64"),
            (UInt64, UInt64Array, u64, 6, "uint64"),
            (Half, HalfArray, f16, 7, "half"),
            (Float, FloatArray, f32, 8, "float"),
            (Double, DoubleArray, f64, 9, "double"),
            (String, StringArray, SmolStr, 10, "string"),
            (Token, TokenArray, SmolStr, 11, "token"),
            (AssetPath, AssetPathArray, AssetPath, 12, "asset"),
            (Matrix2d, Matrix2dArray, [f64; 4], 13, "matrix2d"),
            (Matrix3d, Matrix3dArray, [f64; 9], 14, "matrix3d"),
            (Matrix4d, Matrix4dArray, [f64; 16], 15, "matrix4d"),
            (Quatd, QuatdArray, Quat<f64>, 16, "quatd"),
            (Quatf, QuatfArray, Quat<f32>, 17, "quatf"),
            (Quath, QuathArray, Quat<f16>, 18, "quath"),
            (Vec2d, Vec2dArray, [f64; 2], 19, "double2"),
            (Vec2f, Vec2fArray, [f32; 2], 20, "float2"),
            (Vec2h, Vec2hArray, [f16; 2], 21, "half2"),
            (Vec2i, Vec2iArray, [i32; 2], 22, "int2"),
            (Vec3d, Vec3dArray, [f64; 3], 23, "double3"),
            (Vec3f, Vec3fArray, [f32; 3], 24, "float3"),
            (Vec3h, Vec3hArray, [f16; 3], 25, "half3"),
            (Vec3i, Vec3iArray, [i32; 3], 26, "int3"),
            (Vec4d, Vec4dArray, [f64; 4], 27, "double4"),
            (Vec4f, Vec4fArray, [f32; 4], 28, "float4"),
            (Vec4h, Vec4hArray, [f16; 4], 29, "half4"),
            (Vec4i, Vec4iArray, [i32; 4], 30, "int4"),
            (TimeCode, TimeCodeArray, TimeCode, 56, "timecode"),
            (PathExpression, PathExpressionArray, PathExpression, 57, "pathExpression"),
            (Duration, DurationArray, Duration, 61, "duration"),
        }
    };
}
pub(crate) use for_each_element;

/// Everything that a field can hold. Clones share arrays, lists and dictionaries.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    Bool(bool),
    UChar(u8),
    Int(i32),
    UInt(u32),
    Int64(i64),
    UInt64(u64),
    Half(f16),
    Float(f32),
    Double(f64),
    String(SmolStr),
    Token(SmolStr),
    AssetPath(AssetPath),
    PathExpression(PathExpression),
    TimeCode(TimeCode),
    Duration(Duration),
    Matrix2d(Box<[f64; 4]>),
    Matrix3d(Box<[f64; 9]>),
    Matrix4d(Box<[f64; 16]>),
    Quatd(Box<Quat<f64>>),
    Quatf(Quat<f32>),
    Quath(Quat<f16>),
    Vec2d([f64; 2]),
    Vec2f([f32; 2]),
    Vec2h([f16; 2]),
    Vec2i([i32; 2]),
    Vec3d([f64; 3]),
    Vec3f([f32; 3]),
    Vec3h([f16; 3]),
    Vec3i([i32; 3]),
    Vec4d(Box<[f64; 4]>),
    Vec4f([f32; 4]),
    Vec4h([f16; 4]),
    Vec4i([i32; 4]),

    BoolArray(Array<bool>),
    UCharArray(Array<u8>),
    IntArray(Array<i32>),
    UIntArray(Array<u32>),
    Int64Array(Array<i64>),
    UInt64Array(Array<u64>),
    HalfArray(Array<f16>),
    FloatArray(Array<f32>),
    DoubleArray(Array<f64>),
    StringArray(Array<SmolStr>),
    TokenArray(Array<SmolStr>),
    AssetPathArray(Array<AssetPath>),
    PathExpressionArray(Array<PathExpression>),
    TimeCodeArray(Array<TimeCode>),
    DurationArray(Array<Duration>),
    Matrix2dArray(Array<[f64; 4]>),
    Matrix3dArray(Array<[f64; 9]>),
    Matrix4dArray(Array<[f64; 16]>),
    QuatdArray(Array<Quat<f64>>),
    QuatfArray(Array<Quat<f32>>),
    QuathArray(Array<Quat<f16>>),
    Vec2dArray(Array<[f64; 2]>),
    Vec2fArray(Array<[f32; 2]>),
    Vec2hArray(Array<[f16; 2]>),
    Vec2iArray(Array<[i32; 2]>),
    Vec3dArray(Array<[f64; 3]>),
    Vec3fArray(Array<[f32; 3]>),
    Vec3hArray(Array<[f16; 3]>),
    Vec3iArray(Array<[i32; 3]>),
    Vec4dArray(Array<[f64; 4]>),
    Vec4fArray(Array<[f32; 4]>),
    Vec4hArray(Array<[f16; 4]>),
    Vec4iArray(Array<[i32; 4]>),

    /// `None` in usda text: no value, and none of a weaker layer's.
    Block,
    /// No animation, and none of a weaker layer's; a default of a weaker layer counts.
    AnimationBlock,
    TimeSamples(TimeSamples),
    Spline(Arc<Spline>),
    /// Edits of a weaker layer's array.
    ArrayEdit(Arc<ArrayEdit>),

    Dictionary(Arc<Dictionary>),
    TokenListOp(Arc<ListOp<SmolStr>>),
    StringListOp(Arc<ListOp<SmolStr>>),
    PathListOp(Arc<ListOp<Path>>),
    ReferenceListOp(Arc<ListOp<Reference>>),
    PayloadListOp(Arc<ListOp<Payload>>),
    IntListOp(Arc<ListOp<i32>>),
    UIntListOp(Arc<ListOp<u32>>),
    Int64ListOp(Arc<ListOp<i64>>),
    UInt64ListOp(Arc<ListOp<u64>>),
    UnregisteredListOp(Arc<ListOp<Value>>),

    /// A single payload, as files before crate 0.8 have it.
    Payload(Arc<Payload>),
    Specifier(Specifier),
    Variability(Variability),
    Permission(Permission),
    /// The variant of each set.
    VariantSelections(Arc<BTreeMap<SmolStr, SmolStr>>),
    /// Each path and where it is moved to.
    Relocates(Arc<Vec<(Path, Path)>>),
    /// Lists of metadata; attributes have arrays instead.
    PathVector(Arc<Vec<Path>>),
    TokenVector(Arc<Vec<SmolStr>>),
    StringVector(Arc<Vec<SmolStr>>),
    DoubleVector(Arc<Vec<f64>>),
    LayerOffsetVector(Arc<Vec<LayerOffset>>),
    /// A field that no schema knows: a string (text that was not understood), a dictionary or a list edit.
    Unregistered(Arc<Value>),
    /// A value of a crate file that is not decoded yet ([`Value::load`]).
    Stored(Stored),
    /// A value that a crate writer has put into its file already, and which only that writer takes.
    Placed(Placed),
}

impl Value {
    /// A token.
    #[must_use]
    pub fn token(text: impl Into<SmolStr>) -> Self {
        Self::Token(text.into())
    }

    /// A string.
    #[must_use]
    pub fn string(text: impl Into<SmolStr>) -> Self {
        Self::String(text.into())
    }

    /// This value, decoded if it still lies in a file.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`] if the file's bytes are no such value.
    pub fn load(&self) -> Result<Self> {
        match self {
            Self::Stored(stored) => stored.load(),
            value => Ok(value.clone()),
        }
    }

    /// The name of the value's type in usda text, without its role, such as `float3[]`. None for values that no attribute
    /// has as its default: lists, dictionaries, samples, blocks.
    #[must_use]
    pub fn type_name(&self) -> Option<&'static str> {
        macro_rules! names {
            ($(($scalar:ident, $array:ident, $type:ty, $kind:literal, $name:literal),)*) => {
                match self {
                    $(Self::$scalar(_) => Some($name), Self::$array(_) => Some(concat!($name, "[]")),)*
                    _ => None,
                }
            };
        }
        for_each_element!(names)
    }
}
