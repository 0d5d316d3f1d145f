//! The times at which prims are sampled (rule 31).

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::frames::{FrameRange, MAX_SAMPLES};
use crate::plan::{Plan, PrimPlan, TransformKind};
use crate::shutter::Shutter;
use sinew::sampled::Time;
use sinew::scene::{Scene, TimeLine};

/// The bindings to deform at each time. Times ascend, and the default time is first.
pub(super) type Schedule = Vec<Scheduled>;

/// A time and the bindings to deform at that time.
pub(super) type Scheduled = (Time, Vec<usize>);

/// Prims by the index of their Skeleton into [`Scene::instances`].
pub(super) fn by_skeleton<'p>(
    scene: &Scene,
    prims: impl Iterator<Item = &'p PrimPlan>,
) -> BTreeMap<usize, Vec<&'p PrimPlan>> {
    let mut out: BTreeMap<usize, Vec<&PrimPlan>> = BTreeMap::new();
    for prim in prims {
        let instance = scene.bindings[prim.binding].instance;
        out.entry(instance).or_default().push(prim);
    }
    out
}

/// The times at which the prims of each skeleton are sampled, by index into [`Scene::instances`].
pub(super) fn times_of_skeletons(
    scene: &Scene,
    plan: &Plan,
    frames: Option<&FrameRange>,
) -> Result<BTreeMap<usize, Vec<Time>>> {
    if let Some(frames) = frames {
        frames.check(scene)?;
    }
    let mut out = BTreeMap::new();
    for (instance, prims) in by_skeleton(scene, plan.prims()) {
        let times = match frames {
            Some(frames) => frames.times().into_iter().map(Time::At).collect(),
            None => authored_times(scene, instance, &prims)?,
        };
        out.insert(instance, times);
    }
    Ok(out)
}

/// Replaces the times of skeletons by the samples of a shutter: at the frames that were asked for,
/// or else those of the stage, or the authored times if the stage has no frames.
///
/// # Errors
/// [`Error::TooManyFrames`] for more than a million samples, or frames of the stage.
pub(super) fn open_shutter(
    scene: &Scene,
    shutter: &Shutter,
    asked: Option<&FrameRange>,
    times_of: &mut BTreeMap<usize, Vec<Time>>,
) -> Result<()> {
    let line = &scene.time_line;
    let step = line.time_codes_per_second / line.frames_per_second;
    let of_stage = line
        .range
        .map(|(first, last)| FrameRange { first, last, step });
    let of_stage = of_stage.filter(|_| asked.is_none());
    let of_stage = match of_stage.map(|frames| frames.check(scene)) {
        None | Some(Ok(())) => of_stage,
        Some(Err(Error::EmptyRange { .. })) => None,
        Some(Err(e)) => return Err(e),
    };
    for times in times_of.values_mut() {
        let codes: Vec<f64> = times.iter().filter_map(|t| t.code()).collect();
        if codes.is_empty() {
            continue;
        }
        let frames = of_stage.map_or(codes, |frames| frames.times());
        let too_many = || Error::TooManyFrames {
            file: scene.file.clone(),
            most: MAX_SAMPLES,
            range: asked.map(|frames| (frames.first, frames.last)),
        };
        // Frames whose shutters meet share a sample, but no request for that many is meant.
        if frames.len().saturating_mul(shutter.samples) > 2 * MAX_SAMPLES {
            return Err(too_many());
        }
        let samples = shutter.times(&frames);
        if samples.len() > MAX_SAMPLES {
            return Err(too_many());
        }
        *times = samples.into_iter().map(Time::At).collect();
    }
    Ok(())
}

/// The times at which the prims of one skeleton are sampled.
///
/// These are all authored times that the result depends on: of joints, channel weights, rest data,
/// geomBindTransform, and the transforms between the skeleton and the prims, including their
/// ancestors up to the common one (Pixar's bake omits the ancestors). The stage's frames between
/// the first and the last of these times are added. If there are none, it is only the default time.
///
/// # Errors
/// [`Error::TooManyFrames`] for more than a million samples.
pub(super) fn authored_times(
    scene: &Scene,
    instance: usize,
    prims: &[&PrimPlan],
) -> Result<Vec<Time>> {
    let placed = &scene.instances[instance];
    let bindings = || prims.iter().map(|plan| &scene.bindings[plan.binding]);
    let mut times = Vec::new();
    for plan in prims {
        let binding = &scene.bindings[plan.binding];
        if let Some(part) = plan.parts.first() {
            times.extend(binding.rest_times(part.blend_only));
        }
        if binding.influences.is_some() {
            times.extend(binding.influence_times());
        }
        let prim = &scene.prims[binding.prim];
        let skinned = binding.influences.is_some();
        let between = |to| scene.relation_times(&scene.relation(to, placed.prim));
        match plan.transform {
            Some(TransformKind::World | TransformKind::Skeleton) => {
                times.extend(scene.transform_times(binding.prim));
                times.extend(scene.transform_times(placed.prim));
            }
            // Its own transform is replaced, so only those of its parents matter (rule 28).
            Some(TransformKind::Rigid) => match prim.parent.filter(|_| !prim.xform.resets) {
                Some(parent) => {
                    times.extend(between(parent));
                    // Pixar's bake uses the parent, whatever the common ancestor is.
                    times.extend(scene.prims[parent].xform.times());
                }
                None => times.extend(scene.transform_times(placed.prim)),
            },
            None if skinned => {
                times.extend(between(binding.prim));
                // The same for the prim, and for a prim below the Skeleton.
                times.extend(prim.xform.times());
            }
            None => {}
        }
        if skinned {
            times.extend(scene.prims[placed.prim].xform.times());
        }
    }
    // Pixar's bake samples joints if a prim is skinned and weights if a prim has shapes, even if no
    // joint or channel applies to the prim.
    if let Some(animation) = placed.instance.animation() {
        if bindings().any(|b| b.influences.is_some()) {
            times.extend(animation.joint_times());
        }
        if bindings().any(|b| !b.shapes.is_empty()) {
            times.extend(animation.blend_shape_weights.times());
        }
    }
    times.retain(|t| t.is_finite());
    sort(&mut times);
    if let [first, .., last] = times[..] {
        let frames = stage_frames(&scene.time_line, first, last).ok_or_else(|| too_many(scene))?;
        times.extend(frames);
        sort(&mut times);
    }
    if times.len() > MAX_SAMPLES {
        return Err(too_many(scene));
    }
    if times.is_empty() {
        return Ok(vec![Time::Default]);
    }
    Ok(times.into_iter().map(Time::At).collect())
}

fn too_many(scene: &Scene) -> Error {
    Error::TooManyFrames {
        file: scene.file.clone(),
        most: MAX_SAMPLES,
        range: None,
    }
}

fn sort(times: &mut Vec<f64>) {
    times.sort_by(f64::total_cmp);
    times.dedup();
}

/// The stage's frames within `[first, last]`: steps of timeCodesPerSecond / framesPerSecond from
/// startTimeCode to one frame after endTimeCode, as in Pixar's bake. Empty if the stage has no
/// range; `None` if there are more than [`MAX_SAMPLES`].
fn stage_frames(line: &TimeLine, first: f64, last: f64) -> Option<Vec<f64>> {
    let Some((start, end)) = line.range else {
        return Some(Vec::new());
    };
    let step = line.time_codes_per_second / line.frames_per_second;
    if !(step.is_finite() && step > 0.0 && start.is_finite() && end.is_finite() && end >= start) {
        return Some(Vec::new());
    }
    let last_index = ((end - start) / step + 1.0).floor();
    let from = ((first - start) / step).floor().max(0.0);
    let to = ((last - start) / step).ceil().min(last_index);
    if to < from {
        return Some(Vec::new());
    }
    if to - from >= MAX_SAMPLES as f64 {
        return None;
    }
    let frames = (from as u64..=to as u64).map(|i| start + step * i as f64);
    Some(frames.filter(|t| (first..=last).contains(t)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(range: Option<(f64, f64)>) -> TimeLine {
        TimeLine {
            range,
            time_codes_per_second: 24.0,
            frames_per_second: 24.0,
        }
    }

    #[test]
    fn frames_lie_between_the_samples() {
        assert_eq!(
            stage_frames(&line(Some((1.0, 5.0))), 1.5, 3.5).unwrap(),
            [2.0, 3.0]
        );
        assert_eq!(
            stage_frames(&line(Some((1.0, 2.0))), 0.0, 9.0).unwrap(),
            [1.0, 2.0, 3.0]
        );
        assert!(stage_frames(&line(None), 0.0, 9.0).unwrap().is_empty());
        assert!(
            stage_frames(&line(Some((5.0, 1.0))), 0.0, 9.0)
                .unwrap()
                .is_empty()
        );
        assert!(stage_frames(&line(Some((0.0, 1e300))), 0.0, 1e300).is_none());
    }

    #[test]
    fn frames_follow_the_two_rates() {
        let line = TimeLine {
            range: Some((1.0, 5.0)),
            time_codes_per_second: 30.0,
            frames_per_second: 24.0,
        };
        assert_eq!(
            stage_frames(&line, 1.0, 7.5).unwrap(),
            [1.0, 2.25, 3.5, 4.75, 6.0]
        );
    }
}
