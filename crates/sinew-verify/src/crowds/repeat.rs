//! The same bits from run to run on one adapter, whatever runs beside them, and on any number of threads.

use crate::{Failure, ensure};
use glam::{DMat4, Vec3, Vec4};
use sinew::gpu::{BoundsUse, Crowd, InstanceId, RigId, SkinnerOptions};
use sinew::kernel::{
    CpuJob, JointTransform, PackedPose, PackedRig, PackedSkin, bounds_on_cpu, skin_batch_on_cpu,
};
use sinew::skel::{MeshTopology, Skeleton, SkinningMethod};
use std::sync::Arc;

use crate::cases::{self, Spec};
use crate::crowds::Run;
use crate::crowds::made::{Made, all_bits, made, twenty};
use crate::host::by_rig;
use crate::host::{Gpu, with_previous};

pub const CHECKS: &[(&str, Run)] = &[
    ("repeats_on_the_gpu", on_gpu),
    ("repeats_on_any_number_of_threads", on_cpu),
];

const FRAMES: u64 = 3;

/// Skins of every kind: blend shapes, dual quaternions, corners, made normals.
fn all() -> Result<Vec<Made>, Failure> {
    let mut out = twenty()?;
    for (seed, method) in [
        (70, SkinningMethod::ClassicLinear),
        (71, SkinningMethod::DualQuaternion),
    ] {
        let skin = cases::skin(
            &Spec::default()
                .seed(seed)
                .points(400)
                .normals(false)
                .shapes(3)
                .method(method),
        );
        let corners: Vec<i32> = (0..398).flat_map(|i| [i, i + 1, i + 2]).collect();
        let topology = MeshTopology::new("/Case", &[3; 398], &corners, false, 400)?;
        let packed = PackedSkin::pack("/Case", &skin)?.with_smooth_normals(&topology)?;
        let packed = Arc::new(packed);
        out.push(Made { skin, packed });
    }
    Ok(out)
}

/// A rig that moves instances of one more skin.
fn rig() -> Result<(Arc<PackedRig>, Made), Failure> {
    let names = (0..20).map(|i| format!("joint{i}")).collect();
    let parents: Vec<Option<u32>> = (0..20).map(|i: u32| i.checked_sub(1)).collect();
    let bind = vec![DMat4::IDENTITY; 20];
    let skeleton = Skeleton::from_parents("/Rig", names, &parents, bind, None)?;
    let rig = PackedRig::pack(&skeleton, DMat4::from_rotation_x(0.2), true)?;
    Ok((Arc::new(rig), made(&Spec::default())?))
}

fn joints(time: u64) -> Vec<JointTransform> {
    let turn = |j: usize| glam::Quat::from_rotation_z(0.1 + 0.37 * (time as f32 + j as f32));
    let joint = |j| JointTransform::new(Vec3::Y * 0.1, turn(j), Vec3::splat(1.01));
    (0..20).map(joint).collect()
}

/// A crowd of all of them.
struct Stage {
    crowd: Crowd,
    /// By number of the skin, whatever the order they were added in.
    ids: Vec<InstanceId>,
    rig: RigId,
}

impl Stage {
    fn new(
        gpu: &Gpu,
        skins: &[Made],
        options: &SkinnerOptions,
        backwards: bool,
    ) -> Result<Self, Failure> {
        let mut crowd = gpu.crowd_with(options)?;
        crowd.enable_bounds(BoundsUse::OnGpu)?;
        let (packed, moved) = rig()?;
        let rig = crowd.add_rig(packed)?;
        let all: Vec<&Made> = skins.iter().chain([&moved]).collect();
        let mut ids = vec![InstanceId::default(); all.len()];
        let mut order: Vec<usize> = (0..all.len()).collect();
        if backwards {
            order.reverse();
        }
        for number in order {
            let skin = crowd.add_skin(Arc::clone(&all[number].packed))?;
            let target = with_previous();
            ids[number] = crowd.add_instance_to(skin, target)?;
        }
        Ok(Self { crowd, ids, rig })
    }

    fn set(&mut self, poses: &[Vec<PackedPose>], time: u64) -> Result<(), Failure> {
        for (id, poses) in self.ids.iter().zip(poses) {
            self.crowd.set_pose(*id, &poses[time as usize])?;
        }
        let last = self.ids[self.ids.len() - 1];
        self.crowd.set_joints(self.rig, &joints(time))?;
        Ok(self
            .crowd
            .set_pose(last, by_rig(self.rig, &DMat4::IDENTITY, &[]))?)
    }

    /// Boxes by number of the skin.
    fn boxes(&self, gpu: &Gpu) -> Result<Vec<u32>, Failure> {
        let all: Vec<[Vec4; 2]> = gpu.read(self.crowd.bounds_on_gpu().ok_or("no bounds")?)?;
        let of = |id: &InstanceId| all[id.index() as usize].map(|v| v.truncate().to_array());
        let numbers = self.ids.iter().flat_map(of).flatten();
        Ok(numbers.map(f32::to_bits).collect())
    }
}

/// Frame by frame, waiting for each.
fn one_by_one(
    gpu: &Gpu,
    mut stage: Stage,
    poses: &[Vec<PackedPose>],
) -> Result<Vec<Vec<u32>>, Failure> {
    let mut out = Vec::new();
    for time in 0..FRAMES {
        stage.set(poses, time)?;
        stage.crowd.submit()?;
        let mut frame = all_bits(&stage.crowd.read(&stage.ids)?).concat();
        frame.extend(stage.boxes(gpu)?);
        out.push(frame);
    }
    Ok(out)
}

/// All frames in flight at once, read the last one first; without boxes, which only the last frame leaves.
fn in_flight(
    gpu: &Gpu,
    mut stage: Stage,
    poses: &[Vec<PackedPose>],
    in_one_submit: bool,
) -> Result<Vec<Vec<u32>>, Failure> {
    let mut tickets = Vec::new();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    for time in 0..FRAMES {
        stage.set(poses, time)?;
        stage.crowd.encode(&mut encoder)?;
        tickets.push(stage.crowd.request_read(&mut encoder, &stage.ids)?);
        if !in_one_submit {
            let next = gpu.device.create_command_encoder(&Default::default());
            gpu.queue
                .submit([std::mem::replace(&mut encoder, next).finish()]);
        }
    }
    gpu.queue.submit([encoder.finish()]);
    let mut out = Vec::new();
    for ticket in tickets.iter().rev() {
        out.push(all_bits(&stage.crowd.wait(ticket)?).concat());
    }
    out.reverse();
    let last = out.len() - 1;
    out[last].extend(stage.boxes(gpu)?);
    Ok(out)
}

fn on_gpu(gpu: &Gpu) -> Result<(), Failure> {
    let skins = all()?;
    let poses: Vec<Vec<PackedPose>> = skins
        .iter()
        .map(|made| (0..FRAMES).map(|time| made.pose(time)).collect())
        .collect();
    let options = SkinnerOptions::default();
    let stage = |gpu: &Gpu, backwards| Stage::new(gpu, &skins, &options, backwards);
    let want = one_by_one(gpu, stage(gpu, false)?, &poses)?;
    ensure(want[0] != want[1], "frames differ")?;
    let same = |what: &str, found: &[Vec<u32>]| -> Result<(), Failure> {
        for (time, (want, found)) in want.iter().zip(found).enumerate() {
            let equal = found.iter().zip(want).all(|(a, b)| a == b);
            // Without boxes they are shorter, by six numbers an instance.
            let missing = want.len() - found.len();
            let whole = missing == 0 || missing == (skins.len() + 1) * 6;
            ensure(
                equal && whole,
                &format!("{what}: other bits in frame {time}"),
            )?;
        }
        Ok(())
    };
    same("again", &one_by_one(gpu, stage(gpu, false)?, &poses)?)?;
    same(
        "added backwards",
        &one_by_one(gpu, stage(gpu, true)?, &poses)?,
    )?;
    for in_one_submit in [false, true] {
        let found = in_flight(gpu, stage(gpu, in_one_submit)?, &poses, in_one_submit)?;
        same(&format!("in flight, one submit {in_one_submit}"), &found)?;
    }
    let other = gpu.another()?;
    same(
        "another device",
        &one_by_one(&other, stage(&other, false)?, &poses)?,
    )
}

fn on_cpu(_: &Gpu) -> Result<(), Failure> {
    let skins = all()?;
    let large = made(&Spec::default().points(30_000).shapes(7))?;
    let skins: Vec<Made> = skins.into_iter().chain([large]).collect();
    let run = || {
        let poses: Vec<PackedPose> = skins.iter().map(|made| made.pose(4)).collect();
        let counts = skins.iter().map(|made| made.packed.output_count());
        let mut points: Vec<Vec<Vec3>> = counts.map(|n| vec![Vec3::NAN; n]).collect();
        let mut jobs: Vec<CpuJob<'_>> = skins
            .iter()
            .zip(&poses)
            .zip(&mut points)
            .map(|((made, pose), points)| CpuJob::new(&made.packed, pose, points))
            .collect();
        skin_batch_on_cpu(&mut jobs).expect("sizes that fit");
        drop(jobs);
        let singles = skins
            .iter()
            .zip(&poses)
            .map(|(made, pose)| made.on_cpu(pose));
        let mut out = all_bits(&singles.collect::<Vec<_>>()).concat();
        let boxes = points.iter().filter_map(|p| bounds_on_cpu(p)).flatten();
        let all = points.iter().flatten().copied().chain(boxes);
        out.extend(all.flat_map(|v| v.to_array().map(f32::to_bits)));
        out
    };
    let mut found = Vec::new();
    for threads in [1, 2, 3, 7, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        found.push(match pool {
            // A page has one thread.
            Err(_) if cfg!(target_family = "wasm") => run(),
            pool => pool?.install(run),
        });
    }
    let equal = found.windows(2).all(|pair| pair[0] == pair[1]);
    ensure(equal, "other bits on another number of threads")
}
