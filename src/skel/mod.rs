#![doc = include_str!("rules.md")]

mod anim_mapper;
pub mod animation;
pub mod binding;
mod blend_shape;
mod blend_shape_def;
mod dual_quaternion;
mod influences;
mod mesh_topology;
mod method;
pub(crate) mod moving;
mod normals;
mod pose;
mod primvar;
pub mod reference;
mod skeleton;
mod skin;
mod skin_builder;
pub mod topology;
pub mod utils;

pub use anim_mapper::AnimMapper;
pub use animation::SkelAnimation;
pub use binding::AnimSource;
pub use blend_shape::{BlendShape, Inbetween, SubShape, WEIGHT_EPSILON, resolve_weight};
pub use blend_shape_def::{BlendShapeDef, InbetweenDef};
pub use influences::{InfluenceInterpolation, JointInfluences};
pub use mesh_topology::MeshTopology;
pub use method::SkinningMethod;
pub use moving::Moving;
pub use normals::RestNormals;
pub use pose::{Pose, SkeletonInstance};
pub use primvar::{PrimvarInterpolation, PrimvarSlice};
pub use skeleton::Skeleton;
pub use skin::{Skin, joint_map};
pub use skin_builder::SkinBuilder;
pub use topology::{Topology, TopologyError};
pub use utils::{skeleton_extent, skin_transform};
