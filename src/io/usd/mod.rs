//! Reading and writing USD through openusd. The only place that knows it.

mod animations;
mod author;
mod author_samples;
mod authored;
mod bake_output;
mod class_arcs;
#[cfg(feature = "bake")]
mod clip_file;
mod clips;
mod convert;
mod crate_arrays;
mod crate_bytes;
mod crate_file;
mod crate_paths;
mod crate_values;
mod edits;
mod explain;
mod extents;
mod fingerprint;
mod from_asset;
mod geometry;
mod instances;
mod layer_copy;
mod layer_view;
mod made;
mod mend;
mod model_bounds;
mod options;
mod origin;
mod output;
mod package;
mod prototypes;
mod read;
mod resolver;
mod save;
mod set_animation;
mod skel_prims;
mod skinned_prims;
mod text;
mod tree;
mod udim;
#[cfg(feature = "bake")]
mod value_clips;
mod values;
mod variants;
mod write;
mod xforms;

pub use authored::{AuthoredAttribute, AuthoredPrim, AuthoredStage, AuthoredValue};
pub use bake_output::BakeOutput;
#[cfg(feature = "bake")]
pub(crate) use clip_file::{ClipContents, ClipFile, ClipRecord, FoundClip};
pub use edits::{BakeEdits, BakedArray, BakedHint, BakedPrim, BakedTransform, Samples};
pub use mend::{Mend, PrimMend};
pub use options::{ClipChoice, OpenOptions, ReadOptions};
pub use origin::{ConvertedHumanoid, ConvertedSkeleton, Origin};
pub use read::UsdFile;
#[cfg(feature = "bake")]
pub(crate) use value_clips::{ClipLayout, ClipStage, without_still};
pub use variants::VariantSelection;
