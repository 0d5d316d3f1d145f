//! Animation stacks as clips.

use std::collections::HashMap;
use std::path::Path;

use glam::{DQuat, DVec3};

use super::key_times::{KeyTimes, SAME};
use super::load;
use super::load::Budget;
use super::meshes::{MeshChannel, Meshes};
use super::nodes::{Nodes, dvec3, rotation, trs};
use super::skins::Property;
use crate::error::Result;
use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{AssetClip, Curve, CurveInterpolation, Keys, Track, TrackTarget};

/// One clip per stack, of the keys within the stack's range.
pub fn read(
    scene: &ufbx::Scene,
    nodes: &Nodes,
    meshes: &Meshes,
    budget: &mut Budget,
    (file_size, path): (usize, &Path),
    warnings: &mut Vec<Warning>,
) -> Result<Vec<AssetClip>> {
    let mut clips = Vec::new();
    for stack in &scene.anim_stacks {
        let baked = load::bake(scene, stack, file_size, path)?;
        let times = KeyTimes::new(&baked, scene.settings.frames_per_second);
        let name = stack.element.name.to_string();
        let mut tracks = Vec::new();
        for node in &baked.nodes {
            let (Some(index), Some(rest)) = (
                nodes.of_typed_id(node.typed_id),
                scene.nodes.get(node.typed_id as usize),
            ) else {
                continue;
            };
            node_tracks(node, rest, index, &times, &mut tracks, budget, &name)?;
        }
        weight_tracks(&baked, nodes, meshes, &times, &mut tracks, budget, &name)?;
        if let Some(range) = range_of(stack, &tracks) {
            let [begin, end] = range;
            let message = format!("keys outside its range from {begin} to {end} seconds: left out");
            warnings.push(Warning::new("fbx-range", &name, message));
            tracks
                .iter_mut()
                .for_each(|track| crop(&mut track.curve, range));
        }
        clips.push(AssetClip {
            name,
            tracks,
            ..AssetClip::default()
        });
    }
    Ok(clips)
}

/// The range of a stack in seconds, where some keys are outside and others inside.
fn range_of(stack: &ufbx::AnimStack, tracks: &[Track]) -> Option<[f64; 2]> {
    let range = [stack.time_begin, stack.time_end];
    let times = || tracks.iter().flat_map(|t| &t.curve.times);
    let is_inside = |t: &f64| range[0] <= *t + SAME && *t <= range[1] + SAME;
    let is_cut = range[0] < range[1] && !times().all(is_inside) && times().any(is_inside);
    is_cut.then_some(range)
}

/// Leaves the keys of a linear curve that are in a range, with keys at its ends.
fn crop(curve: &mut Curve, [begin, end]: [f64; 2]) {
    let (Some(first), Some(last)) = (curve.times.first(), curve.times.last()) else {
        return;
    };
    // Before the first key and after the last one its value holds.
    let (begin, end) = match (*last < begin, *first > end) {
        (true, _) => (begin, begin),
        (_, true) => (end, end),
        _ => (begin.max(*first), end.min(*last)),
    };
    let inside = curve.times.iter().filter(|t| begin < **t && **t < end);
    let mut times: Vec<f64> = std::iter::once(begin).chain(inside.copied()).collect();
    if begin < end {
        times.push(end);
    }
    let vectors = || {
        times
            .iter()
            .map(|t| curve.vector(*t).unwrap_or_default())
            .collect()
    };
    let keys = match &curve.keys {
        Keys::Translation(_) => Keys::Translation(vectors()),
        Keys::Scale(_) => Keys::Scale(vectors()),
        Keys::Rotation(_) => {
            let rotations = times.iter().map(|t| curve.rotation(*t).unwrap_or_default());
            Keys::Rotation(rotations.collect())
        }
        Keys::Weights { count, .. } => {
            let row = |t: f64| (0..*count).map(move |i| (i, t));
            let rows = times.iter().flat_map(|t| row(*t));
            let rows = rows.map(|(i, t)| curve.weight(i, t).unwrap_or_default());
            Keys::Weights {
                count: *count,
                values: rows.collect(),
            }
        }
    };
    curve.keys = keys;
    curve.times = times;
}

/// Translation, rotation and scale, but for what stays at rest.
fn node_tracks(
    baked: &ufbx::BakedNode,
    node: &ufbx::Node,
    index: usize,
    times_of: &KeyTimes,
    tracks: &mut Vec<Track>,
    budget: &mut Budget,
    clip: &str,
) -> Result<(), Invalid> {
    let keys = baked.translation_keys.len() + baked.rotation_keys.len() + baked.scale_keys.len();
    budget.spend::<(f64, DQuat)>(keys, clip)?;
    let rest = trs(&node.local_transform);
    let vectors = |keys: &[ufbx::BakedVec3]| {
        rising(
            keys.iter()
                .map(|k| (times_of.of(k.time, k.flags), dvec3(k.value))),
        )
    };
    let near = |a: DVec3, b: DVec3| a.abs_diff_eq(b, 1e-9 * b.abs().max_element().max(1e-3));
    let mut push = |times: Vec<f64>, keys| {
        if !times.is_empty() {
            let target = TrackTarget::Node(index);
            tracks.push(track(target, times, keys));
        }
    };
    for (keys, rest, make) in [
        (
            &baked.translation_keys,
            rest.translation,
            Keys::Translation as fn(Vec<DVec3>) -> Keys,
        ),
        (&baked.scale_keys, rest.scale, Keys::Scale),
    ] {
        let (times, values) = vectors(keys);
        let (times, values) = shortened(times, values, |v| near(*v, rest), |a, b| a == b);
        push(times, make(values));
    }
    let keys = baked.rotation_keys.iter();
    let (times, values) = rising(keys.map(|k| (times_of.of(k.time, k.flags), rotation(k.value))));
    let still = |q: &DQuat| q.dot(rest.rotation).abs() > 1.0 - 1e-15;
    let (times, values) = shortened(times, values, still, |a, b| a == b);
    push(times, Keys::Rotation(values));
    Ok(())
}

/// Without keys that do not come after those before.
fn rising<T>(keys: impl Iterator<Item = (f64, T)>) -> (Vec<f64>, Vec<T>) {
    let mut last = f64::NEG_INFINITY;
    let mut is_later = |time: f64| {
        let later = time.is_finite() && time > last;
        if later {
            last = time;
        }
        later
    };
    keys.filter(|(time, _)| is_later(*time)).unzip()
}

/// The first key and the last one of what does not change, and none of what stays at rest.
fn shortened<T>(
    mut times: Vec<f64>,
    mut values: Vec<T>,
    is_rest: impl Fn(&T) -> bool,
    same: impl Fn(&T, &T) -> bool,
) -> (Vec<f64>, Vec<T>) {
    if values.iter().all(is_rest) {
        return (Vec::new(), Vec::new());
    }
    if values.len() > 2 && values.windows(2).all(|w| same(&w[0], &w[1])) {
        times.drain(1..times.len() - 1);
        values.drain(1..values.len() - 1);
    }
    (times, values)
}

fn track(target: TrackTarget, times: Vec<f64>, keys: Keys) -> Track {
    Track {
        target,
        curve: Curve {
            times,
            interpolation: CurveInterpolation::Linear,
            keys,
        },
    }
}

/// Weights of all channels of a mesh, at the times of any of them, for every node that has the
/// mesh.
fn weight_tracks(
    baked: &ufbx::BakedAnim,
    nodes: &Nodes,
    meshes: &Meshes,
    times_of: &KeyTimes,
    tracks: &mut Vec<Track>,
    budget: &mut Budget,
    clip: &str,
) -> Result<(), Invalid> {
    let mut percents: HashMap<Property, &[ufbx::BakedVec3]> = HashMap::new();
    for element in &baked.elements {
        for prop in &element.props {
            percents.insert((element.element_id, prop.name.to_string()), &prop.keys);
        }
    }
    let mut of_mesh: Vec<Option<(Vec<f64>, Keys)>> = Vec::new();
    for channels in &meshes.channels {
        of_mesh.push(weights(channels, &percents, times_of, budget, clip)?);
    }
    for (index, node) in nodes.nodes.iter().enumerate() {
        let keys = node.mesh.and_then(|mesh| of_mesh.get(mesh)?.as_ref());
        if let Some((times, keys)) = keys {
            let Keys::Weights { values, .. } = keys else {
                continue;
            };
            budget.spend::<f64>(times.len() + values.len(), clip)?;
            tracks.push(track(TrackTarget::Node(index), times.clone(), keys.clone()));
        }
    }
    Ok(())
}

/// `None` where no channel is animated.
fn weights(
    channels: &[MeshChannel],
    percents: &HashMap<Property, &[ufbx::BakedVec3]>,
    times_of: &KeyTimes,
    budget: &mut Budget,
    clip: &str,
) -> Result<Option<(Vec<f64>, Keys)>, Invalid> {
    let animated = |c: &MeshChannel| {
        let mut sources = c.percents.iter();
        sources.find_map(|property| percents.get(property).copied())
    };
    let mut times: Vec<f64> = channels
        .iter()
        .filter_map(animated)
        .flatten()
        .map(|k| times_of.of(k.time, k.flags))
        .filter(|t| t.is_finite())
        .collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    if times.is_empty() {
        return Ok(None);
    }
    budget.spend::<f64>(times.len().saturating_mul(channels.len()), clip)?;
    let mut values = vec![0.0; times.len() * channels.len()];
    for (i, channel) in channels.iter().enumerate() {
        let weights = values.iter_mut().skip(i).step_by(channels.len());
        let keys = animated(channel).unwrap_or(&[]);
        for (weight, time) in weights.zip(&times) {
            *weight = percent(keys, *time).map_or(channel.weight, |p| p / 100.0 / channel.full);
        }
    }
    let count = channels.len();
    Ok(Some((times, Keys::Weights { count, values })))
}

/// Straight between keys, held beyond them.
fn percent(keys: &[ufbx::BakedVec3], time: f64) -> Option<f64> {
    let next = keys.partition_point(|k| k.time <= time);
    let before = keys.get(next.saturating_sub(1))?;
    let Some(after) = keys.get(next).filter(|_| next > 0) else {
        return Some(before.value.x);
    };
    let alpha = (time - before.time) / (after.time - before.time);
    Some(before.value.x + (after.value.x - before.value.x) * alpha)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_animate::asset::CurveInterpolation;

    use super::*;

    #[test]
    fn what_is_cut_lies_in_its_range() {
        let cropped = |range| {
            let mut curve = Curve {
                times: vec![0.0, 2.0],
                interpolation: CurveInterpolation::Linear,
                keys: Keys::Translation(vec![DVec3::ZERO, DVec3::X]),
            };
            crop(&mut curve, range);
            curve.times
        };
        assert_eq!(cropped([0.5, 1.5]), [0.5, 1.5]);
        assert_eq!(cropped([1.0, 9.0]), [1.0, 2.0]);
        assert_eq!(cropped([5.0, 9.0]), [5.0]);
        assert_eq!(cropped([-9.0, -5.0]), [-5.0]);
    }
}
