//! Reading and writing USD.
//!
//! - `read` turns the stage into a [`Scene`](sinew::scene::Scene).
//! - `geometry` turns it into a [`Geometry`](sinew::scene::Geometry).
//! - `write` writes bakes, edits and copies.
//! - `from_asset` turns an [`Asset`](sinew_animate::asset::Asset) of another format into a stage.
//! - [`sequence`] puts clips on a character, one after another.
//! - `to_asset` turns a stage into an `Asset`, which can be written as glTF.

mod clips;
pub(crate) mod file;
mod fingerprint;
mod fits;
mod from_asset;
mod geometry;
pub(crate) mod read;
pub mod sequence;
mod to_asset;
mod variants;
pub(crate) mod write;

pub use clips::StageClip;
pub use file::{ClipChoice, OpenOptions, Purposes, ReadOptions, UsdFile};
pub(crate) use fits::{Fits, MOST_NAMES, Moved, Mover};
pub use from_asset::convert::{ConvertedHumanoid, ConvertedSkeleton, Origin};
pub use from_asset::find_asset_clip;
pub(crate) use from_asset::first_clip;
pub use read::authored::{AuthoredAttribute, AuthoredPrim, AuthoredStage, AuthoredValue};
pub use to_asset::{
    AssetOptions, BindPose, BindPoseInfluences, BindPoseJoint, BindPoseMesh, PlacedMesh, SceneClip,
};
pub use variants::{VariantSelection, VariantSet};
pub use write::bake_output::BakeOutput;
pub use write::clip_file::{ClipContents, ClipFile, ClipRecord, FoundClip};
pub use write::edits::{BakeEdits, BakedArray, BakedHint, BakedPrim, BakedTransform, Samples};
pub use write::fixes::{Fix, PrimFix};
pub use write::old_motion::BlockedAttribute;
pub use write::save::Written;
pub use write::value_clips::{ClipLayout, ClipStage, without_still};

/// The codes of warnings about references, layers and clips that could not be composed.
pub use sinew_stage::compose::DIAGNOSTIC_CODES as COMPOSITION_CODES;
