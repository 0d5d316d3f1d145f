//! A device with its kernels, and the limits that work is cut to.

use super::error::{alive, guarded};
use super::pipelines::Pipelines;
use super::{Crowd, GpuError, JointPalettes, limits};
use crate::kernel::{Kernel, MULTI_POSE_LBS, POSE_RIG, SKIN, SMOOTH_NORMALS, WEIGHTS};

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
    /// Walk all blend entries of a point every frame, those of shapes without weight too, and make no lists of the others. Results
    /// are the same to the bit; for measuring.
    pub never_active_lists: bool,
    /// Measure GPU times, on a device that was opened with `TIMESTAMP_QUERY`.
    pub timestamps: bool,
    /// Where compiled shaders are kept between runs, on a device that was opened with `PIPELINE_CACHE` (Vulkan). Making
    /// one of bytes that an earlier run saved is `unsafe` in wgpu, which has drivers believe them, so it is left to the
    /// host: `device.create_pipeline_cache` before, `cache.get_data` once pipelines are made. Desktop drivers
    /// keep a cache of their own; those of phones do not.
    pub pipeline_cache: Option<wgpu::PipelineCache>,
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
    /// Instances walk lists of the blend entries that they use.
    pub active_lists: bool,
}

impl Limits {
    /// A buffer from some byte on, as far as a binding reaches.
    pub fn window<'a>(&self, buffer: &'a wgpu::Buffer, first: u64) -> wgpu::BindingResource<'a> {
        let size = (buffer.size() - first).min(self.binding_bytes) & !3;
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer,
            offset: first,
            size: wgpu::BufferSize::new(size),
        })
    }
}

/// Pipelines on one device; a [`Crowd`] holds what they work on. Clones share them, and each variant of a kernel is
/// compiled when a frame needs it first.
#[derive(Clone, Debug)]
pub struct Skinner {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) limits: Limits,
    pub(super) timestamps: bool,
    pub(super) pipeline_cache: Option<wgpu::PipelineCache>,
    pub(super) pose: Pipelines,
    pub(super) weights: Pipelines,
    pub(super) skin: Pipelines,
    /// Plain skins.
    pub(super) plain: Pipelines,
    pub(super) made_normals: Pipelines,
    /// Stand in for output bindings that nothing is written to; no two for one buffer.
    pub(super) unused: [wgpu::Buffer; 4],
}

impl Skinner {
    /// Prepares pipelines on a device of the host's; each is compiled when a frame needs it first. What the device needs is in
    /// [`super::needed_limits`] and [`super::needed_features`]; WebGPU's default limits are enough.
    ///
    /// # Errors
    /// [`GpuError::Limit`] names a limit that is too low; a device that refuses the layouts, or is lost.
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
        let limits = Limits {
            binding_bytes,
            buffer_bytes: of_device.max_buffer_size,
            output_bytes: options.max_output_bytes.unwrap_or(64 << 30),
            workgroups: options
                .max_workgroups_per_dimension
                .unwrap_or(u32::MAX)
                .clamp(1, of_device.max_compute_workgroups_per_dimension),
            alignment: u64::from(alignment),
            active_lists: !options.never_active_lists,
        };
        let cache = options.pipeline_cache.as_ref();
        let of = |kernel: &'static Kernel| Pipelines::new(device, kernel, cache);
        let (weights, skin, made_normals) = (of(&WEIGHTS)?, of(&SKIN)?, of(&SMOOTH_NORMALS)?);
        let plain = of(&MULTI_POSE_LBS)?;
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
            pipeline_cache: options.pipeline_cache.clone(),
            pose: of(&POSE_RIG)?,
            weights,
            skin,
            plain,
            made_normals,
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

    /// Pipelines of skinning and posing that are compiled by now: where a frame made this grow, it took longer than others.
    #[must_use]
    pub fn compiled(&self) -> usize {
        [
            &self.pose,
            &self.weights,
            &self.skin,
            &self.plain,
            &self.made_normals,
        ]
        .into_iter()
        .map(Pipelines::count)
        .sum()
    }

    /// An empty crowd on this skinner's device.
    #[must_use]
    pub fn crowd(&self) -> Crowd {
        Crowd::new(self)
    }

    /// Palettes for a host that skins in a shader of its own.
    ///
    /// # Errors
    /// No memory.
    pub fn joint_palettes(&self) -> Result<JointPalettes, GpuError> {
        JointPalettes::new(self)
    }
}
