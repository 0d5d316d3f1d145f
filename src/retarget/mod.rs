//! Animation from one skeleton to another: pure maths over rigs, without files.
//!
//! [`Rig`]s come from UsdSkel skeletons. A [`BoneMap`] says which joint follows which: from MAP.json, or from the human
//! bones that [`Humanoid::recognise`] finds on both sides. A [`Retargeter`] then moves poses, frame by frame.

mod arms;
mod bone;
mod bone_map;
mod clip;
mod conventions;
mod guess;
mod humanoid;
mod reference;
mod retargeter;
mod rig;
mod root;
mod same;

pub use bone::{Bone, UnknownBone};
pub use bone_map::{BoneMap, BonePair};
pub use clip::{ClipSource, sample_times};
pub use conventions::Convention;
pub use humanoid::{Humanoid, Unrecognised};
pub use retargeter::{Pose, RetargetOptions, Retargeter};
pub use rig::{Placement, Rig};
