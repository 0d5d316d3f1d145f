//! Render pipelines, compiled once per format of the target.

use std::sync::OnceLock;

use rayon::prelude::*;
use sinew::gpu::{GpuError, guarded};

use super::curves::PIECE_BYTES;
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

/// A pipeline of a renderer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Faces as a light sees them: depth alone.
    Caster,
    /// The same, without the parts that a mask cuts out.
    MaskedCaster,
    /// Curves as a light sees them.
    CurveCaster,
    Opaque,
    Masked,
    Blended,
    Curves,
    Background,
    Ground,
    Edges,
    Normals,
    Lines,
    Bones,
    ShadowMesh,
    ShadowAcross,
    ShadowAlong,
}

impl Kind {
    const COUNT: usize = Self::ShadowAlong as usize + 1;
}

/// The bind group layouts and the pipelines of a renderer. A pipeline is compiled when it is first
/// needed.
#[derive(Debug)]
pub(super) struct Pipelines {
    device: wgpu::Device,
    format: wgpu::TextureFormat,
    samples: u32,
    pub frame: wgpu::BindGroupLayout,
    geometry: wgpu::BindGroupLayout,
    material: wgpu::BindGroupLayout,
    /// Layout of a texture with a sampler.
    pub sampled: wgpu::BindGroupLayout,
    /// Layout of a texture without a sampler.
    pub fetched: wgpu::BindGroupLayout,
    /// Layout of what is in the way of the lights.
    pub occlusion: wgpu::BindGroupLayout,
    /// By [`Kind`].
    compiled: [OnceLock<wgpu::RenderPipeline>; Kind::COUNT],
}

/// The properties in which the pipelines differ.
struct Description<'a> {
    shader: &'a Shader,
    vertex: &'a str,
    /// `None` if no colour is written and nothing is cut out.
    fragment: Option<&'a str>,
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
    /// Creates the layouts, and no pipelines.
    pub fn new(device: &wgpu::Device, format: wgpu::TextureFormat, samples: u32) -> Self {
        Self {
            device: device.clone(),
            format,
            samples,
            frame: layouts::frame(device),
            geometry: layouts::geometry(device),
            material: layouts::material(device),
            sampled: layouts::texture_only(device, true),
            fetched: layouts::texture_only(device, false),
            occlusion: layouts::occlusion(device),
            compiled: Default::default(),
        }
    }

    /// Compiles several pipelines at once, each in a thread. Those that are compiled already cost
    /// nothing.
    ///
    /// # Errors
    /// Those of wgpu if the device refuses a shader.
    pub fn compile(&self, kinds: &[Kind]) -> Result<(), GpuError> {
        let is_missing = |kind: &&Kind| self.compiled[**kind as usize].get().is_none();
        let missing: Vec<Kind> = kinds.iter().filter(is_missing).copied().collect();
        missing.into_par_iter().try_for_each(|kind| {
            // Error scopes belong to one thread.
            guarded(&self.device, || {
                self.get(kind);
            })
        })
    }

    /// A pipeline, which is compiled now if it is not yet.
    pub fn get(&self, kind: Kind) -> &wgpu::RenderPipeline {
        self.compiled[kind as usize].get_or_init(|| self.create(kind))
    }

    fn create(&self, kind: Kind) -> wgpu::RenderPipeline {
        use wgpu::CompareFunction::{Always, GreaterEqual};
        use wgpu::PrimitiveTopology::{TriangleList, TriangleStrip};
        let over = Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING);
        let encode = f64::from(!self.format.is_srgb());
        let constants = [("ENCODE_SRGB", encode)];
        let with = |switch: &'static str| [("ENCODE_SRGB", encode), (switch, 1.0)];
        let (masked, blended) = (with("MASKED"), with("BLENDED"));

        use wgpu::VertexStepMode::{Instance, Vertex};
        let vertex =
            wgpu::vertex_attr_array![0 => Uint32, 1 => Uint32, 2 => Float32x2, 3 => Unorm8x4];
        let vertices = [buffer(VERTEX_BYTES, Vertex, &vertex)];
        let per_vertex = [buffer(VERTEX_BYTES, Instance, &vertex[..2])];
        let positions = [buffer(VERTEX_BYTES, Vertex, &vertex[..1])];
        let ends = wgpu::vertex_attr_array![0 => Uint32x2];
        let ends = [buffer(8, Instance, &ends)];
        let piece = wgpu::vertex_attr_array![
            0 => Uint32x4, 1 => Float32x4, 2 => Float32x4, 3 => Float32x4, 4 => Float32x4,
            5 => Float32x2, 6 => Unorm8x4
        ];
        let piece = [buffer(PIECE_BYTES, Instance, &piece)];
        let line = wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x4];
        let line = [buffer(40, Instance, &line)];
        let bone = wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x4];
        let bone = [buffer(28, Vertex, &bone)];

        let surface_groups = [
            Some(&self.frame),
            Some(&self.geometry),
            Some(&self.material),
            Some(&self.occlusion),
        ];
        let surface = Description {
            shader: &SURFACE,
            vertex: "vertex",
            fragment: Some("fragment"),
            groups: &surface_groups,
            buffers: &vertices,
            topology: TriangleList,
            format: Some(self.format),
            samples: self.samples,
            blend: over,
            depth: Some((GreaterEqual, true)),
            constants: &constants,
        };
        let caster = Description {
            fragment: Some("caster"),
            groups: &surface_groups[..3],
            format: None,
            samples: 1,
            constants: &[],
            ..surface
        };
        let lines = Description {
            shader: &MESH_LINES,
            vertex: "edge",
            groups: &[Some(&self.frame), Some(&self.geometry)],
            buffers: &ends,
            ..surface
        };
        // Group 0 is the frame in all pipelines; the shader of the blur does not use it.
        let blur = Description {
            shader: &SHADOW,
            vertex: "vertex",
            fragment: Some("across"),
            groups: &[Some(&self.frame), Some(&self.fetched)],
            buffers: &[],
            topology: TriangleList,
            format: Some(SHADOW_FORMAT),
            samples: 1,
            blend: None,
            depth: None,
            constants: &[],
        };
        let description = match kind {
            Kind::Caster => Description {
                vertex: "place",
                fragment: None,
                buffers: &positions,
                ..caster
            },
            Kind::MaskedCaster => caster,
            Kind::CurveCaster => Description {
                vertex: "curve",
                fragment: None,
                buffers: &piece,
                topology: TriangleStrip,
                ..caster
            },
            // Alpha is 1 in these three, so nothing of what was there before is read.
            Kind::Opaque => Description {
                blend: None,
                ..surface
            },
            Kind::Masked => Description {
                blend: None,
                constants: &masked,
                ..surface
            },
            Kind::Curves => Description {
                vertex: "curve",
                buffers: &piece,
                topology: TriangleStrip,
                blend: None,
                ..surface
            },
            Kind::Background => Description {
                shader: &BACKGROUND,
                groups: &[Some(&self.frame)],
                buffers: &[],
                blend: None,
                depth: Some((Always, false)),
                ..surface
            },
            Kind::Blended => Description {
                depth: Some((GreaterEqual, false)),
                constants: &blended,
                ..surface
            },
            Kind::Ground => Description {
                shader: &GROUND,
                groups: &[
                    Some(&self.frame),
                    Some(&self.sampled),
                    None,
                    Some(&self.occlusion),
                ],
                buffers: &[],
                topology: TriangleStrip,
                depth: Some((GreaterEqual, false)),
                ..surface
            },
            Kind::Edges => lines,
            Kind::Normals => Description {
                vertex: "normal",
                buffers: &per_vertex,
                ..lines
            },
            Kind::Lines => Description {
                shader: &LINES,
                vertex: "free",
                groups: &[Some(&self.frame)],
                buffers: &line,
                ..lines
            },
            Kind::Bones => Description {
                shader: &BONES,
                groups: &[Some(&self.frame)],
                buffers: &bone,
                ..surface
            },
            Kind::ShadowMesh => Description {
                shader: &SHADOW_MESH,
                fragment: Some("fragment"),
                groups: &[Some(&self.frame), Some(&self.geometry)],
                buffers: &positions,
                depth: Some((GreaterEqual, true)),
                ..blur
            },
            Kind::ShadowAcross => blur,
            Kind::ShadowAlong => Description {
                fragment: Some("along"),
                ..blur
            },
        };
        description.create(&self.device)
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
            fragment: self.fragment.map(|entry_point| wgpu::FragmentState {
                module: &module,
                entry_point: Some(entry_point),
                compilation_options: options(),
                targets: target.as_slice(),
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

fn buffer(
    array_stride: u64,
    step_mode: wgpu::VertexStepMode,
    attributes: &[wgpu::VertexAttribute],
) -> Option<wgpu::VertexBufferLayout<'_>> {
    Some(wgpu::VertexBufferLayout {
        array_stride,
        step_mode,
        attributes,
    })
}
