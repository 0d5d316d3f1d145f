//! Checks whether the target is upright when the source is.

use glam::{DMat4, DVec3};

use super::bone_map::JointPair;
use super::reference::Reference;
use super::{Bone, Rig};
use sinew::error::Warning;

/// The largest angle between the two trunks that a clip can explain, in degrees.
const MOST_APART: f64 = 45.0;

/// The hips and the highest paired bone of the trunk. Their direction shows whether a character
/// stands or lies.
#[derive(Clone, Debug)]
pub(super) struct Trunk {
    hips: JointPair,
    top: JointPair,
    source: String,
    target: String,
}

impl Trunk {
    /// The trunks of two rigs; `None` if the bones are not known, or if the trunks point in
    /// different directions in the reference poses.
    pub fn find(
        (source, from): (&Rig, &Reference),
        (target, to): (&Rig, &Reference),
        pairs: &[JointPair],
    ) -> Option<Self> {
        let find = |bone| pairs.iter().find(|p| p.bone == Some(bone)).copied();
        let top = [
            Bone::Neck,
            Bone::UpperChest,
            Bone::Chest,
            Bone::Spine,
            Bone::Head,
        ];
        let trunk = Self {
            hips: find(Bone::Hips)?,
            top: top.into_iter().find_map(find)?,
            source: source.label().to_owned(),
            target: target.label().to_owned(),
        };
        let apart = trunk.apart(from.joints(), to.joints())?;
        (apart <= MOST_APART).then_some(trunk)
    }

    /// The angle between the two trunks in degrees. `source` and `target` are common_from_joint of
    /// each rig. `None` if a trunk has no length.
    pub fn apart(&self, source: &[DMat4], target: &[DMat4]) -> Option<f64> {
        let direction = |joints: &[DMat4], hips: usize, top: usize| -> Option<DVec3> {
            (joints[top].w_axis - joints[hips].w_axis)
                .truncate()
                .try_normalize()
        };
        let source = direction(source, self.hips.source, self.top.source)?;
        let target = direction(target, self.hips.target, self.top.target)?;
        Some(source.angle_between(target).to_degrees())
    }

    /// A warning if the trunks are far apart in more than half of the frames. `apart` are the
    /// angles in degrees.
    pub fn warning(&self, mut apart: Vec<f64>) -> Option<Warning> {
        apart.sort_by(f64::total_cmp);
        let median = *apart.get(apart.len() / 2)?;
        (median > MOST_APART).then(|| {
            let message = format!(
                "its trunk is rotated by {median:.0} degrees from that of {}, although both can have the same direction: the bind \
                 or rest transforms of one rig are in another space; use the reference pose auto or rest",
                self.source
            );
            Warning::new("retarget-lying", &self.target, message)
        })
    }
}
