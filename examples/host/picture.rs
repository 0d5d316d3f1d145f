//! The last of some frames as a PNG, without a window.

use std::path::Path;

use sinew::wgpu;

use super::camera::Orbit;
use super::pipelines::buffer;
use super::{Args, FRAMES_PER_SECOND, Gpu, Program, Result, Target};

pub fn draw<P: Program>(args: &Args, options: P::Options, out: &Path) -> Result<()> {
    let gpu = Gpu::open(P::TRACES_RAYS)?;
    let mut program = P::new(&gpu, options)?;
    let pixels = args.size::<P>();
    let [width, height] = pixels;
    let size = wgpu::Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    };
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("picture"),
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: gpu.format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let target = Target::new(&gpu, texture.create_view(&Default::default()), pixels);
    let framing = program.framing();
    let mut orbit = Orbit::new(&framing, pixels);
    for frame in 0..args.frames {
        let camera = orbit.clip_from_world(&framing, pixels);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let seconds = args.seconds + f64::from(frame) / FRAMES_PER_SECOND;
        program.frame(&gpu, seconds, camera, &mut encoder, &target)?;
        gpu.queue.submit([encoder.finish()]);
        program.submitted();
        // Each frame is done before the next one begins, so that its times are its own.
        gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
        orbit.turn += framing.spin / FRAMES_PER_SECOND as f32;
    }
    program.finish();

    // The picture is read back, since a file is wanted; what was skinned is not.
    let row = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
    let readable = buffer(&gpu, u64::from(row) * u64::from(height), usage);
    let to = wgpu::TexelCopyBufferInfo {
        buffer: &readable,
        layout: wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(row),
            rows_per_image: None,
        },
    };
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    encoder.copy_texture_to_buffer(texture.as_image_copy(), to, size);
    gpu.queue.submit([encoder.finish()]);
    let (done, mapped) = std::sync::mpsc::channel();
    readable
        .slice(..)
        .map_async(wgpu::MapMode::Read, move |result| {
            // The receiver waits below.
            let _ = done.send(result);
        });
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    mapped.recv()??;
    let bytes = readable.slice(..).get_mapped_range()?;
    let rows = bytes.chunks_exact(row as usize);
    let rows = rows.flat_map(|r| &r[..width as usize * 4]);
    let picture = image::RgbaImage::from_raw(width, height, rows.copied().collect())
        .ok_or("too few pixels")?;
    picture.save(out)?;
    println!("{}", out.display());
    Ok(())
}
