//! UsdSkel's utilities over plain arrays, with Pixar's results. Each names its Pixar function.

mod error;
mod influences;
mod skin_transform;

pub use error::UtilError;
pub use influences::{
    WEIGHT_SUM_EPSILON, expand_constant_influences_to_varying, normalize_weights,
    resize_influences, sort_influences,
};
pub use skin_transform::skin_transform;
