//! Kernels of the field, written anew from their published layouts: baselines beside sinew's rows.
//!
//! Each states what a point costs it in bytes, is dispatched as its renderer does it, and is held to the CPU mirror's results.
//! Rest data is shared by the instances of a skin, and palettes lie in storage buffers on
//! every device, as sinew's do. What the CPU records for so many dispatches is not in their times.

pub mod bevy;
pub mod csr;
pub mod godot;
mod gpu;
pub mod hydra;
pub mod ozz;
pub mod rig;
pub mod three;

use sinew::gpu::{GpuDevice, GpuError};

use crate::load::{Load, Peer};

/// Measures one peer on a load: best and median of so many runs.
pub type Run = fn(&GpuDevice, &Load<'_>, usize) -> Result<Peer, GpuError>;

/// A peer, and the work loads that it is measured on.
pub struct Entry {
    pub loads: &'static [&'static str],
    pub run: Run,
}

/// All of them.
pub fn all() -> Vec<Entry> {
    const ALL: &[&str] = &["A", "B", "C", "D", "D-scattered", "F"];
    let runs: [Run; 4] = [hydra::run, godot::run, bevy::run, three::run];
    runs.map(|run| Entry { loads: ALL, run }).into()
}
