//! A skin as the words that kernels read, tested without a device.
//!
//! [`encode`] splits a [`PackedSkin`] into [`EncodedSlice`]s. A slice is a run of results (points,
//! render vertices, or faceVarying normals) whose static data fit one binding. The uploading code
//! copies its words to any place of a storage buffer of u32, and adds that place to its
//! [`SliceOffsets`]. [`encode_shapes`] encodes the tables that the kernel `weights` reads.
//!
//! | file | content |
//! |---|---|
//! | `values` | the words of a point, a normal, an influence record |
//! | `slices` | the words of a slice, and their number |
//! | `decode` | decoding by the steps of the shaders; tests and fuzzers compare it with the CPU mirror's input |

#[cfg(any(test, feature = "check-decoding"))]
mod decode;
mod slices;
#[cfg(test)]
mod tests;
mod values;

#[cfg(feature = "check-decoding")]
#[doc(hidden)]
pub use decode::check_decoded;
pub use slices::{EncodedShapes, EncodedSlice, SliceOffsets, TooLarge, encode, encode_shapes};
pub use values::{PointBytes, unpack_normal};

use crate::kernel::PackedSkin;
