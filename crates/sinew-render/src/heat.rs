//! The weights of a joint at the points of a mesh.

use super::JointId;
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
