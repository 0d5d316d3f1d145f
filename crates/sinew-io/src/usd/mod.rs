//! Reading and writing USD through openusd.
//!
//! - [`UsdFile`] is an open, composed stage; `options`, `resolver` and `variants` say how it is opened.
//! - `read` turns the stage into a [`Scene`](sinew::scene::Scene).
//! - `geometry` turns it into a [`Geometry`](sinew::scene::Geometry).
//! - `write` writes bakes, edits and copies.
//! - `from_asset` turns an [`Asset`](sinew_animate::asset::Asset) of another format into a stage.

pub(crate) mod explain;
mod fingerprint;
mod from_asset;
mod geometry;
mod options;
pub(crate) mod read;
pub(crate) mod resolver;
mod variants;
pub(crate) mod write;

pub use from_asset::origin::{ConvertedHumanoid, ConvertedSkeleton, Origin};
pub use options::{ClipChoice, OpenOptions, ReadOptions};
pub use read::authored::{AuthoredAttribute, AuthoredPrim, AuthoredStage, AuthoredValue};
pub use read::scene::UsdFile;
pub use variants::VariantSelection;
pub use write::bake_output::BakeOutput;
pub use write::clip_file::{ClipContents, ClipFile, ClipRecord, FoundClip};
pub use write::edits::{BakeEdits, BakedArray, BakedHint, BakedPrim, BakedTransform, Samples};
pub use write::mend::{Mend, PrimMend};
pub use write::value_clips::{ClipLayout, ClipStage, without_still};
