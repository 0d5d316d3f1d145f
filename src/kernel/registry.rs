//! Every kernel, every override and every constant that Rust and WGSL share: each is written here
//! and nowhere else.
//!
//! - A constant is a Rust `const`, and a line of WGSL in front of every kernel's text (`wgsl!` puts
//!   it there).
//! - A kernel declares its overrides in its shader, where they are read. `tests/engine/shaders.rs` holds
//!   names, types and order of the declarations against the lists below, whose order gives the bits
//!   of a variant.

use super::{BOUNDS, BOXES, Kernel, MULTI_POSE_LBS, POSE_RIG, SKIN, SMOOTH_NORMALS, WEIGHTS};

/// Every kernel.
pub const KERNELS: [&Kernel; 7] = [
    &POSE_RIG,
    &WEIGHTS,
    &SKIN,
    &MULTI_POSE_LBS,
    &SMOOTH_NORMALS,
    &BOUNDS,
    &BOXES,
];

/// A value of one of the [`CONSTANTS`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    /// A WGSL `i32`.
    I32(i32),
    /// A WGSL `u32`.
    U32(u32),
    /// A WGSL `f32`.
    F32(f32),
}

macro_rules! constant {
    (i32, $value:expr) => {
        Constant::I32($value)
    };
    (u32, $value:expr) => {
        Constant::U32($value)
    };
    (f32, $value:expr) => {
        Constant::F32($value)
    };
}

/// Defines constants for Rust, and the macro `constants_wgsl!` that gives their declarations in
/// WGSL.
macro_rules! shared_constants {
    ($($(#[doc = $doc:literal])+ $name:ident: $ty:ident = $value:expr;)*) => {
        $($(#[doc = $doc])+ pub const $name: $ty = $value;)*

        /// Name and value of every shared constant.
        pub const CONSTANTS: &[(&str, Constant)] =
            &[$((stringify!($name), constant!($ty, $value)),)*];

        /// The shared constants as WGSL.
        macro_rules! constants_wgsl {
            () => {
                concat!($(
                    $("//", $doc, "\n",)+
                    "const ", stringify!($name), ": ", stringify!($ty), " = ", stringify!($value), ";\n",
                )*)
            };
        }
        pub(crate) use constants_wgsl;
    };
}

shared_constants! {
    /// An offset of something that is not there.
    NONE: u32 = 0xffffffff;
    /// Invocations per workgroup of every kernel.
    WORKGROUP_SIZE: u32 = 64;

    /// Flag of an item or a pose: no frame before this one wrote positions, so previous positions
    /// are the new ones.
    FRESH: u32 = 1;
    /// Flag of an item: geomBindTransform and the way out of skeleton space mirror its points, so
    /// smooth normals are negated.
    MIRRORED: u32 = 2;
    /// Flag of an item: palette indices have 8 bits, four to a word of an influence record;
    /// otherwise they have 16.
    NARROW_JOINTS: u32 = 4;
    /// Flag of an item or a pose: normals are written as octahedral directions, a word each.
    OCTAHEDRAL: u32 = 8;

    /// Most instances that one item of multi_pose_lbs skins.
    POSES_PER_ITEM: u32 = 4;
    /// Largest component of an octahedral direction of 16 bits.
    FINE_NORMAL: i32 = 32767;
    /// What the weight 1 is as a fraction of 16 bits.
    FINE_ONE: u32 = 65535;
    /// A step of such a fraction.
    FINE_STEP: f32 = 1.0 / 65535.0;
    /// Largest component of an octahedral direction of 11 bits.
    COMPACT_NORMAL: i32 = 1023;
    /// What the weights of a compact record add up to.
    COMPACT_ONE: u32 = 1023;
    /// A step of such a weight.
    COMPACT_STEP: f32 = 1.0 / 1023.0;

    /// Weights of sub-shapes nearer to zero than this count as zero.
    WEIGHT_EPSILON: f32 = 1e-6;
    /// Vectors and dual quaternions shorter than this are not normalized.
    SHORTEST: f32 = 1e-10;
    /// A sum of quaternions shorter than this share of its weights' sum is what rounding left of
    /// weights that cancel.
    CANCELLED: f32 = 1e-6;

    /// Marks the number of a cached matrix in a table of parents; otherwise the entry is a joint.
    /// NONE, for a root, has the bit too.
    CACHED: u32 = 0x80000000;
    /// Matrices that carry normals are scaled down so that no element is larger.
    LARGEST_NORMAL_ELEMENT: f32 = 1e15;
    /// Matrices whose largest element is 1 are singular if their determinant is nearer to zero.
    SMALLEST_DETERMINANT: f32 = 1e-37;

    /// A sum of cross products smaller than this has no direction: products left f32.
    SMALLEST_AREA: f32 = 1e-30;
    /// A sum of cross products larger than this has no direction either.
    LARGEST_AREA: f32 = 1e38;

    /// Positions that one invocation of bounds reads.
    POSITIONS_PER_INVOCATION: u32 = 16;
    /// Words of the keys of a box: three maxima, three negated minima, two unused.
    WORDS_PER_BOX: u32 = 8;
}

const _: () = assert!(WEIGHT_EPSILON == crate::skel::WEIGHT_EPSILON as f32);

/// Most results of an item that shares a workgroup with other items. In a workgroup of its own,
/// half of the invocations or more would be idle.
pub const MAX_SHARED_RESULTS: u32 = WORKGROUP_SIZE / 2;

/// Defines a module with the bits of a kernel's boolean overrides, in the order of the list.
macro_rules! override_bits {
    ($(#[doc = $of:literal])+ $module:ident: $($(#[doc = $doc:literal])+ $name:ident,)*) => {
        $(#[doc = $of])+
        pub mod $module {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            enum Position {
                $($name,)*
            }
            $($(#[doc = $doc])+ pub const $name: usize = 1 << Position::$name as usize;)*

            /// Their names, from bit 0 on.
            pub const NAMES: &[&str] = &[$(stringify!($name),)*];
        }
    };
}

override_bits! {
    /// Bits of a variant of [`SKIN`].
    skin_bits:
    /// Results have normals.
    WITH_NORMALS,
    /// Blend shapes move the results.
    WITH_BLEND,
    /// Some items are skinned by dual quaternions.
    WITH_DUAL_QUATERNIONS,
    /// Results look up their points: render vertices and faceVarying normals.
    WITH_SOURCES,
    /// Results have tangents.
    WITH_TANGENTS,
    /// Positions of the frame before are kept.
    WITH_PREVIOUS,
    /// Several items share a workgroup.
    SHARED_WORKGROUPS,
}

override_bits! {
    /// Bits of a variant of [`MULTI_POSE_LBS`].
    multi_pose_bits:
    /// Results have normals.
    WITH_NORMALS,
    /// Positions of the frame before are kept.
    WITH_PREVIOUS,
    /// Palette indices have 8 bits.
    NARROW,
    /// Values are packed as [`Packing::Fine`](super::super::Packing::Fine).
    FINE,
    /// Values are packed as [`Packing::Compact`](super::super::Packing::Compact).
    COMPACT,
}
