//! Deforms every chosen prim at every time it needs, a batch of times at a time.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use glam::{DMat4, Vec3};
use rayon::prelude::*;

use super::deform::{Deformer, Job};
use super::schedule::{FrameRange, authored_times};
use super::{BakedSample, Progress};
use crate::error::{Error, Invalid, Result, Warning};
use crate::kernel::{PackedPose, PackedSkin, Palette};
use crate::sampled::Time;
use crate::scene::{BoundSkin, Normals, PoseCache, Scene, SkinBinding};
use crate::skel::{Pose, SkinningMethod};

/// Points deformed between two steps of the progress bar, and at once on a GPU.
const BATCH_POINTS: usize = 4 << 20;

/// Results that a bake holds without being asked for these frames.
const MAX_BYTES_UNASKED: u64 = 16 << 30;

/// All samples of one prim.
pub(super) struct Track {
    /// Index into [`Scene::bindings`].
    pub binding: usize,
    pub samples: Vec<BakedSample>,
}

pub(super) struct Tracks {
    pub tracks: Vec<Track>,
    pub errors: Vec<Invalid>,
    pub warnings: Vec<Warning>,
}

pub(super) fn bake_tracks(
    scene: &Scene,
    chosen: &[usize],
    frames: Option<&FrameRange>,
    deformer: &mut Deformer,
    progress: &mut dyn FnMut(Progress),
) -> Result<Tracks> {
    let schedule = schedule(scene, chosen, frames)?;
    if frames.is_none() {
        check_size(scene, &schedule)?;
    }
    let total: usize = schedule.iter().map(|(_, b)| b.len()).sum();
    let bound: Vec<BoundSkin<'_>> = scene.bound_skins().collect();
    let mut packed = StaticSkins::default();
    let mut samples: BTreeMap<usize, Vec<BakedSample>> = BTreeMap::new();
    let mut troubles = Troubles::default();
    let mut done = 0;
    progress(Progress::Deforming { done, total });
    for batch in batches(scene, &schedule) {
        // Skins that never change are packed once, in the order of first use.
        for (time, bindings) in batch {
            for &b in bindings {
                packed.pack(b, bound[b], *time, &mut troubles);
            }
        }
        let posed: Vec<_> = batch
            .par_iter()
            .map(|(time, bindings)| pose_at(*time, bindings, &bound, &packed))
            .collect();
        let mut jobs = Vec::new();
        let mut places = Vec::new();
        for ((time, bindings), results) in batch.iter().zip(posed) {
            done += bindings.len();
            for (&b, result) in bindings.iter().zip(results) {
                match result {
                    Some(Ok((skin, pose))) => {
                        jobs.push(Job::new(skin, pose));
                        places.push((b, *time));
                    }
                    Some(Err(e)) => troubles.at(b, *time, e),
                    None => {}
                }
            }
        }
        deformer.run(&mut jobs)?;
        let extents: Vec<_> = jobs
            .par_iter()
            .zip(&places)
            .map(|(job, (b, time))| extent(&job.points, &scene.bindings[*b], *time))
            .collect();
        for ((job, (b, time)), extent) in jobs.into_iter().zip(places).zip(extents) {
            let Some(extent) = extent else {
                let path = &scene.bindings[b].path;
                let e = Invalid::new(path, "points", "finite results", "some that overflow f32");
                troubles.at(b, time, e.in_file(&scene.file));
                continue;
            };
            samples.entry(b).or_default().push(BakedSample {
                time,
                points: job.points,
                normals: job.normals,
                extent,
            });
        }
        progress(Progress::Deforming { done, total });
    }
    let (errors, mut warnings) = troubles.finish(scene, &samples);
    warnings.extend(broken_shapes(scene, &schedule));
    Ok(Tracks {
        tracks: samples
            .into_iter()
            .map(|(binding, samples)| Track { binding, samples })
            .collect(),
        errors,
        warnings,
    })
}

/// Bindings to deform at each time, times ascending and the default time first.
type Schedule = Vec<(Time, Vec<usize>)>;

fn schedule(scene: &Scene, chosen: &[usize], frames: Option<&FrameRange>) -> Result<Schedule> {
    let mut of_instance: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &b in chosen {
        of_instance
            .entry(scene.bindings[b].instance)
            .or_default()
            .push(b);
    }
    let mut all: Vec<(Time, usize)> = Vec::new();
    for (instance, bindings) in of_instance {
        let times = match frames {
            Some(frames) => frames.times().into_iter().map(Time::At).collect(),
            None => authored_times(scene, instance, &bindings)?,
        };
        for time in times {
            all.extend(bindings.iter().map(|b| (time, *b)));
        }
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
    Ok(out)
}

/// Refuses what a file asks for by a few far-apart samples; whoever wants that much says so.
fn check_size(scene: &Scene, schedule: &Schedule) -> Result<()> {
    let bytes_of = |b: usize| {
        let binding = &scene.bindings[b];
        let vectors = 1 + u64::from(matches!(binding.normals, Normals::PerPoint(_)));
        binding.points.first().map_or(0, |p| p.len() as u64) * 12 * vectors
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
fn batches<'a>(scene: &Scene, schedule: &'a Schedule) -> Vec<&'a [(Time, Vec<usize>)]> {
    let points = |b: usize| scene.bindings[b].points.first().map_or(0, |p| p.len());
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
struct StaticSkins(HashMap<usize, Option<Arc<PackedSkin>>>);

impl StaticSkins {
    fn pack(&mut self, b: usize, bound: BoundSkin<'_>, time: Time, troubles: &mut Troubles) {
        if bound.binding().rest_is_animated() || self.0.contains_key(&b) {
            return;
        }
        let packed = pack(bound, time).map_err(|e| troubles.whole(b, e)).ok();
        self.0.insert(b, packed);
    }
}

fn pack(bound: BoundSkin<'_>, time: Time) -> Result<Arc<PackedSkin>, Invalid> {
    let skin = bound.skin(time)?;
    PackedSkin::pack(&bound.binding().path, &skin).map(Arc::new)
}

type Posed = Option<Result<(Arc<PackedSkin>, PackedPose), Invalid>>;

/// Poses every binding at one time: each skeleton once, each palette once per geomBindTransform and
/// method.
fn pose_at(
    time: Time,
    bindings: &[usize],
    bound: &[BoundSkin<'_>],
    packed: &StaticSkins,
) -> Vec<Posed> {
    let mut cache = PoseCache::default();
    let mut palettes = Palettes::default();
    bindings
        .iter()
        .map(|&b| {
            let skin = match packed.0.get(&b) {
                Some(Some(skin)) => Ok(skin.clone()),
                // Broken, and said so already.
                Some(None) => return None,
                None => pack(bound[b], time),
            };
            Some(skin.and_then(|skin| {
                let pose = cache.pose(bound[b], time)?;
                let palette = palettes.get(bound[b].binding().instance, &skin, &pose);
                let pose = PackedPose::with_palette(
                    &skin,
                    palette,
                    pose.out_from_skel,
                    pose.channel_weights,
                );
                Ok((skin, pose))
            }))
        })
        .collect()
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

/// Bounding box with half of each point's width around it, as UsdGeomPoints has it, or half of the
/// largest width, as UsdGeomCurves has it. `None` where a point is not finite.
fn extent(points: &[Vec3], binding: &SkinBinding, time: Time) -> Option<[Vec3; 2]> {
    if points.is_empty() {
        // UsdGeomPointBased's own answer is an empty range, which a float3[2] cannot say.
        return Some([Vec3::ZERO; 2]);
    }
    let widths = binding.widths.at(time);
    let widths = widths.as_deref().map_or(&[][..], Vec::as_slice);
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    if binding.type_name == "Points" && widths.len() == points.len() {
        for (p, width) in points.iter().zip(widths) {
            low = low.min(*p - width * 0.5);
            high = high.max(*p + width * 0.5);
        }
    } else {
        for p in points {
            low = low.min(*p);
            high = high.max(*p);
        }
        let pad = widths.iter().copied().fold(0.0, f32::max) * 0.5;
        low -= pad;
        high += pad;
    }
    points.iter().all(|p| p.is_finite()).then_some([low, high])
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
        samples: &BTreeMap<usize, Vec<BakedSample>>,
    ) -> (Vec<Invalid>, Vec<Warning>) {
        let mut errors: Vec<Invalid> = self.whole.into_iter().map(|(_, e)| e).collect();
        let mut warnings = Vec::new();
        for (binding, (time, e, count)) in self.times {
            if samples.contains_key(&binding) {
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
