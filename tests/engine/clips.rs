//! A clip that is packed from an animation of joints in another order, of fewer joints, and of others.

use std::sync::Arc;

use common::compare::compare;
use common::tolerance;
use common::trials;
use common::trials::Trial;
use glam::{Quat, Vec3};
use libtest_mimic::Failed;
use sinew::kernel::PackedClip;
use sinew::kernel::packed_clip::{ClipOptions, ClipSource};
use sinew::sampled::{Interpolation, Sampled};
use sinew::skel::{SkelAnimation, Skeleton, SkeletonInstance};
use sinew_verify::posing::rigs::{self, Spec};

pub fn trials() -> Vec<Trial> {
    trials![of_another_joint_order]
}

const CODES_PER_SECOND: f64 = 24.0;
const SAMPLES: usize = 13;

/// Whether the animation moves a joint.
fn moves(joint: usize) -> bool {
    joint % 5 != 3
}

/// How the animation moves a joint at a sample.
fn moved(joint: usize, sample: usize) -> (Vec3, Quat) {
    let (joint, sample) = (joint as f32, sample as f32);
    let axis = Vec3::new(1.0, joint * 0.1, -0.5).normalize();
    let turn = Quat::from_axis_angle(axis, 0.3 * joint.sin() + 0.1 * sample);
    (Vec3::new(0.1, 0.02 * joint.cos(), 0.01 * sample), turn)
}

fn weight(channel: usize, sample: usize) -> f32 {
    0.25 * channel as f32 + 0.04 * sample as f32
}

/// An animation whose joints are the other way round than the skeleton's, that lacks every fifth of
/// them, and has one that the skeleton lacks. It has two of the four channels.
fn animation(joints: &[String]) -> SkelAnimation {
    let order: Vec<usize> = (0..joints.len()).rev().filter(|j| moves(*j)).collect();
    let mut names: Vec<String> = order.iter().map(|j| joints[*j].clone()).collect();
    names.insert(2, "of/another/skeleton".into());
    let of_all = |sample: usize| {
        let mut all: Vec<_> = order.iter().map(|j| moved(*j, sample)).collect();
        all.insert(2, (Vec3::splat(9.0), Quat::from_rotation_y(1.0)));
        all
    };
    let code = |sample: usize| sample as f64 * 2.0;
    let samples = || (0..SAMPLES).map(|sample| (code(sample), of_all(sample)));
    let translations = samples().map(|(code, all)| (code, Some(all.iter().map(|j| j.0).collect())));
    let rotations = samples().map(|(code, all)| (code, Some(all.iter().map(|j| j.1).collect())));
    let weights = (0..SAMPLES).map(|s| (code(s), Some(vec![weight(1, s), weight(0, s)])));
    SkelAnimation {
        path: "/Clip".into(),
        translations: Sampled::new(None, translations.collect(), Interpolation::Linear),
        rotations: Sampled::new(None, rotations.collect(), Interpolation::Linear),
        float_scales: Some(Sampled::constant(vec![Vec3::ONE; names.len()])),
        joints: names,
        blend_shapes: vec!["one".into(), "zero".into()],
        blend_shape_weights: Sampled::new(None, weights.collect(), Interpolation::Linear),
        ..SkelAnimation::default()
    }
}

/// Where a joint is, and where it turns two axes.
fn places(translation: Vec3, rotation: Quat) -> [Vec3; 3] {
    [translation, rotation * Vec3::X, rotation * Vec3::Y]
}

fn of_another_joint_order() -> Result<(), Failed> {
    let spec = Spec::default().seed(17).joints(30);
    let (rest, bound) = (rigs::locals(&spec, 0), rigs::skeleton(&spec));
    let (joints, bind) = (bound.joints().to_vec(), bound.bind().to_vec());
    let matrices = rest.iter().map(|joint| joint.matrix()).collect();
    let parents = rigs::parents(&spec);
    let skeleton = Skeleton::from_parents("/Rig", joints, &parents, bind, Some(matrices))?;
    let animation = animation(skeleton.joints());
    let instance = SkeletonInstance::new(Arc::new(skeleton), Some(Arc::new(animation)));
    let source = ClipSource::from_animation(&instance, &["zero", "one"], CODES_PER_SECOND)?;
    // Axes are a metre long.
    let options = ClipOptions {
        bound_metres: 2e-5,
        distance_metres: 4.0,
        weight_bound: 1e-5,
        ..ClipOptions::default()
    };
    let (clip, _) = PackedClip::pack(&source, &options)?;
    let allowed = tolerance::PACKED_CLIPS_METRES;
    for sample in 0..SAMPLES {
        let seconds = (sample as f64 * 2.0 / CODES_PER_SECOND) as f32;
        for (joint, rest) in rest.iter().enumerate() {
            let found = clip.joint(joint, seconds);
            let (translation, rotation) = match moves(joint) {
                true => moved(joint, sample),
                false => (rest.translation.into(), Quat::from_array(rest.rotation)),
            };
            let found = places(found.translation.into(), Quat::from_array(found.rotation));
            let want = places(translation, rotation);
            compare(&format!("joint {joint}"), &found, &want, allowed)?;
        }
        let weights = |of: &dyn Fn(usize) -> f32| [Vec3::new(of(0), of(1), 0.0)];
        let found = weights(&|channel| clip.weight(channel, seconds));
        let want = weights(&|channel| weight(channel, sample));
        compare("weights", &found, &want, allowed)?;
    }
    Ok(())
}
