//! Frames of C and F that compute only what a mask shows: GPU time by the share of characters that is visible, and what
//! recording such a frame costs the CPU.

use std::time::Instant;

use sinew::gpu::{GpuDevice, GpuError, MaskLayout, VisibilityMask};
use sinew::wgpu;

use crate::measure::{Runs, Times};
use crate::row::Row;
use crate::sinew_gpu::{OnDevice, WHO, stamped};
use crate::workloads::Workload;

pub const NAME: &str = "visible";

/// How many characters in a hundred are visible; without a mask first.
const SHARES: [Option<usize>; 5] = [None, Some(100), Some(10), Some(1), Some(0)];

/// The rows of a load.
pub fn rows(load: &Workload, device: &GpuDevice, runs: Runs) -> Result<Vec<Row>, GpuError> {
    let mut on = OnDevice::new(load, device, &stamped())?;
    let mask = device.device().create_buffer(&wgpu::BufferDescriptor {
        label: Some("suite.visible"),
        size: MaskLayout::Words.bytes(on.crowd.index_count()),
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut rows = Vec::new();
    for share in SHARES {
        let mut visible = load.size.characters;
        if let Some(share) = share {
            let mut words = vec![0u32; mask.size() as usize / 4];
            for (character, id) in on.instances.iter().enumerate() {
                let shown = scattered(character) % 100 < share;
                words[id.index() as usize] = u32::from(shown);
            }
            visible = words.iter().map(|word| *word as usize).sum();
            device
                .queue()
                .write_buffer(&mask, 0, bytemuck::cast_slice(&words));
            on.crowd
                .set_visibility(Some(VisibilityMask::words(mask.clone())))?;
        }
        rows.push(row(&mut on, share, visible, runs)?);
    }
    device.check()?;
    Ok(rows)
}

/// A number for each character, without regard to its neighbours and its mesh.
fn scattered(character: usize) -> usize {
    let hash = (character as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((hash ^ hash >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as usize
}

fn row(
    on: &mut OnDevice<'_>,
    share: Option<usize>,
    visible: usize,
    runs: Runs,
) -> Result<Row, GpuError> {
    let (mut encoded, mut choosing) = (Vec::new(), Vec::new());
    let times = runs.collect(|| {
        let device = on.device.device();
        let mut encoder = device.create_command_encoder(&Default::default());
        let start = Instant::now();
        on.crowd.encode(&mut encoder)?;
        encoded.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        on.device.queue().submit([encoder.finish()]);
        on.wait();
        let wall = start.elapsed();
        let times = on.crowd.last_gpu_time()?;
        if let Some(times) = &times {
            choosing.push((times.of("due") + times.of("compact")).as_secs_f64());
        }
        Ok::<f64, GpuError>(times.map_or(wall, |t| t.total()).as_secs_f64())
    })?;
    let kind = on.load.kind.name();
    let case = match share {
        None => format!("{kind}, without a mask"),
        Some(share) => format!("{kind}, {share} % visible"),
    };
    // The first frame makes the plan.
    let micros = |all: Vec<f64>| Times::of(all[1..].to_vec()).median() * 1e6;
    let mut note = format!("encode {:.0} us", micros(encoded));
    if share.is_some() && choosing.len() > 1 {
        note += &format!("; due and compact {:.0} us", micros(choosing));
    }
    let points = on.load.size.points * visible;
    Ok(Row::new(NAME, &case, WHO, points, times).noted(note))
}
