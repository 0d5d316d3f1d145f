//! The only place that names wgpu.

mod error;

pub use error::GpuError;
