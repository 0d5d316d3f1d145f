//! Bounding boxes of a crowd's instances, found on the GPU.

use std::collections::VecDeque;

use glam::{Vec3, Vec4};

use super::error::guarded;
use super::growing::Growing;
use super::pipelines::Pipelines;
use super::ring::{Copied, Ring};
use super::skinner::Skinner;
use super::{Crowd, GpuError, InstanceId};
use crate::kernel::{BOUNDS, BOXES};

/// What becomes of the boxes that [`Crowd::enable_bounds`] has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoundsUse {
    /// They stay on the GPU, for culling there.
    #[default]
    OnGpu,
    /// They are copied back as well, a few frames later and without waiting, for
    /// [`Crowd::latest_bounds`].
    ReadBack,
}

/// Frames whose boxes may be on their way back; those beyond are not read.
const MOST_FRAMES: usize = 4;

/// Bytes of a slot's keys, and of its box.
const SLOT_BYTES: u64 = 32;

/// The bounds of a crowd.
#[derive(Debug)]
pub(super) struct Bounds {
    pub reduce: Pipelines,
    pub finish: Pipelines,
    pub keys: Growing,
    pub boxes: Growing,
    pub wanted: BoundsUse,
    ring: Ring,
    /// Numbers of readings and of their frames, the oldest first.
    on_their_way: VecDeque<(u64, u64)>,
    latest: Vec<[Vec4; 2]>,
    /// Frame of `latest`.
    latest_frame: u64,
}

impl Bounds {
    fn new(skinner: &Skinner, wanted: BoundsUse) -> Result<Self, GpuError> {
        let limit = skinner.limits.binding_bytes;
        let usage = wgpu::BufferUsages::STORAGE;
        let cache = skinner.pipeline_cache.as_ref();
        Ok(Self {
            reduce: Pipelines::new(&skinner.device, &BOUNDS, cache)?,
            finish: Pipelines::new(&skinner.device, &BOXES, cache)?,
            keys: Growing::new(skinner, "bounds.keys", usage, limit)?,
            boxes: Growing::new(skinner, "bounds.boxes", usage, limit)?,
            wanted,
            ring: Ring::new(&skinner.device),
            on_their_way: VecDeque::new(),
            latest: Vec::new(),
            latest_frame: 0,
        })
    }

    /// Makes room for the boxes of so many slots.
    pub fn reserve(&mut self, skinner: &Skinner, slots: u32) -> Result<(), GpuError> {
        let bytes = u64::from(slots) * SLOT_BYTES;
        self.keys.reserve(skinner, bytes, None)?;
        self.boxes.reserve(skinner, bytes, None)
    }

    /// Forgets what earlier frames found.
    pub fn clear_keys(
        &self,
        skinner: &Skinner,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        guarded(&skinner.device, || {
            encoder.clear_buffer(&self.keys.buffer, 0, None);
        })
    }

    /// Has the boxes of this frame come back, unless too many are on their way.
    pub fn read_back(
        &mut self,
        skinner: &Skinner,
        encoder: &mut wgpu::CommandEncoder,
        slots: u32,
        frame: u64,
    ) -> Result<(), GpuError> {
        self.receive(skinner)?;
        if self.wanted == BoundsUse::OnGpu || slots == 0 || self.ring.len() >= MOST_FRAMES {
            return Ok(());
        }
        let copy = Copied {
            from: &self.boxes.buffer,
            offset: 0,
            bytes: u64::from(slots) * SLOT_BYTES,
        };
        let number = self.ring.record(skinner, encoder, &[copy])?;
        self.on_their_way.push_back((number, frame));
        Ok(())
    }

    /// Takes what has come back.
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
                // Older than what is known, or its encoder was dropped.
                Some(Ok(_) | Err(GpuError::Mismatch(_))) => {}
                Some(Err(error)) => {
                    self.on_their_way.extend(waiting);
                    return Err(error);
                }
            }
        }
        self.on_their_way = waiting;
        Ok(())
    }
}

impl Crowd {
    /// Has frames from the next one on find the bounding box of each instance's positions, in the space
    /// that its pose leads to: two passes, of as many dispatches as there are output buffers and one.
    ///
    /// # Errors
    /// No memory.
    pub fn enable_bounds(&mut self, wanted: BoundsUse) -> Result<(), GpuError> {
        match &mut self.bounds {
            Some(bounds) => bounds.wanted = wanted,
            None => {
                self.bounds = Some(Bounds::new(&self.skinner, wanted)?);
                self.stale = true;
            }
        }
        Ok(())
    }

    /// Has frames find no boxes any more.
    pub fn disable_bounds(&mut self) {
        self.bounds = None;
        self.stale = true;
    }

    /// The boxes that the last encoded frame finds, to be bound as `array<vec4<f32>>` (storage): the least
    /// corner at `2 * id.slot()`, the greatest after it, `w` 0. Positions with a NaN do not count; infinite ones make
    /// infinite boxes. Slots of hidden instances, of those without points and of those removed hold an empty
    /// box: least corner 3.4e38, greatest -3.4e38, in every coordinate.
    ///
    /// [`Crowd::encode`] replaces the buffer where there are more slots than it holds
    /// ([`Crowd::bounds_generation`]). `None` where bounds are not enabled.
    #[must_use]
    pub fn bounds_on_gpu(&self) -> Option<&wgpu::Buffer> {
        Some(&self.bounds.as_ref()?.boxes.buffer)
    }

    /// A number that grows whenever the buffer of [`Crowd::bounds_on_gpu`] was replaced.
    #[must_use]
    pub fn bounds_generation(&self) -> u64 {
        self.bounds.as_ref().map_or(0, |b| b.boxes.replaced)
    }

    /// The newest box of an instance that has come back: least and greatest corner, in the space of its
    /// pose a few frames ago. `None` where none has yet, and for an empty one. Waits for nothing;
    /// [`Crowd::poll`] has the device deliver.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, or without [`BoundsUse::ReadBack`]; a lost device.
    pub fn latest_bounds(&mut self, instance: InstanceId) -> Result<Option<[Vec3; 2]>, GpuError> {
        let since = self.find(instance)?.0.since;
        let bounds = self.bounds.as_mut();
        let Some(bounds) = bounds.filter(|b| b.wanted == BoundsUse::ReadBack) else {
            return Err(GpuError::Mismatch("bounds are not read back".into()));
        };
        bounds.receive(&self.skinner)?;
        // What lay in its slot before is not its own.
        if bounds.latest_frame < since {
            return Ok(None);
        }
        let found = bounds.latest.get(instance.slot() as usize);
        let corners = found.map(|corners| corners.map(Vec4::truncate));
        Ok(corners.filter(|[low, high]| low.cmple(*high).all()))
    }
}
