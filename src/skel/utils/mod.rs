//! UsdSkel's utilities over plain arrays, with Pixar's results.

mod error;
mod skin_transform;

pub use error::UtilError;
pub use skin_transform::skin_transform;
