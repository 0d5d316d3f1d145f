//! What a frame allocates: nothing of sinew's own after the first frames, whatever the number of characters.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use common::cases::{self, Spec};
use common::gpu;
use common::host::{Gpu, by_rig};
use glam::{DMat4, DQuat, DVec3, Quat, Vec3};
use libtest_mimic::{Arguments, Failed, Trial};
use sinew::clip::{JointMask, LocalPose};
use sinew::gpu::{Crowd, InstanceId};
use sinew::kernel::{JointTransform, PackedPose, PackedRig, PackedSkin};
use sinew::skel::{Pose, Skeleton};

/// Counts the allocations of all threads.
struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = COUNT.load(Ordering::Relaxed);
    let out = work();
    (COUNT.load(Ordering::Relaxed) - before, out)
}

fn main() {
    let mut args = Arguments::from_args();
    // One at a time, for all of them count.
    args.test_threads = Some(1);
    let ignored = gpu::ignored();
    type Run = fn() -> Result<(), Failed>;
    let trials: [(&str, Run); 5] = [
        ("the_count_counts", counts),
        ("poses_of_clips", of_clips),
        ("poses_by_arrays", by_arrays),
        ("frames_of_few_and_many", few_and_many),
        ("rigs_posed_on_the_gpu", rigs),
    ];
    let trials = trials.map(|(name, run)| Trial::test(name, run).with_ignored_flag(ignored));
    libtest_mimic::run(&args, trials.into()).exit();
}

fn counts() -> Result<(), Failed> {
    let (count, _kept) = allocations(|| vec![Box::new(1), Box::new(2)]);
    match count {
        3 => Ok(()),
        count => Err(format!("{count} allocations counted of 3").into()),
    }
}

/// A chain of joints, and each joint's transform in its parent's space at a time.
struct Rig {
    skeleton: Skeleton,
    packed: std::sync::Arc<PackedSkin>,
    channels: usize,
}

impl Rig {
    fn new() -> Result<Self, Failed> {
        let skin = cases::skin(&Spec {
            points: 12,
            joints: 6,
            shapes: 3,
            own_joints: false,
            ..Spec::default()
        });
        let packed = std::sync::Arc::new(PackedSkin::pack("/Case", &skin)?);
        let channels = cases::pose(&skin, 0).channel_weights.len();
        let joints = packed.palette_entry_count() - 1;
        let names = (0..joints).map(|j| format!("J{j}")).collect();
        let parents: Vec<Option<u32>> = (0..joints as u32).map(|j| j.checked_sub(1)).collect();
        let bind = (1..=joints).map(|j| DMat4::from_translation(DVec3::X * j as f64));
        Ok(Self {
            skeleton: Skeleton::from_parents("Rig", names, &parents, bind.collect(), None)?,
            packed,
            channels,
        })
    }

    /// Into a buffer of the caller's.
    fn local(&self, time: f64, out: &mut Vec<DMat4>) {
        out.clear();
        let turn = |j: usize| DQuat::from_rotation_z(time + j as f64 * 0.1);
        let joints = 0..self.packed.palette_entry_count() - 1;
        out.extend(joints.map(|j| DMat4::from_rotation_translation(turn(j), DVec3::X)));
    }
}

fn none(what: &str, count: usize) -> Result<(), Failed> {
    match count {
        0 => Ok(()),
        count => Err(format!("{what}: {count} allocations").into()),
    }
}

/// Poses that are blended and added on the CPU.
fn of_clips() -> Result<(), Failed> {
    let pose = |x: f32| LocalPose {
        joints: vec![JointTransform::new(Vec3::X * x, Quat::IDENTITY, Vec3::ONE); 6],
        weights: vec![x; 3],
    };
    let (mut to, [begin, end]) = (pose(1.0), [pose(0.0), pose(2.0)]);
    let mask = JointMask::all(6);
    let (count, result) = allocations(|| {
        to.blend(&begin, 0.5)?;
        to.add(&begin, &end, 0.25)?;
        to.blend_masked(&begin, 0.5, &mask)?;
        to.add_masked(&begin, &end, 0.25, &mask)
    });
    result?;
    none("blending and adding", count)?;
    match to == pose(1.0) {
        true => Ok(()),
        false => Err("other numbers".into()),
    }
}

/// A host that keeps poses itself.
fn by_arrays() -> Result<(), Failed> {
    let rig = Rig::new()?;
    let mut local = Vec::new();
    rig.local(0.0, &mut local);
    let mut pose = Pose::from_local(&rig.skeleton, &local)?.with_weights(vec![0.5; rig.channels]);
    let mut packed = PackedPose::pack(&rig.packed, &pose)?;
    let (count, result) = allocations(|| {
        for time in 1..10 {
            rig.local(f64::from(time), &mut local);
            pose.set_local(&rig.skeleton, &local)?;
            packed.update(&rig.packed, &pose)?;
        }
        Ok::<_, Failed>(())
    });
    result?;
    none("posing and packing", count)?;
    match packed == PackedPose::pack(&rig.packed, &pose)? {
        true => Ok(()),
        false => Err("other numbers".into()),
    }
}

/// Allocations of wgpu's in two frames, in the middle of those of few characters and of many: it grows its vectors by doubling,
/// so one that grew with the characters would be allocated once more for each time that their number doubles. All that is
/// beyond is sinew's.
fn about_as_many(few: (u32, Vec<usize>), many: (u32, Vec<usize>)) -> Result<(), Failed> {
    eprintln!("allocations of wgpu's in encode: {few:?} and {many:?}");
    let middle = |mut counts: Vec<usize>| {
        counts.sort_unstable();
        counts[counts.len() / 2]
    };
    let doublings = (many.0 / few.0).ilog2() as usize + 1;
    let counts = [middle(few.1), middle(many.1)];
    match counts[0].abs_diff(counts[1]) <= doublings {
        true => Ok(()),
        false => Err(format!("{counts:?} of {} and {} characters", few.0, many.0).into()),
    }
}

struct Scene {
    rig: Rig,
    crowd: Crowd,
    ids: Vec<InstanceId>,
    locals: Vec<DMat4>,
}

impl Scene {
    fn new(gpu: &Gpu, count: usize) -> Result<Self, Failed> {
        let rig = Rig::new()?;
        let mut crowd = gpu.crowd()?;
        let skin = crowd.add_skin(rig.packed.clone())?;
        let ids = crowd.add_instances(skin, count)?;
        Ok(Self {
            rig,
            crowd,
            ids,
            locals: Vec::new(),
        })
    }

    fn pose(&mut self, frame: u32) -> Result<(), Failed> {
        self.rig.local(f64::from(frame), &mut self.locals);
        let Self { rig, locals, .. } = self;
        self.crowd.update_poses(|id, pose| {
            let weight = id.index() as f32 * 1e-3 + frame as f32;
            let weights = std::iter::repeat_n(weight, rig.channels);
            pose.channel_weights.extend(weights);
            pose.out_from_skel = DMat4::from_translation(DVec3::splat(id.index().into()));
            pose.set_local(&rig.skeleton, locals).map(|()| true)
        })?;
        Ok(())
    }

    /// Allocations of a frame's encoding, which then runs.
    fn encode(&mut self, gpu: &Gpu) -> Result<usize, Failed> {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let (count, result) = allocations(|| self.crowd.encode(&mut encoder));
        result?;
        gpu.queue.submit([encoder.finish()]);
        gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(count)
    }

    /// Allocations of the encoding of each frame, and none by what poses it. The first frames make room.
    fn encodings(
        &mut self,
        gpu: &Gpu,
        mut pose: impl FnMut(&mut Self, u32) -> Result<usize, Failed>,
    ) -> Result<Vec<usize>, Failed> {
        let mut out = Vec::new();
        for frame in 0..12 {
            let posing = pose(self, frame)?;
            let encoding = self.encode(gpu)?;
            if frame >= 4 {
                none(&format!("posing in frame {frame}"), posing)?;
                out.push(encoding);
            }
        }
        Ok(out)
    }
}

/// Allocations of the encoding of each frame of posed characters.
fn encodings(gpu: &Gpu, count: usize) -> Result<Vec<usize>, Failed> {
    let mut scene = Scene::new(gpu, count)?;
    let mut poses = Vec::new();
    for seed in [1.0, 2.0] {
        scene.rig.local(seed, &mut scene.locals);
        let pose = Pose::from_local(&scene.rig.skeleton, &scene.locals)?;
        let pose = pose.with_weights(vec![0.5; scene.rig.channels]);
        poses.push(PackedPose::pack(&scene.rig.packed, &pose)?);
    }
    scene.encodings(gpu, |scene, frame| {
        // One that was set by a palette of the host's gets one of its own afterwards.
        let (posing, result) = allocations(|| scene.pose(frame));
        result?;
        let (one, pose) = (scene.ids[count / 2], &poses[frame as usize % 2]);
        let (setting, result) = allocations(|| scene.crowd.set_pose(one, pose));
        result?;
        Ok(posing.saturating_sub(3) + setting)
    })
}

fn few_and_many() -> Result<(), Failed> {
    let gpu = gpu::machine()?.adapter_limits();
    // On rayon's threads, for it allocates a block of its queue now and then where others hand it work.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    pool.install(|| {
        let mut scene = Scene::new(gpu, 4000)?;
        for frame in 0..8 {
            let (posing, result) = allocations(|| scene.pose(frame));
            result?;
            scene.crowd.submit()?;
            if frame >= 3 {
                none("posing", posing)?;
            }
        }
        about_as_many((10, encodings(gpu, 10)?), (4000, encodings(gpu, 4000)?))
    })
}

/// Local transforms and ways out of rigs, of few characters and of many.
fn rigs() -> Result<(), Failed> {
    let gpu = gpu::machine()?.adapter_limits();
    about_as_many(
        (10, encodings_of_rigs(gpu, 10)?),
        (1000, encodings_of_rigs(gpu, 1000)?),
    )
}

fn encodings_of_rigs(gpu: &Gpu, count: usize) -> Result<Vec<usize>, Failed> {
    let mut scene = Scene::new(gpu, count)?;
    let packed = PackedRig::pack(&scene.rig.skeleton, DMat4::IDENTITY, true)?;
    let packed = std::sync::Arc::new(packed);
    let mut all = Vec::new();
    for id in &scene.ids {
        all.push((*id, scene.crowd.add_rig(packed.clone())?));
    }
    let mut joints = vec![JointTransform::IDENTITY; packed.joint_count()];
    let weights = vec![0.5; scene.rig.channels];
    scene.encodings(gpu, |scene, frame| {
        let (posing, result) = allocations(|| {
            for (id, rig) in &all {
                joints[1].translation[0] = frame as f32 + id.index() as f32;
                scene.crowd.set_joints(*rig, &joints)?;
                let way = DMat4::from_translation(DVec3::splat(f64::from(frame)));
                scene.crowd.set_pose(*id, by_rig(*rig, &way, &weights))?;
            }
            Ok::<_, Failed>(())
        });
        result.map(|()| posing)
    })
}
