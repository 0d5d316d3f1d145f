//! One GPU device for a whole test binary, software adapters included.

use std::sync::OnceLock;

use sinew::gpu::{AdapterChoice, GpuDevice, GpuError};

/// Set to 1 where a machine is known to have no Vulkan driver at all.
const NO_GPU: &str = "SINEW_NO_GPU";

/// Whether GPU trials are to be shown as ignored; prints why.
pub fn ignored() -> bool {
    let ignored = std::env::var(NO_GPU).is_ok_and(|v| v == "1");
    if ignored {
        eprintln!("GPU trials are ignored because {NO_GPU}=1");
    }
    ignored
}

/// The shared device. Without an adapter every GPU trial fails, so that none passes in silence.
pub fn device() -> Result<&'static GpuDevice, String> {
    static DEVICE: OnceLock<Result<GpuDevice, GpuError>> = OnceLock::new();
    DEVICE
        .get_or_init(|| GpuDevice::new(&AdapterChoice::Any))
        .as_ref()
        .map_err(|e| format!("{e}; set {NO_GPU}=1 to leave GPU trials out"))
}

/// A device as a host of WebGPU's default limits opens it, no feature asked for.
pub fn default_device() -> Result<&'static (wgpu::Device, wgpu::Queue), String> {
    static DEVICE: OnceLock<Result<(wgpu::Device, wgpu::Queue), String>> = OnceLock::new();
    DEVICE
        .get_or_init(|| device_with(wgpu::Limits::default()))
        .as_ref()
        .map_err(Clone::clone)
}

/// A device of its own with these limits and no more.
pub fn device_with(limits: wgpu::Limits) -> Result<(wgpu::Device, wgpu::Queue), String> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))
        .map_err(|e| format!("{e}; set {NO_GPU}=1 to leave GPU trials out"))?;
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("test"),
        required_limits: limits.clone(),
        ..Default::default()
    };
    let made =
        pollster::block_on(adapter.request_device(&descriptor)).map_err(|e| e.to_string())?;
    if made.0.limits() != limits {
        return Err("the device has other limits than asked for".into());
    }
    Ok(made)
}
