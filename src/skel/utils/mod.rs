//! UsdSkel's utilities over plain arrays, with Pixar's results. Each names its Pixar function.
//!
//! ```
//! use sinew::skel::utils::{decompose_transform, normalize_weights, sort_influences};
//!
//! let (mut joints, mut weights) = ([0, 1, 2, 3], [1.0, 3.0, 2.0, 2.0]); // two points, two influences each
//! sort_influences(&mut joints, &mut weights, 2)?;
//! normalize_weights(&mut weights, 2, f32::EPSILON)?;
//! assert_eq!((joints, weights), ([1, 0, 3, 2], [0.75, 0.25, 0.5, 0.5]));
//!
//! let moved = glam::DMat4::from_translation(glam::DVec3::X);
//! assert_eq!(decompose_transform(moved).map(|c| c.translate), Some(glam::Vec3::X));
//! # Ok::<(), sinew::skel::utils::UtilError>(())
//! ```

mod components;
mod error;
mod extent;
mod influences;
mod joint_transforms;
mod shape_table;
mod skin_transform;

pub use components::{
    ComponentArrays, Components, decompose_transform, decompose_transforms, make_transform,
    make_transforms,
};
pub use error::UtilError;
pub use extent::{compute_joints_extent, extents_padding, skeleton_extent};
pub use influences::{
    WEIGHT_SUM_EPSILON, expand_constant_influences_to_varying, normalize_weights,
    resize_influences, sort_influences,
};
pub use joint_transforms::{compute_joint_local_transforms, concat_joint_transforms};
pub use shape_table::{ShapeTable, SubShapeWeight};
pub use skin_transform::skin_transform;
