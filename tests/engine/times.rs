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

/// Pixels of the picture, along each side.
const SIDE: u32 = 64;

const TRIANGLE: &str = "
@vertex fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1) * 4 - 1, f32(i >> 1) * 4 - 1, 0.5, 1);
}
@fragment fn white() -> @location(0) vec4f {
    return vec4f(1);
}";

/// A software adapter gives no times: once something is drawn, its timestamps around passes are
/// apart by microseconds, however long the pass takes.
fn times_are_true_or_none() -> Result<(), Failed> {
    let opened = gpu::device()?;
    let (device, queue) = (opened.device(), opened.queue());
    let options = SkinnerOptions {
        timestamps: true,
        ..SkinnerOptions::default()
    };
    let has_stamps = device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
    let expects = has_stamps && !opened.report().software;
    let mut crowd = Skinner::new(device, queue, &options)?.crowd();
    let made = made(&Spec {
        points: 20_000,
        ..Spec::default()
    })?;
    let skin = crowd.add_skin(made.packed.clone())?;
    let instance = crowd.add_instance(skin)?;
    crowd.set_pose(instance, &made.pose(1))?;
    let (pipeline, view) = picture(device);
    for frame in 0..4 {
        let mut encoder = device.create_command_encoder(&Default::default());
        let began = Instant::now();
        crowd.encode(&mut encoder)?;
        draw(&mut encoder, &pipeline, &view);
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

/// A pipeline that covers a picture, and the picture.
fn picture(device: &wgpu::Device) -> (wgpu::RenderPipeline, wgpu::TextureView) {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("times"),
        source: wgpu::ShaderSource::Wgsl(TRIANGLE.into()),
    });
    let format = wgpu::TextureFormat::Rgba8Unorm;
    let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("times"),
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("corner"),
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: Default::default(),
        depth_stencil: None,
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("white"),
            compilation_options: Default::default(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    });
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("times"),
        size: wgpu::Extent3d {
            width: SIDE,
            height: SIDE,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    (pipeline, texture.create_view(&Default::default()))
}

fn draw(
    encoder: &mut wgpu::CommandEncoder,
    pipeline: &wgpu::RenderPipeline,
    view: &wgpu::TextureView,
) {
    let attachment = wgpu::RenderPassColorAttachment {
        view,
        depth_slice: None,
        resolve_target: None,
        ops: Default::default(),
    };
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("times"),
        color_attachments: &[Some(attachment)],
        ..Default::default()
    });
    pass.set_pipeline(pipeline);
    pass.draw(0..3, 0..1);
}
