//! What can go wrong on the GPU side.

/// A failure of the GPU side. None of these panics.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// No adapter answers the wish.
    #[error("no GPU adapter for '{wanted}' (available: {})", list(available))]
    NoAdapter {
        /// The wish, in words.
        wanted: String,
        /// Names of the adapters that are there.
        available: Vec<String>,
    },
    /// The adapter gave no device.
    #[error("the adapter gives no device: {0}")]
    NoDevice(String),
    /// Something is larger than this device (or the options) allow.
    #[error("{what}: {asked} asked for, the limit is {limit}")]
    Limit {
        /// What is too large.
        what: String,
        /// Its size.
        asked: u64,
        /// The largest allowed.
        limit: u64,
    },
    /// A pose or an id that does not belong to what it is given to.
    #[error("{0}")]
    Mismatch(String),
    /// The device is lost: driver reset, unplugged, destroyed. Nothing on it works any more; open another and
    /// make crowds again with [`super::Crowd::rebuild`].
    #[error("the GPU device is lost: {0}")]
    Lost(String),
    /// No memory for a buffer. The device goes on, and so does the crowd, without what was asked for.
    #[error("the GPU is out of memory: {0}")]
    OutOfMemory(String),
    /// As many readings as there may be are under way; take some, or drop their tickets.
    #[error("{0}")]
    Busy(String),
    /// wgpu refused a command. A bug of sinew's.
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

impl From<wgpu::Error> for GpuError {
    fn from(error: wgpu::Error) -> Self {
        let text = error.to_string();
        match error {
            wgpu::Error::OutOfMemory { .. } => Self::OutOfMemory(text),
            _ if text.to_lowercase().contains("lost") => Self::Lost(text),
            _ => Self::Validation(text),
        }
    }
}

/// Runs `f` with this thread's errors of `device` caught, in place of wgpu's panic. Scopes resolve
/// at once on native backends, so nothing blocks.
pub fn guarded<T>(device: &wgpu::Device, f: impl FnOnce() -> T) -> Result<T, GpuError> {
    match caught(device, f) {
        (out, None) => Ok(out),
        (_, Some(error)) => Err(match error.into() {
            // On a lost device everything else is wrong as well.
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
    // The innermost scope first, as scopes nest. What is out of memory counts over what refuses a texture for lack of it.
    for scope in scopes.into_iter().rev() {
        first = pollster::block_on(scope.pop()).or(first);
    }
    (out, first)
}

/// Whether a device is lost. wgpu reports no errors of such a one, but its buffers cannot be written.
pub(super) fn is_lost(device: &wgpu::Device) -> bool {
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

/// An error where the device is lost.
pub(super) fn alive(device: &wgpu::Device) -> Result<(), GpuError> {
    match is_lost(device) {
        true => Err(GpuError::Lost("the device is gone".into())),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{AdapterChoice, GpuDevice};

    #[test]
    fn no_memory_is_told_rather_than_what_follows_from_it() {
        // Machines without any driver have nothing to be out of.
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
