//! GPU times of frames that are drawn too.

use std::time::Instant;

use common::gpu;
use common::trials::Trial;
use libtest_mimic::Failed;
use sinew::gpu::{Skinner, SkinnerOptions};
use sinew_verify::cases::Spec;
use sinew_verify::made::made;

pub fn trials() -> Vec<Trial> {
    let trial = Trial::test("times_are_true_or_none", times_are_true_or_none);
    vec![trial.with_ignored_flag(gpu::ignored())]
}

/// A software adapter gives no times: once something is drawn, its timestamps around passes are
/// apart by microseconds, however long the pass takes.
fn times_are_true_or_none() -> Result<(), Failed> {
    let opened = gpu::device()?;
    let (device, queue) = (opened.device(), opened.queue());
    let mut options = SkinnerOptions::default();
    options.timestamps = true;
    let has_stamps = device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
    let expects = has_stamps && !opened.report().software;
    let mut crowd = Skinner::new(device, queue, &options)?.crowd();
    let made = made(&Spec::default().points(20_000));
    let skin = crowd.add_skin(made.packed.clone())?;
    let instance = crowd.add_instance(skin)?;
    crowd.set_pose(instance, &made.pose(1))?;
    let format = wgpu::TextureFormat::Rgba8Unorm;
    let blitter = wgpu::util::TextureBlitter::new(device, format);
    let [from, to] = [picture(device, format), picture(device, format)];
    for frame in 0..4 {
        let mut encoder = device.create_command_encoder(&Default::default());
        let began = Instant::now();
        crowd.encode(&mut encoder)?;
        blitter.copy(device, &mut encoder, &from, &to);
        queue.submit([encoder.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely())?;
        let wall = began.elapsed();
        let times = crowd.last_gpu_time()?;
        let longest = times.as_ref().map(|t| t.passes().iter().map(|p| p.1).max());
        if times.is_some() != expects || longest.flatten() > Some(wall) {
            return Err(format!("frame {frame}: {times:?} in {wall:?}").into());
        }
    }
    Ok(())
}

/// A picture that can be drawn, and drawn to.
fn picture(device: &wgpu::Device, format: wgpu::TextureFormat) -> wgpu::TextureView {
    use wgpu::TextureUsages as Usages;
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("times"),
        size: wgpu::Extent3d {
            width: 64,
            height: 64,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: Usages::TEXTURE_BINDING | Usages::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    texture.create_view(&Default::default())
}
