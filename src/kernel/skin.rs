//! The kernel that blends and skins, `shaders/skin.wgsl`: its item and its bindings.
//!
//! Its mirror is [`super::skin_on_cpu`], which calls the loops of `blend_shapes`, `linear_blend` and `dual_quaternion`.

use super::layout::{gpu_struct, skin_wgsl};
use super::{Access, Binding, Dispatch, Kernel};

gpu_struct! {
    /// A range of results of one instance: points, render vertices, or faceVarying normals alone. All offsets
    /// and strides count elements of the bound buffer: words, floats, or vec4s for palettes;
    /// [`super::NONE`] where there is nothing.
    pub struct SkinItem {
        /// Number of its first workgroup.
        first_workgroup: u32,
        /// Results of this range.
        count: u32,
        /// First word of the numbers of each result's point among those of the range, or NONE where they
        /// are in order.
        sources: u32,
        /// First word of its rest points, or NONE for faceVarying normals.
        rest_points: u32,
        /// First word of its rest normals, one per result, or NONE.
        rest_normals: u32,
        /// First word of its rest tangents, one per result, or NONE.
        rest_tangents: u32,
        /// First word of its influence records, one per point.
        influences: u32,
        /// Words from one point's record to the next, 0 where constant.
        influence_stride: u32,
        /// Influences per point, 0 for a prim that only blends.
        influence_count: u32,
        /// First row of its palette.
        palette: u32,
        /// First row of its normal palette.
        normal_palette: u32,
        /// First of its rigid motions, three vec4s per slot, or NONE by linear blend skinning.
        motions: u32,
        /// Rows of the matrix of all points where the palette's are not summed up, or NONE.
        bind: u32,
        /// The same for normals.
        normal_bind: u32,
        /// Three rows out of skeleton space for points, then three for normals.
        post: u32,
        /// First word of the list of its blend entries, or NONE without shapes: a row per point and one more, counted from
        /// that word, then the entries.
        blend_list: u32,
        /// How an entry is read: bits of its number within its block, and from bit 8 on those of a block's points; what is
        /// above the number is its sub-shape.
        blend_bits: u32,
        /// First word of the table that says per block where its first entry's offset is, counted from that word.
        blend_offsets: u32,
        /// The word that normal offsets are counted from in the same way, or NONE.
        blend_normal_offsets: u32,
        /// First of its instance's sub-shape weights.
        sub_weights: u32,
        /// First word of its neighbour rows (one per point and one more), or NONE where no normals are made.
        neighbor_rows: u32,
        /// First word of its neighbours, which are numbered through all results of the instance.
        neighbors: u32,
        /// Float of the instance's first position.
        first_point: u32,
        /// Float of its own first position.
        out_points: u32,
        /// Floats from one position to the next.
        points_stride: u32,
        /// The same for its normals.
        out_normals: u32,
        normals_stride: u32,
        /// The same for its tangents, four floats each.
        out_tangents: u32,
        tangents_stride: u32,
        /// The same for where positions go before they are overwritten, or NONE.
        out_previous: u32,
        previous_stride: u32,
        /// [`SkinItem::FRESH`], [`SkinItem::MIRRORED`], [`SkinItem::NARROW_JOINTS`] and [`SkinItem::OCTAHEDRAL`].
        flags: u32,
    }
}

impl SkinItem {
    /// Nothing of a frame before is there: the previous positions are the new ones.
    pub const FRESH: u32 = 1;
    /// The way of its points mirrors: smooth normals are turned round.
    pub const MIRRORED: u32 = 2;
    /// Slots of 8 bits, four to a word of an influence record; else of 16.
    pub const NARROW_JOINTS: u32 = 4;
    /// Normals are written as octahedral directions, a word each.
    pub const OCTAHEDRAL: u32 = 8;
}

/// The kernel's WGSL and layout.
pub const SKIN: Kernel = Kernel {
    name: "skin",
    wgsl: skin_wgsl!("common/skin_item", "skin"),
    entry: "main",
    bindings: &[
        Binding::new(0, "dispatch", Access::Uniform, size_of::<Dispatch>() as u64),
        Binding::new(1, "items", Access::Read, size_of::<SkinItem>() as u64),
        Binding::new(2, "skins", Access::Read, 4),
        Binding::new(3, "palettes", Access::Read, 16),
        Binding::new(4, "sub_weights", Access::Read, 4),
        Binding::new(5, "out_0", Access::ReadWrite, 4),
        Binding::new(6, "out_1", Access::ReadWrite, 4),
        Binding::new(7, "out_2", Access::ReadWrite, 4),
        Binding::new(8, "out_3", Access::ReadWrite, 4),
    ],
    structs: &[Dispatch::LAYOUT, SkinItem::LAYOUT],
    overrides: &[
        "WITH_NORMALS",
        "WITH_BLEND",
        "WITH_DUAL_QUATERNIONS",
        "WITH_SOURCES",
        "WITH_TANGENTS",
        "WITH_PREVIOUS",
        "SHARED_WORKGROUPS",
    ],
    slots: &["NORMALS_SLOT", "TANGENTS_SLOT", "PREVIOUS_SLOT"],
};
