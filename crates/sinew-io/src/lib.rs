//! File formats. Nothing else names a file-format crate.

pub mod bvh;
mod error;
pub mod fbx;
mod files;
pub mod gltf;
mod open;
mod openusd_compat;
pub mod output;
mod rigs;
pub mod usd;

pub use error::{Error, Result, Source};
pub(crate) use files::read_bytes;
pub use files::{extension, is_same_file};
pub use open::{open, open_with, read_asset};
pub use output::{OutputsHeld, discard_unfinished};
pub use rigs::{humanoid, placement, rig, shape_names, skeletons};
pub use usd::{ClipChoice, OpenOptions};
