//! A pipeline that draws coloured triangles, lit from above.

use glam::{Mat4, Vec3};
use sinew::wgpu;
use wgpu::util::DeviceExt;

use super::{DEPTH, Gpu, SAMPLES};

/// The pipeline, with its camera. Vertices come out of four tight buffers of three floats each: points, normals and
/// colours per vertex, and a tint per instance.
pub struct Drawing {
    pipeline: wgpu::RenderPipeline,
    camera: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
}

impl Drawing {
    pub fn new(gpu: &Gpu) -> Self {
        let pipeline = pipeline(gpu);
        let camera = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("camera"),
            size: size_of::<Mat4>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let bind_group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("camera"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource: camera.as_entire_binding(),
            }],
        });
        Self {
            pipeline,
            camera,
            bind_group,
        }
    }

    pub fn begin(&self, gpu: &Gpu, clip_from_world: Mat4, pass: &mut wgpu::RenderPass<'_>) {
        let matrix = clip_from_world.to_cols_array();
        gpu.queue
            .write_buffer(&self.camera, 0, bytemuck::cast_slice(&matrix));
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
    }
}

/// A buffer that does not change.
pub fn upload<T: bytemuck::NoUninit>(
    gpu: &Gpu,
    usage: wgpu::BufferUsages,
    values: &[T],
) -> wgpu::Buffer {
    gpu.device
        .create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("renderer"),
            contents: bytemuck::cast_slice(values),
            usage,
        })
}

fn pipeline(gpu: &Gpu) -> wgpu::RenderPipeline {
    let module = gpu
        .device
        .create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("renderer"),
            source: wgpu::ShaderSource::Wgsl(SHADER.into()),
        });
    let attributes = [0, 1, 2, 3].map(|location| {
        [wgpu::VertexAttribute {
            format: wgpu::VertexFormat::Float32x3,
            offset: 0,
            shader_location: location,
        }]
    });
    let buffers = attributes.each_ref().map(|attributes| {
        Some(wgpu::VertexBufferLayout {
            array_stride: size_of::<Vec3>() as u64,
            step_mode: match attributes[0].shader_location {
                3 => wgpu::VertexStepMode::Instance,
                _ => wgpu::VertexStepMode::Vertex,
            },
            attributes,
        })
    });
    gpu.device
        .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("renderer"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: Default::default(),
                buffers: &buffers,
            },
            primitive: Default::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: wgpu::MultisampleState {
                count: SAMPLES,
                ..Default::default()
            },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment"),
                compilation_options: Default::default(),
                targets: &[Some(gpu.format.into())],
            }),
            multiview_mask: None,
            cache: None,
        })
}

const SHADER: &str = "
@group(0) @binding(0) var<uniform> clip_from_world: mat4x4<f32>;

struct Varying {
    @builtin(position) clip: vec4<f32>,
    @location(0) normal: vec3<f32>,
    @location(1) color: vec3<f32>,
}

@vertex
fn vertex(
    @location(0) point: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) color: vec3<f32>,
    @location(3) tint: vec3<f32>,
) -> Varying {
    return Varying(clip_from_world * vec4(point, 1.0), normal, color * tint);
}

@fragment
fn fragment(in: Varying, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let n = normalize(select(-in.normal, in.normal, front));
    let sun = max(dot(n, normalize(vec3(0.5, 0.8, 0.6))), 0.0);
    let sky = 0.5 + 0.5 * n.y;
    return vec4(in.color * (0.25 * sky + 0.1 + 0.85 * sun), 1.0);
}
";
