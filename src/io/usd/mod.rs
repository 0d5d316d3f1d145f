//! Reading and writing USD through openusd. The only place that knows it.

mod author;
mod authored;
mod class_arcs;
mod clips;
mod edits;
mod explain;
mod extents;
mod from_asset;
mod instances;
mod layer_copy;
mod made;
mod mend;
mod model_bounds;
mod output;
mod package;
mod prototypes;
mod read;
mod resolver;
mod save;
mod skel_prims;
mod skinned_prims;
mod text;
mod tree;
mod udim;
mod values;
mod variants;
mod write;
mod xforms;

pub use authored::{AuthoredAttribute, AuthoredPrim, AuthoredStage, AuthoredValue};
pub use edits::{BakeEdits, BakedHint, BakedPrim, BakedTransform, Samples};
pub use from_asset::ClipChoice;
pub use made::{ConvertedHumanoid, ConvertedSkeleton, Origin};
pub use mend::{Mend, PrimMend};
pub use read::{OpenOptions, ReadOptions, UsdFile};
pub use variants::VariantSelection;
