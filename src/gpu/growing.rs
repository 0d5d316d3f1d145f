//! A buffer that grows.

use super::GpuError;
use super::error::guarded;
use super::skinner::Skinner;

/// A buffer with room to grow, up to a limit. It always exists and is never empty, because an
/// unused binding still needs a buffer.
#[derive(Debug)]
pub(super) struct Growing {
    pub buffer: wgpu::Buffer,
    /// Bytes in use.
    pub used: u64,
    label: &'static str,
    usage: wgpu::BufferUsages,
    limit: u64,
}

const SMALLEST: u64 = 256;

impl Growing {
    pub fn new(
        skinner: &Skinner,
        label: &'static str,
        usage: wgpu::BufferUsages,
        limit: u64,
    ) -> Result<Self, GpuError> {
        let usage = usage | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let buffer = guarded(&skinner.device, || {
            create(&skinner.device, label, usage, SMALLEST)
        })?;
        Ok(Self {
            buffer,
            used: 0,
            label,
            usage,
            limit,
        })
    }

    /// Room for `bytes` in all; what is in use is kept where `keep`.
    pub fn reserve(&mut self, skinner: &Skinner, bytes: u64, keep: bool) -> Result<(), GpuError> {
        if bytes <= self.buffer.size() {
            return Ok(());
        }
        if bytes > self.limit {
            return Err(GpuError::Limit {
                what: self.label.into(),
                asked: bytes,
                limit: self.limit,
            });
        }
        let size = bytes
            .max(self.buffer.size().saturating_mul(2).min(self.limit))
            .next_multiple_of(16);
        let device = &skinner.device;
        self.buffer = guarded(device, || {
            let grown = create(device, self.label, self.usage, size);
            if keep && self.used > 0 {
                let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor {
                    label: Some(self.label),
                });
                encoder.copy_buffer_to_buffer(&self.buffer, 0, &grown, 0, self.used);
                skinner.queue.submit([encoder.finish()]);
            }
            grown
        })?;
        Ok(())
    }

    /// Appends data that does not change any more and returns the byte it begins at.
    pub fn append(&mut self, skinner: &Skinner, parts: &[&[u8]]) -> Result<u64, GpuError> {
        let first = self.used;
        let bytes: u64 = parts.iter().map(|p| p.len() as u64).sum();
        self.reserve(skinner, first + bytes, true)?;
        guarded(&skinner.device, || {
            let mut at = first;
            for part in parts.iter().filter(|p| !p.is_empty()) {
                skinner.queue.write_buffer(&self.buffer, at, part);
                at += part.len() as u64;
            }
        })?;
        self.used += bytes;
        Ok(first)
    }

    /// The first `bytes` of it.
    pub fn start(&self, bytes: u64) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.buffer,
            offset: 0,
            size: wgpu::BufferSize::new(bytes),
        })
    }

    pub fn whole(&self) -> wgpu::BindingResource<'_> {
        self.buffer.as_entire_binding()
    }
}

fn create(
    device: &wgpu::Device,
    label: &str,
    usage: wgpu::BufferUsages,
    size: u64,
) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size,
        usage,
        mapped_at_creation: false,
    })
}
