//! Kernels of the field, written anew from their published layouts: baselines beside sinew's rows.
//!
//! Each names the commit that it follows, states what a point costs it in bytes, is dispatched and bound as its renderer does
//! it, and is held to the CPU mirror's results. Rest data is shared by the instances of a skin. What the CPU records for so
//! many dispatches is not in their times.

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

/// All of them. A texture for each of F's 100,000 skeletons is more than devices have room for.
pub fn all() -> [Entry; 4] {
    const ALL: &[&str] = &["A", "B", "C", "D", "D-scattered", "F"];
    const WITHOUT_DUST: &[&str] = &["A", "B", "C", "D", "D-scattered"];
    [
        (ALL, hydra::run as Run),
        (ALL, godot::run),
        (ALL, bevy::run),
        (WITHOUT_DUST, three::run),
    ]
    .map(|(loads, run)| Entry { loads, run })
}
