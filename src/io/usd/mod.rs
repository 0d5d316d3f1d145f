//! Reading and writing USD through openusd. The only place that knows it.

mod author;
mod output;
mod package;
mod read;
mod resolver;
mod save;
mod skel_prims;
mod skinned_prims;
mod text;
mod tree;
mod udim;
mod values;
mod write;
mod xforms;

pub use read::{ReadOptions, UsdFile};
pub use write::{BakeEdits, BakedPrim, BakedSample};
