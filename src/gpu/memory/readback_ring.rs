//! Staging buffers that bring results back to the CPU a few frames later.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::gpu::device::error::{GpuError, failure, guarded};
use crate::gpu::device::skinner::Skinner;
use crate::gpu::device::waiting::{Message, wait_for};

/// A range of a buffer that is to be read.
#[derive(Debug)]
pub struct Copied<'a> {
    pub from: &'a wgpu::Buffer,
    pub offset: u64,
    pub bytes: u64,
}

/// How a reading ended.
#[derive(Clone, Copy, Debug)]
pub enum Outcome {
    Mapped,
    NotMapped,
    /// Its encoder was dropped.
    NotSubmitted,
}

/// A reading that is recorded.
#[derive(Debug)]
struct Reading {
    buffer: wgpu::Buffer,
    bytes: u64,
    outcome: Arc<Message<Outcome>>,
}

/// The readings that are under way, and free staging buffers.
#[derive(Debug)]
pub struct ReadbackRing {
    device: wgpu::Device,
    free: Vec<wgpu::Buffer>,
    /// The readings whose results were not taken yet. One of no bytes has no buffer.
    under_way: HashMap<u64, Option<Reading>>,
    /// Readings whose results nobody will take.
    discarded: Vec<Reading>,
}

impl ReadbackRing {
    pub fn new(device: &wgpu::Device) -> Self {
        Self {
            device: device.clone(),
            free: Vec::new(),
            under_way: HashMap::new(),
            discarded: Vec::new(),
        }
    }

    /// Number of readings whose buffers are not free yet.
    pub fn len(&mut self) -> usize {
        self.release_discarded();
        self.under_way.len() + self.discarded.len()
    }

    /// Records copies of ranges, one after the other, into a staging buffer. The buffer is mapped
    /// once the copies are submitted and done. Returns the number of the reading, which is unique
    /// over all rings.
    pub fn record(
        &mut self,
        skinner: &Skinner,
        encoder: &mut wgpu::CommandEncoder,
        copies: &[Copied<'_>],
    ) -> Result<u64, GpuError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        self.release_discarded();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let total: u64 = copies.iter().map(|copy| copy.bytes).sum();
        let limit = skinner.limits.buffer_bytes;
        if total > limit {
            return Err(GpuError::limit("bytes of one reading", total, limit));
        }
        if total == 0 {
            self.under_way.insert(number, None);
            return Ok(number);
        }
        let buffer = self.buffer(skinner, total)?;
        let (outcome, sender) = Message::new(Outcome::NotSubmitted);
        let mut at = 0;
        for copy in copies.iter().filter(|copy| copy.bytes > 0) {
            encoder.copy_buffer_to_buffer(copy.from, copy.offset, &buffer, at, copy.bytes);
            at += copy.bytes;
        }
        encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, ..total, move |result| {
            sender.send(match result {
                Ok(()) => Outcome::Mapped,
                Err(_) => Outcome::NotMapped,
            });
        });
        let reading = Reading {
            buffer,
            bytes: total,
            outcome,
        };
        self.under_way.insert(number, Some(reading));
        Ok(number)
    }

    /// The smallest free buffer that is large enough. If there is none, all free buffers are dropped
    /// and a new one is created.
    fn buffer(&mut self, skinner: &Skinner, bytes: u64) -> Result<wgpu::Buffer, GpuError> {
        let fits = self
            .free
            .iter()
            .enumerate()
            .filter(|(_, b)| b.size() >= bytes);
        if let Some((i, _)) = fits.min_by_key(|(_, b)| b.size()) {
            return Ok(self.free.swap_remove(i));
        }
        self.free.clear();
        guarded(&skinner.device, || {
            skinner.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("sinew.readback"),
                size: bytes.next_multiple_of(256).min(skinner.limits.buffer_bytes),
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        })
    }

    /// Frees the buffers of discarded readings that have arrived.
    fn release_discarded(&mut self) {
        let arrived = |reading: &mut Reading| reading.outcome.get().is_some();
        for reading in self.discarded.extract_if(.., arrived).collect::<Vec<_>>() {
            self.release(reading);
        }
    }

    /// Frees the buffer of a reading that has arrived.
    fn release(&mut self, reading: Reading) {
        let is_good = match reading.outcome.get() {
            Some(Outcome::Mapped) => guarded(&self.device, || reading.buffer.unmap()).is_ok(),
            Some(Outcome::NotSubmitted) => true,
            Some(Outcome::NotMapped) | None => false,
        };
        if is_good {
            self.free.push(reading.buffer);
        }
    }

    /// The message that a reading has arrived; `None` if it has no bytes, or is not under way.
    pub fn outcome(&self, number: u64) -> Option<Arc<Message<Outcome>>> {
        let reading = self.under_way.get(&number)?.as_ref()?;
        Some(Arc::clone(&reading.outcome))
    }

    /// Passes the bytes of a reading to `f` if they have arrived; `None` otherwise.
    pub fn take<T>(
        &mut self,
        skinner: &Skinner,
        number: u64,
        f: impl FnOnce(&[u8]) -> T,
    ) -> Option<Result<T, GpuError>> {
        let outcome = match self.under_way.get(&number)? {
            Some(reading) => reading.outcome.get()?,
            None => Outcome::Mapped,
        };
        let Some(reading) = self.under_way.remove(&number).flatten() else {
            return Some(Ok(f(&[])));
        };
        let failed = |text: String| failure(&skinner.device, text);
        let result = match outcome {
            Outcome::Mapped => guarded(&skinner.device, || {
                let view = reading.buffer.slice(..reading.bytes).get_mapped_range();
                view.map(|view| f(&view)).map_err(|e| failed(e.to_string()))
            })
            .flatten(),
            Outcome::NotMapped => Err(failed("a staging buffer could not be mapped".into())),
            Outcome::NotSubmitted => Err(GpuError::NotSubmitted),
        };
        self.release(reading);
        Some(result)
    }

    /// Waits for a submitted reading; then the same as [`ReadbackRing::take`].
    pub fn wait<T>(
        &mut self,
        skinner: &Skinner,
        number: u64,
        f: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, GpuError> {
        if let Some(outcome) = self.outcome(number) {
            wait_for(&skinner.device, outcome.wait())?;
        }
        let stopped = || GpuError::Lost("the device stopped before its results came".into());
        self.take(skinner, number, f)
            .unwrap_or_else(|| Err(stopped()))
    }

    /// Discards a reading. Its buffer is free as soon as it arrives.
    pub fn discard(&mut self, number: u64) {
        if let Some(Some(reading)) = self.under_way.remove(&number) {
            self.discarded.push(reading);
        }
        self.release_discarded();
    }
}
