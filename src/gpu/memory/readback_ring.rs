//! Staging buffers that bring results back to the CPU a few frames later.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use crate::gpu::device::error::{GpuError, guarded};
use crate::gpu::device::mapping::{CALLBACK, failure};
use crate::gpu::device::skinner::Skinner;

/// A range of a buffer that is to be read.
#[derive(Debug)]
pub struct Copied<'a> {
    pub from: &'a wgpu::Buffer,
    pub offset: u64,
    pub bytes: u64,
}

/// How a reading ended.
#[derive(Debug)]
enum Outcome {
    Mapped,
    NotMapped,
    /// Its encoder was dropped.
    NotSubmitted,
}

type Arrival = (u64, wgpu::Buffer, Outcome);

/// Sends the staging buffer back to the ring, also if the encoder is dropped.
struct Returning {
    number: u64,
    buffer: wgpu::Buffer,
    outcome: Outcome,
    sender: Sender<Arrival>,
}

impl Returning {
    fn back(mut self, is_mapped: bool) {
        self.outcome = match is_mapped {
            true => Outcome::Mapped,
            false => Outcome::NotMapped,
        };
    }
}

impl Drop for Returning {
    fn drop(&mut self) {
        let outcome = std::mem::replace(&mut self.outcome, Outcome::NotSubmitted);
        // The ring may be dropped by now.
        let _ = self
            .sender
            .send((self.number, self.buffer.clone(), outcome));
    }
}

/// The readings that are under way, and free staging buffers.
#[derive(Debug)]
pub struct ReadbackRing {
    device: wgpu::Device,
    free: Vec<wgpu::Buffer>,
    sender: Sender<Arrival>,
    /// A mutex because a receiver is not `Sync`; nothing else locks it.
    receiver: Mutex<Receiver<Arrival>>,
    /// Bytes of each reading whose results were not taken yet.
    under_way: HashMap<u64, u64>,
    arrived: HashMap<u64, (wgpu::Buffer, Outcome)>,
    /// Readings whose results nobody will take.
    discarded: HashSet<u64>,
}

impl ReadbackRing {
    pub fn new(device: &wgpu::Device) -> Self {
        let (sender, receiver) = channel();
        Self {
            device: device.clone(),
            free: Vec::new(),
            sender,
            receiver: Mutex::new(receiver),
            under_way: HashMap::new(),
            arrived: HashMap::new(),
            discarded: HashSet::new(),
        }
    }

    /// Number of readings whose buffers are not free yet.
    pub fn len(&mut self) -> usize {
        self.receive();
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
        self.receive();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let total: u64 = copies.iter().map(|copy| copy.bytes).sum();
        let limit = skinner.limits.buffer_bytes;
        if total > limit {
            return Err(GpuError::Limit {
                what: "bytes of one reading".into(),
                asked: total,
                limit,
            });
        }
        self.under_way.insert(number, total);
        if total == 0 {
            return Ok(number);
        }
        let buffer = self.buffer(skinner, total).inspect_err(|_| {
            self.under_way.remove(&number);
        })?;
        let returning = Returning {
            number,
            buffer: buffer.clone(),
            outcome: Outcome::NotSubmitted,
            sender: self.sender.clone(),
        };
        let mut at = 0;
        for copy in copies.iter().filter(|copy| copy.bytes > 0) {
            encoder.copy_buffer_to_buffer(copy.from, copy.offset, &buffer, at, copy.bytes);
            at += copy.bytes;
        }
        encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, ..total, move |result| {
            returning.back(result.is_ok());
        });
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

    fn receiver(&mut self) -> &mut Receiver<Arrival> {
        let receiver = self.receiver.get_mut();
        receiver.unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives the staging buffers that arrived.
    fn receive(&mut self) {
        while let Ok(arrival) = self.receiver().try_recv() {
            self.keep(arrival);
        }
    }

    fn keep(&mut self, (number, buffer, outcome): Arrival) {
        if self.discarded.remove(&number) {
            self.release(buffer, &outcome);
        } else {
            self.arrived.insert(number, (buffer, outcome));
        }
    }

    fn release(&mut self, buffer: wgpu::Buffer, outcome: &Outcome) {
        match outcome {
            Outcome::Mapped if guarded(&self.device, || buffer.unmap()).is_ok() => {}
            Outcome::NotSubmitted => {}
            // Something is wrong with it.
            Outcome::Mapped | Outcome::NotMapped => return,
        }
        self.free.push(buffer);
    }

    /// Passes the bytes of a reading to `f` if they have arrived; `None` otherwise.
    pub fn take<T>(
        &mut self,
        skinner: &Skinner,
        number: u64,
        f: impl FnOnce(&[u8]) -> T,
    ) -> Option<Result<T, GpuError>> {
        self.receive();
        if self.under_way.get(&number) == Some(&0) {
            self.under_way.remove(&number);
            return Some(Ok(f(&[])));
        }
        let (buffer, outcome) = self.arrived.remove(&number)?;
        let bytes = self.under_way.remove(&number).unwrap_or(0);
        let failed = |text: String| failure(&skinner.device, text);
        let result = match &outcome {
            Outcome::Mapped => guarded(&skinner.device, || {
                let view = buffer.slice(..bytes).get_mapped_range();
                view.map(|view| f(&view)).map_err(|e| failed(e.to_string()))
            })
            .flatten(),
            Outcome::NotMapped => Err(failed("a staging buffer could not be mapped".into())),
            Outcome::NotSubmitted => Err(GpuError::Mismatch(
                "the encoder of this reading was dropped, and not submitted".into(),
            )),
        };
        self.release(buffer, &outcome);
        Some(result)
    }

    /// Waits for a submitted reading; then the same as [`ReadbackRing::take`].
    pub fn wait<T>(
        &mut self,
        skinner: &Skinner,
        number: u64,
        f: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, GpuError> {
        self.arrive(skinner, number, None)?;
        let stopped = || GpuError::Lost("the device stopped before its results came".into());
        self.take(skinner, number, f)
            .unwrap_or_else(|| Err(stopped()))
    }

    /// Waits until a reading has arrived. Without a submission it waits for all submissions.
    pub fn arrive(
        &mut self,
        skinner: &Skinner,
        number: u64,
        submission_index: Option<wgpu::SubmissionIndex>,
    ) -> Result<(), GpuError> {
        let polled = guarded(&skinner.device, || {
            skinner.device.poll(wgpu::PollType::Wait {
                submission_index,
                timeout: None,
            })
        })?;
        polled.map_err(|error| failure(&skinner.device, error.to_string()))?;
        self.receive();
        // Another thread that polls the same device may deliver this callback a little later.
        while self.under_way.get(&number).is_some_and(|bytes| *bytes > 0)
            && !self.arrived.contains_key(&number)
        {
            match self.receiver().recv_timeout(CALLBACK) {
                Ok(arrival) => self.keep(arrival),
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Discards a reading. Its buffer is free as soon as it arrives.
    pub fn discard(&mut self, number: u64) {
        self.receive();
        let bytes = self.under_way.remove(&number);
        match self.arrived.remove(&number) {
            Some((buffer, outcome)) => self.release(buffer, &outcome),
            None if bytes.is_some_and(|bytes| bytes > 0) => {
                self.discarded.insert(number);
            }
            None => {}
        }
    }
}
