//! The GPU side: the only place that names wgpu.
//!
//! A [`Skinner`] holds the pipelines, each made when it is needed first; a [`Crowd`] holds skins, instances and their
//! outputs in a few large buffers and skins all of them in as few dispatches as the device allows.
//! Poses come packed, or as local transforms of a rig that the GPU poses ([`Crowd::add_rig`]).
//! [`Crowd::encode`] records into a caller's encoder and neither submits nor blocks; the reading
//! functions are for headless use and do both. [`GpuDevice`] opens a device where no renderer has one.

mod arena;
mod blend_lists;
mod bounds;
mod changed;
mod crowd;
mod device;
mod error;
mod frame;
mod groups;
mod growing;
mod joint_palettes;
mod limits;
mod members;
mod out_sets;
mod outputs;
mod pipelines;
mod plain;
mod pose_pages;
mod posing;
mod readback;
mod rebuild;
mod record;
mod results;
mod retained;
mod rig_palettes;
mod rigs;
mod ring;
mod skinner;
mod slices;
mod staging;
mod tables;
mod target;
mod timing;

pub use bounds::BoundsUse;
pub use crowd::{Crowd, InstanceId, SkinId};
pub use device::{AdapterChoice, AdapterReport, GpuDevice, auto_adapter, list_adapters};
pub use error::GpuError;
pub use error::guarded;
pub use joint_palettes::{JointPalettes, PaletteId, PaletteRows};
pub use limits::{needed_features, needed_limits, wanted_features};
pub use readback::{Deformed, ReadTicket};
pub use results::OutputSlice;
pub use rigs::RigId;
pub use ring::map_and;
pub use skinner::{Skinner, SkinnerOptions};
pub use target::{Attribute, NormalFormat, OutputTarget};
pub use timing::GpuTimes;
