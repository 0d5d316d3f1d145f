//! Our kernels on a device, and what a frame costs the CPU.

use std::sync::Arc;
use std::time::Instant;

use glam::DMat4;
use sinew::gpu::{Crowd, GpuDevice, GpuError, InstanceId, Skinner, SkinnerOptions};
use sinew::kernel::{PackedPose, PackedSkin};
use sinew::skel::{Pose, reference};
use sinew::wgpu;

use crate::floor;
use crate::measure::{Runs, Times};
use crate::row::Row;
use crate::sinew_cpu::case;
use crate::workloads::{Workload, geom_bind};

pub const WHO: &str = "sinew, GPU";

/// A load on a device, posed at frame 0.
pub struct OnDevice<'a> {
    load: &'a Workload,
    device: &'a GpuDevice,
    packed: Vec<Arc<PackedSkin>>,
    crowd: Crowd,
    instances: Vec<InstanceId>,
}

impl<'a> OnDevice<'a> {
    pub fn new(
        load: &'a Workload,
        device: &'a GpuDevice,
        options: &SkinnerOptions,
    ) -> Result<Self, GpuError> {
        let skinner = Skinner::new(device.device(), device.queue(), options)?;
        let mut crowd = skinner.crowd();
        let mut packed = Vec::new();
        let mut skins = Vec::new();
        for skin in &load.skins {
            let skin =
                PackedSkin::pack("/Mesh", skin).map_err(|e| GpuError::Mismatch(e.to_string()))?;
            let skin = Arc::new(skin);
            skins.push(crowd.add_skin(Arc::clone(&skin))?);
            packed.push(skin);
        }
        let mut instances = Vec::new();
        for character in 0..load.size.characters {
            instances.push(crowd.add_instance(skins[load.mesh_of(character)])?);
        }
        let mut out = Self {
            load,
            device,
            packed,
            crowd,
            instances,
        };
        for character in 0..load.size.characters {
            let pose = PackedPose::pack(out.skin(character), &load.pose(character, 0));
            out.crowd.set_pose(out.instances[character], &pose)?;
        }
        Ok(out)
    }

    fn skin(&self, character: usize) -> &PackedSkin {
        &self.packed[self.load.mesh_of(character)]
    }

    fn wait(&self) {
        let _ = self
            .device
            .device()
            .poll(wgpu::PollType::wait_indefinitely());
    }

    /// Seconds of a frame: by timestamps where there are some, else by the wall clock.
    fn frame(&mut self) -> Result<f64, GpuError> {
        let start = Instant::now();
        self.crowd.submit()?;
        self.wait();
        let wall = start.elapsed();
        let times = self.crowd.last_gpu_time()?;
        Ok(times.map_or(wall, |t| t.weights + t.skin).as_secs_f64())
    }

    /// Largest distance of a point from the f64 reference, in a few characters.
    fn worst_error(&mut self) -> Result<f64, GpuError> {
        let mut worst = 0.0f64;
        let last = self.instances.len() - 1;
        for character in [0, last / 2, last] {
            let got = self.crowd.read_points(self.instances[character])?;
            let load = self.load;
            let skin = &load.skins[load.mesh_of(character)];
            let want = reference::deform(skin, &load.pose(character, 0)).points;
            let distances = got
                .iter()
                .zip(&want)
                .map(|(g, w)| g.as_dvec3().distance(*w));
            worst = distances.fold(worst, f64::max);
        }
        Ok(worst)
    }
}

fn stamped() -> SkinnerOptions {
    SkinnerOptions {
        timestamps: true,
        ..SkinnerOptions::default()
    }
}

/// A frame's kernels.
pub fn row(load: &Workload, device: &GpuDevice, runs: Runs) -> Result<Row, GpuError> {
    let mut on = OnDevice::new(load, device, &stamped())?;
    let times = runs.collect(|| on.frame())?;
    let with_normals = load.skins.iter().any(|s| s.normals().is_some());
    let bytes = floor::frame_bytes(load, with_normals);
    let copy = floor::gpu_copy(device, bytes, runs);
    let note = format!(
        "{} dispatches, error {:.0e}",
        on.crowd.dispatch_count()?,
        on.worst_error()?
    );
    device.check()?;
    let row = Row::new(
        load.kind.name(),
        case(load, with_normals),
        WHO,
        load.points(),
        times,
    );
    Ok(row.over_floor(bytes, copy).noted(note))
}

/// Dispatches of a frame as hardware adapters have it, with all characters and with half of them.
pub fn dispatches(
    load: &Workload,
    half: &Workload,
    device: &GpuDevice,
) -> Result<[usize; 2], GpuError> {
    let options = SkinnerOptions {
        never_in_uniforms: true,
        ..SkinnerOptions::default()
    };
    let count = |load: &Workload| {
        OnDevice::new(load, device, &options)?
            .crowd
            .dispatch_count()
    };
    Ok([count(load)?, count(half)?])
}

/// What frames of a moving crowd cost the CPU, each part by itself, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct FrameCost {
    /// Local transforms to packed poses, on one thread.
    pub pose: Times,
    /// Handing poses to the crowd, and recording the frame.
    pub upload: Times,
    /// Both, and until the device is done.
    pub whole: Times,
}

/// Every character moves in every frame; their local transforms are the host's and ready.
pub fn frame_cost(load: &Workload, device: &GpuDevice, runs: Runs) -> Result<FrameCost, GpuError> {
    let mut on = OnDevice::new(load, device, &SkinnerOptions::default())?;
    let rig = load
        .rig
        .as_ref()
        .ok_or_else(|| GpuError::Mismatch("a load without joints".into()))?;
    let frames: Vec<Vec<Vec<DMat4>>> = (1..3)
        .map(|f| (0..load.size.characters).map(|c| rig.local(c, f)).collect())
        .collect();
    let (mut pose, mut upload, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    let mut frame = 0;
    runs.collect(|| {
        frame += 1;
        let locals = &frames[frame % frames.len()];
        let start = Instant::now();
        let poses: Result<Vec<PackedPose>, _> = locals
            .iter()
            .enumerate()
            .map(|(character, local)| {
                let pose = Pose::from_local(&rig.skeleton, local)?.with_geom_bind(geom_bind());
                Ok(PackedPose::pack(on.skin(character), &pose))
            })
            .collect();
        let poses = poses.map_err(|e: sinew::Invalid| GpuError::Mismatch(e.to_string()))?;
        let posed = start.elapsed().as_secs_f64();
        for (instance, pose) in on.instances.iter().zip(&poses) {
            on.crowd.set_pose(*instance, pose)?;
        }
        let device = on.device.device();
        let mut encoder = device.create_command_encoder(&Default::default());
        on.crowd.encode(&mut encoder)?;
        let recorded = start.elapsed().as_secs_f64();
        on.device.queue().submit([encoder.finish()]);
        on.wait();
        pose.push(posed);
        upload.push(recorded - posed);
        whole.push(start.elapsed().as_secs_f64());
        Ok::<f64, GpuError>(recorded)
    })?;
    device.check()?;
    // The first warms up.
    let times = |all: Vec<f64>| Times::of(all[1..].to_vec());
    Ok(FrameCost {
        pose: times(pose),
        upload: times(upload),
        whole: times(whole),
    })
}

/// CPU seconds of a frame of a face, from channel weights to the recorded frame.
#[derive(Clone, Copy, Debug)]
pub struct FaceCost {
    /// The same shapes are active, with other weights.
    pub weights: Times,
    /// Others are active.
    pub set: Times,
}

pub fn face_cost(load: &Workload, device: &GpuDevice, runs: Runs) -> Result<FaceCost, GpuError> {
    let mut on = OnDevice::new(load, device, &SkinnerOptions::default())?;
    let mut measure = |changes_set: bool| {
        let mut frame = 0;
        runs.collect(|| {
            frame += 1;
            let weights = load.weights(if changes_set { frame } else { 0 }, frame);
            let pose = Pose::of_shapes(weights);
            let start = Instant::now();
            let packed = PackedPose::pack(on.skin(0), &pose);
            on.crowd.set_pose(on.instances[0], &packed)?;
            let mut encoder = device.device().create_command_encoder(&Default::default());
            on.crowd.encode(&mut encoder)?;
            let seconds = start.elapsed().as_secs_f64();
            device.queue().submit([encoder.finish()]);
            on.wait();
            Ok::<f64, GpuError>(seconds)
        })
    };
    Ok(FaceCost {
        weights: measure(false)?,
        set: measure(true)?,
    })
}
