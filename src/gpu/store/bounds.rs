//! The bounding boxes of a crowd's instances.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use glam::{Vec3, Vec4};

use super::instances::InstanceId;
use crate::gpu::device::error::GpuError;
use crate::gpu::device::skinner::Skinner;
use crate::gpu::memory::growable_buffer::GrowableBuffer;
use crate::gpu::memory::readback_ring::{Copied, ReadbackRing};
use crate::kernel::registry::WORDS_PER_BOX;

/// Where the boxes of [`crate::gpu::Crowd::enable_bounds`] are available.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoundsUse {
    /// Only on the GPU, for culling there.
    #[default]
    OnGpu,
    /// On the GPU, and on the CPU a few frames later: they are copied back without waiting, for
    /// [`crate::gpu::Crowd::latest_bounds`].
    ReadBack,
}

/// Largest number of frames whose boxes are being read back at a time. Boxes of other frames are
/// not read.
const MOST_FRAMES: usize = 4;

/// Size of the keys of one instance index, and of its box, in bytes.
const BOX_BYTES: u64 = WORDS_PER_BOX as u64 * 4;

/// The bounding boxes of a crowd's instances.
#[derive(Debug)]
pub struct BoundsStore {
    /// Distinguishes this store from those created before and after it; never 0.
    pub number: u64,
    /// Corners as integers for atomic maxima, by instance index.
    pub keys: GrowableBuffer,
    /// The boxes, by instance index.
    pub boxes: GrowableBuffer,
    pub wanted: BoundsUse,
    ring: ReadbackRing,
    /// Readings that are under way, the oldest first: number of the reading, and its frame.
    on_their_way: VecDeque<(u64, u64)>,
    latest: Vec<[Vec4; 2]>,
    /// The frame that `latest` belongs to.
    latest_frame: u64,
}

impl BoundsStore {
    pub fn new(skinner: &Skinner, wanted: BoundsUse) -> Result<Self, GpuError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let limit = skinner.limits.binding_bytes;
        let buffer =
            |label| GrowableBuffer::new(skinner, label, wgpu::BufferUsages::STORAGE, limit);
        Ok(Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            keys: buffer("bounds.keys")?,
            boxes: buffer("bounds.boxes")?,
            wanted,
            ring: ReadbackRing::new(&skinner.device),
            on_their_way: VecDeque::new(),
            latest: Vec::new(),
            latest_frame: 0,
        })
    }

    pub fn buffer_bytes(&self) -> u64 {
        self.keys.size() + self.boxes.size()
    }

    /// Makes room for the boxes of `count` instance indices. `keeps`: whether some keep their boxes.
    pub fn reserve(
        &mut self,
        skinner: &Skinner,
        count: u32,
        keeps: bool,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        let bytes = u64::from(count) * BOX_BYTES;
        match keeps {
            true => self.keys.reserve_and_carry(skinner, bytes, encoder)?,
            false => self.keys.reserve(skinner, bytes, None)?,
        }
        self.boxes.reserve(skinner, bytes, None)
    }

    /// Records a reading of this frame's boxes, unless too many are under way.
    pub fn read_back(
        &mut self,
        skinner: &Skinner,
        encoder: &mut wgpu::CommandEncoder,
        count: u32,
        frame: u64,
    ) -> Result<(), GpuError> {
        self.receive(skinner)?;
        if self.wanted == BoundsUse::OnGpu || count == 0 || self.ring.len() >= MOST_FRAMES {
            return Ok(());
        }
        let copy = Copied {
            from: &self.boxes.buffer,
            offset: 0,
            bytes: u64::from(count) * BOX_BYTES,
        };
        let number = self.ring.record(skinner, encoder, &[copy])?;
        self.on_their_way.push_back((number, frame));
        Ok(())
    }

    /// Receives the boxes that arrived.
    fn receive(&mut self, skinner: &Skinner) -> Result<(), GpuError> {
        let mut waiting = VecDeque::new();
        while let Some((number, frame)) = self.on_their_way.pop_front() {
            let boxes = self
                .ring
                .take(skinner, number, bytemuck::pod_collect_to_vec);
            match boxes {
                None => waiting.push_back((number, frame)),
                Some(Ok(boxes)) if frame >= self.latest_frame => {
                    (self.latest, self.latest_frame) = (boxes, frame);
                }
                // It is older than the newest boxes, or its encoder was dropped.
                Some(Ok(_) | Err(GpuError::NotSubmitted)) => {}
                Some(Err(error)) => {
                    self.on_their_way.extend(waiting);
                    return Err(error);
                }
            }
        }
        self.on_their_way = waiting;
        Ok(())
    }

    /// The newest box of an instance that arrived; `None` if none did, or if it is empty. `since`
    /// is the first frame that the instance can be part of.
    pub fn latest(
        &mut self,
        skinner: &Skinner,
        id: InstanceId,
        since: u64,
    ) -> Result<Option<[Vec3; 2]>, GpuError> {
        if self.wanted != BoundsUse::ReadBack {
            return Err(not_read_back());
        }
        self.receive(skinner)?;
        // An older box at this index belongs to another instance.
        if self.latest_frame < since {
            return Ok(None);
        }
        let found = self.latest.get(id.index() as usize);
        let corners = found.map(|corners| corners.map(Vec4::truncate));
        Ok(corners.filter(|[low, high]| low.cmple(*high).all()))
    }
}

/// The error for reading boxes that stay on the GPU.
pub fn not_read_back() -> GpuError {
    GpuError::invalid(
        "bounds",
        "bounds that are enabled with BoundsUse::ReadBack",
        "none that are read back",
    )
}
