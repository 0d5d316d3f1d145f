//! What this crate needs from a device, and the limits that its work is split to.

use super::error::GpuError;
use crate::kernel::{Access, KERNELS, Kernel, WORKGROUP_SIZE};

/// The smallest binding, in bytes, that work can be split to.
const LEAST_BINDING: u64 = 64 << 10;

/// The limits to open a device with that your renderer draws on and this crate skins on: `yours`,
/// raised where this crate's pipelines need more. What they need is within WebGPU's defaults. They
/// need no features.
///
/// ```
/// let yours = sinew::wgpu::Limits { max_vertex_buffers: 4, ..Default::default() };
/// let limits = sinew::gpu::needed_limits(&yours);
/// assert!(limits.max_storage_buffers_per_shader_stage >= 8 && limits.max_bind_groups >= 4);
/// ```
///
/// With larger bindings and buffers, large crowds need fewer dispatches. Bindings down to 64 KiB
/// work.
#[must_use]
pub fn needed_limits(yours: &wgpu::Limits) -> wgpu::Limits {
    least_limits().or_better_values_from(yours)
}

/// The limits that this crate's pipelines need. All other limits are the lowest that any device
/// has, so that nothing can be drawn on a device with no more.
fn least_limits() -> wgpu::Limits {
    let count = |uniform: bool| {
        let of = |kernel: &&Kernel| {
            let bindings = kernel.bindings.iter();
            bindings
                .filter(|b| (b.access == Access::Uniform) == uniform)
                .count() as u32
        };
        KERNELS.iter().map(of).max().unwrap_or(0)
    };
    let bindings = |kernel: &&Kernel| {
        kernel
            .bindings
            .iter()
            .map(|b| b.index + 1)
            .max()
            .unwrap_or(0)
    };
    let defaults = wgpu::Limits::defaults();
    wgpu::Limits {
        max_bind_groups: 1,
        max_bindings_per_bind_group: KERNELS.iter().map(bindings).max().unwrap_or(0),
        max_storage_buffers_per_shader_stage: count(false),
        max_uniform_buffers_per_shader_stage: count(true),
        max_storage_buffer_binding_size: defaults.max_storage_buffer_binding_size,
        max_buffer_size: defaults.max_buffer_size,
        // bounds.wgsl keeps two vectors of each invocation.
        max_compute_workgroup_storage_size: 2 * 16 * WORKGROUP_SIZE,
        max_compute_invocations_per_workgroup: WORKGROUP_SIZE,
        max_compute_workgroup_size_x: WORKGROUP_SIZE,
        max_compute_workgroup_size_y: 1,
        max_compute_workgroup_size_z: 1,
        max_compute_workgroups_per_dimension: defaults.max_compute_workgroups_per_dimension,
        ..wgpu::Limits::downlevel_webgl2_defaults()
    }
}

/// The usage `BLAS_INPUT` if the device was opened with the feature `EXPERIMENTAL_RAY_QUERY`, and
/// none otherwise: what a crowd's own buffers of positions have besides, and what a host's buffers
/// of positions and indices need so that acceleration structures can be built from them.
#[must_use]
pub fn blas_input(device: &wgpu::Device) -> wgpu::BufferUsages {
    let rays = wgpu::Features::EXPERIMENTAL_RAY_QUERY;
    match device.features().contains(rays) {
        true => wgpu::BufferUsages::BLAS_INPUT,
        false => wgpu::BufferUsages::empty(),
    }
}

/// The features that this crate uses if a device has them: `TIMESTAMP_QUERY`, for
/// [`crate::gpu::Crowd::last_gpu_time`], and `PIPELINE_CACHE`, for
/// [`crate::gpu::SkinnerOptions::pipeline_cache`].
pub fn wanted_features() -> wgpu::Features {
    wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::PIPELINE_CACHE
}

/// Checks that pipelines can be created with these limits. The error names the first limit that is
/// too low.
pub fn check(device: &wgpu::Limits) -> Result<(), GpuError> {
    let least = wgpu::Limits {
        max_storage_buffer_binding_size: LEAST_BINDING as _,
        max_buffer_size: LEAST_BINDING,
        max_compute_workgroups_per_dimension: 1,
        ..least_limits()
    };
    let mut result = Ok(());
    least.check_limits_with_fail_fn(device, true, |name, asked, limit| {
        result = Err(GpuError::limit(name, asked, limit));
    });
    result
}

/// Limits that a skinner splits its work to.
#[derive(Clone, Copy, Debug)]
pub struct WorkLimits {
    /// Largest binding, in bytes.
    pub binding_bytes: u64,
    /// Largest buffer, in bytes.
    pub buffer_bytes: u64,
    /// Largest total size of one crowd's outputs, in bytes.
    pub output_bytes: u64,
    /// Most workgroups in one dimension of a dispatch.
    pub workgroups: u32,
    /// Alignment of any binding's offset.
    pub alignment: u64,
    /// Whether instances may walk lists of only the blend entries that they use.
    pub active_lists: bool,
}

impl WorkLimits {
    /// Binds a buffer from byte `first` on, as far as one binding may reach.
    pub fn window<'a>(&self, buffer: &'a wgpu::Buffer, first: u64) -> wgpu::BindingResource<'a> {
        let size = (buffer.size() - first).min(self.binding_bytes) & !3;
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer,
            offset: first,
            size: wgpu::BufferSize::new(size),
        })
    }
}

/// Default limit of one crowd's outputs, in bytes: 8 GiB, or 4 GiB if the GPU shares memory with
/// the CPU; more if the device allows buffers so large that a few of them hold more. wgpu does not
/// report how much memory an adapter has: <https://github.com/gfx-rs/wgpu/issues/2447>.
pub fn output_bytes_of(adapter: wgpu::DeviceType, largest_buffer: u64) -> u64 {
    let (least, buffers) = match adapter {
        wgpu::DeviceType::IntegratedGpu | wgpu::DeviceType::Cpu => (4 << 30, 2),
        _ => (8 << 30, 4),
    };
    // Some drivers report buffers larger than their memory.
    (largest_buffer.min(4 << 30) * buffers).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_are_within_webgpu() {
        assert!(least_limits().check_limits(&wgpu::Limits::defaults()));
        assert!(check(&wgpu::Limits::defaults()).is_ok());
        assert!(check(&least_limits()).is_ok());
    }

    #[test]
    fn a_device_can_draw_and_skin() {
        let yours = wgpu::Limits {
            max_texture_dimension_2d: 4096,
            max_storage_buffers_per_shader_stage: 1,
            ..wgpu::Limits::downlevel_webgl2_defaults()
        };
        let both = needed_limits(&yours);
        assert!(yours.check_limits(&both) && least_limits().check_limits(&both));
    }

    #[test]
    fn outputs_are_limited_by_the_adapter() {
        use wgpu::DeviceType::{Cpu, DiscreteGpu, IntegratedGpu};
        let of = |adapter, buffer| output_bytes_of(adapter, buffer) >> 30;
        assert_eq!(of(DiscreteGpu, 4 << 30), 16);
        assert_eq!(of(DiscreteGpu, 1 << 52), 16);
        assert_eq!(of(DiscreteGpu, 1 << 28), 8);
        assert_eq!(of(IntegratedGpu, 1 << 52), 8);
        assert_eq!(of(IntegratedGpu, 2 << 30), 4);
        assert_eq!(of(Cpu, 1 << 16), 4);
    }

    #[test]
    fn each_limit_that_is_missing_is_named() {
        macro_rules! refused {
            ($($limit:ident),*) => {$({
                let missing = check(&wgpu::Limits { $limit: 0, ..least_limits() });
                let error = missing.expect_err(stringify!($limit)).to_string();
                assert!(error.starts_with(stringify!($limit)), "{error}");
                assert!(error.ends_with("the limit is 0"), "{error}");
            })*};
        }
        refused!(
            max_storage_buffers_per_shader_stage,
            max_uniform_buffers_per_shader_stage,
            max_compute_invocations_per_workgroup,
            max_compute_workgroup_size_x,
            max_compute_workgroups_per_dimension,
            max_storage_buffer_binding_size,
            max_buffer_size,
            max_bind_groups
        );
    }
}
