//! The joint with the most weight.

use super::{JointId, Stage, heat};

impl Stage {
    /// The joint with the largest sum of weights over the points of all visible meshes at the
    /// stage's time; `None` if no mesh has influences. Of equal joints it is the first. Meshes whose
    /// influences are broken are left out.
    #[must_use]
    pub fn strongest_joint(&self) -> Option<JointId> {
        let count = |s: &super::StageSkeleton| vec![0.0; s.joints.len()];
        let mut sums: Vec<Vec<f64>> = self.skeletons.iter().map(count).collect();
        for mesh in self.meshes.iter().filter(|m| m.visible) {
            let binding = self.geometry.meshes[mesh.drawn].binding;
            let binding = binding.and_then(|b| Some((b, self.scene.bindings.get(b)?)));
            let Some((binding, bound)) = binding else {
                continue;
            };
            let Some(sums) = sums.get_mut(bound.instance) else {
                continue;
            };
            // Nothing is added before the influences are known not to be broken.
            let _ = heat::each_influence(&self.scene, binding, self.time, |_, joint, weight| {
                if let Some(sum) = sums.get_mut(joint) {
                    *sum += f64::from(weight);
                }
            });
        }
        let all = sums.iter().enumerate().flat_map(|(skeleton, sums)| {
            let id = move |joint| JointId { skeleton, joint };
            sums.iter().enumerate().map(move |(j, sum)| (id(j), *sum))
        });
        all.filter(|(_, sum)| *sum > 0.0)
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
            .map(|(id, _)| id)
    }
}
