//! A crowd that lives on the GPU: thousands of characters who walk, wave, perform and blend between it. They play packed
//! clips there, are culled there, and are skinned only if they are seen. The CPU sets the clock, tells a few of them what
//! to play next, and records the same few commands in every frame.
//!
//! ```text
//! cargo run --release -p sinew-examples --example crowd
//! cargo run --release -p sinew-examples --example crowd -- --count 20000
//! cargo run --release -p sinew-examples --example crowd -- --frames 100 --out crowd.png
//! ```
//!
//! | file | what is in it |
//! |---|---|
//! | `cast.rs` | models from files, and their clips: their own, of another file, retargeted, of human bones |
//! | `places.rs` | where everyone is |
//! | `squads.rs` | skins, rigs and instances in a `Crowd`, with results in the host's own buffers |
//! | `acts.rs` | what everyone plays: `Crowd::set_playing` and `set_clock` |
//! | `culling.rs`, `cull.wgsl` | the host's culling, `Crowd::set_visibility` |
//! | `scenery.rs`, `draw.wgsl` | drawing from the buffers that the engine writes |
//! | `times.rs`, `graph.rs` | what frames cost |

mod acts;
mod cast;
mod culling;
mod graph;
mod places;
mod scenery;
mod squads;
mod times;

use std::process::ExitCode;
use std::time::Instant;

use acts::Acts;
use cast::Model;
use culling::{Culling, Frame};
use glam::{Mat4, Vec3};
use graph::Graph;
use host::{Framing, Gpu, Result, Target};
use places::Person;
use scenery::Scenery;
use sinew::gpu::{Crowd, RigId, Skinner, SkinnerOptions};
use sinew::wgpu;
use squads::Squad;
use times::{Cost, Times};

/// Metres from the middle that the camera shows at first, at most.
const VIEW: f32 = 11.0;

#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Number of characters [default: 4000, or 200 on a software adapter]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: Option<u32>,
    /// Compute and draw everyone, seen or not
    #[arg(long)]
    no_cull: bool,
    /// Leave out the graph of what frames cost
    #[arg(long)]
    no_graph: bool,
}

struct Square {
    people: Vec<Person>,
    crowd: Crowd,
    squads: Vec<Squad>,
    models: Vec<Model>,
    /// Everyone's rigs, until the first frame says when the clock begins.
    rigs: Vec<Vec<RigId>>,
    acts: Option<Acts>,
    frame: wgpu::Buffer,
    culling: Culling,
    scenery: Scenery,
    graph: Option<Graph>,
    times: Times,
    framing: Framing,
}

impl host::Program for Square {
    const NAME: &'static str = "crowd";
    const ABOUT: &'static str = "\
A crowd of hatchlings and puppets, which play clips on the GPU and are culled there.
Drag to look around, scroll to come closer, Escape to leave.";
    const EXAMPLE: &'static str = "crowd --count 500 --frames 100 --out crowd.png";
    const SIZE: [u32; 2] = [1280, 720];
    type Options = Options;

    fn new(gpu: &Gpu, options: Options) -> Result<Self> {
        let folder = env!("CARGO_MANIFEST_DIR");
        let models = vec![Model::hatchling(folder)?, Model::puppet(folder)?];
        let usual = if gpu.is_software { 200 } else { 4000 };
        let (people, radius) = places::people(options.count.unwrap_or(usual) as usize);
        let skinner = Skinner::new(&gpu.device, &gpu.queue, &SkinnerOptions::default())?;
        let mut crowd = skinner.crowd();
        let (squads, rigs) = squads::gather(gpu, &mut crowd, &models, &people)?;
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let frame = host::buffer(gpu, size_of::<Frame>() as u64, usage);
        let culling = Culling::new(gpu, &mut crowd, &squads, &frame, !options.no_cull)?;
        let near = (radius * 0.45).min(VIEW);
        let near = Vec3::new(near, 0.0, near);
        let framing = Framing {
            lift: 0.22,
            spin: 0.05,
            ..Framing::of([-near, near + Vec3::Y * 1.8], false)
        };
        let clips = models.iter().flat_map(|m| &m.clips);
        let clips: usize = clips.map(|c| c.words().len() * 4).sum();
        let of = |model| people.iter().filter(|p| p.model == model).count();
        println!(
            "{} characters ({} {}s, {} {}s), {} meshes and {} rigs; clips of {clips} bytes in all",
            people.len(),
            of(0),
            models[0].name,
            of(1),
            models[1].name,
            crowd.instance_count(),
            rigs.iter().map(Vec::len).sum::<usize>(),
        );
        Ok(Self {
            scenery: Scenery::new(gpu, &squads, &frame),
            graph: (!options.no_graph).then(|| Graph::new(gpu)),
            times: Times::new(gpu, squads.len()),
            acts: None,
            people,
            crowd,
            squads,
            rigs,
            models,
            frame,
            culling,
            framing,
        })
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
        self.times.collect();
        if let Some(graph) = &mut self.graph {
            graph.lay(gpu, &self.times.last, self.people.len(), target.size);
        }
        let start = Instant::now();
        let (crowd, people) = (&mut self.crowd, &self.people[..]);
        match &mut self.acts {
            Some(acts) => acts.go_on(crowd, people, seconds)?,
            none => {
                let rigs = std::mem::take(&mut self.rigs);
                *none = Some(Acts::begin(crowd, &self.models, people, rigs, seconds)?);
            }
        }
        let frame = Frame::new(clip_from_world, seconds);
        gpu.queue
            .write_buffer(&self.frame, 0, bytemuck::bytes_of(&frame));
        self.culling.record(encoder, self.times.of_culling());
        // The one call, for all of them.
        self.crowd.encode(encoder)?;
        {
            let mut pass = target.begin(encoder, self.times.of_drawing());
            self.scenery.draw(&self.squads, &mut pass);
            if let Some(graph) = &self.graph {
                graph.draw(&mut pass);
            }
        }
        let cost = Cost {
            cpu: start.elapsed(),
            uploaded: self.crowd.last_upload_bytes(),
            ..Cost::default()
        };
        self.times.record(encoder, &self.squads, cost);
        Ok(())
    }

    fn submitted(&mut self) {
        self.times.submitted();
    }

    fn finish(&mut self) {
        self.times.collect();
        println!("{}", self.times.report());
    }
}

fn main() -> ExitCode {
    host::run::<Square>()
}
