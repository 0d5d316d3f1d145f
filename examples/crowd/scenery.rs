//! Draws the sky, the ground, and everyone who is seen: one indirect draw per squad and mesh, from where the engine
//! skinned them.

use glam::Vec4;
use host::{DEPTH, Gpu, SAMPLES, upload};
use sinew::wgpu;

use crate::squads::{DRAW, QUAD, Squad};

pub struct Scenery {
    sky: wgpu::RenderPipeline,
    ground: wgpu::RenderPipeline,
    shadows: wgpu::RenderPipeline,
    bodies: wgpu::RenderPipeline,
    quad: wgpu::Buffer,
    squads: Vec<Drawn>,
}

/// What a squad's draws bind.
struct Drawn {
    scene: wgpu::BindGroup,
    parts: Vec<wgpu::BindGroup>,
}

/// How a pipeline differs from the others.
#[derive(Clone, Copy)]
struct Look<'a> {
    name: &'a str,
    strip: bool,
    writes_depth: bool,
    blend: Option<wgpu::BlendState>,
    buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
}

impl Scenery {
    /// `frame` is the uniform buffer of a frame.
    pub fn new(gpu: &Gpu, squads: &[Squad], frame: &wgpu::Buffer) -> Self {
        let device = &gpu.device;
        let text = concat!(include_str!("scene.wgsl"), include_str!("draw.wgsl"));
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("crowd.draw"),
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
        let layout = |kinds: &[wgpu::BufferBindingType]| {
            let entries = (0..)
                .zip(kinds)
                .map(|(binding, ty)| wgpu::BindGroupLayoutEntry {
                    binding,
                    visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
                    ty: wgpu::BindingType::Buffer {
                        ty: *ty,
                        has_dynamic_offset: false,
                        min_binding_size: None,
                    },
                    count: None,
                });
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some("crowd.draw"),
                entries: &entries.collect::<Vec<_>>(),
            })
        };
        let uniform = wgpu::BufferBindingType::Uniform;
        let storage = wgpu::BufferBindingType::Storage { read_only: true };
        let scene_layout = layout(&[uniform, storage, storage, storage]);
        let part_layout = layout(&[storage, storage, uniform]);
        let pipelines = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("crowd.draw"),
            bind_group_layouts: &[Some(&scene_layout), Some(&part_layout)],
            immediate_size: 0,
        });
        let group = |layout: &wgpu::BindGroupLayout, buffers: &[&wgpu::Buffer]| {
            let entries = (0..)
                .zip(buffers)
                .map(|(binding, buffer)| wgpu::BindGroupEntry {
                    binding,
                    resource: buffer.as_entire_binding(),
                });
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("crowd.draw"),
                layout,
                entries: &entries.collect::<Vec<_>>(),
            })
        };
        let drawn = squads.iter().map(|squad| Drawn {
            scene: group(
                &scene_layout,
                &[frame, &squad.characters, &squad.seen, &squad.places],
            ),
            parts: squad
                .parts
                .iter()
                .map(|p| group(&part_layout, &[&p.points, &p.normals, &p.vertex_count]))
                .collect(),
        });
        let make = |look: Look<'_>| pipeline(gpu, &module, &pipelines, look);
        let plain = Look {
            name: "sky",
            strip: false,
            writes_depth: false,
            blend: None,
            buffers: &[],
        };
        let colors = wgpu::VertexBufferLayout {
            array_stride: size_of::<Vec4>() as u64,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &wgpu::vertex_attr_array![0 => Float32x4],
        };
        Self {
            sky: make(plain),
            ground: make(Look {
                name: "ground",
                strip: true,
                writes_depth: true,
                ..plain
            }),
            shadows: make(Look {
                name: "shadow",
                blend: Some(wgpu::BlendState::ALPHA_BLENDING),
                ..plain
            }),
            bodies: make(Look {
                name: "body",
                writes_depth: true,
                buffers: &[Some(colors)],
                ..plain
            }),
            quad: upload(gpu, wgpu::BufferUsages::INDEX, &QUAD),
            squads: drawn.collect(),
        }
    }

    pub fn draw(&self, squads: &[Squad], pass: &mut wgpu::RenderPass<'_>) {
        let Some(first) = self.squads.first() else {
            return;
        };
        pass.set_bind_group(0, &first.scene, &[]);
        pass.set_bind_group(1, first.parts.first(), &[]);
        pass.set_pipeline(&self.sky);
        pass.draw(0..3, 0..1);
        pass.set_pipeline(&self.ground);
        pass.draw(0..4, 0..1);
        pass.set_pipeline(&self.shadows);
        pass.set_index_buffer(self.quad.slice(..), wgpu::IndexFormat::Uint32);
        for (squad, drawn) in squads.iter().zip(&self.squads) {
            pass.set_bind_group(0, &drawn.scene, &[]);
            pass.draw_indexed_indirect(&squad.draws, squad.parts.len() as u64 * DRAW);
        }
        pass.set_pipeline(&self.bodies);
        for (squad, drawn) in squads.iter().zip(&self.squads) {
            pass.set_bind_group(0, &drawn.scene, &[]);
            for (n, (part, group)) in (0..).zip(squad.parts.iter().zip(&drawn.parts)) {
                pass.set_bind_group(1, group, &[]);
                pass.set_vertex_buffer(0, part.colors.slice(..));
                pass.set_index_buffer(part.indices.slice(..), wgpu::IndexFormat::Uint32);
                pass.draw_indexed_indirect(&squad.draws, n * DRAW);
            }
        }
    }
}

fn pipeline(
    gpu: &Gpu,
    module: &wgpu::ShaderModule,
    layout: &wgpu::PipelineLayout,
    look: Look<'_>,
) -> wgpu::RenderPipeline {
    let entry = |stage| format!("{}_{stage}", look.name);
    let is_sky = look.name == "sky";
    gpu.device
        .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(look.name),
            layout: Some(layout),
            vertex: wgpu::VertexState {
                module,
                entry_point: Some(&entry("vertex")),
                compilation_options: Default::default(),
                buffers: look.buffers,
            },
            primitive: wgpu::PrimitiveState {
                topology: match look.strip {
                    true => wgpu::PrimitiveTopology::TriangleStrip,
                    false => wgpu::PrimitiveTopology::TriangleList,
                },
                ..Default::default()
            },
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(look.writes_depth),
                depth_compare: Some(match is_sky {
                    true => wgpu::CompareFunction::Always,
                    false => wgpu::CompareFunction::Less,
                }),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: wgpu::MultisampleState {
                count: SAMPLES,
                ..Default::default()
            },
            fragment: Some(wgpu::FragmentState {
                module,
                entry_point: Some(&entry("fragment")),
                compilation_options: Default::default(),
                targets: &[Some(wgpu::ColorTargetState {
                    format: gpu.format,
                    blend: look.blend,
                    write_mask: wgpu::ColorWrites::ALL,
                })],
            }),
            multiview_mask: None,
            cache: None,
        })
}
