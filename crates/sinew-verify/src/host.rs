//! A device that checks run on, as a host has it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use glam::DMat4;
use sinew::gpu::{
    Attribute, Crowd, GpuDevice, GpuError, InstanceId, InstancePose, OutputTarget, RigId, SkinId,
    Skinner, SkinnerOptions, mapped, wait_for, work_done,
};
use web_time::Instant;

use crate::{Failure, ensure};

/// How long a check waits for a callback after the device has finished.
const PATIENCE: Duration = Duration::from_secs(10);

/// A device that a check runs on.
pub struct Gpu {
    /// wgpu's own.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    opened: GpuDevice,
    /// The skinners of the checks before, with their options. Most of a check on a software GPU is
    /// the compiling of pipelines, which the clones of a skinner share.
    skinners: Mutex<Vec<(SkinnerOptions, Skinner)>>,
}

impl Gpu {
    /// A device with what a check asks of it.
    #[must_use]
    pub fn new(opened: GpuDevice) -> Self {
        Self {
            device: opened.device().clone(),
            queue: opened.queue().clone(),
            opened,
            skinners: Mutex::default(),
        }
    }

    /// What was opened.
    #[must_use]
    pub fn opened(&self) -> &GpuDevice {
        &self.opened
    }

    /// Another device on the same adapter, with these limits and no feature.
    pub fn with_limits(&self, limits: wgpu::Limits) -> Result<Self, GpuError> {
        self.opened.another(limits).map(Self::new)
    }

    /// Another device on the same adapter, with the same limits.
    pub fn another(&self) -> Result<Self, GpuError> {
        self.with_limits(self.device.limits())
    }

    /// What no call could return by itself.
    pub fn check(&self) -> Result<(), GpuError> {
        self.opened.check()
    }

    /// A skinner on it, whose pipelines are those of all checks with the same options.
    pub fn skinner(&self, options: &SkinnerOptions) -> Result<Skinner, GpuError> {
        let mut skinners = self.skinners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, skinner)) = skinners.iter().find(|(of, _)| of == options) {
            return Ok(skinner.clone());
        }
        let skinner = self.new_skinner(options)?;
        skinners.push((options.clone(), skinner.clone()));
        Ok(skinner)
    }

    /// A skinner on it that has compiled nothing yet.
    pub fn new_skinner(&self, options: &SkinnerOptions) -> Result<Skinner, GpuError> {
        Skinner::new(&self.device, &self.queue, options)
    }

    /// An empty crowd on it.
    pub fn crowd(&self) -> Result<Crowd, GpuError> {
        self.crowd_with(&SkinnerOptions::default())
    }

    /// The same with options.
    pub fn crowd_with(&self, options: &SkinnerOptions) -> Result<Crowd, GpuError> {
        Ok(self.skinner(options)?.crowd())
    }

    /// A new encoder.
    #[must_use]
    pub fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&Default::default())
    }

    /// Waits until the device has done all that is submitted.
    pub fn finish(&self) -> Result<(), GpuError> {
        wait_for(&self.device, work_done(&self.queue))
    }

    /// What `result` gives once it gives something.
    ///
    /// A check that has waited for the device cannot rely on its own callbacks having run: another
    /// check that polls the same device may have taken them, and run them a little later.
    ///
    /// # Errors
    /// Nothing for ten seconds, and what `result` returns.
    pub fn wait_for<T>(
        &self,
        mut result: impl FnMut() -> Result<Option<T>, Failure>,
    ) -> Result<T, Failure> {
        let begin = Instant::now();
        loop {
            self.finish()?;
            if let Some(result) = result()? {
                return Ok(result);
            }
            ensure(begin.elapsed() < PATIENCE, "nothing has come back")?;
            // A page cannot sleep, and has let its event loop turn.
            #[cfg(not(target_family = "wasm"))]
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// What a buffer holds, after all that is submitted.
    pub fn read<T: bytemuck::Pod>(&self, buffer: &wgpu::Buffer) -> Result<Vec<T>, Failure> {
        let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("test.read"),
            size: buffer.size(),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.encoder();
        encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, buffer.size());
        self.queue.submit([encoder.finish()]);
        let all = bytemuck::pod_collect_to_vec;
        let read = mapped(&self.device, &copy, copy.size(), all);
        Ok(wait_for(&self.device, read)??)
    }

    /// A buffer of words that hold `value`.
    pub fn filled(&self, words: usize, usage: wgpu::BufferUsages, value: u32) -> wgpu::Buffer {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("test.caller"),
            size: words as u64 * 4,
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let words = vec![value; words];
        self.queue
            .write_buffer(&buffer, 0, bytemuck::cast_slice(&words));
        self.queue.submit([]);
        buffer
    }
}

/// A pose by a rig.
#[must_use]
pub fn by_rig<'a>(
    rig: RigId,
    out_from_skel: &'a DMat4,
    channel_weights: &'a [f32],
) -> InstancePose<'a> {
    InstancePose::Rig {
        rig,
        out_from_skel,
        channel_weights,
    }
}

/// Options of small bindings and dispatches.
#[must_use]
pub fn tight(bytes: Option<u64>, workgroups: Option<u32>) -> SkinnerOptions {
    let mut options = SkinnerOptions::default();
    options.max_binding_bytes = bytes;
    options.max_workgroups_per_dimension = workgroups;
    options
}

/// Results in the crowd's own buffers, positions of the frame before among them.
#[must_use]
pub fn with_previous() -> OutputTarget {
    OutputTarget {
        previous: Some(Attribute::Own),
        ..OutputTarget::default()
    }
}

/// Adds an instance in a pose.
pub fn posed<'a>(
    crowd: &mut Crowd,
    skin: SkinId,
    pose: impl Into<InstancePose<'a>>,
) -> Result<InstanceId, GpuError> {
    posed_to(crowd, skin, OutputTarget::default(), pose)
}

/// The same with results that go to `target`.
pub fn posed_to<'a>(
    crowd: &mut Crowd,
    skin: SkinId,
    target: OutputTarget,
    pose: impl Into<InstancePose<'a>>,
) -> Result<InstanceId, GpuError> {
    let id = crowd.add_instance_to(skin, target)?;
    crowd.set_pose(id, pose)?;
    Ok(id)
}

/// A wrong use that comes back as an error of its kind, and what the error has to name.
pub fn wrong_use<T>(words: &str, result: Result<T, GpuError>) -> Result<(), Failure> {
    use GpuError::{Foreign, InUse, Invalid, NoFrame, NoPose, NotSubmitted};
    match result {
        Err(
            error @ (Foreign { .. }
            | InUse { .. }
            | Invalid { .. }
            | NoFrame { .. }
            | NoPose { .. }
            | NotSubmitted),
        ) if error.to_string().contains(words) => Ok(()),
        other => Err(format!("'{words}' expected, {:?}", other.map(drop)).into()),
    }
}
