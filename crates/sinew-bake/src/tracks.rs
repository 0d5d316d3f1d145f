//! The samples of a bake into USD: every chosen prim at every time it needs.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use glam::{DMat4, Vec3};

use super::buffers::Buffers;
use super::deform::Deformer;
use super::frames::{Deformed, Schedule, Scheduled};
use super::plan::{Plan, PrimPlan};
use super::samples::{Came, Thinner};
use super::schedule::{FrameRange, authored_times};
use super::stream::deform_frames;
use super::troubles::Troubles;
use super::{BakeOptions, BakedArray, BakedPrim, BakedTransform, Progress, Samples, sharing};
use sinew::error::{Error, Result};
use sinew::sampled::Time;
use sinew::scene::Scene;

/// Results that a bake makes without being asked for these frames.
const MAX_BYTES_UNASKED: u64 = 16 << 30;

/// What is to be done, and when.
pub(super) struct Work {
    pub plan: Plan,
    /// Prims that come out like an earlier one, by that one.
    pub copies: BTreeMap<usize, Vec<usize>>,
    pub schedule: Schedule,
}

impl Work {
    /// # Errors
    /// More than a million samples.
    pub fn new(scene: &Scene, chosen: &[usize], options: &BakeOptions) -> Result<Self> {
        let plan = Plan::new(scene, chosen, options);
        let times_of = times_of_skeletons(scene, &plan, options.frames.as_ref())?;
        let copies = sharing::copies(scene, &plan, &times_of);
        let schedule = schedule(scene, &plan, &times_of, &copies);
        Ok(Self {
            plan,
            copies,
            schedule,
        })
    }

    /// Prims that are not copies of another.
    pub fn leaders(&self) -> impl Iterator<Item = usize> {
        let copies: HashSet<usize> = self.copies.values().flatten().copied().collect();
        let all = self.plan.prims().map(|p| p.binding);
        all.filter(move |b| !copies.contains(b))
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

/// What came of a schedule.
pub(super) struct Baked {
    /// Prims with at least one sample, by their index into [`Scene::bindings`].
    pub prims: BTreeMap<usize, Track>,
    /// Posing and deforming alone.
    pub deform_time: Duration,
}

/// A prim's samples. Points and normals are [thinned](Thinner); extents and transforms are all there.
pub(super) struct Track {
    pub prim: BakedPrim,
    /// Times at which something was baked.
    pub samples: usize,
    /// Points of the time that has most of them.
    pub points: usize,
    /// Of all times.
    pub deformed_points: u64,
}

/// Takes the values of a property at a time; what comes back beside the array are values that are needed no more.
pub(super) type Keep<'a> =
    dyn FnMut(Time, Vec<Vec3>) -> Result<(BakedArray, Option<Vec<Vec3>>)> + 'a;

/// Bakes the prims of a schedule: all of `work`'s, or a run of its times.
///
/// # Errors
/// A GPU that fails, and whatever `keep` says.
pub(super) fn bake_schedule(
    scene: &Scene,
    work: &Work,
    schedule: &[Scheduled],
    deformer: &mut Deformer,
    troubles: &mut Troubles,
    keep: &mut Keep<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Baked> {
    let plan = &work.plan;
    let mut prims: BTreeMap<usize, OpenTrack> = BTreeMap::new();
    let deform_time = deform_frames(
        scene,
        plan,
        schedule,
        deformer,
        troubles,
        progress,
        &mut |frame, buffers| {
            let mut keep = Keeping { keep, buffers };
            for (b, matrix) in frame.transforms {
                let track = prims
                    .entry(b)
                    .or_insert_with(|| OpenTrack::new(scene, plan, b));
                track.add_transform(frame.time, matrix);
            }
            for done in frame.deformed {
                let b = done.binding;
                let track = prims
                    .entry(b)
                    .or_insert_with(|| OpenTrack::new(scene, plan, b));
                track.add(frame.time, done, &mut keep)?;
            }
            Ok(())
        },
    )?;
    let mut out = BTreeMap::new();
    let buffers = &Buffers::default();
    for (b, track) in prims {
        let mut track = track.finish(&mut Keeping { keep, buffers })?;
        let copies = work.copies.get(&b).into_iter().flatten();
        track.prim.copies = copies.map(|c| scene.bindings[*c].path.clone()).collect();
        out.insert(b, track);
    }
    Ok(Baked {
        prims: out,
        deform_time,
    })
}

/// Where thinned values go.
struct Keeping<'a, 'k> {
    keep: &'a mut Keep<'k>,
    buffers: &'a Buffers,
}

impl Keeping<'_, '_> {
    fn came(&mut self, came: Came<Vec<Vec3>>, samples: &mut Samples<BakedArray>) -> Result<()> {
        match came {
            Came::Nothing => {}
            Came::Redundant(values) => self.buffers.give(values),
            Came::Needed(time, values) => {
                let (array, free) = (self.keep)(time, values)?;
                samples.push((time, array));
                if let Some(values) = free {
                    self.buffers.give(values);
                }
            }
        }
        Ok(())
    }
}

/// A track that grows.
struct OpenTrack {
    track: Track,
    points: Thinner<Vec<Vec3>>,
    /// Of each property that holds some.
    normals: Vec<Thinner<Vec<Vec3>>>,
}

impl OpenTrack {
    fn new(scene: &Scene, plan: &Plan, b: usize) -> Self {
        let prim = empty(scene, plan, b);
        Self {
            normals: prim.normals.iter().map(|_| Thinner::default()).collect(),
            points: Thinner::default(),
            track: Track {
                prim,
                samples: 0,
                points: 0,
                deformed_points: 0,
            },
        }
    }

    fn add_transform(&mut self, time: Time, matrix: DMat4) {
        if let Some(transform) = &mut self.track.prim.transform {
            transform.samples.push((time, matrix));
            self.track.samples = self.track.samples.max(transform.samples.len());
        }
    }

    fn add(&mut self, time: Time, done: Deformed, keep: &mut Keeping<'_, '_>) -> Result<()> {
        let prim = &mut self.track.prim;
        if let Some(normals) = done.normals {
            let came = self.normals[done.part.normals].push(time, normals);
            keep.came(came, &mut prim.normals[done.part.normals].1)?;
        }
        // Further normals of the same prim come with the same points.
        if done.part.normals > 0 {
            keep.buffers.give(done.points);
            return Ok(());
        }
        prim.extent.push((time, done.extent));
        self.track.samples = self.track.samples.max(prim.extent.len());
        self.track.points = self.track.points.max(done.points.len());
        self.track.deformed_points += done.points.len() as u64;
        keep.came(self.points.push(time, done.points), &mut prim.points)
    }

    fn finish(mut self, keep: &mut Keeping<'_, '_>) -> Result<Track> {
        let prim = &mut self.track.prim;
        let normals = self.normals.into_iter().zip(&mut prim.normals);
        let normals = normals.map(|(thinner, (_, samples))| (thinner, samples));
        for (mut thinner, samples) in normals.chain([(self.points, &mut prim.points)]) {
            if let Some((time, values)) = thinner.finish() {
                keep.came(Came::Needed(time, values), samples)?;
            }
        }
        Ok(self.track)
    }
}

fn empty(scene: &Scene, plan: &Plan, b: usize) -> BakedPrim {
    let binding = &scene.bindings[b];
    BakedPrim {
        path: binding.path.clone(),
        copies: Vec::new(),
        points: Vec::new(),
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

/// Times at which the prims of each skeleton are sampled, by index into [`Scene::instances`].
pub(super) fn times_of_skeletons(
    scene: &Scene,
    plan: &Plan,
    frames: Option<&FrameRange>,
) -> Result<BTreeMap<usize, Vec<Time>>> {
    let mut of_instance: BTreeMap<usize, Vec<&PrimPlan>> = BTreeMap::new();
    for prim in plan.prims() {
        of_instance
            .entry(scene.bindings[prim.binding].instance)
            .or_default()
            .push(prim);
    }
    let mut out = BTreeMap::new();
    for (instance, prims) in of_instance {
        let times = match frames {
            Some(frames) => frames.times().into_iter().map(Time::At).collect(),
            None => authored_times(scene, instance, &prims)?,
        };
        out.insert(instance, times);
    }
    Ok(out)
}

fn schedule(
    scene: &Scene,
    plan: &Plan,
    times_of: &BTreeMap<usize, Vec<Time>>,
    copies: &BTreeMap<usize, Vec<usize>>,
) -> Schedule {
    let copied: HashSet<usize> = copies.values().flatten().copied().collect();
    let mut all: Vec<(Time, usize)> = Vec::new();
    for prim in plan.prims().filter(|p| !copied.contains(&p.binding)) {
        let times = &times_of[&scene.bindings[prim.binding].instance];
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

/// Refuses what a file asks for by a few far-apart samples; whoever wants that much says so.
pub(super) fn check_size(scene: &Scene, plan: &Plan, schedule: &[Scheduled]) -> Result<()> {
    let bytes_of = |b: usize| {
        let binding = &scene.bindings[b];
        let normals = binding.normals.iter().map(|n| n.values.first());
        let points = std::iter::once(binding.points.first());
        let rows = points.chain(normals).flatten().map(|v| v.len() as u64);
        match plan.of(b).parts.is_empty() {
            true => 128,
            false => rows.sum::<u64>() * 12,
        }
    };
    let bindings = schedule.iter().flat_map(|(_, bindings)| bindings);
    let bytes = bindings.fold(0u64, |sum, b| sum.saturating_add(bytes_of(*b)));
    if bytes > MAX_BYTES_UNASKED {
        return Err(Error::Request(format!(
            "{}: the authored times and the frames between them make {} GB of points; choose some with --frames",
            scene.file.display(),
            bytes >> 30
        )));
    }
    Ok(())
}
