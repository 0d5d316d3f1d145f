//! Results back on the CPU.

use glam::Vec3;

use super::GpuError;
use super::error::guarded;
use super::skinner::Skinner;

/// One instance's results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deformed {
    /// Points in the space that the pose leads to.
    pub points: Vec<Vec3>,
    /// Normals, for a skin that has them.
    pub normals: Option<Vec<Vec3>>,
}

/// Bytes in one mapped buffer at most: enough for many frames, little enough to be had anywhere.
const BATCH: u64 = 256 << 20;

/// How long a finished device may take to call back.
const CALLBACK: std::time::Duration = std::time::Duration::from_secs(10);

/// One range of an output buffer and where its elements go.
pub(super) struct Fetch<'a> {
    pub from: &'a wgpu::Buffer,
    pub offset: u64,
    pub to: &'a mut [Vec3],
}

/// Copies all ranges, as many per map as fit.
pub(super) fn fetch(
    skinner: &Skinner,
    staging: &mut Option<wgpu::Buffer>,
    ranges: &mut [Fetch<'_>],
) -> Result<(), GpuError> {
    let device = &skinner.device;
    let bytes = |f: &Fetch<'_>| size_of_val(f.to) as u64;
    let mut rest = ranges;
    while !rest.is_empty() {
        let mut total = 0;
        let mut count = 0;
        while count < rest.len()
            && (count == 0 || total + bytes(&rest[count]) <= BATCH.min(skinner.limits.buffer_bytes))
        {
            total += bytes(&rest[count]);
            count += 1;
        }
        let (batch, later) = rest.split_at_mut(count);
        rest = later;
        if total == 0 {
            continue;
        }
        if staging.as_ref().is_none_or(|b| b.size() < total) {
            *staging = Some(guarded(device, || {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("sinew.readback"),
                    size: total,
                    usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                })
            })?);
        }
        let buffer = staging.as_ref().expect("made above");
        guarded(device, || {
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("sinew.readback"),
            });
            let mut at = 0;
            for range in batch.iter().filter(|f| !f.to.is_empty()) {
                encoder.copy_buffer_to_buffer(range.from, range.offset, buffer, at, bytes(range));
                at += bytes(range);
            }
            skinner.queue.submit([encoder.finish()]);
            map_and(device, buffer, total, |data| {
                let mut at = 0;
                for range in batch.iter_mut() {
                    let to: &mut [u8] = bytemuck::cast_slice_mut(range.to);
                    to.copy_from_slice(&data[at..at + to.len()]);
                    at += to.len();
                }
            })
        })??;
    }
    Ok(())
}

/// Maps a buffer's first bytes, waits, and hands them to `f`.
pub(crate) fn map_and<T>(
    device: &wgpu::Device,
    buffer: &wgpu::Buffer,
    bytes: u64,
    f: impl FnOnce(&[u8]) -> T,
) -> Result<T, GpuError> {
    let failed = |error: &dyn std::fmt::Display| GpuError::Readback(error.to_string());
    let (sender, receiver) = std::sync::mpsc::channel();
    buffer
        .slice(..bytes)
        .map_async(wgpu::MapMode::Read, move |result| {
            let _ = sender.send(result);
        });
    device
        .poll(wgpu::PollType::wait_indefinitely())
        .map_err(|e| failed(&e))?;
    // Another thread that polls the same device may be the one to call back, a little later.
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
