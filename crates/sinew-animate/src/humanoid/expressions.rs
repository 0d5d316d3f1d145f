//! Converts VRM expressions to morph weights, for formats that have no expressions.

use std::collections::{BTreeMap, HashMap};

use crate::asset::{
    Asset, AssetClip, Curve, CurveInterpolation, Expression, Keys, Track, TrackTarget,
};

/// Converts every [`TrackTarget::Expression`] track of a clip to morph weights of the nodes that
/// show its meshes: `weight = rest + sum of expression * bind`. If several expressions move one
/// mesh, they are sampled at the union of their keys. A node that already has a weights track keeps
/// it.
#[must_use]
pub fn expressions_to_weights(asset: &Asset, clip: &AssetClip) -> AssetClip {
    let by_name: HashMap<&str, &Expression> = asset
        .expressions
        .iter()
        .map(|e| (e.name.as_str(), e))
        .collect();
    let mut plain = clip.with_tracks(Vec::new());
    // Per mesh: every expression that moves it.
    let mut moved: BTreeMap<usize, Vec<(&Curve, &Expression)>> = BTreeMap::new();
    for track in &clip.tracks {
        let TrackTarget::Expression(name) = &track.target else {
            plain.tracks.push(track.clone());
            continue;
        };
        let Some(expression) = by_name.get(name.as_str()) else {
            continue;
        };
        let meshes: std::collections::BTreeSet<usize> =
            expression.binds.iter().map(|b| b.mesh).collect();
        for mesh in meshes {
            moved
                .entry(mesh)
                .or_default()
                .push((&track.curve, expression));
        }
    }
    for (mesh, expressions) in moved {
        let nodes = asset
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, n)| n.mesh == Some(mesh));
        for (node, n) in nodes {
            let has_weights = plain.tracks.iter().any(|t| {
                t.target == TrackTarget::Node(node) && matches!(t.curve.keys, Keys::Weights { .. })
            });
            if has_weights {
                continue;
            }
            let rest = n.weights.as_ref().unwrap_or(&asset.meshes[mesh].weights);
            plain.tracks.push(Track {
                target: TrackTarget::Node(node),
                curve: sum(mesh, rest, &expressions),
            });
        }
    }
    plain
}

/// The curve of the weights of all morph targets of a mesh.
fn sum(mesh: usize, rest: &[f32], expressions: &[(&Curve, &Expression)]) -> Curve {
    let curves = || expressions.iter().map(|(c, _)| *c);
    let mut times: Vec<f64> = curves().flat_map(|c| c.times.iter().copied()).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let is = |kind| curves().all(|c| c.interpolation == kind);
    let binary = expressions.iter().any(|(_, e)| e.is_binary);
    // At the union of the keys, a sum of linear curves is linear, and a sum of step curves is a
    // step curve.
    let interpolation = if is(CurveInterpolation::Step) || (binary && expressions.len() == 1) {
        CurveInterpolation::Step
    } else {
        CurveInterpolation::Linear
    };
    if !is(CurveInterpolation::Step) && !is(CurveInterpolation::Linear) || binary {
        times = finer(&times);
    }
    let mut values = Vec::with_capacity(times.len() * rest.len());
    for time in &times {
        let mut weights: Vec<f64> = rest.iter().map(|w| f64::from(*w)).collect();
        for (curve, expression) in expressions {
            let slider = curve.weight(0, *time).unwrap_or(0.0);
            let slider = match expression.is_binary {
                true if slider > 0.5 => 1.0,
                true => 0.0,
                // VRM limits expressions to 0..1.
                false => slider.clamp(0.0, 1.0),
            };
            for bind in expression.binds.iter().filter(|b| b.mesh == mesh) {
                if let Some(weight) = weights.get_mut(bind.target) {
                    *weight += slider * f64::from(bind.weight);
                }
            }
        }
        values.extend(weights);
    }
    Curve {
        times,
        interpolation,
        keys: Keys::Weights {
            count: rest.len(),
            values,
        },
    }
}

/// Adds samples between keys, so that there are eight intervals between any two: splines and binary
/// expressions change between their keys.
fn finer(times: &[f64]) -> Vec<f64> {
    const BETWEEN: usize = 8;
    let mut out: Vec<f64> = times.first().copied().into_iter().collect();
    for pair in times.windows(2) {
        let step = (pair[1] - pair[0]) / BETWEEN as f64;
        let between = (1..BETWEEN).map(|i| pair[0] + step * i as f64);
        out.extend(between.filter(|t| *t > pair[0] && *t < pair[1]));
        out.push(pair[1]);
    }
    out
}
