//! A thousand characters, each in a phase of its own clip, skinned by one `encode` per frame: a few dispatches, however
//! many there are.
//!
//! ```text
//! cargo run --release --example crowd
//! cargo run --release --example crowd -- --png crowd.png
//! ```
//!
//! Every frame each character is posed (on all cores) and drawn from where the engine skins it. Another number of
//! characters may be said: `crowd 5000`.

#[path = "crowd/cast.rs"]
mod cast;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use cast::Model;
use glam::{DMat4, DVec3, Mat4, Vec3};
use host::{Drawing, Framing, Gpu, Result, Target, upload};
use rayon::prelude::*;
use sinew::gpu::{Crowd, InstanceId, Skinner, SkinnerOptions};
use sinew::kernel::PackedPose;
use sinew::wgpu;

/// Metres between two characters.
const SPACING: f64 = 1.5;

/// One of them.
struct Character {
    model: usize,
    clip: usize,
    /// Seconds that it is ahead.
    phase: f64,
    world_from_ground: DMat4,
    /// An instance for each part of the model.
    parts: Vec<InstanceId>,
}

/// What all characters of a model have in common, to draw them.
struct Shape {
    indices: wgpu::Buffer,
    index_count: u32,
    colors: wgpu::Buffer,
}

struct Many {
    models: Vec<Model>,
    /// By model and part.
    shapes: Vec<Vec<Shape>>,
    crowd: Crowd,
    characters: Vec<Character>,
    drawing: Drawing,
    tints: wgpu::Buffer,
    framing: Framing,
}

impl Many {
    /// Poses everyone, on all cores.
    fn pose(&mut self, seconds: f64) -> Result<()> {
        let models = &self.models;
        let pose = |c: &Character| -> std::result::Result<Vec<PackedPose>, String> {
            let model = &models[c.model];
            let time = model.clips[c.clip].time(seconds + c.phase);
            let poses = model.poses(c.clip, time, c.world_from_ground);
            poses.map_err(|e| e.to_string())
        };
        let poses: Vec<_> = self
            .characters
            .par_iter()
            .map(pose)
            .collect::<std::result::Result<_, _>>()?;
        for (character, poses) in self.characters.iter().zip(poses) {
            for (instance, pose) in character.parts.iter().zip(poses) {
                self.crowd.set_pose(*instance, &pose)?;
            }
        }
        Ok(())
    }

    fn draw(&self, pass: &mut wgpu::RenderPass<'_>) -> Result<()> {
        pass.set_vertex_buffer(3, self.tints.slice(..));
        for (model, shapes) in self.shapes.iter().enumerate() {
            for (part, shape) in shapes.iter().enumerate() {
                pass.set_index_buffer(shape.indices.slice(..), wgpu::IndexFormat::Uint32);
                pass.set_vertex_buffer(2, shape.colors.slice(..));
                for (i, character) in (0..).zip(&self.characters) {
                    if character.model != model {
                        continue;
                    }
                    let instance = character.parts[part];
                    let points = self.crowd.points_on_gpu(instance)?;
                    let normals = self.crowd.normals_on_gpu(instance)?;
                    let ([points], [normals]) = (&points[..], &normals[..]) else {
                        return Err("a mesh is larger than a binding of this device".into());
                    };
                    pass.set_vertex_buffer(0, points.buffer.slice(points.offset..));
                    pass.set_vertex_buffer(1, normals.buffer.slice(normals.offset..));
                    pass.draw_indexed(0..shape.index_count, 0, i..i + 1);
                }
            }
        }
        Ok(())
    }

    /// Tells how fast it goes, skinning alone.
    fn measure(&mut self, gpu: &Gpu) -> Result<()> {
        const FRAMES: u32 = 2;
        let points: usize = self
            .characters
            .iter()
            .map(|c| {
                let parts = self.models[c.model].parts.iter();
                parts.map(|p| p.skin.point_count()).sum::<usize>()
            })
            .sum();
        let (mut posing, mut skinning) = (0.0, 0.0);
        for frame in 0..=FRAMES {
            let start = Instant::now();
            self.pose(f64::from(frame) * 0.1)?;
            let posed = Instant::now();
            self.crowd.submit()?;
            gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
            // The first frame makes room on the device.
            if frame > 0 {
                posing += (posed - start).as_secs_f64();
                skinning += posed.elapsed().as_secs_f64();
            }
        }
        let each = |seconds: f64| seconds / f64::from(FRAMES);
        println!(
            "{} characters, {} instances, {} dispatches a frame",
            self.characters.len(),
            self.crowd.instance_count(),
            self.crowd.dispatch_count()?
        );
        println!(
            "{points} points: posed in {:.1} ms, skinned in {:.1} ms, {:.1} million points/s",
            each(posing) * 1e3,
            each(skinning) * 1e3,
            points as f64 / each(skinning) / 1e6
        );
        Ok(())
    }
}

/// A number from 0 to 1 that looks like chance and is the same in every run.
fn chance(seed: usize, which: u32) -> f64 {
    let mut x = (seed as u32).wrapping_mul(0x9e37_79b9) ^ which.wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    f64::from(x ^ (x >> 16)) / f64::from(u32::MAX)
}

/// Where the i-th of so many stands: rows of a square, a little out of line, all facing about the same way.
fn place(i: usize, count: usize) -> DMat4 {
    let columns = (count as f64).sqrt().ceil() as usize;
    let at = |n: usize, which| {
        (n as f64 - (columns - 1) as f64 / 2.0 + 0.4 * (chance(i, which) - 0.5)) * SPACING
    };
    let place = DVec3::new(at(i % columns, 1), 0.0, at(i / columns, 2));
    DMat4::from_translation(place) * DMat4::from_rotation_y(0.6 * (chance(i, 3) - 0.5))
}

impl host::Program for Many {
    fn new(gpu: &Gpu, count: Option<&str>) -> Result<Self> {
        let count: usize = match count {
            Some(text) => text
                .parse()
                .map_err(|_| format!("no number of characters: {text}"))?,
            None => 1000,
        };
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
        let models = vec![Model::hatchling(folder, 1.0)?, Model::puppet(folder, 1.6)?];
        let skinner = Skinner::new(&gpu.device, &gpu.queue, &SkinnerOptions::default())?;
        let mut crowd = skinner.crowd();
        let mut characters: Vec<Character> = Vec::with_capacity(count);
        for i in 0..count {
            let model = usize::from(chance(i, 4) < 0.65);
            characters.push(Character {
                model,
                clip: (chance(i, 5) * models[model].clips.len() as f64) as usize,
                phase: chance(i, 6) * 10.0,
                world_from_ground: place(i, count),
                parts: Vec::new(),
            });
        }
        // Skins are uploaded once; instances are room for results.
        let mut shapes = Vec::new();
        for (m, model) in models.iter().enumerate() {
            let mut of_model = Vec::new();
            for part in &model.parts {
                let skin = crowd.add_skin(Arc::clone(&part.skin))?;
                let these: Vec<&mut Character> =
                    characters.iter_mut().filter(|c| c.model == m).collect();
                let instances = crowd.add_instances(skin, these.len())?;
                for (character, instance) in these.into_iter().zip(instances) {
                    character.parts.push(instance);
                }
                of_model.push(Shape {
                    indices: upload(gpu, wgpu::BufferUsages::INDEX, &part.triangles),
                    index_count: part.triangles.len() as u32 * 3,
                    colors: upload(gpu, wgpu::BufferUsages::VERTEX, &part.colors),
                });
            }
            shapes.push(of_model);
        }
        let tint = |i: usize| Vec3::from_array([7, 8, 9].map(|n| 0.6 + 0.7 * chance(i, n) as f32));
        let tints: Vec<Vec3> = (0..count.max(1)).map(tint).collect();
        let corners = characters
            .iter()
            .map(|c| c.world_from_ground.w_axis.truncate().as_vec3());
        let corners = corners.flat_map(|at| [at, at + Vec3::Y * 1.6]);
        let framing = Framing {
            lift: 0.55,
            ..Framing::of(corners, false)
        };
        let mut many = Self {
            models,
            shapes,
            crowd,
            characters,
            drawing: Drawing::new(gpu),
            tints: upload(gpu, wgpu::BufferUsages::VERTEX, &tints),
            framing,
        };
        many.measure(gpu)?;
        Ok(many)
    }

    fn framing(&self) -> Framing {
        self.framing
    }

    fn frame(
        &mut self,
        gpu: &Gpu,
        seconds: f64,
        clip_from_world: Mat4,
        encoder: &mut wgpu::CommandEncoder,
        target: &Target,
    ) -> Result<()> {
        self.pose(seconds)?;
        // The one call, for all of them.
        self.crowd.encode(encoder)?;
        let mut pass = target.begin(encoder);
        self.drawing.begin(gpu, clip_from_world, &mut pass);
        self.draw(&mut pass)
    }
}

fn main() -> ExitCode {
    host::run::<Many>("crowd [NUMBER]")
}
