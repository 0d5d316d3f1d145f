//! The buffers that hold poses, page by page.

use crate::gpu::device::error::GpuError;
use crate::gpu::device::skinner::Skinner;
use crate::gpu::memory::growable_buffer::GrowableBuffer;

/// Bytes that a page of poses needs of each of its buffers, in their order.
pub type PoseBytes = [u64; 5];

/// Palettes, then `out_from_skel` matrices, then what the GPU computes: palettes, and the weights of
/// sub-shapes.
pub const PALETTES: usize = 0;
/// Weights of blend shape channels.
pub const CHANNELS: usize = 1;
/// Local transforms of rigs.
pub const JOINTS: usize = 2;
/// Matrices that one dispatch of the kernel `pose_rig` writes for the next one.
pub const CACHED: usize = 3;
/// States of rigs that play clips.
pub const PLAYERS: usize = 4;

const LABELS: [&str; 5] = [
    "skin.palettes",
    "weights.channels",
    "pose.joints",
    "pose.cached",
    "play.players",
];

/// The buffers of all pages of poses.
#[derive(Debug, Default)]
pub struct PoseBuffers {
    pages: Vec<Vec<GrowableBuffer>>,
}

impl PoseBuffers {
    /// Makes room for the poses of each page.
    pub fn reserve(
        &mut self,
        skinner: &Skinner,
        pages: impl Iterator<Item = PoseBytes>,
    ) -> Result<(), GpuError> {
        let (storage, limit) = (wgpu::BufferUsages::STORAGE, skinner.limits.binding_bytes);
        for (number, bytes) in pages.enumerate() {
            if number == self.pages.len() {
                let new = |label| GrowableBuffer::new(skinner, label, storage, limit);
                let page = LABELS.into_iter().map(new);
                self.pages.push(page.collect::<Result<_, _>>()?);
            }
            for (buffer, bytes) in self.pages[number].iter_mut().zip(bytes) {
                buffer.reserve(skinner, bytes, None)?;
            }
        }
        Ok(())
    }

    /// A buffer of a page, such as [`PALETTES`].
    pub fn buffer(&self, page: usize, kind: usize) -> &wgpu::Buffer {
        &self.pages[page][kind].buffer
    }

    pub fn buffer_bytes(&self) -> u64 {
        let all = self.pages.iter().flatten();
        all.map(GrowableBuffer::size).sum()
    }
}
