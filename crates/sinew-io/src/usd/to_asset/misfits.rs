//! Deformations that glTF cannot hold: how far off its own are, or frames in their place.

use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3};
use rayon::prelude::*;

use super::clips::{SceneClip, driven_by};
use super::nodes::mix;
use super::skeletons::joint_times;
use super::time::{Clock, merged};
use crate::vertices::bounds;
use sinew::error::{Invalid, Warning};
use sinew::math::Trs;
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, DrawnMesh, SkinBinding, SkinPart};
use sinew::skel::reference::{Deformed, deform};
use sinew::skel::{
    AnimMapper, JointInfluences, Pose, SkelAnimation, SkeletonInstance, Skin, SkinningMethod,
};

/// Sums of weights that differ from 1 by less than this are rounding.
pub(super) const LOOSE: f64 = 1e-5;

/// Errors below this part of a mesh's size do not show.
const INVISIBLE: f64 = 1e-6;

/// Why glTF cannot hold the deformation of a prim.
#[derive(Clone, Debug)]
pub(super) struct Misfit {
    pub code: &'static str,
    /// What glTF does instead.
    pub what: String,
    /// Whether it is worth a word even if points hardly move.
    pub always: bool,
}

/// Why glTF cannot hold the deformation of a prim that is bound to a Skeleton; empty if it can.
pub(super) fn of_bound(binding: &SkinBinding, skin: &Skin) -> Vec<Misfit> {
    let mut out = Vec::new();
    let mut add = |code, what: String, always| out.push(Misfit { code, what, always });
    if skin.method() == SkinningMethod::DualQuaternion {
        let what = "it is skinned by dual quaternions, but glTF blends matrices";
        add("gltf-dual-quaternion", what.to_owned(), true);
    }
    if let Some(influences) = skin.influences() {
        let [loose, negative, empty] = odd_weights(influences, skin.points().len());
        if empty > 0 {
            let what = format!(
                "{empty} points have no weight above 0, but glTF's add up to 1: they follow the first of their joints"
            );
            add("gltf-weights-zero", what, true);
        }
        if loose > 0 {
            let what = format!(
                "the weights of {loose} points do not add up to 1, but glTF's do: they are divided by their sum"
            );
            add("gltf-weights", what, false);
        }
        if negative > 0 {
            let what = format!("{negative} points have weights below 0, which glTF leaves out");
            add("gltf-weights-negative", what, true);
        }
    }
    let changes = binding.points.is_animated();
    let influences = binding.influences.as_ref();
    let reweighs = influences.is_some_and(|i| i.indices.is_animated() || i.weights.is_animated());
    if changes || reweighs || binding.geom_bind.is_animated() {
        let what = "its points at rest, its weights or its geomBindTransform change over time: glTF has those of the first frame";
        add("gltf-animated-rest", what.to_owned(), true);
    }
    out
}

/// Rotations whose length differs from 1 by less than this are rounding.
const UNIT: f32 = 1e-4;

/// The misfit of joints whose rotations are none, if a clip has such: UsdSkel takes quaternions as
/// they are.
pub(super) fn of_clips(skeleton: usize, plans: &[SceneClip]) -> Option<Misfit> {
    let parts = plans.iter().flat_map(|p| &p.parts);
    let mut animations = parts.filter(|(s, _)| *s == skeleton).map(|(_, a)| a);
    let is_loose = |q: &glam::Quat| (q.length() - 1.0).abs() > UNIT;
    let loose = animations.any(|a| a.rotations.values().any(|v| v.iter().any(is_loose)));
    loose.then(|| Misfit {
        code: "gltf-rotations",
        what: "rotations of its joints do not have length 1: glTF has the nearest that do".into(),
        always: true,
    })
}

/// Points whose weights do not add up to 1, points with weights below 0, and points without a
/// weight above 0.
fn odd_weights(influences: &JointInfluences, points: usize) -> [usize; 3] {
    let rows = influences.weights().chunks_exact(influences.count());
    // Constant influences are one row.
    let each = if rows.len() == 1 { points } else { 1 };
    let mut counts = [0; 3];
    for row in rows {
        let sum: f64 = row.iter().map(|w| f64::from(*w)).sum();
        let is_empty = row.iter().all(|w| *w <= 0.0);
        let is_loose = (sum - 1.0).abs() > LOOSE && !is_empty;
        let odd = [is_loose, row.iter().any(|w| *w < 0.0), is_empty];
        for (count, is_odd) in counts.iter_mut().zip(odd) {
            *count += if is_odd { each } else { 0 };
        }
    }
    counts
}

/// Makes the weights of a point those that glTF has: none below 0, and a sum of 1. Where none is
/// above 0, the first one is 1.
pub(super) fn fit_weights(row: &mut [f32]) {
    row.iter_mut().for_each(|w| *w = w.max(0.0));
    let sum: f64 = row.iter().map(|w| f64::from(*w)).sum();
    if sum <= 0.0 {
        row.iter_mut().take(1).for_each(|w| *w = 1.0);
    } else if (sum - 1.0).abs() > LOOSE {
        let scaled = |w: &mut f32| *w = (f64::from(*w) / sum) as f32;
        row.iter_mut().for_each(scaled);
    }
}

/// A clip as it moves one prim.
pub(super) struct Movement {
    /// Index of the clip's plan.
    pub clip: usize,
    animation: Option<Arc<SkelAnimation>>,
    instance: SkeletonInstance,
    /// The prim's binding with this animation.
    binding: SkinBinding,
    /// Its times, ascending.
    pub times: Vec<f64>,
}

/// How the clips move a prim: all its samples, those of its rest data in the stage's clip, and no
/// clip at all if there is none.
pub(super) fn movements(bound: BoundSkin<'_>, plans: &[SceneClip], clock: &Clock) -> Vec<Movement> {
    let binding = bound.binding();
    let skeleton = bound.skeleton().instance.skeleton();
    let mut own = binding.rest_times(false);
    own.extend(binding.influence_times());
    let mut out = Vec::new();
    for (clip, plan) in plans.iter().enumerate() {
        for (_, animation) in plan.parts.iter().filter(|(s, _)| *s == binding.instance) {
            let mut times = joint_times(animation, clock);
            times.extend(animation.blend_shape_weights.times());
            if plan.is_bound {
                times.extend(&own);
            }
            out.push(Movement {
                clip,
                animation: Some(animation.clone()),
                instance: SkeletonInstance::new(skeleton.clone(), Some(animation.clone())),
                binding: driven_by(binding, animation),
                times: merged(times),
            });
        }
    }
    if out.is_empty() {
        let times = if own.is_empty() {
            vec![clock.start()]
        } else {
            own
        };
        out.push(Movement {
            clip: 0,
            animation: None,
            instance: SkeletonInstance::new(skeleton.clone(), None),
            binding: binding.clone(),
            times: merged(times),
        });
    }
    out
}

impl Movement {
    /// The clip's name for messages.
    pub fn name<'a>(&self, plans: &'a [SceneClip]) -> &'a str {
        match &self.animation {
            Some(_) => &plans[self.clip].name,
            None => "no clip",
        }
    }

    /// Number of its frames.
    pub fn frame_count(&self, clock: &Clock) -> usize {
        with_frames(&self.times, clock).len()
    }

    /// The pose at a time, with results in the Skeleton's space.
    fn pose(&self, time: Time) -> Result<Pose, Invalid> {
        let geom_bind = self.binding.geom_bind.at(time);
        Ok(Pose {
            skinning: Some(Arc::new(self.instance.skinning_transforms(time)?)),
            geom_bind: geom_bind.map_or(DMat4::IDENTITY, |m| *m),
            channel_weights: self.binding.channel_weights(&self.instance, time).0,
            out_from_skel: DMat4::IDENTITY,
        })
    }

    /// The same as glTF has it: joints that a clip moves have translation, rotation and scale,
    /// which glTF interpolates between two keys.
    fn gltf_pose(&self, time: f64) -> Result<Pose, Invalid> {
        let mut out = self.pose(Time::At(time))?;
        if let Some(animation) = &self.animation {
            let skeleton = self.instance.skeleton();
            let before = self.times.partition_point(|t| *t <= time).saturating_sub(1);
            let after = self.times.len().min(before + 2) - 1;
            let (from, to) = (self.times[before], self.times[after]);
            let mut locals = self.instance.joint_local_transforms(Time::At(from))?;
            let next = self.instance.joint_local_transforms(Time::At(to))?;
            let alpha = if to > from {
                (time - from) / (to - from)
            } else {
                0.0
            };
            let mapper = AnimMapper::new(&animation.joints, skeleton.joints());
            for joint in mapper.targets().flatten() {
                let [from, to] = [&locals, &next].map(|all| Trs::from_matrix(&all[joint]));
                locals[joint] = mix(&from, &to, alpha).matrix();
            }
            out.set_local(skeleton, &locals)?;
        }
        Ok(out)
    }

    /// Points and normals at a time as UsdSkel has them, in the Skeleton's space.
    pub fn deformed(
        &self,
        bound: BoundSkin<'_>,
        time: f64,
        normals: Option<usize>,
    ) -> Result<Deformed, Invalid> {
        let part = SkinPart {
            blend_only: false,
            // Beyond the last one there are none.
            normals: normals.unwrap_or(usize::MAX),
        };
        let skin = bound.skin_part(Time::At(time), part)?;
        deform(&skin, &self.pose(Time::At(time))?)
    }
}

/// The skin as glTF has it: matrices, no weights below 0, sums of 1.
fn as_gltf(bound: BoundSkin<'_>, skin: &Skin) -> Result<Skin, Invalid> {
    let path = &bound.binding().path;
    let influences = skin.influences().map(|influences| {
        let joints: Vec<i32> = influences.joints().iter().map(|j| *j as i32).collect();
        let mut weights = influences.weights().to_vec();
        weights
            .chunks_exact_mut(influences.count())
            .for_each(fit_weights);
        JointInfluences::new(
            path,
            influences.interpolation(),
            influences.count(),
            &joints,
            weights,
            skin.points().len(),
            skin.own_joint_count(),
        )
    });
    let map = skin.has_own_joints().then(|| {
        let joints = 0..skin.own_joint_count() as u32;
        joints.map(|j| skin.skeleton_joint(j)).collect()
    });
    Skin::new(
        path,
        Arc::new(skin.points().to_vec()),
        None,
        influences.transpose()?,
        map,
        skin.joint_count(),
        skin.shapes().to_vec(),
    )
}

/// The warnings about a prim whose deformation glTF cannot hold, with the error that this causes:
/// the largest distance at the keys of all clips and halfway between them, in stage units.
pub(super) fn warn(
    bound: BoundSkin<'_>,
    misfits: Vec<Misfit>,
    plans: &[SceneClip],
    clock: &Clock,
    warnings: &mut Vec<Warning>,
) -> Result<(), Invalid> {
    let rest = clock.rest();
    let skin = bound.skin(rest)?;
    let gltf = as_gltf(bound, &skin)?;
    let geom_bind = bound
        .binding()
        .geom_bind
        .at(rest)
        .map_or(DMat4::IDENTITY, |m| *m);
    let (mut worst, mut at) = (0.0f64, String::new());
    for movement in movements(bound, plans, clock) {
        let halfway = movement
            .times
            .windows(2)
            .map(|pair| 0.5 * (pair[0] + pair[1]));
        let times = merged(halfway.chain(movement.times.iter().copied()).collect());
        let errors = times.par_iter().map(|time| -> Result<f64, Invalid> {
            let want = movement.deformed(bound, *time, None)?;
            let mut pose = movement.gltf_pose(*time)?;
            pose.geom_bind = geom_bind;
            let got = deform(&gltf, &pose)?;
            let pairs = want.points.iter().zip(&got.points);
            Ok(pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max))
        });
        let errors: Vec<f64> = errors.collect::<Result<_, _>>()?;
        for (time, error) in times.iter().zip(errors) {
            if error > worst {
                worst = error;
                at = format!(" (time code {time} of {})", movement.name(plans));
            }
        }
    }
    let relative = worst / size(skin.points());
    for misfit in misfits {
        if relative < INVISIBLE && !misfit.always {
            continue;
        }
        let message = format!(
            "{}; points are off by up to {worst:.3e}, {:.3} % of the mesh's size{at}",
            misfit.what,
            relative * 100.0
        );
        let path = &bound.binding().path;
        warnings.push(Warning::new(misfit.code, path, message));
    }
    Ok(())
}

/// The warning about a mesh without a Skeleton whose points move.
pub(super) fn warn_of_points(mesh: &DrawnMesh, clock: &Clock, warnings: &mut Vec<Warning>) {
    let Some(rest) = mesh
        .points
        .at(clock.rest())
        .or_else(|| mesh.points.first().cloned())
    else {
        return;
    };
    let off = |points: &Arc<Vec<Vec3>>| {
        let pairs = points.iter().zip(rest.iter());
        pairs
            .map(|(a, b)| f64::from(a.distance(*b)))
            .fold(0.0, f64::max)
    };
    let worst = mesh.points.values().map(off).fold(0.0, f64::max);
    let message = format!(
        "its points change over time, but glTF has those of the first frame: they are off by up to {worst:.3e}, {:.3} % of the mesh's size",
        worst / size(&rest) * 100.0
    );
    warnings.push(Warning::new("gltf-animated-points", &mesh.path, message));
}

/// The length of the diagonal of the box around points.
fn size(points: &[Vec3]) -> f64 {
    let [low, high] = bounds(points.iter().copied()).unwrap_or_default();
    low.as_dvec3()
        .distance(high.as_dvec3())
        .max(f64::MIN_POSITIVE)
}

/// A frame of a baked mesh.
pub(super) struct BakedFrame {
    /// Index of the clip's plan; `None` for what moves with the stage without a clip.
    pub clip: Option<usize>,
    pub time: f64,
    pub points: Vec<Vec3>,
    pub normals: Option<Vec<Vec3>>,
}

/// The frames of a prim in the Skeleton's space: at the samples of each clip, and at every frame
/// between them.
pub(super) fn frames(
    bound: BoundSkin<'_>,
    normals: Option<usize>,
    movements: &[Movement],
    clock: &Clock,
) -> Result<Vec<BakedFrame>, Invalid> {
    let narrow = |v: Vec<DVec3>| v.iter().map(|p| p.as_vec3()).collect::<Vec<_>>();
    let mut out = Vec::new();
    for movement in movements {
        let times = with_frames(&movement.times, clock);
        let made = times.par_iter().map(|time| -> Result<BakedFrame, Invalid> {
            let deformed = movement.deformed(bound, *time, normals)?;
            Ok(BakedFrame {
                clip: movement.animation.as_ref().map(|_| movement.clip),
                time: *time,
                points: narrow(deformed.points),
                normals: deformed.normals.map(narrow),
            })
        });
        out.extend(made.collect::<Result<Vec<_>, _>>()?);
    }
    Ok(out)
}

/// Number of the frames of [`frames_of_points`].
pub(super) fn frame_count(mesh: &DrawnMesh, clock: &Clock) -> usize {
    with_frames(&merged(mesh.points.times().collect()), clock).len()
}

/// The frames of a mesh without a Skeleton whose points move.
pub(super) fn frames_of_points(mesh: &DrawnMesh, clock: &Clock) -> Vec<BakedFrame> {
    let times = merged(mesh.points.times().collect());
    let frame = |time: f64| {
        Some(BakedFrame {
            clip: None,
            time,
            points: mesh.points.at(Time::At(time))?.to_vec(),
            normals: None,
        })
    };
    with_frames(&times, clock)
        .into_iter()
        .filter_map(frame)
        .collect()
}

/// Times, and every frame between the first and the last of them.
fn with_frames(times: &[f64], clock: &Clock) -> Vec<f64> {
    let mut out = times.to_vec();
    if let (Some(first), Some(last)) = (times.first(), times.last()) {
        out.extend(clock.frames_between(*first, *last));
    }
    merged(out)
}
