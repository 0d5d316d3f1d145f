//! Deforms every chosen prim at every time it needs, a batch of times at a time.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use glam::DMat4;
use rayon::prelude::*;

use super::deform::{Deformer, Job};
use super::extent::extent;
use super::plan::{Plan, PrimPlan};
use super::schedule::{FrameRange, authored_times};
use super::sharing;
use super::{BakeOptions, BakedPrim, BakedTransform, Progress};
use crate::error::{Error, Invalid, Result, Warning};
use crate::kernel::{PackedPose, PackedSkin, Palette};
use crate::math;
use crate::sampled::Time;
use crate::scene::{BoundSkin, PoseCache, Scene, SkinPart};
use crate::skel::{Pose, SkinningMethod};

/// Points deformed between two steps of the progress bar, and at once on a GPU.
const BATCH_POINTS: usize = 4 << 20;

/// Results that a bake holds without being asked for these frames.
const MAX_BYTES_UNASKED: u64 = 16 << 30;

pub(super) struct Tracks {
    /// Prims with at least one sample, by their index into [`Scene::bindings`].
    pub prims: BTreeMap<usize, BakedPrim>,
    pub errors: Vec<Invalid>,
    pub warnings: Vec<Warning>,
}

pub(super) fn bake_tracks(
    scene: &Scene,
    chosen: &[usize],
    options: &BakeOptions,
    deformer: &mut Deformer,
    progress: &mut dyn FnMut(Progress),
) -> Result<Tracks> {
    let plan = Plan::new(scene, chosen, options);
    let times_of = times_of_skeletons(scene, &plan, options.frames.as_ref())?;
    let copies = sharing::copies(scene, &plan, &times_of);
    let schedule = schedule(scene, &plan, &times_of, &copies);
    if options.frames.is_none() {
        check_size(scene, &plan, &schedule)?;
    }
    let total: usize = schedule.iter().map(|(_, b)| b.len()).sum();
    let bound: Vec<BoundSkin<'_>> = scene.bound_skins().collect();
    let mut packed = StaticSkins::default();
    let mut prims: BTreeMap<usize, BakedPrim> = BTreeMap::new();
    let mut troubles = Troubles::default();
    let mut done = 0;
    progress(Progress::Deforming { done, total });
    for batch in batches(scene, &plan, &schedule) {
        // Skins that never change are packed once, in the order of first use.
        for (time, bindings) in batch {
            for &b in bindings {
                for part in &plan.of(b).parts {
                    packed.pack(b, *part, bound[b], *time, &mut troubles);
                }
            }
        }
        let posed: Vec<_> = batch
            .par_iter()
            .map(|(time, bindings)| pose_at(*time, bindings, &bound, &plan, &packed))
            .collect();
        let mut jobs = Vec::new();
        let mut places = Vec::new();
        for ((time, bindings), results) in batch.iter().zip(posed) {
            done += bindings.len();
            for (&b, result) in bindings.iter().zip(results) {
                let posed = match result {
                    Some(Ok(posed)) => posed,
                    Some(Err(e)) => {
                        troubles.at(b, *time, e);
                        continue;
                    }
                    None => continue,
                };
                if let Some(matrix) = posed.transform {
                    let prim = prims.entry(b).or_insert_with(|| empty(scene, &plan, b));
                    if let Some(transform) = &mut prim.transform {
                        transform.samples.push((*time, matrix));
                    }
                }
                for (part, skin, pose) in posed.skins {
                    jobs.push(Job::new(skin, pose));
                    places.push(Place {
                        binding: b,
                        part,
                        time: *time,
                        out_from_prim: posed.out_from_prim,
                    });
                }
            }
        }
        deformer.run(&mut jobs)?;
        let extents: Vec<_> = jobs
            .par_iter_mut()
            .zip(&places)
            .map(|(job, place)| {
                if let Some(m) = place.out_from_prim {
                    leave_prim_space(job, m);
                }
                extent(&job.points, &scene.bindings[place.binding], place.time)
            })
            .collect();
        for ((job, place), extent) in jobs.into_iter().zip(places).zip(extents) {
            let Place {
                binding: b, time, ..
            } = place;
            let Some(extent) = extent else {
                let path = &scene.bindings[b].path;
                let e = Invalid::new(path, "points", "finite results", "some that overflow f32");
                troubles.at(b, time, e.in_file(&scene.file));
                continue;
            };
            let prim = prims.entry(b).or_insert_with(|| empty(scene, &plan, b));
            if let Some(normals) = job.normals {
                prim.normals[place.part.normals].1.push((time, normals));
            }
            // Further normals of the same prim come with the same points.
            if place.part.normals == 0 {
                prim.points.push((time, job.points));
                prim.extent.push((time, extent));
            }
        }
        progress(Progress::Deforming { done, total });
    }
    let (errors, mut warnings) = troubles.finish(scene, &prims);
    for (b, prim) in &mut prims {
        let copies = copies.get(b).into_iter().flatten();
        prim.copies = copies.map(|c| scene.bindings[*c].path.clone()).collect();
    }
    warnings.extend(broken_shapes(scene, &schedule));
    Ok(Tracks {
        prims,
        errors,
        warnings,
    })
}

/// Where a job's results go.
struct Place {
    binding: usize,
    part: SkinPart,
    time: Time,
    out_from_prim: Option<DMat4>,
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

/// Carries the results of a prim that only blends, and so stays in its own space (rule 20), to
/// where they were asked for.
fn leave_prim_space(job: &mut Job, out_from_prim: DMat4) {
    for p in &mut job.points {
        *p = out_from_prim.transform_point3(p.as_dvec3()).as_vec3();
    }
    let normal = math::normal_matrix(out_from_prim);
    for n in job.normals.iter_mut().flatten() {
        *n = (normal * n.as_dvec3()).as_vec3();
    }
}

/// Bindings to deform at each time, times ascending and the default time first.
type Schedule = Vec<(Time, Vec<usize>)>;

/// Times at which the prims of each skeleton are sampled, by index into [`Scene::instances`].
fn times_of_skeletons(
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
fn check_size(scene: &Scene, plan: &Plan, schedule: &Schedule) -> Result<()> {
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

/// Runs of times that together have about [`BATCH_POINTS`] points.
fn batches<'a>(
    scene: &Scene,
    plan: &Plan,
    schedule: &'a Schedule,
) -> Vec<&'a [(Time, Vec<usize>)]> {
    let points = |b: usize| {
        let count = scene.bindings[b].points.first().map_or(0, |p| p.len());
        count * plan.of(b).parts.len()
    };
    let mut out = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (i, (_, bindings)) in schedule.iter().enumerate() {
        sum += bindings.iter().map(|b| points(*b)).sum::<usize>();
        if sum >= BATCH_POINTS {
            out.push(&schedule[start..=i]);
            (start, sum) = (i + 1, 0);
        }
    }
    if start < schedule.len() {
        out.push(&schedule[start..]);
    }
    out
}

/// Packed skins of prims whose rest data never changes; `None` for one that is broken.
#[derive(Default)]
struct StaticSkins(HashMap<(usize, SkinPart), Option<Arc<PackedSkin>>>);

impl StaticSkins {
    fn pack(
        &mut self,
        b: usize,
        part: SkinPart,
        bound: BoundSkin<'_>,
        time: Time,
        troubles: &mut Troubles,
    ) {
        if bound.binding().rest_is_animated() || self.0.contains_key(&(b, part)) {
            return;
        }
        let packed = pack(bound, part, time)
            .map_err(|e| troubles.whole(b, e))
            .ok();
        self.0.insert((b, part), packed);
    }
}

fn pack(bound: BoundSkin<'_>, part: SkinPart, time: Time) -> Result<Arc<PackedSkin>, Invalid> {
    let skin = bound.skin_part(time, part)?;
    PackedSkin::pack(&bound.binding().path, &skin).map(Arc::new)
}

/// What one prim needs at one time.
struct Posed {
    transform: Option<DMat4>,
    skins: Vec<(SkinPart, Arc<PackedSkin>, PackedPose)>,
    /// For a prim that only blends and whose results are wanted in another space.
    out_from_prim: Option<DMat4>,
}

/// Poses every binding at one time: each skeleton once, each palette once per geomBindTransform and
/// method. `None` for a prim that is broken, and said so already.
fn pose_at(
    time: Time,
    bindings: &[usize],
    bound: &[BoundSkin<'_>],
    plan: &Plan,
    packed: &StaticSkins,
) -> Vec<Option<Result<Posed, Invalid>>> {
    let mut cache = PoseCache::new(plan.space);
    let mut palettes = Palettes::default();
    bindings
        .iter()
        .map(|&b| {
            let prim = plan.of(b);
            let is_broken = |part: &SkinPart| matches!(packed.0.get(&(b, *part)), Some(None));
            if prim.parts.iter().any(is_broken) {
                return None;
            }
            Some(pose_prim(
                time,
                bound[b],
                prim,
                packed,
                &mut cache,
                &mut palettes,
            ))
        })
        .collect()
}

fn pose_prim(
    time: Time,
    bound: BoundSkin<'_>,
    plan: &PrimPlan,
    packed: &StaticSkins,
    cache: &mut PoseCache,
    palettes: &mut Palettes,
) -> Result<Posed, Invalid> {
    let mut out = Posed {
        transform: match plan.transform {
            Some(kind) => Some(kind.at(bound, time, cache)?),
            None => None,
        },
        skins: Vec::with_capacity(plan.parts.len()),
        out_from_prim: None,
    };
    for &part in &plan.parts {
        let skin = match packed.0.get(&(plan.binding, part)) {
            Some(Some(skin)) => skin.clone(),
            _ => pack(bound, part, time)?,
        };
        let pose = match part.blend_only {
            true => cache.blend_pose(bound, time),
            false => cache.pose(bound, time)?,
        };
        let palette = palettes.get(bound.binding().instance, &skin, &pose);
        if palette.is_none() {
            out.out_from_prim = cache.out_from_prim(bound, time)?;
        }
        let pose =
            PackedPose::with_palette(&skin, palette, pose.out_from_skel, pose.channel_weights);
        out.skins.push((part, skin, pose));
    }
    Ok(out)
}

#[derive(Default)]
struct Palettes(HashMap<(usize, SkinningMethod, [u64; 16]), Arc<Palette>>);

impl Palettes {
    fn get(&mut self, instance: usize, skin: &PackedSkin, pose: &Pose) -> Option<Arc<Palette>> {
        let skinning = pose.skinning.as_ref()?;
        let (method, with_normals) = (skin.method(), skin.normals().is_some());
        let bits = |m: DMat4| m.to_cols_array().map(f64::to_bits);
        let pack = |with_normals| {
            Arc::new(Palette::pack(
                method,
                skinning,
                pose.geom_bind,
                with_normals,
            ))
        };
        let slot = self.0.entry((instance, method, bits(pose.geom_bind)));
        let palette = slot.or_insert_with(|| pack(with_normals));
        if with_normals && palette.normals().is_none() {
            *palette = pack(true);
        }
        Some(palette.clone())
    }
}

/// What went wrong with which prim.
#[derive(Default)]
struct Troubles {
    whole: Vec<(usize, Invalid)>,
    /// First trouble of a prim, and at how many times there was one.
    times: BTreeMap<usize, (Time, Invalid, usize)>,
}

impl Troubles {
    fn whole(&mut self, binding: usize, e: Invalid) {
        self.whole.push((binding, e));
    }

    fn at(&mut self, binding: usize, time: Time, e: Invalid) {
        self.times.entry(binding).or_insert((time, e, 0)).2 += 1;
    }

    /// A prim without any sample is an error; one that lacks some is a warning.
    fn finish(
        self,
        scene: &Scene,
        baked: &BTreeMap<usize, BakedPrim>,
    ) -> (Vec<Invalid>, Vec<Warning>) {
        let mut errors: Vec<Invalid> = self.whole.into_iter().map(|(_, e)| e).collect();
        let mut warnings = Vec::new();
        for (binding, (time, e, count)) in self.times {
            if baked.contains_key(&binding) {
                let message = format!("not baked at {count} times, first at {time}: {}", e.brief());
                warnings.push(Warning::new(
                    "times-not-baked",
                    &scene.bindings[binding].path,
                    message,
                ));
            } else {
                errors.push(e);
            }
        }
        // Prims of one broken skeleton share one report.
        let mut seen = HashSet::new();
        errors.retain(|e| seen.insert(e.to_string()));
        (errors, warnings)
    }
}

/// Shapes that are broken and take part at some time: the prim goes without shapes then.
fn broken_shapes(scene: &Scene, schedule: &Schedule) -> Vec<Warning> {
    let mut first: BTreeMap<usize, (Time, Invalid)> = BTreeMap::new();
    for (time, bindings) in schedule {
        for &b in bindings {
            let binding = &scene.bindings[b];
            let broken = binding
                .shapes
                .iter()
                .any(|s| matches!(s.shape, Some(Err(_))));
            if !broken || first.contains_key(&b) {
                continue;
            }
            let instance = &scene.instances[binding.instance].instance;
            if let (_, Some(e)) = binding.channel_weights(instance, *time) {
                first.insert(b, (*time, e));
            }
        }
    }
    first
        .into_iter()
        .map(|(b, (time, e))| {
            let message = format!("goes without blend shapes, first at time {time}: {e}");
            Warning::new("blend-shapes-dropped", &scene.bindings[b].path, message)
        })
        .collect()
}
