//! Adapters, and a headless device where no renderer brings one.

use std::sync::{Arc, Mutex};

use super::GpuError;

/// Which adapter to take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AdapterChoice {
    /// A hardware adapter, a discrete one first. Software adapters are slower than the CPU backend,
    /// so they are taken only when asked for; without hardware this fails.
    #[default]
    Auto,
    /// The same, in so many words.
    Hardware,
    /// The first adapter whose name contains this text, upper or lower case, software or not.
    Named(String),
    /// Hardware where there is some, else a software adapter.
    Any,
}

/// What is known about an adapter.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AdapterReport {
    /// Name, such as `NVIDIA H100`.
    pub name: String,
    /// `vulkan`, `metal`, `dx12`.
    pub backend: String,
    /// `DiscreteGpu`, `IntegratedGpu`, `VirtualGpu`, `Cpu` or `Other`.
    pub device_type: String,
    /// Driver and its version.
    pub driver: String,
    /// Runs on the CPU.
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
}

/// Every adapter of this machine, none without a driver.
#[must_use]
pub fn list_adapters() -> Vec<AdapterReport> {
    adapters()
        .iter()
        .map(|a| AdapterReport::new(&a.get_info()))
        .collect()
}

/// The adapter that [`AdapterChoice::Auto`] takes of a list, if any.
#[must_use]
pub fn auto_adapter(adapters: &[AdapterReport]) -> Option<&AdapterReport> {
    let kinds = ["DiscreteGpu", "IntegratedGpu", "VirtualGpu", "Other"];
    let rank = |a: &AdapterReport| kinds.iter().position(|k| *k == a.device_type);
    adapters
        .iter()
        .filter(|a| !a.software && rank(a).is_some())
        .min_by_key(|a| rank(a))
}

fn adapters() -> Vec<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY))
}

/// A device without a window.
#[derive(Debug)]
pub struct GpuDevice {
    device: wgpu::Device,
    queue: wgpu::Queue,
    report: AdapterReport,
    fault: Arc<Mutex<Option<GpuError>>>,
}

impl GpuDevice {
    /// Opens a device with the adapter's own limits, and timestamps where it has them.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`] where none answers the choice, [`GpuError::NoDevice`] where the
    /// adapter gives none.
    pub fn new(choice: &AdapterChoice) -> Result<Self, GpuError> {
        let adapters = adapters();
        let rank = |kind: wgpu::DeviceType| match kind {
            wgpu::DeviceType::DiscreteGpu => 0,
            wgpu::DeviceType::IntegratedGpu => 1,
            wgpu::DeviceType::VirtualGpu => 2,
            wgpu::DeviceType::Other => 3,
            wgpu::DeviceType::Cpu => 4,
        };
        let fits = |info: &wgpu::AdapterInfo| match choice {
            AdapterChoice::Auto | AdapterChoice::Hardware => {
                info.device_type != wgpu::DeviceType::Cpu
            }
            AdapterChoice::Named(name) => info.name.to_lowercase().contains(&name.to_lowercase()),
            AdapterChoice::Any => true,
        };
        let adapter = adapters
            .iter()
            .filter(|a| fits(&a.get_info()))
            .min_by_key(|a| rank(a.get_info().device_type))
            .ok_or_else(|| GpuError::NoAdapter {
                wanted: match choice {
                    AdapterChoice::Auto | AdapterChoice::Hardware => "a hardware adapter".into(),
                    AdapterChoice::Named(name) => name.clone(),
                    AdapterChoice::Any => "any adapter".into(),
                },
                available: adapters.iter().map(|a| a.get_info().name).collect(),
            })?;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("sinew"),
            required_features: adapter.features() & super::wanted_features(),
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|error| GpuError::NoDevice(error.to_string()))?;

        let fault = Arc::new(Mutex::new(None));
        let keep = |fault: &Arc<Mutex<Option<GpuError>>>| {
            let fault = Arc::clone(fault);
            move |error: GpuError| {
                log::error!("{error}");
                if let Ok(mut slot) = fault.lock() {
                    slot.get_or_insert(error);
                }
            }
        };
        let uncaptured = keep(&fault);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| uncaptured(error.into())));
        let lost = keep(&fault);
        device.set_device_lost_callback(move |reason, text| {
            // Dropping the device is no loss.
            if reason != wgpu::DeviceLostReason::Destroyed {
                lost(GpuError::Lost(text));
            }
        });
        Ok(Self {
            device,
            queue,
            report: AdapterReport::new(&adapter.get_info()),
            fault,
        })
    }

    /// wgpu's device.
    #[must_use]
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// wgpu's queue.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// Which adapter this is.
    #[must_use]
    pub fn report(&self) -> &AdapterReport {
        &self.report
    }

    /// The first failure that no call could return by itself.
    ///
    /// # Errors
    /// That failure.
    pub fn check(&self) -> Result<(), GpuError> {
        match self.fault.lock() {
            Ok(slot) => slot.clone().map_or(Ok(()), Err),
            Err(_) => Err(GpuError::Lost("a driver callback failed".into())),
        }
    }
}
