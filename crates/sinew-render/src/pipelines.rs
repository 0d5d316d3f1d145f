//! Render pipelines, created once per format of the target.

use super::layouts;
use super::shaders::{
    BACKGROUND, BONES, GROUND, LINES, MESH_LINES, SHADOW, SHADOW_MESH, SURFACE, Shader,
};

/// Format of the depth of a picture. Depth is reversed, so that the precision of f32 is spread
/// evenly.
pub(super) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Format of the shadow's darkness.
pub(super) const SHADOW_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::R8Unorm;

/// Bytes of a render vertex: point, normal, uv, colour.
pub(super) const VERTEX_BYTES: u64 = 20;

/// The bind group layouts and the pipelines of a renderer.
#[derive(Debug)]
pub(super) struct Pipelines {
    pub frame: wgpu::BindGroupLayout,
    /// Layout of a texture with a sampler.
    pub sampled: wgpu::BindGroupLayout,
    /// Layout of a texture without a sampler.
    pub fetched: wgpu::BindGroupLayout,
    /// Layout of what is in the way of the lights.
    pub occlusion: wgpu::BindGroupLayout,
    /// Faces as a light sees them: depth alone.
    pub caster: wgpu::RenderPipeline,
    pub opaque: wgpu::RenderPipeline,
    pub blended: wgpu::RenderPipeline,
    pub background: wgpu::RenderPipeline,
    pub ground: wgpu::RenderPipeline,
    pub edges: wgpu::RenderPipeline,
    pub normals: wgpu::RenderPipeline,
    pub lines: wgpu::RenderPipeline,
    pub bones: wgpu::RenderPipeline,
    pub shadow_mesh: wgpu::RenderPipeline,
    pub shadow_across: wgpu::RenderPipeline,
    pub shadow_along: wgpu::RenderPipeline,
}

/// The properties in which the pipelines differ.
struct Description<'a> {
    shader: &'a Shader,
    vertex: &'a str,
    fragment: &'a str,
    /// By number; `None` for groups that the shader does not use.
    groups: &'a [Option<&'a wgpu::BindGroupLayout>],
    buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    topology: wgpu::PrimitiveTopology,
    /// Format of the colour; `None` if only depth is written.
    format: Option<wgpu::TextureFormat>,
    samples: u32,
    blend: Option<wgpu::BlendState>,
    /// The comparison, and whether depth is written; `None` without a depth buffer.
    depth: Option<(wgpu::CompareFunction, bool)>,
    constants: &'a [(&'a str, f64)],
}

impl Pipelines {
    pub fn new(device: &wgpu::Device, format: wgpu::TextureFormat, samples: u32) -> Self {
        use wgpu::CompareFunction::{Always, GreaterEqual};
        use wgpu::PrimitiveTopology::{TriangleList, TriangleStrip};
        let frame = layouts::frame(device);
        let geometry = layouts::geometry(device);
        let material = layouts::material(device);
        let occlusion = layouts::occlusion(device);
        let (sampled, fetched) = (
            layouts::texture_only(device, true),
            layouts::texture_only(device, false),
        );
        let over = Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING);
        let encode = f64::from(!format.is_srgb());
        let constants = [("ENCODE_SRGB", encode)];
        let surface_constants = |blended: f64| [("ENCODE_SRGB", encode), ("BLENDED", blended)];
        let (opaque_constants, blended_constants) =
            (surface_constants(0.0), surface_constants(1.0));

        let vertex = [
            attribute(0, 0, wgpu::VertexFormat::Uint32),
            attribute(1, 4, wgpu::VertexFormat::Uint32),
            attribute(2, 8, wgpu::VertexFormat::Float32x2),
            attribute(3, 16, wgpu::VertexFormat::Unorm8x4),
        ];
        let vertices = [Some(buffer(
            VERTEX_BYTES,
            wgpu::VertexStepMode::Vertex,
            &vertex,
        ))];
        let per_vertex = [Some(buffer(
            VERTEX_BYTES,
            wgpu::VertexStepMode::Instance,
            &vertex[..2],
        ))];
        let positions = [Some(buffer(
            VERTEX_BYTES,
            wgpu::VertexStepMode::Vertex,
            &vertex[..1],
        ))];
        let ends = [attribute(0, 0, wgpu::VertexFormat::Uint32x2)];
        let ends = [Some(buffer(8, wgpu::VertexStepMode::Instance, &ends))];
        let line = [
            attribute(0, 0, wgpu::VertexFormat::Float32x3),
            attribute(1, 12, wgpu::VertexFormat::Float32x3),
            attribute(2, 24, wgpu::VertexFormat::Float32x4),
        ];
        let line = [Some(buffer(40, wgpu::VertexStepMode::Instance, &line))];
        let bone = [
            attribute(0, 0, wgpu::VertexFormat::Float32x3),
            attribute(1, 12, wgpu::VertexFormat::Float32x4),
        ];
        let bone = [Some(buffer(28, wgpu::VertexStepMode::Vertex, &bone))];

        let surface = Description {
            shader: &SURFACE,
            vertex: "vertex",
            fragment: "fragment",
            groups: &[Some(&frame), Some(&geometry), Some(&material), Some(&occlusion)],
            buffers: &vertices,
            topology: TriangleList,
            format: Some(format),
            samples,
            blend: over,
            depth: Some((GreaterEqual, true)),
            constants: &opaque_constants,
        };
        let lines = Description {
            shader: &MESH_LINES,
            vertex: "edge",
            groups: &[Some(&frame), Some(&geometry)],
            buffers: &ends,
            constants: &constants,
            ..surface
        };
        let shadow = Description {
            shader: &SHADOW,
            vertex: "vertex",
            fragment: "across",
            groups: &[],
            buffers: &[],
            topology: TriangleList,
            format: Some(SHADOW_FORMAT),
            samples: 1,
            blend: None,
            depth: None,
            constants: &[],
        };
        // Group 0 is the frame in all pipelines; the shader of the blur does not use it.
        let blur_groups = [Some(&frame), Some(&fetched)];
        Self {
            caster: Description {
                fragment: "caster",
                groups: &[Some(&frame), Some(&geometry), Some(&material)],
                format: None,
                samples: 1,
                constants: &[],
                ..surface
            }
            .create(device),
            opaque: surface.create(device),
            blended: Description {
                depth: Some((GreaterEqual, false)),
                constants: &blended_constants,
                ..surface
            }
            .create(device),
            background: Description {
                shader: &BACKGROUND,
                groups: &[Some(&frame)],
                buffers: &[],
                depth: Some((Always, false)),
                constants: &constants,
                ..surface
            }
            .create(device),
            ground: Description {
                shader: &GROUND,
                groups: &[Some(&frame), Some(&sampled), None, Some(&occlusion)],
                buffers: &[],
                topology: TriangleStrip,
                depth: Some((GreaterEqual, false)),
                constants: &constants,
                ..surface
            }
            .create(device),
            edges: lines.create(device),
            normals: Description {
                vertex: "normal",
                buffers: &per_vertex,
                ..lines
            }
            .create(device),
            lines: Description {
                shader: &LINES,
                vertex: "free",
                groups: &[Some(&frame)],
                buffers: &line,
                ..lines
            }
            .create(device),
            bones: Description {
                shader: &BONES,
                groups: &[Some(&frame)],
                buffers: &bone,
                constants: &constants,
                ..surface
            }
            .create(device),
            shadow_mesh: Description {
                shader: &SHADOW_MESH,
                fragment: "fragment",
                groups: &[Some(&frame), Some(&geometry)],
                buffers: &positions,
                depth: Some((GreaterEqual, true)),
                ..shadow
            }
            .create(device),
            shadow_across: Description {
                groups: &blur_groups,
                ..shadow
            }
            .create(device),
            shadow_along: Description {
                fragment: "along",
                groups: &blur_groups,
                ..shadow
            }
            .create(device),
            frame,
            occlusion,
            sampled,
            fetched,
        }
    }
}

impl Description<'_> {
    fn create(&self, device: &wgpu::Device) -> wgpu::RenderPipeline {
        let label = Some(self.shader.name);
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label,
            source: wgpu::ShaderSource::Wgsl(self.shader.wgsl.into()),
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: self.groups,
            immediate_size: 0,
        });
        let options = || wgpu::PipelineCompilationOptions {
            constants: self.constants,
            ..Default::default()
        };
        let target = self.format.map(|format| {
            Some(wgpu::ColorTargetState {
                format,
                blend: self.blend,
                write_mask: wgpu::ColorWrites::ALL,
            })
        });
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label,
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some(self.vertex),
                compilation_options: options(),
                buffers: self.buffers,
            },
            primitive: wgpu::PrimitiveState {
                topology: self.topology,
                ..Default::default()
            },
            depth_stencil: self.depth.map(|(compare, write)| wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(write),
                depth_compare: Some(compare),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: wgpu::MultisampleState {
                count: self.samples,
                ..Default::default()
            },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some(self.fragment),
                compilation_options: options(),
                targets: target.as_slice(),
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

fn attribute(
    shader_location: u32,
    offset: u64,
    format: wgpu::VertexFormat,
) -> wgpu::VertexAttribute {
    wgpu::VertexAttribute {
        format,
        offset,
        shader_location,
    }
}

fn buffer(
    array_stride: u64,
    step_mode: wgpu::VertexStepMode,
    attributes: &[wgpu::VertexAttribute],
) -> wgpu::VertexBufferLayout<'_> {
    wgpu::VertexBufferLayout {
        array_stride,
        step_mode,
        attributes,
    }
}
