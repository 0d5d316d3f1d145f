//! Frames of C and F that compute only what a mask shows: GPU time by the share of characters that is visible, and what
//! recording such a frame costs the CPU.

use sinew::gpu::{GpuDevice, MaskLayout, VisibilityMask};
use sinew::wgpu::BufferUsages;

use crate::measure::{Runs, Times};
use crate::on_gpu::{OnDevice, WHO, stamped};
use crate::peers::{Result, gpu};
use crate::results::Row;
use crate::workloads::Workload;

pub const NAME: &str = "visible";

/// How many characters in a hundred are visible; without a mask first.
const SHARES: [Option<usize>; 5] = [None, Some(100), Some(10), Some(1), Some(0)];

/// The rows of a load.
pub fn rows(load: &Workload, device: &GpuDevice, runs: Runs) -> Result<Vec<Row>> {
    let mut on = OnDevice::of(load, device, &stamped())?;
    let bytes = MaskLayout::Words.bytes(on.crowd.index_count());
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
    let mask = gpu::buffer(device, "suite.visible", bytes, usage);
    let mut rows = Vec::new();
    for share in SHARES {
        let (mut visible, mut case) = (load.size.characters, "without a mask".to_owned());
        if let Some(share) = share {
            let mut words = vec![0u32; mask.size() as usize / 4];
            for (character, id) in on.instances.iter().enumerate() {
                words[id.index() as usize] = u32::from(scattered(character) % 100 < share);
            }
            visible = words.iter().map(|word| *word as usize).sum();
            case = format!("{share} % visible");
            let bytes = bytemuck::cast_slice(&words);
            device.queue().write_buffer(&mask, 0, bytes);
            let mask = VisibilityMask::words(mask.clone());
            on.crowd.set_visibility(Some(mask))?;
        }
        let (mut encoded, mut choosing) = (Vec::new(), Vec::new());
        let times = runs.collect(|| -> Result<f64> {
            let spent = on.frame()?;
            encoded.push(spent.recorded);
            if let Some(times) = &spent.on_device {
                choosing.push(times.of("schedule").as_secs_f64());
            }
            Ok(spent.kernels())
        })?;
        // The first frame makes the plan.
        let micros = |all: Vec<f64>| Times::of(all[1..].to_vec()).median() * 1e6;
        let mut note = format!("encode {:.0} us", micros(encoded));
        if share.is_some() && choosing.len() > 1 {
            note += &format!("; schedule {:.0} us", micros(choosing));
        }
        let case = format!("{}, {case}", load.kind.name());
        rows.push(Row::new(NAME, &case, WHO, load.size.points * visible, times).noted(note));
    }
    device.check()?;
    Ok(rows)
}

/// A number for each character, without regard to its neighbours and its mesh.
fn scattered(character: usize) -> usize {
    let hash = (character as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((hash ^ hash >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as usize
}
