//! A buffer that is replaced by a larger one when it has to grow.

use crate::gpu::device::error::{GpuError, alive, guarded};
use crate::gpu::device::skinner::Skinner;

/// A buffer that can grow up to a limit. It always exists and is never empty, because an unused
/// binding still needs a buffer.
#[derive(Debug)]
pub struct GrowableBuffer {
    pub buffer: wgpu::Buffer,
    /// How often the buffer was replaced by a larger one.
    pub replaced: u64,
    label: &'static str,
    usage: wgpu::BufferUsages,
    /// Largest size in bytes that it may grow to.
    pub limit: u64,
}

const SMALLEST: u64 = 256;

impl GrowableBuffer {
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
            replaced: 0,
            label,
            usage,
            limit,
        })
    }

    /// Size of the buffer in bytes, used or not.
    pub fn size(&self) -> u64 {
        self.buffer.size()
    }

    /// The error for a request beyond its limit.
    pub fn beyond_limit(&self, asked: u64) -> GpuError {
        GpuError::limit(self.label, asked, self.limit)
    }

    /// Makes room for `bytes` in all. If that replaces the buffer, a separate submit copies the
    /// first `keep` bytes.
    pub fn reserve(
        &mut self,
        skinner: &Skinner,
        bytes: u64,
        keep: Option<u64>,
    ) -> Result<(), GpuError> {
        // If this fails, the old buffer stays.
        let Some(grown) = self.grown(skinner, bytes)? else {
            return Ok(());
        };
        let device = &skinner.device;
        if let Some(bytes) = keep.filter(|bytes| *bytes > 0) {
            guarded(device, || {
                let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor {
                    label: Some(self.label),
                });
                encoder.copy_buffer_to_buffer(&self.buffer, 0, &grown, 0, bytes);
                skinner.queue.submit([encoder.finish()]);
            })?;
        }
        self.replace(grown);
        Ok(())
    }

    /// As [`GrowableBuffer::reserve`], and records the copy of everything into `encoder` too: the
    /// separate submit does not see what comes earlier in the same encoder, and an encoder may be
    /// dropped.
    pub fn reserve_and_carry(
        &mut self,
        skinner: &Skinner,
        bytes: u64,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        let (before, replaced) = (self.buffer.clone(), self.replaced);
        self.reserve(skinner, bytes, Some(before.size()))?;
        if self.replaced > replaced {
            encoder.copy_buffer_to_buffer(&before, 0, &self.buffer, 0, before.size());
        }
        Ok(())
    }

    /// As [`GrowableBuffer::reserve`], but records the copy into `encoder`.
    pub fn reserve_in(
        &mut self,
        skinner: &Skinner,
        bytes: u64,
        keep: u64,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        let Some(grown) = self.grown(skinner, bytes)? else {
            return Ok(());
        };
        if keep > 0 {
            encoder.copy_buffer_to_buffer(&self.buffer, 0, &grown, 0, keep);
        }
        self.replace(grown);
        Ok(())
    }

    /// Creates a larger buffer if this one has no room for `bytes`.
    fn grown(&self, skinner: &Skinner, bytes: u64) -> Result<Option<wgpu::Buffer>, GpuError> {
        if bytes <= self.buffer.size() {
            return Ok(None);
        }
        if bytes > self.limit {
            return Err(self.beyond_limit(bytes));
        }
        let size = bytes
            .max(self.buffer.size().saturating_mul(2).min(self.limit))
            .next_multiple_of(16);
        let grown = guarded(&skinner.device, || {
            create(&skinner.device, self.label, self.usage, size)
        })?;
        alive(&skinner.device)?;
        Ok(Some(grown))
    }

    fn replace(&mut self, grown: wgpu::Buffer) {
        self.buffer = grown;
        self.replaced += 1;
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
