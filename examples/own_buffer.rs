//! Skins into a vertex buffer of the host, beside what the host keeps there, and draws from it, with
//! wgpu and the engine alone: no file, and no other crate of sinew.
//!
//! ```text
//! cargo run -p sinew-examples --example own_buffer -- bent.png
//! ```
//!
//! A vertex is a position, a normal and a texture coordinate, 32 bytes. The host writes the texture
//! coordinates once; the engine writes the positions and the normals of each frame between them.

use std::f32::consts::TAU;
use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3};
use sinew::gpu::{Attribute, OutputTarget, Skinner, needed_limits};
use sinew::kernel::{PackedPose, PackedSkin};
use sinew::skel::{Pose, Skeleton, SkinBuilder};
use sinew::wgpu::{
    self,
    util::{BufferInitDescriptor, DeviceExt},
};

/// Points around the tube, rings along it, pixels of the picture's sides, bytes of a vertex.
const AROUND: u32 = 32;
const RINGS: u32 = 33;
const SIDE: u32 = 256;
const STRIDE: u64 = 32;

const SHADER: &str = "
struct Varying { @builtin(position) clip: vec4f, @location(0) normal: vec3f, @location(1) uv: vec2f }
@vertex fn vertex(@location(0) position: vec3f, @location(1) normal: vec3f, @location(2) uv: vec2f) -> Varying {
    return Varying(vec4f(0.7 * position.x, 0.7 * position.y - 0.7, 0.5, 1.0), normal, uv);
}
@fragment fn fragment(in: Varying) -> @location(0) vec4f {
    let stripe = select(0.5, 1.0, fract(in.uv.y * 8.0) < 0.5);
    let light = 0.2 + 0.8 * max(dot(normalize(in.normal), normalize(vec3f(1.0, 1.0, 2.0))), 0.0);
    return vec4f(vec3f(0.9, 0.5 * stripe, 0.3) * light, 1.0);
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = std::env::args_os()
        .nth(1)
        .ok_or("usage: own_buffer OUT.png")?;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
    // The host's own limits, raised to what the engine needs.
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_limits: needed_limits(&wgpu::Limits::default()),
        ..Default::default()
    }))?;

    // A tube along Y from 0 to 2, with a joint at each half. The host's vertices hold texture
    // coordinates, and room for what is skinned.
    let (mut points, mut normals, mut influences) = (Vec::new(), Vec::new(), Vec::new());
    let (mut vertices, mut indices) = (Vec::<[f32; 8]>::new(), Vec::new());
    for i in 0..RINGS * AROUND {
        let (ring, side) = (i / AROUND, i % AROUND);
        let (y, turn) = (ring as f32 / 16.0, side as f32 / AROUND as f32);
        let (z, x) = (turn * TAU).sin_cos();
        let upper = (y - 0.5).clamp(0.0, 1.0);
        points.push(Vec3::new(0.3 * x, y, 0.3 * z));
        normals.push(Vec3::new(x, 0.0, z));
        influences.push([(0, 1.0 - upper), (1, upper)]);
        vertices.push([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, turn, y / 2.0]);
        if ring + 1 < RINGS {
            let next = ring * AROUND + (side + 1) % AROUND;
            indices.extend([i, i + AROUND, next, next, i + AROUND, next + AROUND]);
        }
    }
    let buffer = |contents: &[u8], usage: wgpu::BufferUsages| {
        let label = None;
        device.create_buffer_init(&BufferInitDescriptor {
            label,
            contents,
            usage,
        })
    };
    let written = wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::STORAGE;
    let vertices = buffer(bytemuck::cast_slice(&vertices), written);
    let index_count = indices.len() as u32;
    let indices = buffer(
        bytemuck::cast_slice::<u32, u8>(&indices),
        wgpu::BufferUsages::INDEX,
    );
    let joints = ["Lower", "Upper"].map(String::from).to_vec();
    let upper = DMat4::from_translation(DVec3::Y);
    let bind = vec![DMat4::IDENTITY, upper];
    let skeleton = Skeleton::from_parents("Tube", joints, &[None, Some(0)], bind, None)?;
    let skin = SkinBuilder::new("Tube", points)
        .normals(normals)
        .influences_of_points(&influences)
        .build(&skeleton)?;
    let skin = Arc::new(PackedSkin::pack("Tube", &skin)?);

    // The engine writes two of the three attributes.
    let skinner = Skinner::new(&device, &queue, &Default::default())?;
    let mut crowd = skinner.crowd();
    let id = crowd.add_skin(skin.clone())?;
    let attribute = |offset| Attribute::In {
        buffer: vertices.clone(),
        offset,
        stride: STRIDE,
    };
    let target = OutputTarget {
        positions: attribute(0),
        normals: Some(attribute(12)),
        ..Default::default()
    };
    let tube = crowd.add_instance_to(id, target)?;

    // The host's pipeline.
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    let format = wgpu::TextureFormat::Rgba8UnormSrgb;
    let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            buffers: &[Some(wgpu::VertexBufferLayout {
                array_stride: STRIDE,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x2],
            })],
        },
        primitive: wgpu::PrimitiveState { cull_mode: Some(wgpu::Face::Back), ..Default::default() },
        depth_stencil: None,
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    });
    let size = wgpu::Extent3d {
        width: SIDE,
        height: SIDE,
        depth_or_array_layers: 1,
    };
    let picture = device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });

    // A frame: a pose, its skinning, and a pass that draws from the same buffer.
    let bent = upper * DMat4::from_rotation_z(1.0);
    let pose = Pose::from_local(&skeleton, &[DMat4::IDENTITY, bent])?;
    crowd.set_pose(tube, &PackedPose::pack(&skin, &pose)?)?;
    let mut encoder = device.create_command_encoder(&Default::default());
    crowd.encode(&mut encoder)?;
    let view = picture.create_view(&Default::default());
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &view,
            depth_slice: None,
            resolve_target: None,
            ops: Default::default(),
        })],
        ..Default::default()
    });
    pass.set_pipeline(&pipeline);
    pass.set_vertex_buffer(0, vertices.slice(..));
    pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
    pass.draw_indexed(0..index_count, 0, 0..1);
    drop(pass);

    // The picture as a file.
    let readable = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(SIDE * SIDE * 4),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let rows = wgpu::TexelCopyBufferInfo {
        buffer: &readable,
        layout: wgpu::TexelCopyBufferLayout {
            bytes_per_row: Some(SIDE * 4),
            ..Default::default()
        },
    };
    encoder.copy_texture_to_buffer(picture.as_image_copy(), rows, size);
    queue.submit([encoder.finish()]);
    readable.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("rows"));
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let pixels = readable.get_mapped_range(..)?.to_vec();
    image::RgbaImage::from_raw(SIDE, SIDE, pixels)
        .ok_or("too few pixels")?
        .save(out)?;
    Ok(())
}
