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
    /// The palettes of the frame before, if they are kept.
    previous: Option<GrowableBuffer>,
}

/// The buffers of all pages of poses.
#[derive(Debug, Default)]
pub struct PoseBuffers {
    pages: Vec<PoseBufferPage>,
    /// Whether to keep the palettes of the frame before.
    keeps_previous: bool,
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
            if self.keeps_previous {
                let previous = match &mut page.previous {
                    Some(previous) => previous,
                    none => none.insert(PoseBufferPage::buffer(skinner, "palettes.previous")?),
                };
                previous.reserve(skinner, page.palettes.size(), None)?;
            }
        }
        Ok(())
    }

    /// Sets whether to keep the palettes of the frame before.
    pub fn set_keeps_previous(&mut self, keeps: bool) {
        self.keeps_previous = keeps;
        if !keeps {
            self.pages.iter_mut().for_each(|page| page.previous = None);
        }
    }

    pub fn keeps_previous(&self) -> bool {
        self.keeps_previous
    }

    /// The palettes of the frame before.
    pub fn previous(&self, number: usize) -> Option<&wgpu::Buffer> {
        self.pages[number]
            .previous
            .as_ref()
            .map(GrowableBuffer::buffer)
    }

    /// Records copies of all palettes to those of the frame before.
    pub fn copy_to_previous(&self, encoder: &mut wgpu::CommandEncoder) {
        for page in &self.pages {
            if let Some(previous) = &page.previous {
                let (from, bytes) = (page.palettes.buffer(), page.palettes.size());
                encoder.copy_buffer_to_buffer(from, 0, previous.buffer(), 0, bytes);
            }
        }
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
            let previous = page.previous.as_ref().map_or(0, GrowableBuffer::size);
            buffers.map(GrowableBuffer::size).iter().sum::<u64>() + previous
        };
        self.pages.iter().map(of).sum()
    }
}

impl PoseBufferPage {
    fn buffer(skinner: &Skinner, label: &'static str) -> Result<GrowableBuffer, GpuError> {
        let (storage, limit) = (wgpu::BufferUsages::STORAGE, skinner.limits.binding_bytes);
        GrowableBuffer::new(skinner, label, storage, limit)
    }

    fn new(skinner: &Skinner) -> Result<Self, GpuError> {
        let buffer = |label| Self::buffer(skinner, label);
        Ok(Self {
            palettes: buffer("skin.palettes")?,
            channels: buffer("weights.channels")?,
            joints: buffer("pose.joints")?,
            cached: buffer("pose.cached")?,
            players: buffer("play.players")?,
            previous: None,
        })
    }
}
