//! Flat buffers for skinning, and the kernels that work on them. Each kernel stands beside its CPU
//! mirror: the same steps in f32, over the same values. The mirrors are also the CPU backend.
//!
//! ```text
//! skel::Skin -> PackedSkin   rest data, influences, blend entries; packed once
//! skel::Pose -> PackedPose   palette, post matrix, channel weights; packed per time
//!               schedule        masks and update rates -> the instances that a frame computes
//! PackedClip -> play            clips at a time -> local transforms of joints, channel weights
//!               pose_rig        local transforms of joints -> palette, if a rig is posed on the GPU
//!               weights         channel weights -> sub-shape weights
//!               skin            blend shapes, linear or dual quaternion skinning, post matrix:
//!                               points, normals, tangents
//!               smooth_normals  smooth normals from skinned points, for skins without rest normals
//!               bounds          boxes around the points
//! ```
//!
//! Nothing here needs a GPU: the module `gpu` uploads the buffers and runs the WGSL, and
//! [`skin_on_cpu`] runs the mirrors. Results repeat bit for bit, because sums have a fixed order
//! and use no atomics. Maxima use atomics, but their order does not matter.
//!
//! To add a kernel: its shader, a file here with its item, its bindings and its mirror, and a line
//! in [`registry`].

// Without the feature `gpu` nothing dispatches kernels.
#![cfg_attr(not(feature = "gpu"), allow(dead_code, unused_imports))]

mod blend_shapes;
mod bounds;
mod cpu;
mod dual_quaternion;
#[doc(hidden)]
pub mod encoded_skin;
mod influences;
mod lanes;
#[cfg(target_arch = "x86_64")]
mod lanes_avx2;
mod layout;
mod linear_blend;
pub mod packed_clip;
mod packed_pose;
mod packed_skin;
mod palette;
mod parallel;
mod play;
mod pose_rig;
// Public for the tests and benches of this repository, which compare it with the shaders.
#[doc(hidden)]
pub mod registry;
mod rigid_motion;
mod schedule;
mod skin;
mod skin_arrays;
mod skin_on_cpu;
mod smooth_normals;
#[cfg(test)]
mod testing;

// What a host uses.
pub use cpu::cpu_instructions;
pub use encoded_skin::unpack_normal;
pub use packed_clip::PackedClip;
pub use packed_pose::PackedPose;
pub use packed_skin::PackedSkin;
pub use palette::Palette;
pub use pose_rig::{JointTransform, POSE_RIG, PackedRig, attachments_on_cpu, palette_on_cpu};
pub use skin_arrays::{
    ArrayInfluences, add_blend_shape, skin_normals_of_arrays, skin_points_of_arrays,
};
pub use skin_on_cpu::{CpuJob, points_on_cpu, skin_batch_on_cpu, skin_on_cpu};

// Kernels, their layouts and their mirrors, for the module `gpu`.
pub(crate) use blend_shapes::{BlendIndex, PackedBlend, WEIGHTS, WeightsItem, sub_shape_weights};
pub(crate) use bounds::{BOUNDS, BOXES, BoundsItem, POSITIONS_PER_WORKGROUP};
pub(crate) use influences::PackedInfluences;
pub(crate) use layout::{Dispatch, StructLayout};
pub(crate) use play::{PLAY, PlayItem, added_joint, blended_joint, fractions, time_in};
pub(crate) use pose_rig::PoseRigItem;
pub(crate) use registry::{KERNELS, MAX_SHARED_RESULTS, NONE, WORKGROUP_SIZE};
pub(crate) use schedule::SCHEDULE;
pub(crate) use skin::{PoseOffsets, ResultPlace, ResultPlaces, SKIN, SkinItem};
pub(crate) use smooth_normals::{SMOOTH_NORMALS, SmoothNormals};

// The same, for the checks and benches of this repository, which compare kernels with mirrors.
#[doc(hidden)]
pub use bounds::bounds_on_cpu;
#[doc(hidden)]
pub use layout::{Access, Binding, Kernel};
#[doc(hidden)]
pub use play::{Clock, PlayedClips, Player, play_joints_on_cpu, play_weight_on_cpu};
#[doc(hidden)]
pub use schedule::{ScheduleItem, schedule_on_cpu};
