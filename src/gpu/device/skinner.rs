//! A device with its pipelines, and the limits that its work is split to.

use std::sync::Arc;

use super::error::{GpuError, alive, guarded, watch};
use super::limits::{self, WorkLimits};
use super::pipelines::Pipelines;
use crate::kernel::{KERNELS, Kernel};

/// How a [`Skinner`] uses its device.
///
/// ```
/// let mut options = sinew::gpu::SkinnerOptions::default();
/// options.max_output_bytes = Some(1 << 30);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkinnerOptions {
    /// Largest binding in bytes, if it should be less than the device's own limit.
    pub max_binding_bytes: Option<u64>,
    /// Largest number of workgroups in one dimension of a dispatch, if it should be less than the
    /// device's own limit.
    pub max_workgroups_per_dimension: Option<u32>,
    /// Largest total size of one crowd's outputs, in bytes. Adding more instances is an error
    /// before anything is allocated. The default is 8 GiB, or 4 GiB if the GPU shares memory with
    /// the CPU, or up to twice that on a device with buffers of 4 GiB. wgpu does not report how
    /// much memory there is.
    pub max_output_bytes: Option<u64>,
    /// Lets every instance walk all blend entries of its skin in every frame, including those of
    /// shapes without weight. Results are the same to the bit. For measuring.
    pub never_active_lists: bool,
    /// Measure GPU times, on a device that was opened with `TIMESTAMP_QUERY`. No effect on a
    /// software adapter: see [`crate::gpu::Crowd::last_gpu_time`].
    pub timestamps: bool,
    /// A cache for compiled shaders that outlives the process, on a device that was opened with
    /// `PIPELINE_CACHE` (Vulkan). The host creates it with `device.create_pipeline_cache` and saves
    /// `cache.get_data` after pipelines were compiled. Creating it is `unsafe` in wgpu, because
    /// drivers trust the saved bytes; so sinew leaves it to the host. Desktop drivers have a cache
    /// of their own; drivers of phones do not.
    pub pipeline_cache: Option<wgpu::PipelineCache>,
}

/// Compiles the pipelines on one device and shares them between its clones. A [`crate::gpu::Crowd`]
/// holds the data that they work on. Each pipeline is compiled when a frame first needs it, or
/// before that by [`Skinner::prewarm`].
#[derive(Clone, Debug)]
pub struct Skinner {
    pub(in crate::gpu) device: wgpu::Device,
    pub(in crate::gpu) queue: wgpu::Queue,
    pub(in crate::gpu) limits: WorkLimits,
    pub(in crate::gpu) timestamps: bool,
    /// The pipelines of every kernel.
    pipelines: Arc<Vec<Pipelines>>,
    /// Buffers that are bound where a kernel reads and writes nothing. A dispatch may bind the first
    /// as input and the second as output.
    pub(in crate::gpu) unused: [wgpu::Buffer; 2],
}

impl Skinner {
    /// Creates a skinner on the host's device. The device needs no features, and the limits of
    /// [`crate::gpu::needed_limits`]; WebGPU's default limits are enough.
    ///
    /// Pipelines are compiled later, when a frame first needs them.
    ///
    /// # Errors
    /// [`GpuError::Limit`] names a limit that is too low; [`GpuError::Validation`] if the device
    /// refuses the layouts; [`GpuError::Lost`].
    pub fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        options: &SkinnerOptions,
    ) -> Result<Self, GpuError> {
        let of_device = device.limits();
        limits::check(&of_device)?;
        watch(device);
        alive(device)?;
        #[allow(clippy::unnecessary_cast, reason = "u32 or u64, by wgpu's version")]
        let binding = of_device.max_storage_buffer_binding_size as u64;
        let alignment = of_device
            .min_storage_buffer_offset_alignment
            .max(of_device.min_uniform_buffer_offset_alignment)
            .max(16);
        // Some backends count a shader's bytes in 32 bits.
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
            [(); 2].map(|()| {
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
            timestamps: options.timestamps && measures_passes(device),
            pipelines: Arc::new(pipelines),
            unused,
        })
    }

    /// The device that the skinner uses.
    #[must_use]
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// The queue of that device.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// Number of compiled pipelines. If a frame increases it, that frame took longer than others.
    #[must_use]
    pub fn compiled(&self) -> usize {
        self.pipelines.iter().map(Pipelines::count).sum()
    }

    /// The pipelines of a kernel.
    pub(in crate::gpu) fn pipelines(&self, kernel: &Kernel) -> &Pipelines {
        let mut all = self.pipelines.iter();
        let found = all.find(|pipelines| pipelines.kernel.name == kernel.name);
        found.expect("every kernel has its pipelines")
    }
}

/// Whether the timestamps of a device measure compute passes. Those of software adapters do not:
/// Mesa's lavapipe writes them when it next draws, long after the pass, once anything was drawn on
/// the device.
fn measures_passes(device: &wgpu::Device) -> bool {
    device.features().contains(wgpu::Features::TIMESTAMP_QUERY)
        && device.adapter_info().device_type != wgpu::DeviceType::Cpu
}
