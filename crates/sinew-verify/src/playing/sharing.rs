//! Clips that were made for other joints: in another order, of fewer joints, or for another skeleton.

use std::sync::Arc;

use glam::{DQuat, DVec3, Quat, Vec3};
use sinew::gpu::{PlayedClip, Playing};
use sinew::kernel::PackedClip;
use sinew::kernel::packed_clip::{ClipOptions, ClipSource};
use sinew::math::Trs;
use sinew::sampled::{Interpolation, Sampled};
use sinew::skel::{SkelAnimation, SkeletonInstance, SkinningMethod};

use super::Run;
use super::fades::Stage;
use super::figure::{CHANNELS, Truth};
use crate::host::{Gpu, wrong_use};
use crate::posing::rigs;
use crate::{Failure, ensure};

pub const CHECKS: &[(&str, Run)] = &[
    ("clips_of_another_joint_order", another_order),
    ("skeletons_share_clips", skeletons_share),
];

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

fn another_order(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::new(gpu, SkinningMethod::DualQuaternion)?;
    let rest = rigs::locals(&stage.figure.spec, 0);
    let skeleton = stage.figure.skeleton_at_rest(&rest)?;
    let animation = animation(skeleton.joints());
    let instance = SkeletonInstance::new(Arc::new(skeleton), Some(Arc::new(animation)));
    let source = ClipSource::from_animation(&instance, &["zero", "one"], CODES_PER_SECOND)?;
    // The figure's points are metres away from their joints.
    let options = ClipOptions {
        bound_metres: 2e-5,
        distance_metres: 4.0,
        weight_bound: 1e-5,
        ..ClipOptions::default()
    };
    let (clip, _) = PackedClip::pack(&source, &options)?;
    let clip = Arc::new(clip);
    let id = stage.crowd.add_clip(Arc::clone(&clip))?;
    stage.figure.clips.push(clip);
    let number = stage.figure.clips.len() - 1;
    stage.play(&Playing::new(PlayedClip::new(id).clamp().since(0.0)))?;
    for sample in [0, 1, 6, SAMPLES - 1] {
        let joints = (0..rest.len()).map(|joint| {
            let at_rest = &rest[joint];
            let (translation, rotation) = match moves(joint) {
                true => moved(joint, sample),
                false => (
                    at_rest.translation.into(),
                    Quat::from_array(at_rest.rotation),
                ),
            };
            Trs {
                translation: translation.as_dvec3(),
                rotation: DQuat::from_array(rotation.to_array().map(f64::from)).normalize(),
                scale: DVec3::ONE,
            }
        });
        // A clip gives channels that it lacks a weight of 0.
        let of_clip = [weight(0, sample), weight(1, sample), 0.0, 0.0];
        let truth = Truth {
            joints: joints.collect(),
            weights: of_clip[..CHANNELS].iter().map(|w| f64::from(*w)).collect(),
        };
        let clock = sample as f64 * 2.0 / CODES_PER_SECOND;
        stage.frame(clock, [Some(number), None, None], None, &truth)?;
    }
    // It blends with clips that were made for the skeleton.
    let own = stage.clip(0).since(0.0);
    stage.play(&Playing::new(own).blend(PlayedClip::new(id).since(0.0), 0.5))?;
    let clock = 0.25;
    let both = [Some(0), Some(number), None];
    let (a, b) = (
        stage.figure.looped(0, clock),
        stage.figure.at(number, clock),
    );
    let truth = a.to(&b, 0.5);
    stage.frame(clock, both, None, &truth)?;
    Ok(())
}

/// Two skeletons with the same joints, bound in different poses and skinned by different methods,
/// play the same clips of one crowd.
fn skeletons_share(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = Stage::linear(gpu)?;
    let sibling = stage.figure.sibling(SkinningMethod::DualQuaternion)?;
    let before = stage.crowd.buffer_bytes();
    let uploaded = sibling.upload_for(&mut stage.crowd, stage.uploaded.clips.clone())?;
    ensure(
        stage.crowd.buffer_bytes() > before && uploaded.clips == stage.uploaded.clips,
        "clips of their own",
    )?;
    let member = sibling.add(&mut stage.crowd, &uploaded)?;
    let playing = Playing::new(stage.clip(1).since(0.0));
    stage.play(&playing)?;
    stage.crowd.set_playing(member.rig, &playing)?;
    let only = [Some(1), None, None];
    for clock in [0.0, 0.4375, 1.6875] {
        let truth = stage.figure.looped(1, clock);
        stage.frame(clock, only, None, &truth)?;
        let mirror = sibling.mirror(&stage.crowd, member.rig, only, None);
        sibling.agrees(&mut stage.crowd, &member, &mirror, Some(&truth))?;
    }
    // One of them fades to another clip while the other goes on.
    stage.crowd.set_clock(2.0);
    let next = Playing::new(stage.clip(2)).fade(0.5);
    stage.crowd.set_playing(member.rig, &next)?;
    let truth = stage.figure.looped(1, 2.25);
    stage.frame(2.25, only, None, &truth)?;
    let faded = truth.to(&sibling.looped(2, 0.25), 0.5);
    let both = [Some(1), Some(2), None];
    let mirror = sibling.mirror(&stage.crowd, member.rig, both, None);
    sibling.agrees(&mut stage.crowd, &member, &mirror, Some(&faded))?;
    // The clip stays as long as one of them plays it.
    let clip = stage.uploaded.clips[1];
    for id in stage.member.instances.clone() {
        stage.crowd.remove_instance(id)?;
    }
    stage.crowd.remove_rig(stage.member.rig)?;
    stage.crowd.set_clock(2.375);
    stage.crowd.submit()?;
    wrong_use("no rigs that use it", stage.crowd.remove_clip(clip))?;
    let faded = sibling.looped(1, 2.375).to(&sibling.looped(2, 0.375), 0.75);
    let mirror = sibling.mirror(&stage.crowd, member.rig, both, None);
    sibling.agrees(&mut stage.crowd, &member, &mirror, Some(&faded))?;
    stage.crowd.set_clock(2.5);
    stage.crowd.submit()?;
    Ok(stage.crowd.remove_clip(clip)?)
}
