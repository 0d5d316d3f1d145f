//! The GPU side. No other module names wgpu.
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
//! crowd, joint_palettes   the interface for hosts, over the stores and the list of passes
//! pass/                   one file per pass: its kernel, the items that it adds, and its bindings
//! plan/                   where poses lie, groups of items, tables: pure data, no device
//! store/                  skins, instances, poses, palettes, rigs, outputs, bounds
//! memory/                 buffers that grow, uploads, readings
//! device/                 adapters, limits, errors, pipelines, the skinner, timestamps
//! ```

mod crowd;
mod device;
mod joint_palettes;
mod memory;
mod pass;
mod plan;
mod store;

pub use crowd::{Crowd, RigPalette};
pub use device::adapter::{AdapterChoice, AdapterReport, GpuDevice, auto_adapter, list_adapters};
pub use device::error::GpuError;
pub use device::error::guarded;
pub use device::limits::{needed_features, needed_limits, wanted_features};
pub use device::mapping::map_and;
pub use device::pipelines::PipelineVariant;
pub use device::skinner::{Skinner, SkinnerOptions};
pub use device::timing::GpuTimes;
pub use joint_palettes::{JointPalettes, PaletteRows};
pub use pass::{Prewarm, pipeline_variants};
pub use store::bounds::BoundsUse;
pub use store::clips::ClipId;
pub use store::instances::InstanceId;
pub use store::outputs::OutputSlice;
pub use store::palettes::PaletteId;
pub use store::playing::{PlayedClip, Playing};
pub use store::poses::InstancePose;
pub use store::readings::{Deformed, ReadTicket};
pub use store::rigs::RigId;
pub use store::skins::SkinId;
pub use store::target::{Attribute, NormalFormat, OutputTarget};
