//! The kernel that blends and skins, `shaders/skin.wgsl`: its item and its bindings.
//!
//! Its mirror is [`super::skin_on_cpu`], which calls the loops of `blend_shapes`, `linear_blend`
//! and `dual_quaternion`.

use super::encoded_skin::SliceOffsets;
use super::layout::{gpu_struct, wgsl};
use super::registry::skin_bits;
use super::{Access, Binding, Dispatch, Kernel, StructLayout};

gpu_struct! {
    /// Where the data of an instance's pose lies, in elements of the bound buffers.
    pub struct PoseOffsets {
        /// First row of its palette.
        palette: u32,
        /// First row of its normal palette; that of its palette if this turns normals too.
        normal_palette: u32,
        /// First of its rigid motions, three vec4s per palette index; [`super::NONE`] for linear
        /// blend skinning.
        motions: u32,
        /// First row of one matrix that all points use in place of a sum of the palette's matrices;
        /// [`super::NONE`] to compute the sum.
        bind: u32,
        /// The same for normals.
        normal_bind: u32,
        /// First row of `out_from_skel`: three rows for points, then three for normals.
        post: u32,
        /// First of the weights of its sub-shapes, in floats.
        sub_weights: u32,
    }
}

gpu_struct! {
    /// Where one kind of result goes, in words of its output binding.
    pub struct ResultPlace {
        /// The first result.
        first: u32,
        /// Words from one result to the next.
        stride: u32,
    }
}

gpu_struct! {
    /// Where the results of an item go. A place is used only if the item computes that kind of
    /// result.
    pub struct ResultPlaces {
        /// First position of the whole instance. Neighbours of smooth normals are counted from it.
        first_point: u32,
        /// Positions.
        points: ResultPlace,
        /// Normals.
        normals: ResultPlace,
        /// Tangents, four floats each.
        tangents: ResultPlace,
        /// Where positions are copied to before they are overwritten. Its `first` is
        /// [`super::NONE`] if previous positions are not wanted.
        previous: ResultPlace,
    }
}

gpu_struct! {
    /// A slice of one instance's results: points, render vertices, or faceVarying normals alone.
    pub struct SkinItem {
        /// Number of its first workgroup, or of its first invocation if items share workgroups.
        first_workgroup: u32,
        /// Flags of items of the registry: `FRESH`, `MIRRORED`, `NARROW_JOINTS`, `OCTAHEDRAL` and
        /// `RESIDUALS_UNKNOWN`.
        flags: u32,
        /// The instance index.
        instance: u32,
        /// The static data, which all instances share. If an item does not need the rest normals,
        /// tangents, influences or all blend entries of the slice, its offsets differ there.
        slice: SliceOffsets,
        /// The pose.
        pose: PoseOffsets,
        /// The results.
        out: ResultPlaces,
    }
}

/// The structs of kernels that read a [`SkinItem`].
pub(super) const ITEM_STRUCTS: &[StructLayout] = &[
    Dispatch::LAYOUT,
    SliceOffsets::LAYOUT,
    PoseOffsets::LAYOUT,
    ResultPlace::LAYOUT,
    ResultPlaces::LAYOUT,
    SkinItem::LAYOUT,
];

/// The kernel's WGSL and layout.
pub const SKIN: Kernel = Kernel {
    name: "skin",
    wgsl: wgsl![
        "common/dispatch",
        "common/items",
        "common/actions",
        "common/vectors",
        "common/octahedral",
        "common/results",
        "skin"
    ],
    bindings: &[
        Binding::new(0, "dispatch", Access::Uniform, size_of::<Dispatch>()),
        Binding::new(1, "items", Access::Read, size_of::<SkinItem>()),
        Binding::new(2, "skins", Access::Read, 4),
        Binding::new(3, "palettes", Access::Read, 16),
        Binding::new(4, "state", Access::Read, 4),
        Binding::new(5, "out_0", Access::ReadWrite, 4),
        Binding::new(6, "out_1", Access::ReadWrite, 4),
    ],
    structs: ITEM_STRUCTS,
    overrides: skin_bits::NAMES,
    numbers: &[
        "NORMALS_BINDING",
        "TANGENTS_BINDING",
        "PREVIOUS_BINDING",
        "INFLUENCES",
    ],
};
