//! Errors of the GPU side.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// An error of the GPU side.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// No adapter fits the choice.
    #[error("no GPU adapter for '{wanted}' (available: {})", list(available))]
    NoAdapter {
        /// The requested adapter, in words.
        wanted: String,
        /// Names of the adapters of this machine.
        available: Vec<String>,
    },
    /// The adapter's driver refused to open a device.
    #[error("the adapter cannot open a device: {0}")]
    NoDevice(String),
    /// Something is larger than this device, or the options, allow.
    #[error("{what}: {asked} requested, the limit is {limit}")]
    Limit {
        /// The thing that is too large.
        what: String,
        /// Its size.
        asked: u64,
        /// The largest allowed.
        limit: u64,
    },
    /// A pose or an id does not belong to the skin, palette or crowd that it is used with.
    #[error("{0}")]
    Mismatch(String),
    /// The device is lost: driver reset, unplugged, destroyed. Nothing on it works any more. Open
    /// another device and recreate crowds with [`crate::gpu::Crowd::rebuild`].
    #[error("the GPU device is lost: {0}")]
    Lost(String),
    /// There is no memory for a buffer. The device and the crowd still work, without that buffer.
    #[error("the GPU is out of memory: {0}")]
    OutOfMemory(String),
    /// The adapter cannot do what was asked for.
    #[error("{0}")]
    Unsupported(String),
    /// As many readings as possible are under way. Take the results of some, or drop their tickets.
    #[error("{0}")]
    Busy(String),
    /// wgpu refused a command, which is a bug in sinew.
    #[error("GPU validation: {0}")]
    Validation(String),
    /// Results could not be mapped for reading.
    #[error("GPU readback: {0}")]
    Readback(String),
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}

/// Never returns [`GpuError::Lost`]: wgpu reports a lost device only to the device's callback.
impl From<wgpu::Error> for GpuError {
    fn from(error: wgpu::Error) -> Self {
        let text = error.to_string();
        match error {
            wgpu::Error::OutOfMemory { .. } => Self::OutOfMemory(text),
            wgpu::Error::Validation { .. } | wgpu::Error::Internal { .. } => Self::Validation(text),
        }
    }
}

/// Runs `f` and catches the errors that it causes on `device`, where wgpu would panic.
///
/// Use it for calls that create something or submit. Recording commands needs no guard, because an
/// encoder reports their errors when it is finished. This never blocks: on native backends error
/// scopes resolve at once. A browser reports errors later, so there this catches none, and they reach
/// the device's callback for uncaptured errors ([`crate::gpu::GpuDevice::check`]).
///
/// # Errors
/// What wgpu reports; [`GpuError::Lost`] if that is validation on a lost device.
pub fn guarded<T>(device: &wgpu::Device, f: impl FnOnce() -> T) -> Result<T, GpuError> {
    if cfg!(target_family = "wasm") {
        return Ok(f());
    }
    match caught(device, f) {
        (out, None) => Ok(out),
        (_, Some(error)) => Err(match error.into() {
            // On a lost device, other errors only follow from the loss.
            GpuError::Validation(text) if is_lost(device) => GpuError::Lost(text),
            error => error,
        }),
    }
}

fn caught<T>(device: &wgpu::Device, f: impl FnOnce() -> T) -> (T, Option<wgpu::Error>) {
    use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
    let scopes = [OutOfMemory, Internal, Validation].map(|filter| device.push_error_scope(filter));
    let out = f();
    let mut first = None;
    // Scopes nest, so the innermost is popped first. If memory is out, that explains the validation
    // errors that follow from it.
    for scope in scopes.into_iter().rev() {
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(Some(error)) = pin!(scope.pop()).poll(&mut context) {
            first = Some(error);
        }
    }
    (out, first)
}

/// Whether a device is lost. WebGPU reports no errors on a lost device
/// (<https://github.com/gpuweb/gpuweb/issues/4017>), so this tries to write to a
/// new buffer, which fails only on a lost device. The callback for lost devices would be simpler,
/// but there is only one, and it is the host's.
#[cfg(not(target_family = "wasm"))]
pub fn is_lost(device: &wgpu::Device) -> bool {
    let ask = || {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("sinew.is_lost"),
            size: 4,
            usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        })
    };
    let (answer, error) = caught(device, ask);
    error.is_none() && answer.slice(..).get_mapped_range_mut().is_err()
}

/// Lets [`is_lost`] know when a device is lost.
#[cfg(not(target_family = "wasm"))]
pub fn watch(_: &wgpu::Device) {}

/// The devices that are lost, by their hashes: a device itself would keep the browser's.
#[cfg(target_family = "wasm")]
static LOST: std::sync::Mutex<std::collections::BTreeSet<u64>> =
    std::sync::Mutex::new(std::collections::BTreeSet::new());

#[cfg(target_family = "wasm")]
fn hash(device: &wgpu::Device) -> u64 {
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
    BuildHasherDefault::<DefaultHasher>::default().hash_one(device)
}

/// Lets [`is_lost`] know when a device is lost. A browser's device has any number of callbacks, so
/// this replaces none of the host's.
#[cfg(target_family = "wasm")]
pub fn watch(device: &wgpu::Device) {
    let hash = hash(device);
    device.set_device_lost_callback(move |_, _| {
        LOST.lock().unwrap_or_else(|e| e.into_inner()).insert(hash);
    });
}

/// Whether the browser has told that a device is lost, if it is watched.
#[cfg(target_family = "wasm")]
pub fn is_lost(device: &wgpu::Device) -> bool {
    let lost = LOST.lock().unwrap_or_else(|e| e.into_inner());
    lost.contains(&hash(device))
}

/// The error for something that could not be read: [`GpuError::Lost`] if the device is lost.
pub fn failure(device: &wgpu::Device, text: String) -> GpuError {
    match is_lost(device) {
        true => GpuError::Lost(text),
        false => GpuError::Readback(text),
    }
}

/// Fails if the device is lost.
pub fn alive(device: &wgpu::Device) -> Result<(), GpuError> {
    match is_lost(device) {
        true => Err(GpuError::Lost("the device is gone".into())),
        false => Ok(()),
    }
}
