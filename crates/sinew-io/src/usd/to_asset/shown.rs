//! The scene as each clip shows it.

use super::clips::{SceneClip, driven_by};
use super::time::Clock;
use sinew::sampled::{Lerp, Sampled, Time};
use sinew::scene::{OpKind, OpValue, Scene, SkinBinding, XformOp, XformStack};
use sinew::skel::SkeletonInstance;

/// A scene as one clip shows it.
pub(super) struct Shown {
    /// Index of the clip's plan; `None` for a stage without a bound clip.
    pub clip: Option<usize>,
    /// Whether it is what the stage shows: prims and rest data move in it, and in no other clip.
    pub is_stage: bool,
    /// Only what poses need.
    pub scene: Scene,
}

/// What the stage shows, then what each other clip does.
pub(super) fn of_clips(scene: &Scene, plans: &[SceneClip], clock: &Clock) -> Vec<Shown> {
    let bound = plans.iter().position(|plan| plan.is_bound);
    let stage = Shown {
        clip: bound,
        is_stage: true,
        scene: copy(scene),
    };
    let others = plans.iter().enumerate().filter(|(_, plan)| !plan.is_bound);
    let others = others.map(|(clip, plan)| Shown {
        clip: Some(clip),
        is_stage: false,
        scene: moved_by(scene, plan, clock.rest()),
    });
    std::iter::once(stage).chain(others).collect()
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
