//! The kernel that chooses what a frame computes, alone, against its mirror.

use std::borrow::Cow;

use crate::{Failure, ensure};
use sinew::gpu::guarded;
use sinew::kernel::registry::{COMPUTED, FRESH, schedule_bits};
use sinew::kernel::{Access, Dispatch, SCHEDULE, ScheduleItem, WORKGROUP_SIZE, schedule_on_cpu};

use crate::crowds::Run;
use crate::host::Gpu;
use crate::rng::Rng;

pub const CHECKS: &[(&str, Run)] = &[("scheduling_equals_its_mirror", scheduling)];

/// The kernel's pipelines and the buffers that they bind.
struct Stage<'a> {
    gpu: &'a Gpu,
    buffers: Vec<wgpu::Buffer>,
}

impl<'a> Stage<'a> {
    /// One buffer of words for each binding.
    fn new(gpu: &'a Gpu, contents: &[Cow<'_, [u32]>]) -> Self {
        let buffer = |(words, binding): (&Cow<'_, [u32]>, &sinew::kernel::Binding)| {
            let usage = match binding.access {
                Access::Uniform => wgpu::BufferUsages::UNIFORM,
                _ => wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            };
            let buffer = gpu.filled(words.len().max(8), usage, 0);
            gpu.queue
                .write_buffer(&buffer, 0, bytemuck::cast_slice(words));
            buffer
        };
        Self {
            gpu,
            buffers: contents.iter().zip(SCHEDULE.bindings).map(buffer).collect(),
        }
    }

    /// Dispatches these variants with so many workgroups, one after the other.
    fn run(&self, variants: &[(usize, u32)]) -> Result<(), Failure> {
        let device = &self.gpu.device;
        let module = guarded(device, || {
            device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(SCHEDULE.name),
                source: wgpu::ShaderSource::Wgsl(SCHEDULE.source().into()),
            })
        })?;
        let entries: Vec<_> = (SCHEDULE.bindings.iter())
            .map(sinew::kernel::Binding::layout_entry)
            .collect();
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &entries,
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let entries: Vec<_> = (0..)
            .zip(&self.buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries,
        });
        let mut encoder = device.create_command_encoder(&Default::default());
        for (bits, workgroups) in variants {
            let names = SCHEDULE.overrides.iter().enumerate();
            let constants: Vec<(&str, f64)> = names
                .map(|(i, name)| (*name, f64::from((bits >> i & 1) as u8)))
                .collect();
            let pipeline = guarded(device, || {
                device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: Some(SCHEDULE.name),
                    layout: Some(&pipeline_layout),
                    module: &module,
                    entry_point: Some(SCHEDULE.entry),
                    compilation_options: wgpu::PipelineCompilationOptions {
                        constants: &constants,
                        ..Default::default()
                    },
                    cache: None,
                })
            })?;
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &bindings, &[]);
            pass.dispatch_workgroups(*workgroups, 1, 1);
        }
        self.gpu.queue.submit([encoder.finish()]);
        Ok(())
    }

    fn read(&self, binding: usize) -> Result<Vec<u32>, Failure> {
        self.gpu.read(&self.buffers[binding])
    }
}

fn record(workgroups: u32, item_count: u32) -> Dispatch {
    Dispatch {
        item_count,
        first_workgroup: 0,
        end_workgroup: workgroups,
        row_width: workgroups,
        items_per_unit: 0.0,
        skips: 1,
    }
}

fn words_of<T: bytemuck::NoUninit>(value: &T) -> Cow<'static, [u32]> {
    Cow::Owned(bytemuck::cast_slice(std::slice::from_ref(value)).to_vec())
}

fn scheduling(gpu: &Gpu) -> Result<(), Failure> {
    const COUNT: u32 = 700;
    let mut rng = Rng::new(12);
    let items: Vec<ScheduleItem> = (0..COUNT)
        .map(|index| ScheduleItem {
            index,
            every: rng.below(5) as u32,
            phase: rng.bits() as u32 & 0xffff,
            flags: [0, 0, 0, FRESH][rng.below(4)],
        })
        .collect();
    let workgroups = COUNT.div_ceil(WORKGROUP_SIZE);
    let zeros = |count: u32| Cow::Owned(vec![0; count as usize]);
    for (bits, as_bits) in [
        (schedule_bits::WITH_MASK, false),
        (schedule_bits::WITH_MASK | schedule_bits::MASK_OF_BITS, true),
        (schedule_bits::WITH_BOUNDS, false),
    ] {
        let contents = [
            words_of(&record(workgroups, COUNT)),
            Cow::Borrowed(bytemuck::cast_slice(&items[..])),
            zeros(COUNT),
            zeros(1 + COUNT),
            Cow::Owned(vec![5; COUNT as usize * 8]),
        ];
        let stage = Stage::new(gpu, &contents);
        let mut state = vec![0; 1 + COUNT as usize];
        let mut forgotten = vec![false; COUNT as usize];
        for frame in 0..12 {
            let masked = bits & schedule_bits::WITH_MASK != 0;
            let visible: Vec<bool> = items
                .iter()
                .map(|_| !masked || rng.chance(if frame % 3 == 2 { 0.9 } else { 0.6 }))
                .collect();
            let mask: Vec<u32> = match as_bits {
                false => visible.iter().map(|v| u32::from(*v)).collect(),
                true => visible
                    .chunks(32)
                    .map(|bits| (0..).zip(bits).map(|(i, v)| u32::from(*v) << i).sum())
                    .collect(),
            };
            gpu.queue
                .write_buffer(&stage.buffers[2], 0, bytemuck::cast_slice(&mask));
            stage.run(&[(bits, workgroups), (schedule_bits::TICKS, 1)])?;
            schedule_on_cpu(&items, |i| visible[i as usize], &mut state);
            let text = |what| format!("frame {frame} of variant {bits}: {what}");
            ensure(stage.read(3)? == state, &text("another state"))?;
            for (item, forgotten) in items.iter().zip(&mut forgotten) {
                let computed = state[1 + item.index as usize] & COMPUTED != 0;
                *forgotten |= computed || item.every == 0 || item.flags & FRESH != 0;
            }
            let keys = stage.read(4)?;
            let bounds = bits & schedule_bits::WITH_BOUNDS != 0;
            for (keys, forgotten) in keys.chunks(8).zip(&forgotten) {
                let want = if bounds && *forgotten { 0 } else { 5 };
                ensure(keys.iter().all(|key| *key == want), &text("keys of boxes"))?;
            }
        }
    }
    Ok(())
}
