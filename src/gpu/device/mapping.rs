//! Maps buffers for reading, and explains failures.

use std::time::Duration;

use super::error::{GpuError, is_lost};

/// How long the driver may take to call back after the device has finished.
pub const CALLBACK: Duration = Duration::from_secs(10);

/// The error for a buffer that could not be mapped: [`GpuError::Lost`] if the device is lost.
pub fn failure(device: &wgpu::Device, text: String) -> GpuError {
    match is_lost(device) {
        true => GpuError::Lost(text),
        false => GpuError::Readback(text),
    }
}

/// Maps the first `bytes` of a buffer, waits until they are mapped, and passes them to `f`.
pub fn map_and<T>(
    device: &wgpu::Device,
    buffer: &wgpu::Buffer,
    bytes: u64,
    f: impl FnOnce(&[u8]) -> T,
) -> Result<T, GpuError> {
    let failed = |error: &dyn std::fmt::Display| failure(device, error.to_string());
    let (sender, receiver) = std::sync::mpsc::channel();
    buffer
        .slice(..bytes)
        .map_async(wgpu::MapMode::Read, move |result| {
            let _ = sender.send(result);
        });
    device
        .poll(wgpu::PollType::wait_indefinitely())
        .map_err(|e| failed(&e))?;
    // Another thread that polls the same device may deliver this callback a little later.
    match receiver.recv_timeout(CALLBACK) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(failed(&error)),
        Err(_) => {
            return Err(GpuError::Lost(
                "the device stopped before its results came".into(),
            ));
        }
    }
    let view = buffer
        .slice(..bytes)
        .get_mapped_range()
        .map_err(|e| failed(&e))?;
    let out = f(&view);
    drop(view);
    buffer.unmap();
    Ok(out)
}
