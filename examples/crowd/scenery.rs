//! Draws the sky, the ground, and everyone who is seen: one indirect draw per squad and mesh, from where the engine
//! skinned them.

use glam::Vec4;
use host::{Gpu, Look, group, layout, upload};
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

impl Scenery {
    /// `frame` is the uniform buffer of a frame.
    pub fn new(gpu: &Gpu, squads: &[Squad], frame: &wgpu::Buffer) -> Self {
        let text = concat!(include_str!("scene.wgsl"), include_str!("draw.wgsl"));
        let module = host::shader(gpu, text);
        let stages = wgpu::ShaderStages::VERTEX_FRAGMENT;
        let uniform = wgpu::BufferBindingType::Uniform;
        let storage = wgpu::BufferBindingType::Storage { read_only: true };
        let scene_layout = layout(gpu, stages, &[uniform, storage, storage, storage]);
        let part_layout = layout(gpu, stages, &[storage, storage, uniform]);
        let pipelines = host::pipeline_layout(gpu, &[&scene_layout, &part_layout]);
        let drawn = squads.iter().map(|squad| {
            let scene = [frame, &squad.characters, &squad.seen, &squad.places];
            let parts = squad.parts.iter();
            let parts = parts.map(|p| [&p.points, &p.normals, &p.vertex_count]);
            Drawn {
                scene: group(gpu, &scene_layout, &scene),
                parts: parts.map(|p| group(gpu, &part_layout, &p)).collect(),
            }
        });
        let make = |look: Look<'_>| look.pipeline(gpu, &module, Some(&pipelines));
        let colors = wgpu::VertexBufferLayout {
            array_stride: size_of::<Vec4>() as u64,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &wgpu::vertex_attr_array![0 => Float32x4],
        };
        Self {
            sky: make(Look {
                depth_compare: wgpu::CompareFunction::Always,
                writes_depth: false,
                ..Look::new("sky")
            }),
            ground: make(Look {
                topology: wgpu::PrimitiveTopology::TriangleStrip,
                ..Look::new("ground")
            }),
            shadows: make(Look {
                writes_depth: false,
                blend: Some(wgpu::BlendState::ALPHA_BLENDING),
                ..Look::new("shadow")
            }),
            bodies: make(Look {
                buffers: &[Some(colors)],
                ..Look::new("body")
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
