//! The graph of what the last frames cost: three lanes of bars, each with its own scale, and a few words, all of
//! rectangles.

use std::collections::VecDeque;

use glam::{Vec2, Vec4};
use host::{DEPTH, Gpu, SAMPLES};
use sinew::wgpu;

use crate::times::{Cost, KEPT, TimeOf};

/// Frames in the graph.
const FRAMES: usize = KEPT;
/// Most rectangles.
const MOST: usize = 4096;
/// Sizes in pixels of a picture of 720 rows.
const BAR: f32 = 3.0;
const LANE: f32 = 34.0;
const MARGIN: f32 = 10.0;
const DOT: f32 = 2.0;

/// A rectangle as the shader reads it.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Rectangle {
    corner: Vec2,
    size: Vec2,
    color: Vec4,
}

pub struct Graph {
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
    picture: wgpu::Buffer,
    buffer: wgpu::Buffer,
    rectangles: Vec<Rectangle>,
}

impl Graph {
    pub fn new(gpu: &Gpu) -> Self {
        let device = &gpu.device;
        let pipeline = pipeline(gpu);
        let buffer = |size, usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("crowd.graph"),
                size,
                usage: usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let picture = buffer(16, wgpu::BufferUsages::UNIFORM);
        let bytes = (MOST * size_of::<Rectangle>()) as u64;
        let rectangles = buffer(bytes, wgpu::BufferUsages::STORAGE);
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("crowd.graph"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: picture.as_entire_binding(),
                },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: rectangles.as_entire_binding(),
                },
            ],
        });
        Self {
            pipeline,
            group,
            picture,
            buffer: rectangles,
            rectangles: Vec::new(),
        }
    }

    /// Lays out the graph of the last costs, which are those of at most [`FRAMES`] frames.
    pub fn lay(&mut self, gpu: &Gpu, last: &VecDeque<Cost>, people: usize, size: [u32; 2]) {
        self.rectangles.clear();
        let [width, height] = size.map(|n| n as f32);
        let scale = (height / 720.0).max(0.5);
        let lanes: [(&str, Vec4, TimeOf); 3] = [
            (
                "CPU PLAY AND RECORD",
                Vec4::new(0.35, 0.65, 1.0, 1.0),
                |c| Some(c.cpu),
            ),
            (
                "GPU CULL, POSE, SKIN",
                Vec4::new(1.0, 0.55, 0.12, 1.0),
                |c| c.compute,
            ),
            ("GPU DRAW", Vec4::new(0.35, 0.85, 0.3, 1.0), |c| c.draw),
        ];
        let inner = FRAMES as f32 * BAR;
        let row = LANE + 8.0 * DOT;
        let panel = Vec2::new(inner + 2.0 * MARGIN, 3.0 * row + 9.0 * DOT + 2.0 * MARGIN);
        let corner = Vec2::new(MARGIN, height / scale - panel.y - MARGIN);
        let mut page = Page {
            out: &mut self.rectangles,
            scale,
        };
        page.fill(corner, panel, Vec4::new(0.01, 0.015, 0.03, 0.72));
        let white = Vec4::new(0.92, 0.92, 0.92, 1.0);
        let seen = last.back().map_or(0, |cost| cost.seen);
        let at = corner + MARGIN;
        page.write(at, white, &format!("{seen} OF {people} SEEN"));
        for (n, (name, color, of)) in (0u8..).zip(lanes) {
            let top = at + Vec2::new(0.0, 9.0 * DOT + f32::from(n) * row);
            let millis: Vec<Option<f32>> = last
                .iter()
                .map(|cost| Some(of(cost)?.as_secs_f32() * 1e3))
                .collect();
            let most = round_up(millis.iter().flatten().copied().fold(0.0, f32::max));
            let recent: Vec<f32> = millis.iter().rev().flatten().take(20).copied().collect();
            let text = match recent.len() {
                0 => format!("{name}  -"),
                count => {
                    let mean = recent.iter().sum::<f32>() / count as f32;
                    format!("{name}  {mean:.2} MS OF {most}")
                }
            };
            page.write(top, color, &text);
            let foot = top.y + 7.0 * DOT + LANE;
            let line = Vec2::new(top.x, foot);
            page.fill(line, Vec2::new(inner, 1.0), Vec4::new(1.0, 1.0, 1.0, 0.25));
            for (i, value) in millis.iter().enumerate() {
                let tall = LANE * value.unwrap_or(0.0) / most;
                let x = top.x + BAR * (FRAMES - millis.len() + i) as f32;
                page.fill(Vec2::new(x, foot - tall), Vec2::new(BAR - 1.0, tall), color);
            }
        }
        self.rectangles.truncate(MOST);
        let bytes = bytemuck::cast_slice(&self.rectangles);
        gpu.queue.write_buffer(&self.buffer, 0, bytes);
        let picture = [width, height, 0.0, 0.0];
        gpu.queue
            .write_buffer(&self.picture, 0, bytemuck::cast_slice(&picture));
    }

    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.draw(0..4, 0..self.rectangles.len() as u32);
    }
}

/// The next of 1, 2, 5, 10, 20, ...: the top of a scale, in milliseconds.
fn round_up(most: f32) -> f32 {
    let power = 10f32.powf(most.max(0.01).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|s| *s >= most).unwrap_or(most)
}

/// Rectangles of a picture of 720 rows, scaled to the one that is drawn.
struct Page<'a> {
    out: &'a mut Vec<Rectangle>,
    scale: f32,
}

impl Page<'_> {
    fn fill(&mut self, corner: Vec2, size: Vec2, color: Vec4) {
        self.out.push(Rectangle {
            corner: corner * self.scale,
            size: size * self.scale,
            color,
        });
    }

    /// Letters of three by five dots.
    fn write(&mut self, at: Vec2, color: Vec4, text: &str) {
        for (place, letter) in text.chars().enumerate() {
            let Some((_, rows)) = LETTERS.iter().find(|(known, _)| *known == letter) else {
                continue;
            };
            for (row, dots) in rows.iter().enumerate() {
                for column in (0..3).filter(|column| dots >> (2 - column) & 1 == 1) {
                    let dot = Vec2::new((place * 4 + column) as f32, row as f32);
                    self.fill(at + dot * DOT, Vec2::splat(DOT), color);
                }
            }
        }
    }
}

/// Rows of dots, the leftmost in the highest bit.
const LETTERS: [(char, [u8; 5]); 33] = [
    ('0', [7, 5, 5, 5, 7]),
    ('1', [2, 6, 2, 2, 7]),
    ('2', [7, 1, 7, 4, 7]),
    ('3', [7, 1, 7, 1, 7]),
    ('4', [5, 5, 7, 1, 1]),
    ('5', [7, 4, 7, 1, 7]),
    ('6', [7, 4, 7, 5, 7]),
    ('7', [7, 1, 1, 2, 2]),
    ('8', [7, 5, 7, 5, 7]),
    ('9', [7, 5, 7, 1, 7]),
    ('A', [2, 5, 7, 5, 5]),
    ('C', [7, 4, 4, 4, 7]),
    ('D', [6, 5, 5, 5, 6]),
    ('E', [7, 4, 6, 4, 7]),
    ('F', [7, 4, 6, 4, 4]),
    ('G', [7, 4, 5, 5, 7]),
    ('I', [7, 2, 2, 2, 7]),
    ('K', [5, 5, 6, 5, 5]),
    ('L', [4, 4, 4, 4, 7]),
    ('M', [5, 7, 7, 5, 5]),
    ('N', [6, 5, 5, 5, 5]),
    ('O', [7, 5, 5, 5, 7]),
    ('P', [7, 5, 7, 4, 4]),
    ('R', [6, 5, 6, 5, 5]),
    ('S', [7, 4, 7, 1, 7]),
    ('T', [7, 2, 2, 2, 2]),
    ('U', [5, 5, 5, 5, 7]),
    ('W', [5, 5, 7, 7, 5]),
    ('Y', [5, 5, 2, 2, 2]),
    ('.', [0, 0, 0, 0, 2]),
    (',', [0, 0, 0, 2, 4]),
    ('-', [0, 0, 7, 0, 0]),
    (' ', [0; 5]),
];

fn pipeline(gpu: &Gpu) -> wgpu::RenderPipeline {
    let device = &gpu.device;
    let module = device.create_shader_module(wgpu::include_wgsl!("graph.wgsl"));
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("crowd.graph"),
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState {
            topology: wgpu::PrimitiveTopology::TriangleStrip,
            ..Default::default()
        },
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(false),
            depth_compare: Some(wgpu::CompareFunction::Always),
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
            targets: &[Some(wgpu::ColorTargetState {
                format: gpu.format,
                blend: Some(wgpu::BlendState::ALPHA_BLENDING),
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}
