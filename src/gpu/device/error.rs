//! Errors of the GPU side.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::error::Invalid;

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
    /// An id of another crowd, or of something that was removed; a ticket of another crowd, or one
    /// whose results were taken.
    #[error("{what} of another crowd, or one that is gone")]
    Foreign {
        /// The kind of thing that it was taken for, such as `a rig`.
        what: String,
    },
    /// Something cannot be removed while something else uses it. Remove those first.
    #[error("{what} cannot be removed: expected no {by} that use it, found {users}")]
    InUse {
        /// The thing that is in use.
        what: String,
        /// The kind of its users: `instances` or `rigs`.
        by: &'static str,
        /// Number of users.
        users: usize,
    },
    /// An instance that is shown has no pose, or its rig has none. Set it, or hide the instance.
    #[error("{what}: expected {expected} before its first frame, found none")]
    NoPose {
        /// The instance or the rig.
        what: String,
        /// What to set.
        expected: &'static str,
    },
    /// Results were asked for before a frame wrote them. Encode and submit a frame.
    #[error("instance {instance}: expected a frame since it was added, found none")]
    NoFrame {
        /// [`crate::gpu::InstanceId::index`] of the instance.
        instance: u32,
    },
    /// The encoder of a reading was dropped. Ask again.
    #[error("a reading: expected its encoder to be submitted, found it dropped")]
    NotSubmitted,
    /// An argument is wrong: a size, a number, a buffer, or a pose that does not fit its skin.
    #[error("{what}: expected {expected}, found {found}")]
    Invalid {
        /// The prim and the argument.
        what: String,
        /// What it has to be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// The host's own function failed, for this instance, while [`crate::gpu::Crowd::update_poses`]
    /// called it; or it made a pose that does not fit the skin.
    #[error("instance {instance}: {text}")]
    Posing {
        /// [`crate::gpu::InstanceId::index`] of the instance.
        instance: u32,
        /// The text of the host's error.
        text: String,
    },
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

impl GpuError {
    pub(in crate::gpu) fn foreign(what: &str) -> Self {
        Self::Foreign { what: what.into() }
    }

    pub(in crate::gpu) fn limit(what: impl Into<String>, asked: u64, limit: u64) -> Self {
        let what = what.into();
        Self::Limit { what, asked, limit }
    }

    pub(in crate::gpu) fn invalid(
        what: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self::Invalid {
            what: what.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }
}

/// A pose, a rig or a palette that does not fit.
impl From<Invalid> for GpuError {
    fn from(wrong: Invalid) -> Self {
        let mut what = wrong.prim;
        if let Some(file) = wrong.file {
            what = format!("{}: {what}", file.display());
        }
        if !wrong.property.is_empty() {
            what = format!("{what}.{}", wrong.property);
        }
        Self::invalid(what, wrong.expected, wrong.found)
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

/// The error for a new buffer that cannot be written to, which only a lost device makes. A browser tells of the loss later,
/// so [`is_lost`] learns of it here.
pub fn lost(device: &wgpu::Device, text: String) -> GpuError {
    #[cfg(target_family = "wasm")]
    LOST.lock()
        .unwrap_or_else(|e| e.into_inner())
        .insert(hash(device));
    let _ = device;
    GpuError::Lost(text)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_named_as_before() {
        let wrong = Invalid::new("/Mesh", "", "3 joints", "2");
        let of_property = Invalid::new("/Mesh", "points", "3 points", "2").in_file("a.usda");
        for wrong in [wrong, of_property] {
            let text = wrong.to_string();
            assert_eq!(GpuError::from(wrong).to_string(), text);
        }
    }
}
