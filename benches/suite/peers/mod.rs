//! Kernels of the field, written anew from their published layouts: baselines beside sinew's rows.

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
    Vec::new()
}
