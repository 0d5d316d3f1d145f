//! What the prims of a stage made from another format stand for.

use std::collections::{BTreeMap, HashMap};

use sinew::error::Warning;
use sinew_animate::asset::Format;
use sinew_animate::retarget::Bone;

/// What the prims of a stage stand for that was made from a file of another format.
#[derive(Clone, Debug)]
pub struct Origin {
    pub format: Format,
    /// Names of all clips in the file, with the seconds of their first and last keys.
    pub clips: Vec<(String, Option<(f64, f64)>)>,
    pub skeletons: Vec<ConvertedSkeleton>,
    /// One for each humanoid map of the file, in its order.
    pub humanoids: Vec<ConvertedHumanoid>,
    /// What was left out or looked doubtful.
    pub warnings: Vec<Warning>,
}

/// A Skeleton made from the nodes of another format.
#[derive(Clone, Debug)]
pub struct ConvertedSkeleton {
    /// Prim path.
    pub path: String,
    /// Name of each clip that moves it, and the path of its SkelAnimation; the bound one first.
    pub animations: Vec<(String, String)>,
    /// Joints by the file's nodes that they were.
    pub joint_of_node: HashMap<usize, usize>,
    /// Joint paths.
    pub joints: Vec<String>,
}

/// A humanoid map on a stage's Skeletons.
#[derive(Clone, Debug, Default)]
pub struct ConvertedHumanoid {
    /// Indices of the Skeleton, in [`Origin::skeletons`], and of its joint, for each bone that is one.
    pub bones: BTreeMap<Bone, (usize, usize)>,
}
