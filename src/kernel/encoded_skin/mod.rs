//! How a skin's values are encoded for the GPU.

mod codecs;
mod packing;
mod values;

pub(crate) use codecs::Grid;
pub use packing::{Packing, PointBytes};
#[cfg(feature = "gpu")]
pub(crate) use values::ValueLayout;
pub use values::unpack_normal;
