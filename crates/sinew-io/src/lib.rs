//! Reads characters from USD, glTF, VRM, FBX and BVH files, and writes USD and glTF files.
//!
//! [`open`] takes any of these files and gives a [`usd::UsdFile`], an open UsdSkel stage: a USD file as it is, a file of
//! another format as the stage that `sinew convert` writes. From it come a [`Scene`](sinew::scene::Scene), which is
//! everything that skinning needs, and a [`Geometry`](sinew::scene::Geometry), which is everything that a renderer draws.
//!
//! ```
//! use sinew::sampled::Time;
//!
//! let file = sinew_io::open("../../examples/assets/puppet.glb")?;
//! let scene = file.scene(Default::default())?;
//! let skeleton = sinew_io::skeletons(&scene)[0];
//! let placement = sinew_io::placement(&scene, skeleton, Time::At(0.0));
//! println!("{} stands at {}", skeleton.path, placement.world_from_skel.w_axis);
//!
//! // Written as USD, it is a character for any program that knows UsdSkel.
//! let folder = tempfile::tempdir().expect("a folder");
//! file.save_as(folder.path().join("puppet.usdz"))?;
//! # Ok::<(), sinew_io::Error>(())
//! ```
//!
//! | module | what is in it |
//! |---|---|
//! | [`usd`] | stages, opened, edited and written; bakes as one file, as a layer or as value clips |
//! | [`gltf`] | glTF 2.0, VRM 0.x and 1.0, VRM Animation, read as an [`Asset`](sinew_animate::asset::Asset); edits of glTF files |
//! | [`bvh`], [`fbx`] | motion capture and Autodesk files, read as an `Asset`; FBX needs the feature `fbx` |
//! | [`retarget`] | the clip of one file on the character of another one |
//! | [`output`] | files that appear under their name only when they are whole |
//!
//! What goes wrong is an [`enum@Error`], whose kinds can be matched. What is merely doubtful is a
//! [`Warning`](sinew::error::Warning) with a stable code.

pub mod bvh;
mod clip_joints;
mod error;
pub mod fbx;
mod files;
pub mod gltf;
mod open;
pub mod output;
mod pictures;
pub mod retarget;
mod rigs;
pub mod usd;
mod vertices;

pub use error::{Error, Result, Source};
pub(crate) use files::read_bytes;
pub use files::{extension, is_same_file, read_text};
pub use open::{
    FileFormat, open, open_with, read_asset, read_asset_from, readable_formats, sources,
};
pub use output::{OutputsHeld, discard_unfinished};
pub use rigs::{clip_source, humanoid, packed_clip, placement, rig, shape_names, skeletons};
pub use sinew_layer::Files;
pub use usd::{ClipChoice, OpenOptions};
