//! A device with its pipelines, and the limits that work is cut to.

use std::sync::Arc;

use super::error::{GpuError, alive, guarded};
use super::limits::{self, WorkLimits};
use super::pipelines::{PipelineVariant, Pipelines};
use crate::kernel::{KERNELS, Kernel};

/// How a [`Skinner`] uses its device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkinnerOptions {
    /// Largest binding in bytes, where less than the device's own limit is wanted.
    pub max_binding_bytes: Option<u64>,
    /// Most workgroups in one dimension, likewise.
    pub max_workgroups_per_dimension: Option<u32>,
    /// Most bytes of one crowd's outputs: adding more instances than that is an error before
    /// anything is allocated. By default 8 GiB, or 4 GiB if the GPU shares memory with the CPU, or
    /// up to twice that on a device with buffers of 4 GiB, because wgpu does not tell how much
    /// memory there is.
    pub max_output_bytes: Option<u64>,
    /// Walk all blend entries of a point every frame, those of shapes without weight too, and make
    /// no lists of the others. Results are the same to the bit; for measuring.
    pub never_active_lists: bool,
    /// Measure GPU times, on a device that was opened with `TIMESTAMP_QUERY`.
    pub timestamps: bool,
    /// Where compiled shaders are kept between runs, on a device that was opened with
    /// `PIPELINE_CACHE` (Vulkan). Making one of bytes that an earlier run saved is `unsafe` in
    /// wgpu, which has drivers believe them, so it is left to the host:
    /// `device.create_pipeline_cache` before, `cache.get_data` once pipelines are made. Desktop
    /// drivers keep a cache of their own; those of phones do not.
    pub pipeline_cache: Option<wgpu::PipelineCache>,
}

/// Pipelines on one device; a [`crate::gpu::Crowd`] holds what they work on. Clones share them.
/// Each variant of a kernel is compiled when a frame needs it first, or ahead by
/// [`Skinner::prewarm`].
#[derive(Clone, Debug)]
pub struct Skinner {
    pub(in crate::gpu) device: wgpu::Device,
    pub(in crate::gpu) queue: wgpu::Queue,
    pub(in crate::gpu) limits: WorkLimits,
    pub(in crate::gpu) timestamps: bool,
    /// Of every kernel.
    pipelines: Arc<Vec<Pipelines>>,
    /// Bound as outputs that nothing is written to; no two bindings share one.
    pub(in crate::gpu) unused: [wgpu::Buffer; 4],
}

impl Skinner {
    /// Prepares pipelines on a device of the host's; each is compiled when a frame needs it first.
    /// What the device needs is in [`super::needed_limits`] and [`super::needed_features`];
    /// WebGPU's default limits are enough.
    ///
    /// # Errors
    /// [`GpuError::Limit`] names a limit that is too low; a device that refuses the layouts, or is
    /// lost.
    pub fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        options: &SkinnerOptions,
    ) -> Result<Self, GpuError> {
        let of_device = device.limits();
        limits::check(&of_device)?;
        alive(device)?;
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
        let limits = WorkLimits {
            binding_bytes,
            buffer_bytes: of_device.max_buffer_size,
            output_bytes: options.max_output_bytes.unwrap_or_else(|| {
                let adapter = device.adapter_info().device_type;
                limits::output_bytes_of(adapter, of_device.max_buffer_size)
            }),
            workgroups: options
                .max_workgroups_per_dimension
                .unwrap_or(u32::MAX)
                .clamp(1, of_device.max_compute_workgroups_per_dimension),
            alignment: u64::from(alignment),
            active_lists: !options.never_active_lists,
        };
        let cache = options.pipeline_cache.as_ref();
        let pipelines = KERNELS
            .iter()
            .map(|kernel| Pipelines::new(device, kernel, cache))
            .collect::<Result<_, _>>()?;
        let unused = guarded(device, || {
            [(); 4].map(|()| {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("sinew.unused"),
                    size: 16,
                    usage: wgpu::BufferUsages::STORAGE,
                    mapped_at_creation: false,
                })
            })
        })?;
        Ok(Self {
            device: device.clone(),
            queue: queue.clone(),
            limits,
            timestamps: options.timestamps
                && device.features().contains(wgpu::Features::TIMESTAMP_QUERY),
            pipelines: Arc::new(pipelines),
            unused,
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

    /// Number of pipelines that are compiled. A frame that made it grow took longer than others.
    #[must_use]
    pub fn compiled(&self) -> usize {
        self.pipelines.iter().map(Pipelines::count).sum()
    }

    /// Compiles pipelines ahead, so that no frame waits for them; [`crate::gpu::pipeline_variants`]
    /// lists those of a skin. Those that are compiled already cost nothing.
    ///
    /// ```no_run
    /// # fn load(skinner: &sinew::gpu::Skinner, skin: &sinew::kernel::PackedSkin) -> Result<(), sinew::gpu::GpuError> {
    /// use sinew::gpu::{OutputTarget, Prewarm, pipeline_variants};
    ///
    /// skinner.prewarm(&pipeline_variants(skin, &OutputTarget::default(), Prewarm::default()))
    /// # }
    /// ```
    ///
    /// # Errors
    /// A pipeline that the driver refuses; no memory.
    pub fn prewarm(&self, variants: &[PipelineVariant]) -> Result<(), GpuError> {
        for wanted in variants {
            let pipelines = self.pipelines(wanted.kernel);
            pipelines.get(&self.device, wanted.variant)?;
        }
        Ok(())
    }

    /// The pipelines of a kernel.
    pub(in crate::gpu) fn pipelines(&self, kernel: &Kernel) -> &Pipelines {
        let mut all = self.pipelines.iter();
        let found = all.find(|pipelines| pipelines.kernel.name == kernel.name);
        found.expect("every kernel has its pipelines")
    }
}
