//! Crowds whose rigs the GPU poses, against the mirror.

use std::sync::{Arc, OnceLock};

use crate::{Failure, ensure};
use glam::{DMat4, DVec3, Vec3};
use sinew::gpu::{Crowd, Deformed, InstanceId, RigId, SkinnerOptions};
use sinew::kernel::{JointTransform, PackedPose, PackedRig, PackedSkin, palette_on_cpu};
use sinew::skel::{Pose, Skin, SkinningMethod, reference};

use crate::cases::{self, Influences};
use crate::compare::compare;
use crate::crowds::made::{all_bits, fill_outputs};
use crate::host::{Gpu, by_rig, wrong_use};
use crate::outputs::shown::on_cpu;
use crate::posing::rigs::{self, Spec};
use crate::posing::specs;
use crate::{measured, tolerance};

pub type Run = fn(&Gpu) -> Result<(), Failure>;

pub const CHECKS: &[(&str, Run)] = &[
    ("rigs_of_every_shape", every_shape),
    ("frames_that_are_kept", kept_frames),
    ("dispatches_do_not_grow_with_instances", dispatches),
    ("rigs_come_and_go", come_and_go),
    ("rebuilt", rebuilt),
    ("wrong_use_is_an_error", errors),
];

/// A rig, and skins that move with it.
#[derive(Clone)]
struct Character {
    spec: Spec,
    rig: Arc<PackedRig>,
    skins: Vec<Arc<PackedSkin>>,
    /// What was packed.
    unpacked: Vec<Skin>,
}

impl Character {
    fn new(spec: Spec) -> Result<Self, Failure> {
        let rig = PackedRig::pack(&rigs::skeleton(&spec), rigs::geom_bind(&spec), true)?;
        let skin = |number: u64| -> Result<_, Failure> {
            let influences = match spec.joints {
                0 => Influences::None,
                _ => Influences::Vertex(3),
            };
            let skin = cases::skin(
                &cases::Spec::default()
                    .seed(spec.seed * 10 + number)
                    .points(150 + 13 * number as usize)
                    .joints(spec.joints)
                    .own_joints(number == 1)
                    .shapes(4 * number as usize)
                    .influences(influences),
            );
            Ok((Arc::new(PackedSkin::pack("/Case", &skin)?), skin))
        };
        let skins: Vec<_> = (0..2).map(skin).collect::<Result<_, _>>()?;
        let (skins, unpacked) = skins.into_iter().unzip();
        Ok(Self {
            spec,
            rig: Arc::new(rig),
            skins,
            unpacked,
        })
    }

    fn joints(&self, time: u64) -> Vec<JointTransform> {
        rigs::locals(&self.spec, time)
    }

    fn weights(&self, skin: usize, time: u64) -> Vec<f32> {
        let count = self.skins[skin].channel_count();
        let weight = |i| ((i as u64 + time) % 3) as f32 * 0.4;
        (0..count).map(weight).collect()
    }

    /// What the mirror makes of it.
    fn pose(&self, skin: usize, time: u64) -> PackedPose {
        let palette =
            Arc::new(palette_on_cpu(&self.rig, &self.joints(time)).expect("sizes that fit"));
        let weights = self.weights(skin, time);
        PackedPose::with_palette(&self.skins[skin], Some(palette), way_out(time), weights)
            .expect("sizes that fit")
    }

    fn pose_in_f64(&self, skin: usize, time: u64) -> Result<Pose, Failure> {
        let locals: Vec<DMat4> = self.joints(time).iter().map(|j| j.matrix()).collect();
        let pose = Pose::from_local(&rigs::skeleton(&self.spec), &locals)?;
        let pose = pose.with_geom_bind(rigs::geom_bind(&self.spec));
        let weights = self.weights(skin, time);
        Ok(pose.with_out_from_skel(way_out(time)).with_weights(weights))
    }

    fn on_cpu(&self, skin: usize, time: u64) -> Deformed {
        on_cpu(&self.skins[skin], &self.pose(skin, time))
    }

    fn agrees(&self, skin: usize, time: u64, found: &Deformed) -> Result<(), Failure> {
        let want = self.on_cpu(skin, time);
        let allowed = tolerance::posed(self.rig.levels());
        compare("points", &found.points, &want.points, allowed)?;
        let (Some(found), Some(want)) = (&found.normals, &want.normals) else {
            return Err("no normals".into());
        };
        // Down a long chain of scales only f64 holds the inverse.
        if self.spec.least_scale < 0.99 && self.spec.joints > 6 {
            let pose = self.pose_in_f64(skin, time)?;
            let truth = reference::deform(&self.unpacked[skin], &pose)?;
            let truth = truth.normals.ok_or("no normals in f64")?;
            return Ok(as_near(found, want, &truth, 10.0 * allowed)?);
        }
        Ok(compare("normals", found, want, 10.0 * allowed)?)
    }
}

/// Whether the GPU's normals are about as near to those in f64 as the mirror's are: half of them, and nine in ten. The rest are
/// where next to nothing is left of the sum that is normalised, so that rounding decides.
fn as_near(gpu: &[Vec3], mirror: &[Vec3], truth: &[DVec3], allowed: f64) -> Result<(), String> {
    let off = |normals: &[Vec3]| {
        let pairs = normals.iter().zip(truth);
        let mut off: Vec<f64> = pairs.map(|(a, b)| a.as_dvec3().distance(*b)).collect();
        off.sort_by(f64::total_cmp);
        off
    };
    let (gpu, mirror) = (off(gpu), off(mirror));
    if gpu.len() != truth.len() || gpu.iter().any(|d| d.is_nan()) {
        return Err(format!("{} normals, or one is NaN", gpu.len()));
    }
    for share in [0.5, 0.9] {
        let at = (gpu.len() as f64 * share) as usize;
        let most = tolerance::AS_NEAR_AS_THE_MIRROR * mirror[at] + allowed;
        measured::note(gpu[at], most);
        if gpu[at] > most {
            return Err(format!(
                "{share} of normals are off by {}, not {most}",
                gpu[at]
            ));
        }
    }
    Ok(())
}

fn way_out(time: u64) -> DMat4 {
    let turn = DMat4::from_rotation_z(time as f64 * 0.7);
    DMat4::from_translation(DVec3::new(time as f64, -2.0, 0.5)) * turn
}

/// Characters of every shape, made once.
fn characters() -> Result<Vec<Character>, Failure> {
    static MADE: OnceLock<Result<Vec<Character>, Failure>> = OnceLock::new();
    MADE.get_or_init(make_characters).clone()
}

fn make_characters() -> Result<Vec<Character>, Failure> {
    let sheared = Spec::default()
        .seed(31)
        .joints(5)
        .least_scale(0.7)
        .mirrored(true);
    let specs = specs().into_iter().map(|(_, spec)| spec);
    let skinned = specs.filter(|spec| spec.joints > 0).chain([sheared]);
    skinned.map(Character::new).collect()
}

/// A posed character of a crowd.
struct Member {
    character: usize,
    time: u64,
    rig: RigId,
    /// Of each skin.
    instances: Vec<InstanceId>,
}

/// So many of each character, one of each after the other, both skins of all.
fn populate(crowd: &mut Crowd, all: &[Character], copies: u64) -> Result<Vec<Member>, Failure> {
    let mut out = Vec::new();
    let mut skins = Vec::new();
    for character in all {
        let add = |skin: &Arc<PackedSkin>| crowd.add_skin(Arc::clone(skin));
        skins.push(
            character
                .skins
                .iter()
                .map(add)
                .collect::<Result<Vec<_>, _>>()?,
        );
    }
    for time in 0..copies {
        for (number, character) in all.iter().enumerate() {
            let rig = crowd.add_rig(Arc::clone(&character.rig))?;
            let mut member = Member {
                character: number,
                time,
                rig,
                instances: Vec::new(),
            };
            for skin in &skins[number] {
                member.instances.push(crowd.add_instance(*skin)?);
            }
            set(crowd, character, &member)?;
            out.push(member);
        }
    }
    Ok(out)
}

fn set(crowd: &mut Crowd, character: &Character, member: &Member) -> Result<(), Failure> {
    let time = member.time;
    crowd.set_joints(member.rig, &character.joints(time))?;
    for (skin, id) in member.instances.iter().enumerate() {
        let weights = character.weights(skin, time);
        crowd.set_pose(*id, by_rig(member.rig, &way_out(time), &weights))?;
    }
    Ok(())
}

fn check(crowd: &mut Crowd, all: &[Character], members: &[Member]) -> Result<(), Failure> {
    for member in members {
        for (skin, id) in member.instances.iter().enumerate() {
            let found = crowd.read(&[*id])?;
            let character = &all[member.character];
            character
                .agrees(skin, member.time, &found[0])
                .map_err(|e| format!("{:?}: {:?}", character.spec, e))?;
        }
    }
    Ok(())
}

fn every_shape(gpu: &Gpu) -> Result<(), Failure> {
    let all = characters()?;
    let mut crowd = gpu.crowd()?;
    let mut members = populate(&mut crowd, &all, 2)?;
    for _ in 0..2 {
        fill_outputs(gpu, &crowd, f32::NAN)?;
        crowd.submit()?;
        check(&mut crowd, &all, &members)?;
        for member in &mut members {
            member.time += 5;
            set(&mut crowd, &all[member.character], member)?;
        }
    }
    Ok(())
}

/// Local transforms alone are uploaded again, and two frames of one submit have their own.
fn kept_frames(gpu: &Gpu) -> Result<(), Failure> {
    let all: Vec<Character> = characters()?.into_iter().skip(5).take(3).collect();
    let mut crowd = gpu.crowd()?;
    let mut members = populate(&mut crowd, &all, 3)?;
    crowd.submit()?;
    crowd.submit()?;
    let bytes = crowd.last_upload_bytes();
    ensure(bytes == 0, "something is uploaded where nothing changed")?;
    for member in &mut members {
        member.time += 3;
        let character = &all[member.character];
        crowd.set_joints(member.rig, &character.joints(member.time))?;
    }
    crowd.submit()?;
    let joints = members.iter().map(|m| all[m.character].rig.joint_count());
    if crowd.last_upload_bytes() != 40 * joints.sum::<usize>() as u64 {
        return Err(format!("{} bytes of joints", crowd.last_upload_bytes()).into());
    }
    // The ways out are still those before.
    for member in &members {
        set(&mut crowd, &all[member.character], member)?;
    }
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    crowd.encode(&mut encoder)?;
    let place = crowd.points_on_gpu(members[0].instances[0])?;
    let (bytes, slice) = (place[0].count as u64 * 12, &place[0]);
    let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
    let kept = gpu.filled(place[0].count * 3, usage, 0);
    encoder.copy_buffer_to_buffer(slice.buffer, slice.offset, &kept, 0, bytes);
    let first = members[0].time;
    members[0].time += 1;
    set(&mut crowd, &all[0], &members[0])?;
    crowd.encode(&mut encoder)?;
    gpu.queue.submit([encoder.finish()]);
    check(&mut crowd, &all, &members)?;
    let all_words: Vec<Vec3> = gpu.read(&kept)?;
    let want = all[0].on_cpu(0, first);
    let allowed = tolerance::posed(all[0].rig.levels());
    Ok(compare(
        "points of the first frame",
        &all_words,
        &want.points,
        allowed,
    )?)
}

fn dispatches(gpu: &Gpu) -> Result<(), Failure> {
    let all: Vec<Character> = characters()?.into_iter().skip(5).take(3).collect();
    let mut counts = Vec::new();
    for copies in [1, 60] {
        let mut crowd = gpu.crowd()?;
        populate(&mut crowd, &all, copies)?;
        let planned = crowd.dispatch_count()?;
        crowd.submit()?;
        counts.extend([planned, crowd.dispatch_count()?]);
    }
    let levels = all.iter().map(|c| c.rig.levels().div_ceil(4)).max();
    // And one each for weights, skinning, and plain skins with and without normals.
    let expected = levels.unwrap_or(0) + 4;
    let is_right = |count: &usize| *count == counts[0] && *count <= expected;
    let text = format!("{counts:?} dispatches, {expected} expected");
    ensure(counts.iter().all(is_right), &text)
}

/// Rigs come and go while another one stays: no frame poses one that is gone, and its room is used
/// again.
fn come_and_go(gpu: &Gpu) -> Result<(), Failure> {
    let characters = characters()?;
    // A star, which stays; a chain and a tree, which take more dispatches.
    let all = [5, 1, 6].map(|number: usize| characters[number].clone());
    let mut crowd = gpu.crowd()?;
    let mut members = populate(&mut crowd, &all[..1], 1)?;
    let skins = all.iter().map(|c| crowd.add_skin(Arc::clone(&c.skins[0])));
    let skins: Vec<_> = skins.collect::<Result<_, _>>()?;
    crowd.submit()?;
    let dispatches = crowd.dispatch_count()?;
    let mut bytes = 0;
    for time in 0..20 {
        let character = 1 + time as usize % 2;
        members.push(Member {
            character,
            time,
            rig: crowd.add_rig(Arc::clone(&all[character].rig))?,
            instances: vec![crowd.add_instance(skins[character])?],
        });
        set(&mut crowd, &all[character], &members[1])?;
        crowd.submit()?;
        check(&mut crowd, &all, &members)?;
        for gone in members.drain(1..) {
            crowd.remove_instance(gone.instances[0])?;
            crowd.remove_rig(gone.rig)?;
        }
        crowd.submit()?;
        let same = crowd.dispatch_count()? == dispatches;
        ensure(same, "a rig that is gone is posed")?;
        if time == 1 {
            bytes = crowd.buffer_bytes();
        }
    }
    let now = crowd.buffer_bytes();
    ensure(now == bytes, &format!("{now} bytes, {bytes} before"))
}

fn rebuilt(gpu: &Gpu) -> Result<(), Failure> {
    let all: Vec<Character> = characters()?.into_iter().skip(5).take(3).collect();
    let mut crowd = gpu.crowd()?;
    let members = populate(&mut crowd, &all, 2)?;
    let before = all_bits(&crowd.run()?);
    let mut again = crowd.rebuild(&gpu.skinner(&SkinnerOptions::default())?)?;
    drop(crowd);
    let same = all_bits(&again.run()?) == before;
    ensure(same, "another result after rebuilding")?;
    check(&mut again, &all, &members)?;
    for member in &members {
        set(&mut again, &all[member.character], member)?;
    }
    again.submit()?;
    check(&mut again, &all, &members)
}

fn errors(gpu: &Gpu) -> Result<(), Failure> {
    let character = Character::new(Spec::default())?;
    let mut crowd = gpu.crowd()?;
    let skin = crowd.add_skin(Arc::clone(&character.skins[0]))?;
    let instance = crowd.add_instance(skin)?;
    let rig = crowd.add_rig(Arc::clone(&character.rig))?;
    let way = DMat4::IDENTITY;
    let mut joints = character.joints(0);
    wrong_use("60 local transforms", crowd.set_joints(rig, &joints[1..]))?;
    joints[7].rotation[2] = f32::NAN;
    wrong_use("for joint 7", crowd.set_joints(rig, &joints))?;
    crowd.set_pose(instance, by_rig(rig, &way, &[]))?;
    wrong_use("expected local transforms", crowd.submit())?;
    wrong_use("no instances that use it, found 1", crowd.remove_rig(rig))?;
    crowd.set_joints(rig, &character.joints(0))?;
    crowd.submit()?;
    let refused = crowd.set_pose(instance, by_rig(rig, &way, &[0.5]));
    wrong_use("0 channel weights", refused)?;
    let refused = crowd.set_pose(instance, by_rig(rig, &(way * f64::NAN), &[]));
    wrong_use("out_from_skel", refused)?;

    let small = Character::new(Spec::default().joints(7))?;
    let other = crowd.add_rig(Arc::clone(&small.rig))?;
    let refused = crowd.set_pose(instance, by_rig(other, &way, &[]));
    wrong_use("a rig of 60 joints", refused)?;
    let skeleton = rigs::skeleton(&character.spec);
    let plain = Arc::new(PackedRig::pack(&skeleton, DMat4::IDENTITY, false)?);
    let plain = crowd.add_rig(plain)?;
    let refused = crowd.set_pose(instance, by_rig(plain, &way, &[]));
    wrong_use("packed with normals", refused)?;
    let of = |spec: cases::Spec| -> Result<_, Failure> {
        let skin = cases::skin(&spec.joints(60));
        Ok(Arc::new(PackedSkin::pack("/Case", &skin)?))
    };
    let rigid = of(cases::Spec::default().method(SkinningMethod::DualQuaternion))?;
    let blended = of(cases::Spec::default().influences(Influences::None))?;
    for (words, skin) in [("DualQuaternion", rigid), ("with influences", blended)] {
        let skin = crowd.add_skin(skin)?;
        let instance = crowd.add_instance(skin)?;
        wrong_use(words, crowd.set_pose(instance, by_rig(rig, &way, &[])))?;
        crowd.remove_instance(instance)?;
    }
    crowd.remove_rig(other)?;
    let refused = crowd.set_joints(other, &small.joints(0));
    wrong_use("a rig of another crowd", refused)?;
    let foreign = crowd.set_pose(instance, by_rig(other, &way, &[]));
    wrong_use("a rig of another crowd", foreign)?;
    wrong_use("a rig of another crowd", crowd.remove_rig(other))
}
