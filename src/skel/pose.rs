//! Poses: skinning transforms of a skeleton at a time (UsdSkelSkeletonQuery).

use std::sync::Arc;

use glam::DMat4;

use super::animation::joint_local_transforms;
use super::utils::concat_joint_transforms;
use super::{AnimMapper, SkelAnimation, Skeleton};
use crate::error::Invalid;
use crate::math;
use crate::sampled::Time;

/// A Skeleton and the animation that drives it (UsdSkelSkeletonQuery).
#[derive(Clone, Debug)]
pub struct SkeletonInstance {
    skeleton: Arc<Skeleton>,
    animation: Option<(Arc<SkelAnimation>, AnimMapper)>,
}

impl SkeletonInstance {
    /// Creates an instance, and maps the animation's joint order to the skeleton's.
    #[must_use]
    pub fn new(skeleton: Arc<Skeleton>, animation: Option<Arc<SkelAnimation>>) -> Self {
        let animation = animation.map(|a| {
            let mapper = AnimMapper::new(&a.joints, skeleton.joints());
            (a, mapper)
        });
        Self {
            skeleton,
            animation,
        }
    }

    /// The skeleton.
    #[must_use]
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// The animation that drives it, if any.
    #[must_use]
    pub fn animation(&self) -> Option<&Arc<SkelAnimation>> {
        self.animation.as_ref().map(|(a, _)| a)
    }

    /// The animation that drives it, with the map from its joint order to the skeleton's.
    pub(crate) fn driver(&self) -> Option<(&SkelAnimation, &AnimMapper)> {
        self.animation.as_ref().map(|(a, m)| (a.as_ref(), m))
    }

    /// Transforms from joint space to the parent's space, at a time; one per joint of the skeleton.
    ///
    /// # Errors
    /// Rest transforms that are needed but missing (rule 9).
    pub fn joint_local_transforms(&self, time: Time) -> Result<Vec<DMat4>, Invalid> {
        joint_local_transforms(&self.skeleton, self.driver(), time).ok_or_else(|| {
            Invalid::new(
                self.skeleton.path(),
                "restTransforms",
                format!(
                    "{} matrices, for joints that no animation moves",
                    self.skeleton.joints().len()
                ),
                "none, or the wrong number",
            )
            .coded("rest-transforms-needed")
        })
    }

    /// Transforms from joint space to skeleton space, at a time; one per joint of the skeleton.
    ///
    /// # Errors
    /// Rest transforms that are needed but missing (rule 9).
    pub fn skel_from_joint(&self, time: Time) -> Result<Vec<DMat4>, Invalid> {
        let local = self.joint_local_transforms(time)?;
        let topology = self.skeleton.topology();
        Ok(concat_joint_transforms(topology, &local, None).expect("one per joint"))
    }

    /// Skinning transforms in skeleton space: joint transform times inverse bind transform
    /// (rule 10), one per joint of the skeleton.
    ///
    /// # Errors
    /// Missing rest transforms (rule 9); missing, wrong-sized or singular bind transforms (rule
    /// 10).
    pub fn skinning_transforms(&self, time: Time) -> Result<Vec<DMat4>, Invalid> {
        skinning_transforms(&self.skeleton, &self.skel_from_joint(time)?)
    }
}

/// Joint transform times inverse bind transform (rule 10).
fn skinning_transforms(
    skeleton: &Skeleton,
    skel_from_joint: &[DMat4],
) -> Result<Vec<DMat4>, Invalid> {
    let inverse_bind = skeleton.inverse_bind()?;
    let joints = skel_from_joint.iter().zip(inverse_bind);
    Ok(joints.map(|(p, b)| *p * *b).collect())
}

/// The pose of one skin at one time: everything that changes with time.
#[derive(Clone, Debug)]
pub struct Pose {
    /// Skinning transforms in skeleton space, one per joint of the skeleton. `None` if the prim
    /// only blends.
    pub skinning: Option<Arc<Vec<DMat4>>>,
    /// geomBindTransform: from prim space to the space of the skeleton's bind transforms.
    pub geom_bind: DMat4,
    /// The weight of each blend shape, in the order of the skin's shapes.
    pub channel_weights: Vec<f32>,
    /// The transform from skeleton space to the space of the results, which is prim space for a
    /// bake. It is not used for a prim that only blends: that stays in prim space (rule 20).
    pub out_from_skel: DMat4,
}

impl Pose {
    /// A pose from the transform of each joint to its parent's space (for a root, to skeleton
    /// space).
    ///
    /// `geom_bind` and `out_from_skel` are the identity, and there are no channel weights; see
    /// [`Pose::with_geom_bind`], [`Pose::with_out_from_skel`] and [`Pose::with_weights`].
    ///
    /// # Errors
    /// Another number of transforms than joints, transforms that are not finite, a skeleton without
    /// bind transforms.
    pub fn from_local(skeleton: &Skeleton, parent_from_joint: &[DMat4]) -> Result<Self, Invalid> {
        check_joints(skeleton, parent_from_joint)?;
        let mut out = Self::of_shapes(Vec::new());
        out.set_local(skeleton, parent_from_joint)?;
        Ok(out)
    }

    /// A pose from the transform of each joint to skeleton space; otherwise as
    /// [`Pose::from_local`].
    ///
    /// # Errors
    /// As [`Pose::from_local`].
    pub fn from_skel_space(
        skeleton: &Skeleton,
        skel_from_joint: &[DMat4],
    ) -> Result<Self, Invalid> {
        let mut out = Self::of_shapes(Vec::new());
        out.set_skel_space(skeleton, skel_from_joint)?;
        Ok(out)
    }

    /// Replaces the transforms of all joints, each given in the space of its parent. Nothing else
    /// changes. If the pose had as many joints before, and nothing else holds the `Arc` in
    /// [`Pose::skinning`], nothing is allocated.
    ///
    /// # Errors
    /// As [`Pose::from_local`]. After an error the pose is unchanged.
    pub fn set_local(
        &mut self,
        skeleton: &Skeleton,
        parent_from_joint: &[DMat4],
    ) -> Result<(), Invalid> {
        check_joints(skeleton, parent_from_joint)?;
        let inverse_bind = skeleton.inverse_bind()?;
        let out = self.own_skinning();
        out.clear();
        for (parent, local) in skeleton.topology().parents().zip(parent_from_joint) {
            out.push(match parent {
                // Parents come first, so the parent's transform is computed already.
                Some(parent) => out[parent] * *local,
                None => *local,
            });
        }
        for (joint, inverse_bind) in out.iter_mut().zip(inverse_bind) {
            *joint *= *inverse_bind;
        }
        Ok(())
    }

    /// Replaces the transforms of all joints, each given in skeleton space. Nothing else changes.
    ///
    /// # Errors
    /// As [`Pose::from_skel_space`]. After an error the pose is unchanged.
    pub fn set_skel_space(
        &mut self,
        skeleton: &Skeleton,
        skel_from_joint: &[DMat4],
    ) -> Result<(), Invalid> {
        check_joints(skeleton, skel_from_joint)?;
        let inverse_bind = skeleton.inverse_bind()?;
        let out = self.own_skinning();
        out.clear();
        let joints = skel_from_joint.iter().zip(inverse_bind);
        out.extend(joints.map(|(joint, inverse_bind)| *joint * *inverse_bind));
        Ok(())
    }

    /// The skinning transforms, to be overwritten. If something else holds their `Arc`, this
    /// allocates new ones.
    fn own_skinning(&mut self) -> &mut Vec<DMat4> {
        let skinning = self.skinning.get_or_insert_default();
        if Arc::get_mut(skinning).is_none() {
            *skinning = Arc::default();
        }
        // It clones nothing, because this pose is now the only owner.
        Arc::make_mut(skinning)
    }

    /// A pose of a prim that only blends, with a weight for each blend shape.
    #[must_use]
    pub fn of_shapes(channel_weights: Vec<f32>) -> Self {
        Self {
            skinning: None,
            geom_bind: DMat4::IDENTITY,
            channel_weights,
            out_from_skel: DMat4::IDENTITY,
        }
    }

    /// The same pose with a weight for each blend shape.
    #[must_use]
    pub fn with_weights(mut self, channel_weights: Vec<f32>) -> Self {
        self.channel_weights = channel_weights;
        self
    }

    /// The same pose with a geomBindTransform: the transform from prim space to skeleton space in
    /// the bind pose.
    #[must_use]
    pub fn with_geom_bind(mut self, geom_bind: DMat4) -> Self {
        self.geom_bind = geom_bind;
        self
    }

    /// The same pose with results in another space than skeleton space: with `world_from_skel`, in
    /// world space.
    #[must_use]
    pub fn with_out_from_skel(mut self, out_from_skel: DMat4) -> Self {
        self.out_from_skel = out_from_skel;
        self
    }
}

fn check_joints(skeleton: &Skeleton, transforms: &[DMat4]) -> Result<(), Invalid> {
    let joints = skeleton.joints();
    let wrong = |found: String| {
        let expected = format!("{} finite matrices, one per joint", joints.len());
        Err(Invalid::new(skeleton.path(), "joints", expected, found))
    };
    if transforms.len() != joints.len() {
        return wrong(transforms.len().to_string());
    }
    if math::all_finite(transforms) {
        return Ok(());
    }
    match transforms.iter().position(|m| !math::is_finite(m)) {
        Some(joint) => wrong(format!("{} for joint {}", transforms[joint], joints[joint])),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    #[test]
    fn local_and_skeleton_space_pose_alike() {
        let names = ["A", "B"].map(String::from).to_vec();
        let step = DMat4::from_translation(DVec3::X);
        let bind = vec![step, step * step];
        let skeleton = Skeleton::from_parents("Rig", names, &[None, Some(0)], bind, None).unwrap();
        let turn = DMat4::from_rotation_y(0.5);
        let local = [step * turn, step * turn];
        let skel = [local[0], local[0] * local[1]];
        let a = Pose::from_local(&skeleton, &local).unwrap();
        let b = Pose::from_skel_space(&skeleton, &skel).unwrap();
        assert_eq!(a.skinning, b.skinning);
        // The buffer is reused, unless something else holds it.
        let mut reused = Pose::from_local(&skeleton, &[DMat4::IDENTITY; 2]).unwrap();
        let buffer = |pose: &Pose| pose.skinning.as_ref().unwrap().as_ptr();
        let there = buffer(&reused);
        reused.set_local(&skeleton, &local).unwrap();
        assert_eq!((&reused.skinning, buffer(&reused)), (&a.skinning, there));
        assert!(reused.set_local(&skeleton, &[DMat4::NAN; 2]).is_err());
        assert_eq!(reused.skinning, a.skinning);
        let kept = reused.skinning.clone();
        reused.set_skel_space(&skeleton, &[step; 2]).unwrap();
        assert_eq!(kept, a.skinning);
        assert_ne!(buffer(&reused), there);
        assert!(a.skinning.unwrap()[0].abs_diff_eq(local[0] * step.inverse(), 1e-12));
        for wrong in [&local[1..], &[DMat4::NAN; 2]] {
            let text = Pose::from_local(&skeleton, wrong).unwrap_err().to_string();
            assert!(text.contains("2 finite matrices"), "{text}");
        }
    }
}
