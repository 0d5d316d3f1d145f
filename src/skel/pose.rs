//! Posing: skinning transforms of a skeleton instance at a time (UsdSkelSkeletonQuery).

use std::sync::Arc;

use glam::DMat4;

use super::animation::joint_local_transforms;
use super::utils::concat_joint_transforms;
use super::{AnimMapper, SkelAnimation, Skeleton};
use crate::error::Invalid;
use crate::sampled::Time;

/// A Skeleton and the animation that drives it: what UsdSkelSkeletonQuery is.
#[derive(Clone, Debug)]
pub struct SkeletonInstance {
    skeleton: Arc<Skeleton>,
    animation: Option<(Arc<SkelAnimation>, AnimMapper)>,
}

impl SkeletonInstance {
    /// Maps the animation's joint order to the skeleton's once.
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

    /// The skeleton's definition.
    #[must_use]
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// The animation that drives it, if any.
    #[must_use]
    pub fn animation(&self) -> Option<&Arc<SkelAnimation>> {
        self.animation.as_ref().map(|(a, _)| a)
    }

    /// Joint-local transforms.
    ///
    /// # Errors
    /// Rest transforms that are needed but missing (rule 9).
    pub fn joint_local_transforms(&self, time: Time) -> Result<Vec<DMat4>, Invalid> {
        let driven = self.animation.as_ref().map(|(a, m)| (a.as_ref(), m));
        joint_local_transforms(&self.skeleton, driven, time).ok_or_else(|| {
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

    /// Joint transforms in skeleton space.
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
    /// Missing rest transforms (rule 9); missing, wrong-sized or singular bind transforms (rule 10).
    pub fn skinning_transforms(&self, time: Time) -> Result<Vec<DMat4>, Invalid> {
        let inverse_bind = self.skeleton.inverse_bind()?;
        let posed = self.skel_from_joint(time)?;
        Ok(posed
            .iter()
            .zip(inverse_bind)
            .map(|(p, b)| *p * *b)
            .collect())
    }
}

/// Everything that poses one skin at one time.
#[derive(Clone, Debug)]
pub struct Pose {
    /// Skinning transforms in skeleton space, per skeleton joint; `None` where the prim only blends.
    pub skinning: Option<Arc<Vec<DMat4>>>,
    /// Prim space to skeleton-world-at-bind.
    pub geom_bind: DMat4,
    /// Channel weight of each blend shape slot.
    pub channel_weights: Vec<f32>,
    /// Skeleton space to wherever the result is wanted (for a bake, the prim's own space). Not
    /// applied to a prim that only blends, which stays in its own space (rule 20).
    pub out_from_skel: DMat4,
}
