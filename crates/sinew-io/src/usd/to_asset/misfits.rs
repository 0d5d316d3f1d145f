//! Deformations that glTF cannot hold: how far off its own are, or frames in their place.

use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3};
use rayon::prelude::*;

use super::carried::{COARSE, inside};
use super::clips::SceneClip;
use super::nodes::mix;
use super::shown::Shown;
use super::skeletons::{blocked_times, joint_times};
use super::time::{Clock, merged};
use crate::vertices::bounds;
use sinew::error::{Invalid, Warning};
use sinew::math::Trs;
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, DrawnMesh, OutSpace, Scene, SkinBinding, SkinPart};
use sinew::skel::reference::{Deformed, deform};
use sinew::skel::{AnimMapper, JointInfluences, Pose, Skeleton, Skin, SkinningMethod};

type Result<T> = std::result::Result<T, Invalid>;

/// Sums of weights that differ from 1 by less than this are rounding.
pub(super) const LOOSE: f64 = 1e-5;

/// Errors below this part of a mesh's size do not show.
pub(super) const INVISIBLE: f64 = 1e-6;

/// The part of a mesh's size at a time by which points of glTF may be elsewhere without a word:
/// between keys, where scales are halves in USD.
pub(super) const PROMISED: f64 = 4e-3;

/// A mesh that shrinks counts as no smaller than this part of its largest size.
pub(super) const SMALLEST: f64 = 0.1;

/// Axes of joints that differ by less than this are the same.
const SAME_AXES: f64 = 1e-5;

/// Why glTF cannot hold the deformation of a prim.
#[derive(Clone, Debug)]
pub(super) struct Misfit {
    pub code: &'static str,
    /// What glTF does instead.
    pub what: String,
    /// The error, as a part of the mesh's size, up to which it is not worth a word.
    pub least: f64,
}

/// Why glTF cannot hold the deformation of a prim that is bound to a Skeleton; empty if it can.
/// Where a node carries the prim, all but its points is in the node's motion.
pub(super) fn of_bound(binding: &SkinBinding, skin: &Skin, is_carried: bool) -> Vec<Misfit> {
    let mut out = Vec::new();
    let mut add = |code, what: String, least| out.push(Misfit { code, what, least });
    let moves = "change over time: glTF has those of the first frame";
    if is_carried {
        if binding.points.is_animated() {
            add(
                "gltf-animated-rest",
                format!("its points at rest {moves}"),
                0.0,
            );
        }
        return out;
    }
    if skin.method() == SkinningMethod::DualQuaternion {
        let what = "it is skinned by dual quaternions, but glTF blends matrices";
        add("gltf-dual-quaternion", what.to_owned(), 0.0);
    }
    if let Some(influences) = skin.influences() {
        let [loose, negative, empty] = odd_weights(influences, skin.points().len());
        if empty > 0 {
            let what = format!(
                "{empty} points have no weight above 0, but weights in glTF add up to 1: these points follow the first of their joints"
            );
            add("gltf-weights-zero", what, 0.0);
        }
        if loose > 0 {
            let what = format!(
                "the weights of {loose} points do not add up to 1, but glTF's do: they are divided by their sum"
            );
            add("gltf-weights", what, INVISIBLE);
        }
        if negative > 0 {
            let what = format!("{negative} points have weights below 0, which glTF leaves out");
            add("gltf-weights-negative", what, 0.0);
        }
    }
    let changes = binding.points.is_animated();
    let influences = binding.influences.as_ref();
    let reweighs = influences.is_some_and(|i| i.indices.is_animated() || i.weights.is_animated());
    if changes || reweighs || binding.geom_bind.is_animated() {
        let what = format!("its points at rest, its weights or its geomBindTransform {moves}");
        add("gltf-animated-rest", what, 0.0);
    }
    out
}

/// Rotations whose length differs from 1 by less than this are rounding.
const UNIT: f32 = 1e-4;

/// What clips do with the joints of a Skeleton that nodes cannot: rotations that are none, which
/// UsdSkel takes as they are, and times without values.
pub(super) fn of_clips(
    skeleton: usize,
    joints: &Skeleton,
    plans: &[SceneClip],
    clock: &Clock,
) -> Vec<Misfit> {
    let parts = plans.iter().flat_map(|p| &p.parts);
    let of_this = parts.filter(|(s, animation)| {
        *s == skeleton && !AnimMapper::new(&animation.joints, joints.joints()).reaches_nothing()
    });
    let animations: Vec<_> = of_this.map(|(_, animation)| animation).collect();
    let mut out = Vec::new();
    let is_loose = |q: &glam::Quat| (q.length() - 1.0).abs() > UNIT;
    let mut rotations = animations.iter().flat_map(|a| a.rotations.values());
    if rotations.any(|v| v.iter().any(is_loose)) {
        out.push(Misfit {
            code: "gltf-rotations",
            what: "rotations of its joints do not have length 1: glTF has the nearest that do"
                .into(),
            least: 0.0,
        });
    }
    for animation in animations {
        let [blocked, all] = blocked_times(animation, clock);
        // One without values at any time has its own warning.
        if blocked > 0 && blocked < all {
            let path = &animation.path;
            out.push(Misfit {
                code: BLOCKED,
                what: format!(
                    "at {blocked} of the {all} times of {path} its joints have no values and rest, and glTF moves them there gradually"
                ),
                least: 0.0,
            });
        }
    }
    out
}

/// The code of clips that have no values at some times.
const BLOCKED: &str = "animation-blocked";

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

/// How far the nodes of a Skeleton are from its joints, at the keys of clips and between them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JointError {
    /// The largest difference of an axis in quarters of spans, where scales that USD interpolates as
    /// halves are as good as exact: what nodes with more keys would mend.
    axes_in_quarters: f64,
    /// The largest difference of an axis.
    axes: f64,
    /// The largest difference of an origin, in the Skeleton's space.
    origins: f64,
}

impl JointError {
    pub fn is_none(&self) -> bool {
        self.axes <= SAME_AXES
    }

    /// Whether a prim that a joint moves as a whole is better off with keys of its own.
    pub fn is_mended_by_keys(&self) -> bool {
        self.axes_in_quarters > 0.5 * PROMISED
    }

    /// The misfit of a skinned prim whose points at rest are these in bind space, if it may be much.
    pub fn misfit(&self, points: impl Iterator<Item = DVec3>) -> Option<Misfit> {
        let (mut reach, mut around) = (0.0f64, None);
        for p in points {
            reach = reach.max(p.length());
            let [low, high] = around.unwrap_or([p, p]);
            around = Some([low.min(p), high.max(p)]);
        }
        let size = around.map_or(0.0, |[low, high]| low.distance(high));
        let off = (self.axes * reach + self.origins) / size;
        (!self.is_none() && off.is_finite() && off > PROMISED).then(|| Misfit {
            code: JOINTS,
            what: "its joints are sheared, or move between keys as nodes of glTF cannot".into(),
            least: PROMISED,
        })
    }
}

/// The code of what joints or nodes move otherwise than USD does.
pub(super) const JOINTS: &str = "gltf-joints";

/// A clip as it moves one prim.
pub(super) struct Movement<'a> {
    shown: &'a Shown<'a>,
    scene: Arc<Scene>,
    binding: usize,
    /// Times at which its joints have keys, ascending.
    keys: Vec<f64>,
    /// All its times, ascending.
    pub times: Vec<f64>,
}

/// How the clips move a prim: all its samples, those of its rest data in what the stage shows, and
/// no clip at all if there is none.
pub(super) fn movements<'a>(
    binding: usize,
    shown: &'a [Shown<'a>],
    clock: &Clock,
) -> Vec<Movement<'a>> {
    let mut out = Vec::new();
    for shown in shown.iter().filter(|s| s.concerns(binding)) {
        let scene = shown.scene();
        let bound = scene.bound(binding);
        let animation = bound.skeleton().instance.animation();
        let mut times = Vec::new();
        if shown.is_stage {
            times.extend(bound.binding().rest_times(false));
            times.extend(bound.binding().influence_times());
            times.extend(bound.binding().geom_bind.times());
        }
        if animation.is_none() && times.is_empty() && !shown.is_stage {
            continue;
        }
        let keys = match animation {
            Some(animation) => joint_times(animation, clock),
            None => vec![clock.start()],
        };
        match animation {
            Some(animation) => {
                times.extend(&keys);
                times.extend(animation.blend_shape_weights.times());
            }
            None if times.is_empty() => times.push(clock.start()),
            None => {}
        }
        out.push(Movement {
            shown,
            scene,
            binding,
            keys,
            times: merged(times),
        });
    }
    out
}

/// How no clip at all moves a prim.
pub(super) fn at_rest<'a>(binding: usize, shown: &'a Shown<'a>, clock: &Clock) -> Movement<'a> {
    Movement {
        shown,
        scene: shown.scene(),
        binding,
        keys: vec![clock.start()],
        times: vec![clock.start()],
    }
}

/// How far the nodes of a Skeleton are from its joints. `moved` says of each joint whether some clip
/// moves it.
pub(super) fn joint_error(movements: &[Movement<'_>], moved: &[bool]) -> Result<JointError> {
    let mut worst = JointError::default();
    for movement in movements {
        let quarters = between(&movement.keys, QUARTERS).into_par_iter();
        let quarters = quarters.map(|time| movement.joint_error(time, moved));
        for [axes, _] in quarters.collect::<Result<Vec<_>>>()? {
            worst.axes_in_quarters = worst.axes_in_quarters.max(axes);
        }
        let uneven = between(&movement.keys, UNEVEN).into_par_iter();
        let uneven = uneven.map(|time| movement.joint_error(time, moved));
        for [axes, origins] in uneven.collect::<Result<Vec<_>>>()? {
            worst.axes = worst.axes.max(axes);
            worst.origins = worst.origins.max(origins);
        }
    }
    worst.axes = worst.axes.max(worst.axes_in_quarters);
    Ok(worst)
}

const QUARTERS: [f64; 3] = [0.25, 0.5, 0.75];

/// Parts of a span at which scales that are interpolated as halves are rounded.
const UNEVEN: [f64; 3] = [0.23, 0.49, 0.79];

/// Times, and three between each two.
fn between(times: &[f64], shares: [f64; 3]) -> Vec<f64> {
    let inside = times.windows(2).flat_map(|pair| {
        let at = |share: f64| pair[0] + (pair[1] - pair[0]) * share;
        shares.map(at)
    });
    merged(inside.chain(times.iter().copied()).collect())
}

impl Movement<'_> {
    fn bound(&self) -> BoundSkin<'_> {
        self.scene.bound(self.binding)
    }

    fn world_from_skel(&self, time: f64) -> DMat4 {
        let scene = &self.scene;
        scene.world_from_prim(self.bound().skeleton().prim, Time::At(time))
    }

    /// All times at which its motion in the world may change.
    fn shown_times(&self) -> Vec<f64> {
        let mut times = self.times.clone();
        if self.shown.is_stage {
            let prim = self.bound().skeleton().prim;
            times.extend(self.scene.transform_times(prim));
        }
        merged(times)
    }

    fn is_driven(&self) -> bool {
        self.bound().skeleton().instance.animation().is_some()
    }

    /// The clip's name for messages.
    pub fn name<'a>(&self, plans: &'a [SceneClip]) -> &'a str {
        let clip = self.shown.clip.filter(|_| self.is_driven());
        clip.map_or("no clip", |clip| &plans[clip].name)
    }

    /// Number of its frames.
    pub fn frame_count(&self, clock: &Clock) -> usize {
        with_frames(&self.times, clock).len()
    }

    /// The pose at a time, with results in the Skeleton's space.
    fn pose(&self, time: f64) -> Result<Pose> {
        let mut poses = self.scene.at(Time::At(time), OutSpace::Skel);
        poses.pose(self.bound())
    }

    /// The same as glTF has it: joints that a clip moves have translation, rotation and scale,
    /// which glTF interpolates between two keys.
    fn gltf_pose(&self, time: f64, moved: &[bool]) -> Result<Pose> {
        let mut out = self.pose(time)?;
        let instance = &self.bound().skeleton().instance;
        let after = self.keys.partition_point(|t| *t <= time);
        let from = self.keys[after.saturating_sub(1)];
        let to = self.keys[after.min(self.keys.len() - 1)];
        let mut locals = instance.joint_local_transforms(Time::At(from))?;
        let next = instance.joint_local_transforms(Time::At(to))?;
        let alpha = match to > from {
            true => (time - from) / (to - from),
            false => 0.0,
        };
        for (joint, _) in moved.iter().enumerate().filter(|(_, moved)| **moved) {
            let [from, to] = [&locals, &next].map(|all| Trs::from_matrix(&all[joint]));
            locals[joint] = mix(&from, &to, alpha).matrix();
        }
        out.set_local(instance.skeleton(), &locals)?;
        Ok(out)
    }

    /// The largest difference at a time between an axis of a joint and of its node, and between their
    /// origins.
    fn joint_error(&self, time: f64, moved: &[bool]) -> Result<[f64; 2]> {
        let want = self.pose(time)?;
        let got = self.gltf_pose(time, moved)?;
        let both = want.skinning.iter().zip(&got.skinning);
        let both = both.flat_map(|(want, got)| want.iter().zip(got.iter()));
        let mut worst = [0.0f64; 2];
        for (want, got) in both {
            let off = *want - *got;
            let axes = [off.x_axis, off.y_axis, off.z_axis].map(|axis| axis.length());
            worst[0] = axes.into_iter().fold(worst[0], f64::max);
            worst[1] = worst[1].max(off.w_axis.length());
        }
        Ok(worst)
    }

    /// Points and normals at a time as UsdSkel has them, in the Skeleton's space.
    fn deformed(&self, time: f64, normals: Option<usize>) -> Result<Deformed> {
        let part = SkinPart {
            blend_only: false,
            // Beyond the last one there are none.
            normals: normals.unwrap_or(usize::MAX),
        };
        let skin = self.bound().skin_part(Time::At(time), part)?;
        deform(&skin, &self.pose(time)?)
    }
}

/// The skin as glTF has it: matrices, no weights below 0, sums of 1.
fn as_gltf(bound: BoundSkin<'_>, skin: &Skin) -> Result<Skin> {
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

/// A prim as glTF has it.
pub(super) struct AsGltf<'a> {
    pub bound: BoundSkin<'a>,
    pub form: Form<'a>,
    /// Joints of its Skeleton that some clip moves.
    pub moved: &'a [bool],
}

/// What moves a prim in glTF.
#[derive(Clone, Copy)]
pub(super) enum Form<'a> {
    /// A skin.
    Skinned,
    /// Its node.
    Carried,
    /// Only its blend shapes: an instance that shows it where it was modelled.
    AtRest(&'a DrawnMesh),
}

/// The warnings about a prim whose deformation glTF cannot hold, with the error that this causes:
/// the largest distance at the times of all clips and between them, in stage units.
pub(super) fn measure(
    prim: &AsGltf<'_>,
    misfits: Vec<Misfit>,
    movements: &[Movement<'_>],
    plans: &[SceneClip],
    clock: &Clock,
) -> Result<Vec<Warning>> {
    let rest = clock.rest();
    let binding = prim.bound.binding();
    let skin = prim.bound.skin(rest)?;
    let gltf = as_gltf(prim.bound, &skin)?;
    let geom_bind = binding.geom_bind.at(rest);
    let geom_bind = geom_bind.map_or(DMat4::IDENTITY, |m| *m);
    let (mut worst, mut largest, mut at) = (0.0f64, f64::MIN_POSITIVE, String::new());
    let is_of_joints = misfits
        .iter()
        .any(|misfit| [JOINTS, BLOCKED].contains(&misfit.code));
    let shares = if is_of_joints { UNEVEN } else { QUARTERS };
    // Errors with the sizes of the mesh at their times.
    let mut found = Vec::new();
    for movement in movements {
        let error_at = |time: &f64| -> Result<(f64, f64)> {
            let mut world = movement.world_from_skel(*time);
            let mut gltf_world = world;
            let got = match prim.form {
                Form::Carried => deform(&skin, &movement.pose(*time)?)?,
                Form::Skinned => {
                    let mut pose = movement.gltf_pose(*time, prim.moved)?;
                    pose.geom_bind = geom_bind;
                    deform(&gltf, &pose)?
                }
                Form::AtRest(instance) => {
                    // What stands above it moves in what the stage shows alone.
                    let placed = match movement.shown.is_stage {
                        true => Time::At(*time),
                        false => rest,
                    };
                    world = instance.world_from_prototype(placed) * world;
                    gltf_world = instance.world_from_prim(placed);
                    let part = SkinPart {
                        blend_only: true,
                        normals: usize::MAX,
                    };
                    let skin = movement.bound().skin_part(rest, part)?;
                    deform(&skin, &movement.pose(*time)?)?
                }
            };
            let in_world = |points: &[DVec3], world: &DMat4| -> Vec<DVec3> {
                points.iter().map(|p| world.transform_point3(*p)).collect()
            };
            let want = in_world(&movement.deformed(*time, None)?.points, &world);
            let pairs = want.iter().zip(in_world(&got.points, &gltf_world));
            let error = pairs.map(|(a, b)| a.distance(b)).fold(0.0, f64::max);
            let narrow: Vec<Vec3> = want.iter().map(|p| p.as_vec3()).collect();
            Ok((error, size(&narrow)))
        };
        let times = movement.shown_times();
        let mut times = match is_of_joints {
            true => inside(&times, COARSE, 0.0),
            false => between(&times, shares),
        };
        // Then nearer to where it is largest.
        for _ in 0..2 {
            let errors = times.par_iter().map(error_at);
            let errors = errors.collect::<Result<Vec<_>>>()?;
            let mut here = (0.0, 0);
            for (i, (error, size)) in errors.iter().enumerate() {
                largest = largest.max(*size);
                if *error > here.0 {
                    here = (*error, i);
                }
            }
            if here.0 > worst {
                worst = here.0;
                let time = times[here.1];
                at = format!(" (time code {time} of {})", movement.name(plans));
            }
            if is_of_joints {
                let parts = errors
                    .iter()
                    .map(|(error, size)| error / size.max(SMALLEST * largest));
                let parts = parts.zip(0..);
                here = parts.fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
            }
            let near = here.1.saturating_sub(1)..times.len().min(here.1 + 2);
            found.extend(errors);
            times = between(&between(&times[near], shares), shares);
        }
    }
    let relative = worst / largest;
    let parts = found
        .iter()
        .map(|(error, size)| error / size.max(SMALLEST * largest));
    let part = parts.fold(relative, f64::max);
    // Nothing differs where what glTF lacks moves nothing.
    let told = misfits
        .iter()
        .filter(|misfit| part > 0.0 && part >= misfit.least);
    let warnings = told.map(|misfit| {
        let message = format!(
            "{}; points are off by up to {worst:.3e}, {:.3} % of the mesh's size{at}",
            misfit.what,
            relative * 100.0
        );
        Warning::new(misfit.code, &binding.path, message)
    });
    Ok(warnings.collect())
}

/// The warning about a mesh without a Skeleton whose points move.
pub(super) fn warn_of_points(mesh: &DrawnMesh, clock: &Clock, warnings: &mut Vec<Warning>) {
    let rest = mesh.points.at(clock.rest());
    let Some(rest) = rest.or_else(|| mesh.points.first().cloned()) else {
        return;
    };
    let mut times = mesh.place.times();
    times.extend(mesh.points.times());
    let (mut worst, mut largest) = (0.0f64, f64::MIN_POSITIVE);
    for time in between(&merged(times), QUARTERS).into_iter().map(Time::At) {
        let Some(points) = mesh.points.at(time) else {
            continue;
        };
        let world = mesh.world_from_prim(time);
        let in_world = |p: &Vec3| world.transform_point3(p.as_dvec3()).as_vec3();
        let pairs = points.iter().zip(rest.iter());
        let off = pairs.map(|(a, b)| f64::from(in_world(a).distance(in_world(b))));
        worst = off.fold(worst, f64::max);
        largest = largest.max(size(&points.iter().map(in_world).collect::<Vec<_>>()));
    }
    let message = format!(
        "its points change over time, but glTF has those of the first frame: they are off by up to {worst:.3e}, {:.3} % of the mesh's size",
        worst / largest * 100.0
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
    normals: Option<usize>,
    movements: &[Movement<'_>],
    clock: &Clock,
) -> Result<Vec<BakedFrame>> {
    let narrow = |v: Vec<DVec3>| v.iter().map(|p| p.as_vec3()).collect::<Vec<_>>();
    let mut out = Vec::new();
    for movement in movements {
        let times = with_frames(&movement.times, clock);
        let made = times.par_iter().map(|time| -> Result<BakedFrame> {
            let deformed = movement.deformed(*time, normals)?;
            Ok(BakedFrame {
                clip: movement.shown.clip.filter(|_| movement.is_driven()),
                time: *time,
                points: narrow(deformed.points),
                normals: deformed.normals.map(narrow),
            })
        });
        out.extend(made.collect::<Result<Vec<_>>>()?);
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
