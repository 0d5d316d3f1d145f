//! Flat buffers for skinning, and every kernel's two halves side by side: its WGSL with its layout,
//! and its CPU mirror in f32 over the same buffers. The mirror is the CPU backend too.
//!
//! ```text
//! skel::Skin -> PackedSkin   rest data, influences, blend entries; packed once
//! skel::Pose -> PackedPose   palette, post matrix, channel weights; packed per time
//!               pose         local transforms of joints -> palette, where a host poses on the GPU
//!               weights      channel weights -> sub-shape weights
//!               skin         blend, linear or dual quaternion skinning, post matrix: points, normals, tangents
//!               skin_poses   linear skinning of one mesh in several poses: points, normals
//!               made_normals smooth normals from skinned points, for skins without rest normals
//!               bounds       boxes around the points
//! ```
//!
//! No GPU here: the module `gpu` uploads these buffers and runs the WGSL, [`skin_on_cpu`] walks them.
//! Indices are integers, never floats; sums run in a fixed order and without atomics (maxima have
//! none), so that a run repeats bit for bit.

mod blend;
mod bounds;
mod codecs;
mod influences;
mod joint_parts;
mod lanes;
#[cfg(target_arch = "x86_64")]
mod lanes_avx2;
mod layout;
mod made_normals;
mod packed_skin;
mod packing;
mod palette;
mod pose;
mod pose_joints;
mod render_mesh;
mod render_vertices;
mod rig;
mod rigid;
mod skin;
#[cfg(target_arch = "x86_64")]
mod skin_avx2;
mod skin_on_cpu;
mod skin_poses;
mod stored;
mod triangulate;
mod weights;

#[cfg(feature = "gpu")]
pub(crate) use blend::BlendIndex;
pub use blend::PackedBlend;
#[cfg(feature = "gpu")]
pub(crate) use bounds::POSITIONS_PER_WORKGROUP;
pub use bounds::{BOUNDS, BOXES, BoundsItem, bounds_on_cpu};
pub use influences::{LargestInfluences, PackedInfluences};
pub use layout::{Access, Binding, Dispatch, Kernel, NONE, StructLayout, WORKGROUP_SIZE};
pub use made_normals::{MAKE_NORMALS, MadeNormals};
pub use packed_skin::PackedSkin;
pub use packing::{Packing, PointBytes};
pub use palette::{Palette, RigidMotions};
pub use pose::PackedPose;
pub use pose_joints::{JointTransform, POSE, PoseItem, palette_on_cpu};
pub use render_mesh::{RenderInputs, RenderMesh};
pub use render_vertices::RenderVertices;
pub use rig::PackedRig;
#[cfg(feature = "gpu")]
pub(crate) use skin::multiplied;
pub use skin::{SKIN, SkinItem};
pub use skin_on_cpu::{CpuJob, points_on_cpu, skin_batch_on_cpu, skin_on_cpu};
pub use skin_poses::{POSES, PosePlace, PosesItem, SKIN_POSES};
pub use stored::unpack_normal;
pub use weights::{WEIGHTS, WeightsItem, sub_shape_weights};
#[cfg(feature = "gpu")]
pub(crate) use {codecs::Grid, stored::Stored};

/// What the CPU mirror computes with, and so what the last bits of its results depend on: such as `x86_64 avx2 fma`.
#[must_use]
pub fn cpu_instructions() -> String {
    let arch = std::env::consts::ARCH;
    #[cfg(target_arch = "x86_64")]
    if skin_avx2::is_available() {
        return format!("{arch} avx2 fma");
    }
    arch.to_owned()
}
