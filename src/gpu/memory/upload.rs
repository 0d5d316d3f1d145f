//! Uploads that are recorded into the caller's encoder.
//!
//! `Queue::write_buffer` takes effect before every encoder of a submit, so two frames in one submit
//! would both see the last pose. Copies inside the encoder keep their order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::gpu::device::error::{GpuError, alive, guarded, lost};
use crate::gpu::device::skinner::Skinner;
use crate::gpu::device::waiting::Mailbox;
use crate::kernel::BlendIndex;

/// Staging buffers for uploads. They are reused once the GPU has read them.
#[derive(Debug, Default)]
pub struct Staging {
    free: Vec<wgpu::Buffer>,
    /// Buffers that the GPU has read.
    back: Mailbox<wgpu::Buffer>,
    /// Whether an encoder with uploads was dropped.
    dropped: Arc<AtomicBool>,
}

/// Records that an encoder was dropped without being submitted.
struct Awaited {
    dropped: Arc<AtomicBool>,
    is_submitted: bool,
}

impl Awaited {
    fn submitted(mut self) {
        self.is_submitted = true;
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        if !self.is_submitted {
            self.dropped.store(true, Ordering::Release);
        }
    }
}

/// Largest number of free buffers that are kept.
const MOST_FREE: usize = 8;

/// One copy to a range of another buffer, through a staging buffer.
#[derive(Clone, Copy)]
pub struct Upload<'a> {
    pub to: &'a wgpu::Buffer,
    pub offset: u64,
    pub content: Content<'a>,
}

/// What is copied.
#[derive(Clone, Copy)]
pub enum Content<'a> {
    Bytes(&'a [u8]),
    /// The list of some sub-shapes, built in the staging buffer: it is too large to be copied twice.
    List(&'a BlendIndex, &'a [u32]),
}

impl Content<'_> {
    fn len(self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::List(index, sub_shapes) => index.list_words(sub_shapes) * 4,
        }
    }

    fn write(self, mut to: wgpu::WriteOnly<'_, [u8]>) {
        match self {
            Self::Bytes(bytes) => to.copy_from_slice(bytes),
            Self::List(index, sub_shapes) => {
                index.list(sub_shapes, |at, words| {
                    let bytes = bytemuck::cast_slice(words);
                    to.slice(at * 4..at * 4 + bytes.len())
                        .copy_from_slice(bytes);
                });
            }
        }
    }
}

impl Staging {
    /// Whether an encoder with uploads was dropped since the last call, so that its uploads never
    /// reached the GPU.
    pub fn take_dropped(&mut self) -> bool {
        self.dropped.swap(false, Ordering::AcqRel)
    }

    /// Records all uploads and returns their bytes. Fails on a lost device, even if there is
    /// nothing to upload.
    pub fn record<'a>(
        &mut self,
        skinner: &Skinner,
        encoder: &mut wgpu::CommandEncoder,
        uploads: impl Iterator<Item = Upload<'a>> + Clone,
    ) -> Result<u64, GpuError> {
        self.free.extend(std::iter::from_fn(|| self.back.take()));
        let mut uploads = uploads.filter(|upload| upload.content.len() > 0);
        let mut recorded = 0;
        loop {
            // As many uploads as one buffer holds. A single upload always fits.
            let (mut count, mut total) = (0, 0);
            for upload in uploads.clone() {
                let with = total + upload.content.len() as u64;
                if count > 0 && with > skinner.limits.buffer_bytes {
                    break;
                }
                (count, total) = (count + 1, with);
            }
            if count == 0 {
                // Creating a buffer detects a lost device, but most frames create none.
                alive(&skinner.device)?;
                return Ok(recorded);
            }
            self.record_one(skinner, encoder, uploads.by_ref().take(count), total)?;
            recorded += total;
        }
    }

    /// Records uploads of `total` bytes through one staging buffer.
    fn record_one<'a>(
        &mut self,
        skinner: &Skinner,
        encoder: &mut wgpu::CommandEncoder,
        uploads: impl Iterator<Item = Upload<'a>>,
        total: u64,
    ) -> Result<(), GpuError> {
        let device = &skinner.device;
        // The smallest free buffer that is large enough.
        let fits = self.free.iter().enumerate();
        let fits = fits.filter(|(_, buffer)| buffer.size() >= total);
        let staging = match fits.min_by_key(|(_, buffer)| buffer.size()) {
            Some((i, _)) => self.free.swap_remove(i),
            None => {
                if self.free.len() >= MOST_FREE {
                    self.free.clear();
                }
                guarded(device, || {
                    device.create_buffer(&wgpu::BufferDescriptor {
                        label: Some("sinew.staging"),
                        size: total.next_power_of_two().min(skinner.limits.buffer_bytes),
                        usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                        mapped_at_creation: true,
                    })
                })?
            }
        };
        let awaited = Awaited {
            dropped: self.dropped.clone(),
            is_submitted: false,
        };
        let mut view = staging
            .slice(..)
            .get_mapped_range_mut()
            .map_err(|error| lost(device, format!("staging: {error}")))?;
        let mut at = 0usize;
        for upload in uploads {
            let end = at + upload.content.len();
            upload.content.write(view.slice(at..end));
            let bytes = (end - at) as u64;
            encoder.copy_buffer_to_buffer(&staging, at as u64, upload.to, upload.offset, bytes);
            at = end;
        }
        drop(view);
        staging.unmap();
        let (sender, back) = (self.back.sender.clone(), staging.clone());
        encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Write, .., move |result| {
            awaited.submitted();
            if result.is_ok() {
                // The crowd may be dropped by now.
                let _ = sender.send(back);
            }
        });
        Ok(())
    }
}
