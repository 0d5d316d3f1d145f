//! The buffers that hold poses, page by page.

use crate::gpu::device::error::GpuError;
use crate::gpu::device::skinner::Skinner;
use crate::gpu::memory::growable_buffer::GrowableBuffer;

/// Size that a page of poses needs of each buffer, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct PoseBytes {
    pub palettes: u64,
    pub channels: u64,
    pub joints: u64,
    pub cached: u64,
    pub players: u64,
}

/// The buffers of one page.
#[derive(Debug)]
pub struct PoseBufferPage {
    /// Palettes, then `out_from_skel` matrices, then what the GPU computes: palettes, and the
    /// weights of sub-shapes.
    pub palettes: GrowableBuffer,
    /// Weights of blend shape channels.
    pub channels: GrowableBuffer,
    /// Local transforms of rigs.
    pub joints: GrowableBuffer,
    /// Matrices that one dispatch of the kernel `pose_rig` writes for the next one.
    pub cached: GrowableBuffer,
    /// States of rigs that play clips.
    pub players: GrowableBuffer,
}

/// The buffers of all pages of poses.
#[derive(Debug, Default)]
pub struct PoseBuffers {
    pages: Vec<PoseBufferPage>,
}

impl PoseBuffers {
    /// Makes room for the poses of each page.
    pub fn reserve(
        &mut self,
        skinner: &Skinner,
        pages: impl Iterator<Item = PoseBytes>,
    ) -> Result<(), GpuError> {
        for (number, bytes) in pages.enumerate() {
            if number == self.pages.len() {
                self.pages.push(PoseBufferPage::new(skinner)?);
            }
            let page = &mut self.pages[number];
            for (buffer, bytes) in [
                (&mut page.palettes, bytes.palettes),
                (&mut page.channels, bytes.channels),
                (&mut page.joints, bytes.joints),
                (&mut page.cached, bytes.cached),
                (&mut page.players, bytes.players),
            ] {
                buffer.reserve(skinner, bytes, None)?;
            }
        }
        Ok(())
    }

    pub fn page(&self, number: usize) -> &PoseBufferPage {
        &self.pages[number]
    }

    pub fn buffer_bytes(&self) -> u64 {
        let of = |page: &PoseBufferPage| {
            let buffers = [
                &page.palettes,
                &page.channels,
                &page.joints,
                &page.cached,
                &page.players,
            ];
            buffers.map(GrowableBuffer::size).iter().sum::<u64>()
        };
        self.pages.iter().map(of).sum()
    }
}

impl PoseBufferPage {
    fn new(skinner: &Skinner) -> Result<Self, GpuError> {
        let (storage, limit) = (wgpu::BufferUsages::STORAGE, skinner.limits.binding_bytes);
        let buffer = |label| GrowableBuffer::new(skinner, label, storage, limit);
        Ok(Self {
            palettes: buffer("skin.palettes")?,
            channels: buffer("weights.channels")?,
            joints: buffer("pose.joints")?,
            cached: buffer("pose.cached")?,
            players: buffer("play.players")?,
        })
    }
}
