//! The UsdSkel model: pure data and f64 maths, no files, no GPU.
//!
//! Names are UsdSkel's own. Source of the semantics: the UsdSkel schema text and the behaviour of
//! OpenUSD (v24.08 read, usd-core 26.11 run); "rule N" counts the rules in ARCHITECTURE.md's list
//! of semantics that are easily missed.

mod anim_mapper;
pub mod animation;
pub mod binding;
mod blend_shape;
mod influences;
mod pose;
pub mod reference;
mod skeleton;
mod skin;
mod topology;

pub use anim_mapper::AnimMapper;
pub use animation::SkelAnimation;
pub use binding::AnimSource;
pub use blend_shape::{BlendShape, Inbetween, SubShape, WEIGHT_EPSILON, resolve_weight};
pub use influences::{InfluenceInterpolation, JointInfluences};
pub use pose::{Pose, SkeletonInstance};
pub use skeleton::Skeleton;
pub use skin::Skin;
pub use topology::{Topology, TopologyError};
