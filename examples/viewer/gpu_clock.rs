//! GPU time of the parts of a frame, by timestamps between them. Nothing waits for the device: the times of a frame
//! are there some frames later.

use std::sync::mpsc::{Receiver, channel};

use sinew::wgpu;

/// Frames whose times are on their way at most; those beyond are not timed.
const SLOTS: u32 = 6;
/// Timestamps of a frame: before skinning, after it, and after the picture.
const MARKS: u32 = 3;
const BYTES: u64 = MARKS as u64 * 8;
/// Timestamps of a slot are resolved to a multiple of this.
const ALIGNMENT: u64 = wgpu::QUERY_RESOLVE_BUFFER_ALIGNMENT;

/// A buffer that brings the timestamps of one frame back.
struct Slot {
    readback: wgpu::Buffer,
    /// The frame that is on its way, and whether it has arrived, once that was asked for.
    frame: Option<(u64, Option<Receiver<bool>>)>,
}

pub struct GpuClock {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    slots: Vec<Slot>,
    /// Seconds of a tick.
    period: f64,
    recording: Option<usize>,
}

/// The features of a device that a [`GpuClock`] needs.
pub const FEATURES: wgpu::Features =
    wgpu::Features::TIMESTAMP_QUERY.union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS);

impl GpuClock {
    /// `None` if the device has no timestamps.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Option<Self> {
        let period = f64::from(queue.get_timestamp_period()) * 1e-9;
        if !device.features().contains(FEATURES) || period <= 0.0 {
            return None;
        }
        let queries = device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("viewer.clock"),
            ty: wgpu::QueryType::Timestamp,
            count: SLOTS * MARKS,
        });
        let buffer = |size: u64, usage: wgpu::BufferUsages| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("viewer.clock"),
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        let back = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let resolves = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let slot = |_| Slot {
            readback: buffer(BYTES, back),
            frame: None,
        };
        Some(Self {
            queries,
            resolved: buffer(ALIGNMENT * u64::from(SLOTS), resolves),
            slots: (0..SLOTS).map(slot).collect(),
            period,
            recording: None,
        })
    }

    /// Begins a frame, before skinning is recorded.
    pub fn begin(&mut self, encoder: &mut wgpu::CommandEncoder) {
        self.recording = self.slots.iter().position(|s| s.frame.is_none());
        self.mark(encoder, 0);
    }

    /// Marks the end of skinning.
    pub fn skinned(&self, encoder: &mut wgpu::CommandEncoder) {
        self.mark(encoder, 1);
    }

    /// Marks the end of the picture of the frame with this number.
    pub fn drawn(&mut self, encoder: &mut wgpu::CommandEncoder, frame: u64) {
        self.mark(encoder, 2);
        let Some(slot) = self.recording.take() else {
            return;
        };
        let (first, at) = (slot as u32 * MARKS, slot as u64 * ALIGNMENT);
        encoder.resolve_query_set(&self.queries, first..first + MARKS, &self.resolved, at);
        let slot = &mut self.slots[slot];
        encoder.copy_buffer_to_buffer(&self.resolved, at, &slot.readback, 0, BYTES);
        slot.frame = Some((frame, None));
    }

    fn mark(&self, encoder: &mut wgpu::CommandEncoder, mark: u32) {
        if let Some(slot) = self.recording {
            encoder.write_timestamp(&self.queries, slot as u32 * MARKS + mark);
        }
    }

    /// Asks for the times of the frames that were submitted, and gives those that have arrived: the number of the frame,
    /// and the seconds of skinning and drawing.
    pub fn take(&mut self, device: &wgpu::Device) -> Vec<(u64, [f64; 2])> {
        for slot in &mut self.slots {
            if let Some((_, asked @ None)) = &mut slot.frame {
                let (sender, receiver) = channel();
                *asked = Some(receiver);
                slot.readback
                    .map_async(wgpu::MapMode::Read, .., move |result| {
                        // Nobody may wait any more.
                        let _ = sender.send(result.is_ok());
                    });
            }
        }
        // A device that is lost is told of elsewhere.
        let _ = device.poll(wgpu::PollType::Poll);
        let mut out = Vec::new();
        for slot in &mut self.slots {
            let Some((frame, Some(receiver))) = &slot.frame else {
                continue;
            };
            let Ok(is_mapped) = receiver.try_recv() else {
                continue;
            };
            if is_mapped {
                let times = read(&slot.readback, self.period);
                out.extend(times.map(|times| (*frame, times)));
                slot.readback.unmap();
            }
            slot.frame = None;
        }
        out
    }
}

/// Seconds between the timestamps; `None` where they do not follow each other, as after a reset of the counter.
fn read(buffer: &wgpu::Buffer, period: f64) -> Option<[f64; 2]> {
    let bytes = buffer.get_mapped_range(..).ok()?;
    let ticks: Vec<u64> = bytes
        .chunks_exact(8)
        .filter_map(|b| Some(u64::from_le_bytes(b.try_into().ok()?)))
        .collect();
    let [begin, skinned, drawn] = ticks[..].try_into().ok()?;
    let seconds = |from: u64, to: u64| to.checked_sub(from).map(|t| t as f64 * period);
    Some([seconds(begin, skinned)?, seconds(skinned, drawn)?])
}
