//! The samples of a bake into USD: every chosen prim at every time it needs.

use std::collections::{BTreeMap, HashSet};

use super::deform::Deformer;
use super::plan::{Plan, PrimPlan};
use super::schedule::{FrameRange, authored_times};
use super::stream::{Schedule, deform_frames};
use super::troubles::{Troubles, broken_shapes};
use super::{BakeOptions, BakedPrim, BakedTransform, Progress, sharing};
use crate::error::{Error, Invalid, Result, Warning};
use crate::sampled::Time;
use crate::scene::Scene;

/// Results that a bake holds without being asked for these frames.
const MAX_BYTES_UNASKED: u64 = 16 << 30;

pub(super) struct Tracks {
    /// Prims with at least one sample, by their index into [`Scene::bindings`].
    pub prims: BTreeMap<usize, BakedPrim>,
    pub errors: Vec<Invalid>,
    pub warnings: Vec<Warning>,
}

/// What a bake into USD computes of which prims, and when.
pub(super) struct Work {
    pub plan: Plan,
    /// Prims that come out as an earlier one does, by that one.
    pub copies: BTreeMap<usize, Vec<usize>>,
    pub schedule: Schedule,
}

impl Work {
    /// The work of `chosen`, by index into [`Scene::bindings`].
    ///
    /// # Errors
    /// More times than a bake may have.
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

pub(super) fn bake_tracks(
    scene: &Scene,
    chosen: &[usize],
    options: &BakeOptions,
    deformer: &mut Deformer,
    progress: &mut dyn FnMut(Progress),
) -> Result<Tracks> {
    let work = Work::new(scene, chosen, options)?;
    if options.frames.is_none() {
        check_size(scene, &work.plan, &work.schedule)?;
    }
    let mut troubles = Troubles::default();
    let prims = bake_schedule(
        scene,
        &work,
        &work.schedule,
        deformer,
        &mut troubles,
        progress,
    )?;
    let (errors, mut warnings) = troubles.finish(scene, |b| prims.contains_key(&b));
    warnings.extend(broken_shapes(scene, &work.schedule));
    Ok(Tracks {
        prims,
        errors,
        warnings,
    })
}

/// Bakes a part of the work's schedule, or all of it: prims with at least one sample, by their index into
/// [`Scene::bindings`].
///
/// # Errors
/// A GPU that fails.
pub(super) fn bake_schedule(
    scene: &Scene,
    work: &Work,
    schedule: &Schedule,
    deformer: &mut Deformer,
    troubles: &mut Troubles,
    progress: &mut dyn FnMut(Progress),
) -> Result<BTreeMap<usize, BakedPrim>> {
    let mut prims: BTreeMap<usize, BakedPrim> = BTreeMap::new();
    deform_frames(
        scene,
        &work.plan,
        schedule,
        deformer,
        troubles,
        progress,
        &mut |frame| {
            let time = frame.time;
            let untouched = |b: usize| move || work.untouched(scene, b);
            for (b, matrix) in frame.transforms {
                if let Some(transform) = &mut prims.entry(b).or_insert_with(untouched(b)).transform
                {
                    transform.samples.push((time, matrix));
                }
            }
            for done in frame.deformed {
                let prim = prims
                    .entry(done.binding)
                    .or_insert_with(untouched(done.binding));
                if let Some(normals) = done.normals {
                    prim.normals[done.part.normals].1.push((time, normals));
                }
                // Further normals of the same prim come with the same points.
                if done.part.normals == 0 {
                    prim.points.push((time, done.points));
                    prim.extent.push((time, done.extent));
                }
            }
            Ok(())
        },
    )?;
    Ok(prims)
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
pub(super) fn check_size(scene: &Scene, plan: &Plan, schedule: &Schedule) -> Result<()> {
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
