//! The graph of what the last frames cost: three lanes of bars, each with its own scale, and a few words, all of
//! rectangles.

use std::collections::VecDeque;

use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use glam::{Vec2, Vec4};
use host::{Gpu, Look, buffer};
use sinew::wgpu;

use crate::times::{Cost, KEPT, KINDS};

/// Most rectangles; letters have one for each pixel.
const MOST: usize = 65_536;
/// Sizes in pixels of a picture of 720 rows.
const BAR: f32 = 3.0;
const LANE: f32 = 34.0;
const LINE: f32 = 16.0;
const MARGIN: f32 = 10.0;
/// Height of the font.
const LETTER: f32 = 13.0;

const WHITE: Vec4 = Vec4::new(0.92, 0.92, 0.92, 1.0);
/// Colours of the lanes.
const COLORS: [Vec4; 3] = [
    Vec4::new(0.35, 0.65, 1.0, 1.0),
    Vec4::new(1.0, 0.55, 0.12, 1.0),
    Vec4::new(0.35, 0.85, 0.3, 1.0),
];

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
    /// Pixels of the picture for each of 720 rows.
    scale: f32,
}

impl Graph {
    pub fn new(gpu: &Gpu) -> Self {
        use wgpu::BufferUsages as Usages;
        let look = Look {
            topology: wgpu::PrimitiveTopology::TriangleStrip,
            depth_compare: wgpu::CompareFunction::Always,
            writes_depth: false,
            blend: Some(wgpu::BlendState::ALPHA_BLENDING),
            ..Look::new("graph")
        };
        let pipeline = look.pipeline(gpu, &host::shader(gpu, include_str!("graph.wgsl")), None);
        let picture = buffer(gpu, 16, Usages::UNIFORM | Usages::COPY_DST);
        let bytes = (MOST * size_of::<Rectangle>()) as u64;
        let rectangles = buffer(gpu, bytes, Usages::STORAGE | Usages::COPY_DST);
        let layout = pipeline.get_bind_group_layout(0);
        Self {
            group: host::group(gpu, &layout, &[&picture, &rectangles]),
            pipeline,
            picture,
            buffer: rectangles,
            rectangles: Vec::new(),
            scale: 1.0,
        }
    }

    /// Lays out the graph of the last costs, which are those of at most [`KEPT`] frames.
    pub fn lay(&mut self, gpu: &Gpu, last: &VecDeque<Cost>, people: usize, size: [u32; 2]) {
        self.rectangles.clear();
        let [width, height] = size.map(|n| n as f32);
        self.scale = (height / 720.0).max(0.5);
        let inner = KEPT as f32 * BAR;
        let panel = Vec2::new(inner, 3.0 * (LANE + LINE) + LINE + 2.0) + 2.0 * MARGIN;
        let corner = Vec2::new(MARGIN, height / self.scale - panel.y - MARGIN);
        self.fill(corner, panel, Vec4::new(0.01, 0.015, 0.03, 0.72));
        let seen = last.back().map_or(0, |cost| cost.seen);
        let at = corner + MARGIN;
        self.write(at, WHITE, &format!("{seen} of {people} seen"));
        for (n, ((name, of), color)) in (0u8..).zip(KINDS.into_iter().zip(COLORS)) {
            let top = at + Vec2::new(0.0, LINE + 2.0 + f32::from(n) * (LANE + LINE));
            let millis = last
                .iter()
                .map(|cost| of(cost).map(|time| time.as_secs_f32() * 1e3));
            let millis: Vec<Option<f32>> = millis.collect();
            let most = round_up(millis.iter().flatten().copied().fold(0.0, f32::max));
            let recent: Vec<f32> = millis.iter().rev().flatten().take(20).copied().collect();
            let mean = recent.iter().sum::<f32>() / recent.len() as f32;
            let text = match recent.is_empty() {
                true => format!("{name}: -"),
                false => format!("{name}: {mean:.2} ms of {most}"),
            };
            self.write(top, color, &text);
            let foot = top.y + 14.0 + LANE;
            let faint = Vec4::new(1.0, 1.0, 1.0, 0.25);
            self.fill(Vec2::new(top.x, foot), Vec2::new(inner, 1.0), faint);
            for (i, value) in millis.iter().enumerate() {
                let tall = LANE * value.unwrap_or(0.0) / most;
                let x = top.x + BAR * (KEPT - millis.len() + i) as f32;
                self.fill(Vec2::new(x, foot - tall), Vec2::new(BAR - 1.0, tall), color);
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

    fn fill(&mut self, corner: Vec2, size: Vec2, color: Vec4) {
        self.rectangles.push(Rectangle {
            corner: corner * self.scale,
            size: size * self.scale,
            color,
        });
    }

    fn write(&mut self, at: Vec2, color: Vec4, text: &str) {
        let Ok(font) = FontRef::try_from_slice(epaint_default_fonts::HACK_REGULAR) else {
            return;
        };
        let size = PxScale::from(LETTER * self.scale);
        let font = font.as_scaled(size);
        let mut pen = at * self.scale + Vec2::new(0.0, font.ascent());
        for letter in text.chars() {
            let glyph = font
                .glyph_id(letter)
                .with_scale_and_position(size, point(pen.x, pen.y));
            pen.x += font.h_advance(glyph.id);
            let Some(outline) = font.outline_glyph(glyph) else {
                continue;
            };
            let corner = outline.px_bounds().min;
            outline.draw(|x, y, covered| {
                if covered > 0.0 {
                    self.rectangles.push(Rectangle {
                        corner: Vec2::new(corner.x + x as f32, corner.y + y as f32),
                        size: Vec2::ONE,
                        color: color.with_w(color.w * covered.min(1.0)),
                    });
                }
            });
        }
    }
}

/// The next of 1, 2, 5, 10, 20, ...: the top of a scale, in milliseconds.
fn round_up(most: f32) -> f32 {
    let power = 10f32.powf(most.max(0.01).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|s| *s >= most).unwrap_or(most)
}
