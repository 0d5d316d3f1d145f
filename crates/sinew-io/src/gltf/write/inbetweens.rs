//! In-betweens as morph targets of their own.
//!
//! glTF's morph targets are linear in their weights. An in-between is not: between two shapes of a
//! channel the result moves in a straight line from one to the other. So every in-between becomes a
//! morph target, and a channel's weight is split among its shapes
//! ([`sinew::skel::resolve_weight`]). Each split weight is a piecewise linear function of the
//! channel's weight, so with keys inserted where a channel passes the weight of a shape, linear
//! tracks give the same result at every time.

use sinew::error::Warning;
use sinew::skel::resolve_weight;
use sinew_animate::asset::{
    Asset, Curve, CurveInterpolation, Keys, Mesh, MorphTarget, TrackTarget,
};

/// Pieces that replace a segment of a cubic spline.
const PIECES: u32 = 16;

/// The shapes of one channel by ascending weight, with the index of the morph target of each.
struct Shapes {
    weights: Vec<f64>,
    targets: Vec<usize>,
}

/// How the channels of a mesh are split among its new morph targets.
struct Split {
    channels: Vec<Shapes>,
    /// Number of morph targets.
    count: usize,
}

impl Split {
    /// The weights of all morph targets for weights of all channels.
    fn apply(&self, weights: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.count];
        for (shapes, weight) in self.channels.iter().zip(weights) {
            let parts = resolve_weight(&shapes.weights, *weight);
            for (shape, weight) in parts.into_iter().flatten() {
                out[shapes.targets[shape]] = weight;
            }
        }
        out
    }

    fn apply_f32(&self, weights: &[f32]) -> Vec<f32> {
        let wide: Vec<f64> = weights.iter().map(|w| f64::from(*w)).collect();
        self.apply(&wide).into_iter().map(|w| w as f32).collect()
    }

    /// The same curve for the new morph targets, and how far it may be off between keys.
    fn curve(&self, curve: &Curve) -> (Curve, f64) {
        let channels = self.channels.len();
        let mut times: Vec<f64> = Vec::new();
        let mut error = 0.0f64;
        for pair in curve.times.windows(2) {
            times.push(pair[0]);
            match curve.interpolation {
                CurveInterpolation::Step => {}
                CurveInterpolation::Linear => self.crossings(curve, [pair[0], pair[1]], &mut times),
                CurveInterpolation::CubicSpline => {
                    let at =
                        |i: u32| pair[0] + (pair[1] - pair[0]) * f64::from(i) / f64::from(PIECES);
                    for i in 0..PIECES {
                        let weight = |c: usize, t: f64| curve.weight(c, t).unwrap_or_default();
                        for c in 0..channels {
                            let (a, b) = (weight(c, at(i)), weight(c, at(i + 1)));
                            let middle = weight(c, 0.5 * (at(i) + at(i + 1)));
                            error = error.max((0.5 * (a + b) - middle).abs());
                        }
                        if i > 0 {
                            times.push(at(i));
                        }
                    }
                }
            }
        }
        times.extend(curve.times.last());
        let mut values = Vec::with_capacity(times.len() * self.count);
        for time in &times {
            let weights = (0..channels).map(|c| curve.weight(c, *time).unwrap_or_default());
            values.extend(self.apply(&weights.collect::<Vec<_>>()));
        }
        let interpolation = match curve.interpolation {
            CurveInterpolation::Step => CurveInterpolation::Step,
            _ => CurveInterpolation::Linear,
        };
        let keys = Keys::Weights {
            count: self.count,
            values,
        };
        let out = Curve {
            times,
            interpolation,
            keys,
        };
        (out, error)
    }

    /// The times between two keys at which a channel passes the weight of one of its shapes, or 0.
    fn crossings(&self, curve: &Curve, [from, to]: [f64; 2], times: &mut Vec<f64>) {
        let mut found = Vec::new();
        for (c, shapes) in self.channels.iter().enumerate() {
            let weight = |t: f64| curve.weight(c, t).unwrap_or_default();
            let (a, b) = (weight(from), weight(to));
            if shapes.weights.len() < 2 || a == b {
                continue;
            }
            for passed in shapes.weights.iter().chain(&[0.0]) {
                let alpha = (passed - a) / (b - a);
                let time = from + (to - from) * alpha;
                if time > from && time < to {
                    found.push(time);
                }
            }
        }
        found.sort_by(f64::total_cmp);
        found.dedup();
        times.extend(found);
    }
}

/// Replaces in-betweens by morph targets, in meshes, in the weights of nodes and in clips. Says for
/// each such mesh how many there are and how large the error is.
pub(super) fn expand(asset: &mut Asset, warnings: &mut Vec<Warning>) {
    let splits: Vec<Option<Split>> = asset.meshes.iter_mut().map(expand_mesh).collect();
    if splits.iter().all(Option::is_none) {
        return;
    }
    let mut errors = vec![0.0f64; splits.len()];
    let split_of = |mesh: Option<usize>| Some((mesh?, splits[mesh?].as_ref()?));
    for node in &mut asset.nodes {
        if let (Some((_, split)), Some(weights)) = (split_of(node.mesh), &mut node.weights) {
            *weights = split.apply_f32(weights);
        }
    }
    for track in asset.clips.iter_mut().flat_map(|c| &mut c.tracks) {
        let TrackTarget::Node(node) = track.target else {
            continue;
        };
        let Some((mesh, split)) = split_of(asset.nodes[node].mesh) else {
            continue;
        };
        let fits = |count: &usize| *count == split.channels.len();
        if matches!(&track.curve.keys, Keys::Weights { count, .. } if fits(count)) {
            let (curve, error) = split.curve(&track.curve);
            track.curve = curve;
            errors[mesh] = errors[mesh].max(error);
        }
    }
    for ((mesh, split), error) in asset.meshes.iter().zip(&splits).zip(errors) {
        let Some(split) = split else { continue };
        let exactness = match error == 0.0 {
            true => "exact".to_owned(),
            false => format!("off by at most {error:.1e} between keys"),
        };
        let message = format!(
            "glTF has no in-betweens: {} become morph targets of their own, whose weights are {exactness}",
            split.count - split.channels.len()
        );
        warnings.push(Warning::new("inbetweens-as-targets", &mesh.name, message));
    }
}

fn expand_mesh(mesh: &mut Mesh) -> Option<Split> {
    let first = mesh.primitives.first()?;
    let has_any =
        |p: &sinew_animate::asset::Primitive| p.targets.iter().any(|t| !t.inbetweens.is_empty());
    if !mesh.primitives.iter().any(has_any) {
        return None;
    }
    // The in-betweens of all primitives of a channel, by name and weight.
    let mut lists: Vec<Vec<(String, f32)>> = vec![Vec::new(); first.targets.len()];
    for primitive in &mesh.primitives {
        for (list, target) in lists.iter_mut().zip(&primitive.targets) {
            for between in &target.inbetweens {
                if !list.iter().any(|(_, weight)| *weight == between.weight) {
                    list.push((between.name.clone(), between.weight));
                }
            }
        }
    }
    let mut names = Vec::new();
    let mut channels = Vec::new();
    for (list, name) in lists.iter_mut().zip(&mesh.target_names) {
        list.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut shapes: Vec<(f64, usize)> = vec![(1.0, names.len())];
        names.push(name.clone());
        for (between, weight) in list.iter() {
            shapes.push((f64::from(*weight), names.len()));
            names.push(format!("{name}_{between}"));
        }
        shapes.sort_by(|a, b| a.0.total_cmp(&b.0));
        channels.push(Shapes {
            weights: shapes.iter().map(|s| s.0).collect(),
            targets: shapes.iter().map(|s| s.1).collect(),
        });
    }
    for primitive in &mut mesh.primitives {
        let targets = std::mem::take(&mut primitive.targets);
        for (mut target, list) in targets.into_iter().zip(&lists) {
            let betweens = std::mem::take(&mut target.inbetweens);
            let indices = target.point_indices.clone();
            primitive.targets.push(target);
            for (_, weight) in list {
                let between = betweens.iter().find(|b| b.weight == *weight);
                primitive.targets.push(match between {
                    Some(between) => MorphTarget {
                        point_indices: indices.clone(),
                        offsets: between.offsets.clone(),
                        normal_offsets: between.normal_offsets.clone().unwrap_or_default(),
                        ..MorphTarget::default()
                    },
                    None => MorphTarget {
                        point_indices: Some(Vec::new()),
                        ..MorphTarget::default()
                    },
                });
            }
        }
    }
    let split = Split {
        channels,
        count: names.len(),
    };
    mesh.weights = split.apply_f32(&mesh.weights);
    mesh.target_names = names;
    Some(split)
}

#[cfg(test)]
mod tests {
    use glam::Vec3;
    use sinew::skel::InbetweenDef;
    use sinew_animate::asset::{AssetClip, Node, Primitive, Track};

    use super::*;

    fn asset(interpolation: CurveInterpolation, values: Vec<f64>) -> Asset {
        let between = |weight: f32, y: f32| InbetweenDef {
            name: format!("at{weight}"),
            weight,
            offsets: vec![Vec3::Y * y],
            normal_offsets: None,
        };
        let target = MorphTarget {
            offsets: vec![Vec3::X],
            inbetweens: vec![between(0.75, 5.0), between(0.25, 2.0)],
            ..MorphTarget::default()
        };
        let mesh = Mesh {
            primitives: vec![Primitive {
                points: vec![Vec3::ZERO],
                targets: vec![target],
                ..Primitive::default()
            }],
            target_names: vec!["Smile".into()],
            weights: vec![0.5],
            ..Mesh::default()
        };
        let node = Node {
            mesh: Some(0),
            ..Node::default()
        };
        let track = Track {
            target: TrackTarget::Node(0),
            curve: Curve {
                times: vec![0.0, 1.0],
                interpolation,
                keys: Keys::Weights { count: 1, values },
            },
        };
        let clip = AssetClip {
            tracks: vec![track],
            ..AssetClip::default()
        };
        Asset {
            nodes: vec![node],
            meshes: vec![mesh],
            clips: vec![clip],
            ..Asset::default()
        }
    }

    /// What the new targets add at a time.
    fn moved(asset: &Asset, time: f64) -> Vec3 {
        let targets = &asset.meshes[0].primitives[0].targets;
        let curve = &asset.clips[0].tracks[0].curve;
        let part =
            |(i, t): (usize, &MorphTarget)| t.offsets[0] * curve.weight(i, time).unwrap() as f32;
        targets.iter().enumerate().map(part).sum()
    }

    #[test]
    fn linear_tracks_are_exact_between_keys_too() {
        let mut made = asset(CurveInterpolation::Linear, vec![-0.5, 1.5]);
        let mut warnings = Vec::new();
        expand(&mut made, &mut warnings);
        let names = &made.meshes[0].target_names;
        assert_eq!(names, &["Smile", "Smile_at0.25", "Smile_at0.75"]);
        assert_eq!(made.meshes[0].weights, [0.0, 0.5, 0.5]);
        // -0.5 to 1.5: passes 0, 0.25, 0.75 and 1.
        assert_eq!(made.clips[0].tracks[0].curve.times.len(), 6);
        let offsets = [Vec3::Y * 2.0, Vec3::Y * 5.0, Vec3::X];
        for i in 0..=100 {
            let time = f64::from(i) / 100.0;
            let parts = resolve_weight(&[0.25, 0.75, 1.0], -0.5 + 2.0 * time);
            let want: Vec3 = parts
                .into_iter()
                .flatten()
                .map(|(s, w)| offsets[s] * w as f32)
                .sum();
            assert!(moved(&made, time).abs_diff_eq(want, 1e-5), "{time}");
        }
        assert_eq!(warnings[0].code, "inbetweens-as-targets");
        assert!(
            warnings[0].message.ends_with("weights are exact"),
            "{}",
            warnings[0].message
        );
    }

    #[test]
    fn steps_stay_steps_and_splines_are_sampled() {
        let mut step = asset(CurveInterpolation::Step, vec![0.0, 1.0]);
        expand(&mut step, &mut Vec::new());
        let curve = &step.clips[0].tracks[0].curve;
        assert_eq!(
            (curve.interpolation, curve.times.len()),
            (CurveInterpolation::Step, 2)
        );
        let mut spline = asset(
            CurveInterpolation::CubicSpline,
            vec![0.0, 0.0, 3.0, 1.0, 1.0, 0.0],
        );
        let mut warnings = Vec::new();
        expand(&mut spline, &mut warnings);
        assert_eq!(spline.clips[0].tracks[0].curve.times.len(), 17);
        assert!(
            !warnings[0].message.ends_with("weights are exact"),
            "{}",
            warnings[0].message
        );
    }
}
