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
    let bound = &scene.bindings[binding];
    if bound.instance != skeleton {
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
        Some(map) => map[own as usize].is_some_and(|j| is_chosen(j as usize)),
        None => is_chosen(own as usize),
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
