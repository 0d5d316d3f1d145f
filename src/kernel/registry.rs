//! Every kernel, every override and every constant that Rust and WGSL share. Each is written here
//! and nowhere else.
//!
//! - A constant is a Rust `const`. `wgsl!` also puts it as a line of WGSL in front of every
//!   kernel's text.
//! - A kernel declares its overrides in its shader. `tests/engine/shaders.rs` checks their names,
//!   types and order against the lists below. The order gives the bits of a variant.

use super::{BOUNDS, BOXES, Kernel, MULTI_POSE_LBS, PLAY, POSE_RIG, SKIN, SMOOTH_NORMALS, WEIGHTS};

/// Every kernel.
pub const KERNELS: [&Kernel; 8] = [
    &PLAY,
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

/// Defines constants for Rust, and the macro `constants_wgsl!` that expands to their WGSL
/// declarations.
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
    /// The offset of an array that does not exist.
    NONE: u32 = 0xffffffff;
    /// Invocations per workgroup of every kernel.
    WORKGROUP_SIZE: u32 = 64;

    /// Flag of an item or a pose: it has no previous frame, so previous positions equal the new
    /// ones.
    FRESH: u32 = 1;
    /// Flag of an item: geomBindTransform and `out_from_skel` together mirror its points, so smooth
    /// normals are negated.
    MIRRORED: u32 = 2;
    /// Flag of an item: palette indices have 8 bits, four to a word of an influence record;
    /// otherwise they have 16.
    NARROW_JOINTS: u32 = 4;
    /// Flag of an item or a pose: normals are written as octahedral directions, one word each.
    OCTAHEDRAL: u32 = 8;

    /// Largest number of instances that one item of multi_pose_lbs skins.
    POSES_PER_ITEM: u32 = 4;
    /// Largest component of an octahedral direction of 16 bits.
    FINE_NORMAL: i32 = 32767;
    /// The weight 1 as a fraction of 16 bits.
    FINE_ONE: u32 = 65535;
    /// The step of such a fraction.
    FINE_STEP: f32 = 1.0 / 65535.0;
    /// Largest component of an octahedral direction of 11 bits.
    COMPACT_NORMAL: i32 = 1023;
    /// The sum of the weights of a compact record.
    COMPACT_ONE: u32 = 1023;
    /// The step of such a weight.
    COMPACT_STEP: f32 = 1.0 / 1023.0;

    /// Weights of sub-shapes nearer to zero than this count as zero.
    WEIGHT_EPSILON: f32 = 1e-6;
    /// Vectors and dual quaternions shorter than this are not normalized.
    SHORTEST: f32 = 1e-10;
    /// If a sum of quaternions is shorter than this share of the sum of its weights, it is only
    /// rounding: the weights cancel.
    CANCELLED: f32 = 1e-6;

    /// In a table of parents, marks the index of a cached matrix; without it the entry is a joint.
    /// NONE, for a root, has this bit too.
    CACHED: u32 = 0x80000000;
    /// Matrices for normals are scaled down so that no element is larger than this.
    LARGEST_NORMAL_ELEMENT: f32 = 1e15;
    /// A matrix whose largest element is 1 is singular if its determinant is nearer to zero than
    /// this.
    SMALLEST_DETERMINANT: f32 = 1e-37;
    /// A joint whose matrix has a determinant nearer to zero than this has no rotation.
    SINGULAR_JOINT: f32 = 1e-10;
    /// Most steps of the iteration that finds the rotation of a joint.
    POLAR_STEPS: u32 = 24;
    /// Axes whose squared distance is at most this count as one axis.
    SMALLEST_TURN: f32 = 1e-12;

    /// A sum of cross products smaller than this has no direction: its products underflow f32.
    SMALLEST_AREA: f32 = 1e-30;
    /// A sum of cross products larger than this has no direction either.
    LARGEST_AREA: f32 = 1e38;

    /// Length of a tick of the clock of rigs that play clips, in seconds.
    SECONDS_PER_TICK: f32 = 1.0 / 65536.0;
    /// Flag of a player: it plays.
    PLAYER_PLAYS: u32 = 1;
    /// Flag of a player: its first clip loops; otherwise it holds its ends.
    PLAYER_LOOPS: u32 = 2;
    /// Flag of a player: its second clip loops.
    PLAYER_SECOND_LOOPS: u32 = 4;
    /// Flag of a player: its additive clip loops.
    PLAYER_ADDITIVE_LOOPS: u32 = 8;
    /// Flag of a player: its clips move roots along x.
    PLAYER_ROOT_X: u32 = 16;
    /// Flag of a player: its clips move roots along y.
    PLAYER_ROOT_Y: u32 = 32;
    /// Flag of a player: its clips move roots along z.
    PLAYER_ROOT_Z: u32 = 64;
    /// These three flags.
    PLAYER_ALL_AXES: u32 = 112;

    /// Number of positions that one invocation of the kernel `bounds` reads.
    POSITIONS_PER_INVOCATION: u32 = 16;
    /// Words of the keys of a box: three maxima, three negated minima, two unused.
    WORDS_PER_BOX: u32 = 8;

    /// Word of a packed clip with its number of joints.
    CLIP_JOINTS: u32 = 2;
    /// Word of a packed clip with its number of blend shape channels.
    CLIP_CHANNELS: u32 = 3;
    /// Word of a packed clip with its length in seconds.
    CLIP_DURATION: u32 = 4;
    /// Word of a packed clip with its number of intervals between samples.
    CLIP_INTERVALS: u32 = 5;
    /// Word of a packed clip with its number of intervals per second.
    CLIP_RATE: u32 = 6;
    /// Word of a packed clip with the place of its joints' tracks, in words from its beginning.
    CLIP_TRACKS: u32 = 7;
    /// Word of a packed clip with the place of its channels' tracks.
    CLIP_WEIGHTS: u32 = 8;
}

const _: () = assert!(WEIGHT_EPSILON == crate::skel::WEIGHT_EPSILON as f32);

/// Largest number of results of an item that shares a workgroup with other items. In a workgroup of
/// its own, at least half of the invocations would be idle.
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
    /// Previous positions are written.
    WITH_PREVIOUS,
    /// Several items share a workgroup.
    SHARED_WORKGROUPS,
}

override_bits! {
    /// Bits of a variant of [`POSE_RIG`].
    pose_bits:
    /// Palettes are for dual quaternion skinning.
    WITH_DUAL_QUATERNIONS,
}

override_bits! {
    /// Bits of a variant of [`MULTI_POSE_LBS`].
    multi_pose_bits:
    /// Results have normals.
    WITH_NORMALS,
    /// Previous positions are written.
    WITH_PREVIOUS,
    /// Palette indices have 8 bits.
    NARROW,
    /// Values are packed as [`Packing::Fine`](super::super::Packing::Fine).
    FINE,
    /// Values are packed as [`Packing::Compact`](super::super::Packing::Compact).
    COMPACT,
}
