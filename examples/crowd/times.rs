//! What frames cost: the CPU's time by the clock, the GPU's by timestamps, and how many characters were seen. It never
//! waits: numbers of a frame arrive a few frames later.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use host::Gpu;
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

/// The costs of so many frames are kept, for the graph.
pub const KEPT: usize = 120;

/// The times of a frame that the report has.
const KINDS: [(&str, TimeOf); 3] = [
    ("CPU, playing and recording", |c| Some(c.cpu)),
    ("GPU, culling to skinning", |c| c.compute),
    ("GPU, drawing", |c| c.draw),
];

/// What all frames but the first one cost, which makes plans and pipelines.
#[derive(Default)]
struct Sums {
    frames: u64,
    /// Of [`KINDS`].
    times: [Sum; 3],
    seen: u64,
    uploaded: u64,
}

/// The times of one kind that are known.
#[derive(Default)]
struct Sum {
    count: u32,
    sum: Duration,
    worst: Duration,
}

/// Numbers of frames that may be on their way.
const SLOTS: usize = 4;
/// Timestamps of a frame: the beginning of the culling, and the beginning and the end of the drawing.
const STAMPS: u32 = 3;
/// Byte of a readable buffer where the numbers of squads begin.
const COUNTS: u64 = 32;

/// The numbers of a frame on their way to the CPU.
struct Slot {
    readable: wgpu::Buffer,
    /// The frame's other numbers, from its recording until all have arrived.
    frame: Option<Cost>,
    is_recorded: bool,
    has_arrived: Arc<AtomicBool>,
}

pub struct Times {
    stamps: Option<wgpu::QuerySet>,
    resolved: wgpu::Buffer,
    /// Nanoseconds of a tick.
    period: f64,
    slots: Vec<Slot>,
    squads: usize,
    /// Whether the costs of the first frame have arrived, which makes plans and pipelines and is left out.
    is_warm: bool,
    /// The costs of the last [`KEPT`] frames that have arrived, oldest first.
    pub last: VecDeque<Cost>,
    sums: Sums,
}

impl Times {
    pub fn new(gpu: &Gpu, squads: usize) -> Self {
        use wgpu::BufferUsages as Usages;
        let buffer = |size, usage| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("crowd.times"),
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        let has_stamps = gpu
            .device
            .features()
            .contains(wgpu::Features::TIMESTAMP_QUERY);
        let slot = || Slot {
            readable: buffer(
                COUNTS + 4 * squads as u64,
                Usages::COPY_DST | Usages::MAP_READ,
            ),
            frame: None,
            is_recorded: false,
            has_arrived: Arc::default(),
        };
        Self {
            stamps: has_stamps.then(|| {
                gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                    label: Some("crowd.times"),
                    ty: wgpu::QueryType::Timestamp,
                    count: STAMPS,
                })
            }),
            resolved: buffer(COUNTS, Usages::QUERY_RESOLVE | Usages::COPY_SRC),
            period: f64::from(gpu.queue.get_timestamp_period()),
            slots: (0..SLOTS).map(|_| slot()).collect(),
            squads,
            is_warm: false,
            last: VecDeque::new(),
            sums: Sums::default(),
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
        let Some(slot) = self.slots.iter_mut().find(|slot| slot.frame.is_none()) else {
            return;
        };
        if let Some(stamps) = &self.stamps {
            encoder.resolve_query_set(stamps, 0..STAMPS, &self.resolved, 0);
            let bytes = u64::from(STAMPS) * 8;
            encoder.copy_buffer_to_buffer(&self.resolved, 0, &slot.readable, 0, bytes);
        }
        for (n, squad) in (0..).zip(squads) {
            // The number of instances of its first draw.
            let at = COUNTS + 4 * n;
            encoder.copy_buffer_to_buffer(&squad.draws, 4, &slot.readable, at, 4);
        }
        (slot.frame, slot.is_recorded) = (Some(cost), true);
    }

    /// Call it when the frame is submitted.
    pub fn submitted(&mut self) {
        for slot in self.slots.iter_mut().filter(|slot| slot.is_recorded) {
            slot.is_recorded = false;
            let arrived = Arc::clone(&slot.has_arrived);
            let all = slot.readable.slice(..);
            all.map_async(wgpu::MapMode::Read, move |mapped| {
                arrived.store(mapped.is_ok(), Ordering::Release);
            });
        }
    }

    /// Takes the numbers that have arrived.
    pub fn collect(&mut self) {
        for slot in &mut self.slots {
            if !slot.has_arrived.swap(false, Ordering::Acquire) {
                continue;
            }
            let words: Vec<u32> = match slot.readable.slice(..).get_mapped_range() {
                Ok(bytes) => bytemuck::pod_collect_to_vec(&bytes),
                Err(_) => Vec::new(),
            };
            slot.readable.unmap();
            let Some(mut cost) = slot.frame.take().filter(|_| !words.is_empty()) else {
                continue;
            };
            let stamp = |i: usize| u64::from(words[2 * i]) | u64::from(words[2 * i + 1]) << 32;
            let between = |a: usize, b: usize| {
                let ticks = stamp(b).saturating_sub(stamp(a)) as f64;
                Duration::from_secs_f64(ticks * self.period * 1e-9)
            };
            if self.stamps.is_some() {
                cost.compute = Some(between(0, 1));
                cost.draw = Some(between(1, 2));
            }
            let counts = &words[COUNTS as usize / 4..];
            cost.seen = counts.iter().take(self.squads).sum();
            if std::mem::replace(&mut self.is_warm, true) {
                self.sums.add(&cost);
                self.last.push_back(cost);
            }
        }
        let old = self.last.len().saturating_sub(KEPT);
        self.last.drain(..old);
    }

    /// The costs of all frames but the first one, as lines of text.
    pub fn report(&self) -> String {
        let mut out = format!("{:32}{:>12}{:>12}\n", "", "mean", "worst");
        for ((name, _), time) in KINDS.iter().zip(&self.sums.times) {
            let millis = |time: Duration| time.as_secs_f64() * 1e3;
            out += &match time.count {
                0 => format!("{name:32}{:>12}{:>12}\n", "-", "-"),
                count => {
                    let (mean, worst) = (millis(time.sum) / f64::from(count), millis(time.worst));
                    format!("{name:32}{mean:>9.2} ms{worst:>9.2} ms\n")
                }
            };
        }
        let mean = |sum: u64| sum / self.sums.frames.max(1);
        let (seen, uploaded) = (mean(self.sums.seen), mean(self.sums.uploaded));
        out + &format!("{seen} seen and {uploaded} bytes uploaded in a frame, on average")
    }
}

impl Sums {
    fn add(&mut self, cost: &Cost) {
        self.frames += 1;
        self.seen += u64::from(cost.seen);
        self.uploaded += cost.uploaded;
        for ((_, of), sum) in KINDS.iter().zip(&mut self.times) {
            if let Some(time) = of(cost) {
                sum.count += 1;
                sum.sum += time;
                sum.worst = sum.worst.max(time);
            }
        }
    }
}
