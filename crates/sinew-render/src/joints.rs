//! Skeletons of a stage: names, parents, and joints in world space.

use glam::DMat4;

use super::Bounds;
use sinew::sampled::Time;
use sinew::scene::{PlacedSkeleton, Scene};

/// A skeleton of a stage, as it plays.
#[derive(Clone, Debug, PartialEq)]
pub struct StageSkeleton {
    /// Prim path.
    pub path: String,
    pub joints: Vec<StageJoint>,
    /// world_from_joint of each joint at the stage's time; empty where the file gives the joints no place.
    pub world_from_joint: Vec<DMat4>,
}

/// A joint of a [`StageSkeleton`].
#[derive(Clone, Debug, PartialEq)]
pub struct StageJoint {
    /// Its path, such as `Hips/Spine/Head`.
    pub path: String,
    /// What it is called where the file was made, else the last part of the path.
    pub name: String,
    /// Index of its parent, below its own.
    pub parent: Option<usize>,
}

fn placed(scene: &Scene) -> impl Iterator<Item = &PlacedSkeleton> {
    scene.instances.iter().chain(&scene.unbound_skeletons)
}

/// Every skeleton that prims are bound to, in the order of [`Scene::instances`], then the others.
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

/// Puts every joint where it is at a time.
pub(super) fn pose(scene: &Scene, skeletons: &mut [StageSkeleton], time: Time) {
    for (placed, out) in placed(scene).zip(skeletons) {
        let world_from_skel = scene.world_from_prim(placed.prim, time);
        // Joints without a place were told of when their prims were posed, or are no one's matter.
        let posed = placed.instance.skel_from_joint(time).unwrap_or_default();
        let world = posed.iter().map(|m| world_from_skel * *m);
        out.world_from_joint = world.filter(DMat4::is_finite).collect();
        if out.world_from_joint.len() != out.joints.len() {
            out.world_from_joint.clear();
        }
    }
}

impl StageSkeleton {
    /// The box around all joints.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        Bounds::of(self.world_from_joint.iter().map(|m| m.w_axis.truncate()))
    }
}
