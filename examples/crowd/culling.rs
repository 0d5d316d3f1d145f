//! The host's culling on the GPU: a compute pass in front of the engine's passes. What it writes is the mask that
//! `Crowd::set_visibility` has, and the draws.

use glam::{Mat4, Vec3, Vec4};
use host::{Gpu, Result};
use sinew::gpu::{Crowd, VisibilityMask};
use sinew::wgpu;

use crate::squads::Squad;

/// What the shaders know of a frame (`struct Frame` in scene.wgsl).
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Frame {
    clip_from_world: Mat4,
    world_from_clip: Mat4,
    planes: [Vec4; 6],
    eye: Vec3,
    seconds: f32,
}

impl Frame {
    pub fn new(clip_from_world: Mat4, seconds: f64) -> Self {
        let row = |i| clip_from_world.row(i);
        let planes = [
            row(3) + row(0),
            row(3) - row(0),
            row(3) + row(1),
            row(3) - row(1),
            row(2),
            row(3) - row(2),
        ];
        let world_from_clip = clip_from_world.inverse();
        // The camera is the point that has no place in the picture.
        let eye = world_from_clip * Vec4::Z;
        Self {
            clip_from_world,
            world_from_clip,
            planes: planes.map(|plane| plane / plane.truncate().length()),
            eye: eye.truncate() / eye.w,
            seconds: seconds as f32,
        }
    }
}

/// The pipelines, and what they bind for each squad.
pub struct Culling {
    cull: wgpu::ComputePipeline,
    list: wgpu::ComputePipeline,
    squads: Vec<(wgpu::BindGroup, u32)>,
}

impl Culling {
    /// `frame` is a uniform buffer with a [`Frame`]. If `culls` is false, everyone is drawn, and the engine computes
    /// everyone.
    pub fn new(
        gpu: &Gpu,
        crowd: &mut Crowd,
        squads: &[Squad],
        frame: &wgpu::Buffer,
        culls: bool,
    ) -> Result<Self> {
        let text = concat!(include_str!("scene.wgsl"), include_str!("cull.wgsl"));
        let module = host::shader(gpu, text);
        let uniform = wgpu::BufferBindingType::Uniform;
        let read = wgpu::BufferBindingType::Storage { read_only: true };
        let write = wgpu::BufferBindingType::Storage { read_only: false };
        // Both bind the same.
        let kinds = [uniform, uniform, read, read, write, write, write, write];
        let layout = host::layout(gpu, wgpu::ShaderStages::COMPUTE, &kinds);
        let pipeline_layout = host::pipeline_layout(gpu, &[&layout]);
        let pipeline = |entry| {
            gpu.device
                .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: Some(entry),
                    layout: Some(&pipeline_layout),
                    module: &module,
                    entry_point: Some(entry),
                    compilation_options: wgpu::PipelineCompilationOptions {
                        constants: &[("SHOW_ALL", f64::from(u8::from(!culls)))],
                        ..Default::default()
                    },
                    cache: None,
                })
        };
        let bytes = u64::from(crowd.index_count().max(1)) * 4;
        let mask = host::buffer(gpu, bytes, wgpu::BufferUsages::STORAGE);
        let squads = squads.iter().map(|squad| {
            let buffers = [
                frame,
                &squad.uniform,
                &squad.characters,
                &squad.instances,
                &mask,
                &squad.seen,
                &squad.draws,
                &squad.places,
            ];
            (host::group(gpu, &layout, &buffers), squad.count)
        });
        let squads = squads.collect();
        if culls {
            crowd.set_visibility(Some(VisibilityMask::words(mask)))?;
        }
        Ok(Self {
            cull: pipeline("cull"),
            list: pipeline("list"),
            squads,
        })
    }

    /// Records the pass. It comes before `Crowd::encode` in the same encoder.
    pub fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        times: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("crowd.cull"),
            timestamp_writes: times,
        });
        for (group, count) in &self.squads {
            pass.set_bind_group(0, group, &[]);
            pass.set_pipeline(&self.cull);
            pass.dispatch_workgroups(count.div_ceil(64), 1, 1);
            pass.set_pipeline(&self.list);
            pass.dispatch_workgroups(1, 1, 1);
        }
    }
}
