//! Reading and writing USD through openusd. The only place that knows it.

mod extents;
mod model_bounds;
mod output;
mod package;
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
pub use write::{BakeEdits, BakedHint, BakedPrim, BakedTransform, Samples};
