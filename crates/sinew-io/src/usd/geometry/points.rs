//! Faces and points of meshes, checked.

use glam::Vec3;
use openusd::usd;

use crate::usd::read::values::{Token, read_sampled, read_uniform};
use sinew::error::{Invalid, Warning};
use sinew::sampled::{Interpolation, Sampled, Time};
use sinew::skel::MeshTopology;

/// Points over time, as many at every time as at the first.
pub(super) fn points(
    prim: &usd::Prim,
    interpolation: Interpolation,
    warnings: &mut Vec<Warning>,
) -> Result<Result<Sampled<Vec<Vec3>>, Invalid>, openusd::Error> {
    let path = prim.path().as_str();
    let points: Sampled<Vec<Vec3>> = read_sampled(&prim.attribute("points"), interpolation)?;
    let Some(first) = points.first() else {
        let faces: Sampled<Vec<i32>> =
            read_sampled(&prim.attribute("faceVertexIndices"), interpolation)?;
        if faces.first().is_none_or(|f| f.is_empty()) {
            return Ok(Ok(Sampled::default())); // Nothing at all is no mistake.
        }
        let missing = Invalid::new(path, "points", "points", "no value");
        return Ok(Err(missing.coded("points-missing")));
    };
    let count = first.len();
    let infinite = points
        .values()
        .find_map(|v| v.iter().position(|p| !p.is_finite()));
    if let Some(at) = infinite {
        let found = format!("others at point {at}");
        let broken = Invalid::new(path, "points", "finite points", found);
        return Ok(Err(broken.coded("points-not-finite")));
    }
    if points.values().all(|v| v.len() == count) {
        return Ok(Ok(points));
    }
    let message = format!(
        "the number of points changes: only times with {count}, as at first, are drawn as they are"
    );
    let warning = Warning::new("faces-change", path, message);
    warnings.push(warning.on("points"));
    let mut default = None;
    let mut samples = Vec::new();
    for (time, value) in points.authored() {
        let value = value.filter(|v| v.len() == count).cloned();
        match time {
            Time::Default => default = value,
            // A time without a value would hide the mesh: the sample before it holds.
            Time::At(t) if value.is_some() => samples.push((t, value)),
            Time::At(_) => {}
        }
    }
    Ok(Ok(Sampled::new(default, samples, interpolation)))
}

pub(super) fn topology(
    prim: &usd::Prim,
    interpolation: Interpolation,
    points: usize,
    warnings: &mut Vec<Warning>,
) -> Result<Result<MeshTopology, Invalid>, openusd::Error> {
    let path = prim.path().as_str();
    let mut faces = [Vec::new(), Vec::new(), Vec::new()];
    let names = ["faceVertexCounts", "faceVertexIndices", "holeIndices"];
    for (name, list) in names.into_iter().zip(&mut faces) {
        let values: Sampled<Vec<i32>> = read_sampled(&prim.attribute(name), interpolation)?;
        if let Some(first) = values.first() {
            if values.values().any(|v| v != first) {
                let message = "faces change over time: those of the first time are drawn";
                warnings.push(Warning::new("faces-change", path, message).on(name));
            }
            list.clone_from(first);
        }
    }
    let orientation: Option<Token> = read_uniform(&prim.attribute("orientation"))?;
    let left_handed = orientation.is_some_and(|o| o.0 == "leftHanded");
    let [counts, indices, holes] = faces;
    let topology = MeshTopology::new(path, &counts, &indices, left_handed, points);
    Ok(topology.map(|t| t.with_holes(&holes)))
}
