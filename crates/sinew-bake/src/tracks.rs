//! The samples of a bake into USD: each chosen prim at its own times.

use std::collections::{BTreeMap, HashSet};

use glam::Vec3;

use super::backend::Deformer;
use super::diagnostics::Diagnostics;
use super::error::{Error, Result};
use super::fewest::{self, Fewest};
use super::options::{Progress, Watch};
use super::plan::{BakePlan, Plan, PrimPlan, copies};
use super::run::{Ran, own_times};
use super::samples::{Came, Thinner};
use super::schedule::{FrameRange, MAX_SAMPLES, Schedule, Scheduled, authored_times};
use super::shutter::Shutter;
use super::sink::{BakeStart, Frame, FrameSink, PrimSample, SinkError};
use super::space::vectors;
use super::stream::tell;
use super::{BakedArray, BakedPrim, BakedTransform, Samples};
use sinew::sampled::Time;
use sinew::scene::Scene;

/// The largest size of results in bytes, if the caller did not ask for these frames.
const MAX_BYTES_UNASKED: u64 = 16 << 30;

/// The plan of a bake and its schedule.
pub(super) struct Work {
    pub plan: Plan,
    /// Prims with the same result as an earlier prim, by that prim.
    pub copies: BTreeMap<usize, Vec<usize>>,
    pub schedule: Schedule,
    /// The error that is left if [`BakePlan::max_error`] is set, and what it could not be kept for.
    pub fewest: Option<Fewest>,
}

impl Work {
    /// # Errors
    /// [`Error::TooManyFrames`] for more than a million samples, and [`Error::Cancelled`].
    pub fn new(
        scene: &Scene,
        chosen: &[usize],
        asked: &BakePlan,
        watch: &mut Watch<'_>,
    ) -> Result<Self> {
        let plan = Plan::new(scene, chosen, asked);
        let mut times_of = times_of_skeletons(scene, &plan, asked.frames.as_ref())?;
        if let Some(shutter) = &asked.shutter {
            open_shutter(scene, shutter, asked.frames.as_ref(), &mut times_of)?;
        }
        let copies = copies(scene, &plan, &times_of);
        let fewest = match asked.max_error {
            Some(error) => {
                let bases = bases(scene, &plan, asked, &times_of, &copies)?;
                Some(fewest_times(scene, &plan, &bases, error, watch)?)
            }
            None => None,
        };
        let schedule = schedule(&plan, &copies, |b| match &fewest {
            Some(fewest) => fewest.times.get(&b).map_or(&[][..], Vec::as_slice),
            None => &times_of[&scene.bindings[b].instance],
        });
        Ok(Self {
            plan,
            copies,
            schedule,
            fewest,
        })
    }

    /// Prims that are not copies of an earlier one.
    pub fn leaders(&self) -> impl Iterator<Item = usize> {
        leaders(&self.plan, &self.copies).map(|p| p.binding)
    }

    /// A prim of the plan without samples.
    pub fn untouched(&self, scene: &Scene, b: usize) -> BakedPrim {
        let copies = self.copies.get(&b).into_iter().flatten();
        BakedPrim {
            copies: copies.map(|c| scene.bindings[*c].path.clone()).collect(),
            ..empty(scene, &self.plan, b)
        }
    }
}

/// The results of a schedule.
pub(super) struct Baked {
    /// Prims with at least one sample, by their index into [`Scene::bindings`].
    /// Points and normals are [thinned](Thinner); extents and transforms are not.
    pub prims: BTreeMap<usize, BakedPrim>,
    pub ran: Ran,
}

/// Receives the values of a property at a time. It returns the written array and values that are
/// not needed any more.
pub(super) type Keep<'a> =
    dyn FnMut(Time, Vec<Vec3>) -> Result<(BakedArray, Option<Vec<Vec3>>)> + 'a;

/// Bakes the prims of a schedule: that of `work`, or a part of it.
///
/// # Errors
/// Errors of the GPU and of `keep`, and [`Error::Cancelled`].
pub(super) fn bake_schedule(
    scene: &Scene,
    work: &Work,
    schedule: &[Scheduled],
    deformer: &mut Deformer,
    diagnostics: &mut Diagnostics,
    keep: &mut Keep<'_>,
    watch: &mut Watch<'_>,
) -> Result<Baked> {
    let mut sink = TrackSink {
        scene,
        work,
        keep,
        prims: BTreeMap::new(),
        done: BTreeMap::new(),
    };
    let ran = own_times(
        scene,
        work,
        schedule,
        deformer,
        diagnostics,
        &mut sink,
        watch,
    )?;
    sink.finish().map_err(Error::of_sink)?;
    Ok(Baked {
        prims: sink.done,
        ran,
    })
}

/// Thins the samples of every prim and writes those that are needed to the file immediately.
struct TrackSink<'a, 'k> {
    scene: &'a Scene,
    work: &'a Work,
    keep: &'a mut Keep<'k>,
    /// By index into [`Scene::bindings`].
    prims: BTreeMap<usize, Track>,
    /// The results, after the last frame.
    done: BTreeMap<usize, BakedPrim>,
}

impl FrameSink for TrackSink<'_, '_> {
    fn begin(&mut self, _: &BakeStart<'_>) -> Result<(), SinkError> {
        Ok(())
    }

    fn frame(&mut self, frame: &mut Frame) -> Result<(), SinkError> {
        let (scene, plan) = (self.scene, &self.work.plan);
        let mut free = Vec::new();
        let mut keeping = Keeping {
            keep: &mut *self.keep,
            free: &mut free,
        };
        for sample in &mut frame.prims {
            let track = self
                .prims
                .entry(sample.binding)
                .or_insert_with(|| Track::new(empty(scene, plan, sample.binding)));
            track.add(frame.time, sample, &mut keeping)?;
        }
        free.into_iter().for_each(|array| frame.recycle(array));
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        let mut keeping = Keeping {
            keep: &mut *self.keep,
            free: &mut Vec::new(),
        };
        for (b, track) in std::mem::take(&mut self.prims) {
            let mut prim = track.finish(&mut keeping)?;
            let copies = self.work.copies.get(&b).into_iter().flatten();
            let path = |c: &usize| self.scene.bindings[*c].path.clone();
            prim.copies = copies.map(path).collect();
            self.done.insert(b, prim);
        }
        Ok(())
    }
}

/// The destinations of values that are needed and of those that are not.
struct Keeping<'a, 'k> {
    keep: &'a mut Keep<'k>,
    free: &'a mut Vec<Vec<Vec3>>,
}

/// Arrays of one time that are written together or not at all.
type Arrays = Vec<Vec<Vec3>>;

impl Keeping<'_, '_> {
    /// Writes the arrays that are needed, each to the samples of its property.
    fn came(&mut self, came: Came<Arrays>, samples: &mut [&mut Samples<BakedArray>]) -> Result<()> {
        match came {
            Came::Nothing => {}
            Came::Redundant(arrays) => self.free.extend(arrays),
            Came::Needed(time, arrays) => {
                for (values, samples) in arrays.into_iter().zip(samples) {
                    let (array, free) = (self.keep)(time, values)?;
                    samples.push((time, array));
                    self.free.extend(free);
                }
            }
        }
        Ok(())
    }
}

/// The samples of a prim while frames arrive.
struct Track {
    prim: BakedPrim,
    /// Points and, if they are asked for, their velocities: readers expect both at the same times.
    points: Thinner<Arrays>,
    /// One per property with samples.
    normals: Vec<Thinner<Arrays>>,
}

impl Track {
    fn new(prim: BakedPrim) -> Self {
        Self {
            normals: prim.normals.iter().map(|_| Thinner::default()).collect(),
            points: Thinner::default(),
            prim,
        }
    }

    fn add(
        &mut self,
        time: Time,
        sample: &mut PrimSample,
        keep: &mut Keeping<'_, '_>,
    ) -> Result<()> {
        let prim = &mut self.prim;
        if let (Some(transform), Some(matrix)) = (&mut prim.transform, sample.transform) {
            transform.samples.push((time, matrix));
        }
        let parts = self.normals.len();
        let mut add_normals = |part: usize, keep: &mut Keeping<'_, '_>| match sample
            .normals
            .get_mut(part)
            .and_then(Option::take)
        {
            Some(values) => {
                let came = self.normals[part].push(time, vec![values]);
                keep.came(came, &mut [&mut prim.normals[part].1])
            }
            None => Ok(()),
        };
        // The order of arrays in files: the first normals, points, other normals.
        add_normals(0, keep)?;
        if let Some(extent) = sample.extent {
            prim.extent.push((time, extent));
            let points = std::mem::take(&mut sample.points);
            let arrays = std::iter::once(points).chain(sample.velocities.take());
            let came = self.points.push(time, arrays.collect());
            keep.came(came, &mut [&mut prim.points, &mut prim.velocities])?;
        }
        (1..parts).try_for_each(|part| add_normals(part, keep))
    }

    fn finish(mut self, keep: &mut Keeping<'_, '_>) -> Result<BakedPrim> {
        let prim = &mut self.prim;
        let mut finish = |mut thinner: Thinner<Arrays>, samples: &mut [_]| {
            let last = thinner.finish();
            let came = last.map_or(Came::Nothing, |(time, arrays)| Came::Needed(time, arrays));
            keep.came(came, samples)
        };
        for (thinner, (_, samples)) in self.normals.into_iter().zip(&mut prim.normals) {
            finish(thinner, &mut [samples])?;
        }
        finish(self.points, &mut [&mut prim.points, &mut prim.velocities])?;
        Ok(self.prim)
    }
}

fn empty(scene: &Scene, plan: &Plan, b: usize) -> BakedPrim {
    let binding = &scene.bindings[b];
    BakedPrim {
        path: binding.path.clone(),
        copies: Vec::new(),
        points: Vec::new(),
        velocities: Vec::new(),
        normals: binding
            .normals
            .iter()
            .map(|n| (n.property, Vec::new()))
            .collect(),
        extent: Vec::new(),
        transform: plan.of(b).transform.map(|kind| BakedTransform {
            resets: kind.resets(&scene.prims[binding.prim]),
            samples: Vec::new(),
        }),
    }
}

/// Prims that are not copies of an earlier one.
fn leaders<'p>(
    plan: &'p Plan,
    copies: &BTreeMap<usize, Vec<usize>>,
) -> impl Iterator<Item = &'p PrimPlan> + use<'p> {
    let copied: HashSet<usize> = copies.values().flatten().copied().collect();
    plan.prims().filter(move |p| !copied.contains(&p.binding))
}

/// Prims by the index of their Skeleton into [`Scene::instances`].
fn by_skeleton<'p>(
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
fn open_shutter(
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

/// The prims of a Skeleton that are no copies, with their base times.
type Base<'p> = (Vec<&'p PrimPlan>, Vec<Time>);

/// The times at which linear interpolation has to be measured, for each Skeleton.
fn bases<'p>(
    scene: &Scene,
    plan: &'p Plan,
    asked: &BakePlan,
    times_of: &BTreeMap<usize, Vec<Time>>,
    copies: &BTreeMap<usize, Vec<usize>>,
) -> Result<Vec<Base<'p>>> {
    let mut out = Vec::new();
    for (instance, prims) in by_skeleton(scene, leaders(plan, copies)) {
        let mut base = times_of[&instance].clone();
        if let Some(FrameRange { first, last, .. }) = asked.frames {
            // Between frames, the authored times are where the motion bends.
            let authored = authored_times(scene, instance, &prims)?;
            let inside = |t: &Time| t.code().is_some_and(|t| t > first && t < last);
            base.extend(authored.into_iter().filter(inside));
            base.sort_by(|a, b| a.code().unwrap_or(0.0).total_cmp(&b.code().unwrap_or(0.0)));
            base.dedup();
        }
        out.push((prims, base));
    }
    Ok(out)
}

/// The sample times of every prim so that linear interpolation stays near.
fn fewest_times(
    scene: &Scene,
    plan: &Plan,
    bases: &[Base<'_>],
    error: f64,
    watch: &mut Watch<'_>,
) -> Result<Fewest> {
    let total = bases.iter().map(|(_, base)| base.len()).sum();
    let mut done = 0;
    tell(watch, Progress::Choosing { done, total })?;
    let mut out = Fewest::default();
    for (prims, base) in bases {
        let before = done;
        fewest::choose((scene, plan), prims, base, error, &mut out, &mut |more| {
            done += more;
            tell(watch, Progress::Choosing { done, total })
        })?;
        // The last steps pass several times at once.
        done = before + base.len();
        tell(watch, Progress::Choosing { done, total })?;
    }
    Ok(out)
}

fn schedule<'t>(
    plan: &Plan,
    copies: &BTreeMap<usize, Vec<usize>>,
    times_of: impl Fn(usize) -> &'t [Time],
) -> Schedule {
    let mut all: Vec<(Time, usize)> = Vec::new();
    for prim in leaders(plan, copies) {
        let times = times_of(prim.binding);
        all.extend(times.iter().map(|time| (*time, prim.binding)));
    }
    let key = |t: &Time| t.code().unwrap_or(f64::NEG_INFINITY);
    all.sort_by(|a, b| key(&a.0).total_cmp(&key(&b.0)).then(a.1.cmp(&b.1)));
    let mut out: Schedule = Vec::new();
    for (time, binding) in all {
        match out.last_mut() {
            Some((last, bindings)) if *last == time => bindings.push(binding),
            _ => out.push((time, vec![binding])),
        }
    }
    out
}

/// Fails if the authored times need too much data, such as a few samples that are far apart.
/// Callers who want that much have to ask for frames.
pub(super) fn check_size(scene: &Scene, plan: &Plan, schedule: &[Scheduled]) -> Result<()> {
    let bytes_of = |b: usize| match plan.of(b).parts.is_empty() {
        true => 128,
        false => vectors(scene, plan, b) * 12,
    };
    let bindings = schedule.iter().flat_map(|(_, bindings)| bindings);
    let bytes = bindings.fold(0u64, |sum, b| sum.saturating_add(bytes_of(*b)));
    if bytes > MAX_BYTES_UNASKED {
        return Err(Error::TooLarge {
            file: scene.file.clone(),
            bytes,
        });
    }
    Ok(())
}
