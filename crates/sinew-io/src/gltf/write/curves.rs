//! Curves as glTF stores them, and clips as animations (glTF 2.0, 3.11).

use std::collections::HashSet;

use glam::DQuat;
use serde_json::{Value, json};

use super::buffer::BufferBuilder;
use sinew::error::Warning;
use sinew_animate::asset::{Asset, AssetClip, Curve, CurveInterpolation, Keys, TrackTarget};

/// A curve as glTF stores it.
pub(in crate::gltf) struct StoredCurve {
    pub times: Vec<f32>,
    /// `target.path` of its channel.
    pub path: &'static str,
    /// `type` of the accessor of its values.
    pub kind: &'static str,
    pub interpolation: &'static str,
    pub values: Vec<f32>,
    /// Elements of `kind`.
    pub count: usize,
}

impl StoredCurve {
    /// As [`Self::of`], with rotations of length 1 whose neighbouring keys lie on one hemisphere.
    ///
    /// # Errors
    /// Those of [`Self::of`].
    pub fn continuous(curve: &Curve) -> Result<Self, String> {
        match &curve.keys {
            Keys::Rotation(v) if curve.interpolation != CurveInterpolation::CubicSpline => {
                Self::of(&Curve {
                    times: curve.times.clone(),
                    interpolation: curve.interpolation,
                    keys: Keys::Rotation(continuous(v)),
                })
            }
            _ => Self::of(curve),
        }
    }

    /// The keys as they are. Of keys whose times f32 does not tell apart, the last one has that
    /// time. The first one has the f32 before it, where that is free: the two are a cut.
    ///
    /// # Errors
    /// What is found instead of times from 0 up and numbers within the range of f32.
    pub fn of(curve: &Curve) -> Result<Self, String> {
        let is_cubic = curve.interpolation == CurveInterpolation::CubicSpline;
        let per_key = if is_cubic { 3 } else { 1 };
        let (keep, times) = distinct_times(curve);
        let (path, kind, width, values): (_, _, _, Vec<f64>) = match &curve.keys {
            Keys::Translation(v) => (
                "translation",
                "VEC3",
                3,
                v.iter().flat_map(|v| v.to_array()).collect(),
            ),
            Keys::Scale(v) => (
                "scale",
                "VEC3",
                3,
                v.iter().flat_map(|v| v.to_array()).collect(),
            ),
            Keys::Rotation(v) => {
                let numbers = v.iter().flat_map(|q| q.to_array());
                ("rotation", "VEC4", 4, numbers.collect())
            }
            Keys::Weights { count, values } => ("weights", "SCALAR", *count, values.clone()),
        };
        let each = width * per_key;
        let kept = keep
            .iter()
            .flat_map(|i| values.iter().skip(i * each).take(each));
        let values: Vec<f32> = kept.map(|v| *v as f32).collect();
        if let Some(bad) = times.iter().chain(&values).find(|v| !v.is_finite()) {
            return Err(format!("a number beyond the range of f32 ({bad})"));
        }
        if let Some(early) = times.first().filter(|t| **t < 0.0) {
            return Err(format!(
                "a key at {early} seconds, before 0, where glTF starts"
            ));
        }
        let elements = if kind == "SCALAR" {
            values.len()
        } else {
            values.len() / width
        };
        Ok(Self {
            times,
            path,
            kind,
            interpolation: match curve.interpolation {
                CurveInterpolation::Linear => "LINEAR",
                CurveInterpolation::Step => "STEP",
                CurveInterpolation::CubicSpline => "CUBICSPLINE",
            },
            values,
            count: elements,
        })
    }
}

/// The keys of a curve that are kept, and their times: ascending numbers of f32.
fn distinct_times(curve: &Curve) -> (Vec<usize>, Vec<f32>) {
    let times: Vec<f32> = curve.times.iter().map(|t| *t as f32).collect();
    let is_step = curve.interpolation == CurveInterpolation::Step;
    let mut kept: (Vec<usize>, Vec<f32>) = Default::default();
    let mut first = 0;
    for (last, time) in times.iter().enumerate() {
        if times.get(last + 1).is_some_and(|next| next <= time) {
            continue;
        }
        // Steps jump at the second key of a cut anyhow.
        let before = time.next_down();
        let is_free = kept.1.last().map_or(0.0 <= before, |end| *end < before);
        if first < last && !is_step && is_free {
            kept.0.push(first);
            kept.1.push(before);
        }
        kept.0.push(last);
        kept.1.push(*time);
        first = last + 1;
    }
    kept
}

/// The same rotations with length 1, each on the hemisphere of the one before it.
fn continuous(rotations: &[DQuat]) -> Vec<DQuat> {
    let mut out: Vec<DQuat> = Vec::with_capacity(rotations.len());
    for q in rotations {
        let q = match q.length_squared() {
            l if l > 0.0 => q.normalize(),
            _ => DQuat::IDENTITY,
        };
        let turns = out.last().is_some_and(|last| last.dot(q) < 0.0);
        out.push(if turns { -q } else { q });
    }
    out
}

/// A clip as an animation; `None` if nothing is left of it.
pub(super) fn animation(
    asset: &Asset,
    clip: &AssetClip,
    buffer: &mut BufferBuilder,
    warnings: &mut Vec<Warning>,
) -> Result<Option<Value>, String> {
    let name = match clip.name.as_str() {
        "" => "(unnamed)",
        name => name,
    };
    let shift = clip.range().map_or(0.0, |(first, _)| (-first).max(0.0));
    if shift > 0.0 {
        let message = format!(
            "its keys begin {shift} seconds before 0, where glTF starts: all keys are moved by this amount"
        );
        warnings.push(Warning::new("clip-shifted", name, message));
    }
    let mut channels = Vec::new();
    let mut samplers = Vec::new();
    let mut taken = HashSet::new();
    let (mut others, mut doubled) = (0, 0);
    for track in &clip.tracks {
        let TrackTarget::Node(node) = track.target else {
            others += 1;
            continue;
        };
        if let Keys::Weights { count, .. } = &track.curve.keys {
            let mesh = asset.nodes[node].mesh.map(|m| &asset.meshes[m]);
            if mesh.is_none_or(|m| m.target_names.len() != *count || *count == 0) {
                others += 1;
                continue;
            }
        }
        let mut curve = track.curve.clone();
        if shift > 0.0 {
            curve.times.iter_mut().for_each(|t| *t += shift);
        }
        let stored = StoredCurve::continuous(&curve).map_err(|found| {
            let node = &asset.nodes[node].name;
            format!("{name}: the curve of \"{node}\" has {found}")
        })?;
        if !taken.insert((node, stored.path)) {
            doubled += 1;
            continue;
        }
        let input = buffer.add_times(&stored.times);
        let output = buffer.add_keys(&stored.values, stored.kind, stored.count);
        samplers.push(json!({
            "input": input, "output": output, "interpolation": stored.interpolation,
        }));
        channels.push(json!({
            "sampler": samplers.len() - 1, "target": { "node": node, "path": stored.path },
        }));
    }
    if others > 0 {
        let message = format!(
            "{others} of its tracks move no node or no morph target that is written: left out"
        );
        warnings.push(Warning::new("tracks-left-out", name, message));
    }
    if doubled > 0 {
        let message = format!(
            "{doubled} of its tracks move what another track moves: the first track is used"
        );
        warnings.push(Warning::new("tracks-left-out", name, message));
    }
    if channels.is_empty() {
        return Ok(None);
    }
    let mut animation = json!({ "channels": channels, "samplers": samplers });
    if !clip.name.is_empty() {
        animation["name"] = json!(clip.name);
    }
    if let Some(extras) = &clip.extras {
        animation["extras"] = extras.clone();
    }
    Ok(Some(animation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_stay_on_one_hemisphere() {
        let a = DQuat::from_rotation_x(0.2);
        let b = DQuat::from_rotation_x(1.0);
        let curve = Curve {
            times: vec![0.0, 1.0, 2.0],
            interpolation: CurveInterpolation::Linear,
            keys: Keys::Rotation(vec![a, -b * 2.0, a]),
        };
        let stored = StoredCurve::continuous(&curve).unwrap();
        assert_eq!(
            (stored.path, stored.kind, stored.count),
            ("rotation", "VEC4", 3)
        );
        assert!(
            stored.values.chunks(4).all(|q| q[3] > 0.0),
            "{:?}",
            stored.values
        );
        let length = |q: &[f32]| q.iter().map(|v| v * v).sum::<f32>();
        assert!(
            stored
                .values
                .chunks(4)
                .all(|q| (length(q) - 1.0).abs() < 1e-6)
        );
    }

    #[test]
    fn keys_whose_times_f32_does_not_tell_apart_are_a_cut() {
        let curve = |interpolation, times: &[f64]| Curve {
            times: times.to_vec(),
            interpolation,
            keys: Keys::Weights {
                count: 1,
                values: (1..=times.len()).map(|v| v as f64).collect(),
            },
        };
        let stored = |how, times: &[f64]| StoredCurve::of(&curve(how, times)).unwrap();
        let (linear, step) = (CurveInterpolation::Linear, CurveInterpolation::Step);
        let cut = [1e4, 1e4 + 1e-6, 1e4 + 2e-6, 2e4];
        let of_linear = stored(linear, &cut);
        assert_eq!(of_linear.times, [1e4f32.next_down(), 1e4, 2e4]);
        assert_eq!(of_linear.values, [1.0, 3.0, 4.0]);
        let of_steps = stored(step, &cut);
        assert_eq!(
            (of_steps.times, of_steps.values),
            (vec![1e4, 2e4], vec![3.0, 4.0])
        );
        // Nothing comes before second 0.
        assert_eq!(stored(linear, &[0.0, 1e-60, 1.0]).values, [2.0, 3.0]);
    }
}
