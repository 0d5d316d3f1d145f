//! Our kernels on a device, and what a frame costs the CPU.

use std::sync::Arc;
use std::time::Instant;

use glam::DMat4;
use sinew::gpu::{
    Crowd, GpuDevice, GpuError, InstanceId, NormalFormat, OutputTarget, Skinner, SkinnerOptions,
};
use sinew::kernel::{PackedPose, PackedSkin, Packing};
use sinew::skel::{Pose, Skin, reference};
use sinew::wgpu;

use crate::floor;
use crate::measure::{Runs, Times};
use crate::row::Row;
use crate::sinew_cpu::case;
use crate::workloads::{Workload, geom_bind};

pub const WHO: &str = "sinew, GPU";

/// A load on a device, posed at frame 0.
pub struct OnDevice<'a> {
    pub load: &'a Workload,
    pub device: &'a GpuDevice,
    packed: Vec<Arc<PackedSkin>>,
    pub crowd: Crowd,
    pub instances: Vec<InstanceId>,
}

impl<'a> OnDevice<'a> {
    pub fn new(
        load: &'a Workload,
        device: &'a GpuDevice,
        options: &SkinnerOptions,
    ) -> Result<Self, GpuError> {
        Self::packed(load, device, options, Packing::Exact)
    }

    /// Skins that are packed write octahedral normals.
    fn packed(
        load: &'a Workload,
        device: &'a GpuDevice,
        options: &SkinnerOptions,
        packing: Packing,
    ) -> Result<Self, GpuError> {
        let skinner = Skinner::new(device.device(), device.queue(), options)?;
        let mut crowd = skinner.crowd();
        let mut packed = Vec::new();
        let mut skins = Vec::new();
        for skin in &load.skins {
            let skin = PackedSkin::pack("/Mesh", skin)
                .and_then(|skin| skin.with_packing(packing))
                .map_err(|e| GpuError::Mismatch(e.to_string()))?;
            let skin = Arc::new(skin);
            skins.push(crowd.add_skin(Arc::clone(&skin))?);
            packed.push(skin);
        }
        let mut instances = Vec::new();
        for character in 0..load.size.characters {
            let target = OutputTarget {
                normal_format: match packing {
                    Packing::Exact => NormalFormat::default(),
                    _ => NormalFormat::Octahedral,
                },
                ..OutputTarget::default()
            };
            instances.push(crowd.add_instance_to(skins[load.mesh_of(character)], target)?);
        }
        let mut out = Self {
            load,
            device,
            packed,
            crowd,
            instances,
        };
        for character in 0..load.size.characters {
            let pose = PackedPose::pack(out.skin(character), &load.pose(character, 0))
                .expect("sizes that fit");
            out.crowd.set_pose(out.instances[character], &pose)?;
        }
        Ok(out)
    }

    fn skin(&self, character: usize) -> &PackedSkin {
        &self.packed[self.load.mesh_of(character)]
    }

    pub fn wait(&self) {
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
        Ok(times.map_or(wall, |t| t.total()).as_secs_f64())
    }

    /// What the kernel reads and writes for a point, palettes apart.
    fn bytes_per_point(&self) -> f64 {
        let skin = &self.packed[0];
        if self.load.rig.is_none() {
            let weights = self.load.weights(0, 0);
            let vectors = (skin.point_count() + skin.normal_count()) * 24;
            let blend = blend_bytes(&self.load.skins[0], &weights);
            return (vectors + blend) as f64 / self.load.points() as f64;
        }
        let bytes = skin.bytes_per_point();
        // Octahedral normals take 4 bytes of 12.
        let saved = match skin.packing() {
            Packing::Exact => 0.0,
            _ => 8.0 * skin.normal_count() as f64 / skin.point_count() as f64,
        };
        bytes.read + bytes.written - saved
    }

    /// Largest distance of a point from the f64 reference, in a few characters.
    fn worst_error(&mut self) -> Result<f64, GpuError> {
        let mut worst = 0.0f64;
        let last = self.instances.len() - 1;
        for character in [0, last / 2, last] {
            let got = self.crowd.read_points(self.instances[character])?;
            let load = self.load;
            let skin = &load.skins[load.mesh_of(character)];
            let want = reference::deform(skin, &load.pose(character, 0))
                .expect("sizes that fit")
                .points;
            let distances = got
                .iter()
                .zip(&want)
                .map(|(g, w)| g.as_dvec3().distance(*w));
            worst = distances.fold(worst, f64::max);
        }
        Ok(worst)
    }
}

/// A row of each point, a word of every entry of the channels that have a weight, the offsets of the active sub-shapes.
fn blend_bytes(skin: &Skin, weights: &[f32]) -> usize {
    let channels = weights
        .iter()
        .zip(skin.shapes())
        .filter(|(w, _)| **w != 0.0);
    let shapes = channels.filter_map(|(w, shape)| Some((*w, shape.as_ref()?)));
    let entries: usize = shapes
        .map(|(weight, shape)| {
            let active = shape.sub_shape_weights(f64::from(weight));
            let subs = shape.sub_shapes().iter().zip(active);
            subs.map(|(sub, w)| sub.offsets.len() * if w != 0.0 { 16 } else { 4 })
                .sum::<usize>()
        })
        .sum();
    entries + skin.points().len() * 4
}

pub fn stamped() -> SkinnerOptions {
    SkinnerOptions {
        timestamps: true,
        ..SkinnerOptions::default()
    }
}

/// A frame's kernels.
pub fn row(load: &Workload, device: &GpuDevice, runs: Runs) -> Result<Row, GpuError> {
    row_of(load, device, runs, &stamped())
}

/// The same where all blend entries of a point are walked, active or not.
pub fn row_of_all_entries(
    load: &Workload,
    device: &GpuDevice,
    runs: Runs,
) -> Result<Row, GpuError> {
    let options = SkinnerOptions {
        never_active_lists: true,
        ..stamped()
    };
    let mut row = row_of(load, device, runs, &options)?;
    row.who += ", all entries";
    row.bytes_per_point = None;
    Ok(row)
}

/// The same of skins that are packed, which loses precision.
pub fn row_packed(
    load: &Workload,
    device: &GpuDevice,
    runs: Runs,
    packing: Packing,
) -> Result<Row, GpuError> {
    let on = OnDevice::packed(load, device, &stamped(), packing)?;
    let mut row = measured(on, load, device, runs)?;
    row.who = packed_name(packing);
    Ok(row)
}

/// Whose a row of packed skins is.
pub fn packed_name(packing: Packing) -> String {
    format!("{WHO}, {packing:?}")
}

fn row_of(
    load: &Workload,
    device: &GpuDevice,
    runs: Runs,
    options: &SkinnerOptions,
) -> Result<Row, GpuError> {
    let on = OnDevice::new(load, device, options)?;
    measured(on, load, device, runs)
}

fn measured(
    mut on: OnDevice<'_>,
    load: &Workload,
    device: &GpuDevice,
    runs: Runs,
) -> Result<Row, GpuError> {
    let times = runs.collect(|| on.frame())?;
    let with_normals = load.skins.iter().any(|s| s.normals().is_some());
    let bytes = floor::frame_bytes(load, with_normals);
    let copy = floor::gpu_copy(device, bytes, runs)?;
    let note = format!(
        "{} dispatches, error {:.0e}",
        on.crowd.dispatch_count()?,
        on.worst_error()?
    );
    device.check()?;
    let mut row = Row::new(
        load.kind.name(),
        case(load, with_normals),
        WHO,
        load.points(),
        times,
    );
    row.bytes_per_point = Some(on.bytes_per_point());
    Ok(row.over_floor(bytes, copy).noted(note))
}

/// Dispatches of a frame with all characters and with half of them.
pub fn dispatches(
    load: &Workload,
    half: &Workload,
    device: &GpuDevice,
) -> Result<[usize; 2], GpuError> {
    let options = SkinnerOptions::default();
    let count = |load: &Workload| {
        OnDevice::new(load, device, &options)?
            .crowd
            .dispatch_count()
    };
    Ok([count(load)?, count(half)?])
}

/// What frames of a moving crowd cost the CPU, each part by itself, in seconds.
#[derive(Clone, Debug)]
pub struct FrameCost {
    /// Local transforms to palettes where they are uploaded from, on one thread.
    pub pose: Times,
    /// The same on all cores.
    pub pose_on_all: Times,
    /// Recording the frame, uploads and all.
    pub record: Times,
    /// Posing on all cores, recording, and until the device is done.
    pub whole: Times,
    /// Bytes that a frame uploads.
    pub uploaded: u64,
}

/// Every character moves in every frame; their local transforms are the host's and ready.
pub fn frame_cost(load: &Workload, device: &GpuDevice, runs: Runs) -> Result<FrameCost, GpuError> {
    let mut on = OnDevice::new(load, device, &SkinnerOptions::default())?;
    let rig = load
        .rig
        .as_ref()
        .ok_or_else(|| GpuError::Mismatch("a load without joints".into()))?;
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let one = one.map_err(|e| GpuError::Mismatch(e.to_string()))?;
    let frames: Vec<Vec<Vec<DMat4>>> = (1..3)
        .map(|f| (0..load.size.characters).map(|c| rig.local(c, f)).collect())
        .collect();
    let mut character_of = vec![0; on.crowd.index_count() as usize];
    for (character, instance) in on.instances.iter().enumerate() {
        character_of[instance.index() as usize] = character;
    }
    let mut frame = 0;
    // Seconds of posing, of recording and of the whole frame.
    let mut step = |pool: Option<&rayon::ThreadPool>| -> Result<[f64; 3], GpuError> {
        frame += 1;
        let locals = &frames[frame % frames.len()];
        let crowd = &mut on.crowd;
        let mut posed = || {
            crowd.update_poses(|instance, pose: &mut Pose| {
                let local = &locals[character_of[instance.index() as usize]];
                pose.set_local(&rig.skeleton, local)?;
                pose.geom_bind = geom_bind();
                Ok::<bool, sinew::Invalid>(true)
            })
        };
        let start = Instant::now();
        match pool {
            Some(pool) => pool.install(posed)?,
            None => posed()?,
        }
        let posed = start.elapsed().as_secs_f64();
        let mut encoder = device.device().create_command_encoder(&Default::default());
        on.crowd.encode(&mut encoder)?;
        let recorded = start.elapsed().as_secs_f64();
        device.queue().submit([encoder.finish()]);
        on.wait();
        Ok([posed, recorded - posed, start.elapsed().as_secs_f64()])
    };
    let (mut pose, mut pose_on_all) = (Vec::new(), Vec::new());
    let (mut record, mut whole) = (Vec::new(), Vec::new());
    runs.collect(|| {
        let [posed, recorded, _] = step(Some(&one))?;
        pose.push(posed);
        record.push(recorded);
        let [posed, recorded, all] = step(None)?;
        pose_on_all.push(posed);
        record.push(recorded);
        whole.push(all);
        Ok::<f64, GpuError>(all)
    })?;
    let uploaded = on.crowd.last_upload_bytes();
    device.check()?;
    // The first warm up.
    let times = |all: Vec<f64>, warm: usize| Times::of(all[warm..].to_vec());
    Ok(FrameCost {
        pose: times(pose, 1),
        pose_on_all: times(pose_on_all, 1),
        record: times(record, 2),
        whole: times(whole, 1),
        uploaded,
    })
}

/// CPU seconds of a frame of a face, from channel weights to the recorded frame, and most bytes that it uploads.
#[derive(Clone, Debug)]
pub struct FaceCost {
    /// The same shapes are active, with other weights.
    pub weights: (Times, u64),
    /// Others are active.
    pub set: (Times, u64),
}

pub fn face_cost(load: &Workload, device: &GpuDevice, runs: Runs) -> Result<FaceCost, GpuError> {
    let mut on = OnDevice::new(load, device, &SkinnerOptions::default())?;
    let mut measure = |changes_set: bool| -> Result<(Times, u64), GpuError> {
        let (mut frame, mut uploaded) = (0, 0);
        let times = runs.collect(|| {
            frame += 1;
            let weights = load.weights(if changes_set { frame } else { 0 }, frame);
            let pose = Pose::of_shapes(weights);
            let start = Instant::now();
            let packed = PackedPose::pack(on.skin(0), &pose).expect("sizes that fit");
            on.crowd.set_pose(on.instances[0], &packed)?;
            let mut encoder = device.device().create_command_encoder(&Default::default());
            on.crowd.encode(&mut encoder)?;
            let seconds = start.elapsed().as_secs_f64();
            device.queue().submit([encoder.finish()]);
            on.wait();
            // The first frames upload what lasts.
            if frame > 1 {
                uploaded = on.crowd.last_upload_bytes().max(uploaded);
            }
            Ok::<f64, GpuError>(seconds)
        })?;
        Ok((times, uploaded))
    };
    Ok(FaceCost {
        weights: measure(false)?,
        set: measure(true)?,
    })
}
