//! A renderer of its own that takes its character from Sinew: it owns the device, the window and the
//! shaders, and draws from the buffers that the engine skins into. The GPU plays the clips and fades
//! from one to the next; nothing is read back, and nothing is uploaded while a clip plays.
//!
//! ```text
//! cargo run --release -p sinew-examples --example renderer -- examples/assets/hatchling.usda
//! cargo run --release -p sinew-examples --example renderer -- hero.glb --out hero.png --seconds 4.25
//! ```
//!
//! It plays each clip of the file for some seconds, or the clip and the rest pose in turn if there is
//! only one. examples/host has what any wgpu renderer has: the device (opened with
//! `sinew::gpu::needed_limits`), the window, the camera, and a pipeline that draws with a texture.

use std::path::PathBuf;
use std::process::ExitCode;

use glam::Mat4;
use host::{Framing, Gpu, Result, Target, Textured};
use sinew::gpu::{Crowd, Skinner, SkinnerOptions};
use sinew::wgpu;
use sinew_character::Character;

/// Seconds that a clip plays before the next one, at least.
const EACH: f64 = 4.0;

/// Seconds of a fade.
const FADE: f32 = 0.5;

#[derive(Clone, clap::Args)]
struct Options {
    /// What it draws
    #[arg(default_value = "examples/assets/hatchling.usda")]
    file: PathBuf,
}

struct Renderer {
    hero: Character,
    /// Holds and skins any number of characters.
    crowd: Crowd,
    drawing: Textured,
    framing: Framing,
    /// Number of the clip that plays, and when the next one begins.
    clip: usize,
    next: f64,
    /// The time that is shown.
    seconds: f64,
}

impl Renderer {
    /// Fades to the next clip; after the last clip to the rest pose, if there is only one.
    fn fade(&mut self) -> Result<()> {
        let clips = self.hero.clips();
        self.clip = (self.clip + 1) % clips.len().max(2);
        match clips.get(self.clip).map(|clip| clip.name().to_owned()) {
            Some(name) => self.hero.crossfade(name, FADE)?,
            None => self.hero.stop(FADE)?,
        }
        self.next += self.length();
        Ok(())
    }

    /// How long the current clip plays.
    fn length(&self) -> f64 {
        let clip = self.hero.clips().get(self.clip);
        clip.map_or(EACH, |clip| EACH.max(f64::from(clip.duration())))
    }
}

impl host::Program for Renderer {
    const NAME: &'static str = "renderer";
    const ABOUT: &'static str =
        "Draws a character of a USD, glTF or VRM file, and fades from clip to clip.";
    const EXAMPLE: &'static str = "renderer hero.glb --out hero.png --seconds 1.5";
    type Options = Options;

    fn new(gpu: &Gpu, options: Options) -> Result<Self> {
        let skinner = Skinner::new(&gpu.device, &gpu.queue, &SkinnerOptions::default())?;
        let mut hero = Character::load(&skinner, options.file)?;
        let first = hero.clips().first().map(|clip| clip.name().to_owned());
        if let Some(first) = &first {
            hero.play(first.as_str())?;
        }
        let warnings = hero.warnings().iter();
        warnings.for_each(|warning| log::warn!("{warning}"));
        let left_out = hero.left_out().iter();
        left_out.for_each(|error| log::warn!("left out: {error}"));
        let mut points = Vec::new();
        for seconds in [0.0, 0.5, 1.0, 1.5] {
            points.extend(hero.positions(first.as_deref(), seconds)?.concat());
        }
        let mut renderer = Self {
            framing: Framing::of(points, hero.up_axis() == 'Z'),
            hero,
            crowd: skinner.crowd(),
            drawing: Textured::new(gpu),
            clip: 0,
            next: 0.0,
            seconds: 0.0,
        };
        renderer.next = renderer.length();
        // The first update uploads the character; a renderer's own textures follow.
        renderer.hero.update(&mut renderer.crowd)?;
        for draw in renderer.hero.draws(&renderer.crowd)? {
            renderer
                .drawing
                .add(gpu, draw.material, draw.base_color())?;
        }
        Ok(renderer)
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
        while seconds >= self.next {
            let next = self.next;
            self.crowd.advance(next - self.seconds)?;
            self.seconds = next;
            // The fade begins at this moment.
            self.fade()?;
            self.hero.update(&mut self.crowd)?;
        }
        self.crowd.advance(seconds - self.seconds)?;
        self.hero.update(&mut self.crowd)?;
        self.seconds = seconds;
        self.crowd.encode(encoder)?;

        let mut pass = target.begin(encoder, None);
        self.drawing.begin(gpu, clip_from_world, &mut pass);
        for draw in self.hero.draws(&self.crowd)? {
            self.drawing.set(draw.material, &mut pass);
            draw.record(&mut pass);
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    host::run::<Renderer>()
}
