//! The floor beside each figure: the bytes that a load must move, and how long a plain copy of as many took in the same run.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use sinew::gpu::GpuDevice;
use sinew::skel::Skin;
use sinew::wgpu;

use crate::measure::{Runs, Times};
use crate::peers::Result;
use crate::peers::gpu::{self, Clock};
use crate::workloads::Workload;

/// Bytes of a point, a normal or an offset.
const VECTOR: usize = 12;
/// Bytes of a joint's matrix, 3x4.
const MATRIX: usize = 48;

/// Bytes that a frame of a load must move, each once and in the smallest layout that loses nothing: rest data and influences
/// per mesh, a palette (and normal matrices of 3x3) and results per character. An influence is a weight of 4 bytes and a joint
/// of 1 or 2; influences of weight 0 and shapes of weight 0 need not be read. An active offset brings its point's number.
pub fn frame_bytes(load: &Workload, with_normals: bool) -> u64 {
    let weights = load.rig.is_none().then(|| load.weights(0, 0));
    let meshes: usize = load
        .skins
        .iter()
        .map(|s| rest_bytes(s, with_normals, weights.as_deref()))
        .sum();
    let results: usize = (0..load.size.characters)
        .map(|c| {
            let skin = &load.skins[load.mesh_of(c)];
            let (points, normals) = counts(skin, with_normals);
            let matrix = if normals > 0 { MATRIX + 36 } else { MATRIX };
            (points + normals) * VECTOR + load.size.joints * matrix
        })
        .sum();
    (meshes + results) as u64
}

fn counts(skin: &Skin, with_normals: bool) -> (usize, usize) {
    let normals = if with_normals { skin.normal_count() } else { 0 };
    (skin.points().len(), normals)
}

fn rest_bytes(skin: &Skin, with_normals: bool, weights: Option<&[f32]>) -> usize {
    let (points, normals) = counts(skin, with_normals);
    let joint = if skin.joint_count() <= 256 { 1 } else { 2 };
    let influences = skin.influences().map_or(0, |i| {
        let read = i.weights().iter().filter(|w| **w != 0.0).count();
        read * (4 + joint)
    });
    let number = if points <= 1 << 16 { 2 } else { 4 };
    let [_, offsets] = weights.map_or([0; 2], |weights| self::offsets(skin, weights));
    (points + normals) * VECTOR + influences + offsets * (VECTOR + number)
}

/// The offsets of the sub-shapes of channels that have a weight, and of the active ones among them.
pub fn offsets(skin: &Skin, weights: &[f32]) -> [usize; 2] {
    let channels = weights.iter().zip(skin.shapes());
    let channels = channels.filter(|(weight, _)| **weight != 0.0);
    let shapes = channels.filter_map(|(weight, shape)| Some((*weight, shape.as_ref()?)));
    let counts = shapes.flat_map(|(weight, shape)| {
        let active = shape.sub_shape_weights(f64::from(weight)).into_iter();
        let counts = shape.sub_shapes().iter().map(|sub| sub.offsets.len());
        counts.zip(active.map(|weight| weight != 0.0))
    });
    counts.fold([0; 2], |[all, active], (count, is_active)| {
        [all + count, active + if is_active { count } else { 0 }]
    })
}

/// A parallel memcpy that moves `bytes` in all: half read, half written. In the caller's pool.
pub fn cpu_copy(bytes: u64, runs: Runs) -> Times {
    let half = (bytes / 2) as usize;
    let from = vec![1u8; half];
    let mut to = vec![0u8; half];
    const CHUNK: usize = 1 << 18;
    runs.time(|| {
        let chunks = to.par_chunks_mut(CHUNK).zip(from.par_chunks(CHUNK));
        chunks.for_each(|(to, from)| to.copy_from_slice(from));
        std::hint::black_box(&mut to);
    })
}

/// A copy from buffer to buffer that moves `bytes` in all. Many in one submit, so that the submit itself does not count.
pub fn gpu_copy(gpu: &GpuDevice, bytes: u64, runs: Runs) -> Result<Times> {
    use wgpu::BufferUsages as Usages;
    let device = gpu.device();
    let clock = Clock::new(gpu);
    let half = (bytes / 2).next_multiple_of(4).max(4);
    // What is larger than a buffer may be is copied in parts, over and over.
    let size = half.min(device.limits().max_buffer_size).min(1 << 30) & !3;
    let parts = half.div_ceil(size);
    let repeat = ((1u64 << 28) / half).clamp(1, 16);
    let usage = Usages::COPY_SRC | Usages::COPY_DST;
    let from = gpu::buffer(gpu, "suite.copy", size, usage);
    let to = gpu::buffer(gpu, "suite.copy", size, Usages::COPY_DST);
    let encoder = || device.create_command_encoder(&Default::default());
    let mut cleared = encoder();
    cleared.clear_buffer(&from, 0, None);
    gpu.queue().submit([cleared.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely())?;
    runs.collect(|| {
        let mut encoder = encoder();
        // An empty pass before and another after, for the timestamps.
        drop(clock.pass(&mut encoder, None, Some(0)));
        for part in (0..repeat).flat_map(|_| 0..parts) {
            let count = size.min(half - part * size);
            encoder.copy_buffer_to_buffer(&from, 0, &to, 0, count);
        }
        drop(clock.pass(&mut encoder, Some(1), None));
        Ok(clock.seconds(encoder)? / repeat as f64)
    })
}

/// Writes and closes a file of so many bytes, and removes it.
pub fn disk_write(folder: &Path, bytes: u64) -> std::io::Result<f64> {
    let block = vec![7u8; 1 << 22];
    let path = folder.join("floor.bin");
    let start = Instant::now();
    let mut file = File::create(&path)?;
    for at in (0..bytes).step_by(block.len()) {
        let count = (bytes - at).min(block.len() as u64);
        file.write_all(&block[..count as usize])?;
    }
    drop(file);
    let seconds = start.elapsed().as_secs_f64();
    std::fs::remove_file(path)?;
    Ok(seconds)
}
