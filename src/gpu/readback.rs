//! Results back on the CPU: a few frames later, or at once.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use glam::{Vec3, Vec4};

use super::error::{alive, guarded};
use super::outputs::OutPage;
use super::ring::{Copied, Ring, failure};
use super::target::{NORMALS, POINTS, PREVIOUS, TANGENTS, counts};
use super::{Crowd, GpuError, InstanceId};
use crate::kernel::unpack_normal;

/// One instance's results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deformed {
    /// Points in the space that the pose leads to.
    pub points: Vec<Vec3>,
    /// Normals, where the instance has them written.
    pub normals: Option<Vec<Vec3>>,
    /// Tangents with their handedness, where the instance has them written.
    pub tangents: Option<Vec<Vec4>>,
    /// Positions of the frame before, where the instance has them written.
    pub previous: Option<Vec<Vec3>>,
}

/// Bytes in one mapped buffer at most, where results are waited for: enough for many frames, little enough
/// to be had anywhere.
const BATCH: u64 = 256 << 20;

/// Results that are on their way, from [`Crowd::request_read`]. Dropping it gives its staging buffer back.
#[derive(Debug)]
pub struct ReadTicket {
    number: u64,
    /// Known where the crowd itself submitted it.
    submission: Option<wgpu::SubmissionIndex>,
    /// Tells the crowd that somebody waits.
    _alive: Arc<()>,
}

/// One run of results and where its elements go.
#[derive(Clone, Debug)]
struct Piece {
    from: wgpu::Buffer,
    offset: u64,
    /// Bytes of an element, and from one to the next.
    width: usize,
    stride: usize,
    count: usize,
    /// Which of the results, of what kind, from which element on.
    instance: usize,
    kind: usize,
    first: usize,
}

impl Piece {
    /// Bytes to copy, gaps included.
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

/// Takes elements out of what was copied, piece by piece.
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

/// What a ticket stands for.
#[derive(Debug)]
struct Pending {
    alive: Weak<()>,
    pieces: Vec<Piece>,
    out: Vec<Deformed>,
}

/// A crowd's readings.
#[derive(Debug)]
pub(super) struct Reads {
    ring: Ring,
    pending: HashMap<u64, Pending>,
}

impl Reads {
    pub fn new(device: &wgpu::Device) -> Self {
        Self {
            ring: Ring::new(device),
            pending: HashMap::new(),
        }
    }

    /// Gives back the buffers of tickets that are gone.
    fn sweep(&mut self) {
        let ring = &mut self.ring;
        self.pending.retain(|number, pending| {
            let waits = pending.alive.strong_count() > 0;
            if !waits {
                ring.discard(*number);
            }
            waits
        });
    }
}

impl Crowd {
    /// Readings that may be under way at a time.
    pub const MOST_READS: usize = 8;

    /// Records the copying of some instances' results, as the last encoded frame leaves them, into the
    /// caller's encoder, to a staging buffer that is mapped once that is submitted and done. Nothing
    /// waits: call [`Crowd::poll`] now and then, and [`Crowd::take`] until it has them.
    ///
    /// Staging buffers are used again once taken from; there are at most [`Crowd::MOST_READS`].
    ///
    /// # Errors
    /// [`GpuError::Busy`] where as many readings are under way; [`GpuError::Mismatch`] for a foreign id, one that
    /// no frame was encoded for, or results in a buffer of the caller's without usage `COPY_SRC`;
    /// [`GpuError::Limit`] for more bytes than a buffer holds; no memory.
    pub fn request_read(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        instances: &[InstanceId],
    ) -> Result<ReadTicket, GpuError> {
        let (pieces, out) = self.pieces(instances)?;
        alive(&self.skinner.device)?;
        self.reads.sweep();
        if self.reads.ring.len() >= Self::MOST_READS {
            let text = format!("{} readings are under way already", Self::MOST_READS);
            return Err(GpuError::Busy(text));
        }
        let copies: Vec<Copied<'_>> = pieces.iter().map(Piece::copied).collect();
        let number = self.reads.ring.record(&self.skinner, encoder, &copies)?;
        let alive = Arc::new(());
        let pending = Pending {
            alive: Arc::downgrade(&alive),
            pieces,
            out,
        };
        self.reads.pending.insert(number, pending);
        Ok(ReadTicket {
            number,
            submission: None,
            _alive: alive,
        })
    }

    /// Encodes a frame and behind it the reading of some instances' results, and submits both, without waiting:
    /// [`Crowd::wait`] and [`Crowd::take`] have them. Further frames may be submitted before that, and overwrite nothing
    /// that is read, so the device works on one batch while the host makes the next and uses the one before.
    ///
    /// # Errors
    /// As [`Crowd::encode`] and [`Crowd::request_read`]. Where only the latter fails the frame is submitted, and
    /// [`Crowd::read`] can read it.
    pub fn submit_and_read(&mut self, instances: &[InstanceId]) -> Result<ReadTicket, GpuError> {
        let device = self.skinner.device.clone();
        let mut encoder = guarded(&device, || {
            let label = Some("sinew");
            device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label })
        })?;
        self.encode(&mut encoder)?;
        let ticket = self.request_read(&mut encoder, instances);
        let submission = guarded(&device, || self.skinner.queue.submit([encoder.finish()]))?;
        ticket.map(|mut ticket| {
            ticket.submission = Some(submission);
            ticket
        })
    }

    /// Waits for a reading whose commands are submitted, and hands its results out, in the order of its instances.
    ///
    /// # Errors
    /// As [`Crowd::take`].
    pub fn wait(&mut self, ticket: &ReadTicket) -> Result<Vec<Deformed>, GpuError> {
        if let Some(pending) = self.reads.pending.get(&ticket.number)
            && pending.pieces.iter().any(|piece| piece.count > 0)
        {
            let submission = ticket.submission.clone();
            let ring = &mut self.reads.ring;
            ring.arrive(&self.skinner, ticket.number, submission)?;
        }
        let stopped = || GpuError::Lost("the device stopped before its results came".into());
        self.take(ticket).unwrap_or_else(|| Err(stopped()))
    }

    /// Has the device call back for what is done, without waiting for anything. Hosts that poll their device
    /// themselves need not call it.
    ///
    /// # Errors
    /// A lost device.
    pub fn poll(&mut self) -> Result<(), GpuError> {
        let device = &self.skinner.device;
        let polled = guarded(device, || device.poll(wgpu::PollType::Poll))?;
        polled.map_err(|error| failure(device, error.to_string()))?;
        self.reads.sweep();
        Ok(())
    }

    /// The results of a reading, in the order of its instances: `None` while they are on their way.
    /// They are handed out once; later calls are an error.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a ticket of another crowd, one whose results were taken, or one whose encoder was
    /// dropped; a lost device.
    pub fn take(&mut self, ticket: &ReadTicket) -> Option<Result<Vec<Deformed>, GpuError>> {
        let Reads { ring, pending } = &mut self.reads;
        let Some(of_ticket) = pending.get_mut(&ticket.number) else {
            let text = "a reading of another crowd, or one that was taken";
            return Some(Err(GpuError::Mismatch(text.into())));
        };
        let Pending { pieces, out, .. } = of_ticket;
        let result = ring.take(&self.skinner, ticket.number, |data| {
            scatter(pieces, data, out);
            std::mem::take(out)
        })?;
        pending.remove(&ticket.number);
        Some(result)
    }

    /// Waits for the last submitted frame and reads some instances' results, as many per mapped
    /// buffer as fit. For use without a frame loop; [`Crowd::request_read`] does not wait.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, before a frame was encoded, or for results in a buffer of the
    /// caller's without usage `COPY_SRC`; a lost device.
    pub fn read(&mut self, instances: &[InstanceId]) -> Result<Vec<Deformed>, GpuError> {
        let (pieces, mut out) = self.pieces(instances)?;
        self.read_pieces(&pieces, |batch, data| scatter(batch, data, &mut out))?;
        Ok(out)
    }

    /// Copies all pieces, as many per map as fit, and waits for each.
    fn read_pieces(
        &mut self,
        pieces: &[Piece],
        mut each: impl FnMut(&[Piece], &[u8]),
    ) -> Result<(), GpuError> {
        let skinner = &self.skinner;
        let most = BATCH.min(skinner.limits.buffer_bytes);
        let mut rest = pieces;
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
            let number = self.reads.ring.record(skinner, &mut encoder, &copies)?;
            let submitted = guarded(&skinner.device, || {
                skinner.queue.submit([encoder.finish()]);
            });
            if let Err(error) = submitted {
                self.reads.ring.discard(number);
                return Err(error);
            }
            self.reads
                .ring
                .wait(skinner, number, |data| each(batch, data))?;
        }
        Ok(())
    }

    /// Where the results of some instances are, and what they will fill.
    fn pieces(&self, instances: &[InstanceId]) -> Result<(Vec<Piece>, Vec<Deformed>), GpuError> {
        let mut pieces = Vec::new();
        let mut out = Vec::with_capacity(instances.len());
        for (number, id) in instances.iter().enumerate() {
            let (instance, held) = self.find(*id)?;
            if !instance.written {
                return Err(GpuError::Mismatch(
                    "no frame was encoded since this instance was added".into(),
                ));
            }
            let (counts, wanted) = (counts(&held.packed), instance.target.kinds(&held.packed));
            let count = |kind: usize| wanted[kind].and(counts[kind]);
            let zeros = |kind: usize| count(kind).map(|n| vec![Vec3::ZERO; n]);
            out.push(Deformed {
                points: zeros(POINTS).unwrap_or_default(),
                normals: zeros(NORMALS),
                tangents: count(TANGENTS).map(|n| vec![Vec4::ZERO; n]),
                previous: zeros(PREVIOUS),
            });
            let widths = wanted.map(|wish| wish.map_or(0, |w| w.width));
            for (kind, width) in widths.into_iter().enumerate() {
                for slice in self.on_gpu(*id, kind)? {
                    if !slice.buffer.usage().contains(wgpu::BufferUsages::COPY_SRC) {
                        return Err(GpuError::Mismatch(
                            "results in a buffer without usage COPY_SRC cannot be read".into(),
                        ));
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

    /// What lies behind the last output of every output buffer.
    #[doc(hidden)]
    pub fn read_behind_outputs(&mut self) -> Result<Vec<f32>, GpuError> {
        let arenas = self.out_pages.iter().flat_map(|page: &OutPage| &page.kinds);
        let pieces: Vec<Piece> = arenas
            .map(|arena| Piece {
                from: arena.buffer().clone(),
                offset: arena.high(),
                width: 4,
                stride: 4,
                count: (arena.buffer().size() - arena.high()) as usize / 4,
                instance: 0,
                kind: POINTS,
                first: 0,
            })
            .collect();
        let mut out = Vec::new();
        self.read_pieces(&pieces, |_, data| {
            out.extend(bytemuck::pod_collect_to_vec::<u8, f32>(data));
        })?;
        Ok(out)
    }
}
