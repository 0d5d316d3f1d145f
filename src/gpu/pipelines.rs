//! Pipelines of one kernel, by variant.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::GpuError;
use super::error::guarded;
use crate::kernel::{Access, Kernel};

/// What the constants of a pipeline are: bits of the kernel's overrides, the first in bit 0, and its slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Variant {
    pub bits: usize,
    pub slots: [u8; 3],
}

/// Layout and variants of one kernel. A variant is made when it is asked for first.
#[derive(Clone, Debug)]
pub(super) struct Pipelines {
    pub layout: wgpu::BindGroupLayout,
    kernel: &'static Kernel,
    pipeline_layout: wgpu::PipelineLayout,
    module: wgpu::ShaderModule,
    variants: Arc<Mutex<HashMap<Variant, wgpu::ComputePipeline>>>,
}

impl Pipelines {
    /// Compiles the kernel and its simplest variant, so that a device that refuses it says so.
    pub fn new(device: &wgpu::Device, kernel: &'static Kernel) -> Result<Self, GpuError> {
        let entries: Vec<_> = kernel
            .bindings
            .iter()
            .map(|binding| wgpu::BindGroupLayoutEntry {
                binding: binding.index,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: match binding.access {
                        Access::Uniform => wgpu::BufferBindingType::Uniform,
                        access => wgpu::BufferBindingType::Storage {
                            read_only: access == Access::Read,
                        },
                    },
                    has_dynamic_offset: false,
                    min_binding_size: wgpu::BufferSize::new(binding.min_bytes),
                },
                count: None,
            })
            .collect();
        let label = format!("sinew.{}", kernel.name);
        let out = guarded(device, || {
            let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(&label),
                entries: &entries,
            });
            Self {
                pipeline_layout: device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                    label: Some(&label),
                    bind_group_layouts: &[Some(&layout)],
                    immediate_size: 0,
                }),
                module: device.create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some(&label),
                    source: wgpu::ShaderSource::Wgsl(kernel.wgsl.into()),
                }),
                layout,
                kernel,
                variants: Arc::default(),
            }
        })?;
        out.get(device, Variant::default())?;
        Ok(out)
    }

    /// A variant, made where it is new.
    pub fn get(
        &self,
        device: &wgpu::Device,
        variant: Variant,
    ) -> Result<wgpu::ComputePipeline, GpuError> {
        let held = || self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = held().get(&variant) {
            return Ok(pipeline.clone());
        }
        let overrides = self.kernel.overrides.iter().enumerate();
        let slots = self.kernel.slots.iter().zip(variant.slots);
        let constants: Vec<(&str, f64)> = overrides
            .map(|(i, name)| (*name, f64::from((variant.bits >> i & 1) as u8)))
            .chain(slots.map(|(name, slot)| (*name, f64::from(slot))))
            .collect();
        let pipeline = guarded(device, || {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(self.kernel.name),
                layout: Some(&self.pipeline_layout),
                module: &self.module,
                entry_point: Some(self.kernel.entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &constants,
                    ..Default::default()
                },
                cache: None,
            })
        })?;
        held().insert(variant, pipeline.clone());
        Ok(pipeline)
    }
}
