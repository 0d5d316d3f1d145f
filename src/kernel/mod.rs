//! Flat buffers for skinning, and every kernel's two halves side by side: its WGSL with its layout,
//! and its CPU mirror in f32 over the same buffers. The mirror is the CPU backend too.
//!
//! ```text
//! skel::Skin -> PackedSkin   rest data, influences, blend entries; packed once
//! skel::Pose -> PackedPose   palette, post matrix, channel weights; packed per time
//!               pose_rig        local transforms of joints -> palette, where a host poses on the GPU
//!               weights         channel weights -> sub-shape weights
//!               skin            blend, linear or dual quaternion skinning, post matrix: points, normals, tangents
//!               multi_pose_lbs  linear skinning of one mesh in several poses: points, normals
//!               smooth_normals  smooth normals from skinned points, for skins without rest normals
//!               bounds          boxes around the points
//! ```
//!
//! No GPU here: the module `gpu` uploads these buffers and runs the WGSL, [`skin_on_cpu`] walks them.
//! Indices are integers, never floats; sums run in a fixed order and without atomics (maxima have
//! none), so that a run repeats bit for bit.

mod blend_shapes;
mod bounds;
mod cpu;
mod dual_quaternion;
pub mod encoded_skin;
mod influences;
mod layout;
mod linear_blend;
mod packed_pose;
mod packed_skin;
mod palette;
mod pose_rig;
pub mod registry;
mod skin;
mod skin_on_cpu;
mod smooth_normals;
#[cfg(test)]
mod testing;

pub use blend_shapes::{BlendIndex, PackedBlend, WEIGHTS, WeightsItem, sub_shape_weights};
pub use bounds::{BOUNDS, BOXES, BoundsItem, POSITIONS_PER_WORKGROUP, bounds_on_cpu};
pub use cpu::cpu_instructions;
pub use encoded_skin::{Packing, PointBytes, unpack_normal};
pub use influences::{LargestInfluences, PackedInfluences};
pub use layout::{Access, Binding, Dispatch, Kernel, StructLayout};
pub use linear_blend::multi_pose_lbs::{ItemPose, MULTI_POSE_LBS, MultiPoseItem};
pub use packed_pose::PackedPose;
pub use packed_skin::PackedSkin;
pub use palette::{Palette, RigidMotions};
pub use pose_rig::{JointTransform, POSE_RIG, PackedRig, PoseRigItem, palette_on_cpu};
pub use registry::{KERNELS, MAX_SHARED_RESULTS, NONE, POSES_PER_ITEM, WORKGROUP_SIZE};
pub use skin::{PoseOffsets, ResultPlace, ResultPlaces, SKIN, SkinItem};
pub use skin_on_cpu::{CpuJob, points_on_cpu, skin_batch_on_cpu, skin_on_cpu};
pub use smooth_normals::{SMOOTH_NORMALS, SmoothNormals};
