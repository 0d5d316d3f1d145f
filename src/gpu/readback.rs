//! Results back on the CPU.

use glam::{Vec3, Vec4};

use super::GpuError;
use super::error::guarded;
use super::skinner::Skinner;

/// One instance's results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deformed {
    /// Points in the space that the pose leads to.
    pub points: Vec<Vec3>,
    /// Normals, where the instance has them written.
    pub normals: Option<Vec<Vec3>>,
    /// Tangents with their handedness, where the instance has them written.
    pub tangents: Option<Vec<Vec4>>,
    /// Positions of the frame before, where the instance has them written.
    pub previous: Option<Vec<Vec3>>,
}

/// Bytes in one mapped buffer at most: enough for many frames, little enough to be had anywhere.
const BATCH: u64 = 256 << 20;

/// How long a finished device may take to call back.
const CALLBACK: std::time::Duration = std::time::Duration::from_secs(10);

/// One range of an output buffer and where its elements go.
pub(super) struct Fetch<'a> {
    pub from: &'a wgpu::Buffer,
    pub offset: u64,
    /// Bytes of an element, and from one to the next.
    pub width: usize,
    pub stride: usize,
    pub to: &'a mut [u8],
}

impl Fetch<'_> {
    /// Bytes to copy, gaps included.
    fn bytes(&self) -> u64 {
        match self.to.len() / self.width {
            0 => 0,
            count => (count - 1) as u64 * self.stride as u64 + self.width as u64,
        }
    }

    /// Takes the elements out of what was copied.
    fn take(&mut self, copied: &[u8]) {
        let elements = copied.chunks(self.stride);
        for (to, from) in self.to.chunks_exact_mut(self.width).zip(elements) {
            to.copy_from_slice(&from[..self.width]);
        }
    }
}

/// Copies all ranges, as many per map as fit.
pub(super) fn fetch(
    skinner: &Skinner,
    staging: &mut Option<wgpu::Buffer>,
    ranges: &mut [Fetch<'_>],
) -> Result<(), GpuError> {
    let device = &skinner.device;
    let mut rest = ranges;
    while !rest.is_empty() {
        let mut total = 0;
        let mut count = 0;
        while count < rest.len()
            && (count == 0 || total + rest[count].bytes() <= BATCH.min(skinner.limits.buffer_bytes))
        {
            total += rest[count].bytes();
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
                let bytes = range.bytes();
                encoder.copy_buffer_to_buffer(range.from, range.offset, buffer, at, bytes);
                at += bytes;
            }
            skinner.queue.submit([encoder.finish()]);
            map_and(device, buffer, total, |data| {
                let mut at = 0;
                for range in batch.iter_mut() {
                    let end = at + range.bytes() as usize;
                    range.take(&data[at..end]);
                    at = end;
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
