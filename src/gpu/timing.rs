//! GPU times by timestamps.

use std::time::Duration;

use super::GpuError;
use super::error::guarded;
use super::skinner::Skinner;

/// How long each kernel's pass of the last frame took on the GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GpuTimes {
    /// Local transforms to palettes; zero without rigs.
    pub pose: Duration,
    /// Channel weights to sub-shape weights; zero without blend shapes.
    pub weights: Duration,
    /// Blend and skin.
    pub skin: Duration,
    /// Made normals; zero where no skin has some.
    pub made_normals: Duration,
    /// Bounding boxes; zero where they are not enabled.
    pub bounds: Duration,
}

const PASSES: usize = 5;

/// Number of the pass that poses rigs, which comes first.
pub(super) const POSE_PASS: usize = 4;
const QUERIES: u32 = 2 * PASSES as u32;
const BYTES: u64 = QUERIES as u64 * 8;

/// Timestamps of the last encoded frame.
#[derive(Debug)]
pub(super) struct Timing {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readable: wgpu::Buffer,
    /// Which passes the last frame had.
    pub wrote: [bool; PASSES],
}

impl Timing {
    pub fn new(device: &wgpu::Device) -> Self {
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("sinew.timestamps"),
                size: BYTES,
                usage,
                mapped_at_creation: false,
            })
        };
        Self {
            set: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("sinew.timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count: QUERIES,
            }),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            readable: buffer(wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ),
            wrote: [false; PASSES],
        }
    }

    /// Timestamps around pass 0 (weights), 1 (skin), 2 (made normals), 3 (bounds) or 4 (pose).
    pub fn around(&self, pass: u32) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.set,
            beginning_of_pass_write_index: Some(pass * 2),
            end_of_pass_write_index: Some(pass * 2 + 1),
        }
    }

    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        for (pass, wrote) in self.wrote.iter().enumerate() {
            if *wrote {
                let first = pass as u32 * 2;
                // Each pass by itself: resolving a query that was never written is an error on some
                // backends. Destinations must be 256-aligned, so the buffer's start serves in turn.
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
    }

    /// Waits for the last frame.
    pub fn read(&self, skinner: &Skinner) -> Result<GpuTimes, GpuError> {
        let stamps: Vec<u64> = guarded(&skinner.device, || {
            super::ring::map_and(
                &skinner.device,
                &self.readable,
                BYTES,
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
        Ok(GpuTimes {
            pose: time(POSE_PASS),
            weights: time(0),
            skin: time(1),
            made_normals: time(2),
            bounds: time(3),
        })
    }
}
