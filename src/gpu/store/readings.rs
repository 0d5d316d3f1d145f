//! Results that are read back to the CPU: a few frames later, or at once.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use glam::{Vec3, Vec4};

use super::Stores;
use super::instances::InstanceId;
use super::target::{NORMALS, POINTS, PREVIOUS, TANGENTS, counts};
use crate::gpu::device::error::{GpuError, alive, failure, guarded};
use crate::gpu::device::skinner::Skinner;
use crate::gpu::device::waiting::{Message, wait_for_submission};
use crate::gpu::memory::readback_ring::{Copied, Outcome, ReadbackRing};
use crate::kernel::unpack_normal;

/// The results of one instance, on the CPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deformed {
    /// Points, or render vertices, in the space of the pose (`out_from_skel`).
    pub points: Vec<Vec3>,
    /// Normals in the same space; `None` if they are not written.
    pub normals: Option<Vec<Vec3>>,
    /// Tangents in the same space, with their handedness in `w`; `None` if they are not written.
    pub tangents: Option<Vec<Vec4>>,
    /// Positions of the previous frame, in the space of its pose; `None` if they are not written.
    pub previous: Option<Vec<Vec3>>,
}

/// Largest size of one mapped buffer for readings that wait, in bytes: enough for many frames,
/// little enough for any device.
const BATCH: u64 = 256 << 20;

/// Results that are being read back, from [`crate::gpu::Crowd::request_read`]. Dropping the ticket
/// frees its staging buffer.
#[derive(Debug)]
pub struct ReadTicket {
    number: u64,
    /// The submission of its commands, if the crowd itself submitted them.
    submission: Option<wgpu::SubmissionIndex>,
    /// The message that its results have arrived; `None` if there are none.
    outcome: Option<Arc<Message<Outcome>>>,
    /// Tells the crowd that somebody still waits for the results.
    _alive: Arc<()>,
}

/// One run of results, and which elements of a [`Deformed`] it fills.
#[derive(Clone, Debug)]
struct Piece {
    from: wgpu::Buffer,
    offset: u64,
    /// Size of an element and distance from one to the next, in bytes.
    width: usize,
    stride: usize,
    count: usize,
    /// The instance, among those that are read, the kind of result, and the first element to fill.
    instance: usize,
    kind: usize,
    first: usize,
}

impl Piece {
    /// Number of bytes to copy, gaps included.
    fn bytes(&self) -> u64 {
        match self.count {
            0 => 0,
            count => (count - 1) as u64 * self.stride as u64 + self.width as u64,
        }
    }

    fn copied(&self) -> Copied<'_> {
        Copied {
            from: &self.from,
            offset: self.offset,
            bytes: self.bytes(),
        }
    }
}

/// Copies the elements of each piece from the read bytes to the results.
fn scatter(pieces: &[Piece], mut copied: &[u8], out: &mut [Deformed]) {
    for piece in pieces {
        let (own, later) = copied.split_at(piece.bytes() as usize);
        copied = later;
        let result = &mut out[piece.instance];
        if (piece.kind, piece.width) == (NORMALS, 4) {
            let to = result.normals.as_deref_mut().unwrap_or_default();
            let words = own
                .chunks(piece.stride)
                .map(|at| [at[0], at[1], at[2], at[3]]);
            for (to, word) in to[piece.first..].iter_mut().zip(words) {
                *to = unpack_normal(u32::from_le_bytes(word));
            }
            continue;
        }
        let to: &mut [u8] = match piece.kind {
            NORMALS => bytemuck::cast_slice_mut(result.normals.as_deref_mut().unwrap_or_default()),
            TANGENTS => {
                bytemuck::cast_slice_mut(result.tangents.as_deref_mut().unwrap_or_default())
            }
            PREVIOUS => {
                bytemuck::cast_slice_mut(result.previous.as_deref_mut().unwrap_or_default())
            }
            _ => bytemuck::cast_slice_mut(&mut result.points),
        };
        let to = &mut to[piece.first * piece.width..][..piece.count * piece.width];
        if piece.stride == piece.width {
            to.copy_from_slice(own);
            continue;
        }
        for (to, from) in to
            .chunks_exact_mut(piece.width)
            .zip(own.chunks(piece.stride))
        {
            to.copy_from_slice(&from[..piece.width]);
        }
    }
}

/// The reading of one ticket.
#[derive(Debug)]
struct Pending {
    alive: Weak<()>,
    pieces: Vec<Piece>,
    out: Vec<Deformed>,
}

impl Pending {
    /// Returns its results, from the bytes that were read.
    fn fill(&mut self, data: &[u8]) -> Vec<Deformed> {
        scatter(&self.pieces, data, &mut self.out);
        std::mem::take(&mut self.out)
    }
}

fn taken() -> GpuError {
    GpuError::foreign("a reading")
}

/// The largest number of readings that may be under way at a time.
pub const MOST_READS: usize = 8;

/// The readings of a crowd.
#[derive(Debug)]
pub struct Readings {
    ring: ReadbackRing,
    pending: HashMap<u64, Pending>,
}

impl Readings {
    pub fn new(device: &wgpu::Device) -> Self {
        Self {
            ring: ReadbackRing::new(device),
            pending: HashMap::new(),
        }
    }

    /// Frees the buffers of tickets that were dropped.
    pub fn sweep(&mut self) {
        let ring = &mut self.ring;
        self.pending.retain(|number, pending| {
            let waits = pending.alive.strong_count() > 0;
            if !waits {
                ring.discard(*number);
            }
            waits
        });
    }

    /// Records a reading of some instances' results.
    pub fn request(
        &mut self,
        skinner: &Skinner,
        stores: &Stores,
        encoder: &mut wgpu::CommandEncoder,
        instances: &[InstanceId],
    ) -> Result<ReadTicket, GpuError> {
        let (pieces, out) = pieces(stores, instances)?;
        alive(&skinner.device)?;
        self.sweep();
        if self.ring.len() >= MOST_READS {
            let text = format!("{MOST_READS} readings are under way already");
            return Err(GpuError::Busy(text));
        }
        let copies: Vec<Copied<'_>> = pieces.iter().map(Piece::copied).collect();
        let number = self.ring.record(skinner, encoder, &copies)?;
        let alive = Arc::new(());
        let pending = Pending {
            alive: Arc::downgrade(&alive),
            pieces,
            out,
        };
        self.pending.insert(number, pending);
        Ok(ReadTicket {
            number,
            submission: None,
            outcome: self.ring.outcome(number),
            _alive: alive,
        })
    }

    /// Waits for a reading whose commands are submitted.
    pub fn wait(
        &mut self,
        skinner: &Skinner,
        ticket: &ReadTicket,
    ) -> Result<Vec<Deformed>, GpuError> {
        if let Some(outcome) = &ticket.outcome
            && self.pending.contains_key(&ticket.number)
        {
            let submission = ticket.submission.clone();
            wait_for_submission(&skinner.device, submission, outcome.wait())?;
        }
        self.take(skinner, ticket).unwrap_or_else(|| Err(taken()))
    }

    /// Lets the device call back for finished work, without waiting.
    pub fn poll(&mut self, skinner: &Skinner) -> Result<(), GpuError> {
        let device = &skinner.device;
        let polled = guarded(device, || device.poll(wgpu::PollType::Poll))?;
        polled.map_err(|error| failure(device, error.to_string()))?;
        self.sweep();
        Ok(())
    }

    /// The results of a reading; `None` while they are under way.
    pub fn take(
        &mut self,
        skinner: &Skinner,
        ticket: &ReadTicket,
    ) -> Option<Result<Vec<Deformed>, GpuError>> {
        let Self { ring, pending } = self;
        let Some(of_ticket) = pending.get_mut(&ticket.number) else {
            return Some(Err(taken()));
        };
        let result = ring.take(skinner, ticket.number, |data| of_ticket.fill(data))?;
        pending.remove(&ticket.number);
        Some(result)
    }

    /// Waits for the last submitted frame and reads some instances' results, as many at a time as
    /// one mapped buffer holds.
    pub fn read(
        &mut self,
        skinner: &Skinner,
        stores: &Stores,
        instances: &[InstanceId],
    ) -> Result<Vec<Deformed>, GpuError> {
        let (pieces, mut out) = pieces(stores, instances)?;
        let most = BATCH.min(skinner.limits.buffer_bytes);
        let mut rest = &pieces[..];
        while !rest.is_empty() {
            let (mut total, mut count) = (0, 0);
            while count < rest.len() && (count == 0 || total + rest[count].bytes() <= most) {
                total += rest[count].bytes();
                count += 1;
            }
            let (batch, later) = rest.split_at(count);
            rest = later;
            let copies: Vec<Copied<'_>> = batch.iter().map(Piece::copied).collect();
            let mut encoder = guarded(&skinner.device, || {
                let label = Some("sinew.readback");
                let descriptor = wgpu::CommandEncoderDescriptor { label };
                skinner.device.create_command_encoder(&descriptor)
            })?;
            let number = self.ring.record(skinner, &mut encoder, &copies)?;
            let submitted = guarded(&skinner.device, || {
                skinner.queue.submit([encoder.finish()]);
            });
            if let Err(error) = submitted {
                self.ring.discard(number);
                return Err(error);
            }
            self.ring
                .wait(skinner, number, |data| scatter(batch, data, &mut out))?;
        }
        Ok(out)
    }
}

impl ReadTicket {
    /// Returns a future that is ready when [`crate::gpu::Crowd::take`] has an answer: the results
    /// are there, or their encoder was dropped. It borrows nothing, so the crowd can encode more
    /// frames meanwhile. In a browser the event loop wakes it. On native targets somebody must poll
    /// the device, as every submission, [`crate::gpu::Crowd::poll`] and [`crate::gpu::wait_for`] do.
    pub fn arrived(&self) -> impl Future<Output = ()> + Send + use<> {
        let outcome = self.outcome.clone();
        async move {
            if let Some(outcome) = outcome {
                outcome.wait().await;
            }
        }
    }

    /// Records the submission that its commands are part of.
    pub(in crate::gpu) fn set_submission(&mut self, submission: wgpu::SubmissionIndex) {
        self.submission = Some(submission);
    }
}

/// Where the results of some instances lie, and empty results to fill.
fn pieces(
    stores: &Stores,
    instances: &[InstanceId],
) -> Result<(Vec<Piece>, Vec<Deformed>), GpuError> {
    let mut pieces = Vec::new();
    let mut out = Vec::with_capacity(instances.len());
    for (number, id) in instances.iter().enumerate() {
        let instance = stores.instances.get(*id)?;
        let skin = stores.skins.get(instance.skin)?;
        if !instance.written {
            let instance = id.index();
            return Err(GpuError::NoFrame { instance });
        }
        let wanted = instance.target.kinds(&skin.packed);
        let counts = counts(&skin.packed);
        let count = |kind: usize| wanted[kind].and(counts[kind]);
        let zeros = |kind: usize| count(kind).map(|n| vec![Vec3::ZERO; n]);
        out.push(Deformed {
            points: zeros(POINTS).unwrap_or_default(),
            normals: zeros(NORMALS),
            tangents: count(TANGENTS).map(|n| vec![Vec4::ZERO; n]),
            previous: zeros(PREVIOUS),
        });
        let widths = wanted.map(|requested| requested.map_or(0, |w| w.width));
        for (kind, width) in widths.into_iter().enumerate() {
            for slice in stores.outputs.slices(instance, skin, kind) {
                if !slice.buffer.usage().contains(wgpu::BufferUsages::COPY_SRC) {
                    let what = format!("{}: reading", skin.packed.prim());
                    let found = format!("usage {:?}", slice.buffer.usage());
                    let expected = "a buffer with usage COPY_SRC";
                    return Err(GpuError::invalid(what, expected, found));
                }
                pieces.push(Piece {
                    from: slice.buffer.clone(),
                    offset: slice.offset,
                    width: width as usize,
                    stride: slice.stride as usize,
                    count: slice.count,
                    instance: number,
                    kind,
                    first: slice.first,
                });
            }
        }
    }
    Ok((pieces, out))
}
