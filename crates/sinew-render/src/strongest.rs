//! The joint with the most weight.

use super::{JointId, Stage};
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew::skel::InfluenceInterpolation;

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
            if let Some(binding) = binding.filter(|b| *b < self.scene.bindings.len()) {
                add_weights(&self.scene, binding, self.time, &mut sums);
            }
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

/// Adds the weights of all points of a bound mesh to the sums of its skeleton's joints.
fn add_weights(scene: &Scene, binding: usize, time: Time, sums: &mut [Vec<f64>]) {
    let bound = &scene.bindings[binding];
    let Some(sums) = sums.get_mut(bound.instance) else {
        return;
    };
    let instance = &scene.instances[bound.instance].instance;
    let points = bound
        .points
        .at(time)
        .or_else(|| bound.points.first().cloned());
    let count = points.map_or(0, |p| p.len());
    let Ok(Some(influences)) = bound.influences_at(instance, time, count) else {
        return;
    };
    let map = bound.joint_map(instance);
    let mut add = |own: u32, weight: f64| {
        let joint = match &map {
            Some(map) => map.get(own as usize).copied().flatten(),
            None => Some(own),
        };
        if let Some(sum) = joint.and_then(|j| sums.get_mut(j as usize)) {
            *sum += weight;
        }
    };
    match influences.interpolation() {
        InfluenceInterpolation::Vertex => {
            for point in 0..count {
                for (joint, weight) in influences.of_point(point) {
                    add(joint, f64::from(weight));
                }
            }
        }
        // A rigid mesh: all its points have the same weights.
        InfluenceInterpolation::Constant => {
            for (joint, weight) in influences.of_point(0) {
                add(joint, f64::from(weight) * count as f64);
            }
        }
    }
}
