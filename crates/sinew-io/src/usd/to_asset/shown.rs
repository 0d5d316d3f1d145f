//! The scene as each clip shows it.

use std::sync::{Arc, OnceLock};

use super::clips::{SceneClip, driven_by};
use super::time::Clock;
use sinew::sampled::{Lerp, Sampled, Time};
use sinew::scene::{OpKind, OpValue, Scene, SkinBinding, XformOp, XformStack};
use sinew::skel::SkeletonInstance;

/// The largest number of prims, bindings and Skeletons in the scenes of all clips that are kept. A
/// scene of a file with more is made anew for each prim, so that memory does not grow with clips
/// times prims.
const MOST_KEPT: usize = 100_000;

/// A scene as one clip shows it.
pub(super) struct Shown<'a> {
    /// Index of the clip's plan; `None` for a stage without a bound clip.
    pub clip: Option<usize>,
    /// Whether it is what the stage shows: prims and rest data move in it, and in no other clip.
    pub is_stage: bool,
    of: &'a Scene,
    /// The clip, if it is not what the stage shows.
    plan: Option<SceneClip>,
    rest: Time,
    is_kept: bool,
    made: OnceLock<Arc<Scene>>,
}

impl Shown<'_> {
    /// The scene, with only what poses need.
    pub fn scene(&self) -> Arc<Scene> {
        let make = || {
            Arc::new(match &self.plan {
                Some(plan) => moved_by(self.of, plan, self.rest),
                None => copy(self.of),
            })
        };
        match self.is_kept {
            true => self.made.get_or_init(make).clone(),
            false => make(),
        }
    }

    /// Whether it moves the Skeleton of a binding, or may move it otherwise.
    pub fn concerns(&self, binding: usize) -> bool {
        let instance = self.of.bindings[binding].instance;
        let has = |plan: &SceneClip| plan.parts.iter().any(|(i, _)| *i == instance);
        self.plan.as_ref().is_none_or(has)
    }
}

/// What the stage shows, then what each other clip does.
pub(super) fn of_clips<'a>(scene: &'a Scene, plans: &[SceneClip], clock: &Clock) -> Vec<Shown<'a>> {
    let each = scene.prims.len() + scene.bindings.len() + scene.instances.len();
    let show = |clip: Option<usize>, plan: Option<&SceneClip>| Shown {
        clip,
        is_stage: plan.is_none(),
        of: scene,
        plan: plan.cloned(),
        rest: clock.rest(),
        is_kept: plan.is_none() || each.saturating_mul(plans.len()) <= MOST_KEPT,
        made: OnceLock::new(),
    };
    let stage = show(plans.iter().position(|plan| plan.is_bound), None);
    let others = plans.iter().enumerate().filter(|(_, plan)| !plan.is_bound);
    let others = others.map(|(clip, plan)| show(Some(clip), Some(plan)));
    std::iter::once(stage).chain(others).collect()
}

/// What no clip moves.
pub(super) fn at_rest<'a>(scene: &'a Scene, clock: &Clock) -> Shown<'a> {
    Shown {
        clip: None,
        is_stage: false,
        of: scene,
        plan: Some(SceneClip {
            name: String::new(),
            is_bound: false,
            parts: Vec::new(),
        }),
        rest: clock.rest(),
        is_kept: false,
        made: OnceLock::new(),
    }
}

fn copy(scene: &Scene) -> Scene {
    let mut out = Scene::new(&scene.file, scene.time_line);
    out.prims.clone_from(&scene.prims);
    out.instances.clone_from(&scene.instances);
    out.bindings.clone_from(&scene.bindings);
    out
}

/// The scene with the animations of a clip, in which nothing but them moves.
fn moved_by(scene: &Scene, plan: &SceneClip, rest: Time) -> Scene {
    let mut out = copy(scene);
    for prim in out.prims.iter_mut().filter(|p| p.xform.is_animated()) {
        let op = XformOp {
            kind: OpKind::Transform,
            name: "xformOp:transform".to_owned(),
            invert: false,
            value: OpValue::Matrix(Sampled::constant(prim.xform.local(rest))),
        };
        prim.xform = XformStack {
            ops: vec![op],
            resets: prim.xform.resets,
        };
    }
    for (index, placed) in out.instances.iter_mut().enumerate() {
        let part = plan.parts.iter().find(|(skeleton, _)| *skeleton == index);
        let animation = part.map(|(_, animation)| animation.clone());
        placed.instance = SkeletonInstance::new(placed.instance.skeleton().clone(), animation);
    }
    for binding in &mut out.bindings {
        match out.instances[binding.instance].instance.animation() {
            Some(animation) => *binding = driven_by(binding, animation),
            None => binding.channel_mapper = None,
        }
        hold(binding, rest);
    }
    out
}

/// Keeps the rest data of a binding as they are at a time.
fn hold(binding: &mut SkinBinding, rest: Time) {
    fn still<T: Lerp + Clone>(values: &mut Sampled<T>, rest: Time) {
        if values.is_animated() {
            let value = values.at(rest);
            *values = value.map_or_else(Sampled::default, |v| Sampled::constant((*v).clone()));
        }
    }
    still(&mut binding.points, rest);
    still(&mut binding.geom_bind, rest);
    if let Some(influences) = &mut binding.influences {
        still(&mut influences.indices, rest);
        still(&mut influences.weights, rest);
    }
    for normals in &mut binding.normals {
        still(&mut normals.values, rest);
    }
    binding.forget_skins();
}
