//! The types of attributes, metadata and dictionary entries by their names in the text.

use crate::value::for_each_element;

macro_rules! scalars {
    ($(($one:ident, $array:ident, $rust:ty, $number:literal, $name:literal),)*) => {
        /// A type of values, without roles: `point3f` is `Vec3f`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Scalar {
            $($one,)*
        }

        impl Scalar {
            /// The name that usd-core writes for values that have no declared type.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$one => $name,)*
                }
            }
        }
    };
}
for_each_element!(scalars);

/// What the name of a type says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeName {
    Scalar(Scalar),
    Array(Scalar),
    /// `opaque` and `group`: an attribute that never has a value.
    Opaque,
    /// A type of a schema that usd-core does not know: values are kept as text.
    Unknown,
}

impl TypeName {
    /// `name` is without brackets.
    pub fn new(name: &str, array: bool) -> Self {
        use Scalar as S;
        let scalar = match name {
            "bool" => S::Bool,
            "uchar" => S::UChar,
            "int" => S::Int,
            "uint" => S::UInt,
            "int64" => S::Int64,
            "uint64" => S::UInt64,
            "half" => S::Half,
            "float" => S::Float,
            "double" => S::Double,
            "timecode" => S::TimeCode,
            "duration" => S::Duration,
            "string" => S::String,
            "token" => S::Token,
            "asset" => S::AssetPath,
            "pathExpression" => S::PathExpression,
            "int2" => S::Vec2i,
            "int3" => S::Vec3i,
            "int4" => S::Vec4i,
            "half2" | "texCoord2h" => S::Vec2h,
            "half3" | "point3h" | "vector3h" | "normal3h" | "color3h" | "texCoord3h" => S::Vec3h,
            "half4" | "color4h" => S::Vec4h,
            "float2" | "texCoord2f" => S::Vec2f,
            "float3" | "point3f" | "vector3f" | "normal3f" | "color3f" | "texCoord3f" => S::Vec3f,
            "float4" | "color4f" => S::Vec4f,
            "double2" | "texCoord2d" => S::Vec2d,
            "double3" | "point3d" | "vector3d" | "normal3d" | "color3d" | "texCoord3d" => S::Vec3d,
            "double4" | "color4d" => S::Vec4d,
            "quath" => S::Quath,
            "quatf" => S::Quatf,
            "quatd" => S::Quatd,
            "matrix2d" => S::Matrix2d,
            "matrix3d" => S::Matrix3d,
            "matrix4d" | "frame4d" => S::Matrix4d,
            // Names from before 2016, which usd-core still reads.
            "Vec2i" => S::Vec2i,
            "Vec3i" => S::Vec3i,
            "Vec4i" => S::Vec4i,
            "Vec2h" => S::Vec2h,
            "Vec3h" => S::Vec3h,
            "Vec4h" => S::Vec4h,
            "Vec2f" => S::Vec2f,
            "Vec3f" | "PointFloat" | "NormalFloat" | "VectorFloat" | "ColorFloat" => S::Vec3f,
            "Vec4f" => S::Vec4f,
            "Vec2d" => S::Vec2d,
            "Vec3d" | "Point" | "Normal" | "Vector" | "Color" => S::Vec3d,
            "Vec4d" => S::Vec4d,
            "Quath" => S::Quath,
            "Quatf" => S::Quatf,
            "Quatd" => S::Quatd,
            "Matrix2d" => S::Matrix2d,
            "Matrix3d" => S::Matrix3d,
            "Matrix4d" | "Frame" | "Transform" => S::Matrix4d,
            "PointIndex" | "EdgeIndex" | "FaceIndex" => S::Int,
            "Schema" => S::Token,
            "opaque" | "group" => return Self::Opaque,
            _ => return Self::Unknown,
        };
        match array {
            true => Self::Array(scalar),
            false => Self::Scalar(scalar),
        }
    }

    /// The type of a name with or without brackets.
    pub fn parse(name: &str) -> Self {
        match name.strip_suffix("[]") {
            Some(name) => Self::new(name, true),
            None => Self::new(name, false),
        }
    }
}
