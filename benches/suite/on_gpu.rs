//! Our kernels on a device, and what a frame costs the CPU.

use std::sync::Arc;
use std::time::Instant;

use glam::DMat4;
use sinew::gpu::{Crowd, GpuDevice, GpuTimes, InstanceId, Skinner, SkinnerOptions};
use sinew::kernel::{PackedPose, PackedSkin};
use sinew::skel::{Pose, Skin, reference};
use sinew::wgpu;

use crate::goals::{ACTIVE_SET, Found, JOINTS, MESHES, WEIGHTS};
use crate::measure::{Runs, Times};
use crate::peers::Result;
use crate::results::Row;
use crate::workloads::{Kind, Workload, geom_bind};
use crate::{cpu, floor};

pub const WHO: &str = "sinew, GPU";

/// Ways to measure a load: what the row's name has more, and whether all blend entries of a point are walked, active or not.
pub const WAYS: [(&str, bool); 2] = [("", false), (", all entries", true)];

/// Posed instances on a device.
pub struct OnDevice<'a> {
    pub device: &'a GpuDevice,
    pub crowd: Crowd,
    pub instances: Vec<InstanceId>,
    packed: Vec<Arc<PackedSkin>>,
}

/// Seconds of a frame.
pub struct Spent {
    /// Until it was recorded.
    pub recorded: f64,
    /// Until it was done.
    pub whole: f64,
    pub on_device: Option<GpuTimes>,
}

impl Spent {
    /// By timestamps where there are some, else by the wall clock.
    pub fn kernels(&self) -> f64 {
        let whole = self.whole - self.recorded;
        let stamped = self.on_device.as_ref();
        stamped.map_or(whole, |times| times.total().as_secs_f64())
    }
}

/// With timestamps.
pub fn stamped() -> SkinnerOptions {
    let mut options = SkinnerOptions::default();
    options.timestamps = true;
    options
}

impl<'a> OnDevice<'a> {
    /// Instances of skins by their numbers.
    pub fn new(
        device: &'a GpuDevice,
        options: &SkinnerOptions,
        packed: Vec<Arc<PackedSkin>>,
        poses: impl IntoIterator<Item = (usize, Pose)>,
    ) -> Result<Self> {
        let mut crowd = Skinner::new(device.device(), device.queue(), options)?.crowd();
        let skins = packed.iter().map(|skin| crowd.add_skin(Arc::clone(skin)));
        let skins = skins.collect::<std::result::Result<Vec<_>, _>>()?;
        let mut instances = Vec::new();
        for (number, pose) in poses {
            let instance = crowd.add_instance(skins[number])?;
            crowd.set_pose(instance, &PackedPose::pack(&packed[number], &pose)?)?;
            instances.push(instance);
        }
        Ok(Self {
            device,
            crowd,
            instances,
            packed,
        })
    }

    /// A load, posed at frame 0.
    pub fn of(load: &Workload, device: &'a GpuDevice, options: &SkinnerOptions) -> Result<Self> {
        let pack = |skin: &Arc<Skin>| -> Result<Arc<PackedSkin>> {
            Ok(Arc::new(PackedSkin::pack("/Mesh", skin)?))
        };
        let packed = load.skins.iter().map(pack).collect::<Result<_>>()?;
        let poses = (0..load.size.characters).map(|c| (load.mesh_of(c), load.pose(c, 0)));
        Self::new(device, options, packed, poses)
    }

    pub fn frame(&mut self) -> Result<Spent> {
        let start = Instant::now();
        let device = self.device.device();
        let mut encoder = device.create_command_encoder(&Default::default());
        self.crowd.encode(&mut encoder)?;
        let recorded = start.elapsed().as_secs_f64();
        self.device.queue().submit([encoder.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(Spent {
            recorded,
            whole: start.elapsed().as_secs_f64(),
            on_device: self.crowd.last_gpu_time()?,
        })
    }

    /// What the kernel reads and writes for a point, palettes apart.
    fn bytes_per_point(&self, load: &Workload) -> f64 {
        let skin = &self.packed[0];
        if load.rig.is_none() {
            let vectors = (skin.point_count() + skin.normal_count()) * 24;
            let blend = blend_bytes(&load.skins[0], &load.weights(0, 0));
            return (vectors + blend) as f64 / load.points() as f64;
        }
        let bytes = skin.bytes_per_point();
        bytes.read + bytes.written
    }

    /// Largest distance of a point from the f64 reference, in a few characters.
    fn worst_error(&mut self, load: &Workload) -> Result<f64> {
        let mut worst = 0.0f64;
        let last = self.instances.len() - 1;
        for character in [0, last / 2, last] {
            let got = self.crowd.read_points(self.instances[character])?;
            let skin = &load.skins[load.mesh_of(character)];
            let want = reference::deform(skin, &load.pose(character, 0))?.points;
            let pairs = got.iter().zip(&want);
            let distances = pairs.map(|(g, w)| g.as_dvec3().distance(*w));
            worst = distances.fold(worst, f64::max);
        }
        Ok(worst)
    }
}

/// A row of each point, a word of every entry of the channels that have a weight, the offsets of the active sub-shapes.
fn blend_bytes(skin: &Skin, weights: &[f32]) -> usize {
    let [all, active] = floor::offsets(skin, weights);
    all * 4 + active * 12 + skin.points().len() * 4
}

/// A frame's kernels, in one of the [`WAYS`].
pub fn row(
    load: &Workload,
    device: &GpuDevice,
    runs: Runs,
    (name, all_entries): (&str, bool),
) -> Result<Row> {
    let mut options = stamped();
    options.never_active_lists = all_entries;
    let mut on = OnDevice::of(load, device, &options)?;
    let times = runs.collect(|| on.frame().map(|spent| spent.kernels()))?;
    let with_normals = load.has_normals();
    let bytes = floor::frame_bytes(load, with_normals);
    let copy = floor::gpu_copy(device, bytes, runs)?;
    let (dispatches, error) = (on.crowd.dispatch_count()?, on.worst_error(load)?);
    device.check()?;
    let mut row = Row::of(load, with_normals, &format!("{WHO}{name}"), times);
    row.bytes_per_point = (!all_entries).then(|| on.bytes_per_point(load));
    let row = row.over_floor(bytes, copy.median());
    Ok(row.noted(format!("{dispatches} dispatches, error {error:.0e}")))
}

/// Dispatches of a frame of C with all characters and with half of them.
pub fn dispatches(load: &Workload, device: &GpuDevice) -> Result<Found> {
    let mut half = load.size;
    half.characters = half.characters.div_ceil(2);
    let count = |load: &Workload| -> Result<usize> {
        let on = OnDevice::of(load, device, &SkinnerOptions::default())?;
        Ok(on.crowd.dispatch_count()?)
    };
    let (all, half) = (count(load)?, count(&Workload::sized(load.kind, half))?);
    // Software adapters hold palettes in small uniforms, and a page of these is a dispatch.
    let figure = format!("{all}, and {half} for half of them");
    Ok(Found::new(figure, &[], all == half).on_hardware(!device.report().software))
}

/// What frames of a moving crowd cost the CPU: every character moves in every frame; their local transforms are the host's
/// and ready. Of C's joints, or of F's meshes.
pub fn frame_cost(
    load: &Workload,
    device: &GpuDevice,
    runs: Runs,
) -> Result<(&'static str, Found)> {
    let mut on = OnDevice::of(load, device, &SkinnerOptions::default())?;
    let rig = load.rig.as_ref().ok_or("a load without joints")?;
    let one = cpu::pool(1)?;
    let locals = |frame| {
        (0..load.size.characters)
            .map(move |c| rig.local(c, frame))
            .collect()
    };
    let frames: [Vec<Vec<DMat4>>; 2] = [locals(1), locals(2)];
    let mut character_of = vec![0; on.crowd.index_count() as usize];
    for (character, instance) in on.instances.iter().enumerate() {
        character_of[instance.index() as usize] = character;
    }
    let mut frame = 0;
    // Seconds of posing, of recording, and until the device is done.
    let mut step = |is_alone: bool| -> Result<[f64; 3]> {
        frame += 1;
        let crowd = &mut on.crowd;
        let mut posed = |locals: &[Vec<DMat4>]| {
            crowd.update_poses(|instance, pose: &mut Pose| {
                let local = &locals[character_of[instance.index() as usize]];
                pose.set_local(&rig.skeleton, local)?;
                pose.geom_bind = geom_bind();
                Ok::<bool, sinew::Invalid>(true)
            })
        };
        // A software device skins for half a second, and some virtual machines take memory away that is not used for a tenth of
        // that. The frames of a game are 16 ms apart.
        posed(&frames[1 - frame % 2])?;
        let locals = &frames[frame % 2];
        let start = Instant::now();
        match is_alone {
            true => one.install(|| posed(locals))?,
            false => posed(locals)?,
        }
        let posed = start.elapsed().as_secs_f64();
        let spent = on.frame()?;
        Ok([posed, spent.recorded, posed + spent.whole])
    };
    let (mut pose, mut pose_on_all) = (Vec::new(), Vec::new());
    let (mut record, mut whole) = (Vec::new(), Vec::new());
    runs.collect(|| -> Result<f64> {
        let [posed, recorded, _] = step(true)?;
        pose.push(posed);
        record.push(recorded);
        let [posed, recorded, all] = step(false)?;
        pose_on_all.push(posed);
        record.push(recorded);
        whole.push(all);
        Ok(all)
    })?;
    device.check()?;
    // The first warm up.
    let times = |all: Vec<f64>, warm: usize| Times::of(all[warm..].to_vec());
    let [pose, pose_on_all, whole] = [pose, pose_on_all, whole].map(|all| times(all, 1));
    let record = times(record, 2);
    let count = match load.kind {
        Kind::Crowd => load.size.joints * load.size.characters,
        _ => load.size.characters,
    };
    let each = |times: &Times| times.median() / count as f64 * 1e6;
    let (posed, recorded) = (each(&pose_on_all), each(&record));
    if load.kind == Kind::Crowd {
        let sum = each(&pose) + recorded;
        let figure = format!(
            "{sum:.3} us on one thread: {:.3} posing ({posed:.3} on all cores), {recorded:.3} recording and upload of {:.1} MB",
            each(&pose),
            on.crowd.last_upload_bytes() as f64 / 1e6
        );
        return Ok((JOINTS, Found::new(figure, &[&pose, &record], sum < 0.1)));
    }
    let all = each(&whole);
    let figure = format!(
        "{all:.2} us until the device is done: {posed:.2} posing, {recorded:.2} recording and upload"
    );
    let found = Found::new(figure, &[&whole], all < 1.0);
    Ok((MESHES, found.on_hardware(!device.report().software)))
}

/// CPU seconds of a frame of a face, from channel weights to the recorded frame, and most bytes that it uploads: where the
/// same shapes are active with other weights, and where others are active.
pub fn face_cost(
    load: &Workload,
    device: &GpuDevice,
    runs: Runs,
) -> Result<[(&'static str, Found); 2]> {
    let mut on = OnDevice::of(load, device, &SkinnerOptions::default())?;
    let mut measure = |changes_set: bool| -> Result<(Times, u64)> {
        let (mut frame, mut uploaded) = (0, 0);
        let times = runs.collect(|| -> Result<f64> {
            frame += 1;
            let weights = load.weights(if changes_set { frame } else { 0 }, frame);
            let pose = Pose::of_shapes(weights);
            let start = Instant::now();
            on.crowd
                .set_pose(on.instances[0], &PackedPose::pack(&on.packed[0], &pose)?)?;
            let set = start.elapsed().as_secs_f64();
            let spent = on.frame()?;
            // The first frames upload what lasts.
            if frame > 1 {
                uploaded = on.crowd.last_upload_bytes().max(uploaded);
            }
            Ok(set + spent.recorded)
        })?;
        Ok((times, uploaded))
    };
    let (weights, bytes) = measure(false)?;
    let (set, bytes_of_set) = measure(true)?;
    let [low, high] = set.quartiles().map(|s| s * 1e3);
    let figure = format!(
        "{:.3} ms ({low:.3} to {high:.3}); {:.3} ms where only weights change",
        set.median() * 1e3,
        weights.median() * 1e3
    );
    let set = Found::new(figure, &[&set], set.median() < 1e-3);
    let most = load.size.shapes as u64 * 4;
    let figure = format!("{bytes} B; {bytes_of_set} B with another active set");
    Ok([
        (ACTIVE_SET, set),
        (WEIGHTS, Found::new(figure, &[], bytes <= most)),
    ])
}
