//! Crowds whose rigs the GPU poses, against the mirror.

use std::sync::Arc;

use crate::{Failure, ensure};
use glam::DMat4;
use sinew::kernel::PackedRig;
use sinew::skel::SkinningMethod;

use crate::cases::{self, Influences};
use crate::check::Checks;
use crate::crowds::made::made;
use crate::host::{Gpu, by_rig, wrong_use};
use crate::playing::figure::Figure;
use crate::playing::stage::Stage;
use crate::posing::rigs::{self, Spec};
use crate::posing::specs;

pub const CHECKS: Checks = &[
    ("rigs_of_every_shape", every_shape),
    ("frames_that_are_kept", kept_frames),
    ("dispatches_do_not_grow_with_instances", dispatches),
    ("rigs_come_and_go", come_and_go),
    ("wrong_use_is_an_error", errors),
];

/// A crowd with so many of each figure, some of each after the other, that the host has posed.
fn posed(gpu: &Gpu, specs: &[Spec], copies: usize) -> Result<Stage, Failure> {
    let figures: Result<Vec<_>, _> = specs.iter().map(|spec| Figure::posed(*spec)).collect();
    let figures = figures?;
    let mut stage = Stage::new(gpu.crowd()?, Arc::clone(&figures[0]), 0)?;
    let uploaded = figures
        .iter()
        .map(|figure| figure.upload(&mut stage.crowd))
        .collect::<Result<Vec<_>, _>>()?;
    for copy in 0..copies {
        for (figure, uploaded) in figures.iter().zip(&uploaded) {
            stage.add_other(Arc::clone(figure), uploaded)?;
            stage.pose(stage.actors.len() - 1, copy as u64)?;
        }
    }
    Ok(stage)
}

/// A star and two trees.
fn some() -> Vec<Spec> {
    let all = specs().into_iter().map(|(_, spec)| spec);
    all.skip(6).take(3).collect()
}

fn every_shape(gpu: &Gpu) -> Result<(), Failure> {
    let all = specs().into_iter().map(|(_, spec)| spec);
    let sheared = Spec::default().seed(31).joints(5).least_scale(0.7);
    let all = all.filter(|spec| spec.joints > 0);
    let all: Vec<Spec> = all.chain([sheared.mirrored(true)]).collect();
    let mut stage = posed(gpu, &all, 2)?;
    stage.frame(0.0)?;
    for at in 0..stage.actors.len() {
        stage.pose(at, 5 + (at % 3) as u64)?;
    }
    stage.frame(0.0)
}

/// Local transforms alone are uploaded again.
fn kept_frames(gpu: &Gpu) -> Result<(), Failure> {
    let mut stage = posed(gpu, &some(), 3)?;
    stage.frame(0.0)?;
    stage.frame(0.0)?;
    let bytes = stage.crowd.last_upload_bytes();
    ensure(bytes == 0, "something is uploaded where nothing changed")?;
    for at in 0..stage.actors.len() {
        stage.pose(at, 7)?;
    }
    stage.frame(0.0)?;
    let bytes = stage.crowd.last_upload_bytes();
    let joints = stage.actors.iter().map(|a| a.figure.rig.joint_count());
    let expected = 40 * joints.sum::<usize>() as u64;
    ensure(bytes == expected, &format!("{bytes} bytes of joints"))
}

fn dispatches(gpu: &Gpu) -> Result<(), Failure> {
    let mut counts = Vec::new();
    let mut expected = 0;
    for copies in [1, 60] {
        let mut stage = posed(gpu, &some(), copies)?;
        counts.push(stage.crowd.dispatch_count()?);
        stage.crowd.submit()?;
        counts.push(stage.crowd.dispatch_count()?);
        let levels = stage.actors.iter().map(|a| a.figure.rig.levels());
        // One for four levels, and one each for weights, skinning, and skins with and without normals.
        expected = levels.max().unwrap_or(0).div_ceil(4) + 4;
    }
    let is_right = |count: &usize| *count == counts[0] && *count <= expected;
    let text = format!("{counts:?} dispatches, {expected} expected");
    ensure(counts.iter().all(is_right), &text)
}

/// Rigs come and go while another one stays: no frame poses one that is gone, and its room is used
/// again.
fn come_and_go(gpu: &Gpu) -> Result<(), Failure> {
    let all = specs();
    // A star, which stays; a chain and a tree, which take more dispatches.
    let all = [6, 2, 7].map(|number| all[number].1);
    let mut stage = posed(gpu, &all, 1)?;
    let mut others = Vec::new();
    for at in [2, 1] {
        let figure = Arc::clone(&stage.actors[at].figure);
        others.push((figure.upload(&mut stage.crowd)?, figure));
        stage.remove(at)?;
    }
    stage.frame(0.0)?;
    let dispatches = stage.crowd.dispatch_count()?;
    let mut bytes = 0;
    for time in 0..20 {
        let (uploaded, figure) = &others[time % 2];
        stage.add_other(Arc::clone(figure), uploaded)?;
        stage.pose(1, time as u64)?;
        stage.frame(0.0)?;
        stage.remove(1)?;
        stage.frame(0.0)?;
        let same = stage.crowd.dispatch_count()? == dispatches;
        ensure(same, "a rig that is gone is posed")?;
        if time == 1 {
            bytes = stage.crowd.buffer_bytes();
        }
    }
    let now = stage.crowd.buffer_bytes();
    ensure(now == bytes, &format!("{now} bytes, {bytes} before"))
}

fn errors(gpu: &Gpu) -> Result<(), Failure> {
    let figure = Figure::new(SkinningMethod::ClassicLinear, 60)?;
    let mut crowd = gpu.crowd()?;
    let skin = crowd.add_skin(Arc::clone(&figure.skins[0].packed))?;
    let instance = crowd.add_instance(skin)?;
    let rig = crowd.add_rig(Arc::clone(&figure.rig))?;
    let way = DMat4::IDENTITY;
    let mut joints = rigs::locals(&figure.spec, 0);
    wrong_use("60 local transforms", crowd.set_joints(rig, &joints[1..]))?;
    joints[7].rotation[2] = f32::NAN;
    wrong_use("for joint 7", crowd.set_joints(rig, &joints))?;
    crowd.set_pose(instance, by_rig(rig, &way, &[]))?;
    wrong_use("expected local transforms", crowd.submit())?;
    wrong_use("no instances that use it, found 1", crowd.remove_rig(rig))?;
    crowd.set_joints(rig, &rigs::locals(&figure.spec, 0))?;
    crowd.submit()?;
    let refused = crowd.set_pose(instance, by_rig(rig, &way, &[0.5]));
    wrong_use("0 channel weights", refused)?;
    let refused = crowd.set_pose(instance, by_rig(rig, &(way * f64::NAN), &[]));
    wrong_use("out_from_skel", refused)?;

    let small = Spec::default().joints(7);
    let packed = PackedRig::pack(&rigs::skeleton(&small), way, true)?;
    let other = crowd.add_rig(Arc::new(packed))?;
    let refused = crowd.set_pose(instance, by_rig(other, &way, &[]));
    wrong_use("a rig of 60 joints", refused)?;
    let plain = PackedRig::pack(&figure.skeleton, way, false)?;
    let plain = crowd.add_rig(Arc::new(plain))?;
    let refused = crowd.set_pose(instance, by_rig(plain, &way, &[]));
    wrong_use("packed with normals", refused)?;
    let base = cases::Spec::default().joints(60);
    let rigid = base.method(SkinningMethod::DualQuaternion);
    let blended = base.influences(Influences::None);
    for (words, spec) in [("DualQuaternion", rigid), ("with influences", blended)] {
        let skin = crowd.add_skin(made(&spec).packed)?;
        let instance = crowd.add_instance(skin)?;
        wrong_use(words, crowd.set_pose(instance, by_rig(rig, &way, &[])))?;
        crowd.remove_instance(instance)?;
    }
    crowd.remove_rig(other)?;
    let refused = crowd.set_joints(other, &rigs::locals(&small, 0));
    wrong_use("a rig of another crowd", refused)?;
    let foreign = crowd.set_pose(instance, by_rig(other, &way, &[]));
    wrong_use("a rig of another crowd", foreign)?;
    wrong_use("a rig of another crowd", crowd.remove_rig(other))
}
