//! Linear blend skinning of one mesh in several poses at once, `shaders/multi_pose_lbs.wgsl`: data
//! that the poses share is read once. Its mirror is that of `skin`.

use crate::kernel::layout::{gpu_struct, skin_wgsl};
use crate::kernel::registry::{POSES_PER_ITEM, multi_pose_bits};
use crate::kernel::{Access, Binding, Dispatch, Kernel};

gpu_struct! {
    /// One instance: where its palette lies and where its results go, in elements of the bound
    /// buffers.
    pub struct ItemPose {
        /// First row of its palette.
        palette: u32,
        /// First row of its normal palette.
        normal_palette: u32,
        /// First row of `out_from_skel`: three rows for points, then three for normals.
        post: u32,
        /// First word of its positions.
        out_points: u32,
        /// First word of its normals.
        out_normals: u32,
        /// First word of its previous positions, or [`crate::kernel::NONE`].
        out_previous: u32,
        /// [`crate::kernel::SkinItem::FRESH`] and [`crate::kernel::SkinItem::OCTAHEDRAL`].
        flags: u32,
        /// The instance index.
        instance: u32,
    }
}

gpu_struct! {
    /// A slice of a skin, and the instances of it that a workgroup skins one after the other.
    pub struct MultiPoseItem {
        /// Number of its first workgroup.
        first_workgroup: u32,
        /// Number of points.
        count: u32,
        /// First word of its rest points.
        rest_points: u32,
        /// First word of its rest normals, or [`crate::kernel::NONE`].
        rest_normals: u32,
        /// First word of its influence records, one per point.
        influences: u32,
        /// Influences per point.
        influence_count: u32,
        /// Number of instances.
        pose_count: u32,
        /// Words from one position to the next, the same for all poses.
        points_stride: u32,
        /// Words from one normal to the next, the same for all poses.
        normals_stride: u32,
        /// Words from one previous position to the next.
        previous_stride: u32,
        unused_0: u32,
        unused_1: u32,
        /// The instances; those beyond `pose_count` are unused.
        poses: [ItemPose; 4],
    }
}

const _: () =
    assert!(size_of::<MultiPoseItem>() == 48 + POSES_PER_ITEM as usize * size_of::<ItemPose>());

/// The kernel's WGSL and layout.
pub const MULTI_POSE_LBS: Kernel = Kernel {
    name: "multi_pose_lbs",
    wgsl: skin_wgsl!("common/multi_pose_item", "multi_pose_lbs"),
    entry: "main",
    bindings: &[
        Binding::new(0, "dispatch", Access::Uniform, size_of::<Dispatch>() as u64),
        Binding::new(1, "items", Access::Read, size_of::<MultiPoseItem>() as u64),
        Binding::new(2, "skins", Access::Read, 4),
        Binding::new(3, "palettes", Access::Read, 16),
        Binding::new(4, "state", Access::Read, 4),
        Binding::new(5, "out_0", Access::ReadWrite, 4),
        Binding::new(6, "out_1", Access::ReadWrite, 4),
    ],
    structs: &[Dispatch::LAYOUT, ItemPose::LAYOUT, MultiPoseItem::LAYOUT],
    overrides: multi_pose_bits::NAMES,
    numbers: &["NORMALS_BINDING", "PREVIOUS_BINDING", "INFLUENCES"],
};
