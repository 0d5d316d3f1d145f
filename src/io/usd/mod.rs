//! Reading and writing USD through openusd. The only place that knows it.

mod clips;
mod instances;
mod output;
mod package;
mod prototypes;
mod read;
mod resolver;
mod skel_prims;
mod skinned_prims;
mod text;
mod tree;
mod udim;
mod values;
mod variants;
mod write;
mod xforms;

pub use read::{OpenOptions, ReadOptions, UsdFile};
pub use variants::VariantSelection;
pub use write::{BakeEdits, BakedPrim, BakedTransform, Samples};
