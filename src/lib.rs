//! sinew (crate docs to follow)
pub mod bake;
pub mod error;
pub mod gpu;
pub mod io;
pub mod kernel;
pub mod math;
pub mod sampled;
pub mod scene;
pub mod skel;
pub use error::{Error, Invalid, Result, Warning};
