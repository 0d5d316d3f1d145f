//! Maps buffers for reading.

use super::error::{GpuError, failure, guarded};
use super::waiting::Message;

/// Maps the first `bytes` of a buffer with usage `MAP_READ` and passes them to `f`. Submit the
/// commands that fill the buffer first. On native targets somebody must poll the device meanwhile;
/// [`crate::gpu::wait_for`] does it, and blocks until the bytes are there.
///
/// # Errors
/// [`GpuError::Readback`] if the buffer cannot be mapped; [`GpuError::Lost`].
pub async fn mapped<T>(
    device: &wgpu::Device,
    buffer: &wgpu::Buffer,
    bytes: u64,
    f: impl FnOnce(&[u8]) -> T,
) -> Result<T, GpuError> {
    let failed = |error: &dyn std::fmt::Display| failure(device, error.to_string());
    let (result, sender) = Message::new(Err(wgpu::BufferAsyncError));
    guarded(device, || {
        let slice = buffer.slice(..bytes);
        slice.map_async(wgpu::MapMode::Read, |result| sender.send(result));
    })?;
    result.wait().await.map_err(|error| failed(&error))?;
    let view = buffer.slice(..bytes).get_mapped_range();
    let view = view.map_err(|error| failed(&error))?;
    let out = f(&view);
    drop(view);
    guarded(device, || buffer.unmap())?;
    Ok(out)
}
