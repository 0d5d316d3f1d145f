//! The pipelines of one kernel, by variant.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::{GpuError, guarded};
use crate::kernel::{Access, Binding, KERNELS, Kernel};

/// The most numeric overrides of a kernel.
const NUMBERS: usize = {
    let (mut most, mut i) = (0, 0);
    while i < KERNELS.len() {
        let count = KERNELS[i].numbers.len();
        most = if count > most { count } else { most };
        i += 1;
    }
    most
};

/// A bit if it is set, or none.
pub fn bit_if<T: Default>(is_set: bool, bit: T) -> T {
    if is_set { bit } else { T::default() }
}

/// The override constants of a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The kernel's boolean overrides: the first is bit 0.
    pub bits: usize,
    /// The kernel's numeric overrides: the output binding of each kind of result, and counts.
    pub numbers: [u8; NUMBERS],
}

impl Variant {
    /// A variant with these numbers, in the order of the kernel's.
    pub fn with<const N: usize>(bits: usize, numbers: [u8; N]) -> Self {
        let mut out = Self {
            bits,
            ..Self::default()
        };
        out.numbers[..N].copy_from_slice(&numbers);
        out
    }
}

/// A pipeline that frames may need: a kernel with its override constants.
#[derive(Clone, Copy, Debug)]
pub struct PipelineVariant {
    pub(in crate::gpu) kernel: &'static Kernel,
    pub(in crate::gpu) variant: Variant,
}

impl PartialEq for PipelineVariant {
    fn eq(&self, other: &Self) -> bool {
        (self.kernel.name, self.variant) == (other.kernel.name, other.variant)
    }
}

/// The layout and the pipelines of one kernel. Its shader module and each pipeline are compiled on
/// first use.
#[derive(Debug)]
pub struct Pipelines {
    pub layout: wgpu::BindGroupLayout,
    pub kernel: &'static Kernel,
    pipeline_layout: wgpu::PipelineLayout,
    cache: Option<wgpu::PipelineCache>,
    made: Mutex<Made>,
}

#[derive(Debug, Default)]
struct Made {
    module: Option<wgpu::ShaderModule>,
    variants: HashMap<Variant, wgpu::ComputePipeline>,
}

impl Binding {
    /// Its entry in a bind group layout.
    fn layout_entry(&self) -> wgpu::BindGroupLayoutEntry {
        wgpu::BindGroupLayoutEntry {
            binding: self.index,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: match self.access {
                    Access::Uniform => wgpu::BufferBindingType::Uniform,
                    access => wgpu::BufferBindingType::Storage {
                        read_only: access == Access::Read,
                    },
                },
                // The record of a dispatch. A driver may hold few bind groups (Mesa 26's lavapipe maps
                // memory for each), so dispatches of one table share theirs.
                has_dynamic_offset: self.index == 0,
                min_binding_size: wgpu::BufferSize::new(self.min_bytes),
            },
            count: None,
        }
    }
}

impl Pipelines {
    /// Creates the layout and compiles nothing yet.
    pub fn new(
        device: &wgpu::Device,
        kernel: &'static Kernel,
        cache: Option<&wgpu::PipelineCache>,
    ) -> Result<Self, GpuError> {
        let entries: Vec<_> = kernel.bindings.iter().map(Binding::layout_entry).collect();
        let label = format!("sinew.{}", kernel.name);
        guarded(device, || {
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
                layout,
                kernel,
                cache: cache.cloned(),
                made: Mutex::default(),
            }
        })
    }

    /// Number of variants that are compiled.
    pub fn count(&self) -> usize {
        self.lock().variants.len()
    }

    fn lock(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn module(&self, device: &wgpu::Device) -> Result<wgpu::ShaderModule, GpuError> {
        if let Some(module) = &self.lock().module {
            return Ok(module.clone());
        }
        let label = format!("sinew.{}", self.kernel.name);
        let module = guarded(device, || {
            device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(&label),
                source: wgpu::ShaderSource::Wgsl(self.kernel.source().into()),
            })
        })?;
        self.lock().module = Some(module.clone());
        Ok(module)
    }

    /// Returns the pipeline of a variant. Compiles it on first use.
    pub fn get(
        &self,
        device: &wgpu::Device,
        variant: Variant,
    ) -> Result<wgpu::ComputePipeline, GpuError> {
        if let Some(pipeline) = self.lock().variants.get(&variant) {
            return Ok(pipeline.clone());
        }
        let module = self.module(device)?;
        let overrides = self.kernel.overrides.iter().enumerate();
        let numbers = self.kernel.numbers.iter().zip(variant.numbers);
        let constants: Vec<(&str, f64)> = overrides
            .map(|(i, name)| (*name, f64::from((variant.bits >> i & 1) as u8)))
            .chain(numbers.map(|(name, number)| (*name, f64::from(number))))
            .collect();
        let pipeline = guarded(device, || {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(self.kernel.name),
                layout: Some(&self.pipeline_layout),
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &constants,
                    ..Default::default()
                },
                cache: self.cache.as_ref(),
            })
        })?;
        self.lock().variants.insert(variant, pipeline.clone());
        Ok(pipeline)
    }
}
