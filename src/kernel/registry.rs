//! Every kernel, every override and every constant that Rust and WGSL share. Each is written here
//! and nowhere else.
//!
//! - A constant is a Rust `const`. `wgsl!` also puts it as a line of WGSL in front of every
//!   kernel's text.
//! - A kernel declares its overrides in its shader. `tests/engine/shaders.rs` checks their names,
//!   types and order against the lists below. The order gives the bits of a variant.

use super::{BOUNDS, BOXES, Kernel, PLAY, POSE_RIG, SCHEDULE, SKIN, SMOOTH_NORMALS, WEIGHTS};

/// Every kernel.
pub const KERNELS: [&Kernel; 8] = [
    &SCHEDULE,
    &PLAY,
    &POSE_RIG,
    &WEIGHTS,
    &SKIN,
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

    /// Flag of an item: it has no previous frame, so previous positions equal the new
    /// ones.
    FRESH: u32 = 1;
    /// Flag of an item: geomBindTransform and `out_from_skel` together mirror its points, so smooth
    /// normals are negated.
    MIRRORED: u32 = 2;
    /// Flag of an item: palette indices have 8 bits, four to a word of an influence record;
    /// otherwise they have 16.
    NARROW_JOINTS: u32 = 4;
    /// Flag of an item: normals are written as octahedral directions, one word each.
    OCTAHEDRAL: u32 = 8;
    /// Flag of an item: its palette is for dual quaternions, and the GPU computes it, so nothing
    /// says in advance whether joints scale.
    RESIDUALS_UNKNOWN: u32 = 16;
    /// Bit of an instance's state: it keeps its results, and its previous positions become equal to its
    /// positions.
    UPDATES_PREVIOUS: u32 = 32;
    /// Bit of an instance's state: the frame computes it.
    COMPUTED: u32 = 64;
    /// Bit of an instance's state: it was visible in this frame.
    VISIBLE: u32 = 128;
    /// Bit of an instance's state: its previous positions equal its positions.
    PREVIOUS_IS_CURRENT: u32 = 256;

    /// The step of a weight of a player as a fraction of 16 bits.
    FRACTION_STEP: f32 = 1.0 / 65535.0;

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
    /// Residuals in f32 closer to each other than this have no scale.
    SMALLEST_SCALE: f32 = 1e-5;
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

    /// Word of a packed clip: number of joints.
    CLIP_JOINTS: u32 = 0;
    /// Word of a packed clip: number of blend shape channels.
    CLIP_CHANNELS: u32 = 1;
    /// Word of a packed clip: length in seconds, an f32.
    CLIP_DURATION: u32 = 2;
    /// Word of a packed clip: number of intervals between samples.
    CLIP_INTERVALS: u32 = 3;
    /// Word of a packed clip: intervals per second, an f32, if all are of one length.
    CLIP_RATE: u32 = 4;
    /// Word of a packed clip: place of the table of sample times, or NONE. Places count words from
    /// the beginning of the clip.
    CLIP_TIMES: u32 = 5;
    /// Word of a packed clip: place of the table of segments.
    CLIP_SEGMENTS: u32 = 6;
    /// Word of a packed clip: intervals of a segment, as a power of two.
    CLIP_SEGMENT_SHIFT: u32 = 7;
    /// Word of a packed clip: number of animated tracks, which is the number of headers of a
    /// segment.
    CLIP_TRACKS: u32 = 8;
    /// Word of a packed clip: bytes of the unit in which headers count, as a power of two.
    CLIP_UNIT: u32 = 9;
    /// Word of a packed clip: number of words of a joint in the table of joints, 1 or 2.
    CLIP_JOINT_WORDS: u32 = 10;
    /// Number of words in front of the table of joints. The table of channels follows that, and the
    /// constants follow both.
    CLIP_HEADER: u32 = 11;

    /// Kind of a component: a constant. 0 is the default: no translation, no rotation, scale 1,
    /// weight 0.
    CLIP_CONSTANT: u32 = 1;
    /// Kind of a component: a track.
    CLIP_ANIMATED: u32 = 2;

    /// Mode of a track of rotations: each key says which component it lacks. Smaller modes are the
    /// component that all keys lack.
    CLIP_SMALLEST_THREE: u32 = 4;
    /// Mode of a track: keys are f32.
    CLIP_RAW: u32 = 5;
    /// Bit of a header: a key holds until the next one.
    CLIP_STEP_KEYS: u32 = 0x1000;
    /// The part of an interval after which a track of step keys takes the value of the next sample, since a
    /// time is rounded.
    CLIP_STEP_UNTIL: f32 = 1.0 - 1.0 / 512.0;
}

/// Whether each of these is one bit, and no two are the same bit.
const fn are_distinct_bits(flags: &[u32]) -> bool {
    let (mut all, mut i) = (0, 0);
    while i < flags.len() {
        if flags[i].count_ones() != 1 || flags[i] & all != 0 {
            return false;
        }
        all |= flags[i];
        i += 1;
    }
    true
}

/// Flags of items. An instance's state has FRESH, too, and the last four.
const ITEM_FLAGS: [u32; 9] = [
    FRESH,
    MIRRORED,
    NARROW_JOINTS,
    OCTAHEDRAL,
    RESIDUALS_UNKNOWN,
    UPDATES_PREVIOUS,
    COMPUTED,
    VISIBLE,
    PREVIOUS_IS_CURRENT,
];
const _: () = assert!(are_distinct_bits(&ITEM_FLAGS));

/// Flags of a player. The bits from 8 on are its update rate and its turn.
const PLAYER_FLAGS: [u32; 8] = [
    PLAYER_PLAYS,
    PLAYER_LOOPS,
    PLAYER_SECOND_LOOPS,
    PLAYER_ADDITIVE_LOOPS,
    PLAYER_ROOT_X,
    PLAYER_ROOT_Y,
    PLAYER_ROOT_Z,
    1 << 8,
];
const _: () = assert!(are_distinct_bits(&PLAYER_FLAGS));
const _: () = assert!(PLAYER_ALL_AXES == PLAYER_ROOT_X | PLAYER_ROOT_Y | PLAYER_ROOT_Z);

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
    /// Bits of a variant of `SKIN`.
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
    /// Bits of a variant of `SCHEDULE`.
    schedule_bits:
    /// Counts the frame, after its decisions; otherwise decides.
    TICKS,
    /// There is a mask.
    WITH_MASK,
    /// The mask has one bit per instance, not one word.
    MASK_OF_BITS,
    /// Boxes are computed.
    WITH_BOUNDS,
}
