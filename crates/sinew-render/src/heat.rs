//! The weights of a joint at the points of a mesh, and the joint with the most of them.

use super::{JointId, Stage};
use sinew::error::Invalid;
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew::skel::InfluenceInterpolation;

/// The weight of a joint at each point of a bound mesh; empty if another skeleton skins the mesh. A
/// rigid mesh has the same weight at all points.
///
/// # Errors
/// The influences are broken at this time.
pub(super) fn weights(
    scene: &Scene,
    binding: usize,
    joint: JointId,
    time: Time,
) -> Result<Vec<f32>, Invalid> {
    let bound = &scene.bindings[binding];
    if bound.instance != joint.skeleton {
        return Ok(Vec::new());
    }
    let instance = &scene.instances[bound.instance].instance;
    let points = bound
        .points
        .at(time)
        .or_else(|| bound.points.first().cloned());
    let count = points.map_or(0, |p| p.len());
    let Some(influences) = bound.influences_at(instance, time, count)? else {
        return Ok(Vec::new());
    };
    let map = bound.joint_map(instance);
    let is_joint = |own: u32| match &map {
        Some(map) => map[own as usize] == Some(joint.joint as u32),
        None => own as usize == joint.joint,
    };
    let weight = |influences: &mut dyn Iterator<Item = (u32, f32)>| {
        influences
            .filter(|(j, _)| is_joint(*j))
            .map(|(_, w)| w)
            .sum::<f32>()
    };
    Ok(match influences.interpolation() {
        InfluenceInterpolation::Vertex => (0..count)
            .map(|p| weight(&mut influences.of_point(p)))
            .collect(),
        InfluenceInterpolation::Constant => vec![weight(&mut influences.of_point(0)); count],
    })
}

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
