//! SkelAnimation: joint components and blend shape channels over time (UsdSkelAnimQuery).

use glam::{DMat4, Quat, Vec3};

use super::Skeleton;
use super::utils::make_transforms;
use crate::math;
use crate::sampled::{Half3, Sampled, Time};
use crate::skel::AnimMapper;

/// The data of a SkelAnimation prim.
#[derive(Clone, Debug, Default)]
pub struct SkelAnimation {
    /// Prim path.
    pub path: String,
    /// The joints that the components are for, in their order. They may be only some of a
    /// skeleton's joints.
    pub joints: Vec<String>,
    /// Translations in the parent joint's space, one per joint.
    pub translations: Sampled<Vec<Vec3>>,
    /// Rotations in the parent joint's space, one per joint, used as authored (never normalised).
    pub rotations: Sampled<Vec<Quat>>,
    /// Scales, one per joint, in half precision.
    pub scales: Sampled<Vec<Half3>>,
    /// The scales in single precision, from files that have them (glTF). If present, they replace
    /// `scales`.
    pub float_scales: Option<Sampled<Vec<Vec3>>>,
    /// Tokens of the blend shape channels.
    pub blend_shapes: Vec<String>,
    /// One weight per channel.
    pub blend_shape_weights: Sampled<Vec<f32>>,
}

impl SkelAnimation {
    /// The transforms from joint space to the parent's space, in the joint order of this animation.
    /// `None` if the animation is ignored at this time (rule 8): if a component has no value, has
    /// another length than `joints` or is not finite, or if there are no joints.
    #[must_use]
    pub fn joint_local_transforms(&self, time: Time) -> Option<Vec<DMat4>> {
        let n = self.joints.len();
        if n == 0 {
            return None;
        }
        let (t, r) = (self.translations.at(time)?, self.rotations.at(time)?);
        if t.len() != n || r.len() != n {
            return None;
        }
        let local: Vec<DMat4> = match &self.float_scales {
            Some(scales) => {
                let s = scales.at(time).filter(|s| s.len() == n)?;
                let all = t.iter().zip(r.iter()).zip(s.iter());
                all.map(|((t, r), s)| {
                    math::make_transform(t.as_dvec3(), r.as_dquat(), s.as_dvec3())
                })
                .collect()
            }
            None => make_transforms(&t, &r, &self.scales.at(time)?).ok()?,
        };
        local.iter().all(math::is_finite).then_some(local)
    }

    /// The weight of each channel at a time, in the order of `blend_shapes`. Missing weights are 0
    /// (rule 11). Surplus weights are returned too, because an [`AnimMapper`] may pass them on.
    #[must_use]
    pub fn channel_weights(&self, time: Time) -> Vec<f32> {
        let authored = self.blend_shape_weights.at(time);
        let mut weights = authored.map_or_else(Vec::new, |w| w.to_vec());
        weights.resize(weights.len().max(self.blend_shapes.len()), 0.0);
        weights
    }

    /// Every authored time of the components of joints.
    pub fn joint_times(&self) -> impl Iterator<Item = f64> + '_ {
        self.translations
            .times()
            .chain(self.rotations.times())
            .chain(self.scales.times())
    }
}

/// Computes the transforms from joint space to the parent's space, for the joints of `skeleton` at
/// `time`, driven by `animation`.
///
/// A joint that the animation lacks takes its rest transform (rule 9). If the animation is ignored,
/// or has no joint of this skeleton, all joints take it (rules 8 and 9). `None` if a rest transform
/// is needed and the skeleton has none.
#[must_use]
pub fn joint_local_transforms(
    skeleton: &Skeleton,
    animation: Option<(&SkelAnimation, &AnimMapper)>,
    time: Time,
) -> Option<Vec<DMat4>> {
    let rest = || skeleton.rest().map(<[DMat4]>::to_vec);
    let Some((animation, mapper)) = animation else {
        return rest();
    };
    if mapper.reaches_nothing() {
        return rest();
    }
    let Some(local) = animation.joint_local_transforms(time) else {
        return rest();
    };
    if mapper.is_identity() {
        return Some(local);
    }
    let mut out = if mapper.is_sparse() {
        rest()?
    } else {
        // An animation of all joints needs no restTransforms (rule 9).
        vec![DMat4::IDENTITY; skeleton.joints().len()]
    };
    mapper.remap(&local, &mut out);
    Some(out)
}
