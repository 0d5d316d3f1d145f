//! The GPU side. No other module names wgpu.
//!
//! ```
//! use glam::{DMat4, Vec3};
//! use sinew::gpu::{AdapterChoice, GpuDevice, Skinner};
//! use sinew::kernel::PackedSkin;
//! use sinew::skel::{Pose, Skeleton, SkinBuilder};
//!
//! // A renderer has a device already, which it opened with `needed_limits(&yours)`.
//! let Ok(gpu) = GpuDevice::new(&AdapterChoice::Any) else { return Ok(()) };
//! let skinner = Skinner::new(gpu.device(), gpu.queue(), &Default::default())?;
//!
//! // A sleeve of two points, and the arm that moves it.
//! let names = vec!["Arm".to_owned()];
//! let arm = Skeleton::from_parents("Arm", names, &[None], vec![DMat4::IDENTITY], None)?;
//! let sleeve = SkinBuilder::new("Sleeve", vec![Vec3::ZERO, Vec3::X])
//!     .influences_of_points(&[vec![(0, 1.0)], vec![(0, 1.0)]])
//!     .build(&arm)?;
//! let mut crowd = skinner.crowd();
//! let skin = crowd.add_skin(PackedSkin::pack("Sleeve", &sleeve)?.into())?;
//! let instance = crowd.add_instance(skin)?;
//!
//! // Every frame: a pose, and the work recorded into the renderer's own encoder.
//! let raised = DMat4::from_rotation_z(std::f64::consts::FRAC_PI_2);
//! crowd.set_pose(instance, &Pose::from_local(&arm, &[raised])?)?;
//! let mut encoder = gpu.device().create_command_encoder(&Default::default());
//! crowd.encode(&mut encoder)?;
//! gpu.queue().submit([encoder.finish()]);
//! assert!(crowd.read_points(instance)?[1].abs_diff_eq(Vec3::Y, 1e-6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Skinner`] holds the pipelines of one device. A [`Crowd`] holds skins, instances and their
//! results in a few large buffers, and skins all instances in as few dispatches as the device
//! allows. [`Crowd::encode`] records into the caller's encoder; it neither submits nor blocks.
//! [`Crowd::run`] and [`Crowd::read`] are for headless use and block. [`GpuDevice`] opens a device
//! for a program without a renderer.
//!
//! A file imports only files further down in this list; `tests/engine/layers.rs` checks it:
//!
//! ```text
//! crowd/    the interface for hosts, over the stores and the list of passes
//! pass/     one file per pass: its kernel, the items that it adds, and its bindings
//! plan/     where poses lie, groups of items, tables: pure data, no device
//! store/    skins, instances, poses, palettes, rigs, outputs, bounds, visibility
//! memory/   buffers that grow, uploads, readings
//! device/   adapters, limits, errors, pipelines, the skinner, timestamps
//! ```

mod crowd;
mod device;
mod memory;
mod pass;
mod plan;
mod store;

pub use crowd::Crowd;
pub use device::adapter::{AdapterChoice, AdapterReport, GpuDevice};
pub use device::error::GpuError;
pub use device::error::guarded;
pub use device::limits::{blas_input, needed_limits};
pub use device::mapping::mapped;
pub use device::skinner::{Skinner, SkinnerOptions};
pub use device::timing::GpuTimes;
#[cfg(target_family = "wasm")]
pub use device::waiting::set_event_loop_turn;
pub use device::waiting::{wait_for, work_done};
pub use pass::Prewarm;
pub use store::blas::BlasTriangles;
pub use store::bounds::BoundsUse;
pub use store::clips::ClipId;
pub use store::instances::InstanceId;
pub use store::outputs::OutputSlice;
pub use store::palettes::PaletteId;
pub use store::playing::{PlayedClip, Playing};
pub use store::poses::InstancePose;
pub use store::readings::{Deformed, ReadTicket};
pub use store::rigs::{RigId, RigPalette};
pub use store::skins::SkinId;
pub use store::target::{Attribute, NormalFormat, OutputTarget};
pub use store::visibility::{MaskLayout, UpdateRate, VisibilityMask};
