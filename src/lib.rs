//! sinew (crate docs to follow)
pub mod error;
pub mod io;
pub mod math;
pub mod sampled;
pub mod scene;
pub mod skel;
pub mod gpu { #[derive(Debug, thiserror::Error)] #[error("{0}")] pub struct GpuError(pub String); }
pub use error::{Error, Invalid, Result, Warning};
