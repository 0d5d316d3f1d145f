//! Which instances the host sees, and the buffers of the frames that compute only those.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::gpu::device::error::GpuError;
use crate::gpu::device::limits::WorkLimits;
use crate::gpu::device::skinner::Skinner;
use crate::gpu::memory::growable_buffer::GrowableBuffer;

/// How a visibility mask is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MaskLayout {
    /// One `u32` per instance index: not 0 if the instance is visible.
    #[default]
    Words,
    /// One bit per instance index: bit `index % 32` of word `index / 32`.
    Bits,
}

impl MaskLayout {
    /// Bytes of a mask for this many instance indices.
    #[must_use]
    pub const fn bytes(self, index_count: u32) -> u64 {
        match self {
            Self::Words => index_count as u64 * 4,
            Self::Bits => index_count.div_ceil(32) as u64 * 4,
        }
    }
}

/// A buffer in which the host writes which instances are visible, by
/// [`crate::gpu::InstanceId::index`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibilityMask {
    /// A buffer of the crowd's device with usage `STORAGE`.
    pub buffer: wgpu::Buffer,
    /// Byte of the first word: a multiple of the device's `min_storage_buffer_offset_alignment`,
    /// which is at most 256.
    pub offset: u64,
    /// How it is laid out.
    pub layout: MaskLayout,
}

impl VisibilityMask {
    /// A mask of one word per instance, from the buffer's first byte on.
    #[must_use]
    pub const fn words(buffer: wgpu::Buffer) -> Self {
        Self {
            buffer,
            offset: 0,
            layout: MaskLayout::Words,
        }
    }

    /// A mask of one bit per instance, from the buffer's first byte on.
    #[must_use]
    pub const fn bits(buffer: wgpu::Buffer) -> Self {
        Self {
            buffer,
            offset: 0,
            layout: MaskLayout::Bits,
        }
    }

    fn check(&self, skinner: &Skinner) -> Result<(), GpuError> {
        let limits = skinner.device.limits();
        let alignment = u64::from(limits.min_storage_buffer_offset_alignment);
        let (expected, found) = if !self.buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
            let found = format!("usage {:?}", self.buffer.usage());
            ("a buffer with usage STORAGE".into(), found)
        } else if !self.offset.is_multiple_of(alignment) {
            let expected = format!("an offset that is a multiple of {alignment} bytes");
            (expected, self.offset.to_string())
        } else {
            return Ok(());
        };
        Err(GpuError::invalid("visibility mask", expected, found))
    }
}

/// How often frames compute an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateRate {
    /// Every this many frames; 1 for every frame.
    pub every: u32,
    /// Instances with the same rate and phase are computed in the same frames. By default it is the
    /// index of the rig or shared palette that the instance moves with, otherwise the instance
    /// index: the meshes of a character move together, and characters are spread over frames.
    pub phase: Option<u32>,
}

impl Default for UpdateRate {
    fn default() -> Self {
        Self::every(1)
    }
}

impl From<u32> for UpdateRate {
    fn from(every: u32) -> Self {
        Self::every(every)
    }
}

impl UpdateRate {
    /// Every `every` frames, with the default phase.
    #[must_use]
    pub const fn every(every: u32) -> Self {
        Self { every, phase: None }
    }
}

/// The host's mask, and what the kernel `schedule` writes.
#[derive(Debug)]
pub struct VisibilityStore {
    /// No other mask or store has it, because bind groups change with every mask; never 0.
    pub number: u64,
    pub mask: Option<VisibilityMask>,
    /// The number of frames, and what the last one did with each instance.
    pub state: GrowableBuffer,
}

fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl VisibilityStore {
    /// Creates the store without a mask.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(skinner: &Skinner) -> Result<Self, GpuError> {
        let (usage, limit) = (wgpu::BufferUsages::STORAGE, skinner.limits.binding_bytes);
        Ok(Self {
            number: next_number(),
            mask: None,
            state: GrowableBuffer::new(skinner, "visible.state", usage, limit)?,
        })
    }

    /// Takes another mask.
    pub fn set_mask(
        &mut self,
        skinner: &Skinner,
        mask: Option<VisibilityMask>,
    ) -> Result<(), GpuError> {
        if let Some(mask) = &mask {
            mask.check(skinner)?;
        }
        if self.mask != mask {
            self.mask = mask;
            self.number = next_number();
        }
        Ok(())
    }

    /// Checks that the mask has room for this many instance indices.
    pub fn check_size(&self, limits: &WorkLimits, index_count: u32) -> Result<(), GpuError> {
        let Some(mask) = &self.mask else {
            return Ok(());
        };
        let size = mask.buffer.size().saturating_sub(mask.offset);
        let needed = mask.layout.bytes(index_count);
        if size < needed {
            let expected = format!("{needed} bytes for {index_count} instance indices");
            let found = format!("{size} bytes from its offset on");
            return Err(GpuError::invalid("visibility mask", expected, found));
        }
        if needed > limits.binding_bytes {
            let what = "bytes of a visibility mask";
            return Err(GpuError::limit(what, needed, limits.binding_bytes));
        }
        Ok(())
    }

    /// Makes room for the state of this many instance indices.
    pub fn reserve(
        &mut self,
        skinner: &Skinner,
        room: u32,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        let bytes = (u64::from(room) + 1) * 4;
        self.state.reserve_and_carry(skinner, bytes, encoder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_have_a_word_or_a_bit_per_instance() {
        let sizes = |count| [MaskLayout::Words, MaskLayout::Bits].map(|l| l.bytes(count));
        assert_eq!(sizes(0), [0, 0]);
        assert_eq!(sizes(32), [128, 4]);
        assert_eq!(sizes(33), [132, 8]);
    }
}
