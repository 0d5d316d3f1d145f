//! The weights of joints at the points of a mesh, and their colours.

use sinew::error::Invalid;
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew::skel::InfluenceInterpolation;

/// Colours of weights in even steps from 0 to 1, sRGB. surface.wgsl has the same.
#[expect(clippy::approx_constant, reason = "a colour is not a part of pi")]
pub(super) const STOPS: [[f32; 3]; 5] = [
    [0.267, 0.005, 0.329],
    [0.231, 0.318, 0.545],
    [0.129, 0.569, 0.549],
    [0.369, 0.788, 0.384],
    [0.993, 0.906, 0.144],
];

/// The sum of the weights of chosen joints of a skeleton at each point of a bound mesh; empty if
/// another skeleton skins the mesh. A rigid mesh has the same weight at all points.
///
/// # Errors
/// The influences are broken at this time.
pub(super) fn weights(
    scene: &Scene,
    binding: usize,
    skeleton: usize,
    is_chosen: &dyn Fn(usize) -> bool,
    time: Time,
) -> Result<Vec<f32>, Invalid> {
    let mut out = Vec::new();
    if scene.bindings[binding].instance == skeleton {
        each_influence(scene, binding, time, |point, joint, weight| {
            out.resize(out.len().max(point + 1), 0.0);
            if is_chosen(joint) {
                out[point] += weight;
            }
        })?;
    }
    Ok(out)
}

/// Calls `take` with each point of a bound mesh, each joint of its skeleton that influences the
/// point, and the weight. A rigid mesh has the same influences at all points.
///
/// # Errors
/// The influences are broken at this time.
pub(super) fn each_influence(
    scene: &Scene,
    binding: usize,
    time: Time,
    mut take: impl FnMut(usize, usize, f32),
) -> Result<(), Invalid> {
    let bound = &scene.bindings[binding];
    let instance = &scene.instances[bound.instance].instance;
    let points = bound.points.at(time);
    let points = points.or_else(|| bound.points.first().cloned());
    let count = points.map_or(0, |p| p.len());
    let Some(influences) = bound.influences_at(instance, time, count)? else {
        return Ok(());
    };
    let map = bound.joint_map(instance);
    for point in 0..count {
        let of = match influences.interpolation() {
            InfluenceInterpolation::Vertex => point,
            InfluenceInterpolation::Constant => 0,
        };
        for (own, weight) in influences.of_point(of) {
            let joint = match &map {
                Some(map) => map.get(own as usize).copied().flatten(),
                None => Some(own),
            };
            if let Some(joint) = joint {
                take(point, joint as usize, weight);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shader_has_the_same_colours() {
        let text = super::super::shaders::SURFACE.wgsl;
        for [r, g, b] in STOPS {
            let stop = format!("vec3f({r:.3}, {g:.3}, {b:.3})");
            assert!(text.contains(&stop), "{stop}");
        }
    }
}
