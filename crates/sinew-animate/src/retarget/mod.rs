//! Transfers animation from one skeleton to another. It works on rigs, without files.
//!
//! A [`Rig`] is made from a UsdSkel skeleton. A [`BoneMap`] pairs source joints with target joints;
//! it is read from JSON, or made from the human bones that [`Humanoid::recognise`] finds on both
//! sides. A [`Retargeter`] then transfers poses, frame by frame.
//!
//! ```
//! use sinew_io::{open, rig, skeletons};
//! use sinew::math::Trs;
//! use sinew_animate::retarget::{BoneMap, Humanoid, Retargeter};
//! use sinew::sampled::Time;
//!
//! // Once.
//! let clip = open("../../examples/assets/walk.bvh")?.scene(Default::default())?;
//! let puppet = open("../../examples/assets/puppet.glb")?.scene(Default::default())?;
//! let walker = skeletons(&clip)[0];
//! let (source, target) = (rig(&clip, walker)?, rig(&puppet, skeletons(&puppet)[0])?);
//! let bones = [&source, &target].map(|rig| Humanoid::recognise(rig).expect("a humanoid"));
//! let map = BoneMap::between((&source, &bones[0]), (&target, &bones[1]));
//! let mut retargeter = Retargeter::new(&source, &target, &map, &Default::default())?;
//!
//! // Every frame. The source's pose may come from anywhere.
//! let pose = walker.instance.joint_local_transforms(Time::At(12.0))?;
//! let pose: Vec<Trs> = pose.iter().map(Trs::from_matrix).collect();
//! let mut local = target.rest().to_vec();
//! retargeter.retarget(&pose, &mut local);
//! # assert!(local.iter().zip(target.rest()).any(|(a, b)| a.rotation.dot(b.rotation).abs() < 0.99));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arms;
mod bone;
mod bone_map;
mod characterise;
mod clip;
mod conventions;
mod feet;
mod humanoid;
mod matching;
mod recognise;
mod retargeter;
mod rig;
mod root;
mod same;
mod spine;
mod transfer;

pub use bone::{Bone, UnknownBone};
pub use bone_map::{BoneMap, BonePair};
pub use characterise::Measured;
pub use clip::{ClipSource, sample_times};
pub use conventions::Convention;
pub use feet::{LockedFeet, Sliding, SunkFeet, lock_feet, sunk_feet};
pub use humanoid::{Humanoid, Unrecognised, UnsureBone};
pub use matching::{
    MOST_CANDIDATES, MatchChoice, MatchHow, MatchRow, MatchedBy, Matching, NoMatch, Unsure,
};
pub use recognise::anatomy::Conflict;
pub use retargeter::{GroundChoice, RetargetOptions, RetargetPose, Retargeter, ScaleChoice};
pub use rig::{Rig, RigPlacement};
