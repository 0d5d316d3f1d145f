//! Reading and writing USD through openusd. The only place that knows it.

mod resolver;
mod read;
mod skel_prims;
mod skinned_prims;
mod text;
mod tree;
mod values;
mod xforms;

pub use read::{ReadOptions, UsdFile};
