//! The form that all value clips of a skeleton have in common, and clips in that form.

use std::collections::HashSet;
use std::sync::Arc;

use half::f16;
use sinew::math::Trs;
use sinew::sampled::{Interpolation, Sampled};
use sinew::scene::PlacedSkeleton;
use sinew::skel::SkelAnimation;
use sinew_layer::Path as ScenePath;
use sinew_stage::Source;

use super::layer::Part;

/// The prim of a copied clip, where no published one gives it a path.
pub(super) const COPY: &str = "/Animation";

/// What all value clips of a Skeleton have in common.
pub(super) struct Form {
    joints: Vec<String>,
    shapes: Vec<String>,
    pub prim: ScenePath,
}

/// The rest transform of a joint, by its path.
fn rest_of(skeleton: &PlacedSkeleton, joint: &str) -> Option<Trs> {
    let skeleton = skeleton.instance.skeleton();
    let index = skeleton.joints().iter().position(|j| j == joint)?;
    Some(Trs::from_matrix(skeleton.rest()?.get(index)?))
}

impl Form {
    /// The form of the first published clip that has everything that the clips move; where there
    /// is none, a form of its own.
    pub fn of(skeleton: &PlacedSkeleton, parts: &[Part<'_>]) -> Self {
        let union = |of: &dyn Fn(&SkelAnimation) -> &[String]| -> Vec<String> {
            let mut seen = HashSet::new();
            let all = parts.iter().flat_map(|p| of(&p.found.animation));
            all.filter(|t| seen.insert(t.as_str())).cloned().collect()
        };
        let (joints, shapes) = (union(&|a| &a.joints), union(&|a| &a.blend_shapes));
        let published = parts.iter().find_map(|part| {
            let animation = &part.found.animation;
            let is_all = animation.joints.len() == joints.len()
                && animation.blend_shapes.len() == shapes.len();
            let prim = published_at(part).ok().filter(|_| is_all)?;
            Some(Self {
                joints: animation.joints.clone(),
                shapes: animation.blend_shapes.clone(),
                prim,
            })
        });
        published.unwrap_or_else(|| {
            let moved: HashSet<&String> = joints.iter().collect();
            let order = skeleton.instance.skeleton().joints().iter();
            Self {
                joints: order.filter(|j| moved.contains(j)).cloned().collect(),
                shapes,
                prim: ScenePath::parse(COPY).unwrap_or_default(),
            }
        })
    }

    /// Why a part cannot be a value clip as it was published. `all` are the clips of the sequence in
    /// this form.
    pub fn misfit(&self, part: &Part<'_>, all: &[SkelAnimation]) -> Option<&'static str> {
        let animation = &part.found.animation;
        match published_at(part) {
            Err(why) => Some(why),
            Ok(_) if animation.joints != self.joints || animation.blend_shapes != self.shapes => {
                Some("value clips in a sequence need the same joints and blend shapes in one order")
            }
            Ok(prim) if prim != self.prim => {
                Some("value clips in a sequence need the same prim path")
            }
            Ok(_) if lacks_samples(animation, all) => {
                Some("value clips can have only time samples, but it has a default value")
            }
            Ok(_) => None,
        }
    }

    /// A clip in this form; `None` if it needs a rest pose that is not there. Joints that it lacks
    /// are at rest, blend shapes that it lacks have weight 0.
    pub fn conform(
        &self,
        animation: &SkelAnimation,
        skeleton: &PlacedSkeleton,
    ) -> Option<SkelAnimation> {
        let places = |form: &[String], own: &[String]| -> Vec<Option<usize>> {
            let place = |token| own.iter().position(|t| t == token);
            form.iter().map(place).collect()
        };
        let joints = places(&self.joints, &animation.joints);
        let shapes = places(&self.shapes, &animation.blend_shapes);
        let mut rest = Vec::with_capacity(joints.len());
        for (joint, own) in self.joints.iter().zip(&joints) {
            rest.push(match own {
                Some(_) => Trs::IDENTITY,
                None => rest_of(skeleton, joint)?,
            });
        }
        let [has_joints, has_shapes] =
            [&animation.joints, &animation.blend_shapes].map(|tokens| !tokens.is_empty());
        let translation = |t: &Trs| t.translation.as_vec3();
        let rotation = |t: &Trs| t.rotation.as_quat();
        let scale = |t: &Trs| t.scale.as_vec3().to_array().map(f16::from_f32);
        let translations = rest.iter().map(translation).collect();
        let rotations = rest.iter().map(rotation).collect();
        let scales = rest.iter().map(scale).collect();
        let weights = vec![0.0; shapes.len()];
        Some(SkelAnimation {
            path: animation.path.clone(),
            joints: self.joints.clone(),
            translations: picked(&animation.translations, &joints, translations, has_joints),
            rotations: picked(&animation.rotations, &joints, rotations, has_joints),
            scales: picked(&animation.scales, &joints, scales, has_joints),
            float_scales: None,
            blend_shapes: self.shapes.clone(),
            blend_shape_weights: picked(
                &animation.blend_shape_weights,
                &shapes,
                weights,
                has_shapes,
            ),
        })
    }
}

/// Values in another order; what is missing comes from `fallback`.
fn picked<T: Clone>(
    from: &Sampled<Vec<T>>,
    order: &[Option<usize>],
    fallback: Vec<T>,
    is_there: bool,
) -> Sampled<Vec<T>> {
    if !is_there || !from.has_value() {
        return Sampled::constant(fallback);
    }
    from.map(|values| {
        let pick = |(i, fallback): (&Option<usize>, &T)| {
            let own = i.and_then(|i| values.get(i));
            own.unwrap_or(fallback).clone()
        };
        order.iter().zip(&fallback).map(pick).collect()
    })
}

/// The prim of a clip, if all that is said of it is said by the layer that its file's name opens.
fn published_at(part: &Part<'_>) -> std::result::Result<ScenePath, &'static str> {
    if !part.is_published() {
        return Err(part.why_unpublished());
    }
    let path = ScenePath::parse(&part.found.animation.path).unwrap_or_default();
    let Some(prim) = part.played.file.stage.prim(&path) else {
        return Err("its prim is not in the file");
    };
    let mut opinions = prim.opinions();
    let root = part.played.file.stage.root_layer();
    let is_own = match (opinions.next(), opinions.next()) {
        (Some(only), None) => Arc::ptr_eq(&only.layer.layer, root) && *only.path == path,
        _ => false,
    };
    if !is_own {
        return Err("value clips are read from one layer, and its values come from others");
    }
    let sources = ["translations", "rotations", "scales", "blendShapeWeights"];
    let sources = sources.map(|name| prim.attribute(name).source(Some(0.0)));
    if sources.contains(&Source::Clips) {
        return Err("its values come from value clips, but value clips can have only time samples");
    }
    if sources.contains(&Source::Spline) {
        return Err("value clips can have only time samples, but it has splines");
    }
    Ok(path)
}

/// Whether a clip has no samples of a component that varies: over time, or from clip to clip.
fn lacks<T: PartialEq>(
    own: &SkelAnimation,
    all: &[SkelAnimation],
    of: impl Fn(&SkelAnimation) -> &Sampled<T>,
) -> bool {
    let is_sampled = |clip: &SkelAnimation| of(clip).times().next().is_some();
    let first = all.first().and_then(|clip| of(clip).first());
    let varies = all.iter().any(|c| is_sampled(c) || of(c).first() != first);
    varies && !is_sampled(own)
}

fn lacks_samples(own: &SkelAnimation, all: &[SkelAnimation]) -> bool {
    lacks(own, all, |c| &c.translations)
        || lacks(own, all, |c| &c.rotations)
        || lacks(own, all, |c| &c.scales)
        || lacks(own, all, |c| &c.blend_shape_weights)
}

/// One of the clips of a sequence, with a sample at `time` of what varies and has none.
pub(super) fn sampled(own: &SkelAnimation, all: &[SkelAnimation], time: f64) -> SkelAnimation {
    fn at<T: Clone + PartialEq>(
        (own, all, time): (&SkelAnimation, &[SkelAnimation], f64),
        of: impl Fn(&SkelAnimation) -> &Sampled<T>,
    ) -> Sampled<T> {
        match of(own).first() {
            Some(value) if lacks(own, all, &of) => {
                let sample = (time, Some(T::clone(value)));
                Sampled::new(None, vec![sample], Interpolation::Linear)
            }
            _ => of(own).clone(),
        }
    }
    let clip = (own, all, time);
    SkelAnimation {
        translations: at(clip, |c| &c.translations),
        rotations: at(clip, |c| &c.rotations),
        scales: at(clip, |c| &c.scales),
        blend_shape_weights: at(clip, |c| &c.blend_shape_weights),
        ..own.clone()
    }
}
