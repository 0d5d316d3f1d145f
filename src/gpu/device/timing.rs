//! GPU times, measured by timestamps.

use std::time::Duration;

use super::error::{GpuError, guarded};
use super::mapping::map_and;
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
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        for (pass, _) in self.wrote.iter().enumerate().filter(|(_, wrote)| **wrote) {
            let first = pass as u32 * 2;
            // One pass at a time, because resolving a query that was never written is an error on
            // some backends. Destinations must be 256-aligned, so each pass uses the start of the
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

    /// Waits for the last frame and reads its times.
    pub fn read(&self, skinner: &Skinner) -> Result<GpuTimes, GpuError> {
        let stamps: Vec<u64> = guarded(&skinner.device, || {
            map_and(
                &skinner.device,
                &self.readable,
                self.readable.size(),
                bytemuck::pod_collect_to_vec,
            )
        })??;
        let period = f64::from(skinner.queue.get_timestamp_period());
        let time = |pass: usize| {
            if !self.wrote[pass] {
                return Duration::ZERO;
            }
            let ticks = stamps[pass * 2 + 1].saturating_sub(stamps[pass * 2]);
            Duration::from_nanos((ticks as f64 * period) as u64)
        };
        let passes = self.names.iter().enumerate();
        Ok(GpuTimes {
            passes: passes.map(|(pass, name)| (*name, time(pass))).collect(),
        })
    }
}
