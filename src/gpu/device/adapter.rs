//! Adapters, and a headless device for hosts without a renderer.

use std::sync::{Arc, Mutex};

use super::error::GpuError;
use super::limits::wanted_features;
use super::waiting::block_on;

/// The adapter that [`GpuDevice::new`] opens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AdapterChoice {
    /// A hardware adapter, a discrete one first. An error if there is none: software adapters are
    /// slower than the CPU backend, so they are used only on request.
    #[default]
    Hardware,
    /// The first adapter, hardware or software, whose name contains this text. Case does not
    /// matter.
    Named(String),
    /// A hardware adapter if there is one, else a software adapter.
    Any,
}

/// Describes an adapter.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct AdapterReport {
    /// Name, such as `NVIDIA H100`.
    pub name: String,
    /// `vulkan`, `metal`, `dx12`.
    pub backend: String,
    /// `DiscreteGpu`, `IntegratedGpu`, `VirtualGpu`, `Cpu` or `Other`.
    pub device_type: String,
    /// Driver and its version.
    pub driver: String,
    /// Whether it runs on the CPU.
    pub software: bool,
}

impl AdapterReport {
    fn new(info: &wgpu::AdapterInfo) -> Self {
        Self {
            name: info.name.clone(),
            backend: info.backend.to_string(),
            device_type: format!("{:?}", info.device_type),
            driver: format!("{} {}", info.driver, info.driver_info)
                .trim()
                .to_owned(),
            software: info.device_type == wgpu::DeviceType::Cpu,
        }
    }

    /// Lists every adapter of this machine. The list is empty without a driver. A browser has one
    /// at most, and tells little about it: [`GpuDevice::report`].
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub fn list() -> Vec<Self> {
        let adapters = block_on(adapters()).unwrap_or_default();
        adapters.iter().map(|a| Self::new(&a.get_info())).collect()
    }

    /// The adapter that [`AdapterChoice::Hardware`] takes from a list; `None` if all are software.
    #[must_use]
    pub fn hardware(adapters: &[Self]) -> Option<&Self> {
        let rank = |a: &Self| {
            RANKED
                .iter()
                .position(|k| format!("{k:?}") == a.device_type)
        };
        let ranked = adapters.iter().filter(|a| !a.software && rank(a).is_some());
        ranked.min_by_key(|a| rank(a))
    }
}

/// Kinds of adapters, the preferred one first.
const RANKED: [wgpu::DeviceType; 5] = [
    wgpu::DeviceType::DiscreteGpu,
    wgpu::DeviceType::IntegratedGpu,
    wgpu::DeviceType::VirtualGpu,
    wgpu::DeviceType::Other,
    wgpu::DeviceType::Cpu,
];

/// Percentage of the driver's memory budget beyond which creating a buffer fails as out of memory,
/// while the device still works.
const MEMORY_BUDGET: u8 = 95;

async fn adapters() -> Vec<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.memory_budget_thresholds.for_resource_creation = Some(MEMORY_BUDGET);
    let instance = wgpu::Instance::new(descriptor);
    instance.enumerate_adapters(wgpu::Backends::PRIMARY).await
}

/// A device without a window, for hosts that have no renderer.
///
/// A page awaits [`GpuDevice::open`]; a native host may call [`GpuDevice::new`].
#[derive(Debug)]
pub struct GpuDevice {
    adapter: wgpu::Adapter,
    device: wgpu::Device,
    queue: wgpu::Queue,
    report: AdapterReport,
    fault: Arc<Mutex<Option<GpuError>>>,
}

impl GpuDevice {
    /// Opens a device: the blocking form of [`GpuDevice::open`], for native hosts.
    ///
    /// # Errors
    /// As [`GpuDevice::open`]; in a browser, as [`crate::gpu::wait_for`].
    pub fn new(choice: &AdapterChoice) -> Result<Self, GpuError> {
        block_on(Self::open(choice))?
    }

    /// Opens a device with the adapter's own limits, and with timestamps if the adapter has them.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`] if no adapter fits the choice; [`GpuError::NoDevice`] if the
    /// adapter's driver refuses to open a device.
    pub async fn open(choice: &AdapterChoice) -> Result<Self, GpuError> {
        let adapters = adapters().await;
        let rank = |kind: wgpu::DeviceType| RANKED.iter().position(|other| *other == kind);
        let fits = |info: &wgpu::AdapterInfo| match choice {
            AdapterChoice::Hardware => info.device_type != wgpu::DeviceType::Cpu,
            AdapterChoice::Named(name) => info.name.to_lowercase().contains(&name.to_lowercase()),
            AdapterChoice::Any => true,
        };
        let adapter = adapters
            .iter()
            .filter(|a| fits(&a.get_info()))
            .min_by_key(|a| rank(a.get_info().device_type))
            .ok_or_else(|| GpuError::NoAdapter {
                wanted: match choice {
                    AdapterChoice::Hardware => "a hardware adapter".into(),
                    AdapterChoice::Named(name) => name.clone(),
                    AdapterChoice::Any => "any adapter".into(),
                },
                available: adapters.iter().map(|a| a.get_info().name).collect(),
            })?;
        let features = adapter.features() & wanted_features();
        Self::request(adapter.clone(), features, adapter.limits()).await
    }

    /// Opens another device: the blocking form of [`GpuDevice::open_another`], for native hosts.
    ///
    /// # Errors
    /// As [`GpuDevice::open_another`]; in a browser, as [`crate::gpu::wait_for`].
    pub fn another(&self, limits: wgpu::Limits) -> Result<Self, GpuError> {
        block_on(self.open_another(limits))?
    }

    /// Opens another device on the same adapter, with these limits and without features. A host with
    /// WebGPU's default limits has such a device.
    ///
    /// # Errors
    /// [`GpuError::NoDevice`] if the driver refuses to open a device, for example because the
    /// adapter's limits are lower.
    pub async fn open_another(&self, limits: wgpu::Limits) -> Result<Self, GpuError> {
        // A browser's adapter opens one device only: https://github.com/gfx-rs/wgpu/pull/5764.
        let fresh = match cfg!(target_family = "wasm") {
            true => adapters().await.pop(),
            false => None,
        };
        let adapter = fresh.unwrap_or_else(|| self.adapter.clone());
        Self::request(adapter, wgpu::Features::empty(), limits).await
    }

    async fn request(
        adapter: wgpu::Adapter,
        features: wgpu::Features,
        limits: wgpu::Limits,
    ) -> Result<Self, GpuError> {
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("sinew"),
            required_features: features,
            required_limits: limits,
            ..Default::default()
        };
        let opened = adapter.request_device(&descriptor).await;
        let (device, queue) = opened.map_err(|error| GpuError::NoDevice(error.to_string()))?;

        let fault = Arc::new(Mutex::new(None));
        let keep = |fault: &Arc<Mutex<Option<GpuError>>>| {
            let fault = Arc::clone(fault);
            move |error: GpuError| {
                log::error!("{error}");
                if let Ok(mut first) = fault.lock() {
                    first.get_or_insert(error);
                }
            }
        };
        let uncaptured = keep(&fault);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| uncaptured(error.into())));
        let lost = keep(&fault);
        device.set_device_lost_callback(move |reason, text| {
            // Dropping a device is not losing it.
            if reason != wgpu::DeviceLostReason::Destroyed {
                lost(GpuError::Lost(text));
            }
        });
        Ok(Self {
            device,
            queue,
            report: AdapterReport::new(&adapter.get_info()),
            adapter,
            fault,
        })
    }

    /// Returns wgpu's device.
    #[must_use]
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// Returns wgpu's queue.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// Describes the adapter.
    #[must_use]
    pub fn report(&self) -> &AdapterReport {
        &self.report
    }

    /// Returns the first error that wgpu reported to a callback only: a lost device, or an error
    /// outside of any call of this crate.
    ///
    /// # Errors
    /// That failure.
    pub fn check(&self) -> Result<(), GpuError> {
        match self.fault.lock() {
            Ok(first) => first.clone().map_or(Ok(()), Err),
            Err(_) => Err(GpuError::Lost("a driver callback failed".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::guarded;
    use super::*;

    #[test]
    fn out_of_memory_is_reported_rather_than_what_follows_from_it() {
        // A machine without a driver has no memory to exhaust.
        let Ok(gpu) = GpuDevice::new(&AdapterChoice::Any) else {
            return;
        };
        let edge = gpu.device().limits().max_texture_dimension_3d.min(2048);
        let made = guarded(gpu.device(), || {
            let texture = gpu.device().create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d {
                    width: edge,
                    height: edge,
                    depth_or_array_layers: edge,
                },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D3,
                format: wgpu::TextureFormat::Rgba32Float,
                usage: wgpu::TextureUsages::TEXTURE_BINDING,
                view_formats: &[],
            });
            drop(texture.create_view(&Default::default()));
        });
        match made {
            Err(GpuError::OutOfMemory(_)) => {}
            other => panic!("128 GiB of texture: {other:?}"),
        }
    }
}
