//! What frames cost: the CPU's time by the clock, the GPU's by timestamps, and how many characters were seen. It never
//! waits: numbers of a frame arrive a few frames later.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use host::{Gpu, buffer};
use sinew::wgpu;

use crate::squads::Squad;

/// What a frame cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// The CPU: changing what is played, and recording everything.
    pub cpu: Duration,
    /// The GPU, until it draws: culling, clips, poses, skinning. `None` without timestamps.
    pub compute: Option<Duration>,
    /// The GPU, while it draws.
    pub draw: Option<Duration>,
    /// Bytes that the engine uploaded.
    pub uploaded: u64,
    /// Characters that were drawn.
    pub seen: u32,
}

/// A time among the costs of a frame, if it is known.
pub type TimeOf = fn(&Cost) -> Option<Duration>;

/// The times of a frame.
pub const KINDS: [(&str, TimeOf); 3] = [
    ("CPU, playing and recording", |c| Some(c.cpu)),
    ("GPU, culling to skinning", |c| c.compute),
    ("GPU, drawing", |c| c.draw),
];

/// The costs of so many frames are kept.
pub const KEPT: usize = 120;
/// Numbers of frames that may be on their way.
const SLOTS: usize = 4;
/// Timestamps of a frame: the beginning of the culling, and the beginning and the end of the drawing.
const STAMPS: u32 = 3;
/// Byte of a readable buffer where the numbers of squads begin.
const COUNTS: u64 = 32;

/// A readable buffer, and the numbers of its frame that the CPU knows.
type Frame = (wgpu::Buffer, Cost);

pub struct Times {
    stamps: Option<wgpu::QuerySet>,
    resolved: wgpu::Buffer,
    /// Nanoseconds of a tick.
    period: f64,
    free: Vec<wgpu::Buffer>,
    /// The frame that is recorded and not yet submitted.
    recorded: Option<Frame>,
    /// Frames whose numbers have arrived.
    arrived: (Sender<Frame>, Receiver<Frame>),
    /// Whether the costs of the first frame have arrived. It makes plans and pipelines and is left out.
    is_warm: bool,
    /// The costs of the last [`KEPT`] frames that have arrived, oldest first.
    pub last: VecDeque<Cost>,
}

impl Times {
    pub fn new(gpu: &Gpu, squads: usize) -> Self {
        use wgpu::BufferUsages as Usages;
        let features = gpu.device.features();
        let has_stamps = features.contains(wgpu::Features::TIMESTAMP_QUERY);
        let bytes = COUNTS + 4 * squads as u64;
        let readable = || buffer(gpu, bytes, Usages::COPY_DST | Usages::MAP_READ);
        Self {
            stamps: has_stamps.then(|| {
                gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                    label: Some("crowd.times"),
                    ty: wgpu::QueryType::Timestamp,
                    count: STAMPS,
                })
            }),
            resolved: buffer(gpu, COUNTS, Usages::QUERY_RESOLVE | Usages::COPY_SRC),
            period: f64::from(gpu.queue.get_timestamp_period()),
            free: (0..SLOTS).map(|_| readable()).collect(),
            recorded: None,
            arrived: channel(),
            is_warm: false,
            last: VecDeque::new(),
        }
    }

    /// For the pass that comes first.
    pub fn of_culling(&self) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        Some(wgpu::ComputePassTimestampWrites {
            query_set: self.stamps.as_ref()?,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: None,
        })
    }

    /// For the pass that draws.
    pub fn of_drawing(&self) -> Option<wgpu::RenderPassTimestampWrites<'_>> {
        Some(wgpu::RenderPassTimestampWrites {
            query_set: self.stamps.as_ref()?,
            beginning_of_pass_write_index: Some(1),
            end_of_pass_write_index: Some(2),
        })
    }

    /// Records what makes a frame's numbers readable, after all its passes. A frame is left out if the numbers of too many
    /// others are on their way.
    pub fn record(&mut self, encoder: &mut wgpu::CommandEncoder, squads: &[Squad], cost: Cost) {
        let Some(readable) = self.free.pop() else {
            return;
        };
        if let Some(stamps) = &self.stamps {
            encoder.resolve_query_set(stamps, 0..STAMPS, &self.resolved, 0);
            let bytes = u64::from(STAMPS) * 8;
            encoder.copy_buffer_to_buffer(&self.resolved, 0, &readable, 0, bytes);
        }
        for (n, squad) in (0..).zip(squads) {
            // The number of instances of its first draw.
            encoder.copy_buffer_to_buffer(&squad.draws, 4, &readable, COUNTS + 4 * n, 4);
        }
        self.recorded = Some((readable, cost));
    }

    /// Call it when the frame is submitted.
    pub fn submitted(&mut self) {
        let Some((readable, cost)) = self.recorded.take() else {
            return;
        };
        let (arrived, mapped) = (self.arrived.0.clone(), readable.clone());
        readable.map_async(wgpu::MapMode::Read, .., move |done| {
            if done.is_ok() {
                // Nobody waits for it when the program ends.
                let _ = arrived.send((mapped, cost));
            }
        });
    }

    /// Takes the numbers that have arrived.
    pub fn collect(&mut self) {
        for (readable, mut cost) in self.arrived.1.try_iter() {
            let words: Vec<u32> = match readable.get_mapped_range(..) {
                Ok(bytes) => bytemuck::pod_collect_to_vec(&bytes),
                Err(_) => continue,
            };
            readable.unmap();
            self.free.push(readable);
            let stamp = |i: usize| u64::from(words[2 * i]) | u64::from(words[2 * i + 1]) << 32;
            let between = |a: usize, b: usize| {
                let ticks = stamp(b).saturating_sub(stamp(a)) as f64;
                Duration::from_secs_f64(ticks * self.period * 1e-9)
            };
            if self.stamps.is_some() {
                cost.compute = Some(between(0, 1));
                cost.draw = Some(between(1, 2));
            }
            cost.seen = words[COUNTS as usize / 4..].iter().sum();
            if std::mem::replace(&mut self.is_warm, true) {
                self.last.push_back(cost);
            }
        }
        let old = self.last.len().saturating_sub(KEPT);
        self.last.drain(..old);
    }

    /// What the last frames cost, as lines of text.
    pub fn report(&self) -> String {
        let mut out = format!("{:32}{:>12}{:>12}\n", "", "mean", "worst");
        for (name, of) in KINDS {
            let known: Vec<Duration> = self.last.iter().filter_map(of).collect();
            out += &match known.iter().max() {
                None => format!("{name:32}{:>12}{:>12}\n", "-", "-"),
                Some(worst) => {
                    let millis = |time: Duration| time.as_secs_f64() * 1e3;
                    let mean = millis(known.iter().sum()) / known.len() as f64;
                    format!("{name:32}{mean:>9.2} ms{:>9.2} ms\n", millis(*worst))
                }
            };
        }
        let mean = |of: fn(&Cost) -> u64| {
            self.last.iter().map(of).sum::<u64>() / self.last.len().max(1) as u64
        };
        let (seen, uploaded) = (mean(|c| c.seen.into()), mean(|c| c.uploaded));
        out + &format!("{seen} seen and {uploaded} bytes uploaded in a frame, on average")
    }
}
