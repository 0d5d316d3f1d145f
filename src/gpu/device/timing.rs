//! GPU times, measured by timestamps.

use std::time::Duration;

use web_time::Instant;

use super::error::GpuError;
use super::mapping::mapped;
use super::skinner::Skinner;

/// How long each pass of the last frame took on the GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuTimes {
    passes: Vec<(&'static str, Duration)>,
}

impl GpuTimes {
    /// The time of each pass, by the name of its kernel, in the order in which passes run. A pass
    /// without work has time zero.
    #[must_use]
    pub fn passes(&self) -> &[(&'static str, Duration)] {
        &self.passes
    }

    /// The time of the passes of one kernel; zero if there are none.
    #[must_use]
    pub fn of(&self, kernel: &str) -> Duration {
        let mine = self.passes.iter().filter(|(name, _)| *name == kernel);
        mine.map(|(_, time)| *time).sum()
    }

    /// The sum of all passes.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.passes.iter().map(|(_, time)| *time).sum()
    }
}

/// Timestamps of the last encoded frame: two for each pass.
#[derive(Debug)]
pub struct Timing {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readable: wgpu::Buffer,
    names: Vec<&'static str>,
    /// Which passes the last frame had.
    wrote: Vec<bool>,
    /// When the last frame was encoded, which is before it began on the GPU.
    encoded: Instant,
}

/// How much longer than by the CPU's clock a frame may take by the GPU's: the two clocks drift.
const DRIFT: f64 = 1.01;

/// The time of each pass, by its two timestamps in ticks of `period` nanoseconds; zero for a pass
/// that the frame did not have. `None` if the timestamps cannot be true: one was not written, a pass
/// ends before it begins (as after a reset of the counter), or the frame took longer than the
/// `wall` time around it.
fn pass_times(
    stamps: &[u64],
    wrote: &[bool],
    period: f64,
    wall: Duration,
) -> Option<Vec<Duration>> {
    let time = |ticks: u64| Duration::from_nanos((ticks as f64 * period) as u64);
    let mut out = Vec::with_capacity(wrote.len());
    let mut frame: Option<(u64, u64)> = None;
    for (pair, wrote) in stamps.chunks_exact(2).zip(wrote) {
        let &[begin, end] = pair else { continue };
        if !wrote {
            out.push(Duration::ZERO);
            continue;
        }
        out.push(time(end.checked_sub(begin).filter(|_| begin > 0)?));
        let (first, last) = frame.unwrap_or((begin, end));
        frame = Some((first.min(begin), last.max(end)));
    }
    let (first, last) = frame.unwrap_or_default();
    (time(last - first) <= wall.mul_f64(DRIFT)).then_some(out)
}

impl Timing {
    /// Creates timestamps for passes with these names.
    pub fn new(device: &wgpu::Device, names: Vec<&'static str>) -> Self {
        let queries = 2 * names.len() as u32;
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("sinew.timestamps"),
                size: u64::from(queries) * 8,
                usage,
                mapped_at_creation: false,
            })
        };
        Self {
            set: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("sinew.timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count: queries,
            }),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            readable: buffer(wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ),
            wrote: vec![false; names.len()],
            encoded: Instant::now(),
            names,
        }
    }

    /// Notes whether a pass has work in this frame.
    pub fn set_written(&mut self, pass: usize, has_work: bool) {
        self.wrote[pass] = has_work;
    }

    /// Whether any frame had work.
    pub fn has_any(&self) -> bool {
        self.wrote.contains(&true)
    }

    /// The timestamp writes around a pass. `pass` is its index among the names.
    pub fn around(&self, pass: usize) -> wgpu::ComputePassTimestampWrites<'_> {
        let first = pass as u32 * 2;
        wgpu::ComputePassTimestampWrites {
            query_set: &self.set,
            beginning_of_pass_write_index: Some(first),
            end_of_pass_write_index: Some(first + 1),
        }
    }

    /// Records copies that make the timestamps readable.
    pub fn resolve(&mut self, encoder: &mut wgpu::CommandEncoder) {
        self.encoded = Instant::now();
        for (pass, _) in self.wrote.iter().enumerate().filter(|(_, wrote)| **wrote) {
            let first = pass as u32 * 2;
            // One pass at a time, because resolving a query that was never written is an error on
            // some backends (https://github.com/gfx-rs/wgpu/issues/3993). Destinations must be 256-aligned, so each pass uses the start of the
            // buffer in turn.
            encoder.resolve_query_set(&self.set, first..first + 2, &self.resolved, 0);
            encoder.copy_buffer_to_buffer(
                &self.resolved,
                0,
                &self.readable,
                u64::from(first) * 8,
                16,
            );
        }
    }

    /// Reads the times of the last frame, which is submitted; `None` if they cannot be true.
    pub async fn read(&self, skinner: &Skinner) -> Result<Option<GpuTimes>, GpuError> {
        let (buffer, bytes) = (&self.readable, self.readable.size());
        let stamps: Vec<u64> =
            mapped(&skinner.device, buffer, bytes, bytemuck::pod_collect_to_vec).await?;
        let period = f64::from(skinner.queue.get_timestamp_period());
        let times = pass_times(&stamps, &self.wrote, period, self.encoded.elapsed());
        Ok(times.map(|times| GpuTimes {
            passes: self.names.iter().copied().zip(times).collect(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_that_cannot_be_true_give_no_times() {
        let wall = Duration::from_micros(1);
        let times = |stamps: &[u64]| pass_times(stamps, &[true, false, true], 2.0, wall);
        let [first, none, last] = [40, 0, 100].map(Duration::from_nanos);
        // The stamps of the pass that the frame does not have are old ones.
        let told = times(&[100, 120, 9, 3, 150, 200]);
        assert_eq!(told, Some(vec![first, none, last]));
        // Of the second pass: the end before the begin, no begin, and more than the wall time.
        assert_eq!(times(&[100, 120, 0, 0, 200, 150]), None);
        assert_eq!(times(&[100, 120, 0, 0, 0, 150]), None);
        assert_eq!(times(&[100, 120, 0, 0, 150, 700]), None);
        // Each pass is short enough, but they are too far apart.
        assert_eq!(times(&[100, 120, 0, 0, 690, 700]), None);
        assert!(times(&[100, 120, 0, 0, 590, 600]).is_some());
        assert_eq!(
            pass_times(&[0; 4], &[false; 2], 1.0, wall),
            Some(vec![none; 2])
        );
    }
}
