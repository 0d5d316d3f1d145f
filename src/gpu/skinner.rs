//! Pipelines, made once and never changed.

use super::error::guarded;
use super::{Crowd, GpuError, limits};
use crate::kernel::{Access, Kernel, SKIN, SKIN_IN_UNIFORMS, UNIFORM_BYTES, WEIGHTS};

/// How a [`Skinner`] uses its device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkinnerOptions {
    /// Largest binding in bytes, where less than the device's own limit is wanted.
    pub max_binding_bytes: Option<u64>,
    /// Most workgroups in one dimension, likewise.
    pub max_workgroups_per_dimension: Option<u32>,
    /// Most bytes of outputs of one crowd, 64 GiB where not said: wgpu does not tell how much memory there
    /// is, and more instances than that are an error before anything is allocated.
    pub max_output_bytes: Option<u64>,
    /// Item tables and palettes in storage buffers even on software adapters, where uniforms of 64 KiB
    /// are far faster to read and make a dispatch for every 64 KiB of palettes.
    pub never_in_uniforms: bool,
    /// Measure GPU times, on a device that was opened with `TIMESTAMP_QUERY`.
    pub timestamps: bool,
}

/// Limits that work is cut to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub binding_bytes: u64,
    pub buffer_bytes: u64,
    /// Of one crowd's outputs.
    pub output_bytes: u64,
    pub workgroups: u32,
    /// Alignment of any binding's offset.
    pub alignment: u64,
    /// Items and palettes go to uniforms where they fit.
    pub in_uniforms: bool,
}

/// Layout and variants of one kernel.
#[derive(Clone, Debug)]
pub(super) struct Pipelines {
    pub layout: wgpu::BindGroupLayout,
    /// By override bits, the first override in bit 0.
    pub variants: Vec<wgpu::ComputePipeline>,
}

/// Immutable pipelines on one device; a [`Crowd`] holds what they work on.
#[derive(Clone, Debug)]
pub struct Skinner {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) limits: Limits,
    pub(super) timestamps: bool,
    pub(super) weights: Pipelines,
    pub(super) skin: Pipelines,
    /// Only where [`Limits::in_uniforms`].
    pub(super) skin_in_uniforms: Option<Pipelines>,
}

impl Skinner {
    /// Builds the pipelines on a device of the host's. What the device needs is in
    /// [`super::needed_limits`] and [`super::needed_features`]; WebGPU's default limits are enough.
    ///
    /// # Errors
    /// [`GpuError::Limit`] names a limit that is too low; a device that refuses the shaders.
    pub fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        options: &SkinnerOptions,
    ) -> Result<Self, GpuError> {
        let of_device = device.limits();
        limits::check(&of_device)?;
        #[allow(clippy::unnecessary_cast, reason = "u32 or u64, by wgpu's version")]
        let binding = of_device.max_storage_buffer_binding_size as u64;
        let alignment = of_device
            .min_storage_buffer_offset_alignment
            .max(of_device.min_uniform_buffer_offset_alignment)
            .max(16);
        // Shaders count bytes in 32 bits on some backends.
        let most = binding
            .min(of_device.max_buffer_size)
            .min(u64::from(u32::MAX))
            & !255;
        let binding_bytes = options
            .max_binding_bytes
            .map_or(most, |wish| wish.clamp(256, most) & !15);
        #[allow(clippy::unnecessary_cast, reason = "u32 or u64, by wgpu's version")]
        let uniform_bytes = of_device.max_uniform_buffer_binding_size as u64;
        let limits = Limits {
            binding_bytes,
            buffer_bytes: of_device.max_buffer_size,
            output_bytes: options.max_output_bytes.unwrap_or(64 << 30),
            workgroups: options
                .max_workgroups_per_dimension
                .unwrap_or(u32::MAX)
                .clamp(1, of_device.max_compute_workgroups_per_dimension),
            alignment: u64::from(alignment),
            in_uniforms: !options.never_in_uniforms
                && device.adapter_info().device_type == wgpu::DeviceType::Cpu
                && UNIFORM_BYTES <= binding_bytes.min(uniform_bytes),
        };
        let (weights, skin, skin_in_uniforms) = guarded(device, || {
            let in_uniforms = || pipelines(device, &SKIN_IN_UNIFORMS);
            (
                pipelines(device, &WEIGHTS),
                pipelines(device, &SKIN),
                limits.in_uniforms.then(in_uniforms),
            )
        })?;
        Ok(Self {
            device: device.clone(),
            queue: queue.clone(),
            limits,
            timestamps: options.timestamps
                && device.features().contains(wgpu::Features::TIMESTAMP_QUERY),
            weights,
            skin,
            skin_in_uniforms,
        })
    }

    /// The device that it was made for.
    #[must_use]
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// That device's queue.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// An empty crowd on this skinner's device.
    #[must_use]
    pub fn crowd(&self) -> Crowd {
        Crowd::new(self)
    }
}

fn pipelines(device: &wgpu::Device, kernel: &Kernel) -> Pipelines {
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
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(&label),
        entries: &entries,
    });
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(&label),
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(&label),
        source: wgpu::ShaderSource::Wgsl(kernel.wgsl.into()),
    });
    let variants = (0..1u32 << kernel.overrides.len())
        .map(|bits| {
            let constants: Vec<(&str, f64)> = kernel
                .overrides
                .iter()
                .enumerate()
                .map(|(i, name)| (*name, f64::from(bits >> i & 1)))
                .collect();
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(&label),
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some(kernel.entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &constants,
                    ..Default::default()
                },
                cache: None,
            })
        })
        .collect();
    Pipelines { layout, variants }
}
