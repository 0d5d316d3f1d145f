//! Poses all prims at a batch of times, and packs the skins that are not packed yet.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{DMat4, Vec3};
use rayon::prelude::*;

use crate::backend::Job;
use crate::plan::{Plan, PrimPlan};
use crate::schedule::Scheduled;
use crate::sink::{Frame, PrimSample};
use sinew::error::Invalid;
use sinew::kernel::{PackedPose, PackedSkin, Palette};
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, MotionCache, PoseCache, Scene, SkinPart};
use sinew::skel::{Pose, SkinningMethod};

/// The times of a batch, and the jobs to deform at them.
pub(super) struct PosedBatch {
    /// The frames, with the transforms of prims but without points and normals.
    pub frames: Vec<Frame>,
    pub jobs: Vec<Job>,
    /// The destination of each job.
    pub places: Vec<Place>,
    /// Errors by binding; without a time if the error is that of the whole prim.
    pub diagnostics: Vec<(usize, Option<Time>, Invalid)>,
}

/// The destination of a job's results.
pub(super) struct Place {
    pub binding: usize,
    /// Index into [`PrimPlan::parts`].
    pub part: usize,
    /// Index into the batch.
    pub frame: usize,
    /// Index into the prims of the frame.
    pub sample: usize,
    pub out_from_prim: Option<DMat4>,
}

/// Poses batches.
pub(super) struct Poser<'a> {
    scene: &'a Scene,
    plan: &'a Plan,
    packed: StaticSkins,
    /// Index of the next time in the schedule.
    next: usize,
}

impl<'a> Poser<'a> {
    pub fn new(scene: &'a Scene, plan: &'a Plan) -> Self {
        Self {
            scene,
            plan,
            packed: StaticSkins::default(),
            next: 0,
        }
    }

    pub fn pose(&mut self, batch: &[Scheduled]) -> PosedBatch {
        let mut out = PosedBatch {
            frames: Vec::with_capacity(batch.len()),
            jobs: Vec::new(),
            places: Vec::new(),
            diagnostics: Vec::new(),
        };
        // Skins that never change are packed once, in the order of first use.
        for (time, bindings) in batch {
            for &b in bindings {
                let prim = self.plan.of(b);
                for part in &prim.parts {
                    let broken = self.packed.pack(prim, *part, self.scene.bound(b), *time);
                    out.diagnostics.extend(broken.map(|e| (b, None, e)));
                }
            }
        }
        let posed: Vec<_> = batch
            .par_iter()
            .map(|(time, bindings)| pose_at(*time, bindings, self.scene, self.plan, &self.packed))
            .collect();
        for ((time, bindings), results) in batch.iter().zip(posed) {
            let mut frame = Frame::new(self.next, *time);
            self.next += 1;
            for (&b, result) in bindings.iter().zip(results) {
                let posed = match result {
                    Some(Ok(posed)) => posed,
                    Some(Err(e)) => {
                        out.diagnostics.push((b, Some(*time), e));
                        continue;
                    }
                    None => continue,
                };
                if posed.transform.is_none() && posed.skins.is_empty() {
                    continue;
                }
                let sample = frame.prims.len();
                frame.prims.push(PrimSample {
                    prim: 0,
                    binding: b,
                    points: Vec::new(),
                    normals: vec![None; posed.skins.len()],
                    extent: None,
                    velocities: posed.velocities,
                    transform: posed.transform,
                });
                for (part, (skin, pose)) in posed.skins.into_iter().enumerate() {
                    out.jobs.push(Job { skin, pose });
                    out.places.push(Place {
                        binding: b,
                        part,
                        frame: out.frames.len(),
                        sample,
                        out_from_prim: posed.out_from_prim,
                    });
                }
            }
            out.frames.push(frame);
        }
        out
    }
}

/// Packed skins of prims whose rest data never changes; `None` for an invalid skin.
#[derive(Default)]
struct StaticSkins(HashMap<(usize, SkinPart), Option<Arc<PackedSkin>>>);

impl StaticSkins {
    /// The error of the skin, when it is first packed.
    fn pack(
        &mut self,
        plan: &PrimPlan,
        part: SkinPart,
        bound: BoundSkin<'_>,
        time: Time,
    ) -> Option<Invalid> {
        let b = plan.binding;
        if bound.binding().rest_is_animated() || self.0.contains_key(&(b, part)) {
            return None;
        }
        let packed = pack(bound, part, plan, time);
        let (packed, broken) = match packed {
            Ok(packed) => (Some(packed), None),
            Err(e) => (None, Some(e)),
        };
        self.0.insert((b, part), packed);
        broken
    }
}

/// Packs the skin of one part of a prim.
pub(super) fn pack(
    bound: BoundSkin<'_>,
    part: SkinPart,
    plan: &PrimPlan,
    time: Time,
) -> Result<Arc<PackedSkin>, Invalid> {
    let skin = bound.skin_part(time, part)?;
    let packed = PackedSkin::pack(&bound.binding().path, &skin)?;
    let packed = match &plan.smooth_normals {
        Some(topology) => packed.with_smooth_normals(topology)?,
        None => packed,
    };
    Ok(Arc::new(packed))
}

/// The jobs of one prim at one time.
pub(super) struct Posed {
    velocities: Option<Vec<Vec3>>,
    transform: Option<DMat4>,
    /// One per part.
    pub skins: Vec<(Arc<PackedSkin>, PackedPose)>,
    /// The transform of results, for a prim that only blends and is wanted in another space.
    pub out_from_prim: Option<DMat4>,
}

/// Poses every binding at one time: each skeleton once, and each palette once per geomBindTransform
/// and method. `None` for an invalid prim whose error is already reported.
fn pose_at(
    time: Time,
    bindings: &[usize],
    scene: &Scene,
    plan: &Plan,
    packed: &StaticSkins,
) -> Vec<Option<Result<Posed, Invalid>>> {
    let mut poses = scene.at(time, plan.space);
    let mut palettes = Palettes::default();
    let mut motion = MotionCache::new(scene, time, plan.space);
    bindings
        .iter()
        .map(|&b| {
            let prim = plan.of(b);
            let is_broken = |part: &SkinPart| matches!(packed.0.get(&(b, *part)), Some(None));
            if prim.parts.iter().any(is_broken) {
                return None;
            }
            let bound = scene.bound(b);
            let own = |part| packed.0.get(&(b, part)).cloned().flatten();
            let mut posed = pose_prim(bound, prim, &own, &mut poses, &mut palettes);
            if let (Ok(posed), true) = (&mut posed, plan.velocities) {
                match velocities(bound, prim, &mut motion, time) {
                    Ok(velocities) => posed.velocities = velocities,
                    Err(e) => return Some(Err(e)),
                }
            }
            Some(posed)
        })
        .collect()
}

/// The velocity of each point per second; `None` if the prim has no points or there is no time.
fn velocities(
    bound: BoundSkin<'_>,
    plan: &PrimPlan,
    motion: &mut MotionCache<'_>,
    time: Time,
) -> Result<Option<Vec<Vec3>>, Invalid> {
    let (Some(part), Some(_)) = (plan.parts.first(), time.code()) else {
        return Ok(None);
    };
    let rate = bound.scene().time_line.time_codes_per_second;
    let per_time_code = motion.velocities(bound, part.blend_only)?;
    let per_second = per_time_code.iter().map(|v| (*v * rate).as_vec3());
    let velocities: Vec<Vec3> = per_second.collect();
    if velocities.iter().all(|v| v.is_finite()) {
        return Ok(Some(velocities));
    }
    Err(overflow(bound, "velocities"))
}

/// The error of a prim whose results are not finite.
pub(super) fn overflow(bound: BoundSkin<'_>, property: &str) -> Invalid {
    let path = &bound.binding().path;
    let e = Invalid::new(path, property, "finite results", "values that overflow f32");
    e.in_file(&bound.scene().file)
}

/// Poses one prim. `packed` gives the skins that are packed already.
pub(super) fn pose_prim(
    bound: BoundSkin<'_>,
    plan: &PrimPlan,
    packed: &dyn Fn(SkinPart) -> Option<Arc<PackedSkin>>,
    poses: &mut PoseCache<'_>,
    palettes: &mut Palettes,
) -> Result<Posed, Invalid> {
    let mut out = Posed {
        velocities: None,
        transform: match plan.transform {
            Some(kind) => Some(kind.at(bound, poses)?),
            None => None,
        },
        skins: Vec::with_capacity(plan.parts.len()),
        out_from_prim: None,
    };
    for &part in &plan.parts {
        let skin = match packed(part) {
            Some(skin) => skin,
            None => pack(bound, part, plan, poses.time())?,
        };
        let pose = match part.blend_only {
            true => poses.blend_pose(bound),
            false => poses.pose(bound)?,
        };
        let palette = palettes.get(bound.binding().instance, &skin, &pose);
        if palette.is_none() {
            out.out_from_prim = poses.out_from_prim(bound)?;
        }
        let pose =
            PackedPose::with_palette(&skin, palette, pose.out_from_skel, pose.channel_weights)?;
        out.skins.push((skin, pose));
    }
    Ok(out)
}

/// The palettes of one time, so that prims with the same one share it.
#[derive(Default)]
pub(super) struct Palettes(HashMap<(usize, SkinningMethod, [u64; 16]), Arc<Palette>>);

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
        let entry = self.0.entry((instance, method, bits(pose.geom_bind)));
        let palette = entry.or_insert_with(|| pack(with_normals));
        if with_normals && palette.normals().is_none() {
            *palette = pack(true);
        }
        Some(palette.clone())
    }
}
