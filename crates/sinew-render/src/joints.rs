//! Skeletons of a stage: names, parents and transforms of joints.

use glam::DMat4;

use super::Bounds;
use sinew::sampled::Time;
use sinew::scene::{PlacedSkeleton, Scene};

/// A skeleton of a stage, with its pose at the stage's time.
#[derive(Clone, Debug, PartialEq)]
pub struct StageSkeleton {
    /// Path of the Skeleton prim.
    pub path: String,
    /// The joints, parents before children.
    pub joints: Vec<StageJoint>,
    /// Transform of each joint to world space at the stage's time; empty if the joints have no
    /// finite pose.
    pub world_from_joint: Vec<DMat4>,
}

/// A joint of a [`StageSkeleton`].
#[derive(Clone, Debug, PartialEq)]
pub struct StageJoint {
    /// Path of the joint, such as `Hips/Spine/Head`.
    pub path: String,
    /// Original name of the joint (`jointNames`), or else the last part of its path.
    pub name: String,
    /// Index of the parent joint, which is smaller than its own; `None` for a root.
    pub parent: Option<usize>,
}

/// The skeletons in the order of [`skeletons`].
fn placed(scene: &Scene) -> impl Iterator<Item = &PlacedSkeleton> {
    scene.instances.iter().chain(&scene.unbound_skeletons)
}

/// The skeletons that prims are bound to, in the order of [`Scene::instances`], and then all
/// others.
pub(super) fn skeletons(scene: &Scene) -> Vec<StageSkeleton> {
    let skeleton = |placed: &PlacedSkeleton| {
        let skeleton = placed.instance.skeleton();
        let names = skeleton.joint_names();
        let joint = |(i, path): (usize, &String)| StageJoint {
            path: path.clone(),
            name: match names {
                Some(names) => names[i].clone(),
                None => path.rsplit('/').next().unwrap_or(path).to_owned(),
            },
            parent: skeleton.topology().parent(i),
        };
        StageSkeleton {
            path: placed.path.clone(),
            joints: skeleton.joints().iter().enumerate().map(joint).collect(),
            world_from_joint: Vec::new(),
        }
    };
    placed(scene).map(skeleton).collect()
}

/// Sets the transforms of all joints at a time.
pub(super) fn pose(scene: &Scene, skeletons: &mut [StageSkeleton], time: Time) {
    for (placed, out) in placed(scene).zip(skeletons) {
        let world_from_skel = scene.world_from_prim(placed.prim, time);
        // A skeleton without a pose is not reported here: posing the prims that are bound to it
        // reports it.
        let posed = placed.instance.skel_from_joint(time).unwrap_or_default();
        let world = posed.iter().map(|m| world_from_skel * *m);
        out.world_from_joint = world.filter(DMat4::is_finite).collect();
        if out.world_from_joint.len() != out.joints.len() {
            out.world_from_joint.clear();
        }
    }
}

impl StageSkeleton {
    /// The bounding box of all joints, in world space.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        Bounds::of(self.world_from_joint.iter().map(|m| m.w_axis.truncate()))
    }
}
