//! Deforms every prim at every time it is wanted, a batch of times at a time, and hands the results on in the order of
//! time.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{DMat4, Vec3};
use rayon::prelude::*;

use super::Progress;
use super::deform::{Deformer, Job};
use super::extent::extent;
use super::plan::{Plan, PrimPlan};
use super::troubles::Troubles;
use crate::error::{Invalid, Result};
use crate::kernel::{PackedPose, PackedSkin, Palette};
use crate::math;
use crate::sampled::Time;
use crate::scene::{BoundSkin, PoseCache, Scene, SkinPart};
use crate::skel::{Pose, SkinningMethod};

/// Points deformed between two steps of the progress bar, and at once on a GPU.
const BATCH_POINTS: usize = 4 << 20;

/// Bindings to deform at each time, times ascending and the default time first.
pub(super) type Schedule = Vec<(Time, Vec<usize>)>;

/// Everything that came out at one time, in the order of the schedule.
pub(super) struct Frame {
    pub time: Time,
    /// Transforms that replace the prims' own, by binding.
    pub transforms: Vec<(usize, DMat4)>,
    pub deformed: Vec<Deformed>,
}

/// One part of one prim's deformation at one time.
pub(super) struct Deformed {
    pub binding: usize,
    pub part: SkinPart,
    /// In the space of the plan.
    pub points: Vec<Vec3>,
    pub normals: Option<Vec<Vec3>>,
    /// Corners of the points' bounding box, widths included.
    pub extent: [Vec3; 2],
}

/// Deforms what is scheduled; `sink` gets every time once, in order. What cannot be deformed is left out of its frame,
/// and told in `troubles`.
///
/// # Errors
/// A GPU that fails, and whatever `sink` says.
pub(super) fn deform_frames(
    scene: &Scene,
    plan: &Plan,
    schedule: &Schedule,
    deformer: &mut Deformer,
    troubles: &mut Troubles,
    progress: &mut dyn FnMut(Progress),
    sink: &mut dyn FnMut(Frame) -> Result<()>,
) -> Result<()> {
    let total: usize = schedule.iter().map(|(_, b)| b.len()).sum();
    let bound: Vec<BoundSkin<'_>> = scene.bound_skins().collect();
    let mut packed = StaticSkins::default();
    let mut done = 0;
    progress(Progress::Deforming { done, total });
    for batch in batches(scene, plan, schedule) {
        // Skins that never change are packed once, in the order of first use.
        for (time, bindings) in batch {
            for &b in bindings {
                for part in &plan.of(b).parts {
                    packed.pack(plan.of(b), *part, bound[b], *time, troubles);
                }
            }
        }
        let posed: Vec<_> = batch
            .par_iter()
            .map(|(time, bindings)| pose_at(*time, bindings, &bound, plan, &packed))
            .collect();
        let mut frames: Vec<Frame> = Vec::with_capacity(batch.len());
        let mut jobs = Vec::new();
        let mut places = Vec::new();
        for ((time, bindings), results) in batch.iter().zip(posed) {
            done += bindings.len();
            let mut transforms = Vec::new();
            for (&b, result) in bindings.iter().zip(results) {
                let posed = match result {
                    Some(Ok(posed)) => posed,
                    Some(Err(e)) => {
                        troubles.at(b, *time, e);
                        continue;
                    }
                    None => continue,
                };
                transforms.extend(posed.transform.map(|matrix| (b, matrix)));
                for (part, skin, pose) in posed.skins {
                    jobs.push(Job::new(skin, pose));
                    places.push(Place {
                        binding: b,
                        part,
                        frame: frames.len(),
                        out_from_prim: posed.out_from_prim,
                    });
                }
            }
            frames.push(Frame {
                time: *time,
                transforms,
                deformed: Vec::new(),
            });
        }
        deformer.run(&mut jobs)?;
        let times: Vec<Time> = frames.iter().map(|f| f.time).collect();
        let extents: Vec<_> = jobs
            .par_iter_mut()
            .zip(&places)
            .map(|(job, place)| {
                if let Some(m) = place.out_from_prim {
                    leave_prim_space(&mut job.points, job.normals.as_deref_mut(), m);
                }
                let binding = &scene.bindings[place.binding];
                extent(&job.points, binding, times[place.frame])
            })
            .collect();
        for ((job, place), extent) in jobs.into_iter().zip(places).zip(extents) {
            let Some(extent) = extent else {
                let path = &scene.bindings[place.binding].path;
                let e = Invalid::new(path, "points", "finite results", "some that overflow f32");
                troubles.at(place.binding, times[place.frame], e.in_file(&scene.file));
                continue;
            };
            frames[place.frame].deformed.push(Deformed {
                binding: place.binding,
                part: place.part,
                points: job.points,
                normals: job.normals,
                extent,
            });
        }
        for frame in frames {
            sink(frame)?;
        }
        progress(Progress::Deforming { done, total });
    }
    Ok(())
}

/// Where a job's results go.
struct Place {
    binding: usize,
    part: SkinPart,
    /// Index into the batch.
    frame: usize,
    out_from_prim: Option<DMat4>,
}

/// Carries what stays in its own space, such as the results of a prim that only blends (rule 20), to where it was asked
/// for.
pub(super) fn leave_prim_space(
    points: &mut [Vec3],
    normals: Option<&mut [Vec3]>,
    out_from_prim: DMat4,
) {
    for p in points {
        *p = out_from_prim.transform_point3(p.as_dvec3()).as_vec3();
    }
    let normal = math::normal_matrix(out_from_prim);
    for n in normals.into_iter().flatten() {
        *n = (normal * n.as_dvec3()).as_vec3();
    }
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
        plan: &PrimPlan,
        part: SkinPart,
        bound: BoundSkin<'_>,
        time: Time,
        troubles: &mut Troubles,
    ) {
        let b = plan.binding;
        if bound.binding().rest_is_animated() || self.0.contains_key(&(b, part)) {
            return;
        }
        let packed = pack(bound, part, plan, time)
            .map_err(|e| troubles.whole(b, e))
            .ok();
        self.0.insert((b, part), packed);
    }
}

fn pack(
    bound: BoundSkin<'_>,
    part: SkinPart,
    plan: &PrimPlan,
    time: Time,
) -> Result<Arc<PackedSkin>, Invalid> {
    let skin = bound.skin_part(time, part)?;
    let packed = PackedSkin::pack(&bound.binding().path, &skin)?;
    let packed = match &plan.made_normals {
        Some(topology) => packed.with_made_normals(topology)?,
        None => packed,
    };
    Ok(Arc::new(packed))
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
            _ => pack(bound, part, plan, time)?,
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
