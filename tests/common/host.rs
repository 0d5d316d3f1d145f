//! A device that trials run on, as a host has it.

use glam::DMat4;
use libtest_mimic::Failed;
use sinew::gpu::{Crowd, InstancePose, RigId, Skinner, SkinnerOptions};

use super::gpu;

/// A device that a trial runs on.
pub struct Gpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
}

impl Gpu {
    /// With the adapter's limits.
    pub fn shared() -> Result<Self, Failed> {
        let gpu = gpu::device()?;
        Ok(Self {
            device: gpu.device().clone(),
            queue: gpu.queue().clone(),
        })
    }

    /// With WebGPU's limits.
    pub fn default_limits() -> Result<Self, Failed> {
        let (device, queue) = gpu::default_device()?.clone();
        Ok(Self { device, queue })
    }

    /// What no call could return by itself.
    pub fn check(&self) -> Result<(), Failed> {
        Ok(gpu::device()?.check()?)
    }

    pub fn skinner(&self, options: &SkinnerOptions) -> Result<Skinner, Failed> {
        Ok(Skinner::new(&self.device, &self.queue, options)?)
    }

    pub fn crowd(&self) -> Result<Crowd, Failed> {
        self.crowd_with(&SkinnerOptions::default())
    }

    pub fn crowd_with(&self, options: &SkinnerOptions) -> Result<Crowd, Failed> {
        Ok(self.skinner(options)?.crowd())
    }

    /// What a buffer holds, after all that is submitted.
    pub fn read<T: bytemuck::Pod>(&self, buffer: &wgpu::Buffer) -> Result<Vec<T>, Failed> {
        let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("test.read"),
            size: buffer.size(),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, buffer.size());
        self.queue.submit([encoder.finish()]);
        copy.map_async(wgpu::MapMode::Read, .., |result| result.expect("mapped"));
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let view = copy.get_mapped_range(..)?;
        Ok(bytemuck::pod_collect_to_vec(&view))
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
